//! [`TokenRequest`]: the flow that requests one token at a token endpoint, and [`Grant`], the credential that it
//! exchanges. [`ClientRequest`]: a form that a client sends to any endpoint of its authorization server, with its
//! credentials.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::{fmt, mem};

use crate::encoding::{FORM_TYPE, Form, encode};
use crate::jose;
use crate::token_response::{self, ProofRefusal};
use crate::url::is_secure;
use crate::{
    Action, ClientAuthentication, Dpop, Entropy, Error, ErrorKind, Flow, Input, KeyUse, Proof, Request, Response,
    Scopes, Secret, Setting, Step, TokenEndpoint, TokenResponse, TokenType, UnixTime,
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
        let (form, secrets) = grant.to_form();
        let request = ClientRequest::new(grant.step(), endpoint, client, form, secrets, entropy);
        let is_exchange = matches!(grant, Grant::TokenExchange { .. });
        TokenRequest { request, resource: None, scopes: Scopes::new(), is_exchange }
    }

    mcpwire_text::setters! {
        /// Sets the MCP server for which the token is requested (RFC 8707), as the specification requires. `None` omits
        /// the parameter.
        fn resource(resource: Option<String>) => resource = resource;

        /// Sets the scopes to request. With an empty set, the default, the request has no `scope` parameter.
        fn scopes(scopes: Scopes) => scopes = scopes;
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

    pub(crate) fn url(&self) -> &str {
        &self.request.url
    }

    fn next(&self, action: Action<Response>, now: UnixTime) -> Result<Action<TokenResponse>, Error> {
        action.and_then(|response| {
            let token = token_response::read(&response, self.request.step, self.url(), now)
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
        Err(Error::new(ErrorKind::Misconfigured, self.request.step, reason).at(self.url()))
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

/// A flow that sends a form to an endpoint of an authorization server.
///
/// The flow signs the client assertion and the DPoP proof if they are needed. It repeats the request once if the server
/// asks for a proof with a nonce, or with the time of the server's clock.
pub(crate) struct ClientRequest {
    step: Step,
    pub(crate) url: String,
    issuer: String,
    client: ClientAuthentication,
    pub(crate) form: Form,
    /// The secrets in the form and the signed client assertions. They are removed from error messages.
    pub(crate) secrets: Vec<Secret>,
    pub(crate) dpop: Option<Dpop>,
    entropy: Entropy,
    /// Whether the request was already repeated with another DPoP proof.
    is_repeated: bool,
    state: State,
}

enum State {
    New,
    /// The program signs the client assertion. Contains the bytes to sign, as text.
    SigningAssertion(String),
    /// The program signs the DPoP proof. `assertion` is the signed client assertion, or `None` if the client needs
    /// none.
    SigningProof {
        assertion: Option<String>,
        proof: Proof,
    },
    Sent,
    Finished,
}

impl ClientRequest {
    /// Creates a request to `endpoint`. `secrets` are the secrets in the form, which are removed from error messages.
    pub(crate) fn new(
        step: Step,
        endpoint: TokenEndpoint,
        client: ClientAuthentication,
        form: Form,
        secrets: Vec<Secret>,
        entropy: Entropy,
    ) -> Self {
        let TokenEndpoint { issuer, url, .. } = endpoint;
        let (dpop, is_repeated, state) = (None, false, State::New);
        ClientRequest { step, url, issuer, client, form, secrets, dpop, entropy, is_repeated, state }
    }

    /// Resets the flow, so that it can be started again with another form.
    pub(crate) fn reset(&mut self, form: Form) {
        (self.form, self.is_repeated, self.state) = (form, false, State::New);
    }

    /// Prepares the error of a token response for users. Removes the secrets of this request from its text. If the
    /// server did not accept the client, adds the method by which the client has authenticated itself.
    ///
    /// Servers may quote a request as they received it, so the encoded forms of the secrets are removed, too.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let mut error = error;
        if error.code() == Some("invalid_client") {
            let before = alloc::format!(
                "check the client's identifier and secret; it authenticated by {}, and the setting ",
                self.client.method().name()
            );
            error = error.with_setting(before, Setting::AuthMethod, " names another method");
        }
        if let Some(credentials) = self.client.basic() {
            error = error.without(&credentials);
        }
        let secrets = self.secrets.iter().chain(self.client.secret()).map(Secret::expose);
        secrets.fold(error, |error, secret| error.without(secret).without(&encode(secret)))
    }

    /// Asks the program to sign the client assertion. If the client needs no assertion, continues with the DPoP proof.
    fn begin(&mut self, now: UnixTime) -> Action<Response> {
        match self.client.assertion_input(&self.issuer, now, &mut self.entropy) {
            Some(input) => {
                let bytes = input.as_bytes().to_vec();
                self.state = State::SigningAssertion(input);
                Action::Sign { key: KeyUse::ClientAssertion, bytes }
            }
            None => self.prove(None, now),
        }
    }

    /// Asks the program to sign the DPoP proof. If no DPoP key is set, continues with the request.
    fn prove(&mut self, assertion: Option<String>, now: UnixTime) -> Action<Response> {
        let Some(dpop) = &self.dpop else { return self.send(assertion.as_deref(), None) };
        let proof = dpop.begin_proof("POST", &self.url, None, now, &mut self.entropy);
        let bytes = proof.signing_input().to_vec();
        self.state = State::SigningProof { assertion, proof };
        Action::Sign { key: KeyUse::DpopProof, bytes }
    }

    fn send(&mut self, assertion: Option<&str>, proof: Option<String>) -> Action<Response> {
        let headers = [("content-type", FORM_TYPE), ("accept", "application/json")];
        let mut headers: Vec<(Cow<'static, str>, String)> =
            headers.map(|(name, value)| (name.into(), value.to_string())).into();
        headers.extend(proof.map(|proof| ("dpop".into(), proof)));
        let form = self.client.apply(self.form.clone(), &mut headers, assertion);
        self.secrets.extend(assertion.map(Secret::new));
        self.state = State::Sent;
        let body = Some(form.into_string().into_bytes());
        Action::Fetch(Request { step: self.step, url: self.url.clone(), headers, body })
    }

    fn receive(&mut self, response: Response, now: UnixTime) -> Action<Response> {
        let Some(dpop) = &mut self.dpop else { return Action::Done(response) };
        let nonce = response.header("dpop-nonce").next();
        let has_new_nonce = nonce.is_some_and(|nonce| dpop.take_nonce(&self.url, nonce));
        let Some(refusal) = ProofRefusal::from_response(&response) else { return Action::Done(response) };
        let has_new_time = response.header("date").next().is_some_and(|date| dpop.take_date(&self.url, date, now));
        let is_other_proof = has_new_time || (has_new_nonce && refusal == ProofRefusal::Nonce);
        if is_other_proof && !mem::replace(&mut self.is_repeated, true) {
            self.begin(now)
        } else {
            Action::Done(response)
        }
    }
}

impl Flow for ClientRequest {
    type Output = Response;

    fn start(&mut self, now: UnixTime) -> Result<Action<Response>, Error> {
        match self.state {
            State::New if is_secure(&self.url) => Ok(self.begin(now)),
            State::New => {
                let reason = "the endpoint is not an https URL";
                Err(Error::new(ErrorKind::Misconfigured, self.step, reason).at(&self.url))
            }
            _ => Err(Error::misuse(self.step)),
        }
    }

    fn resume(&mut self, input: Input, now: UnixTime) -> Result<Action<Response>, Error> {
        match (mem::replace(&mut self.state, State::Finished), input) {
            (State::SigningAssertion(input), Input::Signature(signature)) => {
                Ok(self.prove(Some(jose::with_signature(&input, &signature)), now))
            }
            (State::SigningProof { assertion, proof }, Input::Signature(signature)) => {
                Ok(self.send(assertion.as_deref(), Some(proof.finish(&signature))))
            }
            (State::Sent, Input::Response(response)) => Ok(self.receive(response, now)),
            (State::Sent, Input::FetchFailed(error)) => Err(token_response::fetch_failed(error, self.step, &self.url)),
            _ => Err(Error::misuse(self.step)),
        }
    }
}

impl fmt::Debug for ClientRequest {
    /// Omits the form, because it contains secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientRequest").field("step", &self.step).field("url", &self.url).finish_non_exhaustive()
    }
}

/// The credential that a client exchanges for an access token, as the grant types of OAuth define it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// The authorization code of a login in a browser (RFC 6749, section 4.1), protected by PKCE.
    AuthorizationCode {
        /// The authorization code from the authorization response.
        code: Secret,
        /// The redirect URI that the authorization request contained.
        redirect_uri: String,
        /// The PKCE verifier, which belongs to the challenge in the authorization request.
        verifier: Secret,
    },
    /// A refresh token, which renews an access token without the user (RFC 6749, section 6).
    RefreshToken(Secret),
    /// The credentials of the client itself, for a program that acts without a user (RFC 6749, section 4.4).
    ClientCredentials,
    /// A JWT of another issuer, such as an identity provider or a platform (RFC 7523, section 2.1).
    JwtBearer {
        /// The JWT to exchange.
        assertion: Secret,
    },
    /// The identity of a user, to exchange for an ID-JAG (RFC 8693, Identity Assertion JWT Authorization Grant).
    TokenExchange {
        /// The token with which the identity provider identifies the user.
        subject: SubjectToken,
        /// The issuer of the authorization server at which the ID-JAG will be used.
        audience: String,
    },
    /// The device code of a login on another device (RFC 8628).
    DeviceCode(Secret),
}

/// A token of an identity provider that identifies a user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubjectToken {
    /// An ID token of OpenID Connect.
    IdToken(Secret),
    /// A refresh token that the identity provider issued to the client.
    RefreshToken(Secret),
}

impl Grant {
    pub(crate) const fn step(&self) -> Step {
        match self {
            Grant::RefreshToken(_) => Step::Refresh,
            _ => Step::Token,
        }
    }

    /// Returns the form of a token request: `grant_type` and the parameters of the grant. Also returns the secrets in
    /// the form, to remove them from error messages.
    pub(crate) fn to_form(&self) -> (Form, Vec<Secret>) {
        let mut secrets = Vec::new();
        let mut with_secret = |form: Form, name, secret: &Secret| {
            secrets.push(secret.clone());
            form.with(name, secret.expose())
        };
        let form = |grant_type| Form::new().with("grant_type", grant_type);
        let form = match self {
            Grant::AuthorizationCode { code, redirect_uri, verifier } => {
                let form = with_secret(form("authorization_code"), "code", code);
                with_secret(form.with("redirect_uri", redirect_uri), "code_verifier", verifier)
            }
            Grant::RefreshToken(token) => with_secret(form("refresh_token"), "refresh_token", token),
            Grant::ClientCredentials => form("client_credentials"),
            Grant::JwtBearer { assertion } => {
                with_secret(form("urn:ietf:params:oauth:grant-type:jwt-bearer"), "assertion", assertion)
            }
            Grant::TokenExchange { subject, audience } => {
                let (token, kind) = match subject {
                    SubjectToken::IdToken(token) => (token, "urn:ietf:params:oauth:token-type:id_token"),
                    SubjectToken::RefreshToken(token) => (token, "urn:ietf:params:oauth:token-type:refresh_token"),
                };
                let form = form("urn:ietf:params:oauth:grant-type:token-exchange")
                    .with("requested_token_type", ID_JAG)
                    .with("audience", audience)
                    .with("subject_token_type", kind);
                with_secret(form, "subject_token", token)
            }
            Grant::DeviceCode(code) => with_secret(form(DEVICE_CODE), "device_code", code),
        };
        (form, secrets)
    }
}

/// The grant type of a device login (RFC 8628), for token requests and registrations.
pub(crate) const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The token type of an ID-JAG (Identity Assertion JWT Authorization Grant), for a token exchange.
pub(crate) const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

#[cfg(test)]
#[path = "token_request_tests.rs"]
mod tests;
