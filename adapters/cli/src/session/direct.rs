//! [`Direct`]: a direct connection to one server, without a hub.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use mcpwire_hub::files::create_output;
use mcpwire_hub::redact::Redactor;
use mcpwire_tokio::protocol::{
    CallToolResult, CompleteParams, CompleteResult, Config, ItemList, Json, LoggingLevel, Notification, Progress,
    Prompt, Resource, ResourceTemplate, ServerInfo, TaskHandle, Tool,
};
use mcpwire_tokio::{ConnectOptions, Direction, Error, ErrorKind, McpClient, Notifications, ShutdownReport};
use serde::Serialize;
use serde_json::value::RawValue;

use super::advice::failure_of;
use super::definition::{Definition, has_authorization};
use super::requests::Handlers;
use super::{ListedTools, Server};
use crate::args::{Options, Stderr, Target, TaskAction};
use crate::console::{Console, Foreground};
use crate::failure::{Failure, INTERRUPTED, Mistake};
use crate::hub::{CallMode, Called, Notice, OnNotice, listen, task};
use crate::login::ServerLogin;
use crate::show::{self, Layout};
use crate::text;

/// Maximum number of tool names that the error for an unknown tool lists.
const MOST_NAMES: usize = 20;

/// A direct connection to one server, without a hub.
pub(crate) struct Direct<'a> {
    pub(crate) options: &'a Options,
    pub(crate) console: Console,
    pub(crate) client: McpClient,
    /// The notifications since the start of the connection, for a command that listens.
    notifications: Option<Notifications>,
    foreground: Foreground,
    redactor: Redactor,
    /// The user's login to the server. `None` for a server that cannot have one, such as a server process.
    pub(crate) login: Option<ServerLogin>,
    progress_reports: Arc<AtomicUsize>,
    target: Target,
    /// Whether the command line gives the client a token to send.
    has_token: bool,
}

impl<'a> Direct<'a> {
    /// Starts the server process, or prepares the connection to the URL of the server.
    ///
    /// From then on, an interrupt such as Ctrl-C cancels the pending request, and a second interrupt kills the server.
    ///
    /// With `listens`, the notifications are for [`Server::listen`]. Otherwise, log messages are shown on standard error.
    pub(crate) fn start(target: &Target, options: &'a Options, listens: bool) -> Result<Self, Failure> {
        let (console, foreground) = (Console::new(options), Foreground::start()?);
        let mut definition = Definition::new(target, options)?;
        let login = definition.login(target, &foreground);
        let Definition { server, mut http, redactor, .. } = definition;
        if let Some(login) = &login {
            http = login.authorize(http);
        }
        console.hide(&redactor);
        let handlers = Handlers::new(options)?;
        let has_token = target.http.bearer_env.is_some() || has_authorization(&server);
        if server.is_exposed() {
            console.note(EXPOSED);
        }
        let mut connect_options = connect_options(options, &console, &redactor)?.http(http);
        if listens {
            connect_options = connect_options.log_level(LoggingLevel::Info).on_notification(|_| {});
        }
        let connect_options = handlers.declare(connect_options, server.display_name(), &console);
        let client =
            McpClient::connect_on(Arc::new(foreground.handle()), &server, connect_options).map_err(|error| {
                failure_of(&error, target, has_token, options.stderr == Stderr::Hide).redacted(&redactor)
            })?;
        foreground.interrupt.set_server(client.pid());
        let notifications = listens.then(|| client.notifications());
        let (target, progress_reports) = (target.clone(), Arc::default());
        Ok(Self {
            options,
            console,
            client,
            notifications,
            foreground,
            redactor,
            login,
            progress_reports,
            target,
            has_token,
        })
    }

    /// Connects to the server with the MCP handshake, unless that was done before. Returns the server's name, protocol version and capabilities.
    pub(crate) fn open(&self) -> Result<ServerInfo, Failure> {
        if let Some(info) = self.client.server_info() {
            return Ok(info.clone());
        }
        self.console.start("connecting");
        let info = self.request(async { self.client.initialize().await.cloned() })?;
        // A legacy server that exits when the client probes for the modern protocol is restarted, and then has another process
        // id.
        self.foreground.interrupt.set_server(self.client.pid());
        Ok(info)
    }

