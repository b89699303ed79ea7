//! What is to be done: exchanges, as the embedder gets them.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::url::without_query;

/// Names an exchange for as long as its engine lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub(super) u64);

impl ExchangeId {
    /// The name as a number, for tables of other languages and tools.
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
    /// As it stands on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verb::Post => "POST",
            Verb::Get => "GET",
            Verb::Delete => "DELETE",
        }
    }
}

/// A request that is to be made.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exchange {
    /// What is told of it goes under this name.
    pub id: ExchangeId,
    /// The method.
    pub verb: Verb,
    /// Where to: absolute.
    pub uri: String,
    /// The headers, without those that are the HTTP client's: `Host`, `Content-Length` and the like.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The body; empty for `GET` and `DELETE`.
    pub body: Vec<u8>,
    /// It is meant to stay open: it should not take the place of others in a bounded pool, and silence on it says nothing.
    pub is_long: bool,
    /// Whether it waits for an answer. Other exchanges, such as a notification or an answer of the client, should not wait for a
    /// place in a bounded pool: the exchanges that have the places may wait for them. The engine starts few of them at a time
    /// ([`Settings::max_posted_messages`](super::Settings::max_posted_messages)).
    pub is_request: bool,
}

impl fmt::Debug for Exchange {
    /// Without the values of headers, and without the query of the address: both may be secrets.
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

/// What the embedder is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// Make this request. It may wait until a connection is free.
    Start(Exchange),
    /// Give an exchange up: close its response, or do not make the request at all. Whatever is still told of it is ignored.
    Abort(ExchangeId),
}
