//! [`Authorizer`]: the credentials of HTTP requests, and what happens when the server refuses them.
//!
//! Specification: protocol revision 2026-07-28, basic/authorization.

use std::borrow::Cow;
use std::fmt;
use std::future::{Future, poll_fn, ready};
use std::mem;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use mcpwire_core::http::{Exchange, Failure, FailureKind};
use mcpwire_core::internal::MessageSummary;
use zeroize::{Zeroize as _, Zeroizing};

use super::authorization_context::AuthorizationContext;
use super::token::{TokenError, TokenProvider};
use super::{HttpClient, HttpResponse, ResponseFuture, error_chain};
use crate::{catch_panic, lock};

/// Maximum number of times that a request is sent. 6: once, after a nonce, after a refresh, and after each of three logins
/// for more scopes.
const MAX_ATTEMPTS: u32 = 6;

/// Adds credentials to the HTTP requests of a connection, and reacts when the server refuses them.
///
/// Implement [`TokenProvider`] instead if the program only has a token to send.
pub trait Authorizer: Send + Sync + 'static {
    /// Returns the credentials for a request. Called for each request, and again when a request is repeated.
    ///
    /// # Errors
    /// The request fails with the error, as [`ErrorKind::Unauthorized`](crate::ErrorKind::Unauthorized), or with the kind that an
    /// [`AuthorizerError`] names. [`Error::authorization_error`](crate::Error::authorization_error) returns it from the error of
    /// the request. The error and its sources must not contain secrets.
    fn authorize<'a>(&'a self, request: AuthorizedRequest<'a>) -> AuthorizeFuture<'a>;

    /// Called when the server has refused a request with status 401 or 403. Returns whether to repeat the request.
    ///
    /// A request is sent at most six times. The default implementation returns [`AfterRefusal::GiveUp`].
    ///
    /// # Errors
    /// As [`authorize`](Self::authorize).
    fn refused<'a>(&'a self, refusal: Refusal<'a>) -> RefusalFuture<'a> {
        let _ = refusal;
        Box::pin(ready(Ok(AfterRefusal::GiveUp)))
    }

    /// Called with the head of each response, for example to take a new nonce from it. The default implementation does nothing.
    fn responded(&self, request: AuthorizedRequest<'_>, response: ResponseHead<'_>) {
        let _ = (request, response);
    }

    /// Returns the value that tells connections when the requests have another authorization. Called once, when the authorizer is
    /// added to the options of a connection.
    ///
    /// The default implementation returns `None`: then each value of the header `Authorization` that differs from that of the
    /// request before counts as another authorization, which is noticed when the request is sent.
    fn context(&self) -> Option<AuthorizationContext> {
        None
    }

    /// Waits for the requests of the authorizer whose results must not be lost when the program ends, such as a token refresh. Called
    /// by the `shutdown` of a client. The default implementation returns at once.
    ///
    /// # Errors
    /// If such a request has not ended in time. The `shutdown` fails with the error.
    fn settle(&self) -> SettleFuture<'_> {
        Box::pin(ready(Ok(())))
    }
}

/// Forwards each method, also those with a default implementation.
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

/// An error of an [`Authorizer`] that tells the caller of the request what helps. Its `Display` is that of the error in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizerError {
    /// A user must log in. The request fails as [`ErrorKind::LoginRequired`](crate::ErrorKind::LoginRequired). Its message contains
    /// only the text of the error in it, which should say that a login is required.
    #[error("{0}")]
    LoginRequired(TokenError),
    /// There is no token now, and a later request may get one. The request fails as
    /// [`ErrorKind::Unavailable`](crate::ErrorKind::Unavailable), and can be repeated.
    #[error("{0}")]
    Temporary(TokenError),
}

/// The future of the credentials of a request. Returned by [`Authorizer::authorize`].
pub type AuthorizeFuture<'a> = Pin<Box<dyn Future<Output = Result<Credentials, TokenError>> + Send + 'a>>;

/// The future of the reaction to a refusal. Returned by [`Authorizer::refused`].
pub type RefusalFuture<'a> = Pin<Box<dyn Future<Output = Result<AfterRefusal, TokenError>> + Send + 'a>>;

/// The future of the wait before a program ends. Returned by [`Authorizer::settle`].
pub type SettleFuture<'a> = Pin<Box<dyn Future<Output = Result<(), TokenError>> + Send + 'a>>;

/// A request that an [`Authorizer`] adds credentials to.
#[derive(Clone, Copy, Debug)]
pub struct AuthorizedRequest<'a>(&'a Exchange);

