//! [`Command`] and [`Exchange`]: the HTTP requests that the embedder makes for the engine.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::settings::{SettingsError, set_header};
use mcpwire_text::url::without_query;

/// Identifies an HTTP exchange: a request and its response. An engine never reuses an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub(super) u64);

impl ExchangeId {
    /// Returns the id as a number, for example to pass it to code in other languages.
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
    /// Returns the HTTP method in upper case, for example `POST`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verb::Post => "POST",
            Verb::Get => "GET",
            Verb::Delete => "DELETE",
        }
    }
}

/// An HTTP request that the embedder must make.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "all combinations occur")]
pub struct Exchange {
    /// The id that the embedder passes to the engine with each part of the response.
    pub id: ExchangeId,
    /// The method of the request.
    pub verb: Verb,
    /// The absolute URL of the request.
    pub uri: String,
    /// The names and values of the request headers. The HTTP client adds the headers that describe the connection and
    /// the body length, such as `Host` and `Content-Length`.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The request body. Empty for `GET` and `DELETE`.
    pub body: Vec<u8>,
    /// Whether the response stays open until the server ends it, as an event stream for notifications does.
    ///
    /// If `true`, use no read timeout, and do not count the exchange against the limit of a connection pool.
    pub is_long: bool,
    /// Whether the client needs the body of the response. `true` for requests and event streams.
    ///
    /// If `false`, the exchange carries a notification or an answer to a server request, or ends the session. Start
    /// such an exchange at once, even if a connection pool is full: the exchanges that fill the pool may wait for this
    /// one. [`Settings::max_posted_messages`](super::Settings::max_posted_messages) limits the number of these
    /// exchanges.
    pub is_request: bool,
    /// JSON-RPC id of the request that the HTTP request sends, or whose event stream it resumes. `None` for all other HTTP
    /// requests.
    pub request_id: Option<u64>,
    /// Number of HTTP requests for the same JSON-RPC request so far, this one included. At least 1.
    pub attempt: u32,
    /// Whether the HTTP client follows redirects to the same origin. If `false`, it returns the redirect as the response.
    pub follow_redirects: bool,
    /// Whether the HTTP client refuses to connect to addresses that are not public: loopback, private, link-local and reserved
    /// ones. Names are checked after they were resolved.
    pub public_addresses_only: bool,
}

impl Exchange {
    /// Creates a request that belongs to no connection, for example to an authorization server. It has no headers and no
    /// body, and the HTTP client follows no redirects.
    pub fn new(verb: Verb, uri: impl Into<String>) -> Self {
        Exchange {
            id: ExchangeId(0),
            verb,
            uri: uri.into(),
            headers: Vec::new(),
            body: Vec::new(),
            is_long: false,
            is_request: true,
            request_id: None,
            attempt: 1,
            follow_redirects: false,
            public_addresses_only: false,
        }
    }

    /// Adds a header to this HTTP request alone. Replaces a header of the same name.
    ///
    /// # Errors
    /// Returns an error if the name or the value is invalid, or if the engine or the HTTP client sets a header of this
    /// name.
    pub fn set_header(&mut self, name: impl Into<String>, value: impl Into<String>) -> Result<(), SettingsError> {
        set_header(&mut self.headers, name.into(), value.into())
    }
}

impl fmt::Debug for Exchange {
    /// Formats the request without header values, without the query of the URL, and without a body that is not JSON, such as the
    /// form of a request to an authorization server, because they may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        let body: &[u8] = if matches!(self.body.first(), Some(b'{' | b'[')) { &self.body } else { b"" };
        f.debug_struct("Exchange")
            .field("id", &self.id.0)
            .field("verb", &self.verb)
            .field("uri", &without_query(&self.uri))
            .field("headers", &names)
            .field("body", &mcpwire_text::excerpt(body))
            .field("body_len", &self.body.len())
            .field("is_long", &self.is_long)
            .field("is_request", &self.is_request)
            .field("request_id", &self.request_id)
            .field("attempt", &self.attempt)
            .field("follow_redirects", &self.follow_redirects)
            .field("public_addresses_only", &self.public_addresses_only)
            .finish()
    }
}

/// An instruction from the engine to the embedder: to start or to abort an HTTP exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// The embedder must make this HTTP request, immediately or as soon as a connection is free.
    Start(Exchange),
    /// The embedder must abort this HTTP exchange: close its response, or not make the request at all. The engine
    /// ignores all further input for this exchange.
    Abort(ExchangeId),
}
