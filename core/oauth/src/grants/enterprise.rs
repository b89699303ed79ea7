//! Enterprise-managed authorization, where the user logs in only at the identity provider of an enterprise: the
//! extension `io.modelcontextprotocol/enterprise-managed-authorization`.

use alloc::string::String;

use crate::grant::ID_JAG;
use crate::{
    Action, AuthorizationServerMetadata, ClientAuthentication, Entropy, Error, ErrorKind, Flow, Grant, Input, Scopes,
    Secret, Step, SubjectToken, TokenEndpoint, TokenRequest, TokenResponse, UnixTime,
};

/// The grant profile in the metadata of an authorization server that accepts an ID-JAG.
const PROFILE: &str = "urn:ietf:params:oauth:grant-profile:id-jag";

impl AuthorizationServerMetadata {
    /// Returns whether the metadata says that the authorization server accepts an [`IdJag`].
    pub fn supports_id_jag(&self) -> bool {
        self.authorization_grant_profiles_supported.as_ref().is_some_and(|all| all.iter().any(|one| one == PROFILE))
    }
}

/// The flow that gets an [`IdJag`] for a user who has logged in at the identity provider of an enterprise.
///
/// The identity provider exchanges the user's ID token or refresh token for the ID-JAG. The user need not do anything.
#[derive(Debug)]
pub struct IdJagRequest {
    request: TokenRequest,
    resource: String,
    scopes: Scopes,
}

/// An Identity Assertion JWT Authorization Grant: a JWT in which the identity provider allows the user to use an MCP
/// server.
///
/// `Debug` shows no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdJag {
    assertion: Secret,
    resource: String,
    scopes: Scopes,
    /// The new refresh token of the identity provider, if it replaces the old one. Store it at once, because the old
    /// one may be invalid. `None` if the old one stays valid.
    pub replaced_subject: Option<Secret>,
}

impl IdJagRequest {
    /// Creates a flow. `identity_provider` and `client` are the token endpoint and the client with which the user
    /// logged in at the identity provider. `issuer` is the authorization server of the MCP server, and `resource` is
    /// the MCP server.
    pub fn new(
        identity_provider: TokenEndpoint,
        client: ClientAuthentication,
        subject: SubjectToken,
        issuer: String,
        resource: String,
        entropy: Entropy,
    ) -> Self {
        let grant = Grant::TokenExchange { subject, audience: issuer };
        let request = TokenRequest::new(identity_provider, client, &grant, entropy).resource(Some(resource.clone()));
        IdJagRequest { request, resource, scopes: Scopes::new() }
    }

    /// Sets the scopes to request. With an empty set, the default, the request has no `scope` parameter.
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.request = self.request.scopes(scopes.clone());
        self.scopes = scopes;
        self
    }

    fn read(&self, issued: TokenResponse) -> Result<IdJag, Error> {
        if issued.issued_token_type.as_deref().is_some_and(|kind| kind != ID_JAG) {
            let reason = "the identity provider has issued another kind of token than an ID-JAG";
            return Err(Error::new(ErrorKind::Misconfigured, Step::Token, reason).at(self.request.url()));
        }
        Ok(IdJag {
            assertion: issued.access_token,
            resource: self.resource.clone(),
            // The authorization server would refuse scopes that the ID-JAG does not contain.
            scopes: issued.scopes.unwrap_or_else(|| self.scopes.clone()),
            replaced_subject: issued.refresh_token,
        })
    }
}

impl Flow for IdJagRequest {
    type Output = IdJag;

    fn start(&mut self, now: UnixTime) -> Result<Action<IdJag>, Error> {
        self.request.start(now)?.and_then(|issued| self.read(issued).map(Action::Done))
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<IdJag>, Error> {
        self.request.resume(input, now)?.and_then(|issued| self.read(issued).map(Action::Done))
    }
}

impl IdJag {
    /// Returns the flow that exchanges the ID-JAG for an access token. `endpoint` and `client` are those at the
    /// authorization server of the MCP server. The request asks for the scopes of the ID-JAG.
    pub fn token_request(
        &self,
        endpoint: TokenEndpoint,
        client: ClientAuthentication,
        entropy: Entropy,
    ) -> TokenRequest {
        let grant = Grant::JwtBearer { assertion: self.assertion.clone() };
        TokenRequest::new(endpoint, client, &grant, entropy)
            .resource(Some(self.resource.clone()))
            .scopes(self.scopes.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        ISSUER, NOW, RESOURCE, TOKEN_URL, dpop, endpoint, entropy, header, map, parameters, response, run,
    };
    use crate::{ClientKey, Request, Response, SigningAlgorithm};
    use alloc::string::ToString;
    use alloc::{format, vec};

    const IDP_URL: &str = "https://idp.example/token";
    const JAG: &str = r#"{"access_token":"j.a.g","token_type":"N_A","expires_in":300,
        "issued_token_type":"urn:ietf:params:oauth:token-type:id-jag"}"#;
    const TOKEN: &str = r#"{"access_token":"at","token_type":"Bearer","expires_in":3600}"#;