impl<'a> AuthorizedRequest<'a> {
    /// Returns the HTTP method, such as `POST`.
    pub fn verb(&self) -> &'static str {
        self.0.verb.as_str()
    }

    /// Returns the absolute URL.
    pub fn url(&self) -> &'a str {
        &self.0.uri
    }

    /// Returns the method of the JSON-RPC message, and the tool, prompt or resource that it names, such as `tools/call echo`.
    ///
    /// Empty for requests without such a message. Reads the message, so it takes time in proportion to its length.
    pub fn operation(&self) -> String {
        let MessageSummary { method, target } = MessageSummary::new(&self.0.body);
        match (method, target) {
            (Some(method), Some(target)) => format!("{method} {target}"),
            (method, _) => method.unwrap_or_default(),
        }
    }
}

pub(super) const AUTHORIZATION: &str = "Authorization";
const DPOP: &str = "DPoP";

/// The headers that authorize a request. They are erased from memory when they are dropped.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The value of the header `Authorization`.
    authorization: Option<Zeroizing<String>>,
    /// The value of the header `DPoP`.
    proof: Option<Zeroizing<String>>,
    /// A number of the authorizer's choice.
    pub id: u64,
}

impl Credentials {
    /// Creates credentials without headers: the request is sent as it is.
    pub fn none() -> Self {
        Credentials::default()
    }

    /// Creates the header `Authorization: Bearer`.
    ///
    /// # Errors
    /// If the token is empty, or contains other characters than visible ASCII characters.
    pub fn bearer(token: &str) -> Result<Self, TokenError> {
        Credentials::with_scheme("Bearer", token)
    }

    /// Creates the headers `Authorization: DPoP` and `DPoP` (RFC 9449, section 7.1).
    ///
    /// # Errors
    /// As [`bearer`](Self::bearer), for token and proof.
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

/// Returns the token if a header can contain it. The error omits the token, because it is a secret.
fn checked(token: &str) -> Result<&str, TokenError> {
    // A line break would begin another header.
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

/// A response with status 401 or 403.
#[derive(Debug)]
#[non_exhaustive]
pub struct Refusal<'a> {
    /// The request that was refused.
    pub request: AuthorizedRequest<'a>,
    /// The credentials that the request was sent with.
    pub sent: &'a Credentials,
    /// The head of the response.
    pub response: ResponseHead<'a>,
    /// Number of times that the request was sent.
    pub attempts: u32,
}

/// The status and the headers of a response.
#[derive(Clone, Copy)]
pub struct ResponseHead<'a> {
    /// The status code.
    pub status: u16,
    headers: &'a [(String, Vec<u8>)],
}

impl<'a> ResponseHead<'a> {
    fn new(response: &'a HttpResponse) -> Self {
        ResponseHead { status: response.status, headers: &response.headers }
    }

    /// Returns the values of the headers of this name, such as `WWW-Authenticate`. Invalid UTF-8 is replaced.
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

/// What happens after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRefusal {
    /// Repeats the request with new credentials.
    Repeat,
    /// The caller gets the refusal.
    GiveUp,
}

/// An [`Authorizer`] that sends the tokens of a [`TokenProvider`].
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

/// An HTTP client that adds the credentials of an [`Authorizer`] to each request.
pub(super) struct AuthorizingClient {
    pub(super) authorizer: Arc<dyn Authorizer>,
    pub(super) client: Arc<dyn HttpClient>,
    pub(super) last_sent: Option<Arc<LastAuthorization>>,
}

/// The last value of the header `Authorization`, if nobody tells when the authorization changes.
#[derive(Default)]
pub(crate) struct LastAuthorization {
    pub(crate) context: AuthorizationContext,
    last: Mutex<LastRequest>,
}

#[derive(Default)]
enum LastRequest {
    #[default]
    None,
    /// The value, or `None` without the header.
    Sent(Option<Zeroizing<String>>),
}

impl LastAuthorization {
    /// Takes the value of a request that is about to be sent.
    pub(super) fn sending(&self, authorization: Option<&str>) {
        let mut last = lock(&self.last);
        match &*last {
            LastRequest::Sent(value) if value.as_ref().map(|value| value.as_str()) == authorization => return,
            LastRequest::Sent(_) => self.context.change(),
            LastRequest::None => {}
        }
        *last = LastRequest::Sent(authorization.map(|value| Zeroizing::new(value.to_owned())));
    }
}

impl HttpClient for AuthorizingClient {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        let (authorizer, client) = (Arc::clone(&self.authorizer), Arc::clone(&self.client));
        let last_sent = self.last_sent.clone();
        Box::pin(async move { send(&*authorizer, &*client, last_sent.as_deref(), exchange).await })
    }

    crate::properties_of_client!(self => self.client);
}

