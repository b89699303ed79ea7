//! Workload identity federation, where a program authenticates with a JWT of its platform: the extension
//! `io.modelcontextprotocol/auth/wif`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::token_response;
use crate::{
    Action, ClientAuthentication, Dpop, Entropy, Error, ErrorKind, Flow, Grant, Input, Scopes, Secret, Step,
    TokenEndpoint, TokenRequest, TokenResponse, UnixTime,
};

/// The flow that exchanges the JWT of a platform, for example of Kubernetes or SPIFFE, for an access token.
///
/// The program needs no client identifier and no registration. The flow fails without sending the JWT if its audience
/// is not the authorization server. If the authorization server refuses the JWT, the flow tries no other grant.
#[derive(Debug)]
pub struct WorkloadGrant {
    jwt: Secret,
    /// The accepted audiences of the JWT. The JWT must name at least one of them.
    audiences: Vec<String>,
    request: TokenRequest,
}

impl WorkloadGrant {
    /// Creates a flow. The audience of `jwt` must be the URL of the token endpoint or the issuer: see
    /// [`audience`](Self::audience). `resource` is the MCP server, or `None` to omit the parameter.
    pub fn new(endpoint: TokenEndpoint, jwt: Secret, resource: Option<String>, entropy: Entropy) -> Self {
        let issuer = endpoint.issuer.strip_suffix('/').unwrap_or(&endpoint.issuer);
        let audiences = [endpoint.url.clone(), issuer.to_string(), issuer.to_string() + "/"].into();
        let grant = Grant::JwtBearer { assertion: jwt.clone() };
        let request =
            TokenRequest::new(endpoint, ClientAuthentication::anonymous(), &grant, entropy).resource(resource);
        WorkloadGrant { jwt, audiences, request }
    }

    /// Also accepts a JWT for this audience, because some authorization servers require an audience other than their
    /// URL.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Sets the scopes to request. With an empty set, the default, the request has no `scope` parameter.
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.request = self.request.scopes(scopes);
        self
    }

    /// Sets the DPoP key to which the token will be bound. `None`, the default, asks for a token that is not bound.
    pub fn dpop(mut self, dpop: Option<Dpop>) -> Self {
        self.request = self.request.dpop(dpop);
        self
    }

    /// Fails if the JWT is malformed, has expired or is for another audience. Such a JWT must not be sent.
    fn check(&self, now: UnixTime) -> Result<(), Error> {
        let error = |reason| {
            Err(Error::new(ErrorKind::Misconfigured, Step::Token, reason)
                .at(self.request.url())
                .with_advice("let the platform issue a JWT for this authorization server"))
        };
        let Some(claims) = claims(self.jwt.expose()) else {
            return error("the assertion of the platform is not a JWT");
        };
        let is_ours = |audience: &Value| self.audiences.iter().any(|ours| audience.as_str() == Some(ours));
        let has_audience = match claims.get("aud") {
            Some(Value::Array(audiences)) => audiences.iter().any(is_ours),
            Some(audience) => is_ours(audience),
            None => false,
        };
        if !has_audience {
            return error("the JWT of the platform is for another audience");
        }
        // A JWT without an expiry time is sent, because the authorization server refuses it if required.
        if claims.get("exp").and_then(token_response::seconds).is_some_and(|at| at.as_secs() <= now.as_secs()) {
            return error("the JWT of the platform has expired");
        }
        Ok(())
    }
}

/// Parses the claims of a JWT without verifying the signature, which the authorization server does. `None` if the JWT
/// is malformed.
fn claims(jwt: &str) -> Option<Map<String, Value>> {
    let parts: Vec<&str> = jwt.split('.').collect();
    let [_, claims, _] = parts[..] else { return None };
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
}

impl Flow for WorkloadGrant {
    type Output = TokenResponse;

