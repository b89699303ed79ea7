//! Errors that say which step failed, where, why, and what to do.

use mcpwire_authorization::{LoginError, LoginRequired};
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Endpoint, ResourceDeviation};
use mcpwire_tests::authorization::{Web, echo};
use serde_json::json;

use crate::secs;

#[test]
fn o21_an_error_names_step_address_status_and_code() {
    let refusal = || HttpAnswer::json(400, json!({"error": "invalid_request", "error_description": "no tenant"}));
    for (endpoint, answer, words) in [
        (Endpoint::Metadata, HttpAnswer::status(500), &["metadata", "https://auth.test/.well-known/", "500"][..]),
        (
            Endpoint::Registration,
            HttpAnswer::status(403),
            &["registration", "https://auth.test/register", "403", "configure"],
        ),
        (Endpoint::Registration, HttpAnswer::status(503), &["registration", "503"]),
        (Endpoint::Token, refusal(), &["token", "https://auth.test/token", "invalid_request", "no tenant"]),
        (
            Endpoint::Token,
            HttpAnswer::status(200).body("<html>"),
            &["token", "https://auth.test/token", "cannot be read"],
        ),
    ] {
        let web = Web::new();
        web.authorization.answer_next(endpoint, answer);
        let error = chain(&web.refused(web.oauth()));
        assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
    }
}

#[test]
fn o21_a_failed_refresh_says_what_happened() {
    let web = Web::new();
    web.authorization.token_lifetime(secs(100));
    web.run(web.oauth(), async |client| {
        web.time.sleep(secs(200)).await;
        web.authorization.answer_next(Endpoint::Token, HttpAnswer::status(502));
        let error = chain(&echo(&client).await.expect_err("the refresh failed"));
        let words = ["refresh", "https://auth.test/token", "502"];
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    });
}

#[test]
fn o21_a_server_without_a_challenge_still_leads_to_a_login() {
    let web = Web::new();
    web.server.deviate(ResourceDeviation::OmitChallenge);
    web.call(web.oauth()).expect("the user logs in");
    let error = web.refused(web.oauth_without_user().account("nobody"));
    assert!(error.to_string().contains("401"), "it may want something else than OAuth: {error}");
}

#[test]
fn an_authorization_error_occurs_once_in_the_chain_of_a_clients_error() {
    let web = Web::new();
    let error = web.refused(web.oauth_without_user().account("nobody"));
    let required = LoginRequired::find(&error).expect("a login is required");
    assert_eq!(chain(&error).matches(&required.to_string()).count(), 1, "{}", chain(&error));
    assert_eq!(chain(&error).matches("login").count(), 1, "it is said once: {}", chain(&error));

    web.authorization.answer_next(Endpoint::Registration, HttpAnswer::status(503));
    let error = web.refused(web.oauth());
    let failed = error.authorization_error().and_then(|error| error.downcast_ref::<LoginError>());
    let failed = failed.expect("the login failed");
    for error in [chain(&error), chain(failed)] {
        assert_eq!(error.matches("https://auth.test/register").count(), 1, "{error}");
        assert_eq!(error.matches(&failed.to_string()).count(), 1, "{error}");
    }
}

/// Returns an error with its sources.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(": ");
        text.push_str(&source.to_string());
        next = source.source();
    }
    text
}
