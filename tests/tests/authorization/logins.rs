//! Logins that a program begins itself: with scopes, by device code, across a restart; and status, logout and errors.

use std::future::{Future, pending};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::future::{Either, join, select};
use mcpwire_authorization::oauth::{ClientSource, TokenKey, TokenType};
use mcpwire_authorization::{
    LoginError, LoginErrorKind, LoginPrompt, LoginRequest, LoginRequired, LoginWindow, OAuth, RevocationOutcome,
    Scopes, TokenStore as _, login_document,
};
use mcpwire_driver::ErrorKind;
use mcpwire_driver::http::{HttpClient, TokenError};
use mcpwire_driver::protocol::http::{Exchange, Verb};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint};
use mcpwire_tests::authorization::{AgreeingUser, REDIRECT_URI, Web, echo};
use serde_json::{Value, json};

/// Begins a login whose user never comes, and gives it up, as a program that ends does.
fn begin_and_end(web: &Web, oauth: &OAuth) -> String {
    let user = web.user().after(pending);
    let mut login = pin!(oauth.login_with(&user, LoginRequest::default()));
    web.time.run(async {
        while user.shown().is_empty() {
            let polled = login.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(polled, Poll::Pending), "{polled:?}");
            web.time.sleep(Duration::from_millis(1)).await;
        }
    });
    user.shown().remove(0)
}

/// Returns servers at which a program has begun a login and has ended, and the URL of the login.
fn begun() -> (Web, String) {
    let web = Web::new();
    let url = begin_and_end(&web, &web.build(web.oauth_without_user()));
    (web, url)
}

/// Returns the address to which the browser is sent after the login at this URL.
async fn log_in_at(web: &Web, url: &str) -> String {
    let response = web.network().send(Exchange::new(Verb::Get, url)).await.unwrap();
    let (_, location) = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location")).unwrap();
    String::from_utf8(location.clone()).unwrap()
}

#[test]
fn a_login_returns_its_status_and_shows_no_token() {
    let web = Web::new();
    let oauth = web.build(web.oauth().account("work"));
    web.time.run(async {
        assert_eq!(oauth.status().await, Ok(None));
        let status = oauth.login().await.unwrap();
        assert_eq!(oauth.status().await, Ok(Some(status.clone())));
        assert_eq!((status.issuer.as_str(), status.resource.as_str()), ("https://auth.test", "https://mcp.test/mcp"));
        assert_eq!(
            (status.client_source, status.token_type.clone()),
            (Some(ClientSource::Registered), TokenType::Bearer)
        );
        assert_eq!((status.account.as_str(), status.can_refresh), ("work", true));
        assert_eq!(status.expires_at, Some(status.obtained_at + Duration::from_secs(3600)));
        let shown = format!("{status:?} {oauth:?}");
        assert!(web.authorization.secrets().iter().all(|secret| !shown.contains(secret)), "{shown}");
        let other = web.build(web.oauth());
        assert_eq!(other.status().await, Ok(None), "another account");
    });
    let requests = web.authorization.requests().len();
    assert_eq!(web.time.run(oauth.status()).unwrap().map(|status| status.can_refresh), Some(true));
    assert_eq!(web.authorization.requests().len(), requests, "the status is read from the store");
}

#[test]
fn z9_the_scopes_of_an_explicit_login_are_asked_for_and_no_others() {
    let web = Web::new();
    web.server.scopes_supported(["read", "write", "admin"]);
    let oauth = web.build(web.oauth_without_user());
    web.time.run(async {
        let request = LoginRequest::default().scopes(Scopes::parse("read"));
        let status = oauth.login_with(&web.user(), request).await.unwrap();
        assert_eq!(status.scopes, Scopes::parse("read"));
    });
    assert_eq!(web.logins()[0].parameter("scope").as_deref(), Some("read"));
}

#[test]
fn o14_a_user_logs_in_on_another_device() {
    let web = Web::new();
    let oauth = web.build(web.oauth_without_user());
    let authorization = web.authorization.clone();
    web.time.run(async {
        let login = oauth.login_by_device(LoginRequest::default(), |shown| {
            assert_eq!(shown.verification_uri, "https://auth.test/device");
            assert!(authorization.answer_device(&shown.user_code, true));
        });
        let status = login.await.unwrap();
        assert!(status.can_refresh);
        assert_eq!(oauth.status().await, Ok(Some(status)));
        let client = web.client(&oauth);
        client.initialize().await.unwrap();
        echo(&client).await.unwrap();
    });
    assert!(web.logins().is_empty());
    let grants = web.authorization.requests_to(Endpoint::Registration)[0].body.clone();
    assert!(grants.contains("urn:ietf:params:oauth:grant-type:device_code"), "{grants}");
}

