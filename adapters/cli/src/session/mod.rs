//! [`Server`]: the connection of a command, [`Direct`] to one server, or [`Configured`] to the configured servers through a hub.

mod advice;
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
pub(crate) use self::direct::{Direct, suggestion};
use crate::args::TaskAction;
use crate::console::Console;
use crate::failure::Failure;
use crate::hub::{CallMode, Called, OnNotice};

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

    /// Returns the name of the server, or `None` for all configured servers.
    fn name(&self) -> Option<&str>;

    /// Returns whether the list of tools lacks those of servers that do not run, which the user has been told.
    fn lacks_servers(&self) -> bool {
        false
    }

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

    /// Lists the tools under the names that the server uses.
    fn list_own_tools(&mut self) -> Result<ListedTools, Failure>;

    /// Asks about a task of an earlier call: returns its status, its result, or nothing if it is cancelled.
    fn task(&mut self, action: TaskAction, handle: &TaskHandle) -> Result<Json, Failure>;

    /// Tells of all notifications, and of changes of these resources. Returns false after an interrupt such as Ctrl-C, and true if
    /// the server has ended the subscription.
    fn listen(&mut self, resources: &[String], tell: OnNotice<'_>) -> Result<bool, Failure>;

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
