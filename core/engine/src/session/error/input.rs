//! [`InputError`]: why the server did not get the input that it requested.

use alloc::string::String;

use super::send::SendError;
use crate::error::RpcError;
use crate::printable;
use crate::text::excerpt;

/// The error of a request for which the server requested input (2026-07-28, basic/patterns/mrtr) that it did not get.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The client does not answer such requests: the method is not in [`Config::answers`](crate::Config::answers).
    #[error("this client does not answer {}, which the input {} needs", quoted(asked), quoted(name))]
    NotOffered {
        /// The server's name for the input.
        name: String,
        /// The method that the server requested, such as `elicitation/create`.
        asked: String,
    },
    /// The program, or its user, refused to give the input.
    #[error("{} for the input {} was refused: {error}", quoted(asked), quoted(name))]
    Refused {
        /// The server's name for the input.
        name: String,
        /// The method that the server requested, such as `elicitation/create`.
        asked: String,
        /// The error that the program answered with.
        error: RpcError,
    },
    /// The program's handler for the input panicked.
    #[error("the handler of {} for the input {} panicked: {}", quoted(asked), quoted(name), printable(message))]
    Panicked {
        /// The server's name for the input.
        name: String,
        /// The method that the server requested, such as `elicitation/create`.
        asked: String,
        /// The message of the panic. It is never sent to a server.
        message: String,
    },
    /// The server requested too many inputs at the same time.
    #[error("the server requested more than {limit} inputs at the same time")]
    TooManyInputs {
        /// The limit, [`Config::max_server_requests`](crate::Config::max_server_requests).
        limit: usize,
    },
    /// The server requested input for the same request too often.
    #[error("the server requests input without end: the request was sent again {limit} times")]
    TooManyInputRounds {
        /// The limit, [`Config::max_input_rounds`](crate::Config::max_input_rounds).
        limit: u32,
    },
    /// Too many bytes would have to be kept to send the request again.
    #[error(
        "the request cannot be kept for sending it again: all such requests would exceed the limit of {limit} bytes"
    )]
    RetryTooLarge {
        /// The limit in bytes for all requests together, [`Config::max_retry_bytes`](crate::Config::max_retry_bytes).
        limit: usize,
    },
    /// The request could not be sent again.
    #[error("the request was not sent again: {0}")]
    NotSent(SendError),
}

/// Quotes a name that the server chose, bounded and printable.
fn quoted(name: &str) -> String {
    alloc::format!("`{}`", excerpt(name.as_bytes()))
}
