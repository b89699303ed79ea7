//! Renewals of tokens that many calls share: one for all callers, kept when it fails, at the right time, and at authorization
//! servers that move.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use mcpwire_authorization::{LoginRequest, LoginRequired, OAuth};
use mcpwire_driver::http::HttpClient;
use mcpwire_driver::protocol::http::{Exchange, FailureKind};
use mcpwire_driver::{ErrorKind, McpClient};
use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint};
use mcpwire_testkit::{HttpAnswer, VirtualTime};
use mcpwire_tests::authorization::{Web, echo};
use serde_json::json;

use crate::{grants, secs};

/// Servers whose access tokens live for 100 seconds.
fn web() -> Web {
    let web = Web::new();
    web.authorization.token_lifetime(secs(100));
    web
}

fn refreshes(web: &Web) -> usize {
    grants(&web.token_requests()).iter().filter(|grant| *grant == "refresh_token").count()
}

/// Begins `count` calls at once, and returns how many have succeeded. Renewals that the calls have started send their requests
/// meanwhile.
async fn call_together(web: &Web, client: &McpClient<VirtualTime>, count: usize) -> usize {
    let results = join_all((0..count).map(|_| echo(client))).await;
    web.time.sleep(Duration::from_millis(10)).await;
    results.iter().filter(|result| result.is_ok()).count()
}

/// Logs in, connects, and runs `program`.
fn logged_in(web: &Web, program: impl AsyncFnOnce(OAuth, McpClient<VirtualTime>)) {
    let oauth = web.build(web.oauth_without_user());
    web.time.run(async {
        oauth.login_with(&web.user(), LoginRequest::default()).await.unwrap();
        let client = web.client(&oauth);
        client.initialize().await.unwrap();
        program(oauth, client).await;
    });
}

#[test]
fn o1_the_second_process_adopts_the_token_that_the_first_has_refreshed() {
    let web = web();
    let (one, other) = (web.build(web.oauth()), web.build(web.oauth_without_user()));
    web.time.run(async {
        let (one, other) = (web.client(&one), web.client(&other));
        one.initialize().await.expect("the user logs in");
        other.initialize().await.expect("the stored token is used");
        for _ in 0..3 {
            web.time.sleep(secs(200)).await;
            echo(&one).await.expect("the token is refreshed");
            echo(&other).await.expect("the token of the other process is used");
        }
    });
    assert_eq!((refreshes(&web), web.logins().len()), (3, 1));
    assert_eq!(web.authorization.reused_refresh_tokens(), 0);
}

#[test]
fn o2_the_token_of_a_refresh_whose_caller_gave_up_is_not_lost() {
    let web = web();
    web.run(web.oauth(), async |client| {
        web.time.sleep(secs(200)).await;
        web.authorization.latency(secs(5));
        let error = client.call_tool("echo", ()).timeout(secs(1)).await.expect_err("the refresh takes longer");
        assert_eq!(error.kind(), ErrorKind::Timeout);
        web.time.sleep(secs(10)).await;
        echo(&client).await.expect("the token of the refresh is there");
    });
    assert_eq!((refreshes(&web), web.authorization.reused_refresh_tokens()), (1, 0));
    // Another process finds it in the store, too.
    let other = web.build(web.oauth_without_user());
    web.time.run(async { web.client(&other).initialize().await.map(drop) }).expect("the token was stored");
    assert_eq!(refreshes(&web), 1);
}

#[test]
fn o3_o4_no_failure_but_invalid_grant_loses_the_login() {
    let failures = [
        HttpAnswer::failure(FailureKind::Unreachable, "no route"),
        HttpAnswer::status(500).body("<html>out of order</html>"),
        HttpAnswer::status(503).header("Retry-After", "7"),
        HttpAnswer::status(429),
        HttpAnswer::status(200).header("Content-Type", "text/html").body("<html>log in to the hotel's network</html>"),
        HttpAnswer::status(302).header("Location", "https://evil.test/"),
        HttpAnswer::json(200, json!({"access_token": 7})),
        HttpAnswer::json(400, json!({"error": "server_error"})),
        HttpAnswer::json(400, json!({"error": "temporarily_unavailable"})),
        HttpAnswer::json(500, json!({"error": "invalid_grant"})),
        HttpAnswer::status(200).header("Content-Length", "900").body("{\"access").cut(),
        HttpAnswer::status(200).body(vec![b' '; 65_537]),
        HttpAnswer::status(200).wait(secs(3600)),
    ];
    // The longest pause is an hour.
    let long = HttpAnswer::status(429).header("Retry-After", "31536000000");
    for (failure, pause) in failures.into_iter().map(|failure| (failure, 120)).chain([(long, 3600)]) {
        let web = web();
        let shown = format!("{failure:?}");
        web.run(web.oauth_after_login(), async |client| {
            web.time.sleep(secs(200)).await;
            web.authorization.answer_next(Endpoint::Token, failure.clone());
            let error = client.call_tool("echo", ()).timeout(secs(60)).await.expect_err("there is no token");
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{shown}: {error}");
            for _ in 0..5 {
                echo(&client).await.expect_err("there is no other refresh so soon");
            }
            assert_eq!(refreshes(&web), 1, "{shown}");
            web.time.sleep(secs(pause)).await;
            echo(&client).await.unwrap_or_else(|error| panic!("{shown}: the connection goes on: {error}"));
        });
        assert_eq!((web.logins().len(), refreshes(&web)), (1, 2), "{shown}");
    }
}