#[test]
fn o14_a_user_who_refuses_the_device_and_a_server_without_devices_are_told_apart() {
    let web = Web::new();
    let oauth = web.build(web.oauth_without_user());
    let authorization = web.authorization.clone();
    let refuse = |code: &mcpwire_authorization::DeviceCode| {
        assert!(authorization.answer_device(&code.user_code, false));
    };
    let error = web.time.run(oauth.login_by_device(LoginRequest::default(), refuse)).unwrap_err();
    assert_eq!(error.kind(), LoginErrorKind::Refused, "{error}");
    web.authorization.without_devices();
    let error = web.time.run(oauth.login_by_device(LoginRequest::default(), |_| {})).unwrap_err();
    assert_eq!(error.kind(), LoginErrorKind::Misconfigured);
    assert!(error.to_string().contains("https://auth.test") && error.to_string().contains("browser"), "{error}");
}

#[test]
fn a_login_survives_a_restart_of_the_program() {
    let (web, url) = begun();
    let restarted = web.build(web.oauth_without_user());
    web.time.run(async {
        let waiting = restarted.pending_login().await.unwrap().unwrap();
        assert_eq!((waiting.url.as_str(), waiting.redirect_uri.as_str()), (url.as_str(), REDIRECT_URI));
        assert_eq!(waiting.issuer, "https://auth.test");
        assert!(!format!("{waiting:?}").contains("state="), "{waiting:?}");
        let callback = log_in_at(&web, &url).await;
        let status = restarted.finish_login(&callback).await.unwrap();
        assert_eq!(restarted.status().await, Ok(Some(status)));
        assert_eq!(restarted.pending_login().await, Ok(None), "it is deleted when it is used");
        assert_eq!(restarted.finish_login(&callback).await, Err(LoginError::NotPending));
        let client = web.client(&restarted);
        client.initialize().await.unwrap();
    });
    assert_eq!((web.count(Endpoint::Registration), web.count(Endpoint::Token)), (1, 1));
}

#[test]
fn a_second_run_shows_the_same_login_again() {
    let (web, url) = begun();
    let user = web.user();
    let restarted = web.build(web.oauth_without_user());
    web.time.run(restarted.login_with(&user, LoginRequest::default())).unwrap();
    assert_eq!(user.shown(), std::slice::from_ref(&url));
    let user = web.user();
    let anew = LoginRequest::default().anew(true);
    web.time.run(restarted.login_with(&user, anew)).unwrap();
    assert_ne!(user.shown(), [url], "a login is used once");
    assert_eq!(web.count(Endpoint::Registration), 2, "it began anew");
}

#[test]
fn a_stored_login_with_other_scopes_or_settings_is_not_gone_on_with() {
    let (web, first) = begun();
    let shown = |oauth: OAuth, request: LoginRequest| {
        let user = web.user();
        web.time.run(oauth.login_with(&user, request)).unwrap();
        user.shown().remove(0)
    };
    let scopes = LoginRequest::default().scopes(Scopes::parse("read"));
    assert_ne!(shown(web.build(web.oauth_without_user()), scopes), first);
    let second = begin_and_end(&web, &web.build(web.oauth_without_user()));
    let changed = web.oauth_without_user().settings(|settings| settings.client_uri("https://app.example"));
    assert_ne!(shown(web.build(changed), LoginRequest::default()), second);
}

/// Earlier versions named the settings of a login by their text for debugging.
#[test]
fn a_login_that_an_earlier_version_has_begun_can_be_finished_and_is_not_gone_on_with() {
    for finishes in [true, false] {
        let (web, url) = begun();
        let name = login_document(&web.server.url(), "").replace("token-", "login-");
        let mut stored: Value = serde_json::from_slice(&web.store.load(&name).unwrap().unwrap()).unwrap();
        stored["settings"] = json!("57b2a3d4");
        web.store.save(&name, stored.to_string().as_bytes()).unwrap();
        let updated = web.build(web.oauth_without_user());
        if finishes {
            let callback = web.time.run(log_in_at(&web, &url));
            web.time.run(updated.finish_login(&callback)).expect("the user has the address of this login");
        } else {
            let user = web.user();
            web.time.run(updated.login_with(&user, LoginRequest::default())).unwrap();
            assert_ne!(user.shown(), [url]);
        }
        assert_eq!(web.time.run(updated.pending_login()), Ok(None));
    }
}

