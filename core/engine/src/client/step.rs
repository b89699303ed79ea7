//! What a machine says to its adapter.

use crate::session::{CallError, RequestKey, SendError};

/// What an adapter has to do next.
#[derive(Debug)]
#[must_use = "the machine waits for it"]
pub enum Step<T> {
    /// Send what the engine has to send, wait for the reply to this request, and hand it in with `receive`.
    Wait(RequestKey),
    /// Read what the server has sent by now, handle its events, and poll again. An adapter that always reads polls again at once.
    Drain,
    /// Take the result. The machine is not polled again.
    Done(T),
}

/// Why a machine ended without its result.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestError {
    /// A request was not sent.
    NotSent(SendError),
    /// A request was sent and failed, or was known to fail.
    Failed(CallError),
}

impl From<SendError> for RequestError {
    fn from(error: SendError) -> Self {
        RequestError::NotSent(error)
    }
}

impl From<CallError> for RequestError {
    fn from(error: CallError) -> Self {
        RequestError::Failed(error)
    }
}
