//! Enterprise-managed authorization: the extension `io.modelcontextprotocol/enterprise-managed-authorization`.

use alloc::string::String;
use core::mem;

use crate::client_authentication::ClientAuthentication;
use crate::discovery::AuthorizationServerMetadata;
use crate::dpop::Dpop;
use crate::entropy::Entropy;
use crate::error::{Error, ErrorKind, Step};
use crate::flow::{Action, Flow, Input};
use crate::grant::{Grant, ID_JAG, SubjectToken};
use crate::scopes::Scopes;
use crate::secret::Secret;
use crate::time::UnixTime;
use crate::token_endpoint::TokenEndpoint;
use crate::token_request::TokenRequest;
use crate::token_response::TokenResponse;

/// The profile by which an authorization server says that it takes an ID-JAG.
const PROFILE: &str = "urn:ietf:params:oauth:grant-profile:id-jag";

impl AuthorizationServerMetadata {
    /// Returns whether the authorization server says that it supports [`EnterpriseGrant`].
    pub fn supports_id_jag(&self) -> bool {
        self.authorization_grant_profiles_supported.as_ref().is_some_and(|all| all.iter().any(|one| one == PROFILE))
    }
}

/// The flow that gets a token for a user who has logged in at the identity provider of an enterprise.
///
/// The identity provider exchanges the user's ID token or refresh token for an ID-JAG, and the server's authorization server
/// exchanges the ID-JAG for an access token. The user sees nothing of it.
#[derive(Debug)]
pub struct EnterpriseGrant {
    resource: String,
    scopes: Scopes,
    /// The authorization server of the MCP server, and the client that is registered there.
    endpoint: TokenEndpoint,
    client: ClientAuthentication,
    dpop: Option<Dpop>,
    entropy: Entropy,
    subject: SubjectToken,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The identity provider, and the client that is registered there.
    New(TokenEndpoint, ClientAuthentication),
    Exchanging(TokenRequest),
    Requesting(TokenRequest, Option<Secret>),
    Finished,
}

/// What an [`EnterpriseGrant`] gets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnterpriseToken {
    /// The token for the MCP server.
    pub token: TokenResponse,
    /// The refresh token of the identity provider that replaces the one that was sent, if it has issued another.
    pub subject: Option<Secret>,
}

impl EnterpriseGrant {
    /// Creates a flow. `identity_provider` and its client are those of the user's login. `endpoint` is that of the server's
    /// authorization server, and `client` the one that is registered there.
    pub fn new(
        identity_provider: (TokenEndpoint, ClientAuthentication),
        subject: SubjectToken,
        endpoint: TokenEndpoint,
        client: ClientAuthentication,
        resource: String,
        entropy: Entropy,
    ) -> Self {
        let state = State::New(identity_provider.0, identity_provider.1);
        EnterpriseGrant { resource, scopes: Scopes::new(), endpoint, client, dpop: None, entropy, subject, state }
    }

    /// Asks for scopes.
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// Binds the token to a key.
    pub fn dpop(mut self, dpop: Option<Dpop>) -> Self {
        self.dpop = dpop;
        self
    }

    fn exchange(&mut self, endpoint: TokenEndpoint, client: ClientAuthentication) -> TokenRequest {
        let grant = Grant::TokenExchange { subject: self.subject.clone(), audience: self.endpoint.issuer.clone() };
        TokenRequest::new(endpoint, client, &grant, self.entropy.split())
            .resource(Some(self.resource.clone()))
            .scopes(self.scopes.clone())
    }

    /// Goes on with the ID-JAG that the identity provider has issued.
    fn request(&mut self, issued: TokenResponse) -> Result<TokenRequest, Error> {
        if issued.issued_token_type.as_deref().is_some_and(|kind| kind != ID_JAG) {
            let reason = "the identity provider has issued another kind of token than an ID-JAG";
            return Err(Error::new(ErrorKind::Misconfigured, Step::Token, reason));
        }
        let grant = Grant::JwtBearer { assertion: issued.access_token };
        // More scopes than those of the ID-JAG would be refused.
        let scopes = issued.scopes.unwrap_or_else(|| self.scopes.clone());
        Ok(TokenRequest::new(self.endpoint.clone(), self.client.clone(), &grant, self.entropy.split())
            .resource(Some(self.resource.clone()))
            .scopes(scopes)
            .dpop(self.dpop.take()))
    }