#[test]
fn a_login_that_is_too_old_cannot_be_finished() {
    let (web, url) = begun();
    let oauth = web.build(web.oauth_without_user());
    web.time.run(async {
        let callback = log_in_at(&web, &url).await;
        web.time.sleep(Duration::from_secs(31 * 60)).await;
        assert_eq!(oauth.finish_login(&callback).await, Err(LoginError::NotPending));
        assert_eq!(oauth.pending_login().await, Ok(None));
    });
    assert_eq!(web.count(Endpoint::Token), 0);
}

#[test]
fn z2_a_response_of_somebody_else_leaves_the_login_as_it_is() {
    let (web, url) = begun();
    let oauth = web.build(web.oauth_without_user());
    web.time.run(async {
        for forged in ["?code=evil&state=evil", "?code=evil", "?error=access_denied&state=x", ""] {
            let error = oauth.finish_login(&format!("{REDIRECT_URI}{forged}")).await.unwrap_err();
            assert_ne!(error, LoginError::NotPending, "{forged}");
            assert!(!error.to_string().contains("evil"), "{error}");
        }
        let callback = log_in_at(&web, &url).await;
        oauth.finish_login(&callback).await.unwrap();
    });
    assert_eq!(web.count(Endpoint::Token), 1);
}

#[test]
fn a_code_is_sent_once_although_two_programs_receive_it() {
    let (web, url) = begun();
    let (one, other) = (web.build(web.oauth_without_user()), web.build(web.oauth_without_user()));
    web.time.run(async {
        let callback = log_in_at(&web, &url).await;
        let (first, second) = (one.finish_login(&callback), other.finish_login(&callback));
        let results = [first.await, second.await];
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    });
    assert_eq!(web.count(Endpoint::Token), 1);
}

#[test]
fn a_logout_deletes_the_token_and_revokes_it_if_asked() {
    for revoke in [false, true] {
        let web = Web::new();
        let oauth = web.build(web.oauth());
        web.time.run(async {
            oauth.login().await.unwrap();
            let out = oauth.logout(revoke).await.unwrap();
            let expected = if revoke { RevocationOutcome::Revoked } else { RevocationOutcome::NotRequested };
            assert_eq!((out.had_token, out.revocation), (true, expected));
            assert_eq!(oauth.status().await, Ok(None));
            let again = oauth.logout(true).await.unwrap();
            assert_eq!((again.had_token, again.revocation), (false, RevocationOutcome::NotRequested));
        });
        let revoked = web.authorization.requests_to(Endpoint::Revocation);
        let hints: Vec<_> = revoked.iter().filter_map(|request| request.parameter("token_type_hint")).collect();
        assert_eq!(hints, if revoke { vec!["refresh_token", "access_token"] } else { vec![] });
    }
}

/// Logs in, lets `change` change the servers, and logs out. Returns whether the tokens were revoked.
fn log_out(web: &Web, change: impl FnOnce(&Web)) -> RevocationOutcome {
    let oauth = web.build(web.oauth());
    web.time.run(oauth.login()).unwrap();
    change(web);
    let out = web.time.run(oauth.logout(true)).unwrap();
    assert_eq!(web.time.run(oauth.status()), Ok(None), "the token is deleted in any case");
    out.revocation
}

fn member(web: &Web, name: &str, value: Value) {
    web.authorization.deviate(Deviation::MetadataMember(name.into(), value));
}

#[test]
fn a_logout_sends_the_secret_where_the_revocation_endpoint_wants_it() {
    let web = Web::new();
    web.authorization.deviate(Deviation::RegisterWithSecret);
    member(&web, "revocation_endpoint_auth_methods_supported", json!(["client_secret_post"]));
    log_out(&web, |_| {});
    assert!(web.token_requests()[0].header("Authorization").is_some(), "the client is registered for Basic");
    let requests = web.authorization.requests_to(Endpoint::Revocation);
    assert!(requests.iter().all(|request| request.parameter("client_secret").is_some()), "{requests:?}");
}

