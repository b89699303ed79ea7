//! Metadata and registrations: huge, endless, slow, of wrong types, redirected, and with less security than the client wants.

use std::collections::HashSet;
use std::time::Duration;

use mcpwire_authorization::LoginErrorKind::{ClientIdRequired, Misconfigured, Refused, Temporary, Untrusted};
use mcpwire_authorization::oauth::Step::{Authorization, Registration, ResourceMetadata, ServerMetadata, Token};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Deviation, Endpoint, ResourceDeviation};
use serde_json::{Value, json};

use super::{Attack, REQUEST_TIMEOUT, World, attack, too_long, withstand};

fn redirect(location: &str) -> HttpAnswer {
    HttpAnswer::status(302).header("Location", location)
}

/// A body that never ends: a piece each second, for a day.
fn dripping(piece: &str) -> HttpAnswer {
    (0..86_400).fold(HttpAnswer::status(200).body(piece), |answer, _| answer.wait(Duration::from_secs(1)).body(piece))
}

pub(super) fn attacks() -> Vec<Attack> {
    [metadata(), resources(), registrations(), downgrades()].into_iter().flatten().collect()
}

/// Answers instead of the metadata of the authorization server.
fn metadata() -> Vec<Attack> {
    let answer = |name, kind, text, answer: fn() -> HttpAnswer| {
        attack(name, kind, ServerMetadata, text, move |world| world.answer(Endpoint::Metadata, move |_| answer()))
    };
    let no_document = |name, body: fn() -> Vec<u8>| {
        let step = ServerMetadata;
        attack(name, Misconfigured, step, "not a metadata document", move |world| {
            world.answer(Endpoint::Metadata, move |_| HttpAnswer::status(200).body(body()));
        })
    };
    let member = |name, kind, step, text, member: &'static str, value: Value| {
        attack(name, kind, step, text, move |world| {
            world.authorization().deviate(Deviation::MetadataMember(member.into(), value.clone()));
        })
    };
    vec![
        answer("metadata of 64 KiB and a byte", Misconfigured, "larger than 65536 bytes", too_long),
        answer("metadata without an end, as fast as possible", Misconfigured, "larger than", || {
            (0..10_000).fold(HttpAnswer::status(200), |answer, _| answer.body([b'['; 1024]))
        }),
        answer("metadata without an end, byte by byte", Temporary, "within 30 seconds", || dripping("{"))
            .within(REQUEST_TIMEOUT),
        answer("metadata that begin after a day", Temporary, "within 30 seconds", || {
            HttpAnswer::status(200).wait(Duration::from_secs(86_400)).body("{}")
        })
        .within(REQUEST_TIMEOUT),
        answer("metadata that break off", Temporary, "reset", || HttpAnswer::status(200).body("{\"issuer\":").cut()),
        no_document("metadata of 60,000 open brackets", || "[".repeat(60_000).into()),
        no_document("metadata whose members are nested 30,000 times", || {
            (r#"{"issuer":"#.to_owned() + &r#"{"a":"#.repeat(10_000)).into()
        }),
        no_document("metadata that are not UTF-8", || b"{\"issuer\":\"\xff\xfe\"}".to_vec()),
        no_document("metadata of wrong types", || {
            json!({"issuer": 7, "token_endpoint": [], "authorization_endpoint": {}}).to_string().into()
        }),
        no_document("a page instead of metadata", || "<!doctype html><title>\u{1b}[2JLog in</title>".into()),
        answer("compressed metadata", Misconfigured, "not a metadata document", || {
            let bomb = [b"\x1f\x8b\x08\x00".as_slice(), &[0; 60_000]].concat();
            HttpAnswer::status(200).header("Content-Encoding", "gzip").body(bomb)
        }),
        answer(
            "metadata that redirect to the cloud's metadata service",
            Misconfigured,
            "redirects, which is not followed",
            || redirect("http://169.254.169.254/latest/meta-data"),
        ),
        answer("metadata that redirect to a script", Misconfigured, "redirects", || redirect("javascript:alert(1)")),
        member(
            "metadata without a token endpoint",
            Misconfigured,
            ServerMetadata,
            "no token endpoint",
            "token_endpoint",
            Value::Null,
        ),
        member(
            "metadata without a login",
            Misconfigured,
            Authorization,
            "no login for users",
            "authorization_endpoint",
            Value::Null,
        ),
    ]
}

