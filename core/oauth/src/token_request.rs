//! [`TokenRequest`]: the flow of one request at a token endpoint.

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
/// It signs what must be signed, sends one request, and repeats it once if the server wants a DPoP nonce. It does not
/// repeat a request for any other reason: most grants can be used only once.
#[derive(Debug)]
pub struct TokenRequest {
    /// Its form contains the grant. The other parameters are added at the start.
    request: ClientRequest,
    resource: Option<String>,
    scopes: Scopes,
    /// Whether the token is for another authorization server (RFC 8693), so that its type does not matter.
    is_exchange: bool,
}

impl TokenRequest {
    /// Creates a request. `entropy` gives assertions and proofs their identifiers.
    pub fn new(endpoint: TokenEndpoint, client: ClientAuthentication, grant: &Grant, entropy: Entropy) -> Self {
        let form = grant.to_form();
        let request = ClientRequest::new(grant.step(), endpoint, client, form, grant.secrets(), entropy);
        let is_exchange = matches!(grant, Grant::TokenExchange { .. });
        TokenRequest { request, resource: None, scopes: Scopes::new(), is_exchange }
    }

    /// Sets the server for which the token is (RFC 8707), which the specification requires. `None` leaves it out.
    pub fn resource(mut self, resource: Option<String>) -> Self {
        self.resource = resource;
        self
    }

    /// Sets the scopes to ask for. An empty set sends no `scope` parameter.
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// Removes a secret that is not part of the request, but that the server knows, from its errors.
    pub(crate) fn redacting(mut self, secret: &Secret) -> Self {
        self.request.secrets.push(secret.clone());
        self
    }

    /// Binds the token to a key. The flow then fails if the server issues a token that is not bound. `None` binds no key.
    pub fn dpop(mut self, dpop: Option<Dpop>) -> Self {
        self.request.dpop = dpop;
        self
    }

    /// Returns the DPoP state with the nonces of the responses, or `None` if the token is not bound.
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

    /// Fails unless the type of the token is the one that was asked for. Notes the key of a bound token.
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
