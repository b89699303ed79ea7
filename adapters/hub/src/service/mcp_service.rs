//! [`McpService`]: the methods with which a program uses its MCP servers.

use std::future::Future;
use std::pin::Pin;

use mcpwire_tool_client::CallOptions;
use serde_json::Value;
use uuid::Uuid;

use super::events::Events;
use super::status::StatusDetail;
use super::tools::{AvailableTool, AvailableTools, FoundTool, ToolOutcome, server_id};
use crate::config::McpConfig;
use crate::launch::Preview;
use crate::{ErrorKind, HubError};

pub use mcpwire_supervisor::McpStatus;

/// The future that the methods of [`McpService`] return. It is boxed, so that programs can use `dyn McpService`.
pub type ServiceFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, HubError>> + Send + 'a>>;

/// Manages many MCP servers as one service: their configurations, their states and their tools. Programs can replace a hub by
/// their own implementation.
///
/// [`Hub`](super::Hub) implements this trait. It also has most of the methods as its own, so a program that uses a hub need not
/// import the trait. A program can implement the trait itself, to test its own code without servers. Only [`list`](Self::list),
/// [`available_tools`](Self::available_tools) and [`call_tool_full`](Self::call_tool_full) are required. By default, methods that
/// change a server fail with [`ErrorKind::Unsupported`].
///
/// Methods that are not asynchronous return a snapshot, and never wait for a server. Errors never contain a secret.
pub trait McpService: Send + Sync {
    /// Returns the configurations of all servers, in the order of the configuration file.
    fn list(&self) -> Vec<McpConfig>;

    /// Returns a snapshot of the tools of all servers that run, or that start when they are called. Does not copy the tools.
    ///
    /// If the tool list of a server has expired (2026-07-28, server/utilities/caching), the hub requests the list again
    /// in the background. If the tools have changed, the hub then emits [`HubEvent::Tools`](super::HubEvent::Tools).
    fn available_tools(&self) -> AvailableTools;

