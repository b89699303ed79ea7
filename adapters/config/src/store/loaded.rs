//! [`Loaded`]: the content of the configuration file.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::HubError;
use crate::config::{McpConfig, hex};

/// The content of the configuration file at the time when it was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The configurations of the servers, in the order of the file. They are readable, but not validated: see
    /// [`McpConfig::validate`].
    pub configs: Vec<McpConfig>,
    /// The entries that are unreadable as configurations of servers. They stay in the file.
    pub broken: Vec<BrokenEntry>,
    /// The revision of the configuration file, which differs after each change of its content.
    pub revision: Revision,
}

impl Loaded {
    /// Returns the configuration of the server `id`, or `None` if the file contains no readable configuration with this id.
    pub fn get(&self, id: Uuid) -> Option<&McpConfig> {
        self.configs.iter().find(|config| config.id == id)
    }
}

/// A hash of the bytes of the configuration file. Two revisions are equal if the contents of the file are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Revision(String);

impl Revision {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Revision(hex(&Sha256::digest(bytes)))
    }

    /// Returns the hash in hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An entry of the configuration file that is unreadable as the configuration of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenEntry {
    /// The index of the entry in the list of servers.
    pub index: usize,
    /// The id of the server, if it is readable.
    pub id: Option<Uuid>,
    /// The name of the server, if it is readable.
    pub name: Option<String>,
    /// The error that says why the entry is unreadable.
    pub error: HubError,
}

impl BrokenEntry {
    /// Creates the entry for the configuration `config`, which is readable but cannot be used because of `error`. `index` is its
    /// place in the list of servers.
    pub fn unusable(index: usize, config: &McpConfig, error: HubError) -> Self {
        BrokenEntry { index, id: Some(config.id), name: Some(config.name.clone()), error }
    }
}
