//! The settings of a supervisor and of its servers.

use alloc::string::String;
use core::time::Duration;

use crate::{Filter, Policy, Rate};

/// Settings shared by all servers of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SupervisorSettings {
    /// Maximum number of servers that start at the same time, during boot or automatic restarts. 8 by default.
    ///
    /// A server that a user or a call waits for starts at once.
    pub max_starts: usize,
    /// Maximum number of simultaneous starts per package manager. 2 by default.
    ///
    /// Package managers lock their caches, so more starts would only wait.
    pub max_starts_per_kind: usize,
    /// Time after which a slow start no longer counts against the two limits. 10 s by default.
    pub slot_timeout: Duration,
    /// Maximum length of exposed tool names, in characters. 64 by default.
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

/// The part of a server's configuration that the supervisor needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerSpec {
    /// Display name. It must not be blank, and must be unique among the servers, ignoring case.
    pub name: String,
    /// Whether the server may be started.
    pub enabled: bool,
    /// Timeouts, restarts and health checks.
    pub policy: Policy,
    /// Selects the tools to offer. Offers all tools by default.
    pub filter: Filter,
    /// Rate limit of calls; `None` means no limit. 60 calls a minute by default.
    pub rate: Option<Rate>,
    /// Revision of the configuration. The supervisor rejects changes that are based on another revision.
    pub revision: u64,
}

impl ServerSpec {
    /// Creates the configuration of an enabled server with default settings.
    pub fn new(name: impl Into<String>, policy: Policy) -> Self {
        ServerSpec {
            name: name.into(),
            enabled: true,
            policy,
            filter: Filter::default(),
            rate: Some(Rate::default()),
            revision: 0,
        }
    }
}
