//! Renewals of tokens that many calls share: one for all, none that costs a valid token, and authorization servers that move.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_authorization::oauth::Secret;
use mcpwire_authorization::{LoginRequest, LoginRequired, MachineGrant, OAuth};
use mcpwire_driver::http::HttpClient;
use mcpwire_driver::protocol::http::{Exchange, FailureKind};
use mcpwire_driver::{ErrorKind, McpClient};
use mcpwire_testkit::authorization::{AuthorizationServer, Client, Deviation, Endpoint};
use mcpwire_testkit::{HttpAnswer, HttpRequest, VirtualTime};
use mcpwire_tests::authorization::{Web, echo};
use mcpwire_tests::watched;

/// Begins `count` calls at once, and returns how many have succeeded.
async fn call_together(web: &Web, client: &McpClient<VirtualTime>, count: usize) -> usize {
    let succeeded = Arc::new(Mutex::new((0, 0)));
    for _ in 0..count {
        let (client, results) = (client.clone(), Arc::clone(&succeeded));
        web.time.spawn(async move {
            let has_succeeded = echo(&client).await.is_ok();
            let mut results = results.lock().unwrap();
            results.0 += 1;
            results.1 += usize::from(has_succeeded);
        });
    }
    loop {
        web.time.sleep(Duration::from_millis(10)).await;
        let (ended, succeeded) = *succeeded.lock().unwrap();
        if ended == count {
            return succeeded;
        }
    }
}

/// Returns the number of refreshes.
fn refreshes(web: &Web) -> usize {
    let is_refresh = |request: &&HttpRequest| request.parameter("grant_type").as_deref() == Some("refresh_token");
    web.token_requests().iter().filter(is_refresh).count()
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
fn o1_a_thousand_calls_share_one_refresh() {
    watched(|| {
        let web = Web::new();
        logged_in(&web, async |_, client| {
            for (round, refuse) in [(1, false), (2, true)] {
                if refuse {
                    // The server refuses the token, although it has not expired.
                    web.authorization.revoke_access_tokens();
                } else {
                    web.time.sleep(Duration::from_secs(3601)).await;
                }
                assert_eq!(call_together(&web, &client, 1000).await, 1000);
                assert_eq!(refreshes(&web), round);
            }
        });
        assert_eq!(web.authorization.reused_refresh_tokens(), 0);
    });
}

#[test]
fn o3_o4_a_valid_token_is_used_while_its_renewal_fails() {
    watched(|| {
        let web = Web::new();
        logged_in(&web, async |_, client| {
            // The token is due for renewal, and is valid for half a minute more.
            web.time.sleep(Duration::from_secs(3570)).await;
            for broken in [HttpAnswer::status(503), HttpAnswer::status(200).body("<html>")] {
                web.authorization.answer_next(Endpoint::Token, broken);
            }
            let before = web.token_requests().len();
            assert_eq!(call_together(&web, &client, 100).await, 100);
            web.time.sleep(Duration::from_secs(11)).await;
            assert_eq!(call_together(&web, &client, 100).await, 100);
            assert_eq!(web.token_requests().len(), before + 2, "one attempt in ten seconds");
            web.time.sleep(Duration::from_secs(11)).await;
            assert_eq!(call_together(&web, &client, 100).await, 100);
            assert_eq!(web.token_requests().len(), before + 3);
        });
    });
}

#[test]
fn an_expired_token_that_cannot_be_renewed_now_fails_calls_as_temporary() {
    watched(|| {
        let web = Web::new();
        logged_in(&web, async |oauth, client| {
            web.time.sleep(Duration::from_secs(3601)).await;
            web.authorization.answer_next(Endpoint::Token, HttpAnswer::status(503));
            let error = echo(&client).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            assert!(error.is_retryable() && error.to_string().contains("https://auth.test/token"), "{error}");
            assert!(oauth.status().await.unwrap().is_some(), "only `invalid_grant` deletes a login");
            let before = web.token_requests().len();
            assert_eq!(call_together(&web, &client, 100).await, 0, "no busy loop");
            assert_eq!(web.token_requests().len(), before);
            web.time.sleep(Duration::from_secs(11)).await;
            echo(&client).await.unwrap();
        });
    });
}

#[test]
fn a_revoked_login_is_required_again_and_the_prompt_asks_for_it() {
    watched(|| {
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
        let user = web.user();
        let oauth = web.build(web.oauth_without_user().prompt(user.clone()));
        web.time.run(async {
            let client = web.client(&oauth);
            client.initialize().await.unwrap();
            web.authorization.revoke_logins();
            web.time.sleep(Duration::from_secs(3601)).await;
            echo(&client).await.unwrap();
        });
        assert_eq!(user.shown().len(), 2);
    });
}

#[test]
fn a_login_in_another_process_is_taken_without_a_restart() {
    watched(|| {
        let web = Web::new();
        logged_in(&web, async |_, client| {
            web.authorization.revoke_logins();
            assert_eq!(echo(&client).await.unwrap_err().kind(), ErrorKind::LoginRequired);
            let other = web.build(web.oauth_without_user());
            other.login_with(&web.user(), LoginRequest::default()).await.unwrap();
            echo(&client).await.unwrap();
            // So is one after which the old token has expired.
            web.authorization.revoke_logins();
            web.time.sleep(Duration::from_secs(3601)).await;
            assert_eq!(echo(&client).await.unwrap_err().kind(), ErrorKind::LoginRequired);
            other.login_with(&web.user(), LoginRequest::default()).await.unwrap();
            echo(&client).await.unwrap();
        });
    });
}

#[test]
fn a10_a_token_endpoint_that_has_moved_is_found_again() {
    watched(|| {
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
            web.time.sleep(Duration::from_secs(3601)).await;
            echo(&client).await.unwrap();
            web.time.sleep(Duration::from_secs(3601)).await;
            let before = web.count(Endpoint::Metadata);
            echo(&client).await.unwrap();
            assert_eq!(web.count(Endpoint::Metadata), before, "the new endpoint is remembered");
        });
        assert_eq!((web.logins().len(), refreshes(&web)), (1, 2));
    });
}

