//! Implements [`ToolClient`] for [`Hub`] and for `dyn` [`McpService`], so that agents can use a hub like a single client.

use mcpwire_core::{CallToolResult, Json, Tool};
use mcpwire_tool_client::{BoxFuture, CallOptions, ToolClient, ToolError};

use super::hub::Hub;
use super::mcp_service::McpService;
use crate::{ErrorKind, HubError};

/// Offers the available tools of all servers, under the exposed names that [`McpService::available_tools`] returns. Calls obey
/// the limits and timeouts in the configuration of their server.
impl ToolClient for Hub {
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        Box::pin(async { Ok(self.available_tools().to_vec()) })
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        self.call_tool_with(name, arguments, CallOptions::new())
    }

    fn call_tool_with<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Json,
        options: CallOptions<'a>,
    ) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        let call = self.call(name, arguments).options(options);
        Box::pin(async move { Ok(call.await.map_err(|error| tool_error(&error))?.result) })
    }
}

/// Offers the tools of a service, under the exposed names that [`McpService::available_tools`] returns. For programs that have
/// only a `dyn McpService`: an `Arc<Arc<dyn McpService>>` can be used as an `Arc<dyn ToolClient>`.
impl ToolClient for dyn McpService + '_ {
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        Box::pin(async { Ok(self.available_tools().to_vec()) })
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        self.call_tool_with(name, arguments, CallOptions::new())
    }

    fn call_tool_with<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Json,
        options: CallOptions<'a>,
    ) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        Box::pin(async move {
            let server = self.find_tool_server(name).ok_or_else(|| tool_error(&HubError::unknown_tool(name)))?;
            let arguments = arguments.decode().map_err(|error| ToolError::new(ErrorKind::Usage, error.to_string()))?;
            let outcome = self.call_tool_full(server, name, &arguments, options).await;
            Ok(outcome.map_err(|error| tool_error(&error))?.result)
        })
    }
}

fn tool_error(error: &HubError) -> ToolError {
    ToolError::from_client(error.kind(), error.clone())
        .with_server(error.server())
        .with_tool(error.tool())
        .with_retry_after(error.retry_after())
        .with_retryable(error.is_retryable())
        .with_rpc_error(error.rpc_error().cloned())
}
