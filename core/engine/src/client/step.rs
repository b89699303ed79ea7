//! [`Step`]: what a machine asks of its adapter. [`RequestError`]: why it failed.

use crate::session::{CallError, RequestKey, SendError};

/// The next step that an adapter has to perform for a machine.
#[derive(Debug)]
#[must_use = "the machine waits for the step"]
pub enum Step<T> {
    /// Write the engine's pending bytes, wait for the reply to this request, and pass it to the machine with `receive`.
    Wait(RequestKey),
    /// Read the bytes that the server has sent already, handle their events, and poll the machine again. An adapter that
    /// reads in the background polls again at once.
    Drain,
    /// Take the result. The machine is not polled again.
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
