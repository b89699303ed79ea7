//! What a login asks for and where, which responses it takes, and for which account.

use std::collections::BTreeSet;

use mcpwire_authorization::oauth::OAuthSettings;
use mcpwire_authorization::{LoginErrorKind, LoginRequest, OAuth, PasteBack};
use mcpwire_driver::protocol::Era;
use mcpwire_driver::protocol::http::Verb;
use mcpwire_driver::{ConnectOptions, ErrorKind};
use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint, MetadataPlace, ResourceDeviation};
use mcpwire_testkit::{HttpRequest, ScriptedServer, Testkit};
use mcpwire_tests::authorization::{Web, echo};
use mcpwire_tests::watched;
use mcpwire_tokio::http::HttpOptions;
use mcpwire_tokio::{McpServerDef, Tokio};
use serde_json::{Value, json};

use crate::secs;

fn log_in(web: &Web, settings: impl FnOnce(OAuthSettings) -> OAuthSettings) -> Result<(), mcpwire_driver::Error> {
    web.call(web.oauth().settings(settings))
}

fn same(settings: OAuthSettings) -> OAuthSettings {
    settings
}

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
fn a11_the_first_authorization_server_that_works_is_used() {
    let broken = AuthorizationServer::at("https://broken.test").without_metadata();
    let web = Web::with(&broken);
    let good = AuthorizationServer::new();
    web.server.trust(&good);
    log_in(&web, same).expect("the second authorization server works");
    assert_eq!(good.requests_to(Endpoint::Token).len(), 1);
    assert!(broken.requests().iter().all(|request| request.url.contains("/.well-known/")));
}

#[test]
fn o14_the_address_of_a_browser_on_another_machine_is_pasted() {
    watched(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let authorization = AuthorizationServer::new();
        let server = authorization.protect(ScriptedServer::new().tool("echo", |_| "hi"));
        let _serving = (authorization.serve(0).unwrap(), server.serve(0).unwrap());
        let browser = authorization.clone();
        let paste = PasteBack::new(move |url| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            Ok(browser.respond(&HttpRequest::get(url), now).header_value("Location").unwrap() + "\n")
        });
        runtime.block_on(async {
            let def = McpServerDef::http(server.url());
            let oauth = OAuth::builder(server.url(), "test").build_on(Tokio::current()).unwrap();
            oauth.login_with(&paste, LoginRequest::default()).await.unwrap();
            let options = ConnectOptions::default().http(HttpOptions::default().authorizer(oauth));
            let client = mcpwire_tokio::McpClient::connect_with(&def, options).unwrap();
            client.initialize().await.unwrap();
            assert_eq!(client.call_tool("echo", ()).await.unwrap().text().as_str(), "hi");
        });
    });
}

#[test]
fn o16_the_issuer_of_the_callback_is_checked_and_not_dropped() {
    for (deviation, is_accepted) in [
        (None, true),
        (Some(Deviation::NoIss), true),
        (Some(Deviation::UnpromisedIss), true),
        (Some(Deviation::OmitPromisedIss), false),
        (Some(Deviation::Iss("https://evil.test".into())), false),
        (Some(Deviation::Iss("https://auth.test/".into())), false),
        (Some(Deviation::Iss("https://AUTH.test".into())), false),
    ] {
        let web = Web::new();
        if let Some(deviation) = &deviation {
            web.authorization.deviate(deviation.clone());
        }
        assert_eq!(log_in(&web, same).is_ok(), is_accepted, "{deviation:?}");
        assert_eq!(web.token_requests().len(), usize::from(is_accepted), "{deviation:?}: the code goes nowhere");
    }
}

#[test]
fn z1_a_server_without_pkce_is_refused_unless_a_setting_allows_it() {
    let web = Web::new();
    web.authorization.deviate(Deviation::OmitCodeChallengeMethods);
    let error = log_in(&web, same).expect_err("PKCE is missing").to_string();
    assert!(error.contains("assume_pkce"), "{error}");
    assert_eq!(web.logins().len() + web.count(Endpoint::Registration), 0);
    log_in(&web, |settings| settings.assume_pkce(true)).expect("the setting allows it");
    assert_eq!(web.logins()[0].parameter("code_challenge_method").as_deref(), Some("S256"));
}

