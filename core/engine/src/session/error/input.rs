//! [`InputError`]: why the server did not receive the input that it required.

use alloc::string::String;

use super::send::SendError;
use mcpwire_text::excerpt;
use mcpwire_types::RpcError;
use mcpwire_types::printable;

/// The reason why the client did not send input that the server required before it could respond to a request (revision
/// 2026-07-28, basic/patterns/mrtr).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The server required an input whose method, such as `elicitation/create`, the client does not answer:
    /// [`Config::answers`](crate::Config::answers) does not contain the method.
    #[error("this client does not answer {}, which the input {} needs", quoted(asked), quoted(name))]
    NotOffered {
        /// Name of the input, chosen by the server.
        name: String,
        /// The method of the required input, such as `elicitation/create`.
        asked: String,
    },
    /// The program or its user refused to provide the input, or the input needs a capability that the client did not
    /// declare.
    #[error("{} for the input {} was refused: {error}", quoted(asked), quoted(name))]
    Refused {
        /// Name of the input, chosen by the server.
        name: String,
        /// The method of the required input, such as `elicitation/create`.
        asked: String,
        /// Why the program refused to give the input that the server requested, or which client capability the request
        /// lacks.
        error: RpcError,
    },
    /// The program's handler for the input panicked.
    #[error("the handler of {} for the input {} panicked: {}", quoted(asked), quoted(name), printable(message))]
    Panicked {
        /// Name of the input, chosen by the server.
        name: String,
        /// The method of the required input, such as `elicitation/create`.
        asked: String,
        /// The message of the panic. The client never sends it to the server.
        message: String,
    },
    /// The server required more inputs than the client accepts at the same time or for one task.
    #[error("the server requested more than {limit} inputs at the same time")]
    TooManyInputs {
        /// The limit that was exceeded: [`Config::max_server_requests`](crate::Config::max_server_requests) unanswered
        /// inputs and requests of the server, or 1,000 inputs during the life of one task.
        limit: usize,
    },
    /// The server required input for one request more often than
    /// [`Config::max_input_rounds`](crate::Config::max_input_rounds) allows.
    #[error("the server requests input without end: the request was sent again {limit} times")]
    TooManyInputRounds {
        /// The value of [`Config::max_input_rounds`](crate::Config::max_input_rounds): how many times the client sends
        /// one request again with input.
        limit: u32,
    },
    /// The client cannot send the request again with the input: the stored parameters of all such requests, including
    /// the server's `requestState`, would exceed the memory limit.
    #[error(
        "the request cannot be kept for sending it again: all such requests would exceed the limit of {limit} bytes"
    )]
    RetryTooLarge {
        /// Maximum total size of the stored parameters of all requests, in bytes:
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
