//! Servers that want less security than the client: http instead of https, no PKCE, Bearer tokens instead of bound ones.

use mcpwire_authorization::LoginErrorKind::{Misconfigured, Untrusted};
use mcpwire_authorization::oauth::Step::{Authorization, ServerMetadata, Token};
use mcpwire_testkit::authorization::{Deviation, Endpoint};
use mcpwire_tests::watched;
use serde_json::json;

use super::{Attack, World, withstand};

fn deviate(world: &World, deviation: Deviation) {
    world.authorization().deviate(deviation);
}

fn endpoint(world: &World, endpoint: Endpoint, url: &str) {
    deviate(world, Deviation::EndpointUrl(endpoint, url.into()));
}

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new(
        "a token endpoint that is not https",
        |world| endpoint(world, Endpoint::Token, "http://auth.test/token"),
        Untrusted,
        ServerMetadata,
        "`http://auth.test/token` is not an https URL",
    ),
    Attack::new(
        "a token endpoint on this machine without TLS",
        |world| endpoint(world, Endpoint::Token, "http://localhost:8080/token"),
        Untrusted,
        ServerMetadata,
        "is not an https URL",
    ),
    Attack::new(
        "a token endpoint in the user's network",
        |world| endpoint(world, Endpoint::Token, "https://10.0.0.1/token"),
        Misconfigured,
        Token,
        "an address of this machine or of a private network",
    ),
    Attack::new(
        "a login page that is a script",
        |world| endpoint(world, Endpoint::Authorization, "javascript:alert(1)//"),
        Untrusted,
        ServerMetadata,
        "is not an https URL",
    ),
    Attack::new(
        "a login page that is a file",
        |world| endpoint(world, Endpoint::Authorization, "file:///etc/passwd"),
        Untrusted,
        ServerMetadata,
        "is not an https URL",
    ),
    Attack::new(
        "a login page that is data",
        |world| endpoint(world, Endpoint::Authorization, "data:text/html,<h1>Log in"),
        Untrusted,
        ServerMetadata,
        "is not an https URL",
    ),
    Attack::new(
        "a login page without TLS",
        |world| endpoint(world, Endpoint::Authorization, "http://auth.test/authorize"),
        Untrusted,
        ServerMetadata,
        "is not an https URL",
    ),
    Attack::new(
        "a login page whose host is a user name",
        |world| endpoint(world, Endpoint::Authorization, "https://auth.test@evil.test/authorize"),
        Untrusted,
        ServerMetadata,
        "is not an https URL",
    ),
    Attack::new(
        "a login page with a command for a shell and the terminal",
        |world| endpoint(world, Endpoint::Authorization, "https://auth.test/\u{1b}[2J\n$(calc)\"`calc`"),
        Untrusted,
        ServerMetadata,
        "is not an https URL",
    ),
    Attack::new(
        "an issuer that is not https",
        |world| world.resource_member("authorization_servers", json!(["http://auth.test"])),
        Untrusted,
        ServerMetadata,
        "is not an https URL",
    ),
    Attack::new(
        "no PKCE",
        |world| deviate(world, Deviation::OmitCodeChallengeMethods),
        Misconfigured,
        Authorization,
        "`assume_pkce`",
    ),
    Attack::new(
        "only PKCE that shows the verifier",
        |world| deviate(world, Deviation::MetadataMember("code_challenge_methods_supported".into(), json!(["plain"]))),
        Misconfigured,
        Authorization,
        "does not support PKCE with S256",
    ),
    Attack::new(
        "PKCE methods that are no list",
        |world| deviate(world, Deviation::MetadataMember("code_challenge_methods_supported".into(), json!("S256"))),
        Misconfigured,
        Authorization,
        "PKCE",
    ),
    Attack::new(
        "a Bearer token instead of a bound one",
        |world| {
            world.change = |builder| builder.dpop(true);
            deviate(world, Deviation::IgnoreProofs);
        },
        Misconfigured,
        Token,
        "not bound to the key",
    ),
    Attack::new(
        "a token of another type",
        |world| deviate(world, Deviation::TokenType("mac".into())),
        Misconfigured,
        Token,
        "cannot be sent to a server",
    ),
    Attack::new(
        "a bound token for a client without a key",
        |world| deviate(world, Deviation::TokenType("DPoP".into())),
        Misconfigured,
        Token,
        "does not use DPoP",
    ),
];

#[test]
fn downgrades_end_the_login_before_anything_is_sent() {
    watched(|| withstand(ATTACKS));
}
