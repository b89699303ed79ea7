use super::*;
use crate::jose::tests::read;
use crate::testing::{
    ISSUER, NOW, RESOURCE, TOKEN_URL, dpop, endpoint, entropy, header, map, parameters, public_client, response, run,
    with_nonce,
};
use crate::{ClientKey, FetchError, Request, Secret, SigningAlgorithm, SubjectToken};
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use serde_json::json;

const TOKEN: &str = r#"{"access_token":"at","token_type":"Bearer"}"#;
const BOUND: &str = r#"{"access_token":"at","token_type":"DPoP"}"#;

fn request(grant: &Grant) -> TokenRequest {
    TokenRequest::new(endpoint(), public_client(), grant, entropy())
}

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

/// Runs a token request with these responses in turn. Returns the result and the requests that were sent.
fn sent(mut flow: TokenRequest, responses: Vec<Response>) -> (Result<TokenResponse, Error>, Vec<Request>) {
    let (mut responses, mut requests) = (responses.into_iter(), Vec::new());
    let result = run(&mut flow, NOW, |request| {
        requests.push(request);
        Input::Response(responses.next().expect("too many requests"))
    });
    (result, requests)
}

fn form(grant: &Grant) -> alloc::collections::BTreeMap<String, String> {
    let flow = request(grant).resource(Some(RESOURCE.into())).scopes(Scopes::parse("a b"));
    let (result, requests) = sent(flow, vec![response(200, TOKEN)]);
    result.unwrap();
    let request = &requests[0];
    assert_eq!((request.url.as_str(), requests.len()), (TOKEN_URL, 1));
    assert_eq!(header(request, "content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(header(request, "accept"), Some("application/json"));
    let mut form = parameters(request);
    assert_eq!(form.remove("client_id").as_deref(), Some("client-1"));
    assert_eq!(form.remove("resource").as_deref(), Some(RESOURCE), "z5: in every token request");
    assert_eq!(form.remove("scope").as_deref(), Some("a b"));
    form
}

#[test]
fn z5_each_grant_sends_its_parameters_and_the_resource() {
    let redirect_uri = "http://127.0.0.1:8080/cb";
    let code =
        Grant::AuthorizationCode { code: secret("c&1"), redirect_uri: redirect_uri.into(), verifier: secret("v") };
    let exchange = |subject| Grant::TokenExchange { subject, audience: ISSUER.into() };
    let id_jag = ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag");
    let exchanged = |kind| [id_jag, ("audience", ISSUER), ("subject_token", "s"), ("subject_token_type", kind)];
    for (grant, name, expected) in [
        (code, "authorization_code", &[("code", "c&1"), ("code_verifier", "v"), ("redirect_uri", redirect_uri)][..]),
        (Grant::RefreshToken(secret("r")), "refresh_token", &[("refresh_token", "r")]),
        (Grant::ClientCredentials, "client_credentials", &[]),
        (
            Grant::JwtBearer { assertion: secret("j.w.t") },
            "urn:ietf:params:oauth:grant-type:jwt-bearer",
            &[("assertion", "j.w.t")],
        ),
        (Grant::DeviceCode(secret("d")), "urn:ietf:params:oauth:grant-type:device_code", &[("device_code", "d")]),
        (
            exchange(SubjectToken::IdToken(secret("s"))),
            "urn:ietf:params:oauth:grant-type:token-exchange",
            &exchanged("urn:ietf:params:oauth:token-type:id_token"),
        ),
        (
            exchange(SubjectToken::RefreshToken(secret("s"))),
            "urn:ietf:params:oauth:grant-type:token-exchange",
            &exchanged("urn:ietf:params:oauth:token-type:refresh_token"),
        ),
    ] {
        assert_eq!(form(&grant), map(&[&[("grant_type", name)][..], expected].concat()));
    }
}

#[test]
fn t2_secrets_are_in_the_body_and_never_in_the_url_or_in_debug_output() {
    let client = ClientAuthentication::client_secret_post("c", secret("hidden"));
    let flow = TokenRequest::new(endpoint(), client, &Grant::RefreshToken(secret("hidden")), entropy());
    assert!(!format!("{flow:?}").contains("hidden"));
    let (_, requests) = sent(flow, vec![response(200, TOKEN)]);
    assert_eq!(requests[0].url, TOKEN_URL);
    assert!(!format!("{requests:?}").contains("hidden"));
}

#[test]
fn dp3_a_token_request_contains_a_proof() {
    for grant in [Grant::ClientCredentials, Grant::RefreshToken(secret("r"))] {
        let (result, requests) = sent(request(&grant).dpop(Some(dpop())), vec![response(200, BOUND)]);
        let token = result.unwrap();
        assert_eq!((token.token_type, token.dpop_key), (TokenType::Dpop, Some(dpop().key().thumbprint())));
        let (head, claims, signature) = read(header(&requests[0], "dpop").unwrap());
        assert_eq!((&head["typ"], signature), (&json!("dpop+jwt"), vec![2; 64]));
        assert_eq!((&claims["htm"], &claims["htu"]), (&json!("POST"), &json!(TOKEN_URL)));
        assert!(claims.get("ath").is_none() && claims.get("nonce").is_none());
    }
}

#[test]
fn dp4_a_request_that_was_refused_for_its_nonce_is_repeated_once_with_fresh_signatures() {
    let refusal = || with_nonce(response(400, r#"{"error":"use_dpop_nonce"}"#), "n1");
    let client = ClientAuthentication::private_key_jwt("c", ClientKey::new(SigningAlgorithm::Es256));
    let flow = || {
        TokenRequest::new(endpoint(), client.clone(), &Grant::ClientCredentials, entropy())
            .resource(Some(RESOURCE.into()))
            .dpop(Some(dpop()))
    };
    let (result, requests) = sent(flow(), vec![refusal(), response(200, BOUND)]);
    result.unwrap();
    let proofs: Vec<_> = requests.iter().map(|request| read(header(request, "dpop").unwrap()).1).collect();
    assert_eq!(proofs[1]["nonce"], "n1");
    assert_ne!(proofs[0]["jti"], proofs[1]["jti"]);
    let forms: Vec<_> = requests.iter().map(parameters).collect();
    assert_ne!(forms[0]["client_assertion"], forms[1]["client_assertion"], "an assertion is used once");
    assert_eq!(forms[0]["resource"], forms[1]["resource"]);

    let (result, requests) = sent(flow(), vec![refusal(), with_nonce(refusal(), "n2")]);
    assert_eq!((result.unwrap_err().kind(), requests.len()), (ErrorKind::Temporary, 2));
    let without = response(400, r#"{"error":"use_dpop_nonce"}"#);
    let (result, requests) = sent(flow(), vec![without]);
    assert_eq!((result.unwrap_err().code(), requests.len()), (Some("use_dpop_nonce"), 1), "nothing would change");
}

#[test]
fn dp4_nonces_of_successful_responses_are_kept_for_the_next_request() {
    let mut flow = request(&Grant::ClientCredentials).dpop(Some(dpop()));
    run(&mut flow, NOW, |_| Input::Response(with_nonce(response(200, BOUND), "n1"))).unwrap();
    let next = request(&Grant::ClientCredentials).dpop(flow.into_dpop());
    let (_, requests) = sent(next, vec![response(200, BOUND)]);
    assert_eq!(read(header(&requests[0], "dpop").unwrap()).1["nonce"], "n1");
}

#[test]
fn dp8_a_token_that_is_not_bound_is_never_taken_instead_of_a_bound_one() {
    let (result, _) = sent(request(&Grant::ClientCredentials).dpop(Some(dpop())), vec![response(200, TOKEN)]);
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    assert!(error.to_string().contains("not bound to the key"), "{error}");
    for (body, text) in [(BOUND, "does not use DPoP"), (r#"{"access_token":"a","token_type":"mac"}"#, "cannot be sent")]
    {
        let error = sent(request(&Grant::ClientCredentials), vec![response(200, body)]).0.unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn z4_tokens_are_requested_over_https_alone() {
    for url in ["http://auth.example.com/token", "ftp://auth.example.com/", "auth.example.com"] {
        let endpoint = TokenEndpoint::new(ISSUER, url);
        let mut flow = TokenRequest::new(endpoint, public_client(), &Grant::ClientCredentials, entropy());
        let error = flow.start(NOW).unwrap_err();
        assert!(error.to_string().contains("not an https URL"), "{error}");
    }
    let local = TokenEndpoint::new("http://localhost:9000", "http://localhost:9000/token");
    let mut flow = TokenRequest::new(local, public_client(), &Grant::ClientCredentials, entropy());
    assert!(flow.start(NOW).is_ok());
}

#[test]
fn inputs_that_the_flow_did_not_ask_for_are_errors_and_end_it() {
    let mut flow = request(&Grant::ClientCredentials);
    assert!(flow.resume(Input::Signature(vec![]), NOW).is_err(), "not started");
    assert!(flow.start(NOW).is_err(), "over");
    let mut flow = request(&Grant::ClientCredentials).dpop(Some(dpop()));
    flow.start(NOW).unwrap();
    let error = flow.resume(Input::Response(response(200, BOUND)), NOW).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misconfigured);
    let mut flow = request(&Grant::RefreshToken(secret("r")));
    flow.start(NOW).unwrap();
    let error = flow.resume(Input::FetchFailed(FetchError::Failed("timed out".into())), NOW).unwrap_err();
    assert_eq!((error.kind(), error.step()), (ErrorKind::Temporary, Step::Refresh));
    assert!(flow.resume(Input::FetchFailed(FetchError::TooLarge), NOW).is_err(), "over");
}
