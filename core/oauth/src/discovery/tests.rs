use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;
use crate::testing::{NOW, Web, failure, settings};
use crate::{FetchError, Request, Response, Scopes};

const SERVER: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://as.example";
const AT_PATH: &str = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
const AT_ROOT: &str = "https://mcp.example/.well-known/oauth-protected-resource";
const OAUTH: &str = "https://as.example/.well-known/oauth-authorization-server";
const OPENID: &str = "https://as.example/.well-known/openid-configuration";

fn resource(resource: &str, issuers: &[&str]) -> String {
    serde_json::json!({"resource": resource, "authorization_servers": issuers}).to_string()
}

fn server(issuer: &str) -> String {
    serde_json::json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{ISSUER}/authorize"),
        "token_endpoint": format!("{ISSUER}/token"),
    })
    .to_string()
}

/// The MCP server, which names the authorization server.
fn named() -> Web {
    Web::new().with(AT_PATH, &resource(SERVER, &[ISSUER]))
}

fn discover(web: &mut Web) -> Result<Discovered, Error> {
    web.drive(&mut Discovery::new(SERVER, None, &settings()))
}

fn challenge(metadata: &str) -> BearerChallenge {
    BearerChallenge::parse([&*format!("Bearer resource_metadata=\"{metadata}\"")]).unwrap()
}

