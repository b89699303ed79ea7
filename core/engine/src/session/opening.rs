//! [`Opening`]: the [handshake](super::handshake) that opens a connection, with its deadlines.

use alloc::sync::Arc;

use super::config::Config;
use super::error::{CloseReason, ConnectError, RequestFault};
use super::handshake::{Handshake, HandshakeAction};
use super::requests::OpeningRequest;
use crate::rpc::{Response, decode};
use crate::time::Timestamp;

/// The state of a connection that is being opened: the handshake and its deadlines.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) handshake: Handshake,
    /// Time at which the attempt to open the connection fails (see [`Config::connect_timeout`]).
    connect_by: Timestamp,
    /// Time at which the session also sends `initialize` if the server has not responded to `server/discover` (see
    /// [`Config::probe_timeout`]). Of no effect once the handshake has stopped probing.
    probe_by: Timestamp,
}

impl Opening {
    pub(super) fn new(config: &Config, now: Timestamp) -> Self {
        Opening {
            handshake: Handshake::new(config.negotiate),
            connect_by: now + config.connect_timeout,
            probe_by: now + config.probe_timeout,
        }
    }

    /// Returns the time at which [`Self::handle_timeout`] must be called.
    pub(super) fn poll_timeout(&self) -> Timestamp {
        if self.handshake.is_probing() { self.probe_by.min(self.connect_by) } else { self.connect_by }
    }

    pub(super) fn handle_timeout(&mut self, now: Timestamp, config: &Config) -> HandshakeAction {
        if self.connect_by <= now {
            self.handshake.fail(ConnectError::Timeout { after: config.connect_timeout })
        } else if self.probe_by <= now {
            self.handshake.silence()
        } else {
            HandshakeAction::Nothing
        }
    }

    /// Handles the response to a request of the handshake, or its failure.
    pub(super) fn answered(
        &mut self,
        request: OpeningRequest,
        answer: Result<(Response, impl AsRef<[u8]>), RequestFault>,
    ) -> HandshakeAction {
        match request {
            OpeningRequest::Discover => self
                .handshake
                .discovered(answer.and_then(|(response, message)| decode::answer(message.as_ref(), response))),
            OpeningRequest::Initialize => self
                .handshake
                .initialized(answer.and_then(|(response, message)| decode::answer(message.as_ref(), response))),
        }
    }

    /// Returns what to do if the connection is closed before it is open, or `None` for [`CloseReason::NotOpened`], which
    /// already contains the error to report.
    pub(super) fn close(&mut self, reason: &CloseReason) -> Option<HandshakeAction> {
        match reason {
            CloseReason::ByServer => Some(self.handshake.ended()),
            CloseReason::ByClient => Some(self.handshake.fail(ConnectError::Cancelled)),
            CloseReason::Failed(why) => Some(self.handshake.fail(ConnectError::Failed(Arc::clone(why)))),
            CloseReason::NotOpened(_) => None,
        }
    }
}