    /// Waits for the result of a request. Returns an error if there was an interrupt such as Ctrl-C, even before the request.
    pub(crate) fn request<T>(&self, request: impl Future<Output = Result<T, Error>>) -> Result<T, Failure> {
        let answer = self.wait(request).ok_or_else(Failure::interrupted)?;
        answer.map_err(|error| self.failure(&error))
    }

    /// Waits for a future, and removes the progress bar. Returns `None` after an interrupt such as Ctrl-C.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let done = self.foreground.wait(future);
        self.console.finish();
        done
    }

    /// Converts an error of the client to the failure of a command, and removes secrets from the message.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        let failure = match &self.login {
            Some(login) if error.kind() == ErrorKind::LoginRequired => login.required_for(error),
            login => {
                let is_stored = |login: &ServerLogin| matches!(login.status(), Ok(Some(_)));
                let has_token = self.has_token || login.as_ref().is_some_and(is_stored);
                failure_of(error, &self.target, has_token, self.options.stderr == Stderr::Hide)
            }
        };
        failure.redacted(&self.redactor)
    }

    fn on_progress(&self, tool: &str) -> impl FnMut(&Progress) + Send + 'static {
        let (mut show, reports) = (self.console.watch_call(tool), Arc::clone(&self.progress_reports));
        reports.store(0, Ordering::Relaxed);
        move |progress| {
            reports.fetch_add(1, Ordering::Relaxed);
            show(progress);
        }
    }

    /// Returns the number of progress notifications that the server sent for the last tool call, for `mcpwire demo`.
    pub(crate) fn progress_reports(&self) -> usize {
        self.progress_reports.load(Ordering::Relaxed)
    }

    /// Ends the server. Returns a report of how the server ended, or `None` if that is not known.
    pub(crate) fn close(self) -> Option<ShutdownReport> {
        let report = self.foreground.finish(async || self.client.shutdown().await);
        self.foreground.interrupt.set_server(None);
        report.ok()
    }

    /// Calls a tool, and shows a progress bar. If the name or the arguments are wrong, the failure contains a suggestion for
    /// the user.
    fn call_explained(&self, tool: &str, arguments: &Json, mode: CallMode) -> Result<Called, Failure> {
        let called = match mode {
            CallMode::Detach => self.begin_task(tool, arguments),
            CallMode::Call | CallMode::Task => self.call_raw(tool, arguments, mode).map(Called::Result),
        };
        let called = called.map_err(|failure| self.explained(tool, failure))?;
        if let Called::Result(result) = &called {
            self.check_tool_exists(tool, result)?;
        }
        Ok(called)
    }

    /// Calls a tool, and waits for the result. Returns the result as the server sent it.
    pub(crate) fn call_raw(&self, tool: &str, arguments: &Json, mode: CallMode) -> Result<Json, Failure> {
        let call = self.client.call_tool(tool, arguments).on_progress(self.on_progress(tool));
        let call = call.on_status(|task| self.console.task(task));
        self.request(if mode == CallMode::Task { call.follow_task().raw() } else { call.raw() })
    }

    /// Calls a tool as an MCP task, and does not wait until the task ends. If the server does not create a task, returns the
    /// result of the call.
    fn begin_task(&self, tool: &str, arguments: &Json) -> Result<Called, Failure> {
        self.console.start(&format!("calling {tool}"));
        self.request(self.client.call_tool(tool, arguments).as_task()).map(Called::new)
    }

    /// Returns an error if `result` is an error result and the server does not list the tool. Some servers answer calls of
    /// unknown tools with an error result.
    fn check_tool_exists(&self, tool: &str, result: &Json) -> Result<(), Failure> {
        let Some(result) = result.decode::<CallToolResult>().ok().filter(|result| result.is_error) else {
            return Ok(());
        };
        match self.request(self.client.list_tools()) {
            Ok(_) if !self.client.has_tool(tool) => {
                let failure = Failure::tool_not_found(self.client.server_name(), tool, result.text().as_str());
                Err(self.explained(tool, failure.redacted(&self.redactor)))
            }
            Err(failure) if failure.exit() == INTERRUPTED => Err(failure),
            _ => Ok(()),
        }
    }

    /// Adds a suggestion to the failure of a tool call: the name of a similar tool, or the parameters of the called tool.
    /// Requests the list of tools first if it is not loaded.
    fn explained(&self, tool: &str, failure: Failure) -> Failure {
        if failure.mistake().is_some() && self.client.tools().is_empty() {
            // If the tools cannot be listed, there is no suggestion.
            let _ = self.request(self.client.list_tools());
        }
        match (failure.mistake(), self.client.get_tool(tool)) {
            (Some(Mistake::Arguments), Some(tool)) => failure.with_hint(page(&tool)),
            (Some(Mistake::Tool), None) => {
                failure.with_hint(suggestion(tool, self.client.tools().iter().map(|tool| &*tool.name)))
            }
            _ => failure,
        }
    }
}