#[test]
fn a_logout_deletes_the_token_even_if_it_cannot_be_revoked_and_says_which_token_was_revoked() {
    let web = Web::new();
    web.authorization.deviate(Deviation::RevokeNoAccessTokens);
    let outcome = log_out(&web, |_| {});
    let RevocationOutcome::RefreshTokenOnly(error) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.code(), Some("unsupported_token_type"));

    let outcome = log_out(&Web::new(), |web| member(web, "revocation_endpoint", Value::Null));
    assert_eq!(outcome, RevocationOutcome::Unsupported);
    let outcome = log_out(&Web::new(), |web| {
        web.authorization.answer_next(Endpoint::Revocation, HttpAnswer::status(503));
    });
    let RevocationOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert!(error.to_string().contains("revocation"), "{error}");
    // T3: the token goes to no other authorization server.
    let other = AuthorizationServer::at("https://other.test");
    let outcome = log_out(&Web::new(), |web| {
        web.server.move_to(&other);
    });
    assert_eq!(outcome, RevocationOutcome::Unsupported);
    assert!(other.requests_to(Endpoint::Revocation).is_empty());
}

#[test]
fn o15_a_call_without_a_login_fails_at_once_and_says_which_login_is_required() {
    let web = Web::new();
    web.server.require("", "read");
    let error = web.refused(web.oauth_without_user().account("work"));
    assert_eq!(error.kind(), ErrorKind::LoginRequired, "{error}");
    let required = LoginRequired::find(&error).unwrap();
    assert_eq!((required.server_url.as_str(), required.account.as_str()), ("https://mcp.test/mcp", "work"));
    assert_eq!(required.scopes, Some(Scopes::parse("read")));
    let text = error.to_string();
    assert!(text.contains("https://mcp.test/mcp") && text.contains("log in first"), "{text}");
    assert!(!error.is_retryable());
    assert_eq!(web.authorization.requests().len(), 0, "nothing is asked before somebody wants to log in");
}

#[test]
fn a_login_that_the_user_does_not_finish_is_required_still() {
    struct Closed;

    impl LoginPrompt for Closed {
        fn prepare(&self, _: Option<&str>) -> Result<Box<dyn LoginWindow>, TokenError> {
            Err("the window was closed".into())
        }
    }

    let web = Web::new();
    let error = web.refused(web.oauth_without_user().prompt(Closed));
    assert_eq!(error.kind(), ErrorKind::LoginRequired);
    assert!(error.to_string().contains("the window was closed"), "{error}");
}

/// Lets a user need a minute for each login.
fn slow(web: &Web, user: AgreeingUser) -> AgreeingUser {
    let time = web.time.clone();
    user.after(move || time.sleep(Duration::from_secs(60)))
}

/// Polls a future for ten seconds, and drops it.
async fn give_up(web: &Web, future: impl Future) {
    let limit = web.time.sleep(Duration::from_secs(10));
    let has_ended = matches!(select(pin!(future), pin!(limit)).await, Either::Left(_));
    assert!(!has_ended, "the login ends before");
}

#[test]
fn o2_a_login_goes_on_when_the_request_that_needed_it_is_given_up() {
    let web = Web::new();
    let user = web.user();
    let oauth = web.build(web.oauth_without_user().prompt(slow(&web, user.clone())));
    web.time.run(async {
        give_up(&web, web.client(&oauth).initialize()).await;
        web.time.sleep(Duration::from_secs(60)).await;
        assert!(oauth.status().await.unwrap().is_some());
        web.client(&oauth).initialize().await.unwrap();
    });
    assert_eq!(user.shown().len(), 1);
}

#[test]
fn a_login_that_the_program_has_begun_ends_with_its_future() {
    let web = Web::new();
    let user = web.user();
    let oauth = web.build(web.oauth_without_user());
    web.time.run(async {
        let slow = slow(&web, user.clone());
        give_up(&web, Box::pin(oauth.login_with(&slow, LoginRequest::default()))).await;
        web.time.sleep(Duration::from_secs(60)).await;
        assert_eq!(oauth.status().await, Ok(None));
        oauth.login_with(&user, LoginRequest::default()).await.unwrap();
    });
}

