//! Servers that mix up who has answered: other issuers, other states, responses of other servers.

use mcpwire_authorization::LoginErrorKind::{LoginRequired, Misconfigured, Refused, Temporary, Untrusted};
use mcpwire_authorization::oauth::Step::{Authorization, ServerMetadata};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint};
use serde_json::json;

use super::{Attack, World, attack, withstand};

fn deviate(world: &World, deviation: Deviation) {
    world.authorization().deviate(deviation);
}

/// Sends the browser back with these parameters. `STATE` and `ISSUER` stand for the right ones.
fn callback(world: &World, query: &'static str) {
    world.answer(Endpoint::Authorization, move |request| {
        let state = request.parameter("state").unwrap_or_default();
        let query = query.replace("STATE", &state).replace("ISSUER", "https%3A%2F%2Fauth.test");
        let redirect_uri = request.parameter("redirect_uri").unwrap_or_default();
        HttpAnswer::status(302).header("Location", format!("{redirect_uri}?{query}"))
    });
}

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        "metadata of another issuer",
        Untrusted,
        ServerMetadata,
        "its issuer is `https://evil.test`, but `https://auth.test` was asked",
        |world| deviate(world, Deviation::IssuerInMetadata("https://evil.test".into())),
    ),
    attack("metadata of an issuer that differs by a slash", Untrusted, ServerMetadata, "`lenient_issuer`", |world| {
        deviate(world, Deviation::IssuerInMetadata("https://auth.test/".into()));
    }),
    attack("metadata of an issuer in capitals", Untrusted, ServerMetadata, "its issuer is", |world| {
        deviate(world, Deviation::IssuerInMetadata("https://AUTH.test".into()));
    }),
    attack("metadata without an issuer", Untrusted, ServerMetadata, "`lenient_issuer`", |world| {
        deviate(world, Deviation::MetadataMember("issuer".into(), json!(null)));
    }),
    attack("a response of another issuer", Untrusted, Authorization, "another authorization server", |world| {
        deviate(world, Deviation::Iss("https://evil.test".into()));
    }),
    attack(
        "a response of an issuer that differs by a slash",
        Untrusted,
        Authorization,
        "another authorization server",
        |world| deviate(world, Deviation::Iss("https://auth.test/".into())),
    ),
    attack(
        "a response without the promised issuer",
        Untrusted,
        Authorization,
        "does not name the authorization server",
        |world| deviate(world, Deviation::OmitPromisedIss),
    ),
    attack("a response to another login", Untrusted, Authorization, "its `state` differs", |world| {
        deviate(world, Deviation::State("guessed".into()));
    }),
    attack("a response without a state", Untrusted, Authorization, "its `state` differs", |world| {
        callback(world, "code=attack&iss=ISSUER");
    }),
    attack("a response with two states", Untrusted, Authorization, "a parameter twice", |world| {
        callback(world, "code=attack&state=STATE&state=guessed&iss=ISSUER");
    }),
    attack("a response with two issuers", Untrusted, Authorization, "a parameter twice", |world| {
        callback(world, "code=attack&state=STATE&iss=ISSUER&iss=https://evil.test");
    }),
    attack("a response with two codes", Untrusted, Authorization, "a parameter twice", |world| {
        callback(world, "code=one&code=two&state=STATE&iss=ISSUER");
    }),
    attack(
        "an error of an attacker with a text for the user",
        Untrusted,
        Authorization,
        "start the login again",
        |world| callback(world, "error=call_us&error_description=Call+555&state=guessed&iss=ISSUER"),
    ),
    attack("a response without code and error", Misconfigured, Authorization, "neither a code nor an error", |world| {
        callback(world, "state=STATE&iss=ISSUER");
    }),
    attack("a response with an empty code", Misconfigured, Authorization, "neither a code nor an error", |world| {
        callback(world, "code=&state=STATE&iss=ISSUER");
    }),
    attack("a refused login whose text controls the terminal", Refused, Authorization, "access_denied", |world| {
        callback(world, "error=access_denied&error_description=%1B%5B2J%0D%C2%9B31m%E2%80%AEno&state=STATE&iss=ISSUER");
    }),
    attack("a login that is never possible", Temporary, Authorization, "cannot answer now", |world| {
        deviate(world, Deviation::RefuseLogins("temporarily_unavailable".into()));
    }),
    attack("a login that wants a login", LoginRequired, Authorization, "must log in", |world| {
        deviate(world, Deviation::RefuseLogins("login_required".into()));
    }),
    attack(
        "the login page of an honest server with the attacker's token endpoint",
        Untrusted,
        Authorization,
        "another authorization server",
        |world| {
            let evil = AuthorizationServer::at("https://evil.test");
            for endpoint in [Endpoint::Authorization, Endpoint::Registration] {
                evil.deviate(Deviation::EndpointUrl(endpoint, world.authorization().endpoint(endpoint)));
            }
            world.resource_member("authorization_servers", json!(["https://evil.test"]));
            world.others.push(evil);
        },
    ),
];

#[test]
fn responses_of_others_end_the_login_before_the_code_goes_anywhere() {
    withstand(ATTACKS);
}

#[test]
fn no_code_of_a_mixed_up_login_reaches_the_attacker() {
    let mut world = World::new();
    let attack = ATTACKS.last().unwrap();
    (attack.prepare)(&mut world);
    world.login().unwrap_err();
    assert_eq!(world.others[0].requests_to(Endpoint::Token).len(), 0);
    assert!(!world.authorization().secrets().is_empty(), "the honest server has issued a code");
}

#[test]
fn the_text_of_an_attacker_is_not_shown() {
    let world = World::new();
    callback(&world, "error=call_us&error_description=Call+555&error_uri=https://evil.test&state=guessed");
    let error = world.login().unwrap_err();
    let shown = super::texts(&error);
    assert!(!shown.contains("555") && !shown.contains("call_us") && !shown.contains("evil"), "{shown}");
}
