//! The methods of [`McpService`] as methods of [`Hub`], so that a program that uses a hub need not import the trait. Also
//! implements [`ToolClient`] for [`Hub`] and for `dyn` [`McpService`], so that agents can use a hub like a single client.

use mcpwire_core::{CallToolResult, Json, Tool};
use mcpwire_tool_client::{BoxFuture, CallOptions, ToolClient, ToolError};
use uuid::Uuid;

use super::events::Events;
use super::hub::Hub;
use super::mcp_service::{McpService, McpStatus};
use super::status::StatusDetail;
use super::tools::AvailableTools;
use crate::config::McpConfig;
use crate::launch::Preview;
use crate::{ErrorKind, HubError};

/// The methods of [`McpService`], which a program can call without importing the trait. The trait documents them in detail.
impl Hub {
    /// Returns the configurations of all servers, in the order of the configuration file.
    pub fn list(&self) -> Vec<McpConfig> {
        McpService::list(self)
    }

    /// Returns the configuration of a server, or `None` if no server has this id.
    pub fn get(&self, id: Uuid) -> Option<McpConfig> {
        McpService::get(self, id)
    }

    /// Returns the simplified state of a server, such as running or failed. See [`McpService::status`].
    pub fn status(&self, id: Uuid) -> McpStatus {
        McpService::status(self, id)
    }

    /// Returns the detailed state of a server, for example its process id and last error. Returns `None` if no server has this
    /// id.
    pub fn status_detail(&self, id: Uuid) -> Option<StatusDetail> {
        McpService::status_detail(self, id)
    }

    /// Returns a snapshot of the tools of all servers that run or that start when they are called. See
    /// [`McpService::available_tools`].
    pub fn available_tools(&self) -> AvailableTools {
        McpService::available_tools(self)
    }

    /// Returns a stream of the events of the hub that occur from now on.
    pub fn events(&self) -> Events {
        McpService::events(self)
    }

    /// Returns the last lines that a server wrote to standard error, without secrets. Empty if no server has this id.
    pub fn logs(&self, id: Uuid) -> Vec<String> {
        McpService::logs(self, id)
    }

    /// Adds a server without starting it. [`boot_server`](Self::boot_server) starts it. [`boot`](Self::boot) starts it if it is
    /// enabled.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::create`].
    pub async fn create(&self, config: McpConfig) -> Result<(), HubError> {
        McpService::create(self, config).await
    }

    /// Changes the configuration of a server. A running server restarts if its program or address has changed, and a server that
    /// becomes enabled is started. See [`McpService::update`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::update`].
    pub async fn update(&self, config: McpConfig) -> Result<(), HubError> {
        McpService::update(self, config).await
    }

    /// Stops a server, and deletes its configuration, secrets, logs and cached tools, but not its login. See
    /// [`McpService::delete`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::delete`].
    pub async fn delete(&self, id: Uuid) -> Result<(), HubError> {
        McpService::delete(self, id).await
    }

    /// Reads the configuration file again, after another program has changed it, and applies the changes to the servers.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::reload`].
    pub async fn reload(&self) -> Result<(), HubError> {
        McpService::reload(self).await
    }

    /// Starts a server, and waits until it runs or has failed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::start`].
    pub async fn start(&self, id: Uuid) -> Result<(), HubError> {
        McpService::start(self, id).await
    }

    /// Stops a server, and waits until its process and all descendants of the process have ended. See [`McpService::stop`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::stop`].
    pub async fn stop(&self, id: Uuid) -> Result<(), HubError> {
        McpService::stop(self, id).await
    }

    /// Stops a server, starts it again, and waits until it runs or has failed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::start`] and [`McpService::stop`].
    pub async fn restart(&self, id: Uuid) -> Result<(), HubError> {
        McpService::restart(self, id).await
    }

    /// Returns the command or the address that the hub would start or connect to for a server, so that the user can review it.
    /// Returns `None` if no server has this id.
    pub fn preview_command(&self, id: Uuid) -> Option<Preview> {
        McpService::preview_command(self, id)
    }

    /// Records that the user agrees to the command or address of a server. `hash` is the hash of the preview that the user has
    /// reviewed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::consent`].
    pub async fn consent(&self, id: Uuid, hash: &str) -> Result<(), HubError> {
        McpService::consent(self, id, hash).await
    }

    /// Stops all servers in parallel, and waits until pending token refreshes are stored. See [`McpService::shutdown_all`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`McpService::shutdown_all`].
    pub async fn shutdown_all(&self) -> Result<(), HubError> {
        McpService::shutdown_all(self).await
    }
}

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