    /// Goes on after `action`, the next one of the request of `state`.
    fn advance(
        &mut self,
        state: State,
        action: Action<TokenResponse>,
        now: UnixTime,
    ) -> Result<Action<EnterpriseToken>, Error> {
        match (action, state) {
            (Action::Fetch(request), state) => {
                self.state = state;
                Ok(Action::Fetch(request))
            }
            (Action::Sign { key, bytes }, state) => {
                self.state = state;
                Ok(Action::Sign { key, bytes })
            }
            (Action::Done(mut issued), State::Exchanging(_)) => {
                let subject = issued.refresh_token.take();
                let mut request = self.request(issued)?;
                let action = request.start(now)?;
                self.advance(State::Requesting(request, subject), action, now)
            }
            (Action::Done(token), State::Requesting(_, subject)) => {
                Ok(Action::Done(EnterpriseToken { token, subject }))
            }
            (Action::Done(_), State::New(..) | State::Finished) => Err(Error::misuse(Step::Token)),
        }
    }
}

impl Flow for EnterpriseGrant {
    type Output = EnterpriseToken;

    fn start(&mut self, now: UnixTime) -> Result<Action<EnterpriseToken>, Error> {
        let State::New(endpoint, client) = mem::replace(&mut self.state, State::Finished) else {
            return Err(Error::misuse(Step::Token));
        };
        let mut request = self.exchange(endpoint, client);
        let action = request.start(now)?;
        self.advance(State::Exchanging(request), action, now)
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<EnterpriseToken>, Error> {
        match mem::replace(&mut self.state, State::Finished) {
            State::Exchanging(mut request) => {
                let action = request.resume(input, now)?;
                self.advance(State::Exchanging(request), action, now)
            }
            State::Requesting(mut request, subject) => {
                let action = request.resume(input, now)?;
                self.advance(State::Requesting(request, subject), action, now)
            }
            State::New(..) | State::Finished => Err(Error::misuse(Step::Token)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_authentication::ClientKey;
    use crate::http::{Request, Response};
    use crate::jwk::SigningAlgorithm;
    use crate::testing::{
        ISSUER, NOW, RESOURCE, TOKEN_URL, dpop, endpoint, entropy, header, map, parameters, response, run,
    };
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use alloc::{format, vec};

    const IDP_URL: &str = "https://idp.example/token";
    const JAG: &str = r#"{"access_token":"j.a.g","token_type":"N_A","expires_in":300,
        "issued_token_type":"urn:ietf:params:oauth:token-type:id-jag"}"#;
    const TOKEN: &str = r#"{"access_token":"at","token_type":"Bearer","expires_in":3600}"#;

    fn secret(text: &str) -> Secret {
        Secret::new(text)
    }

    fn grant(subject: SubjectToken) -> EnterpriseGrant {
        let idp = TokenEndpoint::new("https://idp.example", IDP_URL);
        let idp_client = ClientAuthentication::client_secret_post("idp-client", secret("idp-secret"));
        let client = ClientAuthentication::client_secret_basic("mcp-client", secret("mcp-secret"));
        EnterpriseGrant::new((idp, idp_client), subject, endpoint(), client, RESOURCE.into(), entropy())
            .scopes(Scopes::parse("read write"))
    }

    fn id_token() -> SubjectToken {
        SubjectToken::IdToken(secret("i.d.t"))
    }

    fn send(mut flow: EnterpriseGrant, responses: Vec<Response>) -> (Result<EnterpriseToken, Error>, Vec<Request>) {
        let (mut responses, mut requests) = (responses.into_iter(), Vec::new());
        let result = run(&mut flow, NOW, |request| {
            requests.push(request);
            Input::Response(responses.next().expect("too many requests"))
        });
        (result, requests)
    }

    #[test]
    fn em1_em2_the_identity_provider_exchanges_the_users_token_for_an_id_jag() {
        let (result, requests) = send(grant(id_token()), vec![response(200, JAG), response(200, TOKEN)]);
        assert_eq!(result.unwrap().token.access_token.expose(), "at");
        assert_eq!(requests[0].url, IDP_URL);
        assert_eq!(
            parameters(&requests[0]),
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
        let subject = SubjectToken::RefreshToken(secret("rt"));
        let (result, requests) = send(grant(subject), vec![response(200, &jag), response(200, TOKEN)]);
        assert_eq!(result.unwrap().subject, Some(secret("next")));
        let form = parameters(&requests[0]);
        assert_eq!(form["subject_token"], "rt");
        assert_eq!(form["subject_token_type"], "urn:ietf:params:oauth:token-type:refresh_token");
    }

    #[test]
    fn em4_the_id_jag_is_the_assertion_at_the_authorization_server_of_the_server() {
        let (_, requests) = send(grant(id_token()), vec![response(200, JAG), response(200, TOKEN)]);
        assert_eq!(requests[1].url, TOKEN_URL);
        assert!(header(&requests[1], "authorization").unwrap().starts_with("Basic "));
        let grant_type = ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
        let expected = [grant_type, ("assertion", "j.a.g"), ("resource", RESOURCE), ("scope", "read write")];
        assert_eq!(parameters(&requests[1]), map(&expected));

        let narrower = JAG.replace("\"expires_in\"", "\"scope\":\"read\",\"expires_in\"");
        let (_, requests) = send(grant(id_token()), vec![response(200, &narrower), response(200, TOKEN)]);
        assert_eq!(parameters(&requests[1])["scope"], "read");
    }

    #[test]
    fn em4_the_client_can_be_a_metadata_document_with_a_key_and_the_token_bound() {
        let mut flow = grant(id_token()).dpop(Some(dpop()));
        let key = ClientKey::new(SigningAlgorithm::Es256);
        flow.client = ClientAuthentication::private_key_jwt("https://client.example/client.json", key);
        let bound = TOKEN.replace("Bearer", "DPoP");
        let (result, requests) = send(flow, vec![response(200, JAG), response(200, &bound)]);
        result.unwrap();
        assert!(parameters(&requests[1]).contains_key("client_assertion"));
        assert!(header(&requests[0], "dpop").is_none() && header(&requests[1], "dpop").is_some());
    }

    #[test]
    fn em5_support_is_recognised_by_the_profile() {
        let mut metadata = AuthorizationServerMetadata::default();
        assert!(!metadata.supports_id_jag());
        metadata.authorization_grant_profiles_supported = Some(vec!["other".into()]);
        assert!(!metadata.supports_id_jag());
        metadata.authorization_grant_profiles_supported = Some(vec!["other".into(), PROFILE.into()]);
        assert!(metadata.supports_id_jag());
    }

    #[test]
    fn em6_tokens_are_neither_in_urls_nor_in_debug_output() {
        let mut flow = grant(id_token());
        let Action::Fetch(request) = flow.start(NOW).unwrap() else { panic!() };
        let next = flow.resume(Input::Response(response(200, JAG)), NOW).unwrap();
        let text = format!("{flow:?} {request:?} {next:?}");
        for hidden in ["i.d.t", "j.a.g", "idp-secret", "mcp-secret"] {
            assert!(!text.contains(hidden), "{text}");
        }
        assert_eq!(request.url, IDP_URL);
    }

    #[test]
    fn a_refusal_of_either_server_ends_the_flow() {
        let refusal = || response(400, r#"{"error":"invalid_grant"}"#);
        let (result, requests) = send(grant(id_token()), vec![refusal()]);
        let error = result.unwrap_err();
        assert_eq!((error.kind(), requests.len()), (ErrorKind::LoginRequired, 1));
        assert!(error.to_string().contains(IDP_URL), "o21: {error}");
        let (result, _) = send(grant(id_token()), vec![response(200, JAG), refusal()]);
        assert!(result.unwrap_err().to_string().contains(TOKEN_URL));
        let other = JAG.replace("id-jag", "access_token");
        let (result, _) = send(grant(id_token()), vec![response(200, &other)]);
        assert!(result.unwrap_err().to_string().contains("another kind of token"));
    }

    #[test]
    fn a_flow_that_is_driven_in_another_order_fails() {
        let mut flow = grant(id_token());
        assert!(flow.resume(Input::Signature(vec![]), NOW).is_err());
        assert!(flow.start(NOW).is_err());
    }
}
