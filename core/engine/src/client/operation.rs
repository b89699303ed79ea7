//! [`Operation`]: the interface of all state machines of a client. [`Step`]: what the adapter of a state machine has to do
//! next. [`RequestError`]: why a state machine failed.

use super::client_state::ClientState;
use crate::session::{CallError, Calls, Reply, RequestKey, SendError};
use crate::time::Timestamp;

/// A state machine that sends requests, receives the replies, and ends with an output.
///
/// ```
/// use mcpwire_core::internal::{ClientState, Operation, RequestError, Step};
/// use mcpwire_core::{Calls, Reply, RequestKey, Timestamp};
///
/// fn run<O: Operation>(
///     operation: &mut O,
///     client: &mut ClientState,
///     calls: &mut Calls<'_>,
///     now: Timestamp,
///     mut wait: impl FnMut(&mut Calls<'_>, RequestKey) -> Reply,
/// ) -> Result<O::Output, RequestError> {
///     loop {
///         match operation.poll(client, calls, now) {
///             Step::Wait(key) => operation.receive(&mut wait(calls, key)),
///             Step::Drain => {}
///             Step::Done(output) => return output,
///         }
///     }
/// }
/// ```
pub trait Operation {
    /// What the operation ends with if it succeeds.
    type Output;

    /// Sends the next request if none is pending, and returns what the adapter must do next. The last step,
    /// [`Step::Done`], contains the output or the error.
    fn poll(
        &mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<Self::Output, RequestError>>;

    /// Decodes `reply`, the reply to the request in the last [`Step::Wait`]. Then poll the operation again.
    fn receive(&mut self, reply: &mut Reply);

    /// Takes the output if the operation has ended with it and needs neither the client nor the engine any more. Returns
    /// `None` otherwise, and after the output was taken.
    ///
    /// An adapter that calls this method after [`Self::receive`] need not poll once more, for which it may need a lock.
    fn take_output(&mut self) -> Option<Self::Output> {
        None
    }
}

/// What the adapter must do next to advance a state machine, such as [`ToolCall`](super::ToolCall).
#[derive(Debug)]
#[must_use = "the state machine waits for this step"]
pub enum Step<T> {
    /// Write the engine's pending bytes to the server, wait for the reply to this request, and pass the reply to the
    /// state machine's `receive`.
    Wait(RequestKey),
    /// Read the bytes that the server has already sent, and handle the events that the engine returns. Then poll the
    /// state machine again. An adapter that reads in the background can poll again at once.
    Drain,
    /// The operation has ended with this result. Do not poll the state machine again.
    Done(T),
}

/// Why a state machine, such as [`ToolCall`](super::ToolCall), ended without a result: its request was not sent, or the
/// request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The request was not sent. The contained error says why.
    #[error(transparent)]
    NotSent(#[from] SendError),
    /// The request failed, for example because the server returned an error or did not respond, or because the client
    /// knows that the server does not have the tool.
    #[error(transparent)]
    Failed(#[from] CallError),
}

impl<T> Step<T> {
    /// Converts the output of [`Step::Done`].
    pub(super) fn map<U>(self, convert: impl FnOnce(T) -> U) -> Step<U> {
        match self {
            Step::Wait(key) => Step::Wait(key),
            Step::Drain => Step::Drain,
            Step::Done(value) => Step::Done(convert(value)),
        }
    }
}
