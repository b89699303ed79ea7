//! [`Step`]: what the adapter of a state machine has to do next. [`RequestError`]: why a state machine failed.

use crate::session::{CallError, RequestKey, SendError};

/// What the adapter has to do next for a client state machine, such as [`ToolCall`](super::ToolCall).
#[derive(Debug)]
#[must_use = "the state machine waits for this step"]
pub enum Step<T> {
    /// Write the engine's pending bytes, wait for the reply to this request, and pass the reply to the state
    /// machine's `receive`.
    Wait(RequestKey),
    /// Read the bytes that the server has already sent, handle their events, and poll the state machine again. An
    /// adapter that reads in the background polls again at once.
    Drain,
    /// The operation has ended with this result. Do not poll the state machine again.
    Done(T),
}

/// The error of a client state machine, such as [`ToolCall`](super::ToolCall), that ended without a result.
///
/// The enum is exhaustive, because a request was either sent or not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The request was not sent, for this reason.
    #[error(transparent)]
    NotSent(#[from] SendError),
    /// The request was sent and failed. Also used if a request is certain to fail and is therefore not sent.
    #[error(transparent)]
    Failed(#[from] CallError),
}
