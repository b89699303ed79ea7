//! A server's tools, as far as they are known.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::rpc::RpcError;
use crate::session::CallError;
use crate::types::{Listed, Rejected, Tool};

/// The tools of a server, and whether the list of them still holds. [`Pages`](crate::Pages) puts one together.
#[derive(Clone, Debug, Default)]
pub struct ToolList {
    tools: Listed<Tool>,
    /// Places in that list, in the order of the names: a call looks its tool up, and lists can be long.
    by_name: Vec<u32>,
    fresh: bool,
}

impl ToolList {
    /// Takes the place of the old list. Names are unique within a server: a second tool of a name, which could not be called,
    /// is left out and told.
    pub fn replace(&mut self, tools: Listed<Tool>) {
        self.by_name = in_order_of_names(&tools);
        self.tools = tools;
        // Equal names are rare, and in this order side by side.
        let name_of = |place: u32| name(&self.tools, place);
        if self.by_name.windows(2).any(|pair| name_of(pair[0]) == name_of(pair[1])) {
            self.tools = unique(core::mem::take(&mut self.tools));
            self.by_name = in_order_of_names(&self.tools);
        }
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

fn in_order_of_names(tools: &Listed<Tool>) -> Vec<u32> {
    let mut places: Vec<u32> = (0..u32::try_from(tools.items.len()).unwrap_or(u32::MAX)).collect();
    places.sort_unstable_by(|a, b| name(tools, *a).cmp(name(tools, *b)));
    places
}

/// The first tool of each name.
fn unique(tools: Listed<Tool>) -> Listed<Tool> {
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
