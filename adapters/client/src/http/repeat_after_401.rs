//! [`AuthorizingClient`]: adds the credentials of an [`Authorizer`] to each request, and repeats a request that the server refuses with
//! status 401 or 403, at most [`MAX_ATTEMPTS`] times in total.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use mcpwire_core::http::{Exchange, Failure, FailureKind};
use zeroize::{Zeroize as _, Zeroizing};

use super::authorization_context::AuthorizationContext;
use super::authorizer::{
    AUTHORIZATION, AfterRefusal, AuthorizedRequest, Authorizer, AuthorizerError, Credentials, DPOP, Refusal,
    ResponseHead,
};
use super::token::TokenError;
use super::{HttpClient, HttpResponse, ResponseFuture, error_chain};
use crate::{catch_panic, lock};

/// Maximum number of times that a request is sent. 6: the first time, again with a nonce, again after a token refresh, and again
/// after each of three logins for more scopes.
const MAX_ATTEMPTS: u32 = 6;

/// An HTTP client that adds the credentials of an [`Authorizer`] to each request, and sends the request with `client`.
pub(super) struct AuthorizingClient {
    pub(super) authorizer: Arc<dyn Authorizer>,
    pub(super) client: Arc<dyn HttpClient>,
    pub(super) last_sent: Option<Arc<LastAuthorization>>,
}

/// Detects another authorization by the value of the header `Authorization`. Used if the authorizer does not report changes
/// itself.
#[derive(Default)]
pub(crate) struct LastAuthorization {
    pub(crate) context: AuthorizationContext,
    last: Mutex<LastRequest>,
}

#[derive(Default)]
enum LastRequest {
    #[default]
    None,
    /// The value of the header in the last request. `None` if the request had no such header.
    Sent(Option<Zeroizing<String>>),
}

impl LastAuthorization {
    /// Records the header value of a request that is about to be sent. If the value differs from the last one, reports a change
    /// to `context`.
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
    // The HTTP client shares the request. It is copied only if the server refuses it and the client still holds it.
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

/// A request whose last headers are the credentials. Dropping this value erases the credentials from memory, unless the HTTP
/// client still shares the request.
struct AuthorizedExchange {
    exchange: Arc<Exchange>,
    /// Number of headers before the credentials.
    own_headers: usize,
}

impl Drop for AuthorizedExchange {
    fn drop(&mut self) {
        if let Some(exchange) = Arc::get_mut(&mut self.exchange) {
            exchange.headers.iter_mut().skip(self.own_headers).for_each(|(_, value)| value.zeroize());
        }
    }
}

/// Moves the credentials to the end of the request's headers, and removes earlier headers with the same names. Returns the number
/// of headers before the credentials.
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

/// Moves the credentials out of the request again. `own_headers` is the number of headers before the credentials.
fn take_headers(exchange: &mut Arc<Exchange>, own_headers: usize, credentials: &mut Credentials) {
    for (name, value) in Arc::make_mut(exchange).headers.drain(own_headers..) {
        let place = if name == DPOP { &mut credentials.proof } else { &mut credentials.authorization };
        *place = Some(Zeroizing::new(value));
    }
}

/// Creates and runs a future of the authorizer. Converts an error or a panic to a [`Failure`].
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

/// Converts the error of an authorizer to the failure of the request.
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
#[path = "repeat_after_401_tests.rs"]
mod tests;
