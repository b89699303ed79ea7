use alloc::format;
use alloc::string::ToString;
use std::println;

use super::*;
use crate::testing::NOW;
use crate::{ClientInformation, ClientSource, Scopes, TokenEndpoint};

const ISSUER: &str = "https://as.example";
const REDIRECT: &str = "http://127.0.0.1:3000/callback";
const ISS: &str = "iss=https%3A%2F%2Fas.example";

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

/// Returns the kind and the text of the error that the login must fail with.
fn failure(result: Result<Secret, Error>) -> (ErrorKind, String) {
    let error = result.unwrap_err();
    println!("{error}");
    (error.kind(), error.to_string())
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
fn z2_a_response_with_another_state_is_discarded() {
    for query in ["code=c0de", "code=c0de&state=", "code=c0de&state=st-2", "code=c0de&state=ST-1", "error=secret-error"]
    {
        let (kind, text) = failure(read(&attempt(), query));
        assert_eq!(kind, ErrorKind::Untrusted);
        assert!(!text.contains("secret-error") && !text.contains("c0de"), "{text}");
        assert!(!attempt().is_response(&format!("{REDIRECT}?{query}")));
    }
}

#[test]
fn z2_a_parameter_that_is_there_twice_is_refused() {
    for query in ["code=c0de&state=st-1&state=st-1", "code=c0de&code=x&state=st-1", "error=a&error=b&state=st-1"] {
        assert_eq!(failure(read(&attempt(), query)).0, ErrorKind::Untrusted, "{query}");
    }
    let twice = format!("code=c0de&state=st-1&{ISS}&iss=https%3A%2F%2Fevil.example");
    assert_eq!(failure(read(&attempt(), &twice)).0, ErrorKind::Untrusted);
}

#[test]
fn z12_the_issuer_is_compared_whether_it_was_announced_or_not() {
    for attempt in [attempt(), with_iss()] {
        assert_eq!(read(&attempt, &format!("code=c0de&state=st-1&{ISS}")), Ok(code()));
        let other = failure(read(&attempt, "code=c0de&state=st-1&iss=https://evil.example"));
        assert_eq!(other.0, ErrorKind::Untrusted);
        assert_eq!(failure(read(&attempt, "code=c0de&state=st-1&iss=")).0, ErrorKind::Untrusted);
    }
}

#[test]
fn z12_a_missing_issuer_is_accepted_only_if_it_was_not_announced() {
    assert_eq!(read(&attempt(), "code=c0de&state=st-1"), Ok(code()));
    let (kind, text) = failure(read(&with_iss(), "code=c0de&state=st-1"));
    assert_eq!(kind, ErrorKind::Untrusted);
    assert!(text.contains("`iss`"), "{text}");
}

#[test]
fn z13_the_issuer_is_not_normalized() {
    for issuer in [
        "https://as.example/",
        "https://AS.example",
        "https://as.example:443",
        "https://as%2Eexample",
        "HTTPS://as.example",
    ] {
        let query = Form::new().with("code", "c0de").with("state", "st-1").with("iss", issuer).into_string();
        assert_eq!(failure(read(&attempt(), &query)).0, ErrorKind::Untrusted, "{issuer}");
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
    let token = login.stored_token(resource, crate::testing::issued("at"), None);
    assert!(token.belongs_to(resource, ISSUER) && !token.no_resource_on_refresh);
    assert_eq!((token.client_id.as_deref(), token.scopes().to_string().as_str()), (Some("c"), "a b"));
    login.resource = None;
    let next = login.stored_token(resource, crate::testing::issued("at"), Some(&token));
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
    let strict = OAuthSettings::new("Test", "http://127.0.0.1:1/");
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
