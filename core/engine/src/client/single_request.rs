//! [`SingleRequest`]: one request of any method. [`PingServer`], [`SetLogLevel`]: requests that depend on the server.

use super::client_state::ClientState;
use super::operation::{Operation, RequestError, Step};
use crate::own_requests::Discover;
use crate::session::{CallError, Calls, Reply, RequestOptions, SendError, Ticket};
use crate::time::Timestamp;
use mcpwire_types::{
    Complete, CompleteParams, Era, LoggingLevel, Method, Ping, ProtocolVersion, SetLevel, SetLevelParams,
};

/// The state of one request, from before it is sent until its result was taken.
pub(super) enum RequestState<M: Method> {
    New,
    /// The adapter was asked by [`Step::Drain`] to read pending notifications, which may make cached responses stale.
    Drained,
    /// The request was sent; its response has not arrived.
    Waiting(Ticket<M>),
    /// The request has ended. `None` after the result was taken.
    Ended(Option<Result<M::Result, CallError>>),
}

impl<M: Method> RequestState<M> {
    /// Sends the request by calling `send` if it was not sent, and returns what the adapter must do next.
    ///
    /// If the response may come from the client's cache, the adapter first reads what has arrived.
    pub(super) fn poll(
        &mut self,
        calls: &mut Calls<'_>,
        send: impl FnOnce(&mut Calls<'_>) -> Result<Ticket<M>, SendError>,
    ) -> Step<Result<M::Result, RequestError>> {
        match self {
            RequestState::New if calls.session().keeps_answers_to::<M>() => {
                *self = RequestState::Drained;
                Step::Drain
            }
            RequestState::New | RequestState::Drained => match send(calls) {
                Ok(ticket) => {
                    *self = RequestState::Waiting(ticket);
                    Step::Wait(ticket.key())
                }
                Err(error) => Step::Done(Err(error.into())),
            },
            RequestState::Waiting(ticket) => Step::Wait(ticket.key()),
            RequestState::Ended(result) => {
                let taken = || Err(CallError::WrongTicket { method: M::NAME.into() });
                Step::Done(result.take().unwrap_or_else(taken).map_err(RequestError::from))
            }
        }
    }

    /// Decodes `reply`, the reply to the request.
    pub(super) fn receive(&mut self, reply: &mut Reply) {
        if let RequestState::Waiting(ticket) = self {
            *self = RequestState::Ended(Some(ticket.decode_mut(reply)));
        }
    }

    /// Takes the result of the request. Returns `None` if the request has not ended, or has failed.
    pub(super) fn take_result(&mut self) -> Option<M::Result> {
        let RequestState::Ended(result) = self else { return None };
        result.take_if(|result| result.is_ok())?.ok()
    }
}

/// An operation that sends one request of the method `M` by calling a function `F`, and ends with its result.
pub struct SingleRequest<M: Method, F> {
    send: F,
    state: RequestState<M>,
}

impl<M: Method, F: Fn(&mut Calls<'_>, Timestamp) -> Result<Ticket<M>, SendError>> SingleRequest<M, F> {
    /// Creates the state machine without sending the request. The function `send` sends it.
    pub fn new(send: F) -> Self {
        SingleRequest { send, state: RequestState::New }
    }
}

impl<M: Method, F: Fn(&mut Calls<'_>, Timestamp) -> Result<Ticket<M>, SendError>> Operation for SingleRequest<M, F> {
    type Output = M::Result;

    fn poll(
        &mut self,
        _: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<M::Result, RequestError>> {
        self.state.poll(calls, |calls| (self.send)(calls, now))
    }

    fn receive(&mut self, reply: &mut Reply) {
        self.state.receive(reply);
    }

    fn take_output(&mut self) -> Option<M::Result> {
        self.state.take_result()
    }
}

/// Sends a `completion/complete` request without the parameters that the negotiated protocol version does not have.
///
/// # Errors
/// Returns an error and sends nothing in the cases that [`Calls::request`] lists.
pub fn send_complete(
    params: &CompleteParams<'_>,
    calls: &mut Calls<'_>,
    options: &RequestOptions,
    now: Timestamp,
) -> Result<Ticket<Complete>, SendError> {
    let version = calls.session().server().map_or(ProtocolVersion::LATEST, |server| server.protocol_version);
    calls.request(&params.for_version(version), options, now)
}

/// An operation that checks that the server responds.
///
/// Sends `ping` to a legacy server (up to revision 2025-11-25). Modern servers have no `ping` (revision 2026-07-28,
/// changelog), so they receive `server/discover`.
pub struct PingServer<'o> {
    options: &'o RequestOptions,
    ping: RequestState<Ping>,
    discover: RequestState<Discover>,
}

impl<'o> PingServer<'o> {
    /// Creates the state machine without sending a request.
    pub fn new(options: &'o RequestOptions) -> Self {
        PingServer { options, ping: RequestState::New, discover: RequestState::New }
    }
}

impl Operation for PingServer<'_> {
    type Output = ();

    fn poll(&mut self, _: &mut ClientState, calls: &mut Calls<'_>, now: Timestamp) -> Step<Result<(), RequestError>> {
        if is_modern(calls) {
            let step = self.discover.poll(calls, |calls| calls.request(&(), self.options, now));
            step.map(|result| result.map(drop))
        } else {
            self.ping.poll(calls, |calls| calls.request(&(), self.options, now)).map(|result| result.map(drop))
        }
    }

    fn receive(&mut self, reply: &mut Reply) {
        // Only one of the two was sent.
        self.ping.receive(reply);
        self.discover.receive(reply);
    }
}

/// An operation that sets the minimum level of the server's log messages, and remembers it for the next HTTP session.
///
/// Sends `logging/setLevel` to a legacy server (up to revision 2025-11-25). For a modern server, it sends nothing: each
/// later request contains the level.
pub struct SetLogLevel<'l> {
    level: &'l LoggingLevel,
    options: &'l RequestOptions,
    state: RequestState<SetLevel>,
}

impl<'l> SetLogLevel<'l> {
    /// Creates the state machine without sending a request.
    pub fn new(level: &'l LoggingLevel, options: &'l RequestOptions) -> Self {
        SetLogLevel { level, options, state: RequestState::New }
    }
}

impl Operation for SetLogLevel<'_> {
    type Output = ();

    fn poll(
        &mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<(), RequestError>> {
        if is_modern(calls) {
            return Step::Done(
                calls.set_log_level(self.level, self.options, now).map(drop).map_err(RequestError::from),
            );
        }
        let params = SetLevelParams { level: self.level };
        let step = self.state.poll(calls, |calls| calls.request(&params, self.options, now));
        step.map(|result| result.map(|_| client.log_level = Some(self.level.clone())))
    }

    fn receive(&mut self, reply: &mut Reply) {
        self.state.receive(reply);
    }
}

fn is_modern(calls: &Calls<'_>) -> bool {
    calls.session().server().is_some_and(|server| server.era == Era::Modern)
}
