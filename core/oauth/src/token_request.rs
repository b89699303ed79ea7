//! [`TokenRequest`]: the flow that requests one token at a token endpoint.

use alloc::string::String;
use core::mem;

use crate::client_request::ClientRequest;
use crate::token_response;
use crate::{
    Action, ClientAuthentication, Dpop, Entropy, Error, ErrorKind, Flow, Grant, Input, Response, Scopes, Secret, Step,
    TokenEndpoint, TokenResponse, TokenType, UnixTime,
};

/// A [`Flow`] that exchanges a [`Grant`] for an access token.
///
/// The flow sends one request. It repeats the request once if the server asks for a DPoP proof with a nonce or another
/// time. It never repeats the request for another reason, because most grants can be used only once.
#[derive(Debug)]
pub struct TokenRequest {
    /// The request with the parameters of the grant. The other parameters are added when the flow starts.
    request: ClientRequest,
    resource: Option<String>,
    scopes: Scopes,
    /// Whether the grant is a token exchange (RFC 8693). The issued token is for another authorization server, so its
    /// type is not checked.
    is_exchange: bool,
}

impl TokenRequest {
    /// Creates a request. `entropy` is the source of the random identifiers in client assertions and DPoP proofs.
    pub fn new(endpoint: TokenEndpoint, client: ClientAuthentication, grant: &Grant, entropy: Entropy) -> Self {
        let form = grant.to_form();
        let request = ClientRequest::new(grant.step(), endpoint, client, form, grant.secrets(), entropy);
        let is_exchange = matches!(grant, Grant::TokenExchange { .. });
        TokenRequest { request, resource: None, scopes: Scopes::new(), is_exchange }
    }

    /// Sets the MCP server for which the token is requested (RFC 8707), as the specification requires. `None` omits the
    /// parameter.
    pub fn resource(mut self, resource: Option<String>) -> Self {
        self.resource = resource;
        self
    }

    /// Sets the scopes to request. With an empty set, the default, the request has no `scope` parameter.
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// Removes a further secret from error messages. It is not part of the request, but the server knows it and may
    /// quote it.
    pub(crate) fn redacting(mut self, secret: &Secret) -> Self {
        self.request.secrets.push(secret.clone());
        self
    }

    /// Sets the DPoP key to which the token will be bound. The flow fails if the server issues a token that is not
    /// bound. `None`, the default, asks for a token that is not bound.
    pub fn dpop(mut self, dpop: Option<Dpop>) -> Self {
        self.request.dpop = dpop;
        self
    }

    /// Returns the DPoP key with the nonces from the responses, for later requests. `None` if no key was set.
    pub fn into_dpop(self) -> Option<Dpop> {
        self.request.dpop
    }

    pub(crate) const fn step(&self) -> Step {
        self.request.step()
    }

    pub(crate) fn url(&self) -> &str {
        &self.request.url
    }

    fn next(&self, action: Action<Response>, now: UnixTime) -> Result<Action<TokenResponse>, Error> {
        action.and_then(|response| {
            let token = token_response::read(&response, self.step(), self.url(), now)
                .map_err(|error| self.request.explain(error))?;
            self.check_type(token).map(Action::Done)
        })
    }

    /// Fails unless the token has the requested type. Adds the thumbprint of the key to a bound token.
    fn check_type(&self, mut response: TokenResponse) -> Result<TokenResponse, Error> {
        let reason = match (&response.token_type, &self.request.dpop) {
            (TokenType::Bearer, None) => return Ok(response),
            (TokenType::Dpop, Some(dpop)) => {
                response.dpop_key = Some(dpop.key().thumbprint());
                return Ok(response);
            }
            _ if self.is_exchange => return Ok(response),
            (_, Some(_)) => "the token is not bound to the key, although the client uses DPoP",
            (TokenType::Dpop, None) => "the token is bound to a key, although the client does not use DPoP",
            (..) => "the token is of a type that cannot be sent to a server",
        };
        Err(Error::new(ErrorKind::Misconfigured, self.step(), reason).at(self.url()))
    }
}

impl Flow for TokenRequest {
    type Output = TokenResponse;

    fn start(&mut self, now: UnixTime) -> Result<Action<TokenResponse>, Error> {
        self.request.form = mem::take(&mut self.request.form)
            .with_optional("resource", self.resource.take().as_deref())
            .with_optional("scope", self.scopes.parameter().as_deref());
        let action = self.request.start(now)?;
        self.next(action, now)
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<TokenResponse>, Error> {
        let action = self.request.resume(input, now)?;
        self.next(action, now)
    }
}

#[cfg(test)]
#[path = "token_request_tests.rs"]
mod tests;
