//! Returns information about the servers and their tools.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Supervisor;
use crate::{Catalogue, McpStatus, ServerDetail, ServerId, ToolChange};
use mcpwire_core::Timestamp;

impl Supervisor {
    /// Returns the simplified state of a server, or `None` if the server is unknown.
    ///
    /// The status of a running server contains the names of the tools that the server's filter allows.
    pub fn status(&self, id: ServerId) -> Option<McpStatus> {
        let managed = self.servers.get(&id)?;
        let mut status = managed.server.status();
        if let McpStatus::Running { tools } = &mut status {
            tools.retain(|tool| self.catalogue.permits(id, tool));
        }
        Some(status)
    }

    /// Returns a detailed snapshot of a server's lifecycle, for diagnostics. Returns `None` if the server is unknown.
    pub fn detail(&self, id: ServerId) -> Option<ServerDetail> {
        self.servers.get(&id).map(|managed| managed.server.detail())
    }

    /// Iterates over the ids of all servers, sorted by id.
    pub fn ids(&self) -> impl Iterator<Item = ServerId> {
        self.servers.keys().copied()
    }

    /// Returns the number of servers of this supervisor.
    pub fn len(&self) -> usize {
        self.servers.len()
    }

    /// Returns whether the supervisor has no servers.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Returns the revision of a server's stored configuration, which detects concurrent changes. `None` if the server
    /// is unknown.
    pub fn revision(&self, id: ServerId) -> Option<u64> {
        self.servers.get(&id).map(|managed| managed.revision)
    }

    /// Returns the current catalogue of the tools that all servers offer.
    pub fn catalogue(&mut self) -> Arc<Catalogue> {
        self.catalogue.catalogue()
    }

    /// Returns the server to which the exposed tool name `<slug>__<tool>` belongs, even if that server is not running.
    ///
    /// Returns `None` if no server has this slug. See
    /// [`CatalogueBuilder::server_of`](crate::CatalogueBuilder::server_of).
    pub fn server_of_tool(&mut self, exposed: &str) -> Option<ServerId> {
        self.catalogue.server_of(exposed)
    }

    /// Returns the changed tools of a server that the user has not reviewed yet, at most 100.
    ///
    /// [`acknowledge_changes`](Self::acknowledge_changes) marks these changes as reviewed.
    pub fn changes(&self, id: ServerId) -> Vec<ToolChange> {
        self.catalogue.changes(id)
    }

    /// Returns the earliest time at which the tool list of any server expires, or `None` if no list expires. From that
    /// time on, [`touch`](Self::touch) requests the list again.
    ///
    /// This function examines all servers. Call it after each [`Event::Listed`](crate::Event::Listed) and
    /// [`Event::RefreshFailed`](crate::Event::RefreshFailed), but not for each read of the tools.
    pub fn stale_at(&self) -> Option<Timestamp> {
        self.servers.values().filter_map(|managed| managed.server.stale_at()).min()
    }
}
