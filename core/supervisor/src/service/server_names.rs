//! [`ServerNames`]: the names of the configured servers, which must be unique.

use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::{HubError, ServerId};

/// The names of all servers, in lower case and without surrounding spaces. Two names that differ only in these count as
/// equal. Each server has one name.
#[derive(Debug, Default)]
pub(super) struct ServerNames(BTreeMap<String, ServerId>);

impl ServerNames {
    /// Sets the names of several servers at once, so that servers can exchange their names. If it fails, no name
    /// changes.
    pub(super) fn set(&mut self, names: &[(ServerId, &str)]) -> Result<(), HubError> {
        let is_renamed = |server: &ServerId| names.iter().any(|(renamed, _)| renamed == server);
        let mut changed: BTreeMap<String, ServerId> = BTreeMap::new();
        for (server, name) in names {
            let name = name.trim();
            let key = name.to_lowercase();
            if key.is_empty() {
                return Err(HubError::validation("name", "Name is required"));
            }
            changed.retain(|_, other| other != server);
            if changed.contains_key(&key) || self.0.get(&key).is_some_and(|other| !is_renamed(other)) {
                let message = alloc::format!("an MCP with this name already exists: {name}; choose another name");
                return Err(HubError::conflict("name", message));
            }
            changed.insert(key, *server);
        }
        self.0.retain(|_, server| !is_renamed(server));
        self.0.extend(changed);
        Ok(())
    }

    pub(super) fn remove(&mut self, server: ServerId) {
        self.0.retain(|_, other| *other != server);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_set_together_or_not_at_all() {
        let [one, two] = [1, 2].map(ServerId::from_u128);
        let mut names = ServerNames::default();
        names.set(&[(one, "a")]).unwrap();
        names.set(&[(two, "b")]).unwrap();
        for refused in [[(one, "c"), (two, "C ")], [(one, "c"), (two, " ")]] {
            names.set(&refused).unwrap_err();
        }
        names.set(&[(one, "b")]).unwrap_err();
        names.set(&[(one, "A")]).unwrap();
        names.set(&[(one, "b"), (two, "a")]).unwrap();
        names.set(&[(one, "a")]).unwrap_err();
        names.set(&[(one, "b")]).unwrap();
        names.set(&[(ServerId::from_u128(3), "c")]).unwrap();
    }
}
