//! [`PeerError`]: a violation of the protocol in a message of the server.

use alloc::string::String;

use super::error::ReadError;
use super::path::path_at;
use crate::{excerpt, printable};

/// The error for a message from the server that violates the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}{}{}", shown_place(at), shown_excerpt(excerpt))]
#[non_exhaustive]
pub struct PeerError {
    /// How the message violates the protocol.
    pub kind: PeerErrorKind,
    /// Path of the invalid part within the JSON of the message, such as `result.tools`. Empty if the message as a whole
    /// is invalid.
    pub at: String,
    /// An excerpt of the invalid message: at most 200 bytes around the invalid part, or the start of a message that is
    /// too long. Contains no control characters.
    pub excerpt: String,
}

/// How a message from the server violates the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerErrorKind {
    /// The message contains bytes that are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// The message is not JSON, or a value in the message has the wrong type. The text says what was expected and
    /// found.
    #[error("{}", printable(.0))]
    Malformed(String),
    /// The message is longer than the client's limit.
    #[error("longer than the limit of {limit} bytes")]
    TooLong {
        /// The maximum length of a message in bytes: `Config::max_message`.
        limit: usize,
    },
}

/// Maximum number of bytes of a message that an error quotes before the invalid part: 40 of the 200 bytes of an
/// excerpt.
const BEFORE: usize = 40;

/// Creates the error for a message that is longer than `limit` bytes, and begins with `head`.
pub fn too_long(limit: usize, head: &[u8]) -> PeerError {
    PeerError { kind: PeerErrorKind::TooLong { limit }, at: String::new(), excerpt: excerpt(head) }
}

/// Creates the error for a malformed message, without an excerpt. `what` says what is wrong, and `at` is the path of the
/// invalid part, such as `result.tools`.
pub fn malformed(what: String, at: &str) -> PeerError {
    PeerError { kind: PeerErrorKind::Malformed(what), at: at.into(), excerpt: String::new() }
}

/// Creates the error for `message`, which is not UTF-8 at `offset`.
pub fn not_utf8(message: &[u8], offset: usize) -> PeerError {
    at_offset(PeerErrorKind::NotUtf8, message, offset)
}

/// Creates the error for `message`, which the JSON reader rejected with `error`. Adds the path and an excerpt of the
/// invalid part.
pub fn from_read(error: &ReadError, message: &[u8]) -> PeerError {
    at_offset(PeerErrorKind::Malformed(error.reason().into()), message, error.offset())
}

/// Creates the error for `message`, which is invalid at `offset`. The excerpt starts at most 40 bytes before.
fn at_offset(kind: PeerErrorKind, message: &[u8], offset: usize) -> PeerError {
    let start = offset.min(message.len()).saturating_sub(BEFORE);
    let quoted = excerpt(&message[start..]);
    let excerpt = if start == 0 { quoted } else { alloc::format!("…{}", quoted.trim_start_matches('\u{fffd}')) };
    PeerError { kind, at: path_at(message, offset), excerpt }
}

fn shown_excerpt(excerpt: &str) -> String {
    if excerpt.is_empty() { String::new() } else { alloc::format!(", in: {excerpt}") }
}

fn shown_place(at: &str) -> String {
    if at.is_empty() { String::new() } else { alloc::format!(" at `{at}`") }
}