#[test]
fn o3_errors_with_status_200_are_errors() {
    let web = web();
    web.authorization.deviate(Deviation::ErrorsWithStatus200);
    web.run(web.oauth_after_login(), async |client| {
        web.authorization.revoke_logins();
        let error = echo(&client).await.expect_err("the login is revoked");
        assert_eq!(error.kind(), ErrorKind::LoginRequired, "{error}");
    });
}

#[test]
fn o5_a_late_refusal_of_an_old_token_does_nothing() {
    let web = web();
    let mut is_late = true;
    web.run(web.oauth(), async |client| {
        web.authorization.revoke_access_tokens();
        web.server.on_request(move |request| {
            let is_first = request.message.get().contains("other") && std::mem::take(&mut is_late);
            is_first.then(|| {
                HttpAnswer::status(401).header("WWW-Authenticate", "Bearer error=\"invalid_token\"").wait(secs(10))
            })
        });
        // The call whose refusal comes late is sent first.
        let (late, early) = futures_util::join!(async { client.call_tool("other", ()).await }, echo(&client));
        assert!(early.is_ok() && late.is_ok(), "{early:?} {late:?}");
    });
    assert_eq!((refreshes(&web), web.logins().len()), (1, 1));
}

#[test]
fn t5_without_a_refresh_token_the_next_login_comes_when_the_token_has_expired() {
    let web = web();
    web.authorization.deviate(Deviation::NoRefreshTokens);
    web.run(web.oauth(), async |client| {
        echo(&client).await.expect("the token is valid");
        web.time.sleep(secs(200)).await;
        echo(&client).await.expect("the user logs in again");
    });
    assert_eq!((grants(&web.token_requests()), web.logins().len()), (vec!["authorization_code".to_owned(); 2], 2));
}

#[test]
fn o1_a_thousand_calls_share_one_refresh() {
    let web = Web::new();
    logged_in(&web, async |_, client| {
        for (round, refuse) in [(1, false), (2, true)] {
            if refuse {
                // The server refuses the token, although it has not expired.
                web.authorization.revoke_access_tokens();
            } else {
                web.time.sleep(secs(3601)).await;
            }
            assert_eq!(call_together(&web, &client, 1000).await, 1000);
            assert_eq!(refreshes(&web), round);
        }
    });
    assert_eq!(web.authorization.reused_refresh_tokens(), 0);
}

#[test]
fn o3_o4_a_valid_token_is_used_while_its_renewal_fails() {
    let web = Web::new();
    logged_in(&web, async |_, client| {
        // The token is due for renewal, and is valid for half a minute more.
        web.time.sleep(secs(3570)).await;
        for broken in [HttpAnswer::status(503), HttpAnswer::status(200).body("<html>")] {
            web.authorization.answer_next(Endpoint::Token, broken);
        }
        let before = web.token_requests().len();
        assert_eq!(call_together(&web, &client, 100).await, 100);
        web.time.sleep(secs(11)).await;
        assert_eq!(call_together(&web, &client, 100).await, 100);
        assert_eq!(web.token_requests().len(), before + 2, "one attempt in ten seconds");
        web.time.sleep(secs(11)).await;
        assert_eq!(call_together(&web, &client, 100).await, 100);
        assert_eq!(web.token_requests().len(), before + 3);
    });
}

#[test]
fn an_expired_token_that_cannot_be_renewed_now_fails_calls_as_temporary() {
    let web = Web::new();
    logged_in(&web, async |oauth, client| {
        web.time.sleep(secs(3601)).await;
        web.authorization.answer_next(Endpoint::Token, HttpAnswer::status(503));
        let error = echo(&client).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let words = ["refresh", "https://auth.test/token", "503"];
        assert!(error.is_retryable() && words.iter().all(|word| error.to_string().contains(word)), "{error}");
        assert!(oauth.status().await.unwrap().is_some(), "only `invalid_grant` deletes a login");
        let before = web.token_requests().len();
        assert_eq!(call_together(&web, &client, 100).await, 0, "no busy loop");
        assert_eq!(web.token_requests().len(), before);
        web.time.sleep(secs(11)).await;
        echo(&client).await.unwrap();
    });
}

