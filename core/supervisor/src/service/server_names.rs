//! The names of the configured servers, which must be unique.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::{HubError, ServerId};

/// The unique names of all servers. Names that differ only in case or in surrounding spaces count as the same.
#[derive(Clone, Debug, Default)]
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

    /// Sets the names of several servers at once, so that servers can exchange their names. Sets no name if it fails.
    pub(super) fn set_all(&mut self, names: &[(ServerId, &str)]) -> Result<(), HubError> {
        let mut changed = self.clone();
        for (server, _) in names {
            changed.remove(*server);
        }
        for (server, name) in names {
            changed.set(*server, name)?;
        }
        *self = changed;
        Ok(())
    }

    pub(super) fn remove(&mut self, server: ServerId) {
        if let Some(key) = self.by_server.remove(&server) {
            self.by_name.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_set_together_or_not_at_all() {
        let [one, two] = [1, 2].map(ServerId::from_u128);
        let mut names = ServerNames::default();
        names.set(one, "a").unwrap();
        names.set(two, "b").unwrap();
        for refused in [[(one, "c"), (two, "C ")], [(one, "c"), (two, " ")]] {
            names.set_all(&refused).unwrap_err();
        }
        names.set_all(&[(one, "b")]).unwrap_err();
        names.set(one, "A").unwrap();
        names.set_all(&[(one, "b"), (two, "a")]).unwrap();
        names.set(one, "a").unwrap_err();
        names.set(one, "b").unwrap();
        names.set(ServerId::from_u128(3), "c").unwrap();
    }
}
