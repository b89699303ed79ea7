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
    /// adapter that reads in the background has no bytes left to read, and polls again at once.
    Drain,
    /// The operation has ended with this result. Do not poll the state machine again.
    Done(T),
}

/// The error of a client state machine, such as [`ToolCall`](super::ToolCall), that ended without a result.
///
/// The enum will get no further variants, so a `match` needs no wildcard arm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The request was not sent, for this reason.
    #[error(transparent)]
    NotSent(#[from] SendError),
    /// The request failed, for example because the server returned an error or did not respond. Also used without
    /// sending the request, if the client knows that the tool does not exist.
    #[error(transparent)]
    Failed(#[from] CallError),
}
