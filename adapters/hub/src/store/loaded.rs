//! [`Loaded`]: what the file of configurations contains.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::HubError;
use crate::config::McpConfig;

/// What the file held when it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configurations, in the order of the file. They could be read; whether they are valid, [`McpConfig::validate`] tells.
    pub configs: Vec<McpConfig>,
    /// The entries that could not be read. They are kept in the file as they are.
    pub broken: Vec<BrokenEntry>,
    /// Which version of the file it was.
    pub revision: Revision,
}

impl Loaded {
    /// The configuration with this id.
    pub fn get(&self, id: Uuid) -> Option<&McpConfig> {
        self.configs.iter().find(|config| config.id == id)
    }
}

/// A version of the file: two are the same if their bytes are.
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

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An entry of the file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenEntry {
    /// Where it is in the list, from 0.
    pub index: usize,
    /// Its id, if that could be read.
    pub id: Option<Uuid>,
    /// Its name, if that could be read.
    pub name: Option<String>,
    /// What is wrong with it.
    pub error: HubError,
}
