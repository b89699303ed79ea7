//! [`Settings`]: the URL of the server, HTTP headers and limits.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::header_values::{Headers, is_value};
use crate::header_params::is_token;
use mcpwire_text::url::{is_address, without_fragment, without_query};

/// One of the two HTTP transports of the Model Context Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flavour {
    /// Streamable HTTP: one URL for all messages (from protocol revision 2025-03-26).
    Streamable,
    /// HTTP+SSE: one URL for the event stream, and another to which the client posts messages (protocol revision
    /// 2024-11-05).
    Sse,
}

/// The URL of an MCP server, and how the engine uses HTTP.
///
/// [`Settings::new`] sets the defaults. Change the fields before creating an [`Engine`](super::Engine).
#[derive(Clone)]
#[non_exhaustive]
pub struct Settings {
    pub(super) uri: String,
    pub(super) headers: Headers,

    /// The HTTP transport that the server uses. `None`, the default, makes the engine detect it.
    ///
    /// To skip the detection, set the value that [`Engine::flavour`](super::Engine::flavour) returned for an earlier
    /// connection.
    pub flavour: Option<Flavour>,
    /// Whether to open an event stream for server messages that belong to no client request, such as list changes.
    /// Default: `true`.
    ///
    /// Only legacy servers (up to revision 2025-11-25) have this stream. If the client supports roots, sampling or
    /// elicitation, the first request waits up to 1 s for the stream, so that no server request is lost.
    pub listen: bool,
    /// Seed for the random part of the delays before event streams are resumed. Default: 0.
    ///
    /// Set a different seed in each client, so that clients do not reconnect at the same time.
    pub seed: u64,
    /// Maximum number of consecutive attempts to resume a broken event stream. After these attempts, the request whose
    /// response was expected on the stream fails. Default: 5.
    ///
    /// A message or a new event id on the stream resets the number of attempts to 0. Five attempts take about half a
    /// minute, because the delays double. If the server is unreachable, the request fails after about 3 s.
    ///
    /// While subscriptions need the `GET` event stream of a legacy server, ten further attempts follow, at most one a
    /// minute. After them, the subscriptions end with the error.
    pub max_attempts: u32,
    /// Maximum number of bytes to keep of the body of an HTTP error response. Default: 64 KiB.
    ///
    /// The engine discards further bytes. JSON-RPC errors are usually shorter.
    pub max_refusal: usize,
    /// Maximum number of HTTP exchanges that send notifications and answers to server requests at the same time.
    /// Default: 4. The engine treats 0 as 1.
    ///
    /// Further notifications and answers wait in the engine until one of these exchanges ends. A connection pool should
    /// not count these exchanges against its limit.
    pub max_posted_messages: usize,
    /// Maximum number of bytes of answers to server requests that wait to be sent. Default: 4 MiB, enough for about a
    /// hundred thousand answers to pings.
    ///
    /// Server requests that arrive when this limit is reached get no answer.
    pub max_queued_answers: usize,
}

/// Names of the headers that embedders cannot add, because the engine or the HTTP client sets them.
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
    /// Creates the default settings for the server at `uri`, an absolute `http` or `https` URL.
    ///
    /// # Errors
    /// Returns an error if the URL is invalid or not absolute, has another scheme, or contains a user or a password.
    /// Use a header for credentials.
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

    /// Adds a header to all HTTP requests. Replaces a header of the same name that was added before.
    ///
    /// # Errors
    /// Returns an error if the name or the value is invalid, or if the engine or the HTTP client sets a header of this
    /// name.
    pub fn header(&mut self, name: impl Into<String>, value: impl Into<String>) -> Result<(), SettingsError> {
        set_header(&mut self.headers, name.into(), value.into())
    }

    /// Returns the URL of the server.
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

/// Adds a header of the program in place of one of the same name. Returns an error if the header is invalid, or set by the
/// engine or the HTTP client.
pub(super) fn set_header(headers: &mut Headers, name: String, value: String) -> Result<(), SettingsError> {
    let lower = name.to_ascii_lowercase();
    if !is_token(&name) || RESERVED.contains(&lower.as_str()) || lower.starts_with("mcp-param-") {
        return Err(SettingsError::HeaderName { name: mcpwire_text::excerpt(name.as_bytes()) });
    }
    if !is_value(&value) {
        return Err(SettingsError::HeaderValue { name });
    }
    headers.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
    headers.push((name.into(), value));
    Ok(())
}

impl fmt::Debug for Settings {
    /// Formats the settings without header values and without the query of the URL, because they may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("Settings")
            .field("uri", &without_query(&self.uri))
            .field("headers", &names)
            .field("flavour", &self.flavour)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

/// The reason why a server URL or a header is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The server's URL is not an absolute `http` or `https` URL, or contains a user name or a password.
    #[error(
        "invalid server address: it must begin with http:// or https://, name a host, and contain no user or password"
    )]
    Address,
    /// The header name is invalid, or the engine or the HTTP client sets this header itself.
    #[error("the header `{name}` cannot be added: its name is invalid, or the protocol sets it")]
    HeaderName {
        /// The rejected header name, without control characters.
        name: String,
    },
    /// The header value contains characters that are invalid in a header, or white space at its start or end.
    #[error("the value of the header `{name}` has characters that headers cannot have")]
    HeaderValue {
        /// The name of the header whose value is invalid.
        name: String,
    },
}
