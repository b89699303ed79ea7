use alloc::string::ToString;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::*;
use crate::testing::{NOW, REDIRECT, Web, json, settings};
use crate::{FetchError, client_metadata_document};

const ISSUER: &str = "https://as.example";
const REGISTER: &str = "https://as.example/register";
const DOCUMENT: &str = "https://app.example/client.json";

fn discovered(metadata: &Value) -> Discovered {
    let mut all =
        json!({"issuer": ISSUER, "token_endpoint": "https://as.example/token", "registration_endpoint": REGISTER});
    all.as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "server_url": "https://mcp.example", "resource": "https://mcp.example", "resource_metadata": null, "metadata": all,
    }))
    .unwrap()
}

fn register(web: &mut Web, settings: &OAuthSettings, metadata: &Value) -> Result<ClientInformation, Error> {
    web.drive(&mut Registration::new(&discovered(metadata), settings, None))
}

/// Registers at a server that accepts the client. Returns the document that the client sent.
fn registered_document(settings: &OAuthSettings, metadata: &Value) -> Value {
    let mut web = Web::new().with_status(REGISTER, 201, r#"{"client_id":"a"}"#);
    register(&mut web, settings, metadata).unwrap();
    json(&web.asked[0])
}

/// Registers at a server that gives this answer.
fn answered(status: u16, body: &str) -> Result<ClientInformation, Error> {
    register(&mut Web::new().with_status(REGISTER, status, body), &settings(), &json!({}))
}

/// Returns the client that needs no request at a server that takes metadata documents.
fn known(settings: &OAuthSettings, stored: Option<ClientInformation>) -> Result<ClientInformation, Error> {
    let metadata = json!({"client_id_metadata_document_supported": true});
    let mut web = Web::new();
    let client = web.drive(&mut Registration::new(&discovered(&metadata), settings, stored));
    assert!(web.asked.is_empty());
    client
}

/// Registers although an earlier registration is stored. Returns the client and the number of registration requests.
fn register_again(stored: ClientInformation, settings: &OAuthSettings) -> (Result<ClientInformation, Error>, usize) {
    let mut web = Web::new().with_status(REGISTER, 201, r#"{"client_id":"new"}"#);
    let client = web.drive(&mut Registration::new(&discovered(&json!({})), settings, Some(stored)));
    (client, web.asked.len())
}

fn stored() -> ClientInformation {
    ClientInformation::new(ClientSource::Registered, "stored", ISSUER, REDIRECT, NOW)
}

fn failure(result: Result<ClientInformation, Error>) -> (ErrorKind, String) {
    assert_eq!(result.as_ref().unwrap_err().step(), Step::Registration);
    crate::testing::failure(result)
}

#[test]
fn r1_the_client_of_the_settings_comes_first() {
    let settings = settings()
        .client_id("mine")
        .client_secret(Secret::new("s"))
        .client_issuer(ISSUER)
        .client_metadata_url(DOCUMENT);
    let client = known(&settings, None).unwrap();
    assert_eq!((client.source, &*client.client_id, &*client.issuer), (ClientSource::PreRegistered, "mine", ISSUER));
    assert_eq!(client.client_secret, Some(Secret::new("s")), "r6");
}

#[test]
fn r2_r12_the_metadata_document_comes_before_registration_and_is_valid_at_every_authorization_server() {
    let old = ClientInformation::new(ClientSource::MetadataDocument, DOCUMENT, "https://old.example", REDIRECT, NOW);
    for stored in [None, Some(old)] {
        let client = known(&settings().client_metadata_url(DOCUMENT), stored).unwrap();
        let found = (client.source, &*client.client_id, &*client.issuer);
        assert_eq!(found, (ClientSource::MetadataDocument, DOCUMENT, ISSUER));
    }
}

#[test]
fn r5_without_support_for_metadata_documents_the_client_registers() {
    let mut web = Web::new().with_status(REGISTER, 201, r#"{"client_id":"new"}"#);
    let client = register(&mut web, &settings().client_metadata_url(DOCUMENT), &json!({})).unwrap();
    assert_eq!((client.source, &*client.client_id), (ClientSource::Registered, "new"));
}

#[test]
fn r3_the_url_of_a_metadata_document_is_https_with_a_path() {
    for url in [
        "http://127.0.0.1/c",
        "https://app.example",
        "https://app.example/",
        "https://a.example/c#x",
        "https://a.example/./c",
        "c",
    ] {
        let settings = settings().client_metadata_url(url);
        assert_eq!(failure(known(&settings, None)).0, ErrorKind::Misconfigured, "{url}");
        assert!(client_metadata_document(&settings, &[REDIRECT]).is_err(), "{url}");
    }
    assert!(client_metadata_document(&settings(), &[]).is_err());
}

#[test]
fn r3_o20_the_metadata_document_is_small_and_names_its_own_url_and_all_redirect_uris() {
    let settings = settings().client_metadata_url(DOCUMENT).client_uri("https://app.example");
    let document = client_metadata_document(&settings, &[REDIRECT, "http://localhost/callback"]).unwrap();
    assert!(document.len() < 1024, "some authorization servers read no more than 5 KB");
    assert_eq!(
        serde_json::from_str::<Value>(&document).unwrap(),
        json!({
            "client_id": DOCUMENT, "client_name": "Test", "client_uri": "https://app.example",
            "redirect_uris": [REDIRECT, "http://localhost/callback"],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none", "application_type": "native",
        })
    );
}

#[test]
fn r7_the_client_registers_and_keeps_the_answer() {
    let answer = r#"{"client_id":"new","client_secret":"s3cret","client_secret_expires_at":1800000100,"client_name":"x",
        "token_endpoint_auth_method":"client_secret_post","registration_access_token":"t0ken","registration_client_uri":"https://as.example/c/new"}"#;
    let mut web = Web::new().with_status(REGISTER, 201, answer);
    let client = register(&mut web, &settings(), &json!({})).unwrap();
    assert_eq!(
        json(&web.asked[0]),
        json!({
            "client_name": "Test", "redirect_uris": [REDIRECT], "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"], "token_endpoint_auth_method": "none", "application_type": "native",
        })
    );
    let headers: Vec<_> = web.asked[0].headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(headers, [("accept", "application/json"), ("content-type", "application/json")]);

    // o10: the registration is complete after it was stored and loaded again.
    let stored: ClientInformation = serde_json::from_str(&serde_json::to_string(&client).unwrap()).unwrap();
    assert_eq!(stored, client);
    assert_eq!(stored.client_secret, Some(Secret::new("s3cret")));
    assert_eq!(stored.client_secret_expires_at, Some(UnixTime::from_secs(1_800_000_100)));
    assert_eq!(stored.auth_method, Some(AuthMethod::ClientSecretPost));
    assert_eq!(stored.registration_access_token, Some(Secret::new("t0ken")));
    assert_eq!(stored.registration_client_uri.as_deref(), Some("https://as.example/c/new"));
    let debug = alloc::format!("{client:?}");
    assert!(!debug.contains("s3cret") && !debug.contains("t0ken"), "{debug}");
}

#[test]
fn r8_the_application_type_follows_from_the_redirect_uri() {
    for (uri, application_type) in
        [("http://localhost:1/cb", "native"), ("https://app.example/cb", "web"), ("http://[::1]/", "native")]
    {
        let document = registered_document(&OAuthSettings::new("Test", uri), &json!({}));
        assert_eq!(document["application_type"], application_type, "{uri}");
    }
}

#[test]
fn r9_a_refused_redirect_uri_is_an_error_that_says_what_to_configure() {
    let body = r#"{"error":"invalid_redirect_uri","error_description":"only localhost"}"#;
    let (kind, text) = failure(answered(400, body));
    assert_eq!(kind, ErrorKind::Refused);
    for part in [REDIRECT, "invalid_redirect_uri", "only localhost", "400", "configure another host"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn r10_a_registration_is_used_for_its_own_issuer_only() {
    let other = ClientInformation { issuer: "https://old.example".to_string(), ..stored() };
    let (client, requests) = register_again(other, &settings());
    assert_eq!((&*client.unwrap().client_id, requests), ("new", 1));
}

#[test]
fn r11_a_client_of_another_authorization_server_is_an_error() {
    let settings = settings().client_id("mine");
    let named = settings.clone().client_issuer("https://old.example");
    let (kind, text) = failure(register(&mut Web::new(), &named, &json!({})));
    assert_eq!(kind, ErrorKind::Misconfigured);
    assert!(text.contains("https://old.example") && text.contains(ISSUER), "{text}");
    assert!(register(&mut Web::new(), &settings.clone().client_issuer(ISSUER), &json!({})).is_ok());

    // Without that setting, the client belongs to the authorization server of its first login.
    let mut used = ClientInformation::new(ClientSource::PreRegistered, "mine", "https://old.example", REDIRECT, NOW);
    assert_eq!(failure(register_again(used.clone(), &settings).0).0, ErrorKind::Misconfigured);
    used.client_id = "another".to_string();
    assert!(register_again(used, &settings).0.is_ok());
}

#[test]
fn r13_the_client_asks_for_refresh_tokens() {
    let document = registered_document(&settings(), &json!({"grant_types_supported": ["authorization_code"]}));
    assert_eq!(document["grant_types"], json!(["authorization_code", "refresh_token"]));
}

#[test]
fn r1_without_any_way_the_user_must_supply_a_client_identifier() {
    let (kind, text) = failure(register(&mut Web::new(), &settings(), &json!({"registration_endpoint": null})));
    assert_eq!(kind, ErrorKind::ClientIdRequired);
    assert!(text.contains(ISSUER) && text.contains("client's identifier"), "{text}");
    for status in [401, 403, 404, 405] {
        assert_eq!(failure(answered(status, "")).0, ErrorKind::ClientIdRequired);
    }
}

#[test]
fn z3_a_redirect_uri_must_be_https_or_of_this_machine() {
    for uri in ["http://app.example/cb", "myapp:/cb", "https://app.example/#x", ""] {
        let settings = OAuthSettings::new("Test", uri).client_id("mine");
        assert_eq!(failure(register(&mut Web::new(), &settings, &json!({}))).0, ErrorKind::Misconfigured, "{uri}");
    }
}

#[test]
fn o9_a_stored_registration_is_used_again() {
    let (client, requests) = register_again(stored(), &settings());
    assert_eq!((client.unwrap(), requests), (stored(), 0));
}

#[test]
fn o10_a_registration_whose_secret_has_expired_is_replaced() {
    let with_end = |end| ClientInformation { client_secret_expires_at: Some(UnixTime::from_secs(end)), ..stored() };
    assert_eq!(register_again(with_end(NOW.as_secs() + 1), &settings()).1, 0);
    assert_eq!(register_again(with_end(NOW.as_secs()), &settings()).1, 1);

    let client = answered(201, r#"{"client_id":"a","client_secret":"","client_secret_expires_at":0}"#).unwrap();
    assert_eq!((client.client_secret, client.client_secret_expires_at), (None, None), "0 means never");
}

#[test]
fn o12_a_registration_of_another_redirect_uri_is_not_used() {
    for uri in ["http://127.0.0.1:3001/callback", "http://localhost:3000/callback", "http://127.0.0.1:3000/cb"] {
        let (client, requests) = register_again(stored(), &OAuthSettings::new("Test", uri));
        assert_eq!((&*client.unwrap().redirect_uri, requests), (uri, 1));
    }
}

#[test]
fn o13_the_redirect_uri_of_the_settings_is_registered_as_it_is() {
    let uri = "http://localhost:8917/oauth/slack/";
    let mut web = Web::new().with_status(REGISTER, 201, r#"{"client_id":"a"}"#);
    let client = register(&mut web, &OAuthSettings::new("Test", uri), &json!({})).unwrap();
    assert_eq!((&*client.redirect_uri, &json(&web.asked[0])["redirect_uris"]), (uri, &json!([uri])));
}

#[test]
fn o14_the_device_grant_is_asked_for_where_it_is_supported() {
    let metadata = json!({"device_authorization_endpoint": "https://as.example/device"});
    for (wanted, metadata, grants) in [(true, &metadata, 3), (false, &metadata, 2), (true, &json!({}), 2)] {
        let document = registered_document(&settings().device_grant(wanted), metadata);
        let sent = document["grant_types"].as_array().unwrap();
        assert_eq!(sent.len(), grants);
        assert_eq!(sent.contains(&DEVICE_CODE.into()), grants == 3);
    }
}

#[test]
fn dp7_the_registration_says_that_tokens_are_bound_to_a_key() {
    let document = registered_document(&settings().dpop_bound_tokens(true), &json!({}));
    assert_eq!(document["dpop_bound_access_tokens"], true);
}

#[test]
fn r9_a_registration_that_wants_too_much_is_repeated_once_with_less() {
    let metadata = json!({"device_authorization_endpoint": "https://as.example/device", "grant_types_supported": ["authorization_code"]});
    let refusal = r#"{"error":"invalid_client_metadata"}"#;
    let mut web = Web::new().with_status(REGISTER, 400, refusal).with_status(REGISTER, 201, r#"{"client_id":"a"}"#);
    let settings = settings().device_grant(true).client_uri("https://app.example");
    register(&mut web, &settings, &metadata).unwrap();
    let second = json(&web.asked[1]);
    assert_eq!((&second["grant_types"], second.get("client_uri")), (&json!(["authorization_code"]), None));

    let mut web = Web::new().with_status(REGISTER, 400, refusal);
    let metadata = json!({"grant_types_supported": ["x"], "token_endpoint_auth_methods_supported": ["none"]});
    let (kind, text) = failure(register(&mut web, &settings, &metadata));
    assert_eq!((kind, web.asked.len()), (ErrorKind::Refused, 2));
    assert!(text.contains("invalid_client_metadata"), "{text}");
    assert_eq!(json(&web.asked[1])["grant_types"], json!(["authorization_code"]));

    let mut web = Web::new().with_status(REGISTER, 400, refusal);
    let metadata = json!({"token_endpoint_auth_methods_supported": ["none"]});
    failure(register(&mut web, &OAuthSettings::new("Test", REDIRECT), &metadata));
    assert_eq!(web.asked.len(), 1, "there is nothing to leave out");
}

/// Returns the registration methods that a client tries in turn. The server lists the methods `supported`, and refuses
/// the first `refused` requests.
fn registered_methods(supported: &Value, settings: &OAuthSettings, refused: usize) -> Vec<String> {
    let mut web = Web::new();
    for _ in 0..refused {
        web = web.with_status(REGISTER, 400, r#"{"error":"invalid_client_metadata"}"#);
    }
    web = web.with_status(REGISTER, 201, r#"{"client_id":"a"}"#);
    register(&mut web, settings, &json!({"token_endpoint_auth_methods_supported": supported})).unwrap();
    let method = |request| json(request)["token_endpoint_auth_method"].as_str().unwrap().to_string();
    web.asked.iter().map(method).collect()
}

#[test]
fn a_program_of_a_user_registers_as_a_public_client_whatever_the_server_lists() {
    for supported in [
        json!(null),
        json!(["client_secret_basic", "none"]),
        json!(["client_secret_post", "client_secret_basic"]),
        json!(["tls_client_auth"]),
        json!([]),
    ] {
        assert_eq!(registered_methods(&supported, &settings(), 0), ["none"], "{supported}");
    }
}

#[test]
fn a_server_that_refuses_public_clients_gets_the_first_method_of_its_list() {
    for (supported, method) in [
        (json!(["client_secret_post", "client_secret_basic"]), "client_secret_post"),
        (json!(["private_key_jwt", "client_secret_basic", "client_secret_post"]), "client_secret_basic"),
        (json!(["none", "client_secret_post"]), "client_secret_post"),
        (json!(null), "client_secret_basic"),
    ] {
        assert_eq!(registered_methods(&supported, &settings(), 1), ["none", method], "{supported}");
    }
}

#[test]
fn a_refusal_is_answered_by_the_likelier_cause_first_and_by_both_at_last() {
    let settings = settings().dpop_bound_tokens(true);
    let refused = |supported: &[&str]| registered_methods(&json!(supported), &settings, 2);
    assert_eq!(refused(&["client_secret_post"]), ["none", "client_secret_post", "client_secret_post"]);
    assert_eq!(refused(&["none", "client_secret_post"]), ["none", "none", "client_secret_post"]);
}

#[test]
fn the_method_of_the_settings_is_registered() {
    let supported = json!(["none", "client_secret_basic", "client_secret_post"]);
    let settings = settings().auth_method(AuthMethod::ClientSecretPost);
    assert_eq!(registered_methods(&supported, &settings, 0), ["client_secret_post"]);
    let settings = settings.client_id("mine").client_secret(Secret::new("s")).client_issuer(ISSUER);
    let client = known(&settings, None).unwrap();
    assert_eq!(client.auth_method, Some(AuthMethod::ClientSecretPost));
}

#[test]
fn a_client_authenticates_as_the_server_has_registered_it() {
    let endpoint =
        discovered(&json!({"token_endpoint_auth_methods_supported": ["client_secret_post"]})).token_endpoint();
    for (answer, method) in [
        (
            r#"{"client_id":"a","client_secret":"s","token_endpoint_auth_method":"client_secret_basic"}"#,
            "client_secret_basic",
        ),
        (r#"{"client_id":"a","client_secret":"s"}"#, "client_secret_post"),
        (r#"{"client_id":"a","client_secret":"s","token_endpoint_auth_method":"none"}"#, "none"),
        (r#"{"client_id":"a","token_endpoint_auth_method":"client_secret_basic"}"#, "none"),
    ] {
        let client = answered(201, answer).unwrap();
        assert_eq!(client.authentication(&endpoint, None).unwrap().method().name(), method, "{answer}");
    }
}

#[test]
fn o4_failures_that_may_pass_are_temporary() {
    for status in [429, 500, 503] {
        let (kind, text) = failure(answered(status, ""));
        assert_eq!(kind, ErrorKind::Temporary);
        assert!(text.contains(REGISTER) && text.contains(&status.to_string()), "{text}");
    }
    assert_eq!(failure(answered(201, "<html>")).0, ErrorKind::Temporary);
    assert!(failure(answered(200, &" ".repeat(Request::MAX_RESPONSE + 1))).1.contains("larger than 64 KiB"));
    let mut web = Web::new().with_failure(REGISTER, FetchError::Failed("timeout".to_string()));
    assert_eq!(failure(register(&mut web, &settings(), &json!({}))).0, ErrorKind::Temporary);
}

#[test]
fn answers_without_a_client_are_errors() {
    for (status, body, kind) in [
        (200, "{}", ErrorKind::Misconfigured),
        (200, r#"{"client_id":""}"#, ErrorKind::Misconfigured),
        (200, r#"{"error":"invalid_redirect_uri"}"#, ErrorKind::Refused),
        (301, "", ErrorKind::Misconfigured),
        (302, "", ErrorKind::Misconfigured),
        (303, "", ErrorKind::Misconfigured),
        (307, "", ErrorKind::Misconfigured),
        (308, "", ErrorKind::Misconfigured),
        (400, r#"{"error":"invalid_software_statement"}"#, ErrorKind::Refused),
        (400, "[", ErrorKind::Refused),
    ] {
        assert_eq!(failure(answered(status, body)).0, kind, "{status} {body}");
    }
}

#[test]
fn o12_a_registration_with_other_redirect_uris_is_an_error_before_the_user_sees_a_page() {
    let answer = |uris: Value| answered(201, &json!({"client_id": "c", "redirect_uris": uris}).to_string());
    for uris in [
        json!([REDIRECT]),
        json!(["https://other.example", REDIRECT]),
        json!(["http://127.0.0.1/callback"]),
        json!(["http://127.0.0.1:1/callback"]),
        json!([]),
        json!(null),
        json!("a text"),
        json!([7]),
    ] {
        assert_eq!(answer(uris.clone()).unwrap().redirect_uri, REDIRECT, "{uris}");
    }
    for uri in [
        "https://evil.example/callback",
        "http://127.0.0.1:3000/other",
        "http://localhost:3000/callback",
        "http://evil.example:3000/callback",
        "",
    ] {
        let (kind, text) = failure(answer(json!([uri])));
        assert!(kind == ErrorKind::Refused && text.contains("other redirect URIs"), "{uri}: {text}");
    }
}

#[test]
fn an_input_that_was_not_asked_for_is_an_error() {
    let mut flow = Registration::new(&discovered(&json!({})), &settings(), None);
    assert!(flow.resume(Input::Signature(Vec::new()), NOW).is_err());
    assert!(flow.start(NOW).is_err(), "the flow has ended");
}
