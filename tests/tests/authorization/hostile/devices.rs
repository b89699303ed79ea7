//! Logins on another device: codes that never end, addresses that attack the user.

use mcpwire_authorization::LoginErrorKind::{LoginRequired, Misconfigured, Refused, Temporary, Untrusted};
use mcpwire_authorization::oauth::Step::{DeviceAuthorization, Token};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::Endpoint;
use mcpwire_tests::watched;
use serde_json::{Value, json};

use super::{Attack, World, withstand};

/// Answers the request for a code with these members instead of the right ones, and each poll in this way.
fn device(world: &mut World, members: &Value, poll: fn() -> HttpAnswer) {
    world.by_device = true;
    let mut code = json!({"device_code": "device-code", "user_code": "ABCD", "interval": 5, "expires_in": 600,
        "verification_uri": "https://auth.test/device"});
    for (name, value) in members.as_object().unwrap() {
        code[name] = value.clone();
    }
    let device_url = world.authorization().endpoint(Endpoint::DeviceAuthorization);
    let token_url = world.authorization().endpoint(Endpoint::Token);
    world.authorization().on_request(move |request| {
        if request.url == device_url {
            Some(HttpAnswer::json(200, code.clone()))
        } else {
            (request.url == token_url).then(poll)
        }
    });
}

fn pending() -> HttpAnswer {
    HttpAnswer::json(400, json!({"error": "authorization_pending"}))
}

fn slow_down() -> HttpAnswer {
    HttpAnswer::json(400, json!({"error": "slow_down"}))
}

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        "a code that never ends, without pauses",
        |world| device(world, &json!({"interval": 0, "expires_in": 1e300}), pending),
        LoginRequired,
        DeviceAuthorization,
        "the code has expired",
    )
    .within(3_600),
    Attack::new(
        "a code with a pause of a million years",
        |world| device(world, &json!({"interval": 1e300, "expires_in": "600"}), pending),
        LoginRequired,
        DeviceAuthorization,
        "the code has expired",
    )
    .within(600),
    Attack::new(
        "times of a code that are negative",
        |world| device(world, &json!({"interval": -5, "expires_in": -1}), pending),
        LoginRequired,
        DeviceAuthorization,
        "the code has expired",
    )
    .within(600),
    Attack::new(
        "times of a code that are texts",
        |world| device(world, &json!({"interval": "soon", "expires_in": "never"}), pending),
        LoginRequired,
        DeviceAuthorization,
        "the code has expired",
    )
    .within(600),
    Attack::new(
        "a code that has expired already",
        |world| device(world, &json!({"expires_in": 0}), pending),
        LoginRequired,
        DeviceAuthorization,
        "the code has expired",
    ),
    Attack::new(
        "a server that is always too busy",
        |world| device(world, &json!({}), slow_down),
        LoginRequired,
        DeviceAuthorization,
        "the code has expired",
    )
    .within(600),
    Attack::new(
        "a server that fails and wants a pause of a thousand years",
        |world| device(world, &json!({}), || HttpAnswer::status(503).header("Retry-After", "31536000000")),
        LoginRequired,
        DeviceAuthorization,
        "the code has expired",
    )
    .within(600),
    Attack::new(
        "an address for the user that is a script",
        |world| device(world, &json!({"verification_uri": "javascript:alert(1)"}), pending),
        Untrusted,
        DeviceAuthorization,
        "not an https URL",
    ),
    Attack::new(
        "an address for the user on this machine",
        |world| device(world, &json!({"verification_uri": "http://127.0.0.1:631/admin"}), pending),
        Untrusted,
        DeviceAuthorization,
        "not an https URL",
    ),
    Attack::new(
        "an address for the user with a user name",
        |world| device(world, &json!({"verification_uri": "https://auth.test@evil.test/"}), pending),
        Untrusted,
        DeviceAuthorization,
        "not an https URL",
    ),
    Attack::new(
        "a user code that controls the terminal",
        |world| device(world, &json!({"user_code": "AB\u{1b}[2JCD"}), pending),
        Untrusted,
        DeviceAuthorization,
        "control characters",
    ),
    Attack::new(
        "a user code of a thousand characters",
        |world| device(world, &json!({"user_code": "A".repeat(1000)}), pending),
        Untrusted,
        DeviceAuthorization,
        "too long",
    ),
    Attack::new(
        "a user code that reorders the text",
        |world| device(world, &json!({"user_code": "AB\u{202e}CD"}), pending),
        Untrusted,
        DeviceAuthorization,
        "control characters",
    ),
    Attack::new(
        "a response without a code",
        |world| device(world, &json!({"device_code": ["a"]}), pending),
        Temporary,
        DeviceAuthorization,
        "contains no code",
    ),
    Attack::new(
        "a user who refuses",
        |world| device(world, &json!({}), || HttpAnswer::json(400, json!({"error": "access_denied"}))),
        Refused,
        Token,
        "access_denied",
    )
    .within(5),
    Attack::new(
        "a device code for a token with line breaks",
        |world| device(world, &json!({}), || HttpAnswer::json(200, json!({"access_token": "a\r\nb"}))),
        Misconfigured,
        Token,
        "characters that a header must not contain",
    )
    .within(5),
];

#[test]
fn hostile_device_logins_end_in_time() {
    watched(|| withstand(ATTACKS));
}

#[test]
fn a_code_that_never_ends_is_asked_for_at_most_once_a_second() {
    let mut world = World::new();
    (ATTACKS[0].prepare)(&mut world);
    world.login().unwrap_err();
    let polls = world.asked().iter().filter(|exchange| exchange.uri.ends_with("/token")).count();
    assert!((3_000..=3_600).contains(&polls), "{polls}");
}
