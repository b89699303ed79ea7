//! Token endpoints: huge, slow, redirecting, with tokens that no header can contain, with errors that attack the terminal.

use std::time::Duration;

use mcpwire_authorization::LoginErrorKind::{LoginRequired, Misconfigured, Refused, Temporary};
use mcpwire_authorization::oauth::Request;
use mcpwire_authorization::oauth::Step::Token;
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::Endpoint;
use serde_json::{Value, json};

use super::{Attack, World, attack, withstand};

fn token(world: &World, answer: impl Fn() -> HttpAnswer + Send + 'static) {
    world.answer(Endpoint::Token, move |_| answer());
}

fn json_token(world: &World, status: u16, body: fn() -> Value) {
    token(world, move || HttpAnswer::json(status, body()));
}

pub(super) const ATTACKS: &[Attack] = &[
    attack("a token response of 64 KiB and a byte", Temporary, Token, "larger than 64 KiB", |world| {
        token(world, || HttpAnswer::status(200).body(vec![b' '; Request::MAX_RESPONSE + 1]));
    }),
    attack("a token response after an hour", Temporary, Token, "within 30 seconds", |world| {
        token(world, || HttpAnswer::status(200).wait(Duration::from_secs(3600)).body(r#"{"access_token":"late"}"#));
    })
    .within(30),
    attack("a token response byte by byte", Temporary, Token, "within 30 seconds", |world| {
        token(world, || {
            (0..1000)
                .fold(HttpAnswer::status(200).body("{"), |answer, _| answer.wait(Duration::from_secs(10)).body(" "))
        });
    })
    .within(30),
    attack("a token response that breaks off", Temporary, Token, "reset", |world| {
        token(world, || HttpAnswer::status(200).body("{\"access_token\":\"a").cut());
    }),
    attack("a token response of open braces", Temporary, Token, "cannot be read", |world| {
        token(world, || HttpAnswer::status(200).body(r#"{"a":"#.repeat(10_000)));
    }),
    attack("a token response that is not UTF-8", Temporary, Token, "cannot be read", |world| {
        token(world, || HttpAnswer::status(200).body(b"{\"access_token\":\"\xff\"}".as_slice()));
    }),
    attack("a compressed token response", Temporary, Token, "cannot be read", |world| {
        token(world, || HttpAnswer::status(200).header("Content-Encoding", "gzip").body([0x1f, 0x8b, 8, 0, 0]));
    }),
    attack(
        "a token response that redirects to another host",
        Temporary,
        Token,
        "redirects are not followed",
        |world| token(world, || HttpAnswer::status(307).header("Location", "https://evil.test/token")),
    ),
    attack("a token of a wrong type", Temporary, Token, "neither a token nor an error", |world| {
        json_token(world, 200, || json!({"access_token": {"a": 1}, "token_type": 7}));
    }),
    attack("a token with line breaks", Misconfigured, Token, "characters that a header must not contain", |world| {
        json_token(world, 200, || json!({"access_token": "a\r\nCookie: b=c\r\n\r\nGET / HTTP/1.1"}));
    }),
    attack(
        "a token with control characters",
        Misconfigured,
        Token,
        "characters that a header must not contain",
        |world| json_token(world, 200, || json!({"access_token": "a\u{1b}[2J\u{0}b"})),
    ),
    attack("a token that is not ASCII", Misconfigured, Token, "characters that a header must not contain", |world| {
        json_token(world, 200, || json!({"access_token": "t\u{f6}ken\u{202e}"}));
    }),
    attack("a token of 40 KiB", Misconfigured, Token, "too long", |world| {
        json_token(world, 200, || json!({"access_token": "a".repeat(40_000)}));
    }),
    attack("an empty token", Temporary, Token, "neither a token nor an error", |world| {
        json_token(world, 200, || json!({"access_token": ""}));
    }),
    attack("an error that controls the terminal", Refused, Token, "red", |world| {
        json_token(
            world,
            400,
            || json!({"error": "invalid_grant\u{1b}]52;c;cm0=\u{7}", "error_description": "\u{9b}2J\u{1b}[31mred\r\u{200b}"}),
        );
    }),
    attack("an error of 60 KiB", Refused, Token, "eee", |world| {
        json_token(world, 400, || json!({"error": "e".repeat(30_000), "error_description": "d".repeat(30_000)}));
    }),
    attack("an error with status 200", LoginRequired, Token, "invalid_grant", |world| {
        json_token(world, 200, || json!({"ok": false, "error": "invalid_grant"}));
    }),
    attack("an error of a wrong type", Temporary, Token, "no error code", |world| {
        json_token(world, 400, || json!({"error": {"code": 7}}));
    }),
    attack("an error that says to wait for a thousand years", Temporary, Token, "cannot answer now", |world| {
        token(world, || HttpAnswer::status(429).header("Retry-After", "31536000000"));
    }),
    attack("a nonce for each request", Temporary, Token, "use_dpop_nonce", |world| {
        world.change = |builder| builder.dpop(true);
        let mut number = 0;
        world.answer(Endpoint::Token, move |_| {
            number += 1;
            HttpAnswer::json(400, json!({"error": "use_dpop_nonce"})).header("DPoP-Nonce", format!("n{number}"))
        });
    }),
    attack("a nonce that is no header", Temporary, Token, "use_dpop_nonce", |world| {
        world.change = |builder| builder.dpop(true);
        token(world, || {
            HttpAnswer::json(400, json!({"error": "use_dpop_nonce"})).header("DPoP-Nonce", "a\u{1b}[2J ".repeat(500))
        });
    }),
];

#[test]
fn hostile_token_endpoints_end_the_login_in_time() {
    withstand(ATTACKS);
}

#[test]
fn a_login_repeats_its_token_request_once_for_a_nonce_and_never_for_anything_else() {
    for attack in ATTACKS {
        let mut world = World::new();
        (attack.prepare)(&mut world);
        assert!(world.login().is_err(), "{}", attack.name);
        let count = world.asked().iter().filter(|exchange| exchange.uri.ends_with("/token")).count();
        let expected = if attack.name == "a nonce for each request" { 2 } else { 1 };
        assert_eq!(count, expected, "{}", attack.name);
    }
}
