//! Servers that mix up who has answered: other issuers, other states, responses of other servers.

use mcpwire_authorization::LoginErrorKind::{LoginRequired, Misconfigured, Refused, Temporary, Untrusted};
use mcpwire_authorization::oauth::Step::{Authorization, ServerMetadata};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint};
use mcpwire_tests::watched;
use serde_json::json;

use super::{Attack, World, withstand};

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
    Attack::new(
        "metadata of another issuer",
        |world| deviate(world, Deviation::IssuerInMetadata("https://evil.test".into())),
        Untrusted,
        ServerMetadata,
        "its issuer is `https://evil.test`, but `https://auth.test` was asked",
    ),
    Attack::new(
        "metadata of an issuer that differs by a slash",
        |world| deviate(world, Deviation::IssuerInMetadata("https://auth.test/".into())),
        Untrusted,
        ServerMetadata,
        "`lenient_issuer`",
    ),
    Attack::new(
        "metadata of an issuer in capitals",
        |world| deviate(world, Deviation::IssuerInMetadata("https://AUTH.test".into())),
        Untrusted,
        ServerMetadata,
        "its issuer is",
    ),
    Attack::new(
        "metadata without an issuer",
        |world| deviate(world, Deviation::MetadataMember("issuer".into(), json!(null))),
        Untrusted,
        ServerMetadata,
        "`lenient_issuer`",
    ),
    Attack::new(
        "a response of another issuer",
        |world| deviate(world, Deviation::Iss("https://evil.test".into())),
        Untrusted,
        Authorization,
        "another authorization server",
    ),
    Attack::new(
        "a response of an issuer that differs by a slash",
        |world| deviate(world, Deviation::Iss("https://auth.test/".into())),
        Untrusted,
        Authorization,
        "another authorization server",
    ),
    Attack::new(
        "a response without the promised issuer",
        |world| deviate(world, Deviation::OmitPromisedIss),
        Untrusted,
        Authorization,
        "does not name the authorization server",
    ),
    Attack::new(
        "a response to another login",
        |world| deviate(world, Deviation::State("guessed".into())),
        Untrusted,
        Authorization,
        "its `state` differs",
    ),
    Attack::new(
        "a response without a state",
        |world| callback(world, "code=attack&iss=ISSUER"),
        Untrusted,
        Authorization,
        "its `state` differs",
    ),
    Attack::new(
        "a response with two states",
        |world| callback(world, "code=attack&state=STATE&state=guessed&iss=ISSUER"),
        Untrusted,
        Authorization,
        "a parameter twice",
    ),
    Attack::new(
        "a response with two issuers",
        |world| callback(world, "code=attack&state=STATE&iss=ISSUER&iss=https://evil.test"),
        Untrusted,
        Authorization,
        "a parameter twice",
    ),
    Attack::new(
        "a response with two codes",
        |world| callback(world, "code=one&code=two&state=STATE&iss=ISSUER"),
        Untrusted,
        Authorization,
        "a parameter twice",
    ),
    Attack::new(
        "an error of an attacker with a text for the user",
        |world| callback(world, "error=call_us&error_description=Call+555&state=guessed&iss=ISSUER"),
        Untrusted,
        Authorization,
        "start the login again",
    ),
    Attack::new(
        "a response without code and error",
        |world| callback(world, "state=STATE&iss=ISSUER"),
        Misconfigured,
        Authorization,
        "neither a code nor an error",
    ),
    Attack::new(
        "a response with an empty code",
        |world| callback(world, "code=&state=STATE&iss=ISSUER"),
        Misconfigured,
        Authorization,
        "neither a code nor an error",
    ),
    Attack::new(
        "a refused login whose text controls the terminal",
        |world| {
            callback(
                world,
                "error=access_denied&error_description=%1B%5B2J%0D%C2%9B31m%E2%80%AEno&state=STATE&iss=ISSUER",
            );
        },
        Refused,
        Authorization,
        "access_denied",
    ),
    Attack::new(
        "a login that is never possible",
        |world| deviate(world, Deviation::RefuseLogins("temporarily_unavailable".into())),
        Temporary,
        Authorization,
        "cannot answer now",
    ),
    Attack::new(
        "a login that wants a login",
        |world| deviate(world, Deviation::RefuseLogins("login_required".into())),
        LoginRequired,
        Authorization,
        "must log in",
    ),
    Attack::new(
        "the login page of an honest server with the attacker's token endpoint",
        |world| {
            let evil = AuthorizationServer::at("https://evil.test");
            for endpoint in [Endpoint::Authorization, Endpoint::Registration] {
                evil.deviate(Deviation::EndpointUrl(endpoint, world.authorization().endpoint(endpoint)));
            }
            world.resource_member("authorization_servers", json!(["https://evil.test"]));
            world.others.push(evil);
        },
        Untrusted,
        Authorization,
        "another authorization server",
    ),
];

#[test]
fn responses_of_others_end_the_login_before_the_code_goes_anywhere() {
    watched(|| withstand(ATTACKS));
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