/// What the MCP server says about itself and its authorization servers.
fn resources() -> Vec<Attack> {
    let resource = |name, text, resource: &'static str| {
        attack(name, Untrusted, ResourceMetadata, text, move |world| world.resource_member("resource", resource))
    };
    let servers = |name, kind, text, servers: Value| {
        attack(name, kind, ServerMetadata, text, move |world| {
            world.resource_member("authorization_servers", servers.clone());
        })
    };
    let private = "an address of this machine or of a private network";
    vec![
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
        resource("metadata of another resource", "`https://other.test/mcp`", "https://other.test/mcp"),
        resource(
            "metadata of a resource whose host only begins like that of the server",
            "does not include the server",
            "https://mcp.test.evil.test/mcp",
        ),
        resource(
            "metadata of a resource that controls the terminal",
            "does not include the server",
            "https://evil.test/\u{1b}]0;title\u{7}\u{1b}[2J\r\n\u{202e}",
        ),
        servers("a thousand authorization servers", Temporary, "there is no server at https://as0.test", thousand()),
        servers(
            "authorization servers that are no URLs",
            Untrusted,
            "is not an https URL",
            json!(["javascript:alert(1)", "", 7, "https://", "file:///"]),
        ),
        servers("an issuer that is not https", Untrusted, "is not an https URL", json!(["http://auth.test"])),
        servers("an authorization server on this machine", Untrusted, private, json!(["https://127.0.0.1:8443"])),
        servers("an authorization server in the user's network", Untrusted, private, json!(["https://192.168.0.1"])),
    ]
}

fn thousand() -> Value {
    (0..1000).map(|number| format!("https://as{number}.test")).collect()
}

fn registrations() -> Vec<Attack> {
    let answer = |name, kind, text, answer: fn() -> HttpAnswer| {
        attack(name, kind, Registration, text, move |world| {
            world.answer(Endpoint::Registration, move |_| answer());
        })
    };
    vec![
        attack("a registration endpoint that is not https", ClientIdRequired, Registration, "", |world| {
            let url = "http://auth.test/register".into();
            world.authorization().deviate(Deviation::MetadataMember("registration_endpoint".into(), url));
        }),
        attack(
            "a registration whose redirect URI is refused",
            Refused,
            Registration,
            "invalid_redirect_uri",
            |world| {
                world.authorization().deviate(Deviation::RefuseRedirectUris);
            },
        ),
        answer("a registration of 64 KiB and a byte", Temporary, "larger than 64 KiB", too_long),
        answer("a registration without an end", Temporary, "within 30 seconds", || dripping(" "))
            .within(REQUEST_TIMEOUT),
        answer("a registration that is not UTF-8", Temporary, "cannot be read", || {
            HttpAnswer::status(201).body(b"{\"client_id\":\"\xc3\x28\"}".as_slice())
        }),
        answer("a registration without an identifier", Misconfigured, "no client identifier", || {
            HttpAnswer::json(201, json!({"client_id": ["a"], "client_secret": 5}))
        }),
        answer("a registration with other redirect URIs", Refused, "other redirect URIs", || {
            HttpAnswer::json(201, json!({"client_id": "c", "redirect_uris": ["https://evil.test/callback"]}))
        }),
        answer("a registration that redirects to another host", Misconfigured, "redirects", || {
            redirect("https://evil.test/register")
        }),
        answer("a refused registration that controls the terminal", Refused, "long long", || {
            let description = "\u{1b}[31m\u{9b}2J\u{7}\u{202e}".to_owned() + &"long ".repeat(10_000);
            HttpAnswer::json(400, json!({"error": "invalid_\u{1b}redirect_uri", "error_description": description}))
        }),
        answer("a refused registration with status 200", Refused, "does not accept the redirect URI", || {
            HttpAnswer::json(200, json!({"error": "invalid_redirect_uri"}))
        }),
    ]
}

