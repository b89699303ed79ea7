//! [`LegacySession`]: initializes the session with a legacy server (up to revision 2025-11-25), and renews a session
//! that the server has ended.
//!
//! Specification: protocol revision 2025-11-25, basic/transports, "Session Management".
//!
//! ```text
//!               initialize has a response
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
//!                                                        Lost: the waiting requests fail, and
//!                                                        the next request renews the session
//! ```
//!
//! While subscriptions or the `GET` event stream need the lost session, a timer renews the session, too. After
//! [`MAX_RETRIES`] failures, the subscriptions end with the last error.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::command::ExchangeId;
use super::endpoint::SessionGeneration;
use super::exchanges::ExchangeEnd;
use super::messages::post_message;
use super::request::Purpose;
use super::send_queue::INITIALIZED;
use super::transport::Transport;
use crate::own_requests::InitializeResult;
use crate::rpc::{Response, decode};
use crate::session::RequestFault;
use crate::time::Timestamp;
use crate::transport_error::{Failure, FailureKind, HttpError};
use mcpwire_types::ProtocolVersion;

/// Minimum time between two session renewals for which no request waits: 1 min.
///
/// Without this limit, a server that refuses every answer with 404 would cause a renewal for each. Requests need no
/// limit, because a refused request causes at most one renewal.
const MIN_RENEWAL_INTERVAL: Duration = Duration::from_secs(60);

/// Upper bound of the random part that is added to the time of a retry, in milliseconds: 15 s. Clients that lost a
/// server together do not return together.
const MAX_RANDOM_PART: u64 = 15_000;

/// Number of times that the client tries to renew a lost session for which no request waits: 10. They take at least
/// ten minutes, enough for most restarts and updates of a server.
const MAX_RETRIES: u32 = 10;

/// The session with a legacy server (up to revision 2025-11-25). With modern servers, which have no sessions, the state
/// is always `Open`.
#[derive(Default)]
pub(super) struct LegacySession {
    state: State,
    /// The JSON parameters of the first `initialize` request, which the client sends again when it replaces an ended
    /// session.
    initialize_params: Vec<u8>,
    /// When the client last began to replace an ended session. `None` if it never did.
    renewed_at: Option<Timestamp>,
    /// Whether the `GET` event stream was open in the session that the client tries to replace.
    was_listening: bool,
    /// Number of renewals without a waiting request since the session was lost.
    retries: u32,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    Initializing {
        /// When the client stops waiting for the server's response to `notifications/initialized`, and sends its
        /// requests.
        until: Timestamp,
    },
    Renewing {
        /// The exchange that carries the `initialize` request.
        exchange: ExchangeId,
        deadline: Timestamp,
    },
    Lost {
        /// When the client renews the session, if subscriptions or the `GET` event stream need it.
        retry_at: Timestamp,
    },
}

/// What the engine must do after [`LegacySession::handle_timeout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expired {
    Nothing,
    /// The engine must send the waiting requests, because the server has not responded to `notifications/initialized`
    /// in time.
    Initialized,
    /// The engine must try again to open a new session, because the last attempt failed.
    Lost,
}

impl LegacySession {
    /// Stores the parameters of the `initialize` request, a JSON object without its closing brace. If the server ends the
    /// session, the client sends them again to open a new session.
    pub(super) fn initialize_sent(&mut self, params: &[u8]) {
        self.initialize_params = params.to_vec();
        self.initialize_params.push(b'}');
    }

    /// Posts `notifications/initialized`. Requests wait until the server has responded.
    pub(super) fn send_initialized(&mut self, message: Vec<u8>, transport: &mut Transport) {
        if matches!(self.state, State::Open | State::Initializing { .. }) {
            self.state = State::Initializing { until: transport.now() + transport.session.config().probe_timeout };
        }
        post_message(Some(INITIALIZED.to_string()), message, transport);
    }

    /// Ends the state in which requests wait for the server's response to `notifications/initialized`. Returns whether
    /// the session was in that state.
    pub(super) fn initialized(&mut self) -> bool {
        let was_holding = matches!(self.state, State::Initializing { .. });
        if was_holding {
            self.state = State::Open;
        }
        was_holding
    }

