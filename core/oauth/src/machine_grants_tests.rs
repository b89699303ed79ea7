use super::*;
use crate::jose::tests::read;
use crate::jose::{signing_input, with_signature};
use crate::testing::{
    ISSUER, NOW, RESOURCE, TOKEN_URL, dpop, endpoint, entropy, header, map, parameters, public_client, response, run,
};
use crate::{ClientKey, Request, Response, SigningAlgorithm};
use alloc::format;
use serde_json::json;

const TOKEN: &str = r#"{"access_token":"at","token_type":"Bearer","expires_in":3600}"#;
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

fn client_with_key(client_id: &str) -> ClientAuthentication {
    ClientAuthentication::private_key_jwt(client_id, ClientKey::new(SigningAlgorithm::Es256))
}

/// Runs a flow with one response. Returns the result and the request that the flow sent.
fn send<F: Flow>(flow: &mut F, response: Response) -> (Result<F::Output, Error>, Request) {
    let (mut response, mut sent) = (Some(response), None);
    let result = run(flow, NOW, |request| {
        sent = Some(request);
        Input::Response(response.take().expect("too many requests"))
    });
    (result, sent.expect("no request"))
}

/// Returns the request for client credentials.
fn client_credentials(client: ClientAuthentication) -> Request {
    let scopes = Scopes::parse("mcp:read");
    let flow = TokenRequest::client_credentials(endpoint(), client, Some(RESOURCE.into()), scopes, entropy());
    let (result, request) = send(&mut flow.unwrap(), response(200, TOKEN));
    result.unwrap();
    request
}

#[test]
fn cc1_cc2_a_client_with_a_key_sends_an_assertion_the_resource_and_the_scopes() {
    let request = client_credentials(client_with_key("robot"));
    assert_eq!(header(&request, "dpop"), None);
    let mut form = parameters(&request);
    let (_, claims, signature) = read(&form.remove("client_assertion").unwrap());
    assert_eq!(signature, [1; 64], "signed with the client's key");
    assert_eq!(
        form,
        map(&[
            ("grant_type", "client_credentials"),
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("resource", RESOURCE),
            ("scope", "mcp:read"),
        ]),
        "no client_id"
    );
    assert_eq!([&claims["iss"], &claims["sub"], &claims["aud"]], ["robot", "robot", ISSUER]);
}

#[test]
fn cc1_cc2_a_client_with_a_secret_sends_it_and_a_public_client_is_an_error_before_anything_is_sent() {
    let request = client_credentials(ClientAuthentication::client_secret_basic("robot", secret("s")));
    assert_eq!(header(&request, "authorization"), Some("Basic cm9ib3Q6cw=="));
    let grant = ("grant_type", "client_credentials");
    let expected = [grant, ("client_id", "robot"), ("resource", RESOURCE), ("scope", "mcp:read")];
    assert_eq!(parameters(&request), map(&expected));
    let public = TokenRequest::client_credentials(endpoint(), public_client(), None, Scopes::new(), entropy());
    assert_eq!(public.unwrap_err().kind(), ErrorKind::Misconfigured);
}

const IDP_URL: &str = "https://idp.example/token";
const JAG: &str = r#"{"access_token":"j.a.g","token_type":"N_A","expires_in":300,
    "issued_token_type":"urn:ietf:params:oauth:token-type:id-jag"}"#;

fn exchange(subject: SubjectToken) -> IdJagRequest {
    let idp = TokenEndpoint::new("https://idp.example", IDP_URL);
    let client = ClientAuthentication::client_secret_post("idp-client", secret("idp-secret"));
    IdJagRequest::new(idp, client, subject, ISSUER.into(), RESOURCE.into(), entropy())
        .scopes(Scopes::parse("read write"))
}

fn id_token() -> SubjectToken {
    SubjectToken::IdToken(secret("i.d.t"))
}

/// Returns the flow that exchanges the ID-JAG in the response `body` for an access token.
fn after_exchange(body: &str, client: ClientAuthentication) -> TokenRequest {
    let id_jag = send(&mut exchange(id_token()), response(200, body)).0.unwrap();
    id_jag.token_request(endpoint(), client, entropy())
}

fn mcp_client() -> ClientAuthentication {
    ClientAuthentication::client_secret_basic("mcp-client", secret("mcp-secret"))
}

