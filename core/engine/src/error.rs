//! What the other side did wrong, and what it said was wrong.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::path::path_at;
use crate::json::read::ReadError;
use crate::json::{Json, from_json};
use crate::printable;
use crate::text::excerpt;
use crate::types::ElicitUrl;

/// An error object that the server answered with (JSON-RPC 2.0, section 5.1).
///
/// The standard codes are associated constants. Codes outside of them are the server's own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", shown_message(message, *code), shown_data(data.as_ref()))]
#[non_exhaustive]
pub struct RpcError {
    /// The error's code; 0 where the server sent none that is a whole number.
    pub code: i64,
    /// What the server says happened; may be empty.
    pub message: String,
    /// Whatever else the server sent along.
    pub data: Option<Json>,
}

impl RpcError {
    /// The server could not parse what it was sent.
    pub const PARSE_ERROR: i64 = -32700;
    /// What was sent is no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The server does not have the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The method does not take these parameters; also: no such tool.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// There is no such resource (up to 2025-11-25; later revisions use [`RpcError::INVALID_PARAMS`] for it).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// A header and the body disagree (2026-07-28, HTTP).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a client capability that was not declared (2026-07-28).
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: i64 = -32021;
    /// The server does not speak the protocol version of the request (2026-07-28).
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

    /// A person has to visit an address first (2025-11-25): see [`RpcError::required_elicitations`].
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// The person who uses the client does not want it: what clients answer to `sampling/createMessage` then.
    pub const USER_REJECTED: i64 = -1;

    /// An error as a scripted server would send it.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        RpcError { code, message: message.into(), data: None }
    }

    /// The addresses that a person has to visit before the request that failed so can be sent again: of an error of the code
    /// [`RpcError::URL_ELICITATION_REQUIRED`] (2025-11-25, client/elicitation, "URL Elicitation Required Error"). Empty for
    /// all other errors.
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

/// A message of the server's that is not what the specification says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}, in: {excerpt}", shown_place(at))]
#[non_exhaustive]
pub struct PeerError {
    /// What is wrong with it.
    pub kind: PeerErrorKind,
    /// Where in the message, such as `result.tools`; empty where no one place is at fault.
    pub at: String,
    /// The beginning of the message, or what surrounds the place: bounded and printable.
    pub excerpt: String,
}

/// The ways in which a message can be wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerErrorKind {
    /// Its bytes are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// It is not JSON, or not the JSON that this message must be. Says what was found and what was expected.
    #[error("{}", printable(.0))]
    Malformed(String),
    /// It is longer than [`Config::max_message`](crate::Config::max_message) allows.
    #[error("longer than the limit of {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
}

/// How much of the message is quoted before the place that is wrong.
const BEFORE: usize = 40;

impl PeerError {
    pub(crate) fn too_long(limit: usize, head: &[u8]) -> Self {
        PeerError { kind: PeerErrorKind::TooLong { limit }, at: String::new(), excerpt: excerpt(head) }
    }

    pub(crate) fn not_utf8(message: &[u8], offset: usize) -> Self {
        PeerError { kind: PeerErrorKind::NotUtf8, at: path_at(message, offset), excerpt: around(message, offset) }
    }

    /// An error of the decode, with its place named.
    pub(crate) fn from_read(error: &ReadError, message: &[u8]) -> Self {
        PeerError {
            kind: PeerErrorKind::Malformed(error.reason().into()),
            at: path_at(message, error.offset()),
            excerpt: around(message, error.offset()),
        }
    }
}

fn around(message: &[u8], offset: usize) -> String {
    let start = offset.min(message.len()).saturating_sub(BEFORE);
    let quoted = excerpt(&message[start..]);
    if start == 0 { quoted } else { alloc::format!("…{}", quoted.trim_start_matches('\u{fffd}')) }
}

fn shown_place(at: &str) -> String {
    if at.is_empty() { String::new() } else { alloc::format!(" at `{at}`") }
}
