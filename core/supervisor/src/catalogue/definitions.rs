//! Detects tools whose definition changed, so that the user can review the change.
//!
//! A malicious server may replace a tool after the user approved it (a "rug pull"). Most changes, however, are updates.
//!
//! Only keyed hashes of the fields of each tool definition are stored, not the texts. Servers do not know the key, so
//! they cannot search for a definition with the same hash.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::hash::Hasher;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;

use super::Filter;
use mcpwire_core::{Json, Tool, ToolList};
use mcpwire_text::json::read::{Reader, Result as ReadResult};

/// Maximum number of changed tools that are reported at once, because nobody reads a longer list. Further changes are
/// only counted.
const MAX_CHANGES: usize = 100;

/// Maximum number of removed tools to remember, to detect a tool that reappears with a different definition. Beyond
/// that, the tools that were removed first are forgotten.
const MAX_REMOVED: usize = 1_000;

/// A field of a tool definition, such as the description. The supervisor reports which fields of a tool changed.
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

/// A tool whose definition the server has changed, with the changed fields. Shown to the user for review.
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

/// Returns the hasher for tool definitions, whose key is derived from `seed`. A server that does not know `seed` cannot
/// construct a collision.
pub(super) fn keyed_hasher(seed: u64) -> SipHasher24 {
    SipHasher24::new_with_keys(seed, seed.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15)
}

/// The last known tool definitions of one server, stored as hashes to compare later definitions with.
#[derive(Default)]
pub(super) struct Definitions {
    /// The known tools by the hash of their name. `None` before the first tool list.
    known: Option<BTreeMap<u64, KnownTool>>,
    /// The reported changes that the user has not reviewed yet: tool name and changed fields.
    pub(super) unreviewed: BTreeMap<String, BTreeSet<ToolPart>>,
}

#[derive(Clone, Copy)]
struct KnownTool {
    /// The hash of each field of the definition, in the order of [`PARTS`].
    parts: [u32; PARTS.len()],
    /// Whether the latest tool list contains the tool. `false` for a removed tool.
    is_listed: bool,
}

impl Definitions {
    /// Stores the tool definitions in `list` for later comparisons. Has no effect if definitions are already known.
    pub(super) fn set_baseline(&mut self, key: SipHasher24, list: &ToolList) {
        let tools = list.listed().items.iter();
        self.known.get_or_insert_with(|| {
            tools.map(|tool| (key.hash(tool.name.as_bytes()), KnownTool::new(key, tool))).collect()
        });
    }

    /// Replaces the known definitions by those in `list`, and returns the tools whose definitions changed. Tools that
    /// `filter` excludes are not returned.
    pub(super) fn compare(&mut self, key: SipHasher24, list: &ToolList, filter: &Filter) -> ToolChanges {
        let before = self.known.take().unwrap_or_default();
        let mut known = BTreeMap::new();
        let mut changes = ToolChanges::default();
        for tool in &list.listed().items {
            let (name, latest) = (key.hash(tool.name.as_bytes()), KnownTool::new(key, tool));
            known.insert(name, latest);
            let parts = before.get(&name).map(|previous| latest.changed_parts(previous)).unwrap_or_default();
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
        let mut removed: Vec<_> = before.into_iter().filter(|(name, _)| !known.contains_key(name)).collect();
        // If too many tools were removed, the tools that were removed earlier are forgotten first.
        removed.sort_by_key(|(_, tool)| !tool.is_listed);
        removed.truncate(MAX_REMOVED);
        known.extend(removed.into_iter().map(|(name, tool)| (name, KnownTool { is_listed: false, ..tool })));
        self.known = Some(known);
        changes
    }

    pub(super) fn unreviewed_changes(&self) -> Vec<ToolChange> {
        let changes = self.unreviewed.iter();
        changes.map(|(tool, parts)| ToolChange { tool: tool.clone(), parts: parts.iter().copied().collect() }).collect()
    }
}

impl KnownTool {
    fn new(key: SipHasher24, tool: &Tool) -> Self {
        let text = |text: Option<&str>| text.map_or(0, |text| shorten(key.hash(text.as_bytes())));
        let json = |json: Option<&Json>| json.map_or(0, |json| shorten(hash_value(key, json)));
        let annotations = tool.annotations.as_ref().and_then(|annotations| Json::from_value(annotations).ok());
        let parts = [
            text(tool.title.as_deref()),
            text(tool.description.as_deref()),
            json(Some(&tool.input_schema)),
            json(tool.output_schema.as_ref()),
            json(annotations.as_ref()),
        ];
        KnownTool { parts, is_listed: true }
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
/// because some servers send the members in a different order in each response.
fn hash_value(key: SipHasher24, json: &Json) -> u64 {
    // Invalid JSON is hashed as plain text.
    hash_next(key, &mut Reader::new(json.get())).unwrap_or_else(|_| key.hash(json.get().as_bytes()))
}

fn hash_next(key: SipHasher24, reader: &mut Reader<'_>) -> ReadResult<u64> {
    let mut hash = key;
    match reader.next_byte() {
        Some(b'{') => {
            // A sum does not depend on the order of the members.
            let mut members = 0_u64;
            reader.members(&mut |name, reader| {
                let mut member = key;
                member.write_u64(key.hash(name.as_bytes()));
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
        hash_value(keyed_hasher(7), &Json::parse(text).unwrap())
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
        assert_ne!(hash_value(keyed_hasher(1), &json), hash_value(keyed_hasher(2), &json));
    }
}
