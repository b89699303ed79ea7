//! [`LegacySession`]: initializes the session of a legacy server, and renews a session that the server has ended (2025-11-25,
//! basic/transports, "Session Management").
//!
//! ```text
//!               initialize is answered
//!                         │
//!                         ▼
//!   Initializing: POST notifications/initialized; requests wait,
//!   because servers refuse requests that arrive before it
//!                         │ accepted, or too late
//!                         ▼
//!   Open: requests are sent ─────────── 404 for this session ────────────┐
//!                         ▲                                              ▼
//!                         │                      Renewing: POST initialize with the same parameters
//!                         │                          │ answered                     │ refused, or too late
//!                         └────── Initializing ◀─────┘                              ▼
//!                                                        Lost: the waiting requests fail,
//!                                                        and the next request renews the session
//! ```

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::command::ExchangeId;
use super::context::Context;
use super::endpoint::SessionGeneration;
use super::exchanges::ExchangeEnd;
use super::outgoing::post_message;
use super::purpose::Purpose;
use super::send_queue::{INITIALIZED, MessageKind};
use crate::json::scan::member;
use crate::rpc::decode;
use crate::rpc::peek::{MessageClass, peek};
use crate::session::RequestFault;
use crate::time::Timestamp;
use crate::transport_error::{Failure, FailureKind, HttpError};
use crate::types::{InitializeResult, ProtocolVersion};

/// Minimum time between two renewals that refused messages cause. 1 min.
///
/// A request causes one renewal at most, so requests need no such limit. A server could otherwise make the client send answers
/// and renew the session for ever.
const MIN_RENEWAL_INTERVAL: Duration = Duration::from_secs(60);

/// The session with a legacy server. Modern servers have none, and the state stays `Open`.
#[derive(Debug, Default)]
pub(super) struct LegacySession {
    state: State,
    /// The parameters of `initialize` as JSON text, for renewals.
    initialize_params: Vec<u8>,
    /// When the last renewal began.
    renewed_at: Option<Timestamp>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    Initializing {
        /// When requests are sent even if the server has not accepted `notifications/initialized`.
        until: Timestamp,
    },
    Renewing {
        /// The exchange of `initialize`.
        exchange: ExchangeId,
        deadline: Timestamp,
    },
    Lost,
}

/// What [`LegacySession::handle_timeout`] leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expired {
    Nothing,
    /// The server has not accepted `notifications/initialized` in time. Requests are sent anyway.
    Initialized,
}

impl LegacySession {
    /// Keeps the parameters of an `initialize` request for renewals.
    pub(super) fn initialize_sent(&mut self, message: &[u8]) {
        self.initialize_params = member(message, "params").unwrap_or(b"{}").to_vec();
    }

    /// Posts `notifications/initialized`, and holds requests until the server has accepted it.
    pub(super) fn send_initialized(&mut self, message: Vec<u8>, context: &mut Context) {
        if matches!(self.state, State::Open | State::Initializing { .. }) {
            self.state = State::Initializing { until: context.now + context.session.config().probe_timeout };
        }
        post_message(MessageKind::Notification(INITIALIZED.to_string()), message, context);
    }

    /// Lets requests go once the server has accepted or refused `notifications/initialized`. Returns whether
    /// requests had to wait.
    pub(super) fn initialized(&mut self) -> bool {
        let was_holding = matches!(self.state, State::Initializing { .. });
        if was_holding {
            self.state = State::Open;
        }
        was_holding
    }

    /// Returns whether requests wait for the session.
    pub(super) fn is_holding(&self) -> bool {
        matches!(self.state, State::Initializing { .. } | State::Renewing { .. })
    }

    /// Returns whether the session must be renewed before the next request.
    pub(super) fn is_lost(&self) -> bool {
        self.state == State::Lost
    }

    /// Reacts to a 404 response to a notification or an answer. Returns whether to renew the session.
    pub(super) fn message_refused(
        &mut self,
        session: Option<SessionGeneration>,
        error: &HttpError,
        context: &mut Context,
    ) -> bool {
        let is_known = matches!(self.state, State::Renewing { .. } | State::Lost);
        if is_known || session != Some(context.endpoint.generation()) {
            return false;
        }
        if self.renewed_at.is_none_or(|at| context.now.duration_since(at) >= MIN_RENEWAL_INTERVAL) {
            return true;
        }
        if context.is_ready() {
            self.fail_renewal(error, context);
        }
        false
    }