/// Asserts that no authorization server is found for this reason, which names these parts.
fn refused(web: &mut Web, kind: ErrorKind, parts: &[&str]) {
    let (found, text) = failure(discover(web));
    assert_eq!(found, kind, "{text}");
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn a3_the_authorization_server_is_found_by_the_metadata_of_the_server() {
    let mut web = named().with(OAUTH, &server(ISSUER));
    let found = discover(&mut web).unwrap();
    assert_eq!((&*found.resource, &*found.metadata.issuer), (SERVER, ISSUER));
    assert_eq!(found.metadata.token_endpoint, "https://as.example/token");
    assert_eq!(web.asked_urls(), [AT_PATH, OAUTH]);
    let headers: Vec<_> = web.asked[0].headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(headers, [("accept", "application/json"), ("mcp-protocol-version", "2026-07-28")]);
}

#[test]
fn a6_a7_a8_metadata_is_asked_for_at_its_places_in_turn() {
    let elsewhere = "https://other.example/metadata";
    let tenant = "https://as.example/tenant1";
    let [first, second, below] = [
        "https://as.example/.well-known/oauth-authorization-server/tenant1",
        "https://as.example/.well-known/openid-configuration/tenant1",
        "https://as.example/tenant1/.well-known/openid-configuration",
    ];
    let at_root = Web::new().with(AT_ROOT, &resource("https://mcp.example", &[ISSUER])).with(OAUTH, &server(ISSUER));
    let challenged = Web::new().with(elsewhere, &resource(SERVER, &[ISSUER])).with(OAUTH, &server(ISSUER));
    let of_tenant = Web::new().with(AT_PATH, &resource(SERVER, &[tenant])).with(below, &server(tenant));
    let good = || named().with(OAUTH, &server(ISSUER));
    for (name, challenge_url, mut web, asked) in [
        ("a6: the URL of the challenge is first", Some(elsewhere), challenged, &[elsewhere, OAUTH][..]),
        ("a6: the path of the server is before the root", None, at_root, &[AT_PATH, AT_ROOT, OAUTH]),
        ("a6: a URL without TLS is skipped", Some("http://mcp.example/metadata"), good(), &[AT_PATH, OAUTH]),
        ("a6: a URL of this machine is skipped", Some("http://127.0.0.1:80/x"), good(), &[AT_PATH, OAUTH]),
        ("a6: a file is skipped", Some("file:///etc/passwd"), good(), &[AT_PATH, OAUTH]),
        ("a6: a URL with a user is skipped", Some("https://user@evil/"), good(), &[AT_PATH, OAUTH]),
        ("a7: an issuer with a path has three places", None, of_tenant, &[AT_PATH, first, second, below]),
        (
            "a8: an issuer without a path has two",
            None,
            named().with(OPENID, &server(ISSUER)),
            &[AT_PATH, OAUTH, OPENID],
        ),
    ] {
        let challenge = challenge_url.map(challenge);
        web.drive(&mut Discovery::new(SERVER, challenge.as_ref(), &settings())).expect(name);
        assert_eq!(web.asked_urls(), asked, "{name}");
    }
}

#[test]
fn a6_a_slash_at_the_end_of_the_path_is_kept_first() {
    let mut web = named().with(OAUTH, &server(ISSUER));
    web.drive(&mut Discovery::new("https://mcp.example/mcp/?key=1#f", None, &settings())).unwrap();
    let query = format!("{AT_PATH}?key=1");
    assert_eq!(web.asked_urls()[..3], [&*format!("{AT_PATH}/?key=1"), &query, AT_ROOT]);
}

#[test]
fn a9_metadata_of_another_issuer_is_refused() {
    for other in ["https://honest.example", "https://as.example/", "https://AS.example", "https://as.example:443"] {
        let mut web = named().with(OAUTH, &server(other));
        refused(&mut web, ErrorKind::Untrusted, &[other, ISSUER]);
        assert_eq!(web.asked_urls(), [AT_PATH, OAUTH, OPENID], "the other place may have the right document");
    }
}

#[test]
fn a9_refused_metadata_is_reported_before_other_failures() {
    for status in [404, 503] {
        let mut web = named().with_status(OAUTH, status, "").with(OPENID, &server("https://other.example"));
        refused(&mut web, ErrorKind::Untrusted, &[]);
    }
}

#[test]
fn a9_a_setting_accepts_a_missing_issuer_and_a_slash() {
    let lenient = settings().lenient_issuer(true);
    for (other, accepted) in [("https://as.example/", true), ("", true), ("https://as.example/x", false)] {
        let mut web = named().with(OAUTH, &server(other));
        let found = web.drive(&mut Discovery::new(SERVER, None, &lenient));
        assert_eq!(found.is_ok(), accepted, "{other}");
        if let Ok(found) = found {
            assert_eq!(found.metadata.issuer, if other.is_empty() { ISSUER } else { other });
        }
    }
}

#[test]
fn a11_the_first_authorization_server_with_metadata_is_taken() {
    let issuers = ["http://insecure.example", "https://gone.example", ISSUER, "https://late.example"];
    let mut web = Web::new().with(AT_PATH, &resource(SERVER, &issuers)).with(OAUTH, &server(ISSUER));
    assert_eq!(discover(&mut web).unwrap().metadata.issuer, ISSUER);
    let gone = ["oauth-authorization-server", "openid-configuration"]
        .map(|name| format!("https://gone.example/.well-known/{name}"));
    assert_eq!(web.asked_urls(), [AT_PATH, &gone[0], &gone[1], OAUTH]);
}

#[test]
fn a11_the_authorization_server_of_a_registration_is_preferred() {
    let issuers = ["https://first.example", "https://second.example", ISSUER];
    let page = resource(SERVER, &issuers);
    for by_settings in [true, false] {
        let mut web = Web::new().with(AT_PATH, &page).with(OAUTH, &server(ISSUER));
        let by_registration = || Discovery::new(SERVER, None, &settings()).prefer_issuer(ISSUER);
        let by_setting = || Discovery::new(SERVER, None, &settings().client_issuer(ISSUER));
        web.drive(&mut if by_settings { by_setting() } else { by_registration() }).unwrap();
        assert_eq!(web.asked_urls(), [AT_PATH, OAUTH]);
    }
    // A preferred issuer that the server does not name is never asked.
    let mut web = Web::new().with(AT_PATH, &page);
    web.drive(&mut Discovery::new(SERVER, None, &settings()).prefer_issuer("https://evil.example")).unwrap_err();
    assert!(web.asked_urls().iter().all(|url| !url.contains("evil")));
}

#[test]
fn a11_at_most_eight_authorization_servers_are_tried() {
    let issuers: Vec<_> = (0..100).map(|number| format!("https://as{number}.example")).collect();
    let issuers: Vec<_> = issuers.iter().map(String::as_str).collect();
    let mut web = Web::new().with(AT_PATH, &resource(SERVER, &issuers));
    assert_eq!(failure(discover(&mut web)).0, ErrorKind::Misconfigured);
    assert_eq!(web.asked.len(), 1 + 8 * 2);
}

#[test]
fn a12_metadata_of_another_resource_ends_the_flow() {
    for other in ["https://evil.example/mcp", "https://mcp.example/other", "http://mcp.example/mcp"] {
        let mut web = Web::new()
            .with(AT_PATH, &resource(other, &[ISSUER]))
            .with(AT_ROOT, &resource(SERVER, &[ISSUER]))
            .with(OAUTH, &server(ISSUER));
        refused(&mut web, ErrorKind::Untrusted, &[other]);
        assert_eq!(web.asked_urls(), [AT_PATH]);
    }
}

#[test]
fn z4_endpoints_that_are_not_https_are_refused() {
    for endpoint in ["token_endpoint", "authorization_endpoint"] {
        for url in [
            "http://as.example/x",
            "javascript:alert(1)",
            "http://127.0.0.1/x",
            "/token",
            "ftp://as.example/x",
            "https://user:password@as.example/x",
            "//as.example/x",
            "x",
        ] {
            let mut document: serde_json::Value = serde_json::from_str(&server(ISSUER)).unwrap();
            document[endpoint] = url.into();
            refused(&mut named().with(OAUTH, &document.to_string()), ErrorKind::Untrusted, &[url]);
        }
    }
}

#[test]
fn z4_insecure_endpoints_that_a_login_does_not_need_are_left_out() {
    let mut document: serde_json::Value = serde_json::from_str(&server(ISSUER)).unwrap();
    document["registration_endpoint"] = "http://as.example/register".into();
    document["revocation_endpoint"] = "https://as.example/revoke".into();
    document["device_authorization_endpoint"] = "data:,x".into();
    let mut web = named().with(OAUTH, &document.to_string());
    let found = discover(&mut web).unwrap().metadata;
    assert_eq!((found.registration_endpoint, found.device_authorization_endpoint), (None, None));
    assert_eq!(found.revocation_endpoint.as_deref(), Some("https://as.example/revoke"));
}

#[test]
fn b2_a_server_must_be_https_unless_it_is_on_this_machine() {
    let mut web = Web::new();
    let (kind, text) = failure(web.drive(&mut Discovery::new("http://mcp.example/mcp", None, &settings())));
    assert_eq!(kind, ErrorKind::Misconfigured);
    assert!(text.contains("https"), "{text}");
    assert!(web.asked.is_empty());

    let (local, issuer) = ("http://localhost:3000/mcp", "http://localhost:4000");
    let document = server(issuer).replace(&format!("{ISSUER}/"), "http://localhost:4000/");
    let mut web = Web::new()
        .with("http://localhost:3000/.well-known/oauth-protected-resource/mcp", &resource(local, &[issuer]))
        .with("http://localhost:4000/.well-known/oauth-authorization-server", &document);
    let found = web.drive(&mut Discovery::new(local, None, &settings())).unwrap();
    assert_eq!(found.metadata.token_endpoint, "http://localhost:4000/token");
}

#[test]
fn b2_a_remote_server_cannot_name_an_authorization_server_on_this_machine() {
    for issuers in [
        &["http://localhost:4000", "https://as.example?x=1"][..],
        &["http://127.0.0.1:9000"],
        &["https://as.example?x=1"],
        &["https://as.example#x"],
    ] {
        let mut web = Web::new().with(AT_PATH, &resource(SERVER, issuers));
        refused(&mut web, ErrorKind::Untrusted, &issuers[..1]);
        assert_eq!(web.asked_urls(), [AT_PATH]);
    }
}

#[test]
fn b4_redirects_are_not_followed() {
    for status in [301, 302, 303, 307, 308] {
        let mut web = Web::new().with_status(AT_PATH, status, "").with(AT_ROOT, &resource(SERVER, &[ISSUER]));
        failure(discover(&mut web));
        assert_eq!(web.asked_urls(), [AT_PATH, AT_ROOT, OAUTH, OPENID]);
        let mut web = named().with_status(OAUTH, status, "");
        refused(&mut web, ErrorKind::Misconfigured, &["redirects", &status.to_string()]);
    }
}

#[test]
fn b7_addresses_of_servers_are_safe_to_display() {
    let issuer = "https://as.example/\u{1b}[31m\u{202e}x";
    let (kind, text) = failure(discover(&mut Web::new().with(AT_PATH, &resource(SERVER, &[issuer]))));
    assert_eq!(kind, ErrorKind::Untrusted);
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
}

#[test]
fn b1_an_address_that_the_program_refused_is_an_error_that_says_so() {
    let reason = "10.0.0.1 is a private address";
    let mut web = named().with_failure(OAUTH, FetchError::Refused(reason.to_string()));
    refused(&mut web, ErrorKind::Untrusted, &[reason]);
    assert_eq!(web.asked_urls(), [AT_PATH, OAUTH], "the other place is at the same address");
}

#[test]
fn l1_a_server_without_metadata_is_its_own_authorization_server() {
    let own = "https://mcp.example/.well-known/oauth-authorization-server";
    let mut web = Web::new().with(own, &server("https://mcp.example"));
    let found = discover(&mut web).unwrap();
    assert_eq!(web.asked_urls(), [AT_PATH, AT_ROOT, own]);
    assert_eq!((found.resource_metadata, &*found.resource), (None, SERVER));
    assert_eq!(found.metadata.token_endpoint, "https://as.example/token");
}

#[test]
fn l2_a_server_without_any_metadata_has_fixed_endpoints_at_its_root() {
    let mut web = Web::new();
    let found = discover(&mut web).unwrap().metadata;
    assert_eq!(found.issuer, "https://mcp.example");
    assert_eq!(found.authorization_endpoint.as_deref(), Some("https://mcp.example/authorize"));
    assert_eq!(found.token_endpoint, "https://mcp.example/token");
    assert_eq!(found.registration_endpoint.as_deref(), Some("https://mcp.example/register"));
    assert_eq!(found.code_challenge_methods_supported, Some(["S256".to_string()].into()));
}

#[test]
fn l2_metadata_without_authorization_servers_means_the_server_itself() {
    let mut web = Web::new().with(AT_ROOT, r#"{"resource":"https://mcp.example","scopes_supported":["a"]}"#);
    let found = discover(&mut web).unwrap();
    assert_eq!(found.metadata.token_endpoint, "https://mcp.example/token");
    assert_eq!(
        (&*found.resource, found.resource_metadata.unwrap().scopes_supported),
        ("https://mcp.example", Some(Scopes::parse("a")))
    );
}

#[test]
fn l2_a_named_authorization_server_must_have_metadata() {
    refused(&mut named(), ErrorKind::Misconfigured, &["not found", "404"]);
}

#[test]
fn l2_a_server_that_fails_for_now_is_not_taken_for_an_old_one() {
    for status in [500, 503, 429] {
        for url in [AT_PATH, "https://mcp.example/.well-known/openid-configuration"] {
            let mut web = Web::new().with_status(url, status, "");
            refused(&mut web, ErrorKind::Temporary, &[&status.to_string()]);
        }
    }
    let failed = FetchError::Failed("connection refused".to_string());
    let mut web = Web::new().with_failure(AT_PATH, failed);
    refused(&mut web, ErrorKind::Temporary, &[]);
    assert_eq!(web.asked_urls(), [AT_PATH], "the root is at the same address");
}

#[test]
fn l2_refused_metadata_of_the_server_itself_is_not_replaced_by_fixed_endpoints() {
    let own = "https://mcp.example/.well-known/oauth-authorization-server";
    refused(&mut Web::new().with(own, &server("https://evil.example")), ErrorKind::Untrusted, &[]);
}

#[test]
fn o4_pages_that_are_no_metadata_are_passed_over() {
    let large = " ".repeat(Request::MAX_RESPONSE + 1);
    for page in [
        &*large,
        "<html>",
        "[]",
        "{}",
        r#"{"resource":1}"#,
        "\u{feff}{",
        r#"{"resource":"https://mcp.example/mcp","resource":""}"#,
    ] {
        let mut web = Web::new()
            .with(AT_PATH, page)
            .with_failure(AT_ROOT, FetchError::TooLarge)
            .with(OAUTH, "")
            .with("https://mcp.example/.well-known/oauth-authorization-server", page);
        assert_eq!(discover(&mut web).unwrap().metadata.token_endpoint, "https://mcp.example/token", "{page}");
    }
}

#[test]
fn a_document_without_a_token_endpoint_is_an_error() {
    let page = format!(r#"{{"issuer":"{ISSUER}"}}"#);
    refused(&mut named().with(OAUTH, &page), ErrorKind::Misconfigured, &["token endpoint"]);
}

#[test]
fn what_was_found_is_stored_and_read_again() {
    let document = format!(
        r#"{{"issuer":"{ISSUER}","token_endpoint":"{ISSUER}/token","scopes_supported":["a","offline_access"],"x":1,
        "client_id_metadata_document_supported":true,"authorization_response_iss_parameter_supported":true,
        "grant_types_supported":["authorization_code"],"code_challenge_methods_supported":["S256"]}}"#
    );
    let mut web = named().with(OAUTH, &document);
    let found = discover(&mut web).unwrap();
    let stored = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Discovered>(&stored).unwrap(), found);
    assert!(found.metadata.client_id_metadata_document_supported);
    assert!(found.metadata.lists_grant("authorization_code") && !found.metadata.lists_grant("refresh_token"));
}

