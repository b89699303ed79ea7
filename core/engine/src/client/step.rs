//! [`Step`]: what the adapter of a state machine has to do next.

use crate::session::{CallError, RequestKey, SendError};

/// What the adapter of a state machine has to do next.
#[derive(Debug)]
#[must_use = "the state machine waits for this step"]
pub enum Step<T> {
    /// Send the bytes of the engine, wait for the reply to this request, and pass the reply to `receive`.
    Wait(RequestKey),
    /// Read what has arrived from the server, handle the events, and poll again. An adapter that reads all the time polls again
    /// at once.
    Drain,
    /// Take the result. Do not poll the machine again.
    Done(T),
}

/// Why a state machine ended without a result.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestError {
    /// The engine did not send a request.
    NotSent(SendError),
    /// A request failed, or would fail for a reason that the client knows already.
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
