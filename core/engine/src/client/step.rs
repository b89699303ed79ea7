//! [`Step`]: what the adapter of a state machine has to do next. [`RequestError`]: why the machine failed.

use crate::session::{CallError, RequestKey, SendError};

/// What the adapter of a state machine has to do next.
#[derive(Debug)]
#[must_use = "the state machine waits for this step"]
pub enum Step<T> {
    /// Write the engine's pending bytes, wait for the reply to this request, and pass it to the machine with `receive`.
    Wait(RequestKey),
    /// Read the bytes that the server has sent already, handle their events, and poll the machine again. An adapter that
    /// reads in the background polls again at once.
    Drain,
    /// Take the result. Do not poll the machine again.
    Done(T),
}

/// The error of a machine that ended without its result.
///
/// It is exhaustive: a request was either sent or not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The request was not sent.
    #[error(transparent)]
    NotSent(#[from] SendError),
    /// The request was sent and failed, or was known to fail.
    #[error(transparent)]
    Failed(#[from] CallError),
}
