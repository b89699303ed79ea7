//! MCP servers and authorization servers that keep a connection busy: refusals, nonces, scopes and renewals without an end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpwire_authorization::OAuth;
use mcpwire_driver::http::{HttpClient, HttpOptions, HttpResponse};
use mcpwire_driver::protocol::http::Exchange;
use mcpwire_driver::{ConnectOptions, ErrorKind, McpClient, McpServerDef};
use mcpwire_testkit::authorization::{Endpoint, ResourceDeviation};
use mcpwire_testkit::{HttpAnswer, VirtualTime};
use mcpwire_tests::authorization::echo;
use serde_json::json;

use super::World;

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
            super::check_request(name, &exchange, &world.authorization().secrets());
        }
        assert!(world.web.time.elapsed() <= Duration::from_secs(60), "{name}: {:?}", world.web.time.elapsed());
    }
}

/// What an authorization server does when a token is to be refreshed.
type RefreshAttack = fn(&World);

/// Connects, lets the access token expire, and lets `attack` change the authorization server. Returns the error of the next call, and
/// the number of refreshes.
fn refreshed(attack: RefreshAttack) -> (World, ErrorKind, String, usize) {
    let world = World::new();
    let oauth = world.oauth();
    let error = world.web.time.run(async {
        let client = client(&world, Arc::new(world.network()), &oauth);
        client.initialize().await.unwrap();
        world.web.time.sleep(Duration::from_secs(2 * 3600)).await;
        attack(&world);
        let error = echo(&client).await.unwrap_err();
        // As long as the server has asked for, there is no other refresh.
        for _ in 0..5 {
            echo(&client).await.unwrap_err();
        }
        error
    });
    world.check("refresh", &error);
    let is_refresh = |exchange: &&Exchange| exchange.body.starts_with(b"grant_type=refresh_token");
    let count = world.asked().iter().filter(is_refresh).count();
    (world, error.kind(), error.to_string(), count)
}

#[test]
fn refreshes_that_fail_for_a_while_end_at_once_and_are_not_repeated_by_the_next_calls() {
    let attacks: [(&str, RefreshAttack); 6] = [
        ("a pause of a thousand years", |world| {
            world.answer(Endpoint::Token, |_| HttpAnswer::status(429).header("Retry-After", "31536000000"));
        }),
        ("a server error with the code of a lost login", |world| {
            world.answer(Endpoint::Token, |_| HttpAnswer::json(500, json!({"error": "invalid_grant"})));
        }),
        ("a page", |world| world.answer(Endpoint::Token, |_| HttpAnswer::status(200).body("<html>"))),
        ("a redirect", |world| {
            world.answer(Endpoint::Token, |_| HttpAnswer::status(302).header("Location", "https://evil.test/"));
        }),
        ("64 KiB and a byte", |world| {
            world.answer(Endpoint::Token, |_| HttpAnswer::status(200).body(vec![b' '; 65_537]));
        }),
        ("a cut response", |world| {
            world.answer(Endpoint::Token, |_| HttpAnswer::status(200).body("{").cut());
        }),
    ];
    for (name, attack) in attacks {
        let (world, kind, text, refreshes) = refreshed(attack);
        assert_eq!(kind, ErrorKind::Unavailable, "{name}: {text}");
        assert_eq!(refreshes, 1, "{name}");
        assert_eq!(world.web.logins().len(), 1, "{name}: the user need not log in");
    }
}

#[test]
fn a_refreshed_token_with_line_breaks_is_refused_and_the_login_is_kept() {
    let (world, kind, text, _) = refreshed(|world| {
        world.answer(Endpoint::Token, |_| HttpAnswer::json(200, json!({"access_token": "a\r\nHost: evil.test"})));
    });
    assert!(matches!(kind, ErrorKind::Unauthorized | ErrorKind::Unavailable), "{kind:?}");
    assert!(text.contains("characters that a header must not contain"), "{text}");
    let oauth = world.oauth();
    let status = world.web.time.run(async { oauth.status().await.unwrap() });
    assert!(status.is_some_and(|status| status.can_refresh));
}
