//! Detects tools whose definition changed.
//!
//! A malicious server may replace a tool after the user approved it (a "rug pull"). Most changes, however, are updates.
//!
//! Only keyed hashes of the fields of each tool definition are stored, not the texts. Servers do not know the key.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::Filter;
use super::keyed_hash::{HashKey, KeyedHasher};
use mcpwire_core::Json;
use mcpwire_core::Tool;
use mcpwire_core::ToolList;
use mcpwire_text::json::read::{Reader, Result as ReadResult};

/// Maximum number of changed tools that are reported at once, because nobody reads a longer list. Further changes are
/// only counted.
const MAX_CHANGES: usize = 100;

/// Maximum number of removed tools to remember, to detect a tool that reappears with a different definition. The limit
/// bounds the memory use.
const MAX_REMOVED: usize = 1_000;

/// A field of a tool definition. The supervisor reports changes of these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolPart {
    /// The display name of the tool, `title`.
    Title,
    /// The description of the tool, `description`.
    Description,
    /// The JSON schema of the tool's arguments, `inputSchema`.
    InputSchema,
    /// The JSON schema of the tool's structured results, `outputSchema`.
    OutputSchema,
    /// The annotations of the tool, such as `readOnlyHint` and `destructiveHint`.
    Annotations,
}

const PARTS: [ToolPart; 5] =
    [ToolPart::Title, ToolPart::Description, ToolPart::InputSchema, ToolPart::OutputSchema, ToolPart::Annotations];

impl fmt::Display for ToolPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ToolPart::Title => "title",
            ToolPart::Description => "description",
            ToolPart::InputSchema => "input schema",
            ToolPart::OutputSchema => "output schema",
            ToolPart::Annotations => "annotations",
        })
    }
}

/// A tool whose definition the server has changed, with the changed fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolChange {
    /// The name that the server uses for the tool, without the prefix `<slug>__`. Untrusted text.
    pub tool: String,
    /// The fields of the tool definition that changed, in the order of [`ToolPart`].
    pub parts: Vec<ToolPart>,
}

impl fmt::Display for ToolChange {
    /// Writes the tool name and the fields that changed: `name (description, input schema)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool)?;
        for (at, part) in self.parts.iter().enumerate() {
            write!(f, "{}{part}", if at == 0 { " (" } else { ", " })?;
        }
        f.write_str(if self.parts.is_empty() { "" } else { ")" })
    }
}

/// The tools whose definitions changed between two tool lists of the same server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolChanges {
    /// The first 100 tools whose definitions changed, in the order of the tool list.
    pub tools: Vec<ToolChange>,
    /// Number of further changed tools that are not in `tools`, because `tools` is limited to 100.
    pub more: usize,
}

impl ToolChanges {
    /// Returns whether no tool definition changed.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

/// The last known tool definitions of one server, stored as hashes.
#[derive(Default)]
pub(super) struct Definitions {
    /// Hashes of the known tools, sorted by the hash of the tool name. `None` before the first tool list.
    known: Option<Vec<KnownTool>>,
    /// The reported changes that the user has not reviewed yet: tool name and changed fields.
    unreviewed: BTreeMap<String, BTreeSet<ToolPart>>,
}

#[derive(Clone, Copy)]
struct KnownTool {
    name: u64,
    parts: [u32; PARTS.len()],
    /// Whether the latest tool list contains the tool. `false` for a removed tool.
    is_listed: bool,
}

impl Definitions {
    /// Stores the tool definitions in `list` for later comparisons. Has no effect if definitions are already known.
    pub(super) fn set_baseline(&mut self, key: HashKey, list: &ToolList) {
        self.known
            .get_or_insert_with(|| sort_by_name(list.listed().items.iter().map(|tool| KnownTool::new(key, tool))));
    }

    /// Replaces the known definitions by those in `list`, and returns the tools whose definitions changed. Tools that
    /// `filter` excludes are not returned.
    pub(super) fn compare(&mut self, key: HashKey, list: &ToolList, filter: &Filter) -> ToolChanges {
        let tools = &list.listed().items;
        let latest: Vec<KnownTool> = tools.iter().map(|tool| KnownTool::new(key, tool)).collect();
        let Some(before) = self.known.take() else {
            self.known = Some(sort_by_name(latest.into_iter()));
            return ToolChanges::default();
        };
        let mut changes = ToolChanges::default();
        for (tool, latest) in tools.iter().zip(&latest) {
            let previous = before.binary_search_by_key(&latest.name, |known| known.name);
            let parts = previous.map(|at| latest.changed_parts(&before[at])).unwrap_or_default();
            if parts.is_empty() || !filter.permits(&tool.name) {
                continue;
            }
            if changes.tools.len() == MAX_CHANGES {
                changes.more += 1;
                continue;
            }
            if self.unreviewed.len() < MAX_CHANGES || self.unreviewed.contains_key(&tool.name) {
                self.unreviewed.entry(tool.name.clone()).or_default().extend(&parts);
            }
            changes.tools.push(ToolChange { tool: tool.name.clone(), parts });
        }
        let mut known = sort_by_name(latest.into_iter());
        let is_removed = |tool: &&KnownTool| known.binary_search_by_key(&tool.name, |known| known.name).is_err();
        let mut removed: Vec<KnownTool> = before.iter().filter(is_removed).copied().collect();
        // If too many tools were removed, those removed earlier are forgotten first.
        removed.sort_by_key(|tool| !tool.is_listed);
        known.extend(removed.into_iter().take(MAX_REMOVED).map(|tool| KnownTool { is_listed: false, ..tool }));
        self.known = Some(sort_by_name(known.into_iter()));
        changes
    }

