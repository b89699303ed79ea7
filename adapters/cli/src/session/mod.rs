//! [`Server`]: the connection of a command, [`Direct`] to one server, or [`Configured`] to the configured servers through a hub.

mod configured;
mod definition;
mod direct;
mod requests;

use mcpwire_tokio::protocol::{
    CompleteParams, CompleteResult, InvalidItem, ItemList, Json, Prompt, Resource, ResourceTemplate, ServerInfo,
    TaskHandle, Tool,
};
use serde::Serialize;

pub(crate) use self::configured::{Configured, warn_of_changes};
pub(crate) use self::definition::{Definition, login_of};
pub(crate) use self::direct::{Direct, Listener, suggestion};
use crate::console::Console;
use crate::failure::Failure;

/// Whether the server may run a tool call as an MCP task, and whether the command waits for the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallMode {
    Call,
    /// Lets the server run the tool call as an MCP task, and waits for the result.
    Task,
    /// Lets the server run the tool call as an MCP task, and does not wait for the result.
    Detach,
}

impl CallMode {
    /// Returns the mode of a call with the options `--task` and `--detach`.
    pub(crate) fn new(task: bool, detach: bool) -> Self {
        match (task, detach) {
            (_, true) => CallMode::Detach,
            (true, false) => CallMode::Task,
            (false, false) => CallMode::Call,
        }
    }
}

/// The outcome of a tool call: the result, or a task that will produce the result.
pub(crate) enum Called {
    /// The result of the tool call, as the server sent it.
    Result(Json),
    /// The handle of the task that runs the tool call. The task has not ended yet.
    Task(TaskHandle),
}

/// The tools that a server has listed, and the list entries that could not be read. `mcpwire tools --json` prints this struct.
#[derive(Serialize)]
pub(crate) struct ListedTools {
    pub(crate) tools: Vec<Tool>,
    pub(crate) rejected: Vec<InvalidItem>,
}

/// What a command needs of its server. [`Direct`] is a connection to one server. [`Configured`] are the configured servers in a
/// hub, or one of them.
pub(crate) trait Server {
    fn console(&self) -> &Console;

    /// Lists the available tools. [`Server::call`] accepts the names in the list.
    fn list_tools(&mut self) -> Result<ListedTools, Failure>;

    /// Lists the available tools, and passes those of each server to `show` as soon as the server runs, so that one slow server
    /// delays no other.
    fn list_tools_each(&mut self, show: &mut dyn FnMut(ListedTools) -> Result<(), Failure>) -> Result<(), Failure> {
        show(self.list_tools()?)
    }

    /// Returns the definition of a tool. Returns `None` if the server does not list the tool.
    fn find_tool(&mut self, tool: &str) -> Result<Option<Tool>, Failure>;

    /// Calls a tool. If the call fails, the failure may contain a suggestion for the user.
    fn call(&mut self, tool: &str, arguments: &Json, mode: CallMode) -> Result<Called, Failure>;

    /// Returns what the server has said about itself.
    fn info(&mut self) -> Result<ServerInfo, Failure>;

    fn ping(&mut self) -> Result<(), Failure>;

    /// Sends any request, and returns its result as the server sent it.
    fn request_raw(&mut self, method: &str, params: Option<&Json>) -> Result<Json, Failure>;

    fn list_resources(&mut self) -> Result<ItemList<Resource>, Failure>;

    /// Lists the resource templates. Many servers have resources but no templates, and answer with "method not found": then the
    /// list is empty.
    fn list_resource_templates(&mut self) -> ItemList<ResourceTemplate>;

    fn list_prompts(&mut self) -> Result<ItemList<Prompt>, Failure>;

    fn complete(&mut self, params: &CompleteParams<'_>) -> Result<CompleteResult, Failure>;
}
