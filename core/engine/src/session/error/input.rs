//! [`InputError`]: why the server did not receive the input that it required.

use alloc::string::String;

use super::send::SendError;
use mcpwire_types::RpcError;
use mcpwire_types::printable;
use mcpwire_types::text::excerpt;

/// The reason why the client did not send input that the server required before it could respond to a request (revision
/// 2026-07-28, basic/patterns/mrtr).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The client does not answer requests with the method of the input: [`Config::answers`](crate::Config::answers)
    /// does not contain the method.
    #[error("this client does not answer {}, which the input {} needs", quoted(asked), quoted(name))]
    NotOffered {
        /// Name of the input, chosen by the server.
        name: String,
        /// Method with which the server requested the input, such as `elicitation/create`.
        asked: String,
    },
    /// The program or its user refused the input, or the input needs a capability that the client did not declare.
    #[error("{} for the input {} was refused: {error}", quoted(asked), quoted(name))]
    Refused {
        /// Name of the input, chosen by the server.
        name: String,
        /// Method with which the server requested the input, such as `elicitation/create`.
        asked: String,
        /// The error with which the program refused, or an error that names the capability that the client did not
        /// declare.
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
    /// The inputs that the server required would exceed the maximum number of inputs pending at the same time.
    #[error("the server requested more than {limit} inputs at the same time")]
    TooManyInputs {
        /// Maximum number of pending inputs, [`Config::max_server_requests`](crate::Config::max_server_requests).
        limit: usize,
    },
    /// The server required input again, after the request was sent again the maximum number of times.
    #[error("the server requests input without end: the request was sent again {limit} times")]
    TooManyInputRounds {
        /// Maximum number of times that one request is sent again with input,
        /// [`Config::max_input_rounds`](crate::Config::max_input_rounds).
        limit: u32,
    },
    /// The session did not store the parameters and the server's `requestState` for sending the request again, because
    /// they would exceed the limit of memory.
    #[error(
        "the request cannot be kept for sending it again: all such requests would exceed the limit of {limit} bytes"
    )]
    RetryTooLarge {
        /// Maximum number of bytes stored for all requests together,
        /// [`Config::max_retry_bytes`](crate::Config::max_retry_bytes).
        limit: usize,
    },
    /// Sending the request again with the input failed with this error.
    #[error("the request was not sent again: {0}")]
    NotSent(SendError),
}

/// Returns a name in backquotes. Shortens the name, which the server chose, and removes control characters.
fn quoted(name: &str) -> String {
    alloc::format!("`{}`", excerpt(name.as_bytes()))
}
