//! [`McpService`]: what a program needs of its MCP servers.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;
use uuid::Uuid;

use super::available_tools::{AvailableTools, FoundTool, server_id};
use super::events::Events;
use super::outcome::{CallOptions, ToolOutcome};
use super::status::StatusDetail;
use crate::config::McpConfig;
use crate::launch::{Preview, preview};
use crate::{HubError, HubErrorKind};

pub use mcpwire_supervisor::Status as McpStatus;

/// The future that the methods of [`McpService`] return. It is boxed, so that the trait is object-safe.
pub type ServiceFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, HubError>> + Send + 'a>>;

/// Many MCP servers as one service: their configurations, their state, and their tools.
///
/// [`Hub`](super::Hub) is the service. A program that tests its own code without servers implements this trait itself: only
/// [`list`](Self::list), [`available_tools`](Self::available_tools) and [`call_tool_full`](Self::call_tool_full) are required.
/// By default, methods that change a server fail with [`HubErrorKind::Unsupported`].
///
/// Methods that are not asynchronous read a snapshot, and never wait for a server or a file. No error contains the value of
/// a secret.
pub trait McpService: Send + Sync {
    /// Returns the configurations of all servers, in the order of the file.
    fn list(&self) -> Vec<McpConfig>;

    /// Returns a snapshot of the tools of all servers that run, or start when they are called. Nothing is copied.
    ///
    /// If the list of a server has expired (2026-07-28, server/utilities/caching), the hub requests it again, and
    /// [`HubEvent::Tools`](super::HubEvent::Tools) follows if the tools have changed.
    fn available_tools(&self) -> AvailableTools;