#[test]
fn a_stored_login_that_is_damaged_is_replaced_by_a_login_and_deleted_by_a_logout() {
    let web = Web::new();
    let name = format!("token-{}", TokenKey::new(web.server.url(), "").file_name());
    let damage = || web.store.save(&name, b"{").unwrap();
    damage();
    assert_eq!(web.refused(web.oauth()).kind(), ErrorKind::Unauthorized, "it is not replaced unasked");
    let oauth = web.build(web.oauth());
    web.time.run(async {
        assert_eq!(oauth.status().await.unwrap_err().kind(), LoginErrorKind::Store);
        oauth.login().await.unwrap();
        assert!(oauth.status().await.unwrap().is_some());
    });
    damage();
    let oauth = web.build(web.oauth());
    web.time.run(oauth.logout(true)).unwrap();
    assert_eq!(web.time.run(oauth.status()), Ok(None));
}

#[test]
fn t4_the_types_of_a_login_can_be_shared_and_show_no_secrets() {
    fn shared<T: Send + Sync>() {}
    shared::<OAuth>();
    shared::<mcpwire_authorization::OAuthBuilder>();
    shared::<LoginError>();
    shared::<LoginRequired>();
    let builder = || OAuth::builder("https://mcp.test/mcp?key=s3cret", "test").account("work");
    let web = Web::new();
    let shown = format!("{:?} {:?}", builder(), web.build(builder()));
    assert!(shown.contains("https://mcp.test/mcp") && shown.contains("work") && !shown.contains("s3cret"), "{shown}");
}

#[test]
fn two_programs_log_in_at_the_same_time() {
    let web = Web::new();
    let log_in = async |oauth: &OAuth, start: u64| {
        web.time.sleep(Duration::from_secs(start)).await;
        let user = slow(&web, web.user().redirect_uri(format!("http://127.0.0.1:{}/", 4000 + start)));
        oauth.login_with(&user, LoginRequest::default()).await
    };
    let (one, other) = (web.build(web.oauth_without_user()), web.build(web.oauth_without_user()));
    web.time.run(async {
        let results = join(log_in(&one, 1), log_in(&other, 30)).await;
        assert!(results.0.is_ok() && results.1.is_ok(), "{results:?}");
        assert_eq!(one.pending_login().await, Ok(None));
    });
    assert_eq!(web.count(Endpoint::Token), 2);
}

#[test]
fn b3_only_requests_to_the_server_itself_may_go_to_private_addresses() {
    for is_allowed in [false, true] {
        let web = Web::new();
        let (network, restricted) = (web.network(), Arc::new(Mutex::new(Vec::new())));
        let seen = Arc::clone(&restricted);
        let client = move |exchange: Exchange| {
            assert!(!exchange.follow_redirects);
            let host = exchange.uri.split('/').nth(2).unwrap().to_owned();
            seen.lock().unwrap().push((host, exchange.public_addresses_only));
            network.send(exchange)
        };
        let builder = web.oauth().allow_private_addresses(is_allowed);
        let oauth = builder.build(web.time.runtime(), Arc::new(client));
        web.time.run(oauth.login()).unwrap();
        let requests = restricted.lock().unwrap().clone();
        assert!(requests.iter().any(|(host, _)| host == "mcp.test"));
        for (host, is_restricted) in requests {
            assert_eq!(is_restricted, host == "auth.test" && !is_allowed, "{host}");
        }
    }
}

#[test]
fn a_login_does_not_go_on_at_endpoints_that_the_metadata_no_longer_names() {
    let web = Web::new();
    let oauth = web.build(web.oauth_without_user());
    let begin = || web.time.run(oauth.begin_login(REDIRECT_URI, LoginRequest::default())).unwrap();
    let first = begin();
    assert_eq!(begin().url, first.url, "nothing has changed");
    for endpoint in [Endpoint::Authorization, Endpoint::Token] {
        let before = begin();
        web.authorization.deviate(Deviation::EndpointUrl(endpoint, "https://auth.test/elsewhere".into()));
        let after = begin();
        assert_ne!(after.url, before.url, "{endpoint:?}");
        assert_eq!(begin().url, after.url);
    }
    let other = AuthorizationServer::at("https://other.test");
    web.server.move_to(&other);
    assert_eq!(begin().issuer, "https://other.test");
}