impl Server for Direct<'_> {
    fn console(&self) -> &Console {
        &self.console
    }

    fn list_tools(&mut self) -> Result<ListedTools, Failure> {
        let listed = self.request(self.client.list_tools())?;
        Ok(ListedTools { tools: listed.to_vec(), rejected: listed.rejected().to_vec() })
    }

    fn name(&self) -> Option<&str> {
        Some(self.client.server_name())
    }

    fn find_tool(&mut self, tool: &str) -> Result<Option<Tool>, Failure> {
        let listed = self.wait(self.client.list_tools()).ok_or_else(Failure::interrupted)?;
        match listed {
            Ok(_) => Ok(self.client.get_tool(tool).map(|tool| Tool::clone(&tool))),
            Err(error)
                if self.client.is_running()
                    && !matches!(error.kind(), ErrorKind::Timeout | ErrorKind::LoginRequired) =>
            {
                // The server has answered something, so the call can tell what is wrong.
                Ok(None)
            }
            Err(error) => Err(self.failure(&error)),
        }
    }

    fn call(&mut self, tool: &str, arguments: &Json, mode: CallMode) -> Result<Called, Failure> {
        self.call_explained(tool, arguments, mode)
    }

    fn list_own_tools(&mut self) -> Result<ListedTools, Failure> {
        self.list_tools()
    }

    fn task(&mut self, action: TaskAction, handle: &TaskHandle) -> Result<Json, Failure> {
        self.console.start(&format!("waiting for {}", handle.task_id));
        let show = |notice: Notice| notice.show(&self.console);
        self.request(task(&self.client, action, handle.clone(), self.options.timeout, &show))
    }

    fn listen(&mut self, resources: &[String], tell: OnNotice<'_>) -> Result<bool, Failure> {
        let notifications = self.notifications.take().unwrap_or_else(|| self.client.notifications());
        let ended = self.wait(listen(&self.client, notifications, resources, tell)).transpose();
        ended.map(|ended| ended.is_some()).map_err(|error| self.failure(&error))
    }

    fn info(&mut self) -> Result<ServerInfo, Failure> {
        self.open()
    }

    fn ping(&mut self) -> Result<(), Failure> {
        self.request(self.client.ping())
    }

    fn request_raw(&mut self, method: &str, params: Option<&Json>) -> Result<Json, Failure> {
        self.request(self.client.request_raw(method, params))
    }

    fn list_resources(&mut self) -> Result<ItemList<Resource>, Failure> {
        self.request(self.client.list_resources())
    }

    fn list_resource_templates(&mut self) -> ItemList<ResourceTemplate> {
        self.request(self.client.list_resource_templates()).unwrap_or_default()
    }

    fn list_prompts(&mut self) -> Result<ItemList<Prompt>, Failure> {
        self.request(self.client.list_prompts())
    }

    fn complete(&mut self, params: &CompleteParams<'_>) -> Result<CompleteResult, Failure> {
        self.request(self.client.complete(params))
    }
}

