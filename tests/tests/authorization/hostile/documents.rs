//! Metadata and registrations: huge, endless, slow, of wrong types, redirected.

use std::time::Duration;

use mcpwire_authorization::LoginErrorKind::{ClientIdRequired, Misconfigured, Refused, Temporary, Untrusted};
use mcpwire_authorization::oauth::Request;
use mcpwire_authorization::oauth::Step::{Authorization, Registration, ResourceMetadata, ServerMetadata};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Deviation, Endpoint, ResourceDeviation};
use mcpwire_tests::watched;
use serde_json::{Value, json};

use super::{Attack, World, withstand};

const REQUEST_TIMEOUT: u64 = 30;

fn metadata(world: &World, answer: impl Fn() -> HttpAnswer + Send + 'static) {
    world.answer(Endpoint::Metadata, move |_| answer());
}

fn registration(world: &World, answer: impl Fn() -> HttpAnswer + Send + 'static) {
    world.answer(Endpoint::Registration, move |_| answer());
}

fn redirect(location: &'static str) -> impl Fn() -> HttpAnswer + Send + 'static {
    move || HttpAnswer::status(302).header("Location", location)
}

/// A document that is one byte too long.
fn too_long() -> HttpAnswer {
    HttpAnswer::status(200).body(vec![b' '; Request::MAX_RESPONSE + 1])
}

/// A body that never ends: a piece each second, for a day.
fn dripping(piece: &str) -> HttpAnswer {
    (0..86_400).fold(HttpAnswer::status(200).body(piece), |answer, _| answer.wait(Duration::from_secs(1)).body(piece))
}

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        "metadata of 64 KiB and a byte",
        |world| metadata(world, too_long),
        Misconfigured,
        ServerMetadata,
        "larger than 65536 bytes",
    ),
    Attack::new(
        "metadata without an end, as fast as possible",
        |world| metadata(world, || (0..10_000).fold(HttpAnswer::status(200), |answer, _| answer.body([b'['; 1024]))),
        Misconfigured,
        ServerMetadata,
        "larger than",
    ),
    Attack::new(
        "metadata without an end, byte by byte",
        |world| metadata(world, || dripping("{")),
        Temporary,
        ServerMetadata,
        "within 30 seconds",
    )
    .within(REQUEST_TIMEOUT),
    Attack::new(
        "metadata that begin after a day",
        |world| metadata(world, || HttpAnswer::status(200).wait(Duration::from_secs(86_400)).body("{}")),
        Temporary,
        ServerMetadata,
        "within 30 seconds",
    )
    .within(REQUEST_TIMEOUT),
    Attack::new(
        "metadata that break off",
        |world| metadata(world, || HttpAnswer::status(200).body("{\"issuer\":").cut()),
        Temporary,
        ServerMetadata,
        "reset",
    ),
    Attack::new(
        "metadata of 60,000 open brackets",
        |world| metadata(world, || HttpAnswer::status(200).body("[".repeat(60_000))),
        Misconfigured,
        ServerMetadata,
        "not a metadata document",
    ),
    Attack::new(
        "metadata whose members are nested 30,000 times",
        |world| {
            metadata(world, || HttpAnswer::status(200).body(r#"{"issuer":"#.to_owned() + &r#"{"a":"#.repeat(10_000)));
        },
        Misconfigured,
        ServerMetadata,
        "not a metadata document",
    ),
    Attack::new(
        "metadata that are not UTF-8",
        |world| metadata(world, || HttpAnswer::status(200).body(b"{\"issuer\":\"\xff\xfe\"}".as_slice())),
        Misconfigured,
        ServerMetadata,
        "not a metadata document",
    ),
    Attack::new(
        "metadata of wrong types",
        |world| {
            metadata(world, || {
                HttpAnswer::json(200, json!({"issuer": 7, "token_endpoint": [], "authorization_endpoint": {}}))
            });
        },
        Misconfigured,
        ServerMetadata,
        "not a metadata document",
    ),
    Attack::new(
        "compressed metadata",
        |world| {
            metadata(world, || {
                let bomb = [b"\x1f\x8b\x08\x00".as_slice(), &[0; 60_000]].concat();
                HttpAnswer::status(200).header("Content-Encoding", "gzip").body(bomb)
            });
        },
        Misconfigured,
        ServerMetadata,
        "not a metadata document",
    ),
    Attack::new(
        "a page instead of metadata",
        |world| metadata(world, || HttpAnswer::status(200).body("<!doctype html><title>\u{1b}[2JLog in</title>")),
        Misconfigured,
        ServerMetadata,
        "not a metadata document",
    ),
    Attack::new(
        "metadata that redirect to the cloud's metadata service",
        |world| metadata(world, redirect("http://169.254.169.254/latest/meta-data")),
        Misconfigured,
        ServerMetadata,
        "redirects, which is not followed",
    ),
    Attack::new(
        "metadata that redirect to a script",
        |world| metadata(world, redirect("javascript:alert(1)")),
        Misconfigured,
        ServerMetadata,
        "redirects",
    ),
    Attack::new(
        "a server without metadata that is no authorization server",
        |world| {
            world.web.server.deviate(ResourceDeviation::NoMetadata);
            world.web.server.deviate(ResourceDeviation::OmitChallenge);
        },
        ClientIdRequired,
        Registration,
        "does not let this client register (https://mcp.test/register, HTTP status 404)",
    ),
    Attack::new(
        "metadata of another resource",
        |world| world.resource_member("resource", "https://other.test/mcp"),
        Untrusted,
        ResourceMetadata,
        "`https://other.test/mcp`",
    ),
    Attack::new(
        "metadata of a resource whose host only begins like that of the server",
        |world| world.resource_member("resource", "https://mcp.test.evil.test/mcp"),
        Untrusted,
        ResourceMetadata,
        "does not include the server",
    ),
    Attack::new(
        "metadata of a resource that controls the terminal",
        |world| world.resource_member("resource", "https://evil.test/\u{1b}]0;title\u{7}\u{1b}[2J\r\n\u{202e}"),
        Untrusted,
        ResourceMetadata,
        "does not include the server",
    ),
    Attack::new(
        "a thousand authorization servers",
        |world| {
            let many: Vec<_> = (0..1000).map(|number| format!("https://as{number}.test")).collect();
            world.resource_member("authorization_servers", many);
        },
        Temporary,
        ServerMetadata,
        "there is no server at https://as0.test",
    ),
    Attack::new(
        "authorization servers that are no URLs",
        |world| {
            world.resource_member(
                "authorization_servers",
                json!(["javascript:alert(1)", "", 7, "https://", "file:///"]),
            );
        },
        Untrusted,
        ServerMetadata,
        "is not an https URL",
    ),
    Attack::new(
        "an authorization server on this machine",
        |world| world.resource_member("authorization_servers", json!(["https://127.0.0.1:8443"])),
        Untrusted,
        ServerMetadata,
        "an address of this machine or of a private network",
    ),
    Attack::new(
        "an authorization server in the user's network",
        |world| world.resource_member("authorization_servers", json!(["https://192.168.0.1"])),
        Untrusted,
        ServerMetadata,
        "an address of this machine or of a private network",
    ),
    Attack::new(
        "metadata without a token endpoint",
        |world| member(world, "token_endpoint", Value::Null),
        Misconfigured,
        ServerMetadata,
        "no token endpoint",
    ),
    Attack::new(
        "metadata without a login",
        |world| member(world, "authorization_endpoint", Value::Null),
        Misconfigured,
        Authorization,
        "no login for users",
    ),
    Attack::new(
        "a registration endpoint that is not https",
        |world| member(world, "registration_endpoint", "http://auth.test/register".into()),
        ClientIdRequired,
        Registration,
        "",
    ),
    Attack::new(
        "a registration of 64 KiB and a byte",
        |world| registration(world, too_long),
        Temporary,
        Registration,
        "larger than 64 KiB",
    ),
    Attack::new(
        "a registration without an end",
        |world| registration(world, || dripping(" ")),
        Temporary,
        Registration,
        "within 30 seconds",
    )
    .within(REQUEST_TIMEOUT),
    Attack::new(
        "a registration that is not UTF-8",
        |world| registration(world, || HttpAnswer::status(201).body(b"{\"client_id\":\"\xc3\x28\"}".as_slice())),
        Temporary,
        Registration,
        "cannot be read",
    ),
    Attack::new(
        "a registration without an identifier",
        |world| registration(world, || HttpAnswer::json(201, json!({"client_id": ["a"], "client_secret": 5}))),
        Misconfigured,
        Registration,
        "no client identifier",
    ),
    Attack::new(
        "a registration with other redirect URIs",
        |world| {
            registration(world, || {
                HttpAnswer::json(201, json!({"client_id": "c", "redirect_uris": ["https://evil.test/callback"]}))
            });
        },
        Refused,
        Registration,
        "other redirect URIs",
    ),
    Attack::new(
        "a registration that redirects to another host",
        |world| registration(world, redirect("https://evil.test/register")),
        Misconfigured,
        Registration,
        "redirects",
    ),
    Attack::new(
        "a refused registration that controls the terminal",
        |world| {
            registration(world, || {
                let description = "\u{1b}[31m\u{9b}2J\u{7}\u{202e}".to_owned() + &"long ".repeat(10_000);
                HttpAnswer::json(400, json!({"error": "invalid_\u{1b}redirect_uri", "error_description": description}))
            });
        },
        Refused,
        Registration,
        "long long",
    ),
    Attack::new(
        "a refused registration with status 200",
        |world| registration(world, || HttpAnswer::json(200, json!({"error": "invalid_redirect_uri"}))),
        Refused,
        Registration,
        "does not accept the redirect URI",
    ),
];

fn member(world: &World, name: &str, value: Value) {
    world.authorization().deviate(Deviation::MetadataMember(name.into(), value));
}

#[test]
fn hostile_documents_end_the_login_in_time() {
    watched(|| withstand(ATTACKS));
}

#[test]
fn at_most_eight_authorization_servers_are_asked() {
    let world = World::new();
    let many: Vec<_> = (0..1000).map(|number| format!("https://as{number}.test")).collect();
    world.resource_member("authorization_servers", many);
    world.login().unwrap_err();
    let asked = world.asked();
    let hosts: std::collections::HashSet<_> =
        asked.iter().filter_map(|exchange| exchange.uri.split('/').nth(2)).collect();
    assert_eq!(hosts.len(), 9, "the server and eight others: {hosts:?}");
}
