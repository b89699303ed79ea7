//! [`Connection`]: the state of the connection, and what client and server have negotiated.

use alloc::string::String;

use super::config::Config;
use super::error::SendError;
use super::opening::Opening;
use super::protocol_fields::{protocol_fields, task_fields};
use super::server_info::ServerInfo;
use crate::revisions::{self, UnavailableMethods};
use crate::types::{Era, ProtocolVersion};

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The session has not sent anything.
    New,
    /// The connection is being opened.
    Connecting,
    /// The connection is open: the session can send requests.
    Ready,
    /// The connection has ended, or could not be opened.
    Closed,
}

/// The state of a connection. Each variant is a [`Phase`].
#[derive(Debug)]
pub(super) enum Connection {
    New,
    Opening(Opening),
    Ready(Negotiated),
    Closed,
}

/// The result of the handshake.
#[derive(Debug)]
pub(super) struct Negotiated {
    version: ProtocolVersion,
    /// The methods that the version or the server does not have.
    capability_check: UnavailableMethods,
    /// `None` in the legacy era, whose requests carry no protocol fields.
    fields: Option<ProtocolFields>,
}

/// The protocol fields in the `_meta` of each modern request, as members of a JSON object without its braces.
#[derive(Debug)]
struct ProtocolFields {
    members: String,
    /// The same fields with the tasks extension declared, for requests that may become or concern tasks. `None` before the
    /// first such request, and always if the configuration declares the extension.
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

    /// Returns the protocol version, or `None` if the connection is not open.
    pub(super) fn version(&self) -> Option<ProtocolVersion> {
        self.negotiated().map(|negotiated| negotiated.version)
    }

    /// Returns whether the connection is open and has a version of this era.
    pub(super) fn is_era(&self, era: Era) -> bool {
        self.version().is_some_and(|version| version.era() == era)
    }

    /// Returns the protocol fields of a request, or an empty string in the legacy era.
    pub(super) fn request_meta(&self) -> &str {
        self.fields().map_or("", |fields| &fields.members)
    }

    /// Returns the protocol fields of a request that may become or concern a task. Call [`Self::declare_tasks`] before.
    ///
    /// Servers refuse such requests if they do not declare the extension.
    pub(super) fn task_meta(&self) -> &str {
        self.fields().map_or("", |fields| fields.with_tasks.as_ref().unwrap_or(&fields.members))
    }

    /// Prepares the fields for [`Self::task_meta`].
    pub(super) fn declare_tasks(&mut self, config: &Config) {
        let Connection::Ready(Negotiated { version, fields: Some(fields), .. }) = self else { return };
        if fields.with_tasks.is_none() && !config.capabilities.has_tasks() {
            fields.with_tasks = Some(task_fields(config, *version));
        }
    }

    /// Updates the protocol fields after a change of the configuration.
    pub(super) fn refresh_request_meta(&mut self, config: &Config) {
        let Connection::Ready(Negotiated { version, fields: Some(fields), .. }) = self else { return };
        fields.members = protocol_fields(config, *version);
        if fields.with_tasks.is_some() {
            fields.with_tasks = Some(task_fields(config, *version));
        }
    }

    /// Checks that the connection is open and the transmit buffer is not full.
    pub(super) fn check_open(&self, out: &[u8], config: &Config) -> Result<(), SendError> {
        match self {
            Connection::Ready(_) if out.len() > config.max_transmit => {
                Err(SendError::TransmitFull { limit: config.max_transmit })
            }
            Connection::Ready(_) => Ok(()),
            Connection::New | Connection::Opening(_) => Err(SendError::NotInitialized),
            Connection::Closed => Err(SendError::Closed),
        }
    }

    /// Checks that the version and the server have a method. `bit` is the method's bit in the table of revisions.
    pub(super) fn check_allowed(&self, method: &'static str, bit: u32) -> Result<(), SendError> {
        match self.negotiated() {
            Some(negotiated) if negotiated.capability_check.all & bit != 0 => Err(negotiated.refusal(method, bit)),
            _ => Ok(()),
        }
    }

    /// Returns whether the server lacks a capability that a method needs. `bit` is the method's bit in the table of revisions.
    pub(super) fn is_undeclared(&self, bit: u32) -> bool {
        self.negotiated().is_some_and(|negotiated| negotiated.capability_check.undeclared & bit != 0)
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
    pub(super) fn new(server: &ServerInfo, config: &Config) -> Self {
        let version = server.protocol_version;
        let is_modern = server.era == Era::Modern;
        Negotiated {
            version,
            capability_check: UnavailableMethods::new(version, server.capabilities.as_ref()),
            fields: is_modern.then(|| ProtocolFields { members: protocol_fields(config, version), with_tasks: None }),
        }
    }

    #[cold]
    #[inline(never)]
    fn refusal(&self, method: &'static str, bit: u32) -> SendError {
        let entry = revisions::client_row(bit);
        if entry.is_in(self.version) {
            SendError::NotOffered { method, requires: entry.requires }
        } else {
            SendError::NotInRevision { method, version: self.version, instead: entry.instead }
        }
    }
}