    /// Returns whether requests wait until the session is open.
    pub(super) fn is_holding(&self) -> bool {
        matches!(self.state, State::Initializing { .. } | State::Renewing { .. })
    }

    /// Returns whether the server has ended the session and the client has not replaced it. The next request opens a
    /// new session.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost { .. })
    }

    /// Handles a 404 response to a notification or an answer that was sent in `session`. Returns whether the engine
    /// must replace this session now.
    ///
    /// Returns `false` if the session has already been replaced or is known to have ended. Also returns `false`, and
    /// marks the session as lost, if the last renewal began less than [`MIN_RENEWAL_INTERVAL`] ago.
    pub(super) fn message_refused(
        &mut self,
        session: Option<SessionGeneration>,
        error: &HttpError,
        transport: &mut Transport,
    ) -> bool {
        let is_known = matches!(self.state, State::Renewing { .. } | State::Lost { .. });
        if is_known || session != Some(transport.endpoint.generation) {
            return false;
        }
        if self.earliest_renewal(transport.now()) <= transport.now() {
            return true;
        }
        if transport.is_ready() {
            self.fail_renewal(error, transport);
        }
        false
    }

    /// Returns the earliest time of a renewal that no request waits for: `now`, or [`MIN_RENEWAL_INTERVAL`] after the
    /// last renewal.
    pub(super) fn earliest_renewal(&self, now: Timestamp) -> Timestamp {
        self.renewed_at.map_or(now, |at| now.max(at + MIN_RENEWAL_INTERVAL))
    }

    /// Forgets the id of `session`, which the server has ended. Returns whether the engine must open a new session with
    /// [`Self::renew`].
    ///
    /// Returns `false` if `session` has been replaced or is being replaced, or if the connection is not open.
    pub(super) fn end(&mut self, session: Option<SessionGeneration>, transport: &mut Transport) -> bool {
        let is_known = session != Some(transport.endpoint.generation) || matches!(self.state, State::Renewing { .. });
        if is_known || !transport.is_ready() {
            return false;
        }
        transport.endpoint.end_session();
        true
    }

    /// Starts a new session in place of an ended one: sends `initialize` with the parameters of the first session.
    ///
    /// `was_listening` says whether the `GET` event stream was open in the ended session.
    pub(super) fn renew(&mut self, was_listening: bool, transport: &mut Transport) {
        self.was_listening |= was_listening;
        let params = &self.initialize_params;
        let (id, message) = transport.session.write_own("initialize", &|out: &mut Vec<u8>| {
            out.extend_from_slice(params);
            Ok(())
        });
        let exchange = transport.post(Purpose::RenewSession { id }, message);
        let deadline = transport.now() + transport.session.config().connect_timeout;
        self.renewed_at = Some(transport.now());
        self.state = State::Renewing { exchange, deadline };
    }

    /// Handles the JSON-RPC response to the `initialize` that [`Self::renew`] sent. Returns `false` if `message` is
    /// another response.
    pub(super) fn receive(
        &mut self,
        from: ExchangeId,
        response: Response,
        message: &[u8],
        transport: &mut Transport,
    ) -> bool {
        let id = match transport.exchanges.get(from).map(|exchange| &exchange.purpose) {
            Some(Purpose::RenewSession { id }) => *id,
            _ => return false,
        };
        let is_awaited = response.id == id;
        if is_awaited && self.is_renewed_by(from) {
            self.renewed(from, response, message, transport);
        }
        is_awaited
    }

    /// Handles the response to the `initialize` that replaces an ended session. Opens the new session if the response
    /// is a valid result; otherwise, marks the session as lost.
    fn renewed(&mut self, from: ExchangeId, response: Response, message: &[u8], transport: &mut Transport) {
        match check_response(message, response, transport.endpoint.version) {
            Ok(()) => {
                self.state = State::Open;
                (self.was_listening, self.retries) = (false, 0);
                transport.session.remove_own(response.id);
                transport.exchanges.close_later(from, transport.now());
                self.send_initialized(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_vec(), transport);
                transport.session.renewed();
            }
            Err(error) => {
                transport.abort(from);
                self.fail_renewal(&error, transport);
            }
        }
    }

    /// Handles the end of the HTTP exchange that was to open a new session. If `initialize` has no response yet, marks
    /// the session as lost.
    pub(super) fn renewal_ended(&mut self, from: ExchangeId, end: ExchangeEnd, transport: &mut Transport) {
        if self.is_renewed_by(from) {
            self.fail_renewal(&end.into_error(), transport);
        }
    }

    /// Marks the session as lost, and schedules the next attempt. Requests that wait for a new session fail with
    /// `error`. After too many attempts, the subscriptions end with `error`, too.
    fn fail_renewal(&mut self, error: &HttpError, transport: &mut Transport) {
        let requested = transport.now() + error.retry_after().unwrap_or_default();
        let random_part = Duration::from_millis(transport.random.below(MAX_RANDOM_PART));
        let retry_at = self.earliest_renewal(transport.now()).max(requested) + random_part;
        self.state = State::Lost { retry_at };
        transport.endpoint.session_id = None;
        for request in mem::take(&mut transport.queue.resend) {
            transport.session.fail(request.id, RequestFault::Http(error.clone()));
        }
        if self.retries >= MAX_RETRIES {
            (self.was_listening, self.retries) = (false, 0);
            transport.session.end_subscriptions("initialize", error);
        }
    }

    /// Returns whether the client needs a session although no request waits for one.
    fn is_needed(&self, transport: &Transport) -> bool {
        self.was_listening || transport.session.has_subscriptions()
    }

    fn is_renewed_by(&self, id: ExchangeId) -> bool {
        matches!(self.state, State::Renewing { exchange, .. } if exchange == id)
    }

    /// Fails a session renewal to which the server has not responded in time. Returns what the engine must do about
    /// other timeouts.
    pub(super) fn handle_timeout(&mut self, transport: &mut Transport) -> Expired {
        match self.state {
            State::Initializing { until } if until <= transport.now() => return Expired::Initialized,
            State::Renewing { exchange, deadline } if deadline <= transport.now() => {
                transport.abort(exchange);
                let after = transport.session.config().connect_timeout;
                let detail = alloc::format!("no answer to `initialize` within {after:?}");
                self.fail_renewal(&HttpError::Failed(Failure::new(FailureKind::Broken, detail)), transport);
            }
            State::Lost { retry_at } if retry_at <= transport.now() && self.is_needed(transport) => {
                self.retries += 1;
                return Expired::Lost;
            }
            _ => {}
        }
        Expired::Nothing
    }

    pub(super) fn poll_timeout(&self, transport: &Transport) -> Option<Timestamp> {
        match self.state {
            State::Initializing { until } => Some(until),
            State::Renewing { deadline, .. } => Some(deadline),
            State::Lost { retry_at } => self.is_needed(transport).then_some(retry_at),
            State::Open => None,
        }
    }
}

/// Checks the JSON-RPC response to an `initialize` request that replaces an ended session.
///
/// The response must contain `version`, the version negotiated when the connection was opened, or no version.
fn check_response(message: &[u8], response: Response, version: Option<ProtocolVersion>) -> Result<(), HttpError> {
    let reason = match decode::answer::<InitializeResult>(message, response) {
        Ok(InitializeResult { protocol_version: None, .. }) => return Ok(()),
        Ok(result) if result.protocol_version.as_deref() == version.map(ProtocolVersion::as_str) => return Ok(()),
        Ok(_) => "the server speaks another version of the protocol by now".to_string(),
        Err(RequestFault::Server(refusal)) => alloc::format!("`initialize`: {refusal}"),
        Err(RequestFault::Invalid(unreadable)) => alloc::format!("`initialize`: {unreadable}"),
        // Only a transport reports it.
        Err(RequestFault::Http(failure)) => return Err(failure),
    };
    Err(HttpError::NotRenewed { reason })
}