    /// Records that the server has ended a session. Returns whether to call [`Self::renew`]: not if the end was known, or if the
    /// connection is not open.
    pub(super) fn end(&mut self, session: Option<SessionGeneration>, context: &mut Context) -> bool {
        let is_known = session != Some(context.endpoint.generation()) || matches!(self.state, State::Renewing { .. });
        if is_known || !context.is_ready() {
            return false;
        }
        context.endpoint.end_session();
        true
    }

    /// Requests a new session with the parameters of the first one.
    pub(super) fn renew(&mut self, context: &mut Context) {
        let params = &self.initialize_params;
        let (id, message) = context.write_request("initialize", &|out: &mut Vec<u8>| {
            out.extend_from_slice(params);
            Ok(())
        });
        let exchange = context.post(Purpose::RenewSession { id }, "initialize", message);
        let deadline = context.now + context.session.config().connect_timeout;
        self.renewed_at = Some(context.now);
        self.state = State::Renewing { exchange, deadline };
    }

    /// Handles the response to the `initialize` request of a renewal. Returns whether the message is that response.
    pub(super) fn receive(&mut self, from: ExchangeId, message: &[u8], context: &mut Context) -> bool {
        let id = match context.exchanges.get(from).map(|exchange| &exchange.purpose) {
            Some(Purpose::RenewSession { id }) => *id,
            _ => return false,
        };
        let is_response = matches!(peek(message), MessageClass::Response { id: of } if of.number() == Some(id));
        if is_response && self.is_renewed_by(from) {
            self.renewed(from, id, message, context);
        }
        is_response
    }

    /// Completes a renewal whose response has arrived, or fails it.
    fn renewed(&mut self, from: ExchangeId, id: u64, message: &[u8], context: &mut Context) {
        match check_response(message, id, context.endpoint.version()) {
            Ok(()) => {
                self.state = State::Open;
                context.session.remove_own(id);
                context.exchanges.close_later(from, context.now);
                self.send_initialized(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_vec(), context);
                context.session.renewed(context.now, context.queue.buffer());
            }
            Err(error) => {
                context.abort(from);
                self.fail_renewal(&error, context);
            }
        }
    }

    /// Gives a renewal up whose exchange ended without an answer.
    pub(super) fn renewal_ended(&mut self, from: ExchangeId, end: ExchangeEnd, context: &mut Context) {
        if self.is_renewed_by(from) {
            self.fail_renewal(&end.into_error(), context);
        }
    }

    /// Gives the session up, and fails the requests that wait for a new one.
    ///
    /// The next request tries to renew the session: its caller may know that the server is back.
    fn fail_renewal(&mut self, error: &HttpError, context: &mut Context) {
        self.state = State::Lost;
        context.endpoint.forget_session_id();
        for request in context.queue.take_resend() {
            context.fail(request.id, RequestFault::Http(error.clone()));
        }
    }

    fn is_renewed_by(&self, id: ExchangeId) -> bool {
        matches!(self.state, State::Renewing { exchange, .. } if exchange == id)
    }

    /// Ends the wait for `notifications/initialized`, or a renewal that takes too long.
    pub(super) fn handle_timeout(&mut self, context: &mut Context) -> Expired {
        match self.state {
            State::Initializing { until } if until <= context.now => return Expired::Initialized,
            State::Renewing { exchange, deadline } if deadline <= context.now => {
                context.abort(exchange);
                let after = context.session.config().connect_timeout;
                let detail = alloc::format!("no answer to `initialize` within {after:?}");
                self.fail_renewal(&HttpError::Failed(Failure::new(FailureKind::Broken, detail)), context);
            }
            _ => {}
        }
        Expired::Nothing
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        match self.state {
            State::Initializing { until } => Some(until),
            State::Renewing { deadline, .. } => Some(deadline),
            State::Open | State::Lost => None,
        }
    }
}

/// Checks the response to `initialize`. A server must negotiate the same version as in the first session.
fn check_response(message: &[u8], id: u64, version: Option<ProtocolVersion>) -> Result<(), HttpError> {
    let error = |status, excerpt: String| Err(HttpError::Status { status, excerpt });
    match decode::answer::<InitializeResult>(message, id) {
        Ok(InitializeResult { protocol_version: None, .. }) => Ok(()),
        Ok(result) if result.protocol_version.as_deref() == version.map(ProtocolVersion::as_str) => Ok(()),
        Ok(_) => error(200, "the server speaks another version of the protocol by now".to_string()),
        Err(RequestFault::Server(refusal)) => error(404, alloc::format!("`initialize`: {refusal}")),
        Err(RequestFault::Invalid(unreadable)) => error(200, alloc::format!("`initialize`: {unreadable}")),
        // Only a transport reports it.
        Err(RequestFault::Http(failure)) => Err(failure),
    }
}
