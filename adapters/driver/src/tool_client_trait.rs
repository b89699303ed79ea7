//! Implements [`ToolClient`] for [`McpClient`], so that agent frameworks can call the tools of a server.

use std::future::ready;

use mcpwire_core::{CallToolResult, Json, Tool};
use mcpwire_tool_client::{BoxFuture, CallOptions, ToolClient, ToolError, unless_cancelled};

use crate::client::McpClient;

/// A call whose options set no timeout uses the timeouts of the connection: see
/// [`McpServerDef::timeout`](crate::McpServerDef::timeout).
impl<R> ToolClient for McpClient<R> {
    fn server_name(&self) -> Option<&str> {
        Some(McpClient::server_name(self))
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        Box::pin(async move { Ok(McpClient::list_tools(self).await?.to_vec()) })
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        Box::pin(async move { Ok(McpClient::call_tool(self, name, arguments).send().await?) })
    }

    fn call_tool_with<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Json,
        mut options: CallOptions<'a>,
    ) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        let mut call = McpClient::call_tool(self, name, arguments);
        if let Some(timeout) = options.take_timeout() {
            call = call.timeout(timeout);
        }
        if let Some(timeout) = options.take_total_timeout() {
            call = call.total_timeout(timeout);
        }
        if let Some(meta) = options.take_meta() {
            call = call.meta(meta);
        }
        if let Some(f) = options.take_on_progress() {
            call = call.on_progress(f);
        }
        let cancel = options.take_cancel();
        match options.check_all_taken(name) {
            Ok(()) => unless_cancelled(
                Some(McpClient::server_name(self)),
                name,
                cancel,
                Box::pin(async move { Ok(call.send().await?) }),
            ),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }
}