/// Servers that want less security than the client: http instead of https, no PKCE, Bearer tokens instead of bound ones.
fn downgrades() -> Vec<Attack> {
    let endpoint = |name, endpoint, url: &'static str| {
        attack(name, Untrusted, ServerMetadata, "is not an https URL", move |world| {
            world.authorization().deviate(Deviation::EndpointUrl(endpoint, url.into()));
        })
    };
    let deviation = |name, step, text, deviation: Deviation| {
        attack(name, Misconfigured, step, text, move |world| {
            world.authorization().deviate(deviation.clone());
        })
    };
    let pkce = |methods| Deviation::MetadataMember("code_challenge_methods_supported".into(), methods);
    let login = Endpoint::Authorization;
    vec![
        Attack {
            text: "`http://auth.test/token` is not an https URL",
            ..endpoint("a token endpoint that is not https", Endpoint::Token, "http://auth.test/token")
        },
        endpoint("a token endpoint on this machine without TLS", Endpoint::Token, "http://localhost:8080/token"),
        endpoint("a token endpoint of another protocol", Endpoint::Token, "ftp://auth.test/token"),
        endpoint("a token endpoint with a password", Endpoint::Token, "https://user:password@auth.test/token"),
        endpoint("a token endpoint that is no URL", Endpoint::Token, "//auth.test/token"),
        endpoint("a login page that is a script", login, "javascript:alert(1)//"),
        endpoint("a login page that is a script in capitals", login, "JAVASCRIPT:x"),
        endpoint("a login page that is a file", login, "file:///etc/passwd"),
        endpoint("a login page that is data", login, "data:text/html,<h1>Log in"),
        endpoint("a login page after a space", login, " https://auth.test/authorize"),
        endpoint("a login page without TLS", login, "http://auth.test/authorize"),
        endpoint("a login page whose host is a user name", login, "https://auth.test@evil.test/authorize"),
        endpoint(
            "a login page with a command for a shell and the terminal",
            login,
            "https://auth.test/\u{1b}[2J\n$(calc)\"`calc`",
        ),
        deviation(
            "a token endpoint in the user's network",
            Token,
            "an address of this machine or of a private network",
            Deviation::EndpointUrl(Endpoint::Token, "https://10.0.0.1/token".into()),
        ),
        deviation("no PKCE", Authorization, "`assume_pkce`", Deviation::OmitCodeChallengeMethods),
        deviation(
            "only PKCE that shows the verifier",
            Authorization,
            "does not support PKCE with S256",
            pkce(json!(["plain"])),
        ),
        deviation("PKCE methods that are no list", Authorization, "PKCE", pkce(json!("S256"))),
        attack("a Bearer token instead of a bound one", Misconfigured, Token, "not bound to the key", |world| {
            world.change = |builder| builder.dpop(true);
            world.authorization().deviate(Deviation::IgnoreProofs);
        }),
        deviation("a token of another type", Token, "cannot be sent to a server", Deviation::TokenType("mac".into())),
        deviation(
            "a bound token for a client without a key",
            Token,
            "does not use DPoP",
            Deviation::TokenType("DPoP".into()),
        ),
    ]
}

#[test]
fn hostile_documents_and_downgrades_end_the_login_in_time() {
    withstand(&attacks(), |attack, world| {
        assert!(attack.step == Token || world.web.token_requests().is_empty(), "{}: a code is sent", attack.name);
    });
}

#[test]
fn at_most_eight_authorization_servers_are_asked() {
    let world = World::new();
    world.resource_member("authorization_servers", thousand());
    world.login().unwrap_err();
    let asked = world.asked();
    let hosts: HashSet<_> = asked.iter().filter_map(|exchange| exchange.uri.split('/').nth(2)).collect();
    assert_eq!(hosts.len(), 9, "the server and eight others: {hosts:?}");
}
