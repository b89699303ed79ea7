//! The tools of a server.

use std::sync::Arc;

use mcpwire_client::{Error, Tools};
use mcpwire_core::internal::ToolListing;
use mcpwire_core::{InvalidItem, RequestOptions, Tool};
use serde::Serialize;

use crate::call::Call;
use crate::client::McpClient;
use crate::operation::{BoxFuture, run};
use crate::shared::ConnectionRef;

impl<R> McpClient<R> {
    /// Lists the server's tools, all pages, and stores the list.
    ///
    /// Entries that are no valid tools are left out; see [`McpClient::rejected_tools`]. A modern server may say how long its
    /// list is valid: until then, or until the server reports a change, the list comes from the client's cache.
    /// [`McpClient::list_all_with`] and [`RequestOptions::fresh`] bypass the cache;
    /// [`Config::cache`](mcpwire_core::Config::cache) limits it.
    #[doc(alias = "tools/list")]
    pub async fn list_tools(&self) -> Result<Tools, Error> {
        list(&self.connection).await
    }

    /// Returns the list of tools that was loaded last, without sending a request.
    ///
    /// The list is empty before [`McpClient::list_tools`], which [`McpClient::connect_and_initialize`] calls, and
    /// [`McpClient::initialize`] does not.
    pub fn tools(&self) -> Tools {
        Tools::new(Arc::clone(self.connection.shared().lock().record.client.tools.list()))
    }

    /// Returns the entries of that list that are no valid tools, and what is wrong with them.
    pub fn rejected_tools(&self) -> Vec<InvalidItem> {
        self.tools().rejected().to_vec()
    }

    /// Returns whether that list contains a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools().get(name).is_some()
    }

    /// Returns the tool of this name in that list.
    pub fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().get(name).cloned()
    }

    /// Prepares a call of a tool, to which options can be added before it is sent.
    ///
    /// If the tool itself fails ([`CallToolResult::is_error`](mcpwire_core::CallToolResult::is_error)), the call still has a
    /// result. If the list of tools does not contain the name, the call fails without a request, as long as the list is valid.
    /// If the call is dropped before its end, it is cancelled, and the server notified.
    #[doc(alias = "tools/call")]
    pub fn call_tool<'c, A: Serialize>(&'c self, name: &'c str, arguments: A) -> Call<'c, R, A> {
        Call::new(self, name, arguments)
    }
}

/// Lists the server's tools, all pages, and stores the list.
pub(crate) fn list(connection: &ConnectionRef) -> BoxFuture<'_, Result<Tools, Error>> {
    Box::pin(async move {
        let shared = connection.shared();
        let options = shared.traced(&RequestOptions::new()).into_owned();
        let listing = ToolListing::new(options, shared.lock().engine.session().config(), shared.clock.now());
        run(connection, listing).await.map(Tools::new)
    })
}
