//! Logins on another device: codes that never end, addresses that attack the user.

use mcpwire_authorization::LoginErrorKind::{LoginRequired, Misconfigured, Refused, Temporary, Untrusted};
use mcpwire_authorization::oauth::Step::{DeviceAuthorization, Token};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::Endpoint;
use serde_json::{Value, json};

use super::{Attack, World, attack, withstand};

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
    attack(
        "a code that never ends, without pauses",
        LoginRequired,
        DeviceAuthorization,
        "the code has expired",
        |world| device(world, &json!({"interval": 0, "expires_in": 1e300}), pending),
    )
    .within(3_600),
    attack(
        "a code with a pause of a million years",
        LoginRequired,
        DeviceAuthorization,
        "the code has expired",
        |world| device(world, &json!({"interval": 1e300, "expires_in": "600"}), pending),
    )
    .within(600),
    attack("times of a code that are negative", LoginRequired, DeviceAuthorization, "the code has expired", |world| {
        device(world, &json!({"interval": -5, "expires_in": -1}), pending);
    })
    .within(600),
    attack("times of a code that are texts", LoginRequired, DeviceAuthorization, "the code has expired", |world| {
        device(world, &json!({"interval": "soon", "expires_in": "never"}), pending);
    })
    .within(600),
    attack("a code that has expired already", LoginRequired, DeviceAuthorization, "the code has expired", |world| {
        device(world, &json!({"expires_in": 0}), pending);
    }),
    attack("a server that is always too busy", LoginRequired, DeviceAuthorization, "the code has expired", |world| {
        device(world, &json!({}), slow_down);
    })
    .within(600),
    attack(
        "a server that fails and wants a pause of a thousand years",
        LoginRequired,
        DeviceAuthorization,
        "the code has expired",
        |world| device(world, &json!({}), || HttpAnswer::status(503).header("Retry-After", "31536000000")),
    )
    .within(600),
    attack("an address for the user that is a script", Untrusted, DeviceAuthorization, "not an https URL", |world| {
        device(world, &json!({"verification_uri": "javascript:alert(1)"}), pending);
    }),
    attack("an address for the user on this machine", Untrusted, DeviceAuthorization, "not an https URL", |world| {
        device(world, &json!({"verification_uri": "http://127.0.0.1:631/admin"}), pending);
    }),
    attack("an address for the user with a user name", Untrusted, DeviceAuthorization, "not an https URL", |world| {
        device(world, &json!({"verification_uri": "https://auth.test@evil.test/"}), pending);
    }),
    attack("a user code that controls the terminal", Untrusted, DeviceAuthorization, "control characters", |world| {
        device(world, &json!({"user_code": "AB\u{1b}[2JCD"}), pending);
    }),
    attack("a user code of a thousand characters", Untrusted, DeviceAuthorization, "too long", |world| {
        device(world, &json!({"user_code": "A".repeat(1000)}), pending);
    }),
    attack("a user code that reorders the text", Untrusted, DeviceAuthorization, "control characters", |world| {
        device(world, &json!({"user_code": "AB\u{202e}CD"}), pending);
    }),
    attack("a response without a code", Temporary, DeviceAuthorization, "contains no code", |world| {
        device(world, &json!({"device_code": ["a"]}), pending);
    }),
    attack("a user who refuses", Refused, Token, "access_denied", |world| {
        device(world, &json!({}), || HttpAnswer::json(400, json!({"error": "access_denied"})));
    })
    .within(5),
    attack(
        "a device code for a token with line breaks",
        Misconfigured,
        Token,
        "characters that a header must not contain",
        |world| device(world, &json!({}), || HttpAnswer::json(200, json!({"access_token": "a\r\nb"}))),
    )
    .within(5),
];

#[test]
fn hostile_device_logins_end_in_time() {
    withstand(ATTACKS);
}

#[test]
fn a_code_that_never_ends_is_asked_for_at_most_once_a_second() {
    let mut world = World::new();
    (ATTACKS[0].prepare)(&mut world);
    world.login().unwrap_err();
    let polls = world.asked().iter().filter(|exchange| exchange.uri.ends_with("/token")).count();
    assert!((3_000..=3_600).contains(&polls), "{polls}");
}
