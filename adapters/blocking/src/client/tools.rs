//! Listing and calling tools.

use std::sync::Arc;

use mcpwire_client::{Error, Tools};
use mcpwire_core::internal::ToolListing;
use mcpwire_core::{CallToolResult, InvalidItem, RequestOptions, Tool};
use serde::Serialize;

use super::McpClient;
use crate::call::Call;

impl McpClient {
    /// Requests all pages of the server's tool list, and stores the list.
    ///
    /// The list omits invalid entries; see [`McpClient::rejected_tools`]. A modern server may set how long its list is valid: until
    /// then, or until the server reports a change, this returns the cached list.
    /// [`McpClient::list_all_with`] and [`RequestOptions::fresh`] bypass the cache;
    /// [`Config::cache`](mcpwire_core::Config::cache) limits it.
    #[doc(alias = "tools/list")]
    pub fn list_tools(&mut self) -> Result<Tools, Error> {
        let options = self.connection.context.with_caller_context(&RequestOptions::new()).into_owned();
        let mut listing = ToolListing::new(options, self.connection.engine.session().config(), self.connection.now());
        let list = self.run(&mut listing, &mut |_| {})?;
        // A list is larger than most responses, and the next request may be sent much later.
        self.connection.engine.shrink();
        Ok(Tools::new(list))
    }

    /// Returns the stored list of tools, without sending a request.
    ///
    /// The list is empty before [`McpClient::list_tools`]. [`McpClient::connect_and_initialize`] calls that method;
    /// [`McpClient::initialize`] does not. The list remains when the server reports a change, and when the requests get another
    /// authorization: call [`McpClient::list_tools`] after
    /// [`Event::AuthorizationChanged`](mcpwire_core::Event::AuthorizationChanged).
    pub fn tools(&self) -> Tools {
        Tools::new(Arc::clone(self.connection.state.client.tools.list()))
    }

    /// Returns the invalid entries of the last tool list, with their errors.
    pub fn rejected_tools(&self) -> Vec<InvalidItem> {
        self.tools().rejected().to_vec()
    }

    /// Returns whether the stored list contains a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.connection.state.client.tools.list().get(name).is_some()
    }

    /// Returns the tool of this name from the stored list.
    pub fn get_tool(&self, name: &str) -> Option<Tool> {
        self.connection.state.client.tools.list().get(name).cloned()
    }

    /// Checks the result of a tool against the tool's output schema, if the program has set a validator.
    pub(crate) fn check_output(&mut self, tool: &str, result: &CallToolResult) -> Result<(), Error> {
        let checked = self.connection.context.check_output(self.connection.state.client.tools.list(), tool, result);
        checked.map_err(|error| self.call_error(error).with_tool(tool))
    }

    /// Returns a builder that sends a tool call.
    ///
    /// The arguments are a value that serializes to a JSON object, or a list of pairs of a name and a value. They are
    /// serialized at once. Arguments that do not serialize are an error of the sent call.
    ///
    /// A call whose tool fails ([`CallToolResult::is_error`](mcpwire_core::CallToolResult::is_error)) returns a result, not an error.
    /// While the stored list is valid and does not contain the name, the call fails without a request.
    #[doc(alias = "tools/call")]
    pub fn call_tool<'c>(&mut self, name: impl AsRef<str>, arguments: impl Serialize) -> Call<'_, 'c> {
        Call::new(self, name.as_ref(), &arguments)
    }
}