    pub(super) fn unreviewed(&self) -> Vec<ToolChange> {
        let change = |(tool, parts): (&String, &BTreeSet<ToolPart>)| ToolChange {
            tool: tool.clone(),
            parts: parts.iter().copied().collect(),
        };
        self.unreviewed.iter().map(change).collect()
    }

    pub(super) fn mark_reviewed(&mut self) {
        self.unreviewed.clear();
    }
}

fn sort_by_name(known: impl Iterator<Item = KnownTool>) -> Vec<KnownTool> {
    let mut known: Vec<KnownTool> = known.collect();
    known.sort_unstable_by_key(|known| known.name);
    known
}

impl KnownTool {
    fn new(key: HashKey, tool: &Tool) -> Self {
        let text = |text: Option<&str>| text.map_or(0, |text| shorten(key.hash_text(text)));
        let json = |json: Option<&Json>| json.map_or(0, |json| shorten(hash_value(key, json)));
        let annotations = tool.annotations.as_ref().and_then(|annotations| Json::from_value(annotations).ok());
        let parts = [
            text(tool.title.as_deref()),
            text(tool.description.as_deref()),
            json(Some(&tool.input_schema)),
            json(tool.output_schema.as_ref()),
            json(annotations.as_ref()),
        ];
        KnownTool { name: key.hash_text(&tool.name), parts, is_listed: true }
    }

    fn changed_parts(&self, other: &KnownTool) -> Vec<ToolPart> {
        let pairs = PARTS.iter().zip(self.parts.iter().zip(&other.parts));
        pairs.filter(|(_, (one, other))| one != other).map(|(part, _)| *part).collect()
    }
}

/// Returns the upper 32 bits of a hash. 32 bits suffice, because a server that does not know the key cannot search for
/// a second text with the same hash.
fn shorten(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}

/// Returns the keyed hash of a JSON value. Whitespace, escapes and the order of object members do not affect the hash,
/// because some servers send the members in another order in each response.
fn hash_value(key: HashKey, json: &Json) -> u64 {
    // Invalid JSON is hashed as plain text.
    hash_next(key, &mut Reader::new(json.get())).unwrap_or_else(|_| key.hash_text(json.get()))
}

fn hash_next(key: HashKey, reader: &mut Reader<'_>) -> ReadResult<u64> {
    let mut hash = KeyedHasher::new(key);
    match reader.next_byte() {
        Some(b'{') => {
            // A sum does not depend on the order of the members.
            let mut members = 0_u64;
            reader.members(&mut |name, reader| {
                let mut member = KeyedHasher::new(key);
                member.write_u64(key.hash_text(name));
                member.write_u64(hash_next(key, reader)?);
                members = members.wrapping_add(member.finish());
                Ok(())
            })?;
            hash.write(b"{");
            hash.write_u64(members);
        }
        Some(b'[') => {
            hash.write(b"[");
            reader.elements(&mut |reader| {
                hash.write_u64(hash_next(key, reader)?);
                Ok(())
            })?;
        }
        Some(b'"') => {
            hash.write(b"\"");
            hash.write(reader.string()?.as_bytes());
        }
        _ => hash.write(reader.raw()?.as_bytes()),
    }
    Ok(hash.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> u64 {
        hash_value(HashKey::new(7), &Json::parse(text).unwrap())
    }

    #[test]
    fn equal_values_have_equal_hashes() {
        let plain = hash(r#"{"type":"object","properties":{"a":{"enum":["é",1]}}}"#);
        assert_eq!(hash("{ \"properties\": {\"a\":{\"enum\":[\"\\u00e9\", 1]}},\n\"type\":\"object\" }"), plain);
        for other in [
            r#"{"type":"object","properties":{"a":{"enum":[1,"é"]}}}"#,
            r#"{"type":"object","properties":{"b":{"enum":["é",1]}}}"#,
            r#"{"type":"object","properties":{"a":{"enum":["é","1"]}}}"#,
            r#"{"type":"object","properties":{"a":{"enum":["é",1]}},"x":{}}"#,
            r#"{"type":"object","properties":{"a":{"enum":[["é",1]]}}}"#,
        ] {
            assert_ne!(hash(other), plain, "{other}");
        }
        assert_ne!(hash("{}"), hash("[]"));
        assert_ne!(hash(r#""null""#), hash("null"));
    }

    #[test]
    fn another_key_gives_another_hash() {
        let json = Json::parse("[1]").unwrap();
        assert_ne!(hash_value(HashKey::new(1), &json), hash_value(HashKey::new(2), &json));
    }
}