#[test]
fn an_input_that_was_not_asked_for_is_an_error() {
    let response = || Input::Response(Response { status: 200, headers: Vec::new(), body: Vec::new() });
    let mut flow = Discovery::new(SERVER, None, &settings());
    assert!(flow.resume(response(), NOW).is_err());
    let mut flow = Discovery::new(SERVER, None, &settings());
    flow.start(NOW).unwrap();
    assert!(flow.start(NOW).is_err());
    assert!(flow.resume(Input::Signature(Vec::new()), NOW).is_err());
    assert!(flow.resume(response(), NOW).is_err(), "the flow has ended");
}

#[test]
fn the_published_issuer_of_an_origin_that_was_guessed_may_end_with_a_slash() {
    let own = "https://mcp.example/.well-known/oauth-authorization-server";
    for published in ["https://mcp.example", "https://mcp.example/"] {
        let mut web = Web::new().with(own, &server(published));
        assert_eq!(discover(&mut web).unwrap().metadata.issuer, published, "it is kept as it is");
    }
    for other in ["https://mcp.example//", "https://mcp.example/mcp", "https://as.example/", ""] {
        let mut web = Web::new().with(own, &server(other));
        assert_eq!(failure(discover(&mut web)).0, ErrorKind::Untrusted, "{other}");
    }
    // If the server names the issuer, the client does not guess it, so both must be identical.
    let named = "https://mcp.example";
    let mut web = Web::new().with(AT_PATH, &resource(SERVER, &[named])).with(own, &server("https://mcp.example/"));
    assert_eq!(failure(discover(&mut web)).0, ErrorKind::Untrusted);
}

