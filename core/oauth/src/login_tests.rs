use alloc::string::ToString;

use serde_json::{Value, json};

use super::*;
use crate::testing::{NOW, REDIRECT, Web, failure, issued, parameters, settings};
use crate::{AuthMethod, ClientSource, Discovery, ProtectedResourceMetadata, Request, SigningAlgorithm};

const SERVER: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://as.example";
const ISS: &str = "iss=https%3A%2F%2Fas.example";

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

fn entropy() -> Entropy {
    Entropy::new([7; 32])
}

fn login(web: &mut Web, settings: &OAuthSettings) -> Result<LoginStarted, Error> {
    let discovered = discover(web, settings);
    web.drive(&mut Login::new(discovered, settings.clone(), None, entropy()))
}

/// Returns a parameter of the URL of a login.
fn parameter(started: &LoginStarted, name: &str) -> Option<String> {
    decode(started.url.split_once('?').unwrap().1).find(|(other, _)| other == name).map(|(_, value)| value)
}

/// Finishes a login with the code `c0de`. Returns the token request.
fn finish(web: &mut Web, attempt: &LoginAttempt, rest: &str, key: Option<&ClientKey>) -> Request {
    let callback = format!("/callback?code=c0de&state={}{rest}", attempt.state.expose());
    let token = web.drive(&mut attempt.finish(&callback, key, entropy()).unwrap()).unwrap();
    assert_eq!(token.access_token.expose(), "t0ken");
    web.asked.last().unwrap().clone()
}

#[test]
fn a13_a_user_logs_in() {
    let mut web = web(&json!({"authorization_response_iss_parameter_supported": true}));
    let started = login(&mut web, &settings()).unwrap();
    assert!(started.url.starts_with("https://as.example/authorize?tenant=1&response_type=code&"), "{}", started.url);
    for (name, expected) in [
        ("client_id", "c 1"),
        ("redirect_uri", REDIRECT),
        ("scope", "read write"),
        ("resource", SERVER),
        ("state", started.attempt.state.expose()),
        ("code_challenge", &pkce_challenge(started.attempt.verifier.expose())),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(parameter(&started, name).as_deref(), Some(expected));
    }
    assert!(!started.url.contains(started.attempt.verifier.expose()));
    let sent = parameters(&finish(&mut web, &started.attempt, &format!("&{ISS}"), None));
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
    let error = restored.finish(&callback, None, entropy()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Untrusted, "the response has no `iss`");
    assert_eq!(finish(&mut web, &restored, &format!("&iss={ISSUER}"), None).url, "https://as.example/token");
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
    assert_eq!(parameter(&started, "code_challenge_method").as_deref(), Some("S256"), "it is used in any case");
}

#[test]
fn z5_the_resource_is_that_of_the_metadata_unless_the_settings_leave_it_out() {
    for omitted in [false, true] {
        let mut web = web(&json!({}));
        let started = login(&mut web, &settings().omit_resource(omitted)).unwrap();
        assert_eq!(parameter(&started, "resource").as_deref(), (!omitted).then_some(SERVER));
        let request = finish(&mut web, &started.attempt, "", None);
        assert_eq!(parameters(&request).contains_key("resource"), !omitted);
    }
}

#[test]
fn z7_without_scopes_no_parameter_is_sent() {
    let settings = settings();
    let mut web = web(&json!({"scopes_supported": ["offline_access"]}));
    let mut discovered = discover(&mut web, &settings);
    discovered.resource_metadata = None;
    let started = web.drive(&mut Login::new(discovered, settings, None, entropy())).unwrap();
    assert_eq!(parameter(&started, "scope"), None);
}

#[test]
fn z10_offline_access_comes_with_consent() {
    let started = login(&mut web(&json!({"scopes_supported": ["offline_access"]})), &settings()).unwrap();
    assert_eq!(parameter(&started, "scope").as_deref(), Some("read write offline_access"));
    assert_eq!(parameter(&started, "prompt").as_deref(), Some("consent"));
    let started = login(&mut web(&json!({})), &settings()).unwrap();
    assert_eq!(parameter(&started, "prompt"), None);
}

