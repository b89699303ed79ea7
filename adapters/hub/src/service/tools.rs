//! [`AvailableTools`]: a snapshot of the tools of all servers of a hub. [`ToolOutcome`]: the result of a tool call, and whether it
//! was truncated.

use std::fmt;
use std::sync::Arc;

use mcpwire_core::{CallToolResult, ItemList, Tool, ToolList, printable};
use mcpwire_supervisor::{
    Catalogue, CatalogueBuilder, Filter, OfferedTool, ResultLimits, ServerId, Truncation, search_tools,
};
use uuid::Uuid;

use crate::config::Limits;
use crate::{ErrorKind, HubError};

/// A snapshot of the tools of all servers. Later changes of the tools do not affect it. Cheap to create and to clone.
#[derive(Clone, Default)]
pub struct AvailableTools(Arc<Catalogue>);

/// A tool in a snapshot, with the id of its server. Borrows from [`AvailableTools`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AvailableTool<'a> {
    /// The exposed name `<server>__<tool>`, which a program shows to a language model. The name is unique among all servers, and
    /// consists of the characters `A-Za-z0-9_-`. By default, it has at most 64 characters.
    pub name: &'a str,
    /// The id of the server that provides the tool.
    pub mcp_id: Uuid,
    /// The definition of the tool as its server sends it, with the name that the server uses.
    pub tool: &'a Tool,
}

/// A copy of a tool from a snapshot, with the id of its server. Unlike [`AvailableTool`], it does not borrow from the snapshot.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundTool {
    /// The exposed name `<server>__<tool>`, which a program shows to a language model.
    pub name: String,
    /// The id of the server that provides the tool.
    pub mcp_id: Uuid,
    /// The definition of the tool as its server sends it, with the name that the server uses.
    pub tool: Tool,
}

impl AvailableTools {
    /// Creates a snapshot from the id, the name and the tools of each server. For programs that implement
    /// [`McpService`](super::McpService) themselves, for example in tests.
    pub fn from_servers<'a>(servers: impl IntoIterator<Item = (Uuid, &'a str, Vec<Tool>)>) -> Self {
        let mut builder = CatalogueBuilder::new();
        for (id, name, items) in servers {
            let mut tools = ToolList::default();
            tools.replace(ItemList { items, ..ItemList::default() });
            builder.add(server_id(id), name, Filter::default());
            builder.set_tools(server_id(id), Some(Arc::new(tools)));
        }
        AvailableTools(builder.catalogue())
    }

    pub(super) fn new(catalogue: Arc<Catalogue>) -> Self {
        AvailableTools(catalogue)
    }

    /// Returns the number of tools in this snapshot.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether this snapshot contains no tools.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the tools of all servers, sorted by server name and then by tool name.
    pub fn iter(&self) -> impl Iterator<Item = AvailableTool<'_>> {
        self.0.tools().map(AvailableTool::from_offered)
    }

    /// Iterates over the tools of the server with this id, sorted by tool name.
    pub fn of_server(&self, id: Uuid) -> impl Iterator<Item = AvailableTool<'_>> {
        self.0.tools_of(server_id(id)).map(AvailableTool::from_offered)
    }

    /// Returns the tool with the exposed name `name` (`<server>__<tool>`). A name without the prefix of the server is accepted if
    /// only one server has a tool of that name. Returns `None` if no tool is found.
    pub fn find(&self, name: &str) -> Option<AvailableTool<'_>> {
        self.0.find(name).map(AvailableTool::from_offered)
    }

    /// Returns up to `most` tools whose names or descriptions match the search text `query`, best match first.
    pub fn search(&self, query: &str, most: usize) -> Vec<FoundTool> {
        let found = search_tools(&self.0, query, most).into_iter();
        found.map(|found| AvailableTool::from_offered(found.offered).to_found()).collect()
    }

    /// Copies all tools, with their exposed names (`<server>__<tool>`) as names, for requests to language models.
    pub fn to_vec(&self) -> Vec<Tool> {
        let with_exposed_name = |offered: OfferedTool<'_>| {
            let mut tool = offered.tool.clone();
            offered.exposed.clone_into(&mut tool.name);
            tool
        };
        self.0.tools().map(with_exposed_name).collect()
    }
}

impl<'a> AvailableTool<'a> {
    fn from_offered(offered: OfferedTool<'a>) -> Self {
        AvailableTool { name: offered.exposed, mcp_id: uuid(offered.server), tool: offered.tool }
    }

    pub(super) fn to_found(self) -> FoundTool {
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

/// The result of a tool call. If it exceeds the size limits in the server's configuration, the hub truncates it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The result that the server has returned. If the tool failed, [`CallToolResult::is_error`] is set.
    pub result: CallToolResult,
    /// The sizes of the result before and after the truncation, or `None` if the result was not truncated. The text of a
    /// truncated result also contains a note about this.
    pub truncated: Option<Truncation>,
    /// The names of the server and of the tool, for the error message if the tool failed. `None` if they are not known.
    names: Option<(Box<str>, Box<str>)>,
}

impl ToolOutcome {
    /// Creates an outcome from a result that is not truncated. For programs that implement [`McpService`](super::McpService)
    /// themselves.
    pub fn new(result: CallToolResult) -> Self {
        ToolOutcome { result, truncated: None, names: None }
    }

    /// Creates an outcome from a result, and truncates the result if it exceeds `limits`, the size limits in the server's
    /// configuration.
    pub(super) fn within(mut result: CallToolResult, limits: &Limits) -> Self {
        // A limit that does not fit into `usize` is larger than the address space, so it is no limit.
        let size = |limit: Option<u64>| limit.and_then(|limit| usize::try_from(limit).ok());
        let limits = ResultLimits { bytes: size(limits.result_bytes), tokens: size(limits.result_tokens) };
        let truncated = limits.apply(&mut result);
        ToolOutcome { result, truncated, names: None }
    }

    pub(super) fn of_tool(mut self, server: &str, tool: &str) -> Self {
        self.names = Some((server.into(), tool.into()));
        self
    }

    /// Returns the text blocks of the result, joined by line breaks. Empty if the result has no text.
    pub fn text(&self) -> String {
        self.result.text().to_string()
    }

    /// Returns the text blocks of the result, joined by line breaks, or an error if the tool failed.
    ///
    /// # Errors
    /// [`ErrorKind::Tool`] with the text of the result, if the tool failed.
    pub fn into_text(self) -> Result<String, HubError> {
        let text = self.text();
        if !self.result.is_error {
            return Ok(text);
        }
        let text = if text.is_empty() { "(empty)" } else { &text };
        let failed = |message| HubError::new(ErrorKind::Tool, message);
        Err(match self.names {
            None => failed(format!("the tool failed: {text}")),
            Some((server, tool)) => {
                let message = format!("tool `{}`: the tool failed: {text}", printable(&tool));
                failed(message).with_server(&server).with_tool(&tool)
            }
        })
    }
}
