//! Responses to the browser, from token endpoints and to devices: of others, huge, slow, redirecting, with tokens that no header
//! can contain, with errors that attack the terminal.

use std::time::Duration;

use mcpwire_authorization::LoginErrorKind::{LoginRequired, Misconfigured, Refused, Temporary, Untrusted};
use mcpwire_authorization::oauth::Step::{Authorization, DeviceAuthorization, ServerMetadata, Token};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint};
use serde_json::{Value, json};

use super::{Attack, REQUEST_TIMEOUT, World, attack, too_long, withstand};

/// Sends the browser back with these parameters. `STATE` and `ISSUER` stand for the right ones.
fn call_back(world: &World, query: &'static str) {
    world.answer(Endpoint::Authorization, move |request| {
        let state = request.parameter("state").unwrap_or_default();
        let query = query.replace("STATE", &state).replace("ISSUER", "https%3A%2F%2Fauth.test");
        let redirect_uri = request.parameter("redirect_uri").unwrap_or_default();
        HttpAnswer::status(302).header("Location", format!("{redirect_uri}?{query}"))
    });
}

/// The login page of an honest server with the attacker's token endpoint.
fn mix_up(world: &mut World) {
    let evil = AuthorizationServer::at("https://evil.test");
    for endpoint in [Endpoint::Authorization, Endpoint::Registration] {
        evil.deviate(Deviation::EndpointUrl(endpoint, world.authorization().endpoint(endpoint)));
    }
    world.resource_member("authorization_servers", json!(["https://evil.test"]));
    world.others.push(evil);
}

/// Servers that mix up who has answered: other issuers, other states, responses of other servers.
pub(super) fn mix_ups() -> Vec<Attack> {
    let deviation = |name, kind, step, text, deviation: Deviation| {
        attack(name, kind, step, text, move |world| {
            world.authorization().deviate(deviation.clone());
        })
    };
    let metadata = |name, text, issuer: &str| {
        deviation(name, Untrusted, ServerMetadata, text, Deviation::IssuerInMetadata(issuer.into()))
    };
    let iss = |name, issuer: &str| {
        let text = "another authorization server";
        deviation(name, Untrusted, Authorization, text, Deviation::Iss(issuer.into()))
    };
    let refused =
        |name, kind, text, code: &str| deviation(name, kind, Authorization, text, Deviation::RefuseLogins(code.into()));
    let response =
        |name, kind, text, query| attack(name, kind, Authorization, text, move |world| call_back(world, query));
    let (state, twice) = ("its `state` differs", "a parameter twice");
    let (neither, restart) = ("neither a code nor an error", "start the login again");
    vec![
        metadata(
            "metadata of another issuer",
            "its issuer is `https://evil.test`, but `https://auth.test` was asked",
            "https://evil.test",
        ),
        metadata("metadata of an issuer that differs by a slash", "`lenient_issuer`", "https://auth.test/"),
        metadata("metadata of an issuer in capitals", "its issuer is", "https://AUTH.test"),
        deviation(
            "metadata without an issuer",
            Untrusted,
            ServerMetadata,
            "`lenient_issuer`",
            Deviation::MetadataMember("issuer".into(), json!(null)),
        ),
        iss("a response of another issuer", "https://evil.test"),
        iss("a response of an issuer that differs by a slash", "https://auth.test/"),
        iss("a response of an issuer in capitals", "https://AUTH.test"),
        deviation(
            "a response without the promised issuer",
            Untrusted,
            Authorization,
            "does not name the authorization server",
            Deviation::OmitPromisedIss,
        ),
        deviation("a response to another login", Untrusted, Authorization, state, Deviation::State("guessed".into())),
        response("a response without a state", Untrusted, state, "code=attack&iss=ISSUER"),
        response("a response with two states", Untrusted, twice, "code=attack&state=STATE&state=guessed&iss=ISSUER"),
        response(
            "a response with two issuers",
            Untrusted,
            twice,
            "code=attack&state=STATE&iss=ISSUER&iss=https://evil.test",
        ),
        response("a response with two codes", Untrusted, twice, "code=one&code=two&state=STATE&iss=ISSUER"),
        response(
            "an error of an attacker with a text for the user",
            Untrusted,
            restart,
            "error=call_us&error_description=Call+555&state=guessed&iss=ISSUER",
        ),
        response("a response without code and error", Misconfigured, neither, "state=STATE&iss=ISSUER"),
        response("a response with an empty code", Misconfigured, neither, "code=&state=STATE&iss=ISSUER"),
        response(
            "a refused login whose text controls the terminal",
            Refused,
            "access_denied",
            "error=access_denied&error_description=%1B%5B2J%0D%C2%9B31m%E2%80%AEno&state=STATE&iss=ISSUER",
        ),
        refused("a login that is never possible", Temporary, "cannot answer now", "temporarily_unavailable"),
        refused("a login that wants a login", LoginRequired, "must log in", "login_required"),
        attack(
            "the login page of an honest server with the attacker's token endpoint",
            Untrusted,
            Authorization,
            "another authorization server",
            mix_up,
        ),
    ]
}

