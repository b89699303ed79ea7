//! [`Connection`]: the state of the connection, including the result of the handshake.

use alloc::string::String;
use alloc::sync::Arc;

use super::config::Config;
use super::error::SendError;
use super::meta::{protocol_fields, task_fields};
use super::opening::Opening;
use super::server_info::ServerInfo;
use crate::revisions::client_method;
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
    /// The members that the session adds to the `_meta` of each request. `None` for legacy versions (up to revision
    /// 2025-11-25), which have no such members.
    fields: Option<ProtocolFields>,
}

/// The members that the session adds to the `_meta` of each request to a modern server (from revision 2026-07-28), such
/// as the protocol version, as JSON text without braces.
#[derive(Debug)]
struct ProtocolFields {
    members: String,
    /// Like `members`, but declares the tasks extension. `None` until a request may become a task, and if `members`
    /// itself declares the extension.
    with_tasks: Option<String>,
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
        self.negotiated().map(|negotiated| negotiated.server.protocol_version)
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

    /// Returns the JSON members that the session adds to the `_meta` of each request, without braces. Empty for legacy
    /// versions (up to revision 2025-11-25), and while the connection is not open.
    pub(super) fn request_meta(&self) -> &str {
        self.fields().map_or("", |fields| &fields.members)
    }

    /// Returns the JSON members that the session adds to the `_meta` of a request that may become a task or polls one.
    /// Call [`Self::declare_tasks`] first, so that they declare the tasks extension.
    pub(super) fn task_meta(&self) -> &str {
        self.fields().map_or("", |fields| fields.with_tasks.as_ref().unwrap_or(&fields.members))
    }

    pub(super) fn declare_tasks(&mut self, config: &Config) {
        let Connection::Ready(Negotiated { server, fields: Some(fields) }) = self else { return };
        if fields.with_tasks.is_none() && !config.capabilities.has_tasks() {
            fields.with_tasks = Some(task_fields(config, server.protocol_version));
        }
    }

    /// Rebuilds the protocol fields for later requests, after a value in `config` (such as the log level) has changed.
    pub(super) fn refresh_request_meta(&mut self, config: &Config) {
        let Connection::Ready(Negotiated { server, fields: Some(fields) }) = self else { return };
        fields.members = protocol_fields(config, server.protocol_version);
        if fields.with_tasks.is_some() {
            fields.with_tasks = Some(task_fields(config, server.protocol_version));
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
        self.negotiated().is_some_and(|Negotiated { server, .. }| {
            !required.is_met(server.capabilities.as_ref(), server.protocol_version)
        })
    }

    fn negotiated(&self) -> Option<&Negotiated> {
        match self {
            Connection::Ready(negotiated) => Some(negotiated),
            _ => None,
        }
    }

    fn fields(&self) -> Option<&ProtocolFields> {
        self.negotiated().and_then(|negotiated| negotiated.fields.as_ref())
    }
}

impl Negotiated {
    pub(super) fn new(server: Arc<ServerInfo>, config: &Config) -> Self {
        let members = || protocol_fields(config, server.protocol_version);
        let fields = (server.era == Era::Modern).then(|| ProtocolFields { members: members(), with_tasks: None });
        Negotiated { server, fields }
    }
}
