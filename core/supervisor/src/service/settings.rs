//! The settings of a supervisor and of its servers, and [`ServerNames`], which keeps the names of the servers unique.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::time::Duration;

use crate::{Filter, HubError, Policy, Rate, ServerId};

/// Settings of a supervisor that apply to all its servers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SupervisorSettings {
    /// Maximum number of servers that start at the same time, at boot or automatically after a failure. 8 by default; 0
    /// counts as 1.
    ///
    /// A server that a user or a call waits for starts immediately, regardless of this limit.
    pub max_starts: usize,
    /// Maximum number of servers that use the same package manager and start at the same time. 2 by default; 0 counts
    /// as 1.
    ///
    /// Package managers lock their caches, so further starts would only wait for the lock.
    pub max_starts_per_kind: usize,
    /// Maximum time for which a starting server counts towards `max_starts` and `max_starts_per_kind`. After that,
    /// another server may start. 10 s by default.
    pub slot_timeout: Duration,
    /// Maximum length of the tool names that language models see, in characters. 64 by default; values below 40 count
    /// as 40.
    pub longest_name: usize,
}

impl Default for SupervisorSettings {
    fn default() -> Self {
        SupervisorSettings {
            max_starts: 8,
            max_starts_per_kind: 2,
            slot_timeout: Duration::from_secs(10),
            longest_name: 64,
        }
    }
}

/// The settings of one server that the supervisor needs: its name, policy, tool filter and rate limit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSpec {
    /// The name of the server, to show to users. It must not be blank, and must differ from the names of all other
    /// servers, ignoring case.
    pub name: String,
    /// Whether the server may be started. `true` by default.
    pub enabled: bool,
    /// The timeouts, restarts, health probes and idle behaviour of the server.
    pub policy: Policy,
    /// Selects the tools of the server that clients can see and call. By default, all tools are selected.
    pub filter: Filter,
    /// Maximum rate of tool calls to the server. `None`, the default, means no limit.
    pub rate: Option<Rate>,
    /// The revision of the stored configuration, to detect concurrent changes.
    /// [`Supervisor::set_enabled`](crate::Supervisor::set_enabled) fails if its caller has read another revision. 0 by
    /// default.
    pub revision: u64,
}

impl ServerSpec {
    /// Creates the configuration of an enabled server, without a tool filter and without a rate limit.
    pub fn new(name: impl Into<String>, policy: Policy) -> Self {
        ServerSpec { name: name.into(), enabled: true, policy, filter: Filter::default(), rate: None, revision: 0 }
    }
}

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
