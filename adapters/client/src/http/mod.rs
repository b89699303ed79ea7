//! HTTP for all clients: the trait of an HTTP client ([`HttpClient`]), access tokens ([`TokenProvider`]), and the exchanges of a
//! connection ([`Exchanges`]).
//!
//! The engine decides which requests to make, and the HTTP client makes them. The HTTP client manages connections, TLS and
//! proxies. The crates of the runtimes use `mcpwire-http` with their feature `http`; `mcpwire-reqwest` uses a `reqwest::Client`.
//! For another HTTP client, implement one function:
//!
//! ```no_run
//! # mod mcpwire { pub mod http { pub use mcpwire_core::http::Exchange; pub use mcpwire_client::http::{HttpClient,
//! # HttpOptions, HttpResponse, ResponseFuture}; } }
//! # struct Mine;
//! use mcpwire::http::{Exchange, HttpClient, HttpOptions, HttpResponse, ResponseFuture};
//!
//! impl HttpClient for Mine {
//!     fn send(&self, exchange: Exchange) -> ResponseFuture {
//!         Box::pin(async move {
//!             // Send `exchange.verb`, `exchange.uri`, `exchange.headers` and `exchange.body`; wait for the head.
//!             # let body: &[u8] = b"";
//!             let headers = vec![("content-type".to_owned(), b"application/json".to_vec())];
//!             Ok(HttpResponse::new(200, headers, body))
//!         })
//!     }
//! }
//!
//! let options = HttpOptions::default().client(Mine);
//! ```
//!
//! A closure is also an HTTP client:
//!
//! ```
//! # mod mcpwire { pub mod http { pub use mcpwire_core::http::{Exchange, Failure, FailureKind}; pub use
//! # mcpwire_client::http::HttpOptions; } }
//! use mcpwire::http::{Exchange, Failure, FailureKind, HttpOptions};
//!
//! let offline = async |exchange: Exchange| {
//!     Err(Failure::new(FailureKind::Unreachable, format!("{} is offline", exchange.uri)))
//! };
//! let options = HttpOptions::default().client(offline);
//! ```

mod authorization_context;
mod authorizer;
mod definition_setting;
mod error_chain;
mod exchanges;
mod hooked_client;
mod options;
mod public_address;
mod redirect;
mod repeat_after_401;
#[cfg(test)]
mod tests;
mod token;
mod trace;
mod wake_queue;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mcpwire_core::http::{Exchange, Failure};
pub use mcpwire_text::url::disguised_ipv4;

pub use authorization_context::AuthorizationContext;
pub(crate) use authorization_context::ContextWatch;
pub use authorizer::{
    AfterRefusal, AuthorizeFuture, AuthorizedRequest, Authorizer, AuthorizerError, Credentials, Refusal, RefusalFuture,
    ResponseHead, SettleFuture,
};
pub use definition_setting::DefinitionSetting;
pub use error_chain::error_chain;
pub use exchanges::Exchanges;
pub use hooked_client::{CallInfo, RequestHead};
pub(crate) use hooked_client::{HookedClient, OnRequest};
pub use options::{HttpOptions, check_applied};
pub use public_address::is_public_address;
pub use redirect::{MAX_REDIRECTS, redirect_target};
pub(crate) use repeat_after_401::LastAuthorization;
pub use token::{EnvToken, StaticToken, TokenError, TokenFuture, TokenProvider};

use crate::{ReadStream, Reader};

