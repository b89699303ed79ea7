//! Refreshes: one for all callers, kept when it fails, and at the right time.

use futures_util::future::join_all;
use mcpwire_authorization::LoginRequired;
use mcpwire_driver::ErrorKind;
use mcpwire_driver::protocol::http::FailureKind;
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Deviation, Endpoint};
use mcpwire_tests::authorization::{Web, echo};
use mcpwire_tests::watched;

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

#[test]
fn o1_the_second_process_adopts_the_token_that_the_first_has_refreshed() {
    watched(|| {
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
    });
}

#[test]
fn o2_the_token_of_a_refresh_whose_caller_gave_up_is_not_lost() {
    watched(|| {
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
    });
}

#[test]
fn o3_o4_no_failure_but_invalid_grant_loses_the_login() {
    watched(|| {
        let failures = [
            HttpAnswer::failure(FailureKind::Unreachable, "no route"),
            HttpAnswer::status(500).body("<html>out of order</html>"),
            HttpAnswer::status(503).header("Retry-After", "7"),
            HttpAnswer::status(429),
            HttpAnswer::status(200)
                .header("Content-Type", "text/html")
                .body("<html>log in to the hotel's network</html>"),
            HttpAnswer::json(200, serde_json::json!({"access_token": 7})),
            HttpAnswer::json(400, serde_json::json!({"error": "server_error"})),
            HttpAnswer::json(400, serde_json::json!({"error": "temporarily_unavailable"})),
            HttpAnswer::status(200).header("Content-Length", "900").body("{\"access").cut(),
            HttpAnswer::status(200).wait(secs(3600)),
        ];
        for failure in failures {
            let web = web();
            let shown = format!("{failure:?}");
            web.run(web.oauth_after_login(), async |client| {
                web.time.sleep(secs(200)).await;
                web.authorization.answer_next(Endpoint::Token, failure.clone());
                let error = client.call_tool("echo", ()).timeout(secs(60)).await.expect_err("there is no token");
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{shown}: {error}");
                web.time.sleep(secs(120)).await;
                echo(&client).await.unwrap_or_else(|error| panic!("{shown}: the connection goes on: {error}"));
            });
            assert_eq!((web.logins().len(), refreshes(&web)), (1, 2), "{shown}");
        }
    });
}

#[test]
fn o3_invalid_grant_deletes_the_login_and_asks_for_another_one() {
    watched(|| {
        let web = web();
        let oauth = web.build(web.oauth_after_login());
        web.time.run(async {
            let client = web.client(&oauth);
            client.initialize().await.expect("the stored login is used");
            web.authorization.revoke_logins();
            let error = echo(&client).await.expect_err("the login is revoked");
            assert_eq!(error.kind(), ErrorKind::LoginRequired, "{error}");
            assert!(LoginRequired::find(&error).is_some(), "{error}");
            assert_eq!(oauth.status().await.expect("the store can be read"), None);
        });
        assert_eq!(refreshes(&web), 1);
        assert!(web.run(web.oauth(), async |client| echo(&client).await.is_ok()));
        assert_eq!((web.logins().len(), web.count(Endpoint::Registration)), (2, 1));
    });
}

#[test]
fn o3_errors_with_status_200_are_errors() {
    watched(|| {
        let web = web();
        web.authorization.deviate(Deviation::ErrorsWithStatus200);
        web.run(web.oauth_after_login(), async |client| {
            web.authorization.revoke_logins();
            let error = echo(&client).await.expect_err("the login is revoked");
            assert_eq!(error.kind(), ErrorKind::LoginRequired, "{error}");
        });
    });
}

#[test]
fn o5_a_401_forces_one_refresh_although_the_clock_says_that_the_token_is_valid() {
    watched(|| {
        let web = web();
        web.run(web.oauth(), async |client| {
            web.authorization.revoke_access_tokens();
            let results = join_all((0..20).map(|_| echo(&client))).await;
            assert!(results.iter().all(Result::is_ok), "nobody notices");
        });
        assert_eq!((refreshes(&web), web.logins().len()), (1, 1));
    });
}