async fn send(
    authorizer: &dyn Authorizer,
    client: &dyn HttpClient,
    last_sent: Option<&LastAuthorization>,
    exchange: Exchange,
) -> Result<HttpResponse, Failure> {
    // Shared with the HTTP client, so that a request that is not refused costs no copy.
    let mut with_headers = AuthorizedExchange { own_headers: exchange.headers.len(), exchange: Arc::new(exchange) };
    let mut attempts = 0;
    loop {
        let exchange = &mut with_headers.exchange;
        let mut sent = guarded(|| authorizer.authorize(AuthorizedRequest(exchange))).await?;
        if let Some(last_sent) = last_sent {
            last_sent.sending(sent.authorization.as_ref().map(|value| value.as_str()));
        }
        with_headers.own_headers = add_headers(exchange, &mut sent);
        let response = client.send_shared(Arc::clone(exchange)).await?;
        attempts += 1;
        let head = ResponseHead::new(&response);
        caught(|| authorizer.responded(AuthorizedRequest(exchange), head))?;
        if !matches!(response.status, 401 | 403) || attempts == MAX_ATTEMPTS {
            return Ok(response);
        }
        take_headers(exchange, with_headers.own_headers, &mut sent);
        let refusal = Refusal { request: AuthorizedRequest(exchange), sent: &sent, response: head, attempts };
        match guarded(|| authorizer.refused(refusal)).await? {
            AfterRefusal::Repeat => {}
            AfterRefusal::GiveUp => return Ok(response),
        }
    }
}

/// A request with the headers of the credentials at the end. They are erased from memory when it is dropped, if the HTTP client has
/// released the request.
struct AuthorizedExchange {
    exchange: Arc<Exchange>,
    /// The number of the other headers.
    own_headers: usize,
}

impl Drop for AuthorizedExchange {
    fn drop(&mut self) {
        if let Some(exchange) = Arc::get_mut(&mut self.exchange) {
            exchange.headers.iter_mut().skip(self.own_headers).for_each(|(_, value)| value.zeroize());
        }
    }
}

/// Moves the headers of the credentials to the end of the request's headers. Returns the number of the other headers.
fn add_headers(exchange: &mut Arc<Exchange>, credentials: &mut Credentials) -> usize {
    if credentials.authorization.is_none() {
        return exchange.headers.len();
    }
    let headers = &mut Arc::make_mut(exchange).headers;
    headers.retain(|(name, _)| ![AUTHORIZATION, DPOP].iter().any(|added| name.eq_ignore_ascii_case(added)));
    let own_headers = headers.len();
    headers.reserve_exact(1 + usize::from(credentials.proof.is_some()));
    let added = [(AUTHORIZATION, credentials.authorization.take()), (DPOP, credentials.proof.take())];
    headers.extend(added.into_iter().filter_map(|(name, value)| Some((Cow::Borrowed(name), mem::take(&mut *value?)))));
    own_headers
}

/// Moves the headers of the credentials back.
fn take_headers(exchange: &mut Arc<Exchange>, own_headers: usize, credentials: &mut Credentials) {
    for (name, value) in Arc::make_mut(exchange).headers.drain(own_headers..) {
        let place = if name == DPOP { &mut credentials.proof } else { &mut credentials.authorization };
        *place = Some(Zeroizing::new(value));
    }
}

/// Runs a future of the authorizer. A panic and an error become a [`Failure`].
async fn guarded<'a, T, F>(create: impl FnOnce() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, TokenError>> + Send + 'a,
{
    let mut future = pin!(caught(create)?);
    let result = poll_fn(|cx| match catch_panic(|| future.as_mut().poll(cx)) {
        Ok(result) => result.map(|result| result.map_err(failure)),
        Err(message) => Poll::Ready(Err(panicked(&message))),
    });
    result.await
}

fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_panic(call).map_err(|message| panicked(&message))
}

#[cold]
fn panicked(message: &str) -> Failure {
    Failure::new(FailureKind::Unauthorized, format!("the token provider panicked: {message}"))
}

/// Returns the failure of a request whose authorizer failed.
#[cold]
fn failure(error: TokenError) -> Failure {
    let (kind, error) = match error.downcast::<AuthorizerError>().map(|error| *error) {
        Ok(AuthorizerError::LoginRequired(error)) => (FailureKind::LoginRequired, error),
        Ok(AuthorizerError::Temporary(error)) => (FailureKind::TokenUnavailable, error),
        Err(error) => (FailureKind::Unauthorized, error),
    };
    Failure::new(kind, error_chain(&*error)).with_cause(error)
}

#[cfg(test)]
#[path = "authorizer_tests.rs"]
mod tests;