#[test]
fn a_revoked_login_is_required_again_and_the_prompt_asks_for_it() {
    let web = Web::new();
    logged_in(&web, async |oauth, client| {
        web.authorization.revoke_logins();
        for _ in 0..2 {
            let error = echo(&client).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LoginRequired, "{error}");
            assert!(LoginRequired::find(&error).unwrap().reason.contains("invalid_grant"), "{error}");
        }
        assert_eq!(oauth.status().await, Ok(None));
    });
    assert_eq!(refreshes(&web), 1);
    let user = web.user();
    let oauth = web.build(web.oauth_without_user().prompt(user.clone()));
    web.time.run(async {
        let client = web.client(&oauth);
        client.initialize().await.unwrap();
        web.authorization.revoke_logins();
        web.time.sleep(secs(3601)).await;
        echo(&client).await.unwrap();
    });
    assert_eq!(user.shown().len(), 2);
}

#[test]
fn a_login_in_another_process_is_taken_without_a_restart() {
    let web = Web::new();
    logged_in(&web, async |_, client| {
        web.authorization.revoke_logins();
        assert_eq!(echo(&client).await.unwrap_err().kind(), ErrorKind::LoginRequired);
        let other = web.build(web.oauth_without_user());
        other.login_with(&web.user(), LoginRequest::default()).await.unwrap();
        echo(&client).await.unwrap();
        // So is one after which the old token has expired.
        web.authorization.revoke_logins();
        web.time.sleep(secs(3601)).await;
        assert_eq!(echo(&client).await.unwrap_err().kind(), ErrorKind::LoginRequired);
        other.login_with(&web.user(), LoginRequest::default()).await.unwrap();
        echo(&client).await.unwrap();
    });
}

#[test]
fn a10_a_token_endpoint_that_has_moved_is_found_again() {
    let web = Web::new();
    web.authorization.deviate(Deviation::EndpointUrl(Endpoint::Token, "https://auth.test/old-token".into()));
    let (is_old, network) = (Arc::new(AtomicBool::new(true)), web.network());
    let answers = Arc::clone(&is_old);
    let client = move |mut exchange: Exchange| {
        // The old endpoint is the new one until it is gone.
        if answers.load(Ordering::Relaxed) {
            exchange.uri = exchange.uri.replace("/old-token", "/token");
        }
        network.send(exchange)
    };
    let oauth = web.oauth().build(web.time.runtime(), Arc::new(client));
    web.time.run(async {
        let client = web.client(&oauth);
        client.initialize().await.unwrap();
        is_old.store(false, Ordering::Relaxed);
        web.authorization.conform();
        web.time.sleep(secs(3601)).await;
        echo(&client).await.unwrap();
        web.time.sleep(secs(3601)).await;
        let before = web.count(Endpoint::Metadata);
        echo(&client).await.unwrap();
        assert_eq!(web.count(Endpoint::Metadata), before, "the new endpoint is remembered");
    });
    assert_eq!((web.logins().len(), refreshes(&web)), (1, 2));
}

#[test]
fn a10_t3_a_token_goes_to_no_other_authorization_server_when_the_server_names_another_one() {
    let web = Web::new();
    let other = AuthorizationServer::at("https://other.test");
    logged_in(&web, async |oauth, client| {
        web.server.move_to(&other);
        web.authorization.on_request(|_| Some(HttpAnswer::status(404)));
        web.time.sleep(secs(3601)).await;
        let error = echo(&client).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LoginRequired, "{error}");
        let reason = &LoginRequired::find(&error).unwrap().reason;
        assert!(reason.contains("https://other.test") && reason.contains("https://auth.test"), "{reason}");
        assert!(other.requests_to(Endpoint::Token).is_empty());
        // The login at the new one replaces the old.
        oauth.login_with(&web.user(), LoginRequest::default()).await.unwrap();
        echo(&client).await.unwrap();
        assert_eq!(oauth.status().await.unwrap().unwrap().issuer, "https://other.test");
    });
    for request in other.requests() {
        let sent = format!("{} {} {:?}", request.url, request.body, request.headers);
        assert!(!web.authorization.secrets().iter().any(|secret| sent.contains(secret)), "{sent}");
    }
}

#[test]
fn an_authorization_server_that_stays_away_is_looked_for_again() {
    let web = Web::new();
    let other = AuthorizationServer::at("https://other.test");
    logged_in(&web, async |_, client| {
        web.authorization.on_request(|_| Some(HttpAnswer::failure(FailureKind::Unreachable, "no route")));
        web.server.move_to(&other);
        web.time.sleep(secs(3601)).await;
        let mut kinds = Vec::new();
        for _ in 0..3 {
            kinds.push(echo(&client).await.unwrap_err().kind());
            web.time.sleep(secs(11)).await;
        }
        assert_eq!(kinds, [ErrorKind::Unavailable, ErrorKind::Unavailable, ErrorKind::LoginRequired]);
    });
}
