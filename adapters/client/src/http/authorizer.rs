//! [`Authorizer`]: adds credentials to HTTP requests, and decides what to do when the server refuses a request.
//!
//! Specification: protocol revision 2026-07-28, basic/authorization.

use std::borrow::Cow;
use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use mcpwire_core::http::Exchange;
use mcpwire_core::internal::MessageSummary;
use zeroize::Zeroizing;

use super::HttpResponse;
use super::authorization_context::AuthorizationContext;
use super::token::{TokenError, TokenProvider};

/// Adds credentials to the HTTP requests of a connection, and reacts when the server refuses a request.
///
/// If the program only needs to send an access token, implement [`TokenProvider`] instead.
pub trait Authorizer: Send + Sync + 'static {
    /// Returns the credentials for a request. Called for each request, and again when a request is repeated.
    ///
    /// # Errors
    /// The request fails with [`ErrorKind::Unauthorized`](crate::ErrorKind::Unauthorized), or with the kind that an
    /// [`AuthorizerError`] names. The caller of the request gets the error with
    /// [`Error::authorization_error`](crate::Error::authorization_error). The error and its sources must not contain secrets.
    fn authorize<'a>(&'a self, request: AuthorizedRequest<'a>) -> AuthorizeFuture<'a>;

    /// Called when the server has refused a request with status 401 or 403. Returns whether to send the request again.
    ///
    /// The client sends a request at most six times, and does not call this method after the last time. The default
    /// implementation returns [`AfterRefusal::GiveUp`].
    ///
    /// # Errors
    /// The request fails with the error, as for [`authorize`](Self::authorize).
    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> RefusalFuture<'a> {
        let _ = refusal;
        Box::pin(ready(Ok(AfterRefusal::GiveUp)))
    }

    /// Called with the head of each response, for example to store a new DPoP nonce. The default implementation does nothing.
    fn responded(&self, request: AuthorizedRequest<'_>, response: ResponseHead<'_>) {
        let _ = (request, response);
    }

    /// Returns the value with which this authorizer tells connections that their requests have another authorization. Called
    /// once, when the authorizer is added to the options of a connection.
    ///
    /// The default implementation returns `None`. The client then compares the header `Authorization` of each request with that
    /// of the previous request, and treats a different value as another authorization.
    fn context(&self) -> Option<AuthorizationContext> {
        None
    }

    /// Waits until the authorizer has stored the results of its own requests, such as a token refresh. Otherwise, a program that
    /// ends could lose a token. Called by the `shutdown` of a client. The default implementation returns at once.
    ///
    /// # Errors
    /// If such a request has not ended in time. The `shutdown` fails with the error.
    fn settle(&self) -> SettleFuture<'_> {
        Box::pin(ready(Ok(())))
    }
}

/// Forwards all methods, including those with a default implementation.
impl<T: Authorizer + ?Sized> Authorizer for Arc<T> {
    fn authorize<'a>(&'a self, request: AuthorizedRequest<'a>) -> AuthorizeFuture<'a> {
        (**self).authorize(request)
    }

    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> RefusalFuture<'a> {
        (**self).refused(refusal)
    }

    fn responded(&self, request: AuthorizedRequest<'_>, response: ResponseHead<'_>) {
        (**self).responded(request, response);
    }

    fn context(&self) -> Option<AuthorizationContext> {
        (**self).context()
    }

    fn settle(&self) -> SettleFuture<'_> {
        (**self).settle()
    }
}

/// An error of an [`Authorizer`] that selects the [`ErrorKind`](crate::ErrorKind) of the failed request. `Display` shows the
/// inner error only.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizerError {
    /// A user must log in. The request fails with [`ErrorKind::LoginRequired`](crate::ErrorKind::LoginRequired). Its message
    /// contains only the text of the inner error, which should say that a login is required.
    #[error("{0}")]
    LoginRequired(TokenError),
    /// There is no token now, but a later request may get one. The request fails with
    /// [`ErrorKind::Unavailable`](crate::ErrorKind::Unavailable), and the program can repeat it.
    #[error("{0}")]
    Temporary(TokenError),
}

/// A future that resolves to the credentials of a request. Returned by [`Authorizer::authorize`].
pub type AuthorizeFuture<'a> = Pin<Box<dyn Future<Output = Result<Credentials, TokenError>> + Send + 'a>>;

/// A future that resolves to the decision whether to repeat a refused request. Returned by [`Authorizer::refused`].
pub type RefusalFuture<'a> = Pin<Box<dyn Future<Output = Result<AfterRefusal, TokenError>> + Send + 'a>>;

/// A future that resolves when the authorizer has stored its results and the program can end. Returned by [`Authorizer::settle`].
pub type SettleFuture<'a> = Pin<Box<dyn Future<Output = Result<(), TokenError>> + Send + 'a>>;

/// The HTTP request for which an [`Authorizer`] provides credentials.
#[derive(Clone, Copy, Debug)]
pub struct AuthorizedRequest<'a>(pub(super) &'a Exchange);