    fn start(&mut self, now: UnixTime) -> Result<Action<TokenResponse>, Error> {
        self.check(now)?;
        self.request.start(now)
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<TokenResponse>, Error> {
        self.request.resume(input, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use crate::jose::{signing_input, with_signature};
    use crate::testing::{
        ISSUER, NOW, RESOURCE, TOKEN_URL, dpop, endpoint, entropy, header, map, parameters, response, run,
    };
    use alloc::format;
    use serde_json::json;

    fn jwt(claims: &Value) -> Secret {
        Secret::new(with_signature(&signing_input(&json!({"alg": "RS256"}), claims), b"signature"))
    }

    fn valid(audience: &Value) -> Secret {
        jwt(&json!({"iss": "spiffe://a", "sub": "w", "aud": audience, "exp": NOW.as_secs() + 60, "jti": "1"}))
    }

    fn send(mut flow: WorkloadGrant, status: u16, body: &str) -> (Result<TokenResponse, Error>, Vec<Request>) {
        let mut requests = Vec::new();
        let result = run(&mut flow, NOW, |request| {
            requests.push(request);
            Input::Response(response(status, body))
        });
        (result, requests)
    }

    fn grant(jwt: Secret) -> WorkloadGrant {
        WorkloadGrant::new(endpoint(), jwt, Some(RESOURCE.into()), entropy())
    }

    #[test]
    fn wi1_the_jwt_and_the_resource_are_all_that_is_sent() {
        let jwt = valid(&json!(TOKEN_URL));
        let (result, requests) = send(grant(jwt.clone()), 200, r#"{"access_token":"a"}"#);
        assert_eq!(result.unwrap().access_token.expose(), "a");
        assert_eq!(
            parameters(&requests[0]),
            map(&[
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                ("assertion", jwt.expose()),
                ("resource", RESOURCE),
            ])
        );
        assert_eq!(header(&requests[0], "authorization"), None);
        let bound = r#"{"access_token":"a","token_type":"DPoP"}"#;
        let flow = grant(valid(&json!(ISSUER))).scopes(Scopes::parse("s")).dpop(Some(dpop()));
        let (result, requests) = send(flow, 200, bound);
        result.unwrap();
        assert_eq!(parameters(&requests[0])["scope"], "s");
        assert!(header(&requests[0], "dpop").is_some());
    }

    #[test]
    fn wi2_a_jwt_for_another_audience_is_not_sent() {
        for audience in [json!(TOKEN_URL), json!(ISSUER), json!(format!("{ISSUER}/")), json!(["x", TOKEN_URL])] {
            assert!(grant(valid(&audience)).start(NOW).is_ok(), "{audience}");
        }
        for audience in [json!("https://wrong.example"), json!([]), json!(null), json!({})] {
            let error = grant(valid(&audience)).start(NOW).unwrap_err();
            assert!(error.to_string().contains("another audience"), "{error}");
        }
        assert!(grant(valid(&json!("api://x"))).audience("api://x").start(NOW).is_ok(), "the user has set it");
    }

    #[test]
    fn wi2_a_jwt_that_is_damaged_or_has_expired_is_not_sent() {
        for bad in ["", "a.b", "a.b.c.d", "a.!.c", "a.bm9uZQ.c"] {
            let error = grant(Secret::new(bad)).start(NOW).unwrap_err();
            assert!(error.to_string().contains("is not a JWT"), "{error}");
        }
        let expired = jwt(&json!({"aud": ISSUER, "exp": NOW.as_secs()}));
        let error = grant(expired).start(NOW).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured);
        assert!(error.to_string().contains("has expired"), "{error}");
        assert!(grant(jwt(&json!({"aud": ISSUER}))).start(NOW).is_ok());
    }

    #[test]
    fn wi3_a_refusal_ends_the_flow_after_one_request() {
        for code in ["invalid_grant", "invalid_scope", "unauthorized_client"] {
            let body = format!(r#"{{"error":"{code}"}}"#);
            let (result, requests) = send(grant(valid(&json!(ISSUER))), 400, &body);
            assert_eq!((result.unwrap_err().code(), requests.len()), (Some(code), 1));
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
}
