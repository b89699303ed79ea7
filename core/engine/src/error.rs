//! [`RpcError`]: an error that the server reported. [`PeerError`]: a mistake in a message of the server.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::path::path_at;
use crate::json::read::ReadError;
use crate::json::{Json, from_json};
use crate::printable;
use crate::text::excerpt;
use crate::types::ElicitUrl;

/// A JSON-RPC error object (JSON-RPC 2.0, section 5.1), which one side answers a request with.
///
/// The associated constants are the codes that JSON-RPC and MCP define. A server may use other codes.
/// `Display` shows up to 4 KiB of the message and the start of the data, without control characters; the fields hold all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", shown_message(message, *code), shown_data(data.as_ref()))]
#[non_exhaustive]
pub struct RpcError {
    /// The code; 0 if the server sent no integer.
    pub code: i64,
    /// The description of the error; may be empty.
    pub message: String,
    /// Additional information, in a format of the server's choice.
    pub data: Option<Json>,
}

impl RpcError {
    /// The message is not valid JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The message is not a valid request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are invalid, or the tool does not exist.
    pub const INVALID_PARAMS: i64 = -32602;
    /// An internal error.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The resource does not exist. Revisions after 2025-11-25 use [`RpcError::INVALID_PARAMS`].
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// An HTTP header contradicts the body (2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a capability that the client did not declare (2026-07-28).
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: i64 = -32021;
    /// The server does not support the protocol version of the request (2026-07-28).
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

    /// The user has to visit a URL first (2025-11-25); see [`RpcError::required_elicitations`].
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// The user rejected the request. Clients answer `sampling/createMessage` with it.
    pub const USER_REJECTED: i64 = -1;

    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        RpcError { code, message: message.into(), data: None }
    }

    /// Returns the URLs that the user has to visit before the request can succeed (2025-11-25, client/elicitation, "URL
    /// Elicitation Required Error").
    ///
    /// Empty unless the code is [`RpcError::URL_ELICITATION_REQUIRED`].
    pub fn required_elicitations(&self) -> Vec<ElicitUrl> {
        if self.code != RpcError::URL_ELICITATION_REQUIRED {
            return Vec::new();
        }
        let list = self.data.as_ref().and_then(|data| data.member_text("elicitations"));
        list.and_then(from_json::from_str).unwrap_or_default()
    }
}

/// Maximum length of a server's message in an error, in bytes. A stack trace fits; a message that fills a terminal does not.
const MAX_SHOWN: usize = 4 * 1024;

fn shown_message(message: &str, code: i64) -> String {
    if message.is_empty() {
        return alloc::format!("error {code} without a message");
    }
    let cut = (0..=MAX_SHOWN.min(message.len())).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
    let ellipsis = if cut < message.len() { "…" } else { "" };
    alloc::format!("{}{ellipsis} (code {code})", printable(&message[..cut]))
}

fn shown_data(data: Option<&Json>) -> String {
    data.map(|data| alloc::format!(": {}", excerpt(data.get().as_bytes()))).unwrap_or_default()
}

/// The error of a message from the server that does not follow the specification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}, in: {excerpt}", shown_place(at))]
#[non_exhaustive]
pub struct PeerError {
    /// What is wrong with the message.
    pub kind: PeerErrorKind,
    /// The path of the invalid part, such as `result.tools`; empty if the message as a whole is invalid.
    pub at: String,
    /// The text around the invalid part, or the start of the message: at most 200 bytes, without control characters.
    pub excerpt: String,
}

/// What can be wrong with a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerErrorKind {
    /// The bytes are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// The text is not JSON, or a value has the wrong type. The text says what was expected and what was found.
    #[error("{}", printable(.0))]
    Malformed(String),
    /// The message is too long.
    #[error("longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit in bytes, [`Config::max_message`](crate::Config::max_message).
        limit: usize,
    },
}

/// Number of bytes quoted before the invalid part.
const BEFORE: usize = 40;

impl PeerError {
    pub(crate) fn too_long(limit: usize, head: &[u8]) -> Self {
        PeerError { kind: PeerErrorKind::TooLong { limit }, at: String::new(), excerpt: excerpt(head) }
    }

    pub(crate) fn not_utf8(message: &[u8], offset: usize) -> Self {
        PeerError { kind: PeerErrorKind::NotUtf8, at: path_at(message, offset), excerpt: around(message, offset) }
    }

    /// Converts an error of the reader, and names its place in the message.
    pub(crate) fn from_read(error: &ReadError, message: &[u8]) -> Self {
        PeerError {
            kind: PeerErrorKind::Malformed(error.reason().into()),
            at: path_at(message, error.offset()),
            excerpt: around(message, error.offset()),
        }
    }
}

/// Quotes the message from shortly before an offset on.
fn around(message: &[u8], offset: usize) -> String {
    let start = offset.min(message.len()).saturating_sub(BEFORE);
    let quoted = excerpt(&message[start..]);
    if start == 0 { quoted } else { alloc::format!("…{}", quoted.trim_start_matches('\u{fffd}')) }
}

fn shown_place(at: &str) -> String {
    if at.is_empty() { String::new() } else { alloc::format!(" at `{at}`") }
}
