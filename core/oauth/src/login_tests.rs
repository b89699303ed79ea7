use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::*;
use crate::encoding;
use crate::login_attempt::{MAX_LOGIN_URL, pkce_challenge};
use crate::testing::parameters;
use crate::testing::{NOW, Web};
use crate::{AuthMethod, Discovery, ProtectedResourceMetadata, Request, StepUpLimit};

const SERVER: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://as.example";
const REDIRECT: &str = "http://127.0.0.1:3000/callback";

fn settings() -> OAuthSettings {
    OAuthSettings::new("Test", REDIRECT)
}

/// Simulates an MCP server and its authorization server, to whose metadata the members of `metadata` are added.
fn web(metadata: &Value) -> Web {
    let resource =
        json!({"resource": SERVER, "authorization_servers": [ISSUER], "scopes_supported": ["read", "write"]});
    let mut all = json!({
        "issuer": ISSUER, "authorization_endpoint": "https://as.example/authorize?tenant=1", "token_endpoint": "https://as.example/token",
        "registration_endpoint": "https://as.example/register", "code_challenge_methods_supported": ["S256"],
    });
    all.as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
    Web::new()
        .with("https://mcp.example/.well-known/oauth-protected-resource/mcp", &resource.to_string())
        .with("https://as.example/.well-known/oauth-authorization-server", &all.to_string())
        .with_status("https://as.example/register", 201, r#"{"client_id":"c 1"}"#)
        .with("https://as.example/token", r#"{"access_token":"t0ken","token_type":"bearer"}"#)
}

fn discover(web: &mut Web, settings: &OAuthSettings) -> Discovered {
    web.drive(&mut Discovery::new(SERVER, None, settings)).unwrap()
}

fn login(web: &mut Web, settings: &OAuthSettings) -> Result<LoginStarted, Error> {
    let discovered = discover(web, settings);
    web.drive(&mut Login::new(discovered, settings.clone(), None, Entropy::new([7; 32])))
}

fn query(url: &str) -> Vec<(String, String)> {
    encoding::decode(url.split_once('?').unwrap().1).collect()
}

fn value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

fn last(web: &Web) -> &Request {
    web.asked.last().unwrap()
}

#[test]
fn a13_a_user_logs_in() {
    let mut web = web(&json!({"authorization_response_iss_parameter_supported": true}));
    let started = login(&mut web, &settings()).unwrap();
    let sent = query(&started.url);
    assert!(started.url.starts_with("https://as.example/authorize?tenant=1&response_type=code&"), "{}", started.url);
    let state = value(&sent, "state").unwrap();
    for (name, expected) in [
        ("client_id", "c 1"),
        ("redirect_uri", REDIRECT),
        ("scope", "read write"),
        ("resource", SERVER),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(value(&sent, name), Some(expected));
    }
    assert_eq!(value(&sent, "code_challenge").unwrap(), pkce_challenge(started.attempt.verifier.expose()));
    assert!(!started.url.contains(started.attempt.verifier.expose()));

    let callback = format!("{REDIRECT}?code=c0de&state={state}&iss=https%3A%2F%2Fas.example");
    let mut finish = started.attempt.finish(&callback, None, Entropy::new([8; 32])).unwrap();
    let token = web.drive(&mut finish).unwrap();
    assert_eq!(token.access_token.expose(), "t0ken");
    let sent = parameters(last(&web));
    for (name, expected) in [
        ("grant_type", "authorization_code"),
        ("code", "c0de"),
        ("redirect_uri", REDIRECT),
        ("client_id", "c 1"),
        ("resource", SERVER),
        ("code_verifier", started.attempt.verifier.expose()),
    ] {
        assert_eq!(sent[name], expected);
    }
}

#[test]
fn z11_a_login_is_finished_after_a_restart_with_what_was_recorded() {
    let mut web = web(
        &json!({"authorization_response_iss_parameter_supported": true, "token_endpoint_auth_methods_supported": ["none"]}),
    );
    let attempt = login(&mut web, &settings()).unwrap().attempt;
    let stored = serde_json::to_string(&attempt).unwrap();
    let restored: LoginAttempt = serde_json::from_str(&stored).unwrap();
    assert_eq!(restored, attempt);
    assert_eq!((&*restored.endpoint.issuer, restored.requires_iss, restored.made_at), (ISSUER, true, NOW));
    let callback = format!("{REDIRECT}?code=c0de&state={}", attempt.state.expose());
    let error = restored.finish(&callback, None, Entropy::new([8; 32])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Untrusted, "the response has no `iss`");
    let mut finish = restored.finish(&(callback + "&iss=" + ISSUER), None, Entropy::new([8; 32])).unwrap();
    web.drive(&mut finish).unwrap();
    assert_eq!(last(&web).url, "https://as.example/token");
}

#[test]
fn t4_debug_shows_no_secrets() {
    let started = login(&mut web(&json!({})), &settings()).unwrap();
    let debug = format!("{:?}", started.attempt);
    assert!(
        !debug.contains(started.attempt.verifier.expose()) && !debug.contains(started.attempt.state.expose()),
        "{debug}"
    );
}

#[test]
fn z2_each_login_has_a_state_and_a_verifier_of_its_own() {
    let mut web = web(&json!({}));
    let discovered = discover(&mut web, &settings());
    let mut new = |seed| {
        web.drive(&mut Login::new(discovered.clone(), settings(), None, Entropy::new([seed; 32]))).unwrap().attempt
    };
    let (one, other) = (new(1), new(2));
    assert_ne!(one.state, other.state);
    assert_ne!(one.verifier, other.verifier);
    assert_ne!(one.state.expose(), one.verifier.expose());
    assert!(one.verifier.expose().len() >= 43, "RFC 7636, section 4.1");
}

#[test]
fn z1_a_login_without_pkce_is_refused_before_the_client_registers() {
    let mut web = web(&json!({"code_challenge_methods_supported": null}));
    let error = login(&mut web, &settings()).unwrap_err();
    assert_eq!((error.kind(), error.step()), (ErrorKind::Misconfigured, Step::Authorization));
    assert!(error.to_string().contains("`assume_pkce`"), "{error}");
    assert_eq!(web.asked.len(), 2);
    let started = login(&mut web, &settings().assume_pkce(true)).unwrap();
    assert_eq!(value(&query(&started.url), "code_challenge_method"), Some("S256"), "it is used in any case");
}

#[test]
fn z5_the_resource_is_that_of_the_metadata_unless_the_settings_leave_it_out() {
    for omitted in [false, true] {
        let mut web = web(&json!({}));
        let started = login(&mut web, &settings().omit_resource(omitted)).unwrap();
        assert_eq!(value(&query(&started.url), "resource"), (!omitted).then_some(SERVER));
        let callback = format!("/callback?code=c&state={}", started.attempt.state.expose());
        web.drive(&mut started.attempt.finish(&callback, None, Entropy::new([8; 32])).unwrap()).unwrap();
        assert_eq!(parameters(last(&web)).contains_key("resource"), !omitted);
    }
}

#[test]
fn z7_without_scopes_no_parameter_is_sent() {
    let settings = settings();
    let mut web = web(&json!({"scopes_supported": ["offline_access"]}));
    let mut discovered = discover(&mut web, &settings);
    discovered.resource_metadata = None;
    let started = web.drive(&mut Login::new(discovered, settings, None, Entropy::new([7; 32]))).unwrap();
    assert_eq!(value(&query(&started.url), "scope"), None);
}

#[test]
fn z9_the_user_can_ask_for_fewer_scopes() {
    let started = login(&mut web(&json!({})), &settings().scopes(Scopes::parse("read"))).unwrap();
    assert_eq!(value(&query(&started.url), "scope"), Some("read"));
}

#[test]
fn z10_offline_access_comes_with_consent() {
    let started = login(&mut web(&json!({"scopes_supported": ["offline_access"]})), &settings()).unwrap();
    let sent = query(&started.url);
    assert_eq!(value(&sent, "scope"), Some("read write offline_access"));
    assert_eq!(value(&sent, "prompt"), Some("consent"));
    let started = login(&mut web(&json!({})), &settings()).unwrap();
    assert_eq!(value(&query(&started.url), "prompt"), None);
}

#[test]
fn u3_a_step_up_asks_for_the_union_of_requested_and_challenged_scopes() {
    let mut web = web(&json!({}));
    let discovered = discover(&mut web, &settings());
    let challenge = BearerChallenge::parse([r#"Bearer error="insufficient_scope", scope="admin""#]);
    let mut flow = Login::new(discovered, settings(), None, Entropy::new([7; 32]))
        .challenge(challenge.as_ref())
        .requested_before(Some(Scopes::parse("read")));
    let started = web.drive(&mut flow).unwrap();
    assert_eq!(value(&query(&started.url), "scope"), Some("read admin"));
    assert_eq!(started.attempt.scopes, Scopes::parse("read admin"), "the next step-up adds to these");
}

#[test]
fn o17_a_server_that_always_wants_more_scopes_leads_to_three_logins() {
    let mut web = web(&json!({}));
    let discovered = discover(&mut web, &settings());
    let challenge = BearerChallenge::parse([r#"Bearer error="insufficient_scope", scope="admin""#]);
    let (mut limit, mut logins, mut requested) = (StepUpLimit::new(), 0, None);
    while limit.try_request(&discovered.resource, "tools/call delete") {
        let mut flow = Login::new(discovered.clone(), settings(), None, Entropy::new([logins; 32]))
            .challenge(challenge.as_ref())
            .requested_before(requested);
        requested = Some(web.drive(&mut flow).unwrap().attempt.scopes);
        logins += 1;
    }
    assert_eq!((logins, requested), (3, Some(Scopes::parse("admin"))));
}

#[test]
fn r10_the_client_registers_anew_when_the_server_moves_to_another_authorization_server() {
    let mut old = web(&json!({}));
    let client = login(&mut old, &settings()).unwrap().attempt.client;
    let (page, issuer) =
        (json!({"resource": SERVER, "authorization_servers": ["https://new.example"]}), "https://new.example");
    let metadata = json!({
        "issuer": issuer, "authorization_endpoint": "https://new.example/authorize", "token_endpoint": "https://new.example/token",
        "registration_endpoint": "https://new.example/register", "code_challenge_methods_supported": ["S256"],
    });
    let mut web = Web::new()
        .with("https://mcp.example/.well-known/oauth-protected-resource/mcp", &page.to_string())
        .with("https://new.example/.well-known/oauth-authorization-server", &metadata.to_string())
        .with_status("https://new.example/register", 201, r#"{"client_id":"c 2"}"#);
    let discovered = web.drive(&mut Discovery::new(SERVER, None, &settings()).prefer_issuer(&client.issuer)).unwrap();
    let mut flow = Login::new(discovered, settings(), Some(client), Entropy::new([7; 32]));
    let started = web.drive(&mut flow).unwrap();
    assert_eq!((&*started.attempt.client.client_id, &*started.attempt.client.issuer), ("c 2", issuer));
    assert!(!started.url.contains("c+1"), "a10: the old identifier is not shown to the new authorization server");
}

#[test]
fn o9_a_second_login_does_not_register_again() {
    let mut web = web(&json!({}));
    let client = login(&mut web, &settings()).unwrap().attempt.client;
    let before = web.asked.len();
    let discovered = discover(&mut web, &settings());
    let mut flow = Login::new(discovered, settings(), Some(client.clone()), Entropy::new([9; 32]));
    assert_eq!(web.drive(&mut flow).unwrap().attempt.client, client);
    assert_eq!(web.asked.len(), before + 2, "discovery alone");
}

#[test]
fn r4_a_client_with_a_metadata_document_can_sign_its_assertions() {
    let methods = json!(["private_key_jwt"]);
    let mut web =
        web(&json!({"client_id_metadata_document_supported": true, "token_endpoint_auth_methods_supported": methods}));
    let settings = settings().client_metadata_url("https://app.example/client.json");
    let attempt = login(&mut web, &settings).unwrap().attempt;
    let key = crate::client_authentication::ClientKey::new(crate::jose::SigningAlgorithm::Es256);
    let callback = format!("/callback?code=c&state={}", attempt.state.expose());
    web.drive(&mut attempt.finish(&callback, Some(&key), Entropy::new([8; 32])).unwrap()).unwrap();
    assert!(parameters(last(&web)).contains_key("client_assertion"));
    let authentication = attempt.client.authentication(&attempt.endpoint, Some(&key)).unwrap();
    assert_eq!(authentication.method(), AuthMethod::PrivateKeyJwt);
}

#[test]
fn an_authorization_server_without_a_login_is_an_error() {
    let mut web = web(&json!({"authorization_endpoint": null}));
    let error = login(&mut web, &settings()).unwrap_err();
    assert_eq!((error.kind(), error.step()), (ErrorKind::Misconfigured, Step::Authorization));
}

#[test]
fn an_authorization_endpoint_with_a_parameter_of_the_login_is_refused() {
    for endpoint in [
        "https://as.example/authorize?state=fixed",
        "https://as.example/authorize?a=b&%73tate=fixed",
        "https://as.example/authorize?client_id=other#top",
        "https://as.example/authorize?code_challenge=x",
        "https://as.example/authorize?redirect_uri=https%3A%2F%2Fevil.example",
    ] {
        let error = login(&mut web(&json!({"authorization_endpoint": endpoint})), &settings()).unwrap_err();
        assert_eq!((error.kind(), error.step()), (ErrorKind::Untrusted, Step::Authorization), "{endpoint}");
        assert!(error.to_string().contains("already"), "{error}");
    }
    let tenant = json!({"authorization_endpoint": "https://as.example/authorize?tenant=state#state=x"});
    assert!(login(&mut web(&tenant), &settings()).is_ok());
}

#[test]
fn a_prompt_of_the_authorization_endpoint_is_kept() {
    let metadata = json!({
        "authorization_endpoint": "https://as.example/authorize?prompt=login", "scopes_supported": ["offline_access"],
    });
    let sent = query(&login(&mut web(&metadata), &settings()).unwrap().url);
    let prompts: Vec<_> = sent.iter().filter(|(name, _)| name == "prompt").map(|(_, value)| &**value).collect();
    assert_eq!(prompts, ["login"]);
}

#[test]
fn a_login_whose_url_servers_would_not_read_is_an_error_that_says_why() {
    let scopes = |count: usize| (0..count).map(|number| format!("scope-{number:03}")).collect::<Vec<_>>().join(" ");
    let login = |count| login(&mut web(&json!({})), &settings().scopes(Scopes::parse(&scopes(count))));
    assert!(login(256).unwrap().url.len() < MAX_LOGIN_URL);
    let long: Vec<_> = (0..100).map(|number| format!("{number:0>100}")).collect();
    let long: Scopes = long.iter().map(String::as_str).collect();
    let error = self::login(&mut web(&json!({})), &settings().scopes(long)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    let text = error.to_string();
    assert!(
        text.contains("100 scopes") && text.contains("8192") && text.contains("`scopes`") && text.len() < 400,
        "{text}"
    );
}

#[test]
fn a_program_without_a_user_asks_for_the_scopes_of_the_settings_the_challenge_or_the_server() {
    let mut web = web(&json!({"scopes_supported": ["offline_access", "read"]}));
    let mut discovered = discover(&mut web, &settings());
    let (own, challenged) = (Scopes::parse("own"), Scopes::parse("offline_access one"));
    let select = |discovered: &Discovered, own, challenged| discovered.scopes_without_user(own, challenged).to_string();
    assert_eq!(select(&discovered, Some(&own), Some(&challenged)), "own");
    assert_eq!(select(&discovered, None, Some(&challenged)), "offline_access one");
    assert_eq!(select(&discovered, None, None), "read write");
    discovered.resource_metadata.as_mut().unwrap().scopes_supported = Some(Scopes::parse("a offline_access b"));
    assert_eq!(select(&discovered, None, None), "a b");
    discovered.resource_metadata = None;
    assert_eq!(select(&discovered, None, None), "");
}

/// Returns the scopes that a login requests. Each argument is a source of scopes; `""` means that the source names
/// none.
fn scopes_to_request(configured: &str, challenged: &str, before: &str, server: &str, known: &str) -> String {
    let scopes = |text: &str| Some(Scopes::parse(text)).filter(|scopes| !scopes.is_empty());
    let mut discovered = discover(&mut web(&json!({})), &settings());
    let document = ProtectedResourceMetadata { scopes_supported: scopes(server), ..Default::default() };
    discovered.resource_metadata = Some(document);
    discovered.metadata.scopes_supported = scopes(known);
    let mut settings = settings();
    settings.scopes = scopes(configured);
    discovered.scopes_to_request(&settings, scopes(challenged).as_ref(), scopes(before).as_ref()).to_string()
}

#[test]
fn z7_z9_z10_u3_the_scopes_of_a_login_come_from_settings_challenge_last_login_and_server() {
    for (name, [configured, challenged, before, server, known], expected) in [
        ("z7: the challenge comes before the scopes of the server", ["", "c", "", "s t", ""], "c"),
        ("z7: all scopes of the server", ["", "", "", "s t", ""], "s t"),
        ("z7: none", ["", "", "", "", ""], ""),
        ("z9: scopes of the settings replace those of the server", ["o", "", "", "s", ""], "o"),
        ("z9: but not those of the challenge", ["o", "c", "", "s", ""], "o c"),
        (
            "z10: the authorization server knows `offline_access`",
            ["", "", "", "s", "x offline_access"],
            "s offline_access",
        ),
        ("z10: it does not", ["", "", "", "s", "x"], "s"),
        ("z10: no `scope` stays none", ["", "", "", "", "x offline_access"], ""),
        ("u3: the scopes of the server are not assumed to be related", ["", "c", "a b", "s", ""], "a b c"),
        ("u3: without a challenge", ["", "", "a b", "s", ""], "a b s"),
    ] {
        assert_eq!(scopes_to_request(configured, challenged, before, server, known), expected, "{name}");
    }
}
