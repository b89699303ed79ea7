//! [`Step`]: what the adapter of a state machine has to do next. [`RequestError`]: why a state machine failed.

use crate::session::{CallError, RequestKey, SendError};

/// What the adapter must do next to advance a state machine, such as [`ToolCall`](super::ToolCall).
#[derive(Debug)]
#[must_use = "the state machine waits for this step"]
pub enum Step<T> {
    /// Write the engine's pending bytes, wait for the reply to this request, and pass the reply to the state
    /// machine's `receive`.
    Wait(RequestKey),
    /// Read the bytes that the server has already sent, and handle the resulting events. Then poll the state machine
    /// again. If the adapter reads in the background, it only has to poll again.
    Drain,
    /// The operation has ended with this result. Do not poll the state machine again.
    Done(T),
}

/// Why a state machine, such as [`ToolCall`](super::ToolCall), ended without a result.
///
/// The enum will get no further variants, so a `match` needs no wildcard arm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The request was not sent. The contained error says why.
    #[error(transparent)]
    NotSent(#[from] SendError),
    /// The request failed, for example because the server returned an error or did not respond. A call of a tool that
    /// the client knows not to exist also fails with this error, without being sent.
    #[error(transparent)]
    Failed(#[from] CallError),
}
