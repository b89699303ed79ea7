//! [`SingleRequest`]: one request of any method. [`PingServer`], [`SetLogLevel`]: requests that depend on the server.

use core::fmt;

use super::client_state::ClientState;
use super::operation::{Operation, SendRequest, Unprepared};
use super::step::{RequestError, Step};
use crate::own_requests::Discover;
use crate::session::{CallError, Calls, Reply, RequestOptions, Ticket};
use crate::time::Timestamp;
use mcpwire_types::{Era, LoggingLevel};
use mcpwire_types::{Method, Ping, SetLevel};

/// An operation that sends one request of the method `M`, and ends with its result.
///
/// If the response may come from the client's cache, the adapter first reads what has arrived: the server may have
/// reported a change that makes the cached response stale.
pub struct SingleRequest<'o, M: Method, S> {
    request: S,
    options: &'o RequestOptions,
    state: SingleRequestState<M>,
}

enum SingleRequestState<M: Method> {
    New { has_drained: bool },
    Waiting(Ticket<M>),
    Ended(Option<Result<M::Result, CallError>>),
}

impl<'o, M: Method, S: SendRequest<M>> SingleRequest<'o, M, S> {
    /// Creates the state machine without sending the request.
    pub fn new(request: S, options: &'o RequestOptions) -> Self {
        SingleRequest { request, options, state: SingleRequestState::New { has_drained: false } }
    }
}

impl<M: Method, S: SendRequest<M>> Operation for SingleRequest<'_, M, S> {
    type Output = M::Result;

    fn poll(
        &mut self,
        _: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<M::Result, RequestError>> {
        match &mut self.state {
            SingleRequestState::New { has_drained: has_drained @ false } if calls.session().keeps_answers_to::<M>() => {
                *has_drained = true;
                Step::Drain
            }
            SingleRequestState::New { .. } => match self.request.send(calls, self.options, now) {
                Ok(ticket) => {
                    self.state = SingleRequestState::Waiting(ticket);
                    Step::Wait(ticket.key())
                }
                Err(error) => Step::Done(Err(error.into())),
            },
            SingleRequestState::Waiting(ticket) => Step::Wait(ticket.key()),
            SingleRequestState::Ended(result) => {
                let lost = || Err(CallError::WrongTicket { method: M::NAME.into() });
                Step::Done(result.take().unwrap_or_else(lost).map_err(RequestError::from))
            }
        }
    }

    fn receive(&mut self, reply: &mut Reply) {
        if let SingleRequestState::Waiting(ticket) = self.state {
            self.state = SingleRequestState::Ended(Some(ticket.decode_mut(reply)));
        }
    }
}

impl<M: Method, S> fmt::Debug for SingleRequest<'_, M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleRequest").field("method", &M::NAME).field("options", self.options).finish_non_exhaustive()
    }
}

/// An operation that checks that the server responds.
///
/// Sends `ping` to a legacy server (up to revision 2025-11-25). Modern servers have no `ping` (revision 2026-07-28,
/// changelog), so they receive `server/discover`.
#[derive(Debug)]
pub struct PingServer<'o> {
    options: &'o RequestOptions,
    request: Option<PingRequest<'o>>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it lives in the future of one request, for a short time")]
enum PingRequest<'o> {
    Legacy(SingleRequest<'o, Ping, Unprepared<'static, ()>>),
    Modern(SingleRequest<'o, Discover, Unprepared<'static, ()>>),
}

impl<'o> PingServer<'o> {
    /// Creates the state machine without sending a request.
    pub fn new(options: &'o RequestOptions) -> Self {
        PingServer { options, request: None }
    }
}

impl Operation for PingServer<'_> {
    type Output = ();

    fn poll(
        &mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<(), RequestError>> {
        let is_modern = calls.session().server().is_some_and(|server| server.era == Era::Modern);
        let request = self.request.get_or_insert_with(|| {
            if is_modern {
                PingRequest::Modern(SingleRequest::new(Unprepared(&()), self.options))
            } else {
                PingRequest::Legacy(SingleRequest::new(Unprepared(&()), self.options))
            }
        });
        match request {
            PingRequest::Legacy(request) => request.poll(client, calls, now).map(|result| result.map(drop)),
            PingRequest::Modern(request) => request.poll(client, calls, now).map(|result| result.map(drop)),
        }
    }

    fn receive(&mut self, reply: &mut Reply) {
        match &mut self.request {
            Some(PingRequest::Legacy(request)) => request.receive(reply),
            Some(PingRequest::Modern(request)) => request.receive(reply),
            None => {}
        }
    }
}

/// An operation that sets the minimum level of the server's log messages, and remembers it for the next HTTP session.
///
/// Sends `logging/setLevel` to a legacy server (up to revision 2025-11-25). For a modern server, it sends nothing: each
/// later request contains the level.
#[derive(Debug)]
pub struct SetLogLevel<'l> {
    level: &'l LoggingLevel,
    options: &'l RequestOptions,
    state: SingleRequestState<SetLevel>,
}

impl<'l> SetLogLevel<'l> {
    /// Creates the state machine without sending a request.
    pub fn new(level: &'l LoggingLevel, options: &'l RequestOptions) -> Self {
        SetLogLevel { level, options, state: SingleRequestState::New { has_drained: true } }
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
        match &mut self.state {
            SingleRequestState::New { .. } => match calls.set_log_level(self.level, self.options, now) {
                Ok(Some(ticket)) => {
                    self.state = SingleRequestState::Waiting(ticket);
                    Step::Wait(ticket.key())
                }
                Ok(None) => Step::Done(Ok(())),
                Err(error) => Step::Done(Err(error.into())),
            },
            SingleRequestState::Waiting(ticket) => Step::Wait(ticket.key()),
            SingleRequestState::Ended(result) => {
                let result = result.take().unwrap_or_else(|| Ok(mcpwire_types::Json::default()));
                if result.is_ok() {
                    client.keep_log_level(self.level);
                }
                Step::Done(result.map(drop).map_err(RequestError::from))
            }
        }
    }

    fn receive(&mut self, reply: &mut Reply) {
        if let SingleRequestState::Waiting(ticket) = self.state {
            self.state = SingleRequestState::Ended(Some(ticket.decode_mut(reply)));
        }
    }
}

impl<M: Method> fmt::Debug for SingleRequestState<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SingleRequestState::New { .. } => "New",
            SingleRequestState::Waiting(_) => "Waiting",
            SingleRequestState::Ended(_) => "Ended",
        })
    }
}