impl<'a> AuthorizedRequest<'a> {
    /// Returns the HTTP method, such as `POST`.
    pub fn verb(&self) -> &'static str {
        self.0.verb.as_str()
    }

    /// Returns the absolute URL of the request.
    pub fn url(&self) -> &'a str {
        &self.0.uri
    }

    /// Returns the JSON-RPC method, followed by the name of the tool or prompt or the URI of the resource, such as
    /// `tools/call echo`.
    ///
    /// Returns an empty text if the HTTP request contains no JSON-RPC message with a method. Each call parses the message, which
    /// takes time in proportion to the message's length.
    pub fn operation(&self) -> String {
        let MessageSummary { method, target } = MessageSummary::new(&self.0.body);
        match (method, target) {
            (Some(method), Some(target)) => format!("{method} {target}"),
            (method, _) => method.unwrap_or_default(),
        }
    }
}

pub(super) const AUTHORIZATION: &str = "Authorization";
pub(super) const DPOP: &str = "DPoP";

/// The headers that authorize a request. Their values are erased from memory when this value is dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The value of the header `Authorization`. `None` if the request is sent without credentials.
    pub(super) authorization: Option<Zeroizing<String>>,
    /// The value of the header `DPoP`, a proof that the client has the key of the token. `None` for bearer tokens.
    pub(super) proof: Option<Zeroizing<String>>,
    /// A number that the authorizer chooses, to recognize these credentials in [`Refusal::sent`]. Default: 0.
    pub id: u64,
}

impl Credentials {
    /// Creates credentials without headers. The request is then sent unchanged.
    pub fn none() -> Self {
        Credentials::default()
    }

    /// Creates credentials with the header `Authorization: Bearer` and this access token.
    ///
    /// # Errors
    /// If the token is empty, or contains other characters than visible ASCII characters.
    pub fn bearer(token: &str) -> Result<Self, TokenError> {
        Credentials::with_scheme("Bearer", token)
    }

    /// Creates credentials with the headers `Authorization: DPoP` and `DPoP` (RFC 9449, section 7.1).
    ///
    /// # Errors
    /// If the token or the proof is empty, or contains other characters than visible ASCII characters.
    pub fn dpop(token: &str, proof: &str) -> Result<Self, TokenError> {
        let mut credentials = Credentials::with_scheme("DPoP", token)?;
        credentials.proof = Some(Zeroizing::new(checked(proof)?.to_owned()));
        Ok(credentials)
    }

    fn with_scheme(scheme: &str, token: &str) -> Result<Self, TokenError> {
        let authorization = Some(Zeroizing::new([scheme, " ", checked(token)?].concat()));
        Ok(Credentials { authorization, proof: None, id: 0 })
    }
}

/// Returns the token, or an error if it is empty or a header cannot contain it. The error omits the token, because it is a
/// secret.
fn checked(token: &str) -> Result<&str, TokenError> {
    // Also rejects line breaks, with which a token could add another header.
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("invalid access token: it is empty, or contains spaces or characters other than ASCII".into());
    }
    Ok(token)
}

impl fmt::Debug for Credentials {
    /// Omits the values of the headers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.authorization.as_ref().and_then(|value| value.split(' ').next());
        f.debug_struct("Credentials")
            .field("scheme", &scheme)
            .field("has_proof", &self.proof.is_some())
            .field("id", &self.id)
            .finish()
    }
}

/// Describes a request that the server has refused with status 401 or 403.
#[derive(Debug)]
#[non_exhaustive]
pub struct Refusal<'a> {
    /// The request that was refused.
    pub request: AuthorizedRequest<'a>,
    /// The credentials with which the request was sent.
    pub sent: &'a Credentials,
    /// The head of the response.
    pub response: ResponseHead<'a>,
    /// Number of times that the request was sent so far. At least 1.
    pub attempts: u32,
}

/// The status and the headers of an HTTP response, without its body.
#[derive(Clone, Copy)]
pub struct ResponseHead<'a> {
    /// The status code.
    pub status: u16,
    headers: &'a [(String, Vec<u8>)],
}

impl<'a> ResponseHead<'a> {
    pub(super) fn new(response: &'a HttpResponse) -> Self {
        ResponseHead { status: response.status, headers: &response.headers }
    }

    /// Returns the values of all headers with this name, such as `WWW-Authenticate`. The case of the name does not matter.
    /// Invalid UTF-8 is replaced with U+FFFD.
    pub fn values(self, name: &'a str) -> impl Iterator<Item = Cow<'a, str>> {
        let found = self.headers.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| String::from_utf8_lossy(value))
    }
}

impl fmt::Debug for ResponseHead<'_> {
    /// Omits the values of the headers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("ResponseHead").field("status", &self.status).field("headers", &names).finish()
    }
}

/// The decision of an [`Authorizer`] after the server has refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRefusal {
    /// Send the request again, with credentials from another call of [`Authorizer::authorize`].
    Repeat,
    /// Do not send the request again. Its caller receives the refusal as an error.
    GiveUp,
}

/// An [`Authorizer`] that sends the bearer token of a [`TokenProvider`], and never repeats a refused request.
pub(super) struct BearerTokens(pub(super) Arc<dyn TokenProvider>);

impl Authorizer for BearerTokens {
    fn authorize<'a>(&'a self, _: AuthorizedRequest<'a>) -> AuthorizeFuture<'a> {
        Box::pin(async {
            Ok(match self.0.token().await? {
                Some(token) => Credentials::bearer(&token)?,
                None => Credentials::none(),
            })
        })
    }
}
