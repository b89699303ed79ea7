//! [`Settings`]: the URL of the server, headers and limits.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::header_values::is_value;
use crate::header_params::is_token;
use crate::url::{is_address, without_fragment, without_query};

/// The two HTTP transports of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flavour {
    /// Streamable HTTP: one URL for all messages (2025-03-26 and later).
    Streamable,
    /// HTTP+SSE: one URL for the event stream, and another for messages of the client (2024-11-05).
    Sse,
}

/// The URL of a server, and how the engine uses HTTP.
///
/// [`Settings::new`] sets the defaults; change the fields before creating an [`Engine`](super::Engine).
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    pub(super) uri: String,
    pub(super) headers: Vec<(String, String)>,

    /// The transport that the server uses. `None`, the default, detects it.
    ///
    /// Set it to the value that [`Engine::flavour`](super::Engine::flavour) returned for an earlier connection, to save requests.
    pub flavour: Option<Flavour>,
    /// Whether to open an event stream for messages of legacy servers that belong to no request, such as list changes. Default:
    /// `true`.
    ///
    /// If the client supports roots, sampling or elicitation, the first request waits up to 1 s for the stream: a server's request
    /// before that would be lost. Servers need not offer the stream.
    pub listen: bool,
    /// Seed of the random part of delays. Default: 0. Different seeds keep clients from reconnecting at the same time.
    pub seed: u64,
    /// Maximum number of attempts to resume a broken stream without progress, before its request fails. Default: 5.
    ///
    /// With doubling delays, 5 attempts take half a minute, in which a busy server recovers. If the server is unreachable, the
    /// request fails after some 3 s.
    pub max_attempts: u32,
    /// Maximum number of bytes to read from an error response. Default: 64 KiB.
    ///
    /// JSON-RPC errors with their data fit; of HTML pages only the beginning is shown.
    pub max_refusal: usize,
    /// Maximum number of concurrent exchanges for notifications and answers. Default: 4; 0 counts as 1.
    ///
    /// These exchanges do not count against the connection pool, and servers accept them quickly. Further messages wait in order,
    /// and requests overtake them.
    pub max_posted_messages: usize,
    /// Maximum number of bytes of answers that wait to be sent. Default: 4 MiB. Above it, the server's requests get no answer.
    ///
    /// 4 MiB hold a hundred thousand answers to pings. Only a server that does not accept answers lets so many wait.
    pub max_queued_answers: usize,
}

/// The headers that the engine or the HTTP client sets.
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
    /// Creates the default settings for a server at an absolute `http` or `https` URL.
    ///
    /// # Errors
    /// If the URL is not absolute, has another scheme, or contains a user or a password. Use a header for credentials.
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

    /// Adds a header to all requests. Replaces an added header of the same name.
    ///
    /// # Errors
    /// If the name or the value is invalid, or if the engine or the HTTP client sets the header.
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

    /// Returns the URL of the server.
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

impl fmt::Debug for Settings {
    /// Omits header values and the query of the URL, which may be secrets.
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
