//! `McpClient` methods for tools.

use std::sync::Arc;

use mcpwire_client::{Error, Tools};
use mcpwire_core::internal::ToolListing;
use mcpwire_core::{InvalidItem, RequestOptions, Tool};
use serde::Serialize;

use crate::call::Call;
use crate::client::McpClient;
use crate::connection::ConnectionRef;
use crate::operation::{BoxFuture, run};

impl<R> McpClient<R> {
    /// Requests all pages of the server's tool list, and stores the list.
    ///
    /// The list omits invalid tools: see [`McpClient::rejected_tools`]. A modern server may declare how long its list is valid.
    /// Until then, or until the server reports a change, the client's cache answers. To bypass the cache, use
    /// [`McpClient::list_all_with`] with [`RequestOptions::fresh`]. [`Config::cache`](mcpwire_core::Config::cache) limits the
    /// cache.
    ///
    /// # Errors
    /// If the request for a page fails, or if its response is invalid.
    ///
    /// # Cancel safety
    /// Dropping the future before its end cancels the request. The stored list remains.
    #[doc(alias = "tools/list")]
    pub async fn list_tools(&self) -> Result<Tools, Error> {
        list(&self.connection).await
    }

    /// Returns the stored list of tools, without sending a request.
    ///
    /// The list is empty before the first call of [`McpClient::list_tools`]. [`McpClient::connect_and_initialize`] calls it;
    /// [`McpClient::initialize`] does not. The list remains when the server reports a change, and when the requests get another
    /// authorization: call [`McpClient::list_tools`] after
    /// [`Event::AuthorizationChanged`](mcpwire_core::Event::AuthorizationChanged).
    pub fn tools(&self) -> Tools {
        Tools::new(Arc::clone(self.connection.shared().lock().connection.client.tools.list()))
    }

    /// Returns the invalid entries of the last tool list, with their errors.
    pub fn rejected_tools(&self) -> Vec<InvalidItem> {
        self.tools().rejected().to_vec()
    }

    /// Returns whether the stored list contains a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools().get(name).is_some()
    }

    /// Returns the tool of this name from the stored list.
    pub fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().get(name).cloned()
    }

    /// Returns a builder that sends a tool call. Awaiting the builder sends the call.
    ///
    /// The arguments are a value that serializes to a JSON object, or a list of pairs of a name and a value. They are
    /// serialized at once, so the call borrows neither them nor the name. Arguments that do not serialize are an error of
    /// the sent call.
    ///
    /// If the tool itself fails, the call returns a result whose
    /// [`is_error`](mcpwire_core::CallToolResult::is_error) is set. If the loaded list is valid and does not contain the name, the
    /// call fails without a request. Dropping the call before its end cancels it, and notifies the server.
    #[doc(alias = "tools/call")]
    pub fn call_tool<'c>(&self, name: impl AsRef<str>, arguments: impl Serialize) -> Call<'c, R> {
        Call::new(self.clone(), name.as_ref(), &arguments)
    }
}

/// Lists all tools of the server, and stores the list.
pub(crate) fn list(connection: &ConnectionRef) -> BoxFuture<'_, Result<Tools, Error>> {
    Box::pin(async move {
        let shared = connection.shared();
        let options = shared.with_caller_context(&RequestOptions::new()).into_owned();
        let listing = ToolListing::new(options, shared.lock().engine.session().config(), shared.clock.now());
        run(connection, listing).await.map(Tools::new)
    })
}