#[test]
fn em1_em2_the_identity_provider_exchanges_the_users_token_for_an_id_jag() {
    let (result, request) = send(&mut exchange(id_token()), response(200, JAG));
    assert_eq!(result.unwrap().replaced_subject, None);
    assert_eq!(request.url, IDP_URL);
    assert_eq!(
        parameters(&request),
        map(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("requested_token_type", ID_JAG),
            ("audience", ISSUER),
            ("resource", RESOURCE),
            ("scope", "read write"),
            ("subject_token", "i.d.t"),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
            ("client_id", "idp-client"),
            ("client_secret", "idp-secret"),
        ])
    );
}

#[test]
fn em3_a_refresh_token_of_the_identity_provider_can_be_the_subject_and_may_be_replaced() {
    let jag = JAG.replace("\"expires_in\"", "\"refresh_token\":\"next\",\"expires_in\"");
    let (result, request) = send(&mut exchange(SubjectToken::RefreshToken(secret("rt"))), response(200, &jag));
    assert_eq!(result.unwrap().replaced_subject, Some(secret("next")));
    let form = parameters(&request);
    assert_eq!(form["subject_token"], "rt");
    assert_eq!(form["subject_token_type"], "urn:ietf:params:oauth:token-type:refresh_token");
}

#[test]
fn em4_the_id_jag_is_the_assertion_at_the_authorization_server_of_the_server() {
    let (result, request) = send(&mut after_exchange(JAG, mcp_client()), response(200, TOKEN));
    assert_eq!(result.unwrap().access_token.expose(), "at");
    assert_eq!(request.url, TOKEN_URL);
    assert!(header(&request, "authorization").unwrap().starts_with("Basic "));
    let (grant, id) = (("grant_type", JWT_BEARER), ("client_id", "mcp-client"));
    let expected = [grant, id, ("assertion", "j.a.g"), ("resource", RESOURCE), ("scope", "read write")];
    assert_eq!(parameters(&request), map(&expected));
    let narrower = JAG.replace("\"expires_in\"", "\"scope\":\"read\",\"expires_in\"");
    let (_, request) = send(&mut after_exchange(&narrower, mcp_client()), response(200, TOKEN));
    assert_eq!(parameters(&request)["scope"], "read");
}

#[test]
fn em4_the_client_can_be_a_metadata_document_with_a_key_and_the_token_bound() {
    let mut flow = after_exchange(JAG, client_with_key("https://client.example/client.json")).dpop(Some(dpop()));
    let (result, request) = send(&mut flow, response(200, &TOKEN.replace("Bearer", "DPoP")));
    result.unwrap();
    assert!(parameters(&request).contains_key("client_assertion") && header(&request, "dpop").is_some());
}

#[test]
fn em5_support_is_recognised_by_the_profile() {
    for (profiles, is_supported) in [(None, false), (Some(["other", "x"]), false), (Some(["other", PROFILE]), true)] {
        let metadata = AuthorizationServerMetadata {
            authorization_grant_profiles_supported: profiles.map(|names| names.map(String::from).into()),
            ..AuthorizationServerMetadata::default()
        };
        assert_eq!(metadata.supports_id_jag(), is_supported, "{profiles:?}");
    }
}

#[test]
fn em6_tokens_are_neither_in_urls_nor_in_debug_output() {
    let mut flow = exchange(id_token());
    let Action::Fetch(request) = flow.start(NOW).unwrap() else { panic!() };
    let Action::Done(id_jag) = flow.resume(Input::Response(response(200, JAG)), NOW).unwrap() else { panic!() };
    let mut next = id_jag.token_request(endpoint(), mcp_client(), entropy());
    let second = next.start(NOW).unwrap();
    let text = format!("{flow:?} {request:?} {id_jag:?} {next:?} {second:?}");
    for hidden in ["i.d.t", "j.a.g", "idp-secret", "mcp-secret"] {
        assert!(!text.contains(hidden), "{text}");
    }
    assert_eq!(request.url, IDP_URL);
}