/// Discovers the authorization server of `server`, starting with a challenge that names the URL `metadata`.
fn challenged(server: &str, metadata: &str, web: &mut Web, settings: &OAuthSettings) -> Result<Discovered, Error> {
    web.drive(&mut Discovery::new(server, Some(&challenge(metadata)), settings))
}

#[test]
fn a_server_cannot_claim_a_parent_at_a_place_of_its_own() {
    let (tenant, own) = ("https://host.example/tenants/evil/mcp", "https://host.example/tenants/evil/metadata");
    let at_path = "https://host.example/.well-known/oauth-protected-resource/tenants/evil/mcp";
    for parent in [
        "https://host.example",
        "https://host.example/",
        "https://host.example/tenants",
        "https://host.example/tenants/evil",
    ] {
        for place in [own, at_path] {
            let mut web = Web::new().with(place, &resource(parent, &[ISSUER])).with(OAUTH, &server(ISSUER));
            let (kind, text) = failure(challenged(tenant, own, &mut web, &settings()));
            assert_eq!(kind, ErrorKind::Untrusted, "{parent} {place}");
            assert!(text.contains("`accept_parent_resource`"), "{text}");
            let lenient = settings().accept_parent_resource(true);
            assert_eq!(challenged(tenant, own, &mut web, &lenient).unwrap().resource, parent);
        }
    }
}

#[test]
fn a_parent_is_accepted_at_its_own_well_known_place() {
    let server_url = "https://host.example/api/mcp";
    for (parent, place) in [
        ("https://host.example", "https://host.example/.well-known/oauth-protected-resource"),
        ("https://host.example/", "https://host.example/.well-known/oauth-protected-resource"),
        ("https://host.example/api", "https://host.example/.well-known/oauth-protected-resource/api"),
    ] {
        let mut web = Web::new().with(place, &resource(parent, &[ISSUER])).with(OAUTH, &server(ISSUER));
        assert_eq!(challenged(server_url, place, &mut web, &settings()).unwrap().resource, parent);
    }
}

#[test]
fn a_document_about_a_parent_does_not_hide_the_right_one() {
    let own = "https://mcp.example/metadata";
    let mut web = Web::new()
        .with(own, &resource("https://mcp.example", &["https://evil.example"]))
        .with(AT_PATH, &resource(SERVER, &[ISSUER]))
        .with(OAUTH, &server(ISSUER));
    let found = challenged(SERVER, own, &mut web, &settings()).unwrap();
    assert_eq!((&*found.resource, &*found.metadata.issuer), (SERVER, ISSUER));
}