    /// Calls a tool of the server `mcp_id`, and returns the complete result. `tool_name` is the exposed name of the tool
    /// (`<server>__<tool>`), or the name that the server uses for it.
    ///
    /// A tool that ran and failed is not an error of this function. Its result has
    /// [`is_error`](mcpwire_core::CallToolResult::is_error) set.
    ///
    /// # Errors
    ///
    /// [`HubError::kind`] says why the call has no result. If the call exceeds a rate limit, or if the server rejected it
    /// temporarily, [`HubError::retry_after`] contains the time after which to call again.
    fn call_tool_full<'a>(
        &'a self,
        mcp_id: Uuid,
        tool_name: &'a str,
        arguments: &'a Value,
        options: CallOptions<'a>,
    ) -> ServiceFuture<'a, ToolOutcome>;

    /// Calls a tool of the server `mcp_id`, and returns the text of the result. `tool_name` is the exposed name of the tool
    /// (`<server>__<tool>`), or the name that the server uses for it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`call_tool_full`](Self::call_tool_full). Returns [`ErrorKind::Tool`] with the text of the result if
    /// the tool failed.
    fn call_tool<'a>(&'a self, mcp_id: Uuid, tool_name: &'a str, arguments: &'a Value) -> ServiceFuture<'a, String> {
        let outcome = self.call_tool_full(mcp_id, tool_name, arguments, CallOptions::new());
        Box::pin(async move { outcome.await?.into_text() })
    }

    /// Returns the configuration of a server, or `None` if no server has this id.
    fn get(&self, id: Uuid) -> Option<McpConfig> {
        self.list().into_iter().find(|config| config.id == id)
    }

    /// Returns the simplified state of a server. For an unknown server, returns [`McpStatus::Error`] with a message that says so.
    fn status(&self, id: Uuid) -> McpStatus {
        match self.get(id) {
            None => McpStatus::Error { message: HubError::unknown_server(server_id(id)).message().to_owned() },
            Some(config) if !config.enabled => McpStatus::Disabled,
            Some(_) => {
                let tools = self.available_tools();
                McpStatus::Running { tools: tools.of_server(id).map(|tool| tool.tool.name.clone()).collect() }
            }
        }
    }

    /// Returns the detailed state of a server, for example its process id and last error. Returns `None` if no server has this
    /// id.
    fn status_detail(&self, _id: Uuid) -> Option<StatusDetail> {
        None
    }

    /// Starts a server, and waits until it runs or has failed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Disabled`] if the server is disabled. [`ErrorKind::NeedsConsent`] if the user has not agreed to the command
    /// or address of the server. [`ErrorKind::MissingValue`] if a required value such as a secret is missing. Otherwise the error
    /// with which the start failed.
    fn start(&self, _id: Uuid) -> ServiceFuture<'_, ()> {
        unsupported("start")
    }

    /// Stops a server, and waits until its process and all descendants of the process have ended. Processes that do not end
    /// within 5 s are killed.
    fn stop(&self, _id: Uuid) -> ServiceFuture<'_, ()> {
        unsupported("stop")
    }

    /// Stops a server, starts it again, and waits until it runs or has failed.
    fn restart(&self, id: Uuid) -> ServiceFuture<'_, ()> {
        Box::pin(async move {
            self.stop(id).await?;
            self.start(id).await
        })
    }

    /// Returns the id of the server that currently offers the tool `tool_name`, or `None` if no server does. `tool_name` is an
    /// exposed name (`<server>__<tool>`), or a tool name that only one server uses.
    fn find_tool_provider(&self, tool_name: &str) -> Option<Uuid> {
        self.available_tools().find(tool_name).map(|tool| tool.mcp_id)
    }

    /// Returns the id of the server to which a tool name belongs, even if that server does not run. Returns `None` if the name
    /// belongs to no server.
    ///
    /// If the server does not run, only the part of the exposed name before `__` is compared, with the names of the servers. A
    /// call of the tool then fails with an error that says why the server does not run.
    fn find_tool_server(&self, tool_name: &str) -> Option<Uuid> {
        self.find_tool_provider(tool_name)
    }

    /// Returns a copy of the tool `tool_name` with the id of its server, or `None` if no server offers the tool. `tool_name` is
    /// an exposed name (`<server>__<tool>`), or a tool name that only one server uses.
    fn resolve(&self, tool_name: &str) -> Option<FoundTool> {
        self.available_tools().find(tool_name).map(AvailableTool::to_found)
    }

    /// Returns up to `most` tools that match the search text `query`, best match first. A program that has many tools can show
    /// only these to a language model.
    fn search_tools(&self, query: &str, most: usize) -> Vec<FoundTool> {
        self.available_tools().search(query, most)
    }

    /// Adds a server without starting it. [`start`](Self::start) starts it. [`Hub::boot`](super::Hub::boot) starts it if it is
    /// enabled.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfiguration`] with the name of the invalid field. [`ErrorKind::Conflict`] if another server has the
    /// same id or name. After an error, nothing is saved.
    fn create(&self, _config: McpConfig) -> ServiceFuture<'_, ()> {
        unsupported("create")
    }

    /// Adds several servers together, which is faster than adding each alone. Returns one result for each server, in the order of
    /// `configs`.
    ///
    /// # Errors
    ///
    /// Fails if the configurations cannot be saved. Then no server is added.
    fn create_all(&self, configs: Vec<McpConfig>) -> ServiceFuture<'_, Vec<Result<(), HubError>>> {
        Box::pin(async move {
            let mut results = Vec::with_capacity(configs.len());
            for config in configs {
                results.push(self.create(config).await);
            }
            Ok(results)
        })
    }

    /// Changes the configuration of a server. A running server restarts if its program or address has changed. Otherwise it
    /// continues to run.
    ///
    /// If `enabled` changes to `true`, the server is started. If the start fails, `enabled` is set back to `false`, and this
    /// function returns the error of the start. If the start fails only because a login is missing, the server stays enabled.
    fn update(&self, _config: McpConfig) -> ServiceFuture<'_, ()> {
        unsupported("update")
    }

    /// Stops a server, and deletes its configuration, secrets, logs and cached tools. Keeps its login, because other connections
    /// to the same URL may use it: [`Hub::logout`](super::Hub::logout) deletes the login.
    fn delete(&self, _id: Uuid) -> ServiceFuture<'_, ()> {
        unsupported("delete")
    }

    /// Reads the configuration file again, after another program has changed it, and applies the changes to the servers.
    fn reload(&self) -> ServiceFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Stops all servers in parallel. Servers that are still running one second before a common deadline are killed.
    ///
    /// Also waits for token refreshes that were sent, for at most 10 s. If the program ended before the new token is stored, the
    /// login would be lost. If a refresh has not ended in that time, returns an error with the field `login` and the name of the
    /// server.
    fn shutdown_all(&self) -> ServiceFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Returns a stream of the events that occur from now on. By default, the stream has no events.
    fn events(&self) -> Events {
        Events::default()
    }

    /// Returns the last lines that a server wrote to standard error, without secrets. Empty if no server has this id.
    fn logs(&self, _id: Uuid) -> Vec<String> {
        Vec::new()
    }

    /// Returns the command or the address that the hub would start or connect to for a server, so that the user can review it.
    /// Returns `None` if no server has this id.
    fn preview_command(&self, _id: Uuid) -> Option<Preview> {
        None
    }

    /// Records that the user agrees to the command or address of a server, as [`preview_command`](McpService::preview_command)
    /// shows it. `hash` is the hash of the preview that the user has reviewed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`] if `hash` is not the hash of the current preview, because the configuration has changed since the
    /// review.
    fn consent<'a>(&'a self, _id: Uuid, _hash: &'a str) -> ServiceFuture<'a, ()> {
        unsupported("consent")
    }

    /// Returns which required values of a server are missing, such as an API key. Each value is the path of a configuration
    /// field, such as `env_vars.TOKEN`. Empty if no value is missing.
    fn secrets_status(&self, _id: Uuid) -> ServiceFuture<'_, Vec<String>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

fn unsupported<'a, T: Send + 'a>(method: &'static str) -> ServiceFuture<'a, T> {
    let error = HubError::new(ErrorKind::Unsupported, format!("this service does not support `{method}`"));
    Box::pin(std::future::ready(Err(error)))
}
