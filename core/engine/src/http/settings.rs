//! What the embedder decides about HTTP.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::header_values::is_value;
use crate::header_params::is_token;
use crate::url::{is_address, without_fragment, without_query};

/// The two shapes of the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flavour {
    /// One address for everything (2025-03-26 and later).
    Streamable,
    /// A stream of events, and another address for what the client sends (2024-11-05).
    Sse,
}

/// Where a server is, and how it is spoken to. Make one with [`Settings::new`] and change what is to be other than the
/// default.
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    pub(super) uri: String,
    pub(super) headers: Vec<(String, String)>,

    /// The shape of the transport; `None`, the default, to find out. For hosts that remember it.
    pub flavour: Option<Flavour>,
    /// Whether to open a stream on which legacy servers say what belongs to no request, such as that a list has changed; true
    /// by default. It is opened once the connection is, and a server that has none is none the worse for it. Where the client can
    /// be asked something (roots, sampling, elicitation), its first request waits until the stream is there, for a second at most:
    /// what a server asks before that is lost.
    pub listen: bool,
    /// Chance, for waits that shall not be those of all other clients. 0 by default; any number of the embedder's does.
    pub seed: u64,
    /// How often a stream that was lost is taken up again without anything new coming on it, before the request fails. 5: with
    /// the doubled waits that is half a minute, in which a server that is busy recovers. Where nobody is there at all, it fails
    /// sooner, after some 3 s.
    pub max_attempts: u32,
    /// How much of the body of a refusal is read, in bytes. 64 KiB: errors of the protocol with their data fit, and of pages for
    /// people only the beginning is shown.
    pub max_refusal: usize,
    /// The most notifications and answers that are posted at the same time; at least one is. 4: servers accept them at once, and
    /// each is an exchange beside those that the pool of connections limits. The others wait in order, and requests overtake them.
    pub max_posted_messages: usize,
    /// The number of bytes of waiting answers from which on further requests of the server get no answer. 4 MiB: a hundred
    /// thousand answers to pings, which only a server that does not accept answers lets wait.
    pub max_queued_answers: usize,
}

/// Headers that the engine sets; and those that belong to the connection, which only the HTTP client knows.
const RESERVED: [&str; 13] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "transfer-encoding",
    "upgrade",
];

impl Settings {
    /// The defaults, for the server at this address: absolute, `http` or `https`.
    ///
    /// # Errors
    /// If requests cannot be sent to such an address. User and password do not belong into it, but into a header.
    pub fn new(uri: impl Into<String>) -> Result<Self, SettingsError> {
        let uri: String = uri.into();
        let uri = without_fragment(&uri);
        if !is_address(uri) {
            return Err(SettingsError::Address);
        }
        Ok(Settings {
            uri: uri.into(),
            headers: Vec::new(),
            flavour: None,
            listen: true,
            seed: 0,
            max_attempts: 5,
            max_refusal: 64 << 10,
            max_posted_messages: 4,
            max_queued_answers: 4 << 20,
        })
    }

    /// Adds a header to all requests. One of the same name that was added before goes.
    ///
    /// # Errors
    /// If it cannot be a header, or is one that the engine sets itself.
    pub fn header(&mut self, name: impl Into<String>, value: impl Into<String>) -> Result<(), SettingsError> {
        let (name, value) = (name.into(), value.into());
        let lower = name.to_ascii_lowercase();
        if !is_token(&name) || RESERVED.contains(&lower.as_str()) || lower.starts_with("mcp-param-") {
            return Err(SettingsError::HeaderName { name: crate::text::excerpt(name.as_bytes()) });
        }
        if !is_value(&value) {
            return Err(SettingsError::HeaderValue { name });
        }
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
        self.headers.push((name, value));
        Ok(())
    }

    /// The server's address.
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

impl fmt::Debug for Settings {
    /// Without the values of headers, and without the query of the address: both may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Settings")
            .field("uri", &without_query(&self.uri))
            .field("headers", &names)
            .field("flavour", &self.flavour)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

/// What is wrong with an address or a header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The address is not absolute, not `http` or `https`, or has user and password in it.
    #[error(
        "invalid server address: it must begin with http:// or https://, name a host, and contain no user or password"
    )]
    Address,
    /// The name is no header's, or one that the engine sets.
    #[error("the header `{name}` cannot be added: its name is invalid, or the protocol sets it")]
    HeaderName {
        /// The name, printable.
        name: String,
    },
    /// The value has characters that a header cannot have.
    #[error("the value of the header `{name}` has characters that headers cannot have")]
    HeaderValue {
        /// The header's name.
        name: String,
    },
}
