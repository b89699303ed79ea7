//! Implements [`ToolClient`] for [`McpClient`].

use mcpwire_core::{CallToolResult, Json, Tool};
use mcpwire_tool_client::{BoxFuture, ToolClient, ToolError};

use crate::client::McpClient;

/// Calls use the timeouts of the connection: see [`McpServerDef::timeout`](crate::McpServerDef::timeout).
impl<R> ToolClient for McpClient<R> {
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        Box::pin(async move { Ok(McpClient::list_tools(self).await?.to_vec()) })
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        Box::pin(async move { Ok(McpClient::call_tool(self, name, arguments).send().await?) })
    }
}
