//! The text of the file, with what it says.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstObject, CstRootNode};
use serde_json::Value;
use uuid::Uuid;

use super::{Loaded, Revision};
use crate::ErrorContract;
use crate::config::McpConfig;

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
    pub error: ErrorContract,
}

/// The file as it is written, comments included.
pub(super) struct Document {
    root: CstRootNode,
    servers: CstArray,
}

/// JSON with comments, and a comma after the last of a list: what people write by hand, and no other liberties.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

const EMPTY: &str = "{\n  \"version\": 1,\n  \"servers\": []\n}\n";

/// The version that this program writes, and the newest that it reads.
const VERSION: u64 = 1;

impl Document {
    /// That of a file without servers.
    pub(super) fn empty() -> Self {
        Document::parse(EMPTY.as_bytes()).unwrap_or_else(|reason| unreachable!("the empty file {reason}"))
    }

    /// Reads a file. The error is the rest of a sentence that begins with its name.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("is not text: {error}"))?;
        if text.trim().is_empty() {
            return Err("is empty, which no file of servers is".to_owned());
        }
        if text.starts_with('\u{feff}') {
            return Err("begins with a byte order mark; save it as UTF-8 without one".to_owned());
        }
        let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| format!("is not JSON: {error}"))?;
        let object = root.object_value().ok_or("is not an object with the member `servers`")?;
        if let Some(version) = object.get("version").and_then(|version| version.to_serde_value()) {
            match version.as_u64() {
                Some(1..=VERSION) => {}
                Some(version) => {
                    return Err(format!("is of the version {version}, which a later program wrote: use that one"));
                }
                None => return Err("has a `version` that is not a number from 1 on".to_owned()),
            }
        }
        let servers = object.array_value("servers").ok_or("has no list `servers`")?;
        Ok(Document { root, servers })
    }

    pub(super) fn text(&self) -> String {
        self.root.to_string()
    }

    /// The list.
    pub(super) fn servers(&self) -> &CstArray {
        &self.servers
    }

    /// What the file says of each entry, in order.
    pub(super) fn entries(&self) -> Vec<Value> {
        self.servers.elements().iter().map(|entry| entry.to_serde_value().unwrap_or_default()).collect()
    }

    /// The entry at this place, to be changed.
    pub(super) fn entry(&self, index: usize) -> Option<CstObject> {
        self.servers.elements().get(index).and_then(|entry| entry.as_object())
    }

    pub(super) fn loaded(&self) -> Loaded {
        let (mut configs, mut broken) = (Vec::<McpConfig>::new(), Vec::new());
        for (index, entry) in self.entries().into_iter().enumerate() {
            match McpConfig::from_json(&entry) {
                Ok(config) if configs.iter().any(|other| other.id == config.id) => {
                    let error = ErrorContract::conflict("id", format!("Another entry has the id {}, too", config.id));
                    broken.push(BrokenEntry { index, id: Some(config.id), name: Some(config.name), error });
                }
                Ok(config) => configs.push(config),
                Err(error) => {
                    broken.push(BrokenEntry { index, id: id_of(&entry), name: name_of(&entry), error });
                }
            }
        }
        Loaded { configs, broken, revision: Revision::of(self.text().as_bytes()) }
    }
}

pub(super) fn id_of(entry: &Value) -> Option<Uuid> {
    entry.get("id")?.as_str()?.parse().ok()
}

pub(super) fn name_of(entry: &Value) -> Option<String> {
    Some(entry.get("name")?.as_str()?.to_owned())
}
