//! [`ConfigChanges`]: the difference between the servers of the hub and the configuration file.

use std::collections::HashMap;
use std::sync::Arc;

use uuid::Uuid;

use crate::HubError;
use crate::config::McpConfig;
use crate::store::Loaded;

/// The changes that make the servers of the hub equal to the configuration file. Servers are compared by their ids, so
/// a new name is a change of the same server.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ConfigChanges {
    /// The ids of the servers that the file no longer contains.
    pub(super) removed: Vec<Uuid>,
    /// The new configurations of servers that the hub already has.
    pub(super) changed: Vec<McpConfig>,
    /// The configurations of servers that the hub does not have yet.
    pub(super) added: Vec<McpConfig>,
}

impl ConfigChanges {
    /// Compares the configurations `before`, which the hub has, with the configuration file. A server whose entry in
    /// the file is unreadable keeps its configuration.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if a configuration in the file is invalid, and `CONFLICT` with the field `name` if two servers
    /// would have the same name.
    pub(super) fn new(before: &[Arc<McpConfig>], file: Loaded) -> Result<Self, HubError> {
        let mut changes = ConfigChanges::default();
        let mut names = HashMap::new();
        for config in before.iter().filter(|config| file.get(config.id).is_none()) {
            if file.broken.iter().any(|entry| entry.id == Some(config.id)) {
                names.insert(config.folded_name(), config.id);
            } else {
                changes.removed.push(config.id);
            }
        }
        let before: HashMap<Uuid, &McpConfig> = before.iter().map(|config| (config.id, &**config)).collect();
        for config in file.configs {
            config.validate()?;
            if let Some(other) = names.insert(config.folded_name(), config.id) {
                let message = format!(
                    "the servers {other} and {} would both have the name `{}`. Nothing was changed. Give one of them \
                     another name in the configuration file",
                    config.id,
                    config.name.trim()
                );
                return Err(HubError::conflict("name", message));
            }
            match before.get(&config.id) {
                None => changes.added.push(config),
                Some(before) if **before != config => changes.changed.push(config),
                Some(_) => {}
            }
        }
        Ok(changes)
    }
}
