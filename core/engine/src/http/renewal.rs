//! The session of a legacy server: held back until it is initialized, renewed once the server has forgotten it (2025-11-25,
//! basic/transports, "Session Management").
//!
//! ```text
//! initialize answered ──▶ POST notifications/initialized ──▶ accepted: requests are sent
//!                          (requests wait: servers refuse        │
//!                           those that overtake it)              ▼
//!                                                     404 to a request of this session
//!                                                                │  once, whoever notices first
//!                                                                ▼
//!                         POST initialize with the same parameters, without a session
//!                                    │ answered                   │ not
//!                                    ▼                            ▼
//!                 requests that were refused are sent again;   requests that waited fail;
//!                 those that broke off, if they may be         the next one tries it again
//! ```

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::exchange::ExchangeId;
use crate::json::scan::member;
use crate::rpc::decode::{self, Answer};
use crate::time::Timestamp;
use crate::transport_error::HttpError;
use crate::types::{InitializeResult, ProtocolVersion};

/// For how long after a renewal a message that the server refuses leads to no other one. 1 min. Requests are not held to it, because
/// each leads to one renewal at most; a server can make the client send answers for ever.
const RENEW_FOR_MESSAGES_AFTER: Duration = Duration::from_secs(60);

/// The session with a legacy server. There is none with modern servers.
#[derive(Debug, Default)]
pub(super) struct LegacySession {
    /// The id that the server gave it.
    id: Option<String>,
    /// The number of sessions before this one.
    generation: u32,
    /// The parameters of `initialize`, as JSON text.
    initialize_params: Vec<u8>,
    /// Requests wait until the server has accepted `notifications/initialized`, at most until then.
    held_until: Option<Timestamp>,
    renewal: Option<Renewal>,
    /// When the last renewal began.
    renewed_at: Option<Timestamp>,
    /// Whether the session has ended and could not be renewed.
    is_lost: bool,
}

#[derive(Debug)]
struct Renewal {
    exchange: ExchangeId,
    deadline: Timestamp,
}

impl LegacySession {
    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    pub(super) fn generation(&self) -> u32 {
        self.generation
    }

    pub(super) fn initialize_params(&self) -> &[u8] {
        &self.initialize_params
    }

    /// Keeps the parameters of `initialize`, to open further sessions with.
    pub(super) fn initialize_sent(&mut self, message: &[u8]) {
        self.initialize_params = member(message, "params").unwrap_or(b"{}").to_vec();
    }

    /// Handles the successful head of the response to `initialize`.
    pub(super) fn opened(&mut self, id: Option<String>) {
        self.id = id;
    }

    /// Takes the id of a session that this side ends.
    pub(super) fn take_id(&mut self) -> Option<String> {
        self.id.take()
    }

    pub(super) fn hold(&mut self, until: Timestamp) {
        self.held_until = Some(until);
    }

    /// Lets requests go. Returns whether they were held back.
    pub(super) fn release(&mut self) -> bool {
        self.held_until.take().is_some()
    }

    /// Whether requests wait.
    pub(super) fn is_held(&self) -> bool {
        self.held_until.is_some() || self.renewal.is_some()
    }

    pub(super) fn is_hold_over(&self, now: Timestamp) -> bool {
        self.held_until.is_some_and(|until| until <= now)
    }

    /// Handles that the server does not know the session of this generation. Returns whether it is to be renewed: not if that
    /// was noticed before.
    pub(super) fn end(&mut self, generation: Option<u32>) -> bool {
        if generation != Some(self.generation) || self.renewal.is_some() {
            return false;
        }
        self.generation += 1;
        self.id = None;
        self.held_until = None;
        self.is_lost = false;
        true
    }

    /// Whether a session of this generation is the present one, as far as is known.
    pub(super) fn is_current(&self, generation: Option<u32>) -> bool {
        generation == Some(self.generation) && self.renewal.is_none() && !self.is_lost
    }

    /// Whether the session may be renewed because the server refuses a message for it.
    pub(super) fn may_renew_for_message(&self, now: Timestamp) -> bool {
        self.renewed_at.is_none_or(|at| now.duration_since(at) >= RENEW_FOR_MESSAGES_AFTER)
    }

    pub(super) fn renewal_started(&mut self, exchange: ExchangeId, now: Timestamp, deadline: Timestamp) {
        self.renewed_at = Some(now);
        self.renewal = Some(Renewal { exchange, deadline });
    }

    pub(super) fn is_renewed_by(&self, exchange: ExchangeId) -> bool {
        self.renewal.as_ref().is_some_and(|renewal| renewal.exchange == exchange)
    }

    pub(super) fn renewed(&mut self) {
        self.renewal = None;
    }

    pub(super) fn renewal_failed(&mut self) {
        self.renewal = None;
        self.id = None;
        self.is_lost = true;
    }

    /// Whether the session is to be renewed before the next request is sent.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Returns the exchange of a renewal that takes too long.
    pub(super) fn overdue_renewal(&self, now: Timestamp) -> Option<ExchangeId> {
        self.renewal.as_ref().filter(|renewal| renewal.deadline <= now).map(|renewal| renewal.exchange)
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        let renewal = self.renewal.as_ref().map(|renewal| renewal.deadline);
        [self.held_until, renewal].into_iter().flatten().min()
    }
}

/// Reads the response to the `initialize` of a new session. The server has to speak the same version as before.
pub(super) fn read_initialize(message: &[u8], id: u64, version: Option<ProtocolVersion>) -> Result<(), HttpError> {
    let error = |status, excerpt| Err(HttpError::Status { status, excerpt });
    match decode::answer::<InitializeResult>(message, id) {
        Ok(Answer::Result(InitializeResult { protocol_version: None, .. })) => Ok(()),
        Ok(Answer::Result(result)) if result.protocol_version.as_deref() == version.map(ProtocolVersion::as_str) => {
            Ok(())
        }
        Ok(Answer::Result(_)) => error(200, "the server speaks another version of the protocol by now".to_string()),
        Ok(Answer::Error(refusal)) => error(404, alloc::format!("`initialize`: {refusal}")),
        Err(unreadable) => error(200, alloc::format!("`initialize`: {unreadable}")),
    }
}
