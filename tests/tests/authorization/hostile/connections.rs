//! MCP servers and authorization servers that keep a connection busy: refusals, nonces, scopes and renewals without an end; and
//! servers whose answers are strange and do no harm, because what they say is limited.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpwire_authorization::oauth::Scopes;
use mcpwire_authorization::{OAuth, RevocationOutcome};
use mcpwire_driver::http::{HttpClient, HttpOptions, HttpResponse};
use mcpwire_driver::protocol::http::Exchange;
use mcpwire_driver::{ConnectOptions, ErrorKind, McpClient, McpServerDef};
use mcpwire_testkit::authorization::{Deviation, Endpoint, ResourceDeviation};
use mcpwire_testkit::{HttpAnswer, VirtualTime};
use serde_json::{Value, json};

use super::{World, check_request};

/// The most requests that one request of the caller may become: six attempts.
const MAX_ATTEMPTS: usize = 6;

fn client(world: &World, http: Arc<dyn HttpClient>, oauth: &OAuth) -> McpClient<VirtualTime> {
    let options = ConnectOptions::default().http(HttpOptions::default().client(http).authorizer(oauth.clone()));
    McpClient::connect_on(world.web.time.runtime(), &McpServerDef::http(world.web.server.url()), options).unwrap()
}

/// Connects through a client that changes responses. Returns the kind of the error, and the number of requests to the MCP server.
fn refused(
    world: &World,
    change: impl Fn(usize, &mut HttpResponse) + Send + Sync + 'static,
) -> (ErrorKind, usize, String) {
    let oauth = world.oauth();
    let (requests, network, change) = (Arc::new(AtomicUsize::new(0)), world.network(), Arc::new(change));
    let sent = Arc::clone(&requests);
    let http = move |exchange: Exchange| {
        let (change, number) = (Arc::clone(&change), sent.fetch_add(1, Ordering::Relaxed));
        let response = network.send(exchange);
        async move {
            let mut response = response.await?;
            change(number, &mut response);
            Ok(response)
        }
    };
    let error = world.web.time.run(async {
        let client = client(world, Arc::new(http), &oauth);
        client.initialize().await.map(drop).unwrap_err()
    });
    world.check("connection", &error);
    (error.kind(), requests.load(Ordering::Relaxed), error.to_string())
}

#[test]
fn a_server_that_refuses_every_token_makes_the_user_log_in_at_most_three_times() {
    let world = World::new();
    world.web.server.deviate(ResourceDeviation::RefuseAllTokens);
    let (kind, requests, text) = refused(&world, |_, _| {});
    assert_eq!(kind, ErrorKind::Unauthorized, "{text}");
    assert!(requests <= MAX_ATTEMPTS, "{requests} requests");
    assert!((1..=3).contains(&world.web.logins().len()), "{} logins", world.web.logins().len());
    assert!(world.web.time.elapsed() < Duration::from_secs(60), "{:?}", world.web.time.elapsed());
}

#[test]
fn a_server_that_wants_more_and_more_scopes_makes_the_user_log_in_at_most_three_times() {
    let world = World::new();
    // Each refusal names a scope that was not asked for yet.
    let challenge = |number: usize, response: &mut HttpResponse| {
        if number > 0 {
            response.status = 403;
            let value = format!("Bearer error=\"insufficient_scope\", scope=\"scope{number}\"");
            response.headers = vec![("WWW-Authenticate".into(), value.into())];
        }
    };
    let (kind, requests, text) = refused(&world, challenge);
    assert!(matches!(kind, ErrorKind::Unauthorized | ErrorKind::LoginRequired), "{kind:?}: {text}");
    assert!(requests <= MAX_ATTEMPTS, "{requests} requests");
    let logins = world.web.logins().len();
    assert!(logins <= 3 + 1, "{logins} logins");
}

#[test]
fn a_server_that_wants_another_nonce_each_time_is_given_up() {
    let mut world = World::new();
    world.change = |builder| builder.dpop(true);
    let challenge = |number: usize, response: &mut HttpResponse| {
        if number > 0 {
            response.status = 401;
            response.headers = vec![
                ("WWW-Authenticate".into(), b"DPoP error=\"use_dpop_nonce\"".to_vec()),
                ("DPoP-Nonce".into(), format!("nonce-{number}").into()),
            ];
        }
    };
    let (kind, requests, text) = refused(&world, challenge);
    assert_eq!(kind, ErrorKind::Unauthorized, "{text}");
    assert!(requests <= MAX_ATTEMPTS, "{requests} requests");
    assert_eq!(world.web.logins().len(), 1, "a nonce is no reason to log in again");
}

#[test]
fn challenges_of_any_kind_lead_to_a_login_or_an_error_and_never_to_another_address() {
    let many = "Bearer ".repeat(20_000);
    let long = format!("Bearer resource_metadata=\"https://mcp.test/{}\"", "a".repeat(100_000));
    let scopes = format!("Bearer scope=\"{}\"", "s ".repeat(50_000));
    for challenge in [
        "Bearer resource_metadata=\"http://169.254.169.254/latest\"",
        "Bearer resource_metadata=\"https://10.0.0.1/x\"",
        "Bearer resource_metadata=\"https://127.0.0.1/x\"",
        "Bearer resource_metadata=\"javascript:alert(1)\"",
        "Bearer resource_metadata=\"file:///etc/passwd\"",
        "Bearer resource_metadata=\"https://user:password@mcp.test/x\"",
        "Bearer resource_metadata=\"https://mcp.test\\@evil.test/\"",
        "Bearer resource_metadata=\"https://evil.test/x\"",
        "Bearer resource_metadata=\"",
        "Bearer realm=\"\u{1b}[2J\", error=\"\u{7}\", error_description=\"\u{9b}31m\"",
        ", , = \" Bearer",
        &many,
        &long,
        &scopes,
    ] {
        let world = World::new();
        world.web.server.deviate(ResourceDeviation::Challenge(challenge.into()));
        let oauth = world.oauth();
        let name = &challenge[..challenge.len().min(60)];
        let result = world.web.time.run(async {
            let client = client(&world, Arc::new(world.network()), &oauth);
            client.initialize().await.map(drop)
        });
        if let Err(error) = result {
            world.check(name, &error);
            assert!(matches!(error.kind(), ErrorKind::Unauthorized | ErrorKind::LoginRequired), "{name}: {error}");
        }
        for exchange in world.asked() {
            check_request(name, &exchange, &world.authorization().secrets());
        }
        assert!(world.web.time.elapsed() <= Duration::from_secs(60), "{name}: {:?}", world.web.time.elapsed());
    }
}

/// What an authorization server does when a token is to be refreshed.
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
        let expires_at = expected.map(|lifetime| world.now() + lifetime);
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
        assert_eq!(out.revocation, RevocationOutcome::Unsupported);
    });
    assert!(world.asked().iter().all(|exchange| !exchange.uri.contains("10.0.0.1")));
}
