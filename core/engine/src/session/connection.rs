//! [`Connection`]: the state of the connection, including the result of the handshake. [`Opening`]: the
//! [handshake](super::handshake) that opens a connection, with its deadlines.

use alloc::string::String;
use alloc::sync::Arc;

use super::config::Config;
use super::error::{CloseReason, ConnectError, RequestFault, SendError};
use super::handshake::{Handshake, HandshakeAction, ServerInfo};
use super::meta::protocol_fields;
use super::requests::OpeningRequest;
use crate::revisions::client_method;
use crate::rpc::{Response, decode};
use crate::time::Timestamp;
use mcpwire_types::{Era, ProtocolVersion, Requirement};

/// The phase of a connection, from its creation to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The session has not sent any message.
    New,
    /// The connection is being opened: the handshake is not complete.
    Connecting,
    /// The connection is open, and requests can be sent.
    Ready,
    /// The connection has ended, or could not be opened.
    Closed,
}

/// The state of a connection. Each variant corresponds to one [`Phase`].
#[derive(Debug)]
pub(super) enum Connection {
    New,
    Opening(Opening),
    Ready(Negotiated),
    Closed,
}

#[derive(Debug)]
pub(super) struct Negotiated {
    server: Arc<ServerInfo>,
    /// The members that the session adds to the `_meta` of each request, such as the protocol version, as JSON text without
    /// braces. Empty for legacy versions (up to revision 2025-11-25).
    request_meta: String,
    /// Like `request_meta`, but declares the tasks extension, for requests that may become a task or poll one.
    task_meta: String,
}

impl Connection {
    pub(super) fn phase(&self) -> Phase {
        match self {
            Connection::New => Phase::New,
            Connection::Opening(_) => Phase::Connecting,
            Connection::Ready(_) => Phase::Ready,
            Connection::Closed => Phase::Closed,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self, Connection::Ready(_))
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Connection::Closed)
    }

    /// Returns the negotiated protocol version, or `None` if the connection is not open.
    pub(super) fn version(&self) -> Option<ProtocolVersion> {
        self.server().map(|server| server.protocol_version)
    }

    /// Returns the description of the server, or `None` if the connection is not open.
    pub(super) fn server(&self) -> Option<&ServerInfo> {
        self.negotiated().map(|negotiated| &*negotiated.server)
    }

    /// Returns whether the connection is open and the negotiated protocol version belongs to `era`.
    pub(super) fn is_era(&self, era: Era) -> bool {
        self.version().is_some_and(|version| version.era() == era)
    }

    /// Returns the negotiated protocol version if the connection is open and the version is modern (from revision
    /// 2026-07-28).
    pub(super) fn modern_version(&self) -> Option<ProtocolVersion> {
        self.version().filter(|version| version.era() == Era::Modern)
    }

    /// Returns the JSON members that the session adds to the `_meta` of a request, without braces. With `declares_tasks`, they
    /// declare the tasks extension, for a request that may become a task or polls one. Empty for legacy versions (up to
    /// revision 2025-11-25), and while the connection is not open.
    pub(super) fn request_meta(&self, declares_tasks: bool) -> &str {
        self.negotiated().map_or(
            "",
            |negotiated| {
                if declares_tasks { &negotiated.task_meta } else { &negotiated.request_meta }
            },
        )
    }

    /// Rebuilds the members of [`Self::request_meta`] for later requests, after a value in `config` (such as the log level)
    /// has changed.
    pub(super) fn refresh_request_meta(&mut self, config: &Config) {
        if let Connection::Ready(negotiated) = self {
            *negotiated = Negotiated::new(Arc::clone(&negotiated.server), config);
        }
    }

    /// Returns an error if the negotiated protocol version or the server does not support `method`.
    pub(super) fn check_allowed(&self, method: &'static str) -> Result<(), SendError> {
        let (Some(version), Some(entry)) = (self.version(), client_method(method)) else { return Ok(()) };
        if !entry.is_in(version) {
            return Err(SendError::NotInRevision { method, version, instead: entry.instead });
        }
        if self.lacks(entry.requires) {
            return Err(SendError::NotOffered { method, requires: entry.requires });
        }
        Ok(())
    }

    /// Returns whether the connection is open and the server did not declare the capability `required`.
    pub(super) fn lacks(&self, required: Requirement) -> bool {
        self.server().is_some_and(|server| !required.is_met(server.capabilities.as_ref(), server.protocol_version))
    }

    fn negotiated(&self) -> Option<&Negotiated> {
        match self {
            Connection::Ready(negotiated) => Some(negotiated),
            _ => None,
        }
    }
}

impl Negotiated {
    pub(super) fn new(server: Arc<ServerInfo>, config: &Config) -> Self {
        let version = server.protocol_version;
        let fields = |declares_tasks| match version.era() {
            Era::Modern => protocol_fields(config, version, declares_tasks),
            Era::Legacy => String::new(),
        };
        Negotiated { request_meta: fields(false), task_meta: fields(true), server }
    }
}

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
            self.handshake.open_or_fail(ConnectError::Timeout { after: config.connect_timeout })
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
