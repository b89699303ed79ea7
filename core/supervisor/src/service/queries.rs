//! Read access to the servers and their tools.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Supervisor;
use crate::{Catalogue, ServerDetail, ServerId, Status, ToolChange};
use mcpwire_core::Timestamp;

impl Supervisor {
    /// Returns the simplified state of a server with its offered tools, or `None` if the server is unknown.
    pub fn status(&self, id: ServerId) -> Option<Status> {
        let managed = self.servers.get(&id)?;
        let mut status = managed.server.status();
        if let Status::Running { tools } = &mut status {
            tools.retain(|tool| managed.filter.permits(tool));
        }
        Some(status)
    }

    /// Returns a detailed snapshot of a server for diagnostics, or `None` if the server is unknown.
    pub fn detail(&self, id: ServerId) -> Option<ServerDetail> {
        self.servers.get(&id).map(|managed| managed.server.detail())
    }

    /// Iterates over the ids of the servers, in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = ServerId> {
        self.servers.keys().copied()
    }

    /// Returns the number of servers.
    pub fn len(&self) -> usize {
        self.servers.len()
    }

    /// Returns whether there are no servers.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Returns the configuration revision of a server, or `None` if the server is unknown.
    pub fn revision(&self, id: ServerId) -> Option<u64> {
        self.servers.get(&id).map(|managed| managed.revision)
    }

    /// Returns the current catalogue of offered tools.
    pub fn catalogue(&mut self) -> Arc<Catalogue> {
        self.catalogue.catalogue()
    }

    /// Returns the server to which an exposed tool name belongs, whether it runs or not. See
    /// [`CatalogueBuilder::server_of`](crate::CatalogueBuilder::server_of).
    pub fn server_of_tool(&mut self, exposed: &str) -> Option<ServerId> {
        self.catalogue.server_of(exposed)
    }

    /// Returns up to 100 changed tools of a server that the user has not reviewed.
    ///
    /// [`acknowledge_changes`](Self::acknowledge_changes) marks them as reviewed.
    pub fn changes(&self, id: ServerId) -> Vec<ToolChange> {
        self.catalogue.changes(id)
    }

    /// Returns the earliest time at which a tool list expires, so that [`touch`](Self::touch) would refresh it.
    ///
    /// This function scans all servers. Call it after a list was received or a refresh failed, but not on every read of
    /// the tools.
    pub fn stale_at(&self) -> Option<Timestamp> {
        self.servers.values().filter_map(|managed| managed.server.stale_at()).min()
    }
}