#[test]
fn o5_a_late_refusal_of_an_old_token_does_nothing() {
    watched(|| {
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
    });
}

#[test]
fn o6_short_lived_tokens_are_not_refreshed_on_each_call() {
    watched(|| {
        let web = Web::new();
        web.authorization.token_lifetime(secs(30));
        web.run(web.oauth(), async |client| {
            for _ in 0..300 {
                web.time.sleep(secs(1)).await;
                echo(&client).await.expect("the token is valid");
            }
        });
        // Each token is used for nine tenths of its life.
        assert!((10..=12).contains(&refreshes(&web)), "{}", refreshes(&web));
        let refused = web.server.requests().iter().filter(|request| request.header("Authorization").is_none()).count();
        assert!(refused <= 3, "no call needs a second try: {refused}");
    });
}

#[test]
fn o7_a_refresh_names_no_scopes_and_is_repeated_without_a_refused_resource() {
    watched(|| {
        let web = web();
        web.server.scopes_supported(["a", "b"]);
        web.authorization.deviate(Deviation::RefuseScopeOnRefresh).deviate(Deviation::RefuseResourceOnRefresh);
        let oauth = web.build(web.oauth());
        web.time.run(async {
            let client = web.client(&oauth);
            client.initialize().await.expect("the user logs in");
            for _ in 0..2 {
                web.time.sleep(secs(200)).await;
                echo(&client).await.expect("the token is refreshed");
            }
        });
        let requests = web.token_requests();
        let resources: Vec<_> = requests.iter().map(|request| request.parameter("resource").is_some()).collect();
        // The code, the refused refresh, its repetition, and the next refresh, which remembers it.
        assert_eq!(resources, [true, true, false, false]);
        assert!(requests.iter().all(|request| request.parameter("scope").is_none()));
    });
}

#[test]
fn o8_a_restart_does_not_lengthen_the_life_of_a_token() {
    watched(|| {
        let web = web();
        web.run(web.oauth(), async |client| echo(&client).await.map(drop)).expect("the user logs in");
        web.time.advance(secs(80));
        web.run(web.oauth_without_user(), async |client| {
            assert_eq!(refreshes(&web), 0, "the token is still valid");
            web.time.sleep(secs(30)).await;
            let refused = web.server.requests().len();
            echo(&client).await.expect("the token is refreshed");
            assert_eq!((refreshes(&web), web.server.requests().len()), (1, refused + 1), "before it is refused");
        });
    });
}

#[test]
fn t5_without_a_refresh_token_the_next_login_comes_when_the_token_has_expired() {
    watched(|| {
        let web = web();
        web.authorization.deviate(Deviation::NoRefreshTokens);
        web.run(web.oauth(), async |client| {
            echo(&client).await.expect("the token is valid");
            web.time.sleep(secs(200)).await;
            echo(&client).await.expect("the user logs in again");
        });
        assert_eq!((grants(&web.token_requests()), web.logins().len()), (vec!["authorization_code".to_owned(); 2], 2));
    });
}

#[test]
fn t7_the_newest_refresh_token_is_kept_and_the_old_one_if_there_is_no_newer() {
    watched(|| {
        for keeps in [false, true] {
            let web = web();
            if keeps {
                web.authorization.deviate(Deviation::KeepRefreshTokens);
            }
            web.run(web.oauth(), async |client| {
                for _ in 0..3 {
                    web.time.sleep(secs(200)).await;
                    echo(&client).await.expect("the token is refreshed");
                }
            });
            let sent: Vec<_> =
                web.token_requests().iter().filter_map(|request| request.parameter("refresh_token")).collect();
            assert_eq!((sent.len(), sent[0] == sent[1] && sent[1] == sent[2]), (3, keeps));
            assert_eq!((web.authorization.reused_refresh_tokens(), web.logins().len()), (0, 1));
        }
    });
}
