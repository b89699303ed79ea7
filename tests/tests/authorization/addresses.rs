//! Addresses that servers name: https, public, without redirects, and never scripts.

use std::sync::{Arc, Mutex};

use mcpwire_authorization::OAuth;
use mcpwire_driver::http::HttpClient;
use mcpwire_driver::protocol::http::Exchange;
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint, ResourceDeviation};
use mcpwire_tests::authorization::Web;
use serde_json::json;

#[test]
fn b1_b3_b4_requests_for_logins_go_to_public_addresses_and_follow_no_redirects() {
    let web = Web::new();
    let network = web.network();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&seen);
    let client: Arc<dyn HttpClient> = Arc::new(move |exchange: Exchange| {
        let url = exchange.uri.clone();
        recorded.lock().unwrap().push((url, exchange.public_addresses_only, exchange.follow_redirects));
        network.send(exchange)
    });
    let oauth: OAuth = web.oauth().build(web.time.runtime(), client);
    web.time.run(async { web.client(&oauth).initialize().await.map(drop) }).expect("the user logs in");
    let seen = seen.lock().unwrap();
    // The user has chosen the host of the server itself, so it may be private.
    let expected = |url: &str| url.starts_with("https://auth.test/");
    assert!(seen.iter().all(|(url, public_only, follows)| *public_only == expected(url) && !follows), "{seen:?}");
    assert_eq!(seen.iter().filter(|(url, ..)| expected(url)).count(), 3);
}

#[test]
fn b2_z4_endpoints_without_https_get_nothing() {
    for endpoint in [Endpoint::Token, Endpoint::Authorization, Endpoint::Registration] {
        for url in
            ["http://auth.test/x", "ftp://auth.test/x", "https://user:password@auth.test/x", "//auth.test/x", "x"]
        {
            let web = Web::new();
            web.authorization.deviate(Deviation::EndpointUrl(endpoint, url.into()));
            web.refused(web.oauth());
            let sent: Vec<_> = web.authorization.requests().iter().map(|request| request.url.clone()).collect();
            assert!(!sent.iter().any(|sent| sent.ends_with("/x")), "{endpoint:?} {url}: {sent:?}");
        }
    }
}

#[test]
fn b2_an_authorization_server_without_https_is_not_asked() {
    for issuer in ["http://auth.test", "http://127.0.0.1:9000", "https://auth.test?tenant=1", "https://auth.test#x"] {
        let web = Web::with(&AuthorizationServer::at(issuer));
        let error = web.refused(web.oauth()).to_string();
        assert!(error.contains("issuer"), "{issuer}: {error}");
        assert_eq!(web.authorization.requests().len(), 0, "{issuer}");
    }
}

#[test]
fn b4_redirects_are_not_followed() {
    for endpoint in [Endpoint::Metadata, Endpoint::Registration, Endpoint::Token] {
        for status in [301, 302, 303, 307, 308] {
            let evil = AuthorizationServer::at("https://evil.test");
            let web = Web::new();
            web.server.reach(&evil);
            let redirect = HttpAnswer::status(status).header("Location", "https://evil.test/token");
            web.authorization.answer_next(endpoint, redirect);
            web.refused(web.oauth());
            assert_eq!(evil.requests().len(), 0, "{endpoint:?} {status}");
        }
    }
}

#[test]
fn b5_no_scripts_files_or_data_are_shown_to_the_user() {
    for url in [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "vbscript:x",
        "JAVASCRIPT:x",
        " https://x.test",
    ] {
        let web = Web::new();
        web.authorization.deviate(Deviation::EndpointUrl(Endpoint::Authorization, url.into()));
        let user = web.user();
        web.refused(web.oauth_without_user().prompt(user.clone()));
        assert_eq!(user.shown().len(), 0, "{url}");
    }
}

#[test]
fn b7_what_servers_name_is_safe_to_display() {
    let web = Web::new();
    let evil = "https://auth.test/\u{1b}[2J\u{202e}";
    web.server.deviate(ResourceDeviation::MetadataMember("authorization_servers".into(), json!([evil])));
    let error = web.refused(web.oauth()).to_string();
    assert!(!error.chars().any(|c| c.is_control() || c == '\u{202e}'), "{error:?}");
}

#[test]
fn a12_metadata_of_another_resource_is_refused() {
    for resource in ["https://evil.test/mcp", "https://mcp.test/other", "https://mcp.test.evil.test/mcp"] {
        let web = Web::new();
        web.server.deviate(ResourceDeviation::MetadataMember("resource".into(), json!(resource)));
        web.refused(web.oauth());
        assert_eq!(web.authorization.requests().len(), 0, "{resource}");
    }
}