#[test]
fn u3_a_step_up_asks_for_the_union_of_requested_and_challenged_scopes() {
    let mut web = web(&json!({}));
    let discovered = discover(&mut web, &settings());
    let challenge = BearerChallenge::parse([r#"Bearer error="insufficient_scope", scope="admin""#]);
    let mut flow = Login::new(discovered, settings(), None, entropy())
        .challenge(challenge.as_ref())
        .requested_before(Some(Scopes::parse("read")));
    let started = web.drive(&mut flow).unwrap();
    assert_eq!(parameter(&started, "scope").as_deref(), Some("read admin"));
    assert_eq!(started.attempt.scopes, Scopes::parse("read admin"), "the next step-up adds to these");
}

#[test]
fn r4_a_client_with_a_metadata_document_can_sign_its_assertions() {
    let methods = json!(["private_key_jwt"]);
    let mut web =
        web(&json!({"client_id_metadata_document_supported": true, "token_endpoint_auth_methods_supported": methods}));
    let settings = settings().client_metadata_url("https://app.example/client.json");
    let attempt = login(&mut web, &settings).unwrap().attempt;
    let key = ClientKey::new(SigningAlgorithm::Es256);
    assert!(parameters(&finish(&mut web, &attempt, "", Some(&key))).contains_key("client_assertion"));
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
    let url = login(&mut web(&metadata), &settings()).unwrap().url;
    assert!(url.contains("?prompt=login&") && url.matches("prompt=").count() == 1, "{url}");
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

/// A pending login whose responses are checked.
fn attempt() -> LoginAttempt {
    LoginAttempt {
        endpoint: TokenEndpoint::new(ISSUER, "https://as.example/token"),
        requires_iss: false,
        verifier: Secret::new("verifier"),
        state: Secret::new("st-1"),
        resource: Some("https://mcp.example".to_string()),
        scopes: Scopes::new(),
        redirect_uri: REDIRECT.to_string(),
        client: ClientInformation::new(ClientSource::Registered, "c", ISSUER, REDIRECT, NOW),
        made_at: NOW,
    }
}

fn with_iss() -> LoginAttempt {
    LoginAttempt { requires_iss: true, ..attempt() }
}

fn read(attempt: &LoginAttempt, query: &str) -> Result<Secret, Error> {
    attempt.read_callback(&format!("{REDIRECT}?{query}"))
}

fn code() -> Secret {
    Secret::new("c0de")
}

#[test]
fn o16_the_whole_address_is_read_as_it_was_received() {
    let attempt = with_iss();
    for address in [
        format!("{REDIRECT}?code=c0de&state=st-1&{ISS}"),
        format!("/callback?{ISS}&state=st-1&code=c0de"),
        format!(" \n{REDIRECT}?x=y&code=c0de&state=st-1&{ISS}#_=_\r\n"),
    ] {
        assert_eq!(attempt.read_callback(&address), Ok(code()), "{address}");
        assert!(attempt.is_response(&address));
    }
}

#[test]
fn o14_a_pasted_text_that_is_no_response_is_an_error_that_says_what_to_paste() {
    for address in ["", "c0de", REDIRECT, &"?".repeat(20_000)] {
        let (kind, text) = failure(attempt().read_callback(address));
        assert_eq!(kind, ErrorKind::Misconfigured);
        assert!(text.contains("copy the whole address"), "{text}");
        assert!(!attempt().is_response(address));
    }
}

#[test]
fn z2_z12_z13_a_response_counts_only_with_the_state_and_the_issuer_of_the_login() {
    let (any, announced) = (attempt(), with_iss());
    let evil = format!("code=c0de&state=st-1&{ISS}&iss=https%3A%2F%2Fevil.example");
    let right = format!("code=c0de&state=st-1&{ISS}");
    for (name, attempt, query, is_taken) in [
        ("no state", &any, "code=c0de", false),
        ("an empty state", &any, "code=c0de&state=", false),
        ("another state", &any, "code=c0de&state=st-2", false),
        ("a state in capitals", &any, "code=c0de&state=ST-1", false),
        ("an error without a state", &any, "error=secret-error", false),
        ("two states", &any, "code=c0de&state=st-1&state=st-1", false),
        ("two codes", &any, "code=c0de&code=x&state=st-1", false),
        ("two errors", &any, "error=a&error=b&state=st-1", false),
        ("two issuers", &any, &evil, false),
        ("the issuer, which was not announced", &any, &right, true),
        ("the issuer, which was announced", &announced, &right, true),
        ("no issuer, and none was announced", &any, "code=c0de&state=st-1", true),
        ("no issuer, and one was announced", &announced, "code=c0de&state=st-1", false),
        ("another issuer", &any, "code=c0de&state=st-1&iss=https://evil.example", false),
        ("another issuer than the announced", &announced, "code=c0de&state=st-1&iss=https://evil.example", false),
        ("an empty issuer", &any, "code=c0de&state=st-1&iss=", false),
        ("an empty issuer instead of the announced", &announced, "code=c0de&state=st-1&iss=", false),
        ("an issuer with a slash", &any, "code=c0de&state=st-1&iss=https://as.example/", false),
        ("an issuer in capitals", &any, "code=c0de&state=st-1&iss=https://AS.example", false),
        ("an issuer with a port", &any, "code=c0de&state=st-1&iss=https://as.example:443", false),
        ("an encoded issuer", &any, "code=c0de&state=st-1&iss=https://as%252Eexample", false),
        ("an issuer with a scheme in capitals", &any, "code=c0de&state=st-1&iss=HTTPS://as.example", false),
    ] {
        if is_taken {
            assert_eq!(read(attempt, query), Ok(code()), "{name}");
            continue;
        }
        let (kind, text) = failure(read(attempt, query));
        assert_eq!(kind, ErrorKind::Untrusted, "{name}");
        assert!(!text.contains("secret-error") && !text.contains("c0de"), "{name}: {text}");
        assert!(name != "no issuer, and one was announced" || text.contains("`iss`"), "{text}");
        let has_state = query.matches("state=st-1").count() == 1;
        assert_eq!(attempt.is_response(&format!("{REDIRECT}?{query}")), has_state, "{name}");
    }
}

#[test]
fn z14_an_error_of_another_issuer_is_not_shown() {
    let error = "error=access_denied&error_description=call+555-0100&error_uri=https%3A%2F%2Fevil.example&state=st-1";
    for (attempt, query) in [(attempt(), format!("{error}&iss=https://evil.example")), (with_iss(), error.to_string())]
    {
        let (kind, text) = failure(read(&attempt, &query));
        assert_eq!(kind, ErrorKind::Untrusted);
        assert!(!text.contains("555") && !text.contains("access_denied") && !text.contains("evil"), "{text}");
    }
}

#[test]
fn o21_an_error_response_names_the_reason_and_what_to_do() {
    for (error, kind, part) in [
        ("access_denied", ErrorKind::Refused, "refused"),
        ("temporarily_unavailable", ErrorKind::Temporary, "cannot answer now"),
        ("server_error", ErrorKind::Temporary, "cannot answer now"),
        ("login_required", ErrorKind::LoginRequired, "must log in"),
        ("invalid_target", ErrorKind::Misconfigured, "`omit_resource`"),
        ("invalid_scope", ErrorKind::Misconfigured, "`scopes`"),
        ("unauthorized_client", ErrorKind::Misconfigured, "refused the request"),
    ] {
        let query = format!("error={error}&error_description=the+%1B%5B31mreason&state=st-1&{ISS}");
        let (found, text) = failure(read(&attempt(), &query));
        assert_eq!(found, kind);
        for part in [part, error, "the reason", ISSUER] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let without = LoginAttempt { resource: None, ..attempt() };
    assert!(!failure(read(&without, "error=invalid_target&state=st-1")).1.contains("omit_resource"));
}

#[test]
fn a_response_without_code_and_error_is_an_error() {
    assert_eq!(failure(read(&attempt(), "state=st-1")).0, ErrorKind::Misconfigured);
    assert_eq!(failure(read(&attempt(), "state=st-1&code=")).0, ErrorKind::Misconfigured);
}

#[test]
fn o7_the_stored_token_remembers_scopes_client_and_that_the_resource_is_left_out() {
    let resource = "https://mcp.example";
    let mut login = attempt();
    login.scopes = Scopes::parse("a b");
    let token = login.stored_token(resource, issued("at"), None);
    assert!(token.belongs_to(resource, ISSUER) && !token.no_resource_on_refresh);
    assert_eq!((token.client_id.as_deref(), token.scopes().to_string().as_str()), (Some("c"), "a b"));
    login.resource = None;
    let next = login.stored_token(resource, issued("at"), Some(&token));
    assert!(next.belongs_to(resource, ISSUER) && next.no_resource_on_refresh);
    assert_eq!((token.generation, next.generation), (1, 2));
}

#[test]
fn the_challenge_is_that_of_rfc_7636() {
    assert_eq!(
        pkce_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    );
}

#[test]
fn z1_an_authorization_server_that_does_not_mention_pkce_is_refused() {
    let strict = settings();
    let assuming = strict.clone().assume_pkce(true);
    let with = |methods: Option<&[&str]>| AuthorizationServerMetadata {
        code_challenge_methods_supported: methods.map(|names| names.iter().map(ToString::to_string).collect()),
        ..AuthorizationServerMetadata::default()
    };
    for (methods, is_ok, is_ok_if_assumed) in [
        (Some(&["plain", "S256"][..]), true, true),
        (Some(&["plain"][..]), false, false),
        (Some(&[][..]), false, false),
        (None, false, true),
    ] {
        assert_eq!(check_pkce(&with(methods), &strict).is_ok(), is_ok, "{methods:?}");
        assert_eq!(check_pkce(&with(methods), &assuming).is_ok(), is_ok_if_assumed, "{methods:?}");
    }
    let error = check_pkce(&with(None), &strict).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    assert!(error.to_string().contains("`assume_pkce`"), "{error}");
}
