//! The list of a server's tools, and their calls.

use std::sync::Arc;

use mcpwire_client::{Error, Tools};
use mcpwire_core::internal::ToolListing;
use mcpwire_core::{InvalidItem, RequestOptions, Tool};
use serde::Serialize;

use super::McpClient;
use crate::call::Call;

impl McpClient {
    /// Lists the server's tools, all pages, and stores the list.
    ///
    /// Entries that are no valid tools are left out; see [`McpClient::rejected_tools`]. A modern server may say how long its
    /// list is valid: until then, or until the server reports a change, the list comes from the client's cache.
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

    /// Returns the list of tools that was loaded last, without sending a request.
    ///
    /// The list is empty before [`McpClient::list_tools`], which [`McpClient::connect_and_initialize`] calls, and
    /// [`McpClient::initialize`] does not.
    pub fn tools(&self) -> Tools {
        Tools::new(Arc::clone(self.connection.state.client.tools.list()))
    }

    /// Returns the entries of that list that are no valid tools, and what is wrong with them.
    pub fn rejected_tools(&self) -> Vec<InvalidItem> {
        self.tools().rejected().to_vec()
    }

    /// Returns whether that list contains a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.connection.state.client.tools.list().get(name).is_some()
    }

    /// Returns the tool of this name in that list.
    pub fn get_tool(&self, name: &str) -> Option<Tool> {
        self.connection.state.client.tools.list().get(name).cloned()
    }

    /// Prepares a call of a tool, to which options can be added before it is sent.
    ///
    /// If the tool itself fails ([`CallToolResult::is_error`](mcpwire_core::CallToolResult::is_error)), the call still has a
    /// result. If the list of tools does not contain the name, the call fails without a request, as long as the list is valid.
    #[doc(alias = "tools/call")]
    pub fn call_tool<'c, A: Serialize>(&'c mut self, name: &'c str, arguments: A) -> Call<'c, A> {
        Call::new(self, name, arguments)
    }
}