#[test]
fn a_refusal_of_either_server_ends_the_flow_and_so_does_another_order() {
    let refusal = || response(400, r#"{"error":"invalid_grant"}"#);
    let error = send(&mut exchange(id_token()), refusal()).0.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LoginRequired);
    assert!(error.to_string().contains(IDP_URL), "o21: {error}");
    let error = send(&mut after_exchange(JAG, mcp_client()), refusal()).0.unwrap_err();
    assert!(error.to_string().contains(TOKEN_URL), "{error}");
    let other = JAG.replace("id-jag", "access_token");
    let error = send(&mut exchange(id_token()), response(200, &other)).0.unwrap_err().to_string();
    assert!(error.contains("another kind of token") && error.contains(IDP_URL), "{error}");
    let mut flow = exchange(id_token());
    assert!(flow.resume(Input::Signature([].into()), NOW).is_err());
    assert!(flow.start(NOW).is_err());
}

fn jwt(claims: &Value) -> Secret {
    Secret::new(with_signature(&signing_input(&json!({"alg": "RS256"}), claims), b"signature"))
}

fn valid(audience: &Value) -> Secret {
    jwt(&json!({"iss": "spiffe://a", "sub": "w", "aud": audience, "exp": NOW.as_secs() + 60, "jti": "1"}))
}

fn workload(jwt: Secret) -> WorkloadGrant {
    WorkloadGrant::new(endpoint(), jwt, Some(RESOURCE.into()), entropy())
}

/// Returns the text of the error with which a workload ends before it sends its JWT.
fn not_sent(jwt: Secret) -> String {
    let error = workload(jwt).start(NOW).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misconfigured, "{error}");
    error.to_string()
}

#[test]
fn wi1_the_jwt_and_the_resource_are_all_that_is_sent() {
    let jwt = valid(&json!(TOKEN_URL));
    let (result, request) = send(&mut workload(jwt.clone()), response(200, TOKEN));
    assert_eq!(result.unwrap().access_token.expose(), "at");
    let expected = [("grant_type", JWT_BEARER), ("assertion", jwt.expose()), ("resource", RESOURCE)];
    assert_eq!(parameters(&request), map(&expected));
    assert_eq!(header(&request, "authorization"), None);
    let mut flow = workload(valid(&json!(ISSUER))).scopes(Scopes::parse("s")).dpop(Some(dpop()));
    let (result, request) = send(&mut flow, response(200, &TOKEN.replace("Bearer", "DPoP")));
    result.unwrap();
    assert_eq!(parameters(&request)["scope"], "s");
    assert!(header(&request, "dpop").is_some());
}

#[test]
fn wi2_a_jwt_for_another_audience_is_not_sent() {
    for audience in [json!(TOKEN_URL), json!(ISSUER), json!(format!("{ISSUER}/")), json!(["x", TOKEN_URL])] {
        assert!(workload(valid(&audience)).start(NOW).is_ok(), "{audience}");
    }
    for audience in [json!("https://wrong.example"), json!([]), json!(null), json!({})] {
        let text = not_sent(valid(&audience));
        assert!(text.contains("another audience"), "{text}");
    }
    assert!(workload(valid(&json!("api://x"))).audience("api://x").start(NOW).is_ok(), "the user has set it");
}

#[test]
fn wi2_a_jwt_that_is_damaged_or_has_expired_is_not_sent() {
    for bad in ["", "a.b", "a.b.c.d", "a.!.c", "a.bm9uZQ.c"] {
        let text = not_sent(Secret::new(bad));
        assert!(text.contains("is not a JWT"), "{text}");
    }
    let text = not_sent(jwt(&json!({"aud": ISSUER, "exp": NOW.as_secs()})));
    assert!(text.contains("has expired"), "{text}");
    assert!(workload(jwt(&json!({"aud": ISSUER}))).start(NOW).is_ok());
}

#[test]
fn wi3_a_refusal_ends_the_flow_after_one_request() {
    for code in ["invalid_grant", "invalid_scope", "unauthorized_client"] {
        let refusal = response(400, &format!(r#"{{"error":"{code}"}}"#));
        let (result, _) = send(&mut workload(valid(&json!(ISSUER))), refusal);
        assert_eq!(result.unwrap_err().code(), Some(code));
    }
}

#[test]
fn wi4_the_jwt_is_sent_over_https_alone_and_not_shown() {
    let endpoint = TokenEndpoint::new("http://auth.example.com", "http://auth.example.com/token");
    let jwt = valid(&json!("http://auth.example.com/token"));
    let mut flow = WorkloadGrant::new(endpoint, jwt.clone(), None, entropy());
    assert!(flow.start(NOW).unwrap_err().to_string().contains("not an https URL"));
    assert!(!format!("{flow:?}").contains(jwt.expose()));
}
