//! [`Document`]: the text of the configuration file, and its entries. [`Loaded`]: the configurations in it.

use std::collections::HashSet;

use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::HubError;
use crate::config::{McpConfig, hex};
use crate::disk::JSON_OPTIONS;

/// The text of the configuration file and its parsed entries, one for each server.
pub(super) struct Document {
    text: String,
    entries: Vec<Value>,
}

const EMPTY: &str = "{\n  \"version\": 1,\n  \"servers\": []\n}\n";

/// The version of the file format that this program writes. Files with a later version cannot be read.
const VERSION: u64 = 1;

impl Document {
    /// Returns the text and entries of a configuration file without servers.
    pub(super) fn empty() -> Self {
        Document::parse(EMPTY.as_bytes()).unwrap_or_else(|reason| unreachable!("the empty file {reason}"))
    }

    /// Parses the bytes of a configuration file. The error message continues a sentence that starts with the name of the file.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("is not text: {error}"))?;
        if text.trim().is_empty() {
            return Err("is empty".to_owned());
        }
        if text.starts_with('\u{feff}') {
            return Err("starts with a byte order mark; save it as UTF-8 without one".to_owned());
        }
        let whole: Value =
            jsonc_parser::parse_to_serde_value(text, &JSON_OPTIONS).map_err(|error| format!("is not JSON: {error}"))?;
        let Value::Object(mut members) = whole else {
            return Err("is not an object with the member `servers`".to_owned());
        };
        match members.get("version").map(Value::as_u64) {
            None | Some(Some(1..=VERSION)) => {}
            Some(Some(version @ 1..)) => {
                return Err(format!(
                    "has version {version}, which this program does not know; use a later version of this program"
                ));
            }
            Some(_) => return Err("has a `version` that is not a positive number".to_owned()),
        }
        match members.remove("servers") {
            Some(Value::Array(entries)) => Ok(Document { text: text.to_owned(), entries }),
            _ => Err("has no list `servers`".to_owned()),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the JSON values in the list `servers` of the file, in their order.
    pub(super) fn entries(&self) -> &[Value] {
        &self.entries
    }

    /// Returns the configurations of the servers, and the entries that are unreadable. If several entries have the same id,
    /// only the first one is used, and the others count as unreadable.
    pub(super) fn loaded(&self) -> Loaded {
        let (mut configs, mut broken, mut ids) = (Vec::new(), Vec::new(), HashSet::new());
        for (index, entry) in self.entries.iter().enumerate() {
            match McpConfig::from_json(entry) {
                Ok(config) if ids.insert(config.id) => configs.push(config),
                Ok(config) => {
                    let error = HubError::conflict("id", format!("another entry has the id {} too", config.id));
                    broken.push(BrokenEntry::unusable(index, &config, error));
                }
                Err(error) => broken.push(BrokenEntry { index, id: id_of(entry), name: name_of(entry), error }),
            }
        }
        Loaded { configs, broken, revision: Revision::of(self.text.as_bytes()) }
    }
}

pub(super) fn id_of(entry: &Value) -> Option<Uuid> {
    entry.get("id")?.as_str()?.parse().ok()
}

pub(super) fn name_of(entry: &Value) -> Option<String> {
    Some(entry.get("name")?.as_str()?.to_owned())
}

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
    fn of(bytes: &[u8]) -> Self {
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
