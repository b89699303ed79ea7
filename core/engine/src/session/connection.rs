//! The state of the connection, and what was negotiated when it opened.

use alloc::string::String;

use super::config::Config;
use super::error::SendError;
use super::opening::Opening;
use super::protocol_fields::{protocol_fields, task_fields};
use super::server::{Phase, ServerInfo};
use crate::revisions::{self, UnavailableMethods};
use crate::types::{Era, ProtocolVersion};

/// How far the connection has come.
#[derive(Debug)]
pub(super) enum Connection {
    /// Nothing was sent.
    New,
    /// The handshake is under way.
    Opening(Opening),
    /// Requests can be sent.
    Ready(Negotiated),
    /// It has ended, or could not be opened.
    Closed,
}

/// What client and server agreed on.
#[derive(Debug)]
pub(super) struct Negotiated {
    version: ProtocolVersion,
    /// The methods that the version or the server does not have.
    barred: UnavailableMethods,
    /// `None` in the legacy era, whose requests carry no protocol fields.
    fields: Option<ProtocolFields>,
}

/// The protocol fields in the `_meta` of each request of the modern era, as members of a JSON object without its braces.
#[derive(Debug)]
struct ProtocolFields {
    members: String,
    /// The same with the declaration of the tasks extension, for requests that have to do with tasks. Made on first use, and
    /// only if the configuration does not declare the extension anyway.
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

    /// Returns the version that is spoken while the connection is open.
    pub(super) fn version(&self) -> Option<ProtocolVersion> {
        self.negotiated().map(|negotiated| negotiated.version)
    }

    /// Whether the connection is open in this era.
    pub(super) fn is_era(&self, era: Era) -> bool {
        self.version().is_some_and(|version| version.era() == era)
    }

    /// Returns the protocol fields of a request; empty where there are none.
    pub(super) fn request_meta(&self) -> &str {
        self.fields().map_or("", |fields| &fields.members)
    }

    /// Returns the protocol fields of a request that has to do with tasks: servers refuse such requests to clients that do not
    /// declare the extension in them. Call [`Self::declare_tasks`] before.
    pub(super) fn task_meta(&self) -> &str {
        self.fields().map_or("", |fields| fields.with_tasks.as_ref().unwrap_or(&fields.members))
    }

    /// Makes the text for [`Self::task_meta`].
    pub(super) fn declare_tasks(&mut self, config: &Config) {
        let Connection::Ready(Negotiated { version, fields: Some(fields), .. }) = self else { return };
        if fields.with_tasks.is_none() && !config.capabilities.has_tasks() {
            fields.with_tasks = Some(task_fields(config, *version));
        }
    }

    /// Takes over a change of the configuration into the protocol fields.
    pub(super) fn refresh_request_meta(&mut self, config: &Config) {
        let Connection::Ready(Negotiated { version, fields: Some(fields), .. }) = self else { return };
        fields.members = protocol_fields(config, *version);
        if fields.with_tasks.is_some() {
            fields.with_tasks = Some(task_fields(config, *version));
        }
    }

    /// Fails if requests cannot be sent: the connection is not open, or the server does not read.
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

    /// Fails if the version or the server does not have a method, which is named by its bit in the table of revisions.
    pub(super) fn check_allowed(&self, method: &'static str, bit: u32) -> Result<(), SendError> {
        match self.negotiated() {
            Some(negotiated) if negotiated.barred.all & bit != 0 => Err(negotiated.refusal(method, bit)),
            _ => Ok(()),
        }
    }

    /// Whether the server's capabilities lack what a method needs, which is named by its bit in the table of revisions.
    pub(super) fn is_undeclared(&self, bit: u32) -> bool {
        self.negotiated().is_some_and(|negotiated| negotiated.barred.undeclared & bit != 0)
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
            barred: UnavailableMethods::new(version, server.capabilities.as_ref()),
            fields: is_modern.then(|| ProtocolFields { members: protocol_fields(config, version), with_tasks: None }),
        }
    }

    #[cold]
    #[inline(never)]
    fn refusal(&self, method: &'static str, bit: u32) -> SendError {
        let entry = &revisions::TABLE[bit.trailing_zeros() as usize];
        if entry.is_in(self.version) {
            SendError::NotOffered { method, needs: entry.needs }
        } else {
            SendError::NotInRevision { method, version: self.version, instead: entry.instead }
        }
    }
}