#[test]
fn a10_t3_a_token_goes_to_no_other_authorization_server_when_the_server_names_another_one() {
    watched(|| {
        let web = Web::new();
        let other = AuthorizationServer::at("https://other.test");
        logged_in(&web, async |oauth, client| {
            web.server.move_to(&other);
            web.authorization.on_request(|_| Some(HttpAnswer::status(404)));
            web.time.sleep(Duration::from_secs(3601)).await;
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
        for request in other.requests_to(Endpoint::Token) {
            assert_eq!(request.parameter("refresh_token"), None, "a token of the other authorization server");
        }
    });
}

#[test]
fn an_authorization_server_that_stays_away_is_looked_for_again() {
    watched(|| {
        let web = Web::new();
        let other = AuthorizationServer::at("https://other.test");
        logged_in(&web, async |_, client| {
            web.authorization.on_request(|_| Some(HttpAnswer::failure(FailureKind::Unreachable, "no route")));
            web.server.move_to(&other);
            web.time.sleep(Duration::from_secs(3601)).await;
            let mut kinds = Vec::new();
            for _ in 0..3 {
                kinds.push(echo(&client).await.unwrap_err().kind());
                web.time.sleep(Duration::from_secs(11)).await;
            }
            assert_eq!(kinds, [ErrorKind::Unavailable, ErrorKind::Unavailable, ErrorKind::LoginRequired]);
        });
    });
}

#[test]
fn r10_the_secret_of_a_program_goes_to_no_other_authorization_server() {
    watched(|| {
        for is_configured in [false, true] {
            let web = Web::new();
            web.authorization.client(Client::new("robot").secret("s3cret"));
            let other = AuthorizationServer::at("https://other.test").client(Client::new("robot").secret("s3cret"));
            let robot = || {
                let grant = MachineGrant::client_credentials("robot", Some(Secret::new("s3cret")));
                let builder = web.oauth_without_user().machine_grant(grant);
                if is_configured {
                    builder.settings(|settings| settings.client_issuer("https://auth.test"))
                } else {
                    builder.settings(|settings| settings.trust_first_issuer(true))
                }
            };
            if !is_configured {
                web.run(robot(), async |client| echo(&client).await.map(drop)).unwrap();
            }
            web.server.move_to(&other);
            web.authorization.revoke_access_tokens();
            let error = web.refused(robot());
            assert!(error.to_string().contains("`robot` is registered at `https://auth.test`"), "{error}");
            assert!(other.requests_to(Endpoint::Token).is_empty());
        }
    });
}
