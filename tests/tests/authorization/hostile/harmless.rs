//! Servers whose answers are strange, and do no harm: the login succeeds, and what they say is limited.

use std::time::Duration;

use mcpwire_authorization::oauth::{Scopes, UnixTime};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Deviation, Endpoint};
use serde_json::{Value, json};

use super::{World, check_request};

#[test]
fn thousands_of_scopes_make_neither_a_long_url_nor_a_long_form() {
    let world = World::new();
    let many: Vec<_> = (0..5_000).map(|number| format!("s{number}")).collect();
    world.resource_member("scopes_supported", many.clone());
    let status = world.login().unwrap();
    assert!(status.scopes.len() <= Scopes::MAX, "{}", status.scopes.len());
    let [login] = &world.web.logins()[..] else { panic!("one login") };
    assert!(login.url.len() < 4_000, "{} bytes", login.url.len());
}

#[test]
fn lifetimes_of_any_value_are_read_or_ignored() {
    let hour = Duration::from_secs(3600);
    let century = Duration::from_secs(u32::MAX.into());
    for (lifetime, expected) in [
        (json!(3600), Some(hour)),
        (json!("3600"), Some(hour)),
        (json!(3600.9), Some(hour)),
        (json!(1e300), Some(century)),
        (json!(u64::MAX), Some(century)),
        (json!("1e400"), Some(century)),
        (json!(-1), None),
        (json!(0), None),
        (json!(i64::MIN), None),
        (json!("soon"), None),
        (json!("nan"), None),
        (json!([3600]), None),
        (Value::Null, None),
    ] {
        let world = World::new();
        let name = lifetime.to_string();
        world.answer(Endpoint::Token, move |_| {
            HttpAnswer::json(200, json!({"access_token": "token", "token_type": "Bearer", "expires_in": lifetime}))
        });
        let status = world.login().unwrap();
        let expires_at: Option<UnixTime> = expected.map(|lifetime| world.now() + lifetime);
        assert_eq!(status.expires_at, expires_at, "{name}");
    }
}

#[test]
fn cookies_are_not_sent_back() {
    let world = World::new();
    world.authorization().answer_next(
        Endpoint::Registration,
        HttpAnswer::json(201, json!({"client_id": "c"})).header("Set-Cookie", "session=tracking; Path=/"),
    );
    world.answer(Endpoint::Token, |_| {
        HttpAnswer::json(200, json!({"access_token": "token"})).header("Set-Cookie", "session=tracking; Path=/")
    });
    // The authorization server does not know the client, so the user's browser gets no redirect.
    assert!(world.login().is_err());
    for exchange in world.asked() {
        check_request("cookies", &exchange, &[]);
    }
}

#[test]
fn endpoints_that_a_login_does_not_need_are_left_out_if_they_are_unsafe() {
    let world = World::new();
    for endpoint in [Endpoint::Revocation, Endpoint::DeviceAuthorization] {
        world.authorization().deviate(Deviation::EndpointUrl(endpoint, "http://10.0.0.1/".into()));
    }
    let oauth = world.oauth();
    world.web.time.run(async {
        oauth.login().await.unwrap();
        let out = oauth.logout(true).await.unwrap();
        assert_eq!(out.revocation, mcpwire_authorization::RevocationOutcome::Unsupported);
    });
    assert!(world.asked().iter().all(|exchange| !exchange.uri.contains("10.0.0.1")));
}