/// An HTTP client that makes the requests of a connection.
///
/// An implementation must follow these rules:
///
/// * Send each request with all of its headers, unchanged. Add only headers that the connection needs, such as `Host` and
///   `Content-Length`.
/// * Follow redirects to the same origin only, and redirects of a `POST` or `DELETE` only if they preserve the method (307, 308).
///   [`redirect_target`] implements this rule.
/// * Obey the settings of the request: [`Exchange::follow_redirects`] and [`Exchange::public_addresses_only`].
/// * Apply each setting for which [`applies`](Self::applies) returns `true`, to all requests.
/// * Return the response as soon as its head has arrived, because an event stream may stay open for days.
///
/// Closures that take an [`Exchange`] and return a future implement this trait, as do `Arc<T>` and `Box<dyn HttpClient>`.
pub trait HttpClient: Send + Sync + 'static {
    /// Sends a request. The future resolves when the head of the response has arrived.
    ///
    /// If the future, or a body that was not read to its end, is dropped, the client must close the HTTP/2 stream or the
    /// connection. This tells the server to stop the response.
    ///
    /// The task that drives the connection calls this function and polls the future, without holding a lock. Neither the function
    /// nor the future may block the thread. If one of them panics, the request fails with the message of the panic.
    fn send(&self, exchange: Exchange) -> ResponseFuture;

    /// Sends a request that the caller may send again, as [`send`](Self::send) does.
    ///
    /// An authorizer may need to repeat a request, so requests with an access token are sent with this function. The default
    /// implementation copies the request. An implementation that reads the body from the shared request saves this copy.
    fn send_shared(&self, exchange: Arc<Exchange>) -> ResponseFuture {
        self.send(Arc::unwrap_or_clone(exchange))
    }

    /// Returns the maximum number of requests in flight at the same time. Further requests wait. Called before each request.
    ///
    /// [Long-lived exchanges](Exchange::is_long), and exchanges [whose response is not needed](Exchange::is_request), are not
    /// counted and never wait. Default: 64, a number of connections that servers usually accept.
    fn capacity(&self) -> usize {
        64
    }

    /// Returns whether this client applies a setting of the server's definition to all of its requests. Default: `false`.
    ///
    /// If the definition contains a setting that the client does not apply, the connection fails. Otherwise, the client would
    /// send the messages elsewhere, or trust other certificates. A client that wraps another client must forward this call.
    fn applies(&self, setting: DefinitionSetting<'_>) -> bool {
        let _ = setting;
        false
    }

    /// Returns whether this client sets a `User-Agent` header itself for requests without that header. Default: `false`.
    ///
    /// A `User-Agent` header of the server's definition is always sent. Without it, requests get a header with the name and
    /// version of the program and of this library, unless this method returns `true`. A client that wraps another client must
    /// forward this call.
    fn has_user_agent(&self) -> bool {
        false
    }
}

/// Defines the methods of [`HttpClient`] that describe a client, for a client that wraps another client. They forward to that
/// client.
#[doc(hidden)]
#[macro_export]
macro_rules! properties_of_client {
    ($self:ident => $client:expr) => {
        fn capacity(&$self) -> usize {
            $client.capacity()
        }

        fn applies(&$self, setting: $crate::http::DefinitionSetting<'_>) -> bool {
            $client.applies(setting)
        }

        fn has_user_agent(&$self) -> bool {
            $client.has_user_agent()
        }
    };
}

/// The future of a response. It resolves when the head of the response has arrived.
pub type ResponseFuture = Pin<Box<dyn Future<Output = Result<HttpResponse, Failure>> + Send>>;

impl<T: HttpClient + ?Sized> HttpClient for Arc<T> {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        (**self).send(exchange)
    }

    fn send_shared(&self, exchange: Arc<Exchange>) -> ResponseFuture {
        (**self).send_shared(exchange)
    }

    crate::properties_of_client!(self => **self);
}

impl HttpClient for Box<dyn HttpClient> {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        (**self).send(exchange)
    }

    fn send_shared(&self, exchange: Arc<Exchange>) -> ResponseFuture {
        (**self).send_shared(exchange)
    }

    crate::properties_of_client!(self => **self);
}

impl<F, Fut> HttpClient for F
where
    F: Fn(Exchange) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<HttpResponse, Failure>> + Send + 'static,
{
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        Box::pin(self(exchange))
    }
}

/// An HTTP response: its head, and a reader of its body.
#[non_exhaustive]
pub struct HttpResponse {
    /// The status code. Interim responses (1xx) are not reported.
    pub status: u16,
    /// The names and values of the headers. The names may have any case. The HTTP client must limit the number of headers.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, after the HTTP client has removed its transfer encoding.
    ///
    /// The reader must return an error if the body ends too early. An error of the kind
    /// [`InvalidData`](std::io::ErrorKind::InvalidData) means that the response is not valid HTTP. Any other error means that the
    /// connection was lost.
    pub body: Reader,
}

impl HttpResponse {
    /// Creates a response from its status code, its headers, and a reader of its body. The fields of this type document the
    /// requirements.
    pub fn new(status: u16, headers: Vec<(String, Vec<u8>)>, body: impl ReadStream + Send + 'static) -> Self {
        HttpResponse { status, headers, body: Box::pin(body) }
    }
}

impl fmt::Debug for HttpResponse {
    /// Omits the values of the headers, because they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpResponse").field("status", &self.status).field("headers", &names).finish_non_exhaustive()
    }
}

/// Returns whether the value of a request header may be a secret.
///
/// Returns `false` only for headers that the engine sets from public data, such as `Content-Type`. An HTTP client must not log
/// the value of a secret header, nor add it to the compression table of HTTP/2.
pub fn is_secret_header(name: &str) -> bool {
    const PUBLIC: [&str; 7] =
        ["accept", "content-type", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "user-agent"];
    !PUBLIC.iter().any(|public| name.eq_ignore_ascii_case(public))
}
