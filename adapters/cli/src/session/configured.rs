//! [`Configured`]: a session with the configured servers, in the running hub or in a hub in this process.

use mcpwire_hub::config::folded;
use mcpwire_hub::service::StatusDetail;
use mcpwire_hub::{Hub, HubError, McpService};
use mcpwire_tokio::ConnectOptions;
use mcpwire_tokio::protocol::Json;

use super::requests::Handlers;
use super::{CallMode, Called, ListedTools};
use crate::args::{Options, Target};
use crate::console::Console;
use crate::failure::{Failure, hub_message};
use crate::hub::{
    HubHandle, Request, Row, changed_tool, find_in, lacks_tools, not_started, unknown_tool, with_login_command,
};
use crate::text;

/// A session with all configured servers, or only with the server of `--server`. The servers run in a hub.
pub(crate) struct Configured<'a> {
    pub(crate) handle: HubHandle,
    server: Option<String>,
    options: &'a Options,
}

impl<'a> Configured<'a> {
    pub(crate) fn open(target: &Target, options: &'a Options) -> Result<Self, Failure> {
        let console = Console::new(options);
        let ignored = [
            ("--trace", options.trace.is_some()),
            ("--env", !options.variables.is_empty()),
            ("--cwd", options.cwd.is_some()),
        ];
        for (option, _) in ignored.iter().filter(|(_, is_given)| *is_given) {
            console.note(&format!("warning: {option} has no effect on configured servers"));
        }
        let handlers = Handlers::new(options)?;
        let shown = console.clone();
        let add_handlers = move |server: &str, connect: ConnectOptions| handlers.declare(connect, server, &shown);
        let handle = HubHandle::open_with(&target.place, options, console, Some(Box::new(add_handlers)))?;
        if handle.is_remote() && (options.answers.is_some() || !options.roots.is_empty()) {
            handle.console.note("warning: --answers and --root have no effect on the servers of the running hub");
        }
        Ok(Self { handle, server: target.server.clone(), options })
    }

    pub(crate) fn list_tools(&mut self) -> Result<ListedTools, Failure> {
        self.start_servers(None)?;
        let tools = self.handle.ask(Request::Tools { server: self.server.clone() })?;
        if self.handle.is_remote() {
            let rows = self.handle.rows(Request::Status)?;
            self.warn_of_absent(rows);
        }
        Ok(ListedTools { tools, rejected: Vec::new() })
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Json, mode: CallMode) -> Result<Called, Failure> {
        if mode != CallMode::Call {
            let message = "a call through the hub cannot be a task: leave out --task, or use --url or -- COMMAND";
            return Err(Failure::usage("task", message));
        }
        let arguments = arguments
            .decode()
            .map_err(|error| Failure::usage("arguments", format!("the arguments are not JSON: {error}")))?;
        self.start_servers(Some(tool))?;
        let timeout_ms = self.options.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        let request = Request::Call { tool: tool.to_owned(), server: self.server.clone(), arguments, timeout_ms };
        let called = self.handle.call(request, tool);
        called.map(Called::Result).map_err(|error| Failure::from_hub_call(tool, &error))
    }

    /// Starts the servers that the command needs: the server of `--server`, or else the server that has `tool`, or else all
    /// enabled servers.
    ///
    /// Does nothing if the command uses the running hub, because that hub has started its servers.
    fn start_servers(&self, tool: Option<&str>) -> Result<(), Failure> {
        let Some(hub) = self.handle.own_hub() else { return Ok(()) };
        let console = &self.handle.console;
        if hub.list().is_empty() {
            let failure = Failure::no_server();
            return Err(failure.with_hint("Or add a server: mcpwire server add --help, mcpwire server import --help"));
        }
        let only = match (&self.server, tool) {
            (Some(server), _) => Some(find_in(hub.list(), server)?),
            (None, Some(tool)) => {
                let server = hub.find_tool_server(tool).and_then(|id| hub.get(id));
                if server.is_none() && tool.contains("__") {
                    return Err(Failure::from_hub_call(tool, &unknown_prefix(hub, tool)));
                }
                server
            }
            (None, None) => None,
        };
        if let Some(config) = only {
            console.start(&format!("starting {}", config.name.trim()));
            let started = self.handle.wait(hub.start(config.id));
            console.finish();
            started.map_err(|error| not_started(config.name.trim(), &error))?;
        } else {
            self.handle.boot()?;
            for detail in hub.details() {
                if let Some(error) = detail.last_error.filter(|_| detail.enabled) {
                    let error = with_login_command(&detail.name, error);
                    console.warn(&format!("{}: {}", text::name(&detail.name), hub_message(&error)));
                }
            }
        }
        warn_of_changes(console, &hub.details());
        Ok(())
    }

    /// Warns of each server that is not running, because the tools of that server are not listed.
    fn warn_of_absent(&self, rows: Vec<Row>) {
        let server = self.server.as_deref();
        let is_meant = |detail: &StatusDetail| {
            server.is_none_or(|server| folded(server) == folded(&detail.name) || server.parse() == Ok(detail.id))
        };
        for detail in rows.into_iter().map(|row| row.detail).filter(|detail| lacks_tools(detail) && is_meant(detail)) {
            if detail.enabled || server.is_some() {
                let error = detail.last_error.map(|error| with_login_command(&detail.name, error));
                let why = error.map(|error| format!(": {}", hub_message(&error))).unwrap_or_default();
                let line = format!("{}: {}{why}; its tools are not listed", detail.name, detail.state);
                self.handle.console.warn(&text::line(&line));
            }
        }
    }
}

/// Warns of each tool whose definition has changed since the server last listed its tools.
pub(crate) fn warn_of_changes<'a>(console: &Console, details: impl IntoIterator<Item = &'a StatusDetail>) {
    for detail in details {
        detail.changed_tools.iter().for_each(|change| console.warn(&changed_tool(&detail.name, change)));
    }
}

/// Creates the error for a tool name such as `server__tool` if no server called `server` is configured. Starting all servers
/// would not find such a tool.
fn unknown_prefix(hub: &Hub, tool: &str) -> HubError {
    let error = unknown_tool(hub, tool);
    let configs = hub.list();
    let (server, rest) = tool.split_once("__").unwrap_or((tool, ""));
    let names: Vec<&str> = configs.iter().map(|config| config.name.trim()).collect();
    let instead = match text::nearest(server, names.iter().map(|name| (*name, name))) {
        Some(nearest) => format!("Did you mean {}__{rest}?", nearest.to_lowercase().replace(' ', "_")),
        None => format!("Configured servers: {}. To call a tool of that name, add --server NAME", names.join(", ")),
    };
    error.with_message(format!("tool not found: no configured server has the prefix `{server}`. {instead}"))
}
