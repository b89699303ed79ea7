//! What a host asks of its MCP servers, whoever answers.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;
use uuid::Uuid;

use super::detail::StatusDetail;
use super::events::Events;
use super::outcome::{CallOptions, ToolOutcome};
use super::snapshot::{AvailableTools, FoundTool};
use crate::HubError;
use crate::config::McpConfig;
use crate::launch::Preview;

pub use mcpwire_supervisor::Status as McpStatus;

/// An answer that takes a while. It is a boxed future, so that the trait can be used as `dyn McpService`.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, HubError>> + Send + 'a>>;

/// Many MCP servers as one service: what is configured, what runs, and what it can do.
///
/// What is not asynchronous looks at a snapshot and never waits for a server or a file. All errors are the one contract
/// `{code, message, field}`, and none of them shows the value of a secret.
///
/// [`Hub`](super::Hub) is the service; a program that wants to try its own code without servers implements this trait itself.
pub trait McpService: Send + Sync {
    /// All that is configured, in the order of the file.
    fn list(&self) -> Vec<McpConfig>;

    /// What is configured under this id.
    fn get(&self, id: Uuid) -> Option<McpConfig>;

    /// Where the server is in its life, as hosts show it. One that is not configured is an error that says so.
    fn status(&self, id: Uuid) -> McpStatus;

    /// All that is known of the server's life.
    fn status_detail(&self, id: Uuid) -> Option<StatusDetail>;

    /// Starts the server. Done when it runs.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for an unknown id or package, `CONFLICT` with the field `enabled` if it is disabled and `consent` if nobody has
    /// agreed to what it starts, `VALIDATION_ERROR` naming what is missing, `SERVICE_UNAVAILABLE` and `NETWORK_ERROR` for a start
    /// that failed.
    fn start(&self, id: Uuid) -> Answer<'_, ()>;

    /// Ends the server: its input is closed, it is asked, and after 5 s at most it is killed, with all that it started. Done when
    /// nothing is left.
    fn stop(&self, id: Uuid) -> Answer<'_, ()>;

    /// Ends the server and starts it.
    fn restart(&self, id: Uuid) -> Answer<'_, ()>;

    /// The tools of all servers that run (and of those that sleep and wake for a call), as they are now. Cheap: nothing is copied.
    ///
    /// A server may have said for how long its list holds (2026-07-28, server/utilities/caching): if that time has passed, it is
    /// asked again, and [`HubEvent::Tools`](super::HubEvent::Tools) tells if there is something new.
    fn available_tools(&self) -> AvailableTools;

    /// The server that provides the tool of this name: an exposed name, or one that only one server uses.
    fn find_tool_provider(&self, tool_name: &str) -> Option<Uuid>;

    /// Finds the server that a tool's name belongs to, whether that server runs or not. Of a server that does not run, only the
    /// part of an exposed name before `__` is compared; a call then says why the server does not run.
    fn find_tool_server(&self, tool_name: &str) -> Option<Uuid> {
        self.find_tool_provider(tool_name)
    }

    /// The server and the tool that stand behind a name, as [`find_tool_provider`](McpService::find_tool_provider) finds them.
    fn resolve(&self, tool_name: &str) -> Option<FoundTool>;

    /// The tools that fit a query best, the best first; for a host that does not show all of them to a language model.
    fn search_tools(&self, query: &str, most: usize) -> Vec<FoundTool>;

    /// Calls a tool and gives the text of its result. The name is the server's own, or the exposed one.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for an unknown id, or a tool that a running server does not have or may not be used for; `SERVICE_UNAVAILABLE`
    /// if the tool fails (with its text), the server is stopped, has failed or is still starting, ends meanwhile, or too many calls
    /// were made; `NETWORK_ERROR` if no answer comes in time; `CONFLICT` if the server is disabled; `VALIDATION_ERROR` for
    /// arguments that it does not take, and for what a server misses to start.
    fn call_tool<'a>(&'a self, mcp_id: Uuid, tool_name: &'a str, arguments: &'a Value) -> Answer<'a, String>;

    /// Calls a tool and gives all of its result: text, images, structured content, and that it failed, which is no `Err` here.
    fn call_tool_full<'a>(
        &'a self,
        mcp_id: Uuid,
        tool_name: &'a str,
        arguments: &'a Value,
        options: CallOptions<'a>,
    ) -> Answer<'a, ToolOutcome>;

    /// Adds a server. It is not started.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` with the field at fault, `CONFLICT` for an id or a name that is taken. Nothing is saved then.
    fn create(&self, config: McpConfig) -> Answer<'_, ()>;

    /// Changes what is configured of a server. One that runs goes on if it can, and is started anew if what it runs is another.
    ///
    /// Where `enabled` becomes true, the change is saved and the server started; if it does not start, `enabled` is taken back and
    /// the error is that of the start. A login that is missing does not take it back.
    fn update(&self, config: McpConfig) -> Answer<'_, ()>;

    /// Ends a server and forgets it, with its secrets, its logs and what was kept of its tools.
    fn delete(&self, id: Uuid) -> Answer<'_, ()>;

    /// Reads the file again, and changes what has changed and nothing else.
    fn reload(&self) -> Answer<'_, ()>;

    /// Ends all servers at the same time, within one deadline.
    fn shutdown_all(&self) -> Answer<'_, ()>;

    /// What happens from now on.
    fn events(&self) -> Events;

    /// The last lines that the server wrote on standard error, without secrets.
    fn logs(&self, id: Uuid) -> Vec<String>;

    /// What would be started for this server, for a person to see and agree to.
    fn preview_command(&self, id: Uuid) -> Option<Preview>;

    /// Notes that the user has seen [`preview_command`](McpService::preview_command) and agrees. `hash` is that of the preview: if
    /// the configuration has changed since, this is a `CONFLICT`.
    fn consent<'a>(&'a self, id: Uuid, hash: &'a str) -> Answer<'a, ()>;

    /// Which secrets and values the server needs and are not there, by path (`env_vars.TOKEN`). Never a value.
    fn secrets_status(&self, id: Uuid) -> Answer<'_, Vec<String>>;
}
