//! HTTP, without an HTTP client: what one has to do to carry a connection ([`HttpClient`]), and who gives tokens
//! ([`TokenProvider`]).
//!
//! The engine says which requests are to be made, and is told what came of them; the adapter runs them. Which connections there are, which TLS, which proxies, is the HTTP client's. `mcpwire-http` is the one that the
//! runtimes' crates bring with their feature `http`; any other does as well:
//!
//! ```no_run
//! # struct Mine;
//! use mcpwire_core::http::{Exchange, Failure, FailureKind};
//! use mcpwire_client::http::{Begun, HttpClient, HttpOptions, HttpResponse};
//! use mcpwire_driver::ConnectOptions;
//!
//! impl HttpClient for Mine {
//!     fn begin(&self, exchange: Exchange) -> Begun {
//!         Box::pin(async move {
//!             // Send `exchange.verb`, `exchange.uri`, `exchange.headers` and `exchange.body`; wait for the head.
//!             # let body: &[u8] = b"";
//!             let headers = vec![("content-type".to_owned(), b"application/json".to_vec())];
//!             Ok(HttpResponse { status: 200, headers, body: Box::pin(body) })
//!         })
//!     }
//! }
//!
//! let options = ConnectOptions::default().http(HttpOptions::default().client(Mine));
//! ```

mod exchanges;
mod options;
mod ready;
mod token;
mod watch;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use mcpwire_core::http::{Exchange, Failure};

pub use exchanges::Exchanges;
pub use options::HttpOptions;
pub use token::{EnvToken, StaticToken, TokenProvider};

use crate::Reader;

/// Any HTTP client, as far as a connection needs one.
///
/// It makes each request as it is told to: all of its headers, and none that the engine sets in another way. What it may add is
/// what belongs to the connection (`Host`, `Content-Length`). It follows redirects to the same origin only, and for `POST` only
/// those that keep it one (307, 308). It does not wait for the end of a response: a stream of events has none for long.
pub trait HttpClient: Send + Sync + 'static {
    /// Makes a request. The future ends with the head of the response; dropped before, or with the body half read, the request is
    /// given up, which servers are to notice: its stream or connection is closed.
    ///
    /// This is called, and the future polled, by the task that drives the connection and with no lock held. It must not block.
    /// If it panics, the request fails with the message.
    fn begin(&self, exchange: Exchange) -> Begun;

    /// How many requests it carries at the same time; what is more, waits. What is meant to stay open
    /// ([`Exchange::is_long`]), and what others may wait for ([`Exchange::is_request`] is false), is not held back. Asked each
    /// time. 64 by default: with a connection for each, what a server bears.
    fn capacity(&self) -> usize {
        64
    }
}

/// A request that has been begun, until the head of its response is there.
pub type Begun = Pin<Box<dyn Future<Output = Result<HttpResponse, Failure>> + Send>>;

/// A response, as far as it has come: its head, and where the rest is read from.
pub struct HttpResponse {
    /// The status. Interim responses (1xx) are not told.
    pub status: u16,
    /// The headers, with their names in any case. How many of them there may be is for the HTTP client to limit.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, without what belongs to the transfer. Errors of the kind
    /// [`InvalidData`](std::io::ErrorKind::InvalidData) say that it breaks the rules of HTTP, others that the connection was lost;
    /// a body that ends too early is an error.
    pub body: Reader,
}

impl fmt::Debug for HttpResponse {
    /// Without the values of headers: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpResponse").field("status", &self.status).field("headers", &names).finish_non_exhaustive()
    }
}