    fn secret(text: &str) -> Secret {
        Secret::new(text)
    }

    fn exchange(subject: SubjectToken) -> IdJagRequest {
        let idp = TokenEndpoint::new("https://idp.example", IDP_URL);
        let client = ClientAuthentication::client_secret_post("idp-client", secret("idp-secret"));
        IdJagRequest::new(idp, client, subject, ISSUER.into(), RESOURCE.into(), entropy())
            .scopes(Scopes::parse("read write"))
    }

    fn client() -> ClientAuthentication {
        ClientAuthentication::client_secret_basic("mcp-client", secret("mcp-secret"))
    }

    fn id_token() -> SubjectToken {
        SubjectToken::IdToken(secret("i.d.t"))
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

    fn id_jag(body: &str) -> IdJag {
        send(&mut exchange(id_token()), response(200, body)).0.unwrap()
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
        let subject = SubjectToken::RefreshToken(secret("rt"));
        let (result, request) = send(&mut exchange(subject), response(200, &jag));
        assert_eq!(result.unwrap().replaced_subject, Some(secret("next")));
        let form = parameters(&request);
        assert_eq!(form["subject_token"], "rt");
        assert_eq!(form["subject_token_type"], "urn:ietf:params:oauth:token-type:refresh_token");
    }

    #[test]
    fn em4_the_id_jag_is_the_assertion_at_the_authorization_server_of_the_server() {
        let mut flow = id_jag(JAG).token_request(endpoint(), client(), entropy());
        let (result, request) = send(&mut flow, response(200, TOKEN));
        assert_eq!(result.unwrap().access_token.expose(), "at");
        assert_eq!(request.url, TOKEN_URL);
        assert!(header(&request, "authorization").unwrap().starts_with("Basic "));
        let grant_type = ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
        let id = ("client_id", "mcp-client");
        let expected = [grant_type, id, ("assertion", "j.a.g"), ("resource", RESOURCE), ("scope", "read write")];
        assert_eq!(parameters(&request), map(&expected));

        let narrower = JAG.replace("\"expires_in\"", "\"scope\":\"read\",\"expires_in\"");
        let mut flow = id_jag(&narrower).token_request(endpoint(), client(), entropy());
        assert_eq!(parameters(&send(&mut flow, response(200, TOKEN)).1)["scope"], "read");
    }

    #[test]
    fn em4_the_client_can_be_a_metadata_document_with_a_key_and_the_token_bound() {
        let key = ClientKey::new(SigningAlgorithm::Es256);
        let client = ClientAuthentication::private_key_jwt("https://client.example/client.json", key);
        let mut flow = id_jag(JAG).token_request(endpoint(), client, entropy()).dpop(Some(dpop()));
        let (result, request) = send(&mut flow, response(200, &TOKEN.replace("Bearer", "DPoP")));
        result.unwrap();
        assert!(parameters(&request).contains_key("client_assertion"));
        assert!(header(&request, "dpop").is_some());
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
        let mut flow = exchange(id_token());
        let Action::Fetch(request) = flow.start(NOW).unwrap() else { panic!() };
        let Action::Done(id_jag) = flow.resume(Input::Response(response(200, JAG)), NOW).unwrap() else { panic!() };
        let mut next = id_jag.token_request(endpoint(), client(), entropy());
        let second = next.start(NOW).unwrap();
        let text = format!("{flow:?} {request:?} {id_jag:?} {next:?} {second:?}");
        for hidden in ["i.d.t", "j.a.g", "idp-secret", "mcp-secret"] {
            assert!(!text.contains(hidden), "{text}");
        }
        assert_eq!(request.url, IDP_URL);
    }

    #[test]
    fn a_refusal_of_either_server_ends_the_flow() {
        let refusal = || response(400, r#"{"error":"invalid_grant"}"#);
        let error = send(&mut exchange(id_token()), refusal()).0.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LoginRequired);
        assert!(error.to_string().contains(IDP_URL), "o21: {error}");
        let mut flow = id_jag(JAG).token_request(endpoint(), client(), entropy());
        assert!(send(&mut flow, refusal()).0.unwrap_err().to_string().contains(TOKEN_URL));
        let other = JAG.replace("id-jag", "access_token");
        let error = send(&mut exchange(id_token()), response(200, &other)).0.unwrap_err().to_string();
        assert!(error.contains("another kind of token") && error.contains(IDP_URL), "{error}");
    }

    #[test]
    fn a_flow_that_is_driven_in_another_order_fails() {
        let mut flow = exchange(id_token());
        assert!(flow.resume(Input::Signature(vec![]), NOW).is_err());
        assert!(flow.start(NOW).is_err());
    }
}
