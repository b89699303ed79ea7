//! [`Operation`]: the interface of all state machines of a client. [`SendRequest`]: how an operation sends its request.

use super::client_state::ClientState;
use super::step::{RequestError, Step};
use crate::session::{Calls, Prepared, Reply, RequestOptions, SendError, Ticket};
use crate::time::Timestamp;
use mcpwire_types::{CompleteParams, Json, ProtocolVersion};
use mcpwire_types::{Method, Params, Raw};

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

    /// Decodes `reply`, the reply to the request in the last [`Step::Wait`].
    fn receive(&mut self, reply: &mut Reply);

    /// Returns the output if the last reply has ended the operation successfully. Otherwise returns `None`.
    ///
    /// Adapters can call this after [`Self::receive`], and need to poll again only if this returns `None`.
    fn take_output(&mut self) -> Option<Self::Output> {
        None
    }
}

/// The parameters of one request, and how they are sent.
pub trait SendRequest<M> {
    /// Sends the request.
    ///
    /// # Errors
    /// Returns an error and sends nothing in the cases that [`Calls::request`] lists.
    fn send(&self, calls: &mut Calls<'_>, options: &RequestOptions, now: Timestamp) -> Result<Ticket<M>, SendError>;
}

/// A request whose parameters are already serialized.
impl<M: Method> SendRequest<M> for Prepared<M> {
    fn send(&self, calls: &mut Calls<'_>, options: &RequestOptions, now: Timestamp) -> Result<Ticket<M>, SendError> {
        calls.request_prepared(self, options, now)
    }
}

/// A request whose parameters are serialized when it is sent.
#[derive(Debug)]
pub struct Unprepared<'p, P>(pub &'p P);

impl<M: Method, P: Params<M>> SendRequest<M> for Unprepared<'_, P> {
    fn send(&self, calls: &mut Calls<'_>, options: &RequestOptions, now: Timestamp) -> Result<Ticket<M>, SendError> {
        calls.request(self.0, options, now)
    }
}

/// A request of any method, with parameters as JSON.
#[derive(Clone, Copy, Debug)]
pub struct RawRequest<'p> {
    /// The method.
    pub method: &'p str,
    /// The parameters, which must be an object.
    pub params: Option<&'p Json>,
}

impl SendRequest<Raw> for RawRequest<'_> {
    fn send(&self, calls: &mut Calls<'_>, options: &RequestOptions, now: Timestamp) -> Result<Ticket<Raw>, SendError> {
        calls.request_raw(self.method, self.params, options, now)
    }
}

/// A `completion/complete` request without the parameters that the negotiated protocol version does not have.
impl SendRequest<mcpwire_types::Complete> for CompleteParams<'_> {
    fn send(
        &self,
        calls: &mut Calls<'_>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<mcpwire_types::Complete>, SendError> {
        let version = calls.session().server().map_or(ProtocolVersion::LATEST, |server| server.protocol_version);
        calls.request(&(*self).for_version(version), options, now)
    }
}

/// Polls the task until it ends.
impl SendRequest<mcpwire_types::CallTool> for mcpwire_types::TaskHandle {
    fn send(
        &self,
        calls: &mut Calls<'_>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<mcpwire_types::CallTool>, SendError> {
        calls.follow_task(self, options, now)
    }
}