fn page(tool: &Tool) -> String {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = show::tool(&mut page, tool, Layout::default());
    String::from_utf8_lossy(&page).trim_end().to_owned()
}

/// Returns a suggestion for the user who has named a tool `name`, which is none of `tools`.
pub(crate) fn suggestion<'t>(name: &str, tools: impl Iterator<Item = &'t str>) -> String {
    let tools: Vec<&str> = tools.collect();
    if let Some(nearest) = text::nearest(name, tools.iter().map(|tool| (*tool, tool))) {
        return format!("Did you mean {}?", text::line(nearest));
    }
    let names: Vec<String> = tools.iter().take(MOST_NAMES).map(|tool| text::line(tool)).collect();
    let more = if tools.len() > MOST_NAMES { ", ..." } else { "" };
    if names.is_empty() {
        "The server has no tools.".to_owned()
    } else {
        format!("Its tools are: {}{more}", names.join(", "))
    }
}

/// The warning for a server on another machine whose URL starts with `http://`, so that the connection is not encrypted.
const EXPOSED: &str =
    "warning: http:// is not encrypted: others on the network can read and change messages and tokens";

fn config(options: &Options, console: &Console) -> Config {
    let mut config = Config::new("mcpwire", env!("CARGO_PKG_VERSION"));
    config.negotiate = options.protocol;
    if let Some(timeout) = options.timeout {
        config.connect_timeout = timeout;
        config.request_timeout = timeout;
        config.total_timeout = timeout;
    }
    if let Some(longest) = options.max_message {
        config.max_message = longest;
    }
    // Requests log messages from the server only if the console shows them.
    config.log_level = console.is_shown().then_some(LoggingLevel::Info);
    config
}

fn connect_options(args: &Options, console: &Console, redactor: &Redactor) -> Result<ConnectOptions, Failure> {
    let mut options = ConnectOptions::new(config(args, console)).follow_tasks();
    if args.stderr == Stderr::Show {
        let console = console.clone();
        options = options.stderr(move |line| console.server_stderr(line));
    }
    if let Some(path) = &args.trace {
        // The file gets mode 0600, so that only the user can read it. Files of other users and symbolic links are refused.
        let mut trace = Some(create_output(path).map_err(|error| Failure::no_trace(path, &error))?);
        let redactor = redactor.clone();
        options = options.trace(move |direction, message| {
            // After a write error, the trace ends, but the command continues.
            trace.take_if(|file| write_trace(file, direction, message, &redactor).is_err());
        });
    }
    let console = console.clone();
    Ok(options.on_notification(move |notification| {
        if let Notification::Log(message) = notification {
            console.log(message);
        }
    }))
}

/// Writes a message to the trace file of `--trace FILE` as one JSON object on a line, without secrets. A message that is not JSON is
/// written as text. Writes are not buffered, because users read the file while a server hangs.
fn write_trace(file: &mut File, direction: Direction, message: &[u8], redactor: &Redactor) -> io::Result<()> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Message<'a> {
        Json(&'a RawValue),
        Text(&'a str),
    }
    #[derive(Serialize)]
    struct Entry<'a> {
        time: String,
        direction: &'static str,
        message: Message<'a>,
    }
    let direction = match direction {
        Direction::Sent => "sent",
        Direction::Received => "received",
    };
    let text = redactor.redact(&String::from_utf8_lossy(message));
    let text = text.trim_ascii();
    let message = serde_json::from_str(text).map_or(Message::Text(text), Message::Json);
    let mut line = serde_json::to_string(&Entry { time: format!("{:.6}", Timestamp::now()), direction, message })?;
    // A server may send line breaks between tokens, but each entry must be one line.
    line.retain(|c| c != '\n' && c != '\r');
    line.push('\n');
    file.write_all(line.as_bytes())
}