#[test]
fn z2_a_response_with_another_state_is_discarded() {
    let web = Web::new();
    web.authorization.deviate(Deviation::State("another".into()));
    let error = log_in(&web, same).expect_err("the response is of another login");
    assert!(error.to_string().contains("state"), "{error}");
    assert_eq!(web.token_requests().len(), 0);
    // The right response still finishes the login.
    web.authorization.conform();
    log_in(&web, same).expect("the user logs in");
}

#[test]
fn z3_a_redirect_uri_of_another_machine_must_be_https() {
    let web = Web::new();
    let oauth = web.build(web.oauth_without_user());
    let begin = |uri| web.time.run(oauth.begin_login(uri, LoginRequest::default()));
    let error = begin("http://client.test/callback").expect_err("it is neither https nor local");
    assert_eq!(error.kind(), LoginErrorKind::Misconfigured, "{error}");
    assert_eq!(web.count(Endpoint::Registration), 0);
    assert!(begin("https://client.test/callback").is_ok() && begin("http://[::1]:7/callback").is_ok());
    let asked: Vec<Value> = web
        .authorization
        .requests_to(Endpoint::Registration)
        .iter()
        .map(|request| serde_json::from_str::<Value>(&request.body).unwrap()["application_type"].clone())
        .collect();
    assert_eq!(asked, [json!("web"), json!("native")]);
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
fn a_server_that_claims_its_whole_origin_needs_the_word_of_the_user() {
    let web = Web::new();
    web.server.resource_id("https://mcp.test");
    let error = log_in(&web, same).expect_err("the document is at the place of the server").to_string();
    assert!(error.contains("accept_parent_resource"), "{error}");
    assert!(web.logins().is_empty());
    log_in(&web, |settings| settings.accept_parent_resource(true)).expect("the setting allows it");
}

#[test]
fn z14_an_error_of_another_issuer_is_not_shown() {
    let web = Web::new();
    let text = "visit-evil-dot-test";
    web.authorization.deviate(Deviation::RefuseLogins(text.into()));
    let error = log_in(&web, same).expect_err("the login is refused").to_string();
    assert!(error.contains(text), "an error of the right issuer is shown: {error}");
    web.authorization.deviate(Deviation::Iss("https://evil.test".into()));
    let error = log_in(&web, same).expect_err("the response is of another issuer").to_string();
    assert!(!error.contains(text) && !error.contains("the login was refused"), "{error}");
    assert_eq!(web.token_requests().len(), 0);
}

#[test]
fn a4_a7_metadata_is_found_at_every_place() {
    for issuer in ["https://auth.test", "https://auth.test/tenant/one"] {
        for place in [MetadataPlace::OAuth, MetadataPlace::OpenId, MetadataPlace::OpenIdAfterPath] {
            let web = Web::with(&AuthorizationServer::at(issuer).metadata_at(place));
            web.server.deviate(ResourceDeviation::OmitMetadataUrl);
            log_in(&web, same).unwrap_or_else(|error| panic!("{issuer} {place:?}: {error}"));
            assert_eq!(web.logins().len(), 1);
        }
    }
}

#[test]
fn a9_a_setting_accepts_an_issuer_that_differs_by_a_slash() {
    let web = Web::new();
    web.authorization.deviate(Deviation::IssuerInMetadata("https://auth.test/".into()));
    let error = log_in(&web, same).expect_err("the issuer is another").to_string();
    assert!(error.contains("lenient_issuer"), "{error}");
    web.authorization.deviate(Deviation::NoIss);
    log_in(&web, |settings| settings.lenient_issuer(true)).expect("the setting allows it");
}

#[test]
fn an_origin_that_was_guessed_may_publish_an_issuer_with_a_slash() {
    let authorization = AuthorizationServer::at("https://mcp.test");
    authorization.deviate(Deviation::IssuerInMetadata("https://mcp.test/".into()));
    authorization.deviate(Deviation::Iss("https://mcp.test/".into()));
    let web = Web::with(&authorization);
    web.server.deviate(ResourceDeviation::NoMetadata);
    log_in(&web, same).expect("both have the same metadata");
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
        log_in(&web, same).unwrap_or_else(|error| panic!("with metadata: {has_metadata}: {error}"));
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