pub(super) fn tokens() -> Vec<Attack> {
    let answer = |name, kind, text, answer: fn() -> HttpAnswer| {
        attack(name, kind, Token, text, move |world| world.answer(Endpoint::Token, move |_| answer()))
    };
    let json_answer = |name, kind, text, status, body: Value| {
        attack(name, kind, Token, text, move |world| {
            let body = body.clone();
            world.answer(Endpoint::Token, move |_| HttpAnswer::json(status, body.clone()));
        })
    };
    let token = |name, token: &str| {
        let text = "characters that a header must not contain";
        json_answer(name, Misconfigured, text, 200, json!({"access_token": token}))
    };
    let nonce = |name, nonce: fn(u32) -> String| {
        attack(name, Temporary, Token, "use_dpop_nonce", move |world| {
            world.change = |builder| builder.dpop(true);
            let mut number = 0;
            world.answer(Endpoint::Token, move |_| {
                number += 1;
                HttpAnswer::json(400, json!({"error": "use_dpop_nonce"})).header("DPoP-Nonce", nonce(number))
            });
        })
    };
    let neither = "neither a token nor an error";
    vec![
        answer("a token response of 64 KiB and a byte", Temporary, "larger than 64 KiB", too_long),
        answer("a token response after an hour", Temporary, "within 30 seconds", || {
            HttpAnswer::status(200).wait(Duration::from_secs(3600)).body(r#"{"access_token":"late"}"#)
        })
        .within(REQUEST_TIMEOUT),
        answer("a token response byte by byte", Temporary, "within 30 seconds", || {
            let body = HttpAnswer::status(200).body("{");
            (0..1000).fold(body, |answer, _| answer.wait(Duration::from_secs(10)).body(" "))
        })
        .within(REQUEST_TIMEOUT),
        answer("a token response that breaks off", Temporary, "reset", || {
            HttpAnswer::status(200).body("{\"access_token\":\"a").cut()
        }),
        answer("a token response of open braces", Temporary, "cannot be read", || {
            HttpAnswer::status(200).body(r#"{"a":"#.repeat(10_000))
        }),
        answer("a token response that is not UTF-8", Temporary, "cannot be read", || {
            HttpAnswer::status(200).body(b"{\"access_token\":\"\xff\"}".as_slice())
        }),
        answer("a compressed token response", Temporary, "cannot be read", || {
            HttpAnswer::status(200).header("Content-Encoding", "gzip").body([0x1f, 0x8b, 8, 0, 0])
        }),
        answer("a token response that redirects to another host", Temporary, "redirects are not followed", || {
            HttpAnswer::status(307).header("Location", "https://evil.test/token")
        }),
        json_answer(
            "a token of a wrong type",
            Temporary,
            neither,
            200,
            json!({"access_token": {"a": 1}, "token_type": 7}),
        ),
        token("a token with line breaks", "a\r\nCookie: b=c\r\n\r\nGET / HTTP/1.1"),
        token("a token with control characters", "a\u{1b}[2J\u{0}b"),
        token("a token that is not ASCII", "t\u{f6}ken\u{202e}"),
        token("a token of 40 KiB", &"a".repeat(40_000)),
        json_answer("an empty token", Temporary, neither, 200, json!({"access_token": ""})),
        json_answer(
            "an error that controls the terminal",
            Refused,
            "red",
            400,
            json!({"error": "invalid_grant\u{1b}]52;c;cm0=\u{7}", "error_description": "\u{9b}2J\u{1b}[31mred\r\u{200b}"}),
        ),
        json_answer(
            "an error of 60 KiB",
            Refused,
            "eee",
            400,
            json!({"error": "e".repeat(30_000), "error_description": "d".repeat(30_000)}),
        ),
        json_answer(
            "an error with status 200",
            LoginRequired,
            "invalid_grant",
            200,
            json!({"ok": false, "error": "invalid_grant"}),
        ),
        json_answer("an error of a wrong type", Temporary, "no error code", 400, json!({"error": {"code": 7}})),
        answer("an error that says to wait for a thousand years", Temporary, "cannot answer now", || {
            HttpAnswer::status(429).header("Retry-After", "31536000000")
        }),
        nonce("a nonce for each request", |number| format!("n{number}")),
        nonce("a nonce that is no header", |_| "a\u{1b}[2J ".repeat(500)),
    ]
}

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

pub(super) fn devices() -> Vec<Attack> {
    let code = |name, kind, text, members: Value| {
        attack(name, kind, DeviceAuthorization, text, move |world| device(world, &members, pending))
    };
    let endless = |name, members| code(name, LoginRequired, "the code has expired", members);
    let address = |name, address: &str| code(name, Untrusted, "not an https URL", json!({"verification_uri": address}));
    let poll = |name, kind, step, text, poll: fn() -> HttpAnswer| {
        attack(name, kind, step, text, move |world| device(world, &json!({}), poll))
    };
    let control = "control characters";
    vec![
        endless("a code that never ends, without pauses", json!({"interval": 0, "expires_in": 1e300})).within(3_600),
        endless("a code with a pause of a million years", json!({"interval": 1e300, "expires_in": "600"})).within(600),
        endless("times of a code that are negative", json!({"interval": -5, "expires_in": -1})).within(600),
        endless("times of a code that are texts", json!({"interval": "soon", "expires_in": "never"})).within(600),
        endless("a code that has expired already", json!({"expires_in": 0})),
        poll("a server that is always too busy", LoginRequired, DeviceAuthorization, "the code has expired", || {
            HttpAnswer::json(400, json!({"error": "slow_down"}))
        })
        .within(600),
        poll(
            "a server that fails and wants a pause of a thousand years",
            LoginRequired,
            DeviceAuthorization,
            "the code has expired",
            || HttpAnswer::status(503).header("Retry-After", "31536000000"),
        )
        .within(600),
        address("an address for the user that is a script", "javascript:alert(1)"),
        address("an address for the user on this machine", "http://127.0.0.1:631/admin"),
        address("an address for the user with a user name", "https://auth.test@evil.test/"),
        code("a user code that controls the terminal", Untrusted, control, json!({"user_code": "AB\u{1b}[2JCD"})),
        code("a user code of a thousand characters", Untrusted, "too long", json!({"user_code": "A".repeat(1000)})),
        code("a user code that reorders the text", Untrusted, control, json!({"user_code": "AB\u{202e}CD"})),
        code("a response without a code", Temporary, "contains no code", json!({"device_code": ["a"]})),
        poll("a user who refuses", Refused, Token, "access_denied", || {
            HttpAnswer::json(400, json!({"error": "access_denied"}))
        })
        .within(5),
        poll(
            "a device code for a token with line breaks",
            Misconfigured,
            Token,
            "characters that a header must not contain",
            || HttpAnswer::json(200, json!({"access_token": "a\r\nb"})),
        )
        .within(5),
    ]
}

#[test]
fn responses_of_others_end_the_login_before_the_code_goes_anywhere() {
    withstand(&mix_ups(), |attack, world| {
        assert!(world.web.token_requests().is_empty(), "{}", attack.name);
        for evil in &world.others {
            assert!(evil.requests_to(Endpoint::Token).is_empty(), "{}", attack.name);
            assert!(!world.authorization().secrets().is_empty(), "the honest server has issued a code");
        }
    });
}

#[test]
fn the_text_of_an_attacker_is_not_shown() {
    let world = World::new();
    call_back(&world, "error=call_us&error_description=Call+555&error_uri=https://evil.test&state=guessed");
    let error = world.login().unwrap_err();
    let shown = super::texts(&error);
    assert!(!shown.contains("555") && !shown.contains("call_us") && !shown.contains("evil"), "{shown}");
}

#[test]
fn hostile_token_endpoints_end_the_login_in_time_and_get_one_request_or_two_for_a_nonce() {
    withstand(&tokens(), |attack, world| {
        let count = world.asked().iter().filter(|exchange| exchange.uri.ends_with("/token")).count();
        let expected = if attack.name == "a nonce for each request" { 2 } else { 1 };
        assert_eq!(count, expected, "{}", attack.name);
    });
}

#[test]
fn hostile_device_logins_end_in_time_and_ask_for_the_token_at_most_once_a_second() {
    withstand(&devices(), |attack, world| {
        let polls = world.asked().iter().filter(|exchange| exchange.uri.ends_with("/token")).count();
        let (at_least, at_most) = if attack.name.ends_with("without pauses") { (3_000, 3_600) } else { (0, 120) };
        assert!((at_least..=at_most).contains(&polls), "{}: {polls}", attack.name);
    });
}