    /// Calls a tool, and returns the whole result. The name is the exposed one, or the one that the server uses.
    ///
    /// A tool that ran and failed is no error: [`is_error`](mcpwire_core::CallToolResult::is_error) of its result is set.
    ///
    /// # Errors
    ///
    /// [`HubError::kind`] says why the call has no result. [`HubError::retry_after`] says when a call that exceeds a rate
    /// limit, or that a server rejected for now, can be made again.
    fn call_tool_full<'a>(
        &'a self,
        mcp_id: Uuid,
        tool_name: &'a str,
        arguments: &'a Value,
        options: CallOptions<'a>,
    ) -> ServiceFuture<'a, ToolOutcome>;

    /// Calls a tool, and returns the text of its result. The name is the exposed one, or the one that the server uses.
    ///
    /// # Errors
    ///
    /// Those of [`call_tool_full`](Self::call_tool_full), and [`HubErrorKind::ToolFailed`] with the text of the result if the
    /// tool failed.
    fn call_tool<'a>(&'a self, mcp_id: Uuid, tool_name: &'a str, arguments: &'a Value) -> ServiceFuture<'a, String> {
        let outcome = self.call_tool_full(mcp_id, tool_name, arguments, CallOptions::new());
        Box::pin(async move { outcome.await?.into_text() })
    }

    /// Returns the configuration of a server, or `None` if the server is unknown.
    fn get(&self, id: Uuid) -> Option<McpConfig> {
        self.list().into_iter().find(|config| config.id == id)
    }

    /// Returns the simplified state of a server. For an unknown server, it is an error that says so.
    fn status(&self, id: Uuid) -> McpStatus {
        match self.get(id) {
            None => McpStatus::Error { message: HubError::unknown_server(server_id(id)).message },
            Some(config) if !config.enabled => McpStatus::Disabled,
            Some(_) => {
                let tools = self.available_tools();
                McpStatus::Running { tools: tools.of_server(id).map(|tool| tool.tool.name.clone()).collect() }
            }
        }
    }

    /// Returns the detailed state of a server, or `None` if the server is unknown.
    fn status_detail(&self, _id: Uuid) -> Option<StatusDetail> {
        None
    }

    /// Starts a server, and waits until it runs.
    ///
    /// # Errors
    ///
    /// [`HubErrorKind::Disabled`], [`HubErrorKind::NeedsConsent`] if the user has not agreed to what it starts,
    /// [`HubErrorKind::MissingValue`] if a secret is missing, or why the start failed.
    fn start(&self, _id: Uuid) -> ServiceFuture<'_, ()> {
        unsupported("start")
    }

    /// Stops a server, and waits until it and all that it started are gone. What does not end within 5 s is killed.
    fn stop(&self, _id: Uuid) -> ServiceFuture<'_, ()> {
        unsupported("stop")
    }

    /// Stops a server and starts it again, and waits until it runs.
    fn restart(&self, id: Uuid) -> ServiceFuture<'_, ()> {
        Box::pin(async move {
            self.stop(id).await?;
            self.start(id).await
        })
    }

    /// Returns the server that offers the tool with this name: an exposed name, or a name that only one server uses.
    fn find_tool_provider(&self, tool_name: &str) -> Option<Uuid> {
        self.available_tools().find(tool_name).map(|tool| tool.mcp_id)
    }

    /// Returns the server to which a tool name belongs, even if that server does not run.
    ///
    /// For a server that does not run, only the part of an exposed name before `__` is compared. The error of a call then
    /// says why the server does not run.
    fn find_tool_server(&self, tool_name: &str) -> Option<Uuid> {
        self.find_tool_provider(tool_name)
    }

    /// Returns the tool with this name, and its server. See [`find_tool_provider`](McpService::find_tool_provider).
    fn resolve(&self, tool_name: &str) -> Option<FoundTool> {
        self.available_tools().find(tool_name).map(super::available_tools::AvailableTool::to_found)
    }

    /// Returns up to `most` tools that match a query, best match first, for a program that does not show all tools to a model.
    fn search_tools(&self, query: &str, most: usize) -> Vec<FoundTool> {
        self.available_tools().search(query, most)
    }

    /// Adds a server. It is not started.
    ///
    /// # Errors
    ///
    /// [`HubErrorKind::InvalidConfiguration`] with the field at fault, or [`HubErrorKind::Conflict`] if the id or the name is
    /// in use. Nothing is saved then.
    fn create(&self, _config: McpConfig) -> ServiceFuture<'_, ()> {
        unsupported("create")
    }

    /// Adds servers at once, which takes less time than one after the other. Returns a result for each, in their order.
    ///
    /// # Errors
    ///
    /// If the configurations cannot be saved. Then no server is added.
    fn create_all(&self, configs: Vec<McpConfig>) -> ServiceFuture<'_, Vec<Result<(), HubError>>> {
        Box::pin(async move {
            let mut results = Vec::with_capacity(configs.len());
            for config in configs {
                results.push(self.create(config).await);
            }
            Ok(results)
        })
    }

    /// Changes the configuration of a server. A server whose program or address has changed restarts; others continue.
    ///
    /// If `enabled` becomes `true`, the server is started. If the start fails, `enabled` is set back to `false` and the error
    /// is that of the start. If only a login is missing, the server stays enabled.
    fn update(&self, _config: McpConfig) -> ServiceFuture<'_, ()> {
        unsupported("update")
    }

    /// Stops a server and deletes it, with its secrets, logs and cached tools.
    fn delete(&self, _id: Uuid) -> ServiceFuture<'_, ()> {
        unsupported("delete")
    }

    /// Reads the configuration file again, and applies what has changed.
    fn reload(&self) -> ServiceFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Stops all servers in parallel, within one deadline.
    fn shutdown_all(&self) -> ServiceFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Returns the events from now on.
    fn events(&self) -> Events {
        Events::default()
    }

    /// Returns the last lines that a server wrote to standard error, without secrets.
    fn logs(&self, _id: Uuid) -> Vec<String> {
        Vec::new()
    }

    /// Returns what would be started for a server, for a person to review.
    fn preview_command(&self, id: Uuid) -> Option<Preview> {
        self.get(id).map(|config| preview(&config))
    }

    /// Records that the user agrees to what [`preview_command`](McpService::preview_command) shows.
    ///
    /// # Errors
    ///
    /// [`HubErrorKind::Conflict`] if `hash`, which is that of the preview, is not the current one.
    fn consent<'a>(&'a self, _id: Uuid, _hash: &'a str) -> ServiceFuture<'a, ()> {
        unsupported("consent")
    }

    /// Returns the paths of the values that a server requires and that are missing, such as `env_vars.TOKEN`.
    fn secrets_status(&self, _id: Uuid) -> ServiceFuture<'_, Vec<String>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

fn unsupported<'a, T: Send + 'a>(method: &'static str) -> ServiceFuture<'a, T> {
    let error = HubError::new(HubErrorKind::Unsupported, format!("this service does not support `{method}`"));
    Box::pin(std::future::ready(Err(error)))
}
