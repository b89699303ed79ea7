//! [`InputError`]: why the server did not receive the input that it required.

use alloc::string::String;

use super::send::SendError;
use crate::error::RpcError;
use crate::printable;
use crate::text::excerpt;

/// The reason why the server did not receive input that it required before responding to a request (revision
/// 2026-07-28, basic/patterns/mrtr).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The client does not answer this kind of input: the method is not in [`Config::answers`](crate::Config::answers).
    #[error("this client does not answer {}, which the input {} needs", quoted(asked), quoted(name))]
    NotOffered {
        /// Name of the input, chosen by the server.
        name: String,
        /// Method with which the server requested the input, such as `elicitation/create`.
        asked: String,
    },
    /// The program or its user refused the input, or the declared capabilities do not allow it.
    #[error("{} for the input {} was refused: {error}", quoted(asked), quoted(name))]
    Refused {
        /// Name of the input, chosen by the server.
        name: String,
        /// Method with which the server requested the input, such as `elicitation/create`.
        asked: String,
        /// The error that the program returned, or that names the missing capability.
        error: RpcError,
    },
    /// The program's handler for the input panicked.
    #[error("the handler of {} for the input {} panicked: {}", quoted(asked), quoted(name), printable(message))]
    Panicked {
        /// Name of the input, chosen by the server.
        name: String,
        /// Method with which the server requested the input, such as `elicitation/create`.
        asked: String,
        /// Message of the panic. The message is never sent to the server.
        message: String,
    },
    /// The server requires more inputs at the same time than the client accepts.
    #[error("the server requested more than {limit} inputs at the same time")]
    TooManyInputs {
        /// Maximum number of pending inputs, [`Config::max_server_requests`](crate::Config::max_server_requests).
        limit: usize,
    },
    /// The server still requires input, but the request was already sent again the maximum number of times.
    #[error("the server requests input without end: the request was sent again {limit} times")]
    TooManyInputRounds {
        /// Maximum number of times that one request is sent again with input,
        /// [`Config::max_input_rounds`](crate::Config::max_input_rounds).
        limit: u32,
    },
    /// The session cannot send the request again with the input, because it could not store the parameters and the
    /// server's `requestState`. Storing them would have exceeded the limit for all pending requests together.
    #[error(
        "the request cannot be kept for sending it again: all such requests would exceed the limit of {limit} bytes"
    )]
    RetryTooLarge {
        /// Maximum number of bytes stored for all requests together,
        /// [`Config::max_retry_bytes`](crate::Config::max_retry_bytes).
        limit: usize,
    },
    /// The request could not be sent again with the input, because of this error.
    #[error("the request was not sent again: {0}")]
    NotSent(SendError),
}

/// Returns a name in backquotes. The name, which the server chose, is shortened and freed of control characters.
fn quoted(name: &str) -> String {
    alloc::format!("`{}`", excerpt(name.as_bytes()))
}
