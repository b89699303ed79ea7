//! A server's tools, as far as they are known.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use crate::rpc::RpcError;
use crate::session::CallError;
use crate::types::{ListToolsResult, Listed, Rejected, Tool};

/// The most pages that a list may have. 1 000: a server that pages by one would still show more tools than any model takes.
const MAX_PAGES: usize = 1_000;

/// The tools of a server, gathered page by page, and whether the list still holds.
#[derive(Clone, Debug, Default)]
pub struct ToolList {
    tools: Listed<Tool>,
    /// Places in that list, in the order of the names: a call looks its tool up, and lists can be long.
    by_name: Vec<u32>,
    fresh: bool,
}

impl ToolList {
    /// Begins to gather the list anew. The old one stays until the new one is complete.
    pub fn refresh(&self) -> Gathering {
        Gathering { tools: Listed::default(), cursors: Vec::new() }
    }

    /// Takes the place of the old list.
    pub fn replace(&mut self, tools: Listed<Tool>) {
        self.by_name = (0..u32::try_from(tools.items.len()).unwrap_or(u32::MAX)).collect();
        self.by_name.sort_unstable_by(|a, b| name(&tools, *a).cmp(name(&tools, *b)));
        self.tools = tools;
        self.fresh = true;
    }

    /// The server says that the list has changed: it is still shown, and no longer believed.
    pub fn invalidate(&mut self) {
        self.fresh = false;
    }

    /// Whether the list is there, and the server has not said that it has changed.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// The tools, and what was left out.
    pub fn listed(&self) -> &Listed<Tool> {
        &self.tools
    }

    /// The tool of that name.
    pub fn get(&self, tool: &str) -> Option<&Tool> {
        let place = self.by_name.binary_search_by(|place| name(&self.tools, *place).cmp(tool)).ok()?;
        self.tools.items.get(self.by_name[place] as usize)
    }

    /// Whether the server has a tool of that name; `None` if the list is not there or no longer holds.
    pub fn knows(&self, name: &str) -> Option<bool> {
        self.fresh.then(|| self.get(name).is_some())
    }

    /// What an error means that the server answered a call with: a list without the tool makes it
    /// [`CallError::ToolNotFound`].
    pub fn explain(&self, tool: &str, error: CallError) -> CallError {
        match error {
            CallError::Server { error, .. } if is_unknown_tool(&error) && self.knows(tool) == Some(false) => {
                CallError::ToolNotFound { tool: tool.into(), error: Some(error) }
            }
            other => other,
        }
    }

    /// Whether only a look at the list can tell what an error means.
    pub fn is_needed_for(&self, error: &CallError) -> bool {
        matches!(error, CallError::Server { error, .. } if is_unknown_tool(error)) && !self.fresh
    }
}

fn name(tools: &Listed<Tool>, place: u32) -> &str {
    tools.items.get(place as usize).map_or("", |tool| &tool.name)
}

/// Servers answer the call of a tool that they do not have with one of these, and wrong arguments with the same.
fn is_unknown_tool(error: &RpcError) -> bool {
    matches!(error.code, RpcError::INVALID_PARAMS | RpcError::METHOD_NOT_FOUND)
}

/// A list on its way.
#[derive(Clone, Debug)]
pub struct Gathering {
    tools: Listed<Tool>,
    cursors: Vec<String>,
}

/// What to do after a page.
#[derive(Clone, Debug)]
pub enum Page {
    /// Ask for the page at this cursor.
    Next(String, Gathering),
    /// The list is complete, or the server's cursors lead in a circle or never end: this is all there is.
    Complete(Listed<Tool>),
}

impl Gathering {
    /// Takes in a page.
    pub fn page(mut self, page: ListToolsResult) -> Page {
        self.tools.append(page.tools);
        match page.next_cursor {
            Some(cursor) if self.cursors.len() + 1 < MAX_PAGES && !self.cursors.contains(&cursor) => {
                self.cursors.push(cursor.clone());
                Page::Next(cursor, self)
            }
            _ => Page::Complete(unique(self.tools)),
        }
    }
}

/// Names are unique within a server: a second tool of a name could not be called.
fn unique(tools: Listed<Tool>) -> Listed<Tool> {
    // Numbers are sorted at a tenth of what a set of names costs, and equal names are rare.
    let mut hashes: Vec<u64> = tools.items.iter().map(|tool| hash(&tool.name)).collect();
    hashes.sort_unstable();
    if hashes.windows(2).all(|pair| pair[0] != pair[1]) {
        return tools;
    }
    let mut names = BTreeSet::new();
    let Listed { items, mut rejected } = tools;
    let (first, second): (Vec<_>, Vec<_>) =
        items.into_iter().enumerate().partition(|(_, t)| names.insert(t.name.clone()));
    rejected.extend(second.into_iter().map(|(index, tool)| Rejected {
        index,
        name: Some(tool.name),
        reason: "a second tool of this name".into(),
    }));
    Listed { items: first.into_iter().map(|(_, tool)| tool).collect(), rejected }
}

/// FNV-1a.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
