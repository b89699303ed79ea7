//! Servers that want less security than the client: http instead of https, no PKCE, Bearer tokens instead of bound ones.

use mcpwire_authorization::LoginErrorKind::{Misconfigured, Untrusted};
use mcpwire_authorization::oauth::Step::{Authorization, ServerMetadata, Token};
use mcpwire_testkit::authorization::{Deviation, Endpoint};
use serde_json::json;

use super::{Attack, World, attack, withstand};

fn deviate(world: &World, deviation: Deviation) {
    world.authorization().deviate(deviation);
}

fn endpoint(world: &World, endpoint: Endpoint, url: &str) {
    deviate(world, Deviation::EndpointUrl(endpoint, url.into()));
}

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "a token endpoint that is not https",
        Untrusted,
        ServerMetadata,
        "`http://auth.test/token` is not an https URL",
        |world| endpoint(world, Endpoint::Token, "http://auth.test/token"),
    ),
    attack("a token endpoint on this machine without TLS", Untrusted, ServerMetadata, "is not an https URL", |world| {
        endpoint(world, Endpoint::Token, "http://localhost:8080/token");
    }),
    attack(
        "a token endpoint in the user's network",
        Misconfigured,
        Token,
        "an address of this machine or of a private network",
        |world| endpoint(world, Endpoint::Token, "https://10.0.0.1/token"),
    ),
    attack("a login page that is a script", Untrusted, ServerMetadata, "is not an https URL", |world| {
        endpoint(world, Endpoint::Authorization, "javascript:alert(1)//");
    }),
    attack("a login page that is a file", Untrusted, ServerMetadata, "is not an https URL", |world| {
        endpoint(world, Endpoint::Authorization, "file:///etc/passwd");
    }),
    attack("a login page that is data", Untrusted, ServerMetadata, "is not an https URL", |world| {
        endpoint(world, Endpoint::Authorization, "data:text/html,<h1>Log in");
    }),
    attack("a login page without TLS", Untrusted, ServerMetadata, "is not an https URL", |world| {
        endpoint(world, Endpoint::Authorization, "http://auth.test/authorize");
    }),
    attack("a login page whose host is a user name", Untrusted, ServerMetadata, "is not an https URL", |world| {
        endpoint(world, Endpoint::Authorization, "https://auth.test@evil.test/authorize");
    }),
    attack(
        "a login page with a command for a shell and the terminal",
        Untrusted,
        ServerMetadata,
        "is not an https URL",
        |world| endpoint(world, Endpoint::Authorization, "https://auth.test/\u{1b}[2J\n$(calc)\"`calc`"),
    ),
    attack("an issuer that is not https", Untrusted, ServerMetadata, "is not an https URL", |world| {
        world.resource_member("authorization_servers", json!(["http://auth.test"]));
    }),
    attack("no PKCE", Misconfigured, Authorization, "`assume_pkce`", |world| {
        deviate(world, Deviation::OmitCodeChallengeMethods);
    }),
    attack(
        "only PKCE that shows the verifier",
        Misconfigured,
        Authorization,
        "does not support PKCE with S256",
        |world| deviate(world, Deviation::MetadataMember("code_challenge_methods_supported".into(), json!(["plain"]))),
    ),
    attack("PKCE methods that are no list", Misconfigured, Authorization, "PKCE", |world| {
        deviate(world, Deviation::MetadataMember("code_challenge_methods_supported".into(), json!("S256")));
    }),
    attack("a Bearer token instead of a bound one", Misconfigured, Token, "not bound to the key", |world| {
        world.change = |builder| builder.dpop(true);
        deviate(world, Deviation::IgnoreProofs);
    }),
    attack("a token of another type", Misconfigured, Token, "cannot be sent to a server", |world| {
        deviate(world, Deviation::TokenType("mac".into()));
    }),
    attack("a bound token for a client without a key", Misconfigured, Token, "does not use DPoP", |world| {
        deviate(world, Deviation::TokenType("DPoP".into()));
    }),
];

#[test]
fn downgrades_end_the_login_before_anything_is_sent() {
    withstand(ATTACKS);
}
