//! Metadata and registrations: huge, endless, slow, of wrong types, redirected.

use std::time::Duration;

use mcpwire_authorization::LoginErrorKind::{ClientIdRequired, Misconfigured, Refused, Temporary, Untrusted};
use mcpwire_authorization::oauth::Request;
use mcpwire_authorization::oauth::Step::{Authorization, Registration, ResourceMetadata, ServerMetadata};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Deviation, Endpoint, ResourceDeviation};
use serde_json::{Value, json};

use super::{Attack, World, attack, withstand};

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
    attack("metadata of 64 KiB and a byte", Misconfigured, ServerMetadata, "larger than 65536 bytes", |world| {
        metadata(world, too_long);
    }),
    attack("metadata without an end, as fast as possible", Misconfigured, ServerMetadata, "larger than", |world| {
        metadata(world, || (0..10_000).fold(HttpAnswer::status(200), |answer, _| answer.body([b'['; 1024])));
    }),
    attack("metadata without an end, byte by byte", Temporary, ServerMetadata, "within 30 seconds", |world| {
        metadata(world, || dripping("{"));
    })
    .within(REQUEST_TIMEOUT),
    attack("metadata that begin after a day", Temporary, ServerMetadata, "within 30 seconds", |world| {
        metadata(world, || HttpAnswer::status(200).wait(Duration::from_secs(86_400)).body("{}"));
    })
    .within(REQUEST_TIMEOUT),
    attack("metadata that break off", Temporary, ServerMetadata, "reset", |world| {
        metadata(world, || HttpAnswer::status(200).body("{\"issuer\":").cut());
    }),
    attack("metadata of 60,000 open brackets", Misconfigured, ServerMetadata, "not a metadata document", |world| {
        metadata(world, || HttpAnswer::status(200).body("[".repeat(60_000)));
    }),
    attack(
        "metadata whose members are nested 30,000 times",
        Misconfigured,
        ServerMetadata,
        "not a metadata document",
        |world| {
            metadata(world, || HttpAnswer::status(200).body(r#"{"issuer":"#.to_owned() + &r#"{"a":"#.repeat(10_000)));
        },
    ),
    attack("metadata that are not UTF-8", Misconfigured, ServerMetadata, "not a metadata document", |world| {
        metadata(world, || HttpAnswer::status(200).body(b"{\"issuer\":\"\xff\xfe\"}".as_slice()));
    }),
    attack("metadata of wrong types", Misconfigured, ServerMetadata, "not a metadata document", |world| {
        metadata(world, || {
            HttpAnswer::json(200, json!({"issuer": 7, "token_endpoint": [], "authorization_endpoint": {}}))
        });
    }),
    attack("compressed metadata", Misconfigured, ServerMetadata, "not a metadata document", |world| {
        metadata(world, || {
            let bomb = [b"\x1f\x8b\x08\x00".as_slice(), &[0; 60_000]].concat();
            HttpAnswer::status(200).header("Content-Encoding", "gzip").body(bomb)
        });
    }),
    attack("a page instead of metadata", Misconfigured, ServerMetadata, "not a metadata document", |world| {
        metadata(world, || HttpAnswer::status(200).body("<!doctype html><title>\u{1b}[2JLog in</title>"));
    }),
    attack(
        "metadata that redirect to the cloud's metadata service",
        Misconfigured,
        ServerMetadata,
        "redirects, which is not followed",
        |world| metadata(world, redirect("http://169.254.169.254/latest/meta-data")),
    ),
    attack("metadata that redirect to a script", Misconfigured, ServerMetadata, "redirects", |world| {
        metadata(world, redirect("javascript:alert(1)"));
    }),
    attack(
        "a server without metadata that is no authorization server",
        ClientIdRequired,
        Registration,
        "does not let this client register (https://mcp.test/register, HTTP status 404)",
        |world| {
            world.web.server.deviate(ResourceDeviation::NoMetadata);
            world.web.server.deviate(ResourceDeviation::OmitChallenge);
        },
    ),
    attack("metadata of another resource", Untrusted, ResourceMetadata, "`https://other.test/mcp`", |world| {
        world.resource_member("resource", "https://other.test/mcp");
    }),
    attack(
        "metadata of a resource whose host only begins like that of the server",
        Untrusted,
        ResourceMetadata,
        "does not include the server",
        |world| world.resource_member("resource", "https://mcp.test.evil.test/mcp"),
    ),
    attack(
        "metadata of a resource that controls the terminal",
        Untrusted,
        ResourceMetadata,
        "does not include the server",
        |world| world.resource_member("resource", "https://evil.test/\u{1b}]0;title\u{7}\u{1b}[2J\r\n\u{202e}"),
    ),
    attack(
        "a thousand authorization servers",
        Temporary,
        ServerMetadata,
        "there is no server at https://as0.test",
        |world| {
            let many: Vec<_> = (0..1000).map(|number| format!("https://as{number}.test")).collect();
            world.resource_member("authorization_servers", many);
        },
    ),
    attack("authorization servers that are no URLs", Untrusted, ServerMetadata, "is not an https URL", |world| {
        world.resource_member("authorization_servers", json!(["javascript:alert(1)", "", 7, "https://", "file:///"]));
    }),
    attack(
        "an authorization server on this machine",
        Untrusted,
        ServerMetadata,
        "an address of this machine or of a private network",
        |world| world.resource_member("authorization_servers", json!(["https://127.0.0.1:8443"])),
    ),
    attack(
        "an authorization server in the user's network",
        Untrusted,
        ServerMetadata,
        "an address of this machine or of a private network",
        |world| world.resource_member("authorization_servers", json!(["https://192.168.0.1"])),
    ),
    attack("metadata without a token endpoint", Misconfigured, ServerMetadata, "no token endpoint", |world| {
        member(world, "token_endpoint", Value::Null);
    }),
    attack("metadata without a login", Misconfigured, Authorization, "no login for users", |world| {
        member(world, "authorization_endpoint", Value::Null);
    }),
    attack("a registration endpoint that is not https", ClientIdRequired, Registration, "", |world| {
        member(world, "registration_endpoint", "http://auth.test/register".into());
    }),
    attack("a registration of 64 KiB and a byte", Temporary, Registration, "larger than 64 KiB", |world| {
        registration(world, too_long);
    }),
    attack("a registration without an end", Temporary, Registration, "within 30 seconds", |world| {
        registration(world, || dripping(" "));
    })
    .within(REQUEST_TIMEOUT),
    attack("a registration that is not UTF-8", Temporary, Registration, "cannot be read", |world| {
        registration(world, || HttpAnswer::status(201).body(b"{\"client_id\":\"\xc3\x28\"}".as_slice()));
    }),
    attack("a registration without an identifier", Misconfigured, Registration, "no client identifier", |world| {
        registration(world, || HttpAnswer::json(201, json!({"client_id": ["a"], "client_secret": 5})));
    }),
    attack("a registration with other redirect URIs", Refused, Registration, "other redirect URIs", |world| {
        registration(world, || {
            HttpAnswer::json(201, json!({"client_id": "c", "redirect_uris": ["https://evil.test/callback"]}))
        });
    }),
    attack("a registration that redirects to another host", Misconfigured, Registration, "redirects", |world| {
        registration(world, redirect("https://evil.test/register"));
    }),
    attack("a refused registration that controls the terminal", Refused, Registration, "long long", |world| {
        registration(world, || {
            let description = "\u{1b}[31m\u{9b}2J\u{7}\u{202e}".to_owned() + &"long ".repeat(10_000);
            HttpAnswer::json(400, json!({"error": "invalid_\u{1b}redirect_uri", "error_description": description}))
        });
    }),
    attack(
        "a refused registration with status 200",
        Refused,
        Registration,
        "does not accept the redirect URI",
        |world| registration(world, || HttpAnswer::json(200, json!({"error": "invalid_redirect_uri"}))),
    ),
];

fn member(world: &World, name: &str, value: Value) {
    world.authorization().deviate(Deviation::MetadataMember(name.into(), value));
}

#[test]
fn hostile_documents_end_the_login_in_time() {
    withstand(ATTACKS);
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
