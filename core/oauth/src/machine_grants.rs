//! Grants for programs that get a token without a login in a browser, as defined by extensions of the specification:
//!
//! * client credentials: `io.modelcontextprotocol/oauth-client-credentials`
//! * enterprise-managed authorization, where the user logs in only at the identity provider of an enterprise:
//!   `io.modelcontextprotocol/enterprise-managed-authorization`
//! * workload identity federation, where a program authenticates with a JWT of its platform:
//!   `io.modelcontextprotocol/auth/wif`

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::token_request::ID_JAG;
use crate::token_response;
use crate::{
    Action, AuthMethod, AuthorizationServerMetadata, ClientAuthentication, Dpop, Entropy, Error, ErrorKind, Flow,
    Grant, Input, Scopes, Secret, Step, SubjectToken, TokenEndpoint, TokenRequest, TokenResponse, UnixTime,
};

impl TokenRequest {
    /// Creates the token request of a program that acts without a user, with the credentials of a registered client.
    ///
    /// The client must authenticate, preferably by `private_key_jwt`. Fails for a public client.
    pub fn client_credentials(
        endpoint: TokenEndpoint,
        client: ClientAuthentication,
        resource: Option<String>,
        scopes: Scopes,
        entropy: Entropy,
    ) -> Result<Self, Error> {
        if client.method() == AuthMethod::None {
            let reason = "the client has neither a secret nor a key that the authorization server takes";
            return Err(Error::new(ErrorKind::Misconfigured, Step::Token, reason)
                .at(&endpoint.url)
                .with_advice("configure the secret or the key of the client"));
        }
        Ok(TokenRequest::new(endpoint, client, &Grant::ClientCredentials, entropy).resource(resource).scopes(scopes))
    }
}

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
#[path = "machine_grants_tests.rs"]
mod tests;
