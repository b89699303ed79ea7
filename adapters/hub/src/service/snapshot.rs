//! [`AvailableTools`]: the tools of all servers, as they were at one moment.

use std::fmt;
use std::sync::Arc;

use mcpwire_core::Tool;
use mcpwire_supervisor::{Catalogue, OfferedTool, ServerId, search_tools};
use uuid::Uuid;

/// The tools of all servers, as they were at one moment. Cheap to make and to clone, however many they are.
#[derive(Clone, Default)]
pub struct AvailableTools(pub(super) Arc<Catalogue>);

/// One of the [`AvailableTools`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AvailableTool<'a> {
    /// The name to show to a language model: `<server>__<tool>`, unique, at most 64 of the characters `A-Za-z0-9_-`.
    pub name: &'a str,
    /// Whose it is.
    pub mcp_id: Uuid,
    /// The tool as its server describes it, with the name that the server calls it by.
    pub tool: &'a Tool,
}

/// A tool that was looked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundTool {
    /// The name to show to a language model.
    pub name: String,
    /// Whose it is.
    pub mcp_id: Uuid,
    /// The tool as its server describes it, with the name that the server calls it by.
    pub tool: Tool,
}

impl AvailableTools {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, always in the same order: by server, then by name.
    pub fn iter(&self) -> impl Iterator<Item = AvailableTool<'_>> {
        self.0.tools().map(AvailableTool::of)
    }

    /// Those of one server.
    pub fn of_server(&self, id: Uuid) -> impl Iterator<Item = AvailableTool<'_>> {
        self.0.tools_of(server_id(id)).map(AvailableTool::of)
    }

    /// The tool of this name: an exposed name, or one that only one server uses.
    pub fn find(&self, name: &str) -> Option<AvailableTool<'_>> {
        self.0.find(name).map(AvailableTool::of)
    }

    /// Those that fit a query best, the best first.
    pub fn search(&self, query: &str, most: usize) -> Vec<FoundTool> {
        let found = search_tools(&self.0, query, most).into_iter();
        found.map(|found| AvailableTool::of(found.offered).found()).collect()
    }

    /// The tools with their exposed names, copied: what a request to a language model takes.
    pub fn to_vec(&self) -> Vec<Tool> {
        let exposed = |offered: OfferedTool<'_>| {
            let mut tool = offered.tool.clone();
            offered.exposed.clone_into(&mut tool.name);
            tool
        };
        self.0.tools().map(exposed).collect()
    }
}

impl<'a> AvailableTool<'a> {
    fn of(offered: OfferedTool<'a>) -> Self {
        AvailableTool { name: offered.exposed, mcp_id: uuid(offered.server), tool: offered.tool }
    }

    pub(super) fn found(self) -> FoundTool {
        FoundTool { name: self.name.to_owned(), mcp_id: self.mcp_id, tool: self.tool.clone() }
    }
}

impl fmt::Debug for AvailableTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

pub(super) fn server_id(id: Uuid) -> ServerId {
    ServerId::from_u128(id.as_u128())
}

pub(super) fn uuid(id: ServerId) -> Uuid {
    Uuid::from_u128(id.as_u128())
}
