//! The settings of a supervisor and of its servers.

use alloc::string::String;
use core::time::Duration;

use crate::{Filter, Policy, Rate};

/// Settings shared by all servers of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SupervisorSettings {
    /// Maximum number of servers that start at the same time, during boot or automatic restarts. Servers started by a
    /// user do not wait. 8 by default.
    pub max_starts: usize,
    /// Maximum number of simultaneous starts per package manager, because package managers lock their caches. 2 by
    /// default.
    pub max_starts_per_kind: usize,
    /// Time after which a slow start no longer counts against these limits. 10 s by default.
    pub slot_timeout: Duration,
    /// Maximum length of exposed tool names. 64 characters by default.
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

/// The configuration of a server, as far as the supervisor needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spec {
    /// Display name; not blank and unique among the servers, ignoring case.
    pub name: String,
    /// Whether the server may be started.
    pub enabled: bool,
    /// Timeouts, restarts and health checks.
    pub policy: Policy,
    /// Selects the tools to offer. All by default.
    pub filter: Filter,
    /// Rate limit of calls; `None` is unlimited. 60 calls a minute by default.
    pub rate: Option<Rate>,
    /// Revision of the configuration. Changes based on another revision are rejected.
    pub revision: u64,
}

impl Spec {
    /// Creates the configuration of an enabled server with default settings.
    pub fn new(name: impl Into<String>, policy: Policy) -> Self {
        Spec {
            name: name.into(),
            enabled: true,
            policy,
            filter: Filter::default(),
            rate: Some(Rate::default()),
            revision: 0,
        }
    }
}
