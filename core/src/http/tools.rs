//! What the transport knows of a server's tools.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use memchr::memmem;

use super::mirror::{self, Mirrored};
use crate::json::scan::{self, key_text, member};
use crate::types::{Listed, Tool};

/// The most tools of which something is remembered. Ten times what the largest servers have; of more, nothing is known.
const MAX_TOOLS: usize = 10_000;

/// The tools that differ from most: some of their arguments are repeated in headers, or they may be called twice.
#[derive(Debug, Default)]
pub(super) struct Tools {
    known: BTreeMap<String, Known>,
}

#[derive(Debug, Default)]
struct Known {
    mirrored: Vec<Mirrored>,
    idempotent: bool,
}

impl Tools {
    /// Takes note of an answer to `tools/list`. Says whether `wanted` is among the tools in it.
    pub(super) fn learn(&mut self, message: &[u8], wanted: Option<&str>) -> bool {
        if wanted.is_none() && self.known.is_empty() && !is_worth_a_look(message) {
            return false;
        }
        let mut found = false;
        for_each_tool(message, |name, tool| {
            let known = read(tool);
            found |= wanted == Some(name.as_str());
            if known.mirrored.is_empty() && !known.idempotent {
                self.known.remove(&name);
            } else if self.known.len() < MAX_TOOLS || self.known.contains_key(&name) {
                self.known.insert(name, known);
            }
        });
        found
    }

    /// The headers that a call needs.
    pub(super) fn headers(&self, tool: &str, arguments: &[u8]) -> Vec<(String, String)> {
        self.known.get(tool).map(|known| mirror::headers(&known.mirrored, arguments)).unwrap_or_default()
    }

    /// Whether the server says that a tool may be called twice. It may be wrong, and it is its own data then.
    pub(super) fn is_idempotent(&self, tool: &str) -> bool {
        self.known.get(tool).is_some_and(|known| known.idempotent)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

fn is_worth_a_look(message: &[u8]) -> bool {
    mirror::may_have_annotations(message) || memmem::find(message, b"idempotentHint").is_some()
}

fn for_each_tool(message: &[u8], mut each: impl FnMut(String, &[u8])) {
    let Some(tools) = member(message, "result").and_then(|result| member(result, "tools")) else { return };
    let mut at = 0;
    while let Some(range) = scan::next_element(tools, &mut at) {
        let tool = &tools[range];
        if let Some([b'"', name @ .., b'"']) = member(tool, "name") {
            each(key_text(name).into_owned(), tool);
        }
    }
}

fn read(tool: &[u8]) -> Known {
    let schema = member(tool, "inputSchema").unwrap_or_default();
    let annotations = member(tool, "annotations").unwrap_or_default();
    Known {
        // One that is invalid is left out of the list, and has no headers if it is called nonetheless.
        mirrored: mirror::annotations(schema).unwrap_or_default(),
        idempotent: member(annotations, "idempotentHint") == Some(b"true"),
    }
}

/// Leaves out the tools whose `x-mcp-header` annotations are invalid, and says why (2026-07-28,
/// basic/transports/streamable-http, "Schema Extension").
pub(crate) fn reject_unmirrorable(tools: &mut Listed<Tool>) {
    tools.reject(|tool| {
        let reason = mirror::annotations(tool.input_schema.get().as_bytes()).err()?;
        Some((tool.name.clone(), reason))
    });
}
