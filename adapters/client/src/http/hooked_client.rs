//! [`HookedClient`]: wraps an HTTP client, to call `on_request` before each request and to report the number of bytes.

use std::fmt;
use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcpwire_core::http::{Exchange, Failure, FailureKind, SettingsError};
use mcpwire_core::internal::MessageSummary;

use super::authorizer::AUTHORIZATION;
use super::repeat_after_401::LastAuthorization;
use super::{HttpClient, HttpResponse, ResponseFuture};
use crate::hooks::ConnectionHooks;
use crate::{Direction, Reader, catch_panic};

/// The callback that [`ConnectOptions::on_request`](crate::ConnectOptions::on_request) sets.
pub(crate) type OnRequest = Arc<dyn Fn(&CallInfo, &mut RequestHead<'_>) + Send + Sync>;

/// Describes the JSON-RPC message in the body of an HTTP request, for
/// [`ConnectOptions::on_request`](crate::ConnectOptions::on_request).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallInfo {
    /// Name of the server, as in errors.
    pub server: Arc<str>,
    /// Method of the JSON-RPC request or notification.
    ///
    /// `None` for HTTP requests without such a message. These send an answer to a request of the server, open or resume an event
    /// stream, or end the session.
    pub method: Option<String>,
    /// Name of the tool or prompt, or URI of the resource, in the parameters of the JSON-RPC message. `None` for other methods.
    pub target: Option<String>,
    /// Id of the JSON-RPC request. `None` if the HTTP request sends no JSON-RPC request.
    pub id: Option<u64>,
    /// Number of HTTP requests that were made for the same JSON-RPC request, including this one. At least 1.
    pub attempt: u32,
}

impl CallInfo {
    /// Returns the name of the called tool, or `None` if the message is not a tool call.
    pub fn tool(&self) -> Option<&str> {
        self.target.as_deref().filter(|_| self.method.as_deref() == Some("tools/call"))
    }
}

/// The method, URL and headers of an HTTP request that is about to be sent, to which a callback can add headers.
pub struct RequestHead<'e>(&'e mut Exchange);

impl RequestHead<'_> {
    /// Returns the HTTP method, such as `POST`.
    pub fn verb(&self) -> &'static str {
        self.0.verb.as_str()
    }

    /// Returns the absolute URL of the request.
    pub fn url(&self) -> &str {
        &self.0.uri
    }

    /// Returns the value of a header, or `None` if the request has no header of this name. The case of the name does not matter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Adds a header to this request. Replaces a header of the same name.
    ///
    /// # Errors
    /// If the name or the value is invalid, or if the protocol or the HTTP client sets a header of this name.
    pub fn header(&mut self, name: impl Into<String>, value: impl Into<String>) -> Result<(), SettingsError> {
        self.0.set_header(name, value)
    }
}

impl fmt::Debug for RequestHead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `Exchange` omits the values of headers, because they may be secrets.
        self.0.fmt(f)
    }
}

/// An HTTP client that calls `on_request` before each request, reports the number of bytes, and sends the request with `client`.
pub(crate) struct HookedClient {
    pub(crate) server: Arc<str>,
    pub(crate) on_request: Option<OnRequest>,
    /// Detects when `on_request` sets another value of the header `Authorization`. `None` if an authorizer sets this header.
    pub(crate) last_sent: Option<Arc<LastAuthorization>>,
    pub(crate) hooks: Option<Arc<ConnectionHooks>>,
    pub(crate) client: Arc<dyn HttpClient>,
}

impl HttpClient for HookedClient {
    fn send(&self, mut exchange: Exchange) -> ResponseFuture {
        if let Some(on_request) = &self.on_request {
            let MessageSummary { method, target } = MessageSummary::new(&exchange.body);
            let (id, attempt) = (exchange.request_id, exchange.attempt);
            let info = CallInfo { server: Arc::clone(&self.server), method, target, id, attempt };
            // If the callback panics, the request fails, because it must not be sent without the headers that the program adds.
            if let Err(message) = catch_panic(|| on_request(&info, &mut RequestHead(&mut exchange))) {
                let detail = format!("the callback `on_request` panicked: {message}");
                return Box::pin(ready(Err(Failure::new(FailureKind::NotMade, detail))));
            }
            if let Some(last_sent) = &self.last_sent {
                last_sent.sending(RequestHead(&mut exchange).get(AUTHORIZATION));
            }
        }
        let Some(hooks) = &self.hooks else { return self.client.send(exchange) };
        hooks.bytes(Direction::Sent, exchange.body.len() as u64);
        let (hooks, response) = (Arc::clone(hooks), self.client.send(exchange));
        Box::pin(async move {
            let response = response.await?;
            let body: Reader = Box::pin(CountedBody { hooks, body: response.body });
            Ok(HttpResponse { body, ..response })
        })
    }

    crate::properties_of_client!(self => self.client);
}

/// A response body that reports the number of received bytes to the observers.
struct CountedBody {
    hooks: Arc<ConnectionHooks>,
    body: Reader,
}

impl futures_io::AsyncRead for CountedBody {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let read = self.body.as_mut().poll_read(cx, buf);
        if let Poll::Ready(Ok(n)) = &read {
            self.hooks.bytes(Direction::Received, *n as u64);
        }
        read
    }
}
