//! [`Command`] and [`Exchange`]: the HTTP requests that the embedder makes for the engine.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::url::without_query;

/// Identifies an exchange. An engine does not reuse ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub(super) u64);

impl ExchangeId {
    /// Returns the id as a number, for code in other languages.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// The method of an HTTP request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verb {
    /// `POST`.
    Post,
    /// `GET`.
    Get,
    /// `DELETE`.
    Delete,
}

impl Verb {
    /// Returns the method in upper case, as in the request line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verb::Post => "POST",
            Verb::Get => "GET",
            Verb::Delete => "DELETE",
        }
    }
}

/// An HTTP request to make.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exchange {
    /// The id to pass to the engine with each part of the response.
    pub id: ExchangeId,
    /// The method of the request.
    pub verb: Verb,
    /// The absolute URL.
    pub uri: String,
    /// The headers. The HTTP client adds those of the connection, such as `Host` and `Content-Length`.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The body, empty for `GET` and `DELETE`.
    pub body: Vec<u8>,
    /// Whether the response stays open until the server ends it. Such an exchange needs no read timeout, and should not take a
    /// slot of a bounded connection pool.
    pub is_long: bool,
    /// Whether the exchange needs an answer of the server.
    ///
    /// Other exchanges carry notifications and answers, and must not wait for a slot of a bounded connection pool: the exchanges
    /// that hold the slots may wait for them. [`Settings::max_posted_messages`](super::Settings::max_posted_messages) limits their
    /// number.
    pub is_request: bool,
}

impl fmt::Debug for Exchange {
    /// Omits header values and the query of the URL, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("Exchange")
            .field("id", &self.id.0)
            .field("verb", &self.verb)
            .field("uri", &without_query(&self.uri))
            .field("headers", &names)
            .field("body", &crate::text::excerpt(&self.body))
            .field("is_long", &self.is_long)
            .field("is_request", &self.is_request)
            .finish()
    }
}

/// An instruction to the embedder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Make this request, at once or when a connection is free.
    Start(Exchange),
    /// Abort this exchange: close its response, or do not make the request at all. The engine ignores later calls for the id.
    Abort(ExchangeId),
}
