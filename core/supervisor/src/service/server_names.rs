//! The names of the configured servers, which must be unique.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::{HubError, ServerId};

/// The unique names of all servers. Names that differ only in case or in surrounding spaces count as the same.
#[derive(Debug, Default)]
pub(super) struct ServerNames {
    by_name: BTreeMap<String, ServerId>,
    by_server: BTreeMap<ServerId, String>,
}

impl ServerNames {
    pub(super) fn set(&mut self, server: ServerId, name: &str) -> Result<(), HubError> {
        let key = name.trim().to_lowercase();
        if key.is_empty() {
            return Err(HubError::validation("name", "Name is required"));
        }
        if self.by_name.get(&key).is_some_and(|other| *other != server) {
            let name = name.trim();
            return Err(HubError::conflict(
                "name",
                alloc::format!("an MCP with this name already exists: {name}; choose another name"),
            ));
        }
        self.remove(server);
        self.by_name.insert(key.clone(), server);
        self.by_server.insert(server, key);
        Ok(())
    }

    pub(super) fn remove(&mut self, server: ServerId) {
        if let Some(key) = self.by_server.remove(&server) {
            self.by_name.remove(&key);
        }
    }
}
