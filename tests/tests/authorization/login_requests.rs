//! What a login asks for and where, for which account, and which errors say that a login is needed.

use std::collections::BTreeSet;

use mcpwire_authorization::{LoginError, LoginRequired};
use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::protocol::Era;
use mcpwire_driver::protocol::http::Verb;
use mcpwire_driver::{ConnectOptions, ErrorKind};
use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint, MetadataPlace, ResourceDeviation};
use mcpwire_testkit::{HttpAnswer, ScriptedServer, Testkit};
use mcpwire_tests::authorization::{Web, echo};

use crate::secs;

#[test]
fn a2_connections_over_streams_have_no_authorization() {
    let web = Web::new();
    let oauth = web.build(web.oauth());
    let kit = Testkit::new(ScriptedServer::new().tool("echo", |_| "hi"));
    let options = ConnectOptions::default().http(HttpOptions::default().authorizer(oauth));
    let client = kit.connect_with(options);
    kit.time().run(async {
        client.initialize().await.expect("streams need no token");
        client.call_tool("echo", ()).await.expect("streams need no token");
    });
    assert_eq!(web.authorization.requests().len(), 0);
}

#[test]
fn z5_z6_the_resource_is_that_of_the_metadata_in_each_request() {
    for (place, resource) in [
        (None, "https://mcp.test/mcp"),
        (Some("https://mcp.test"), "https://mcp.test"),
        (Some("https://mcp.test/"), "https://mcp.test/"),
    ] {
        let web = Web::new();
        if let Some(id) = place {
            web.server.resource_id(id).deviate(ResourceDeviation::MetadataAtRoot);
        }
        web.authorization.token_lifetime(secs(100));
        web.run(web.oauth(), async |client| {
            web.time.sleep(secs(200)).await;
            echo(&client).await.expect("the token is refreshed");
        });
        let sent: Vec<_> = web
            .logins()
            .iter()
            .chain(&web.token_requests())
            .filter_map(|request| request.parameter("resource"))
            .collect();
        assert_eq!(sent, [resource; 3]);
    }
}

#[test]
fn a4_a7_metadata_is_found_at_every_place() {
    for issuer in ["https://auth.test", "https://auth.test/tenant/one"] {
        for place in [MetadataPlace::OAuth, MetadataPlace::OpenId, MetadataPlace::OpenIdAfterPath] {
            let web = Web::with(&AuthorizationServer::at(issuer).metadata_at(place));
            web.server.deviate(ResourceDeviation::OmitMetadataUrl);
            web.call(web.oauth()).unwrap_or_else(|error| panic!("{issuer} {place:?}: {error}"));
            assert_eq!(web.logins().len(), 1);
        }
    }
}

#[test]
fn l1_l2_servers_of_2025_03_26_are_their_own_authorization_servers() {
    for has_metadata in [true, false] {
        let authorization = AuthorizationServer::at("https://mcp.test");
        if !has_metadata {
            // What has no metadata promises no issuer, either.
            authorization.without_metadata().deviate(Deviation::NoIss);
        }
        let web = Web::with(&authorization);
        web.server.deviate(ResourceDeviation::NoMetadata);
        web.call(web.oauth()).unwrap_or_else(|error| panic!("with metadata: {has_metadata}: {error}"));
        assert_eq!(web.logins()[0].parameter("resource").as_deref(), Some("https://mcp.test/mcp"));
    }
}

#[test]
fn t1_each_request_of_a_session_has_the_token() {
    let authorization = AuthorizationServer::new();
    let mut web = Web::with(&authorization);
    web.server = authorization.protect(ScriptedServer::new().era(Era::Legacy).tool("echo", |_| "hi"));
    web.run(web.oauth(), async |client| {
        echo(&client).await.expect("the token is valid");
        web.time.sleep(secs(1)).await;
        client.shutdown().await.expect("the session ends");
    });
    let requests = web.server.requests();
    for verb in [Verb::Get, Verb::Delete] {
        let sent = requests.iter().filter(|request| request.verb == verb && request.url == "https://mcp.test/mcp");
        let tokens: Vec<_> = sent.map(|request| request.header("Authorization").is_some()).collect();
        assert!(!tokens.is_empty() && tokens.iter().all(|has_token| *has_token), "{verb:?} {tokens:?}");
    }
}

#[test]
fn o18_each_account_has_its_own_token() {
    let web = Web::new();
    let account = |name: &str| web.build(web.oauth_after_login_of(name));
    let (home, work) = (account("home"), account("work"));
    web.time.run(async {
        for oauth in [&home, &work] {
            web.client(oauth).initialize().await.expect("the account has a token");
        }
        assert_eq!(home.status().await.unwrap().unwrap().account, "home");
        home.logout(false).await.expect("the token is deleted");
        let error = web.client(&home).initialize().await.map(drop).expect_err("the account has logged out");
        assert_eq!(error.kind(), ErrorKind::LoginRequired);
        web.client(&work).initialize().await.expect("the other account has not");
    });
    let tokens: BTreeSet<_> =
        web.server.requests().iter().filter_map(|request| request.header("Authorization").map(str::to_owned)).collect();
    assert_eq!(tokens.len(), 2);
    assert_eq!((web.logins().len(), web.count(Endpoint::Registration)), (2, 1), "the client is the same");
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

/// Returns the texts of an error and its sources.
fn chain(error: &dyn std::error::Error) -> String {
    let texts = std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string);
    texts.collect::<Vec<_>>().join(": ")
}
