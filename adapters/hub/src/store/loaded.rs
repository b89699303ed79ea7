//! [`Loaded`]: the content of the configuration file.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::HubError;
use crate::config::McpConfig;

/// The content of the configuration file when it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The readable configurations, in the order of the file. [`McpConfig::validate`] checks whether they are valid.
    pub configs: Vec<McpConfig>,
    /// The unreadable entries. They stay in the file.
    pub broken: Vec<BrokenEntry>,
    /// The revision of the file.
    pub revision: Revision,
}

impl Loaded {
    /// Returns the configuration with this id.
    pub fn get(&self, id: Uuid) -> Option<&McpConfig> {
        self.configs.iter().find(|config| config.id == id)
    }
}

/// A hash of the file's bytes. Two revisions are equal if the files are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Revision(String);

impl Revision {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut text = String::with_capacity(64);
        for byte in Sha256::digest(bytes) {
            let _ = write!(text, "{byte:02x}");
        }
        Revision(text)
    }

    /// Returns the hash in hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An unreadable entry of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenEntry {
    /// The index in the list of servers.
    pub index: usize,
    /// The id, if it is readable.
    pub id: Option<Uuid>,
    /// The name, if it is readable.
    pub name: Option<String>,
    /// Why the entry is unreadable.
    pub error: HubError,
}
