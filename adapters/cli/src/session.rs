//! One run of the tool: its options, what it tells on standard error, and the server that it talks to.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcpwire_blocking::protocol::{
    CallToolResult, Config, Json, LoggingLevel, Notification, Progress, ServerInfo, Task, TaskHandle,
};
use mcpwire_blocking::{ConnectOptions, Direction, Error, McpClient, McpServerDef, RunningTask, ShutdownReport};

use crate::args::{Connection, Options, Stderr, Variable};
use crate::asks::Asks;
use crate::commands::Printer;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::notes::Notes;
use crate::remote;
use crate::trace::Trace;

/// A server that was started, until it is closed.
pub(crate) struct Session<'a> {
    pub(crate) options: &'a Options,
    pub(crate) notes: Notes,
    pub(crate) client: McpClient,
    interrupt: Interrupt,
    reports: Arc<AtomicUsize>,
}

impl<'a> Session<'a> {
    /// Starts the server. From then on an interrupt ends it. What the server tells is told on standard error, or by the
    /// printer.
    pub(crate) fn start(
        connection: &Connection,
        options: &'a Options,
        printer: Option<&Printer>,
    ) -> Result<Self, Failure> {
        let definition = definition(connection, options)?;
        let http = remote::options(connection)?;
        let asks = Asks::prepare(options)?;
        let notes = Notes::new(options.quiet || options.json);
        let interrupt = Interrupt::install();
        if definition.is_exposed() && !options.json {
            notes.line(EXPOSED);
        }
        let mut connect_options = connect_options(options, &notes)?.http(http);
        if let Some(printer) = printer.cloned() {
            let interrupt = interrupt.clone();
            connect_options = connect_options
                .log_level(LoggingLevel::Info)
                .on_notification(move |notification| printer.print(notification, &interrupt));
        }
        let connect_options = asks.declare(connect_options, definition.display_name(), &notes, &interrupt);
        let client = McpClient::connect_with(&definition, connect_options)
            .map_err(|error| Failure::of(&error, options.stderr))?;
        let mut session = Self { options, notes, client, interrupt, reports: Arc::default() };
        session.watch()?;
        Ok(session)
    }

    /// Opens the connection.
    pub(crate) fn open(&mut self) -> Result<ServerInfo, Failure> {
        self.notes.start("connecting");
        let info = self.request(|client| client.initialize().cloned())?;
        // It may be another process by now: one that ends when it is asked for its era is started once more.
        self.watch()?;
        Ok(info)
    }

    /// Asks the server for something. An interrupt that came when nothing was waited for counts as well.
    pub(crate) fn request<T>(&mut self, ask: impl FnOnce(&mut McpClient) -> Result<T, Error>) -> Result<T, Failure> {
        let answer = ask(&mut self.client);
        self.notes.finish();
        if self.interrupt.was_pressed() {
            return Err(Failure::interrupted());
        }
        answer.map_err(|error| Failure::of(&error, self.options.stderr))
    }

    /// A line on standard error, unless it is to be quiet.
    pub(crate) fn note(&self, line: &str) {
        if self.notes.are_shown() {
            self.notes.line(line);
        }
    }

    pub(crate) fn was_interrupted(&self) -> bool {
        self.interrupt.was_pressed()
    }

    fn watch(&mut self) -> Result<(), Failure> {
        let canceller = self.client.canceller().map_err(|error| Failure::of(&error, self.options.stderr))?;
        self.interrupt.watch(canceller, self.client.pid());
        Ok(())
    }

    /// Calls a tool, with a progress bar; as a task if the server may make one of it.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Json, task: bool) -> Result<CallToolResult, Failure> {
        let (progress, status) = (self.progress_of(tool), self.status_of_task());
        self.request(|client| {
            let call = client.call_tool(tool, arguments).on_progress(progress).on_status(status);
            if task { call.follow_task().call() } else { call.call() }
        })
    }

    /// The same, and the result is as the server sent it.
    pub(crate) fn call_raw(&mut self, tool: &str, arguments: &Json, task: bool) -> Result<Json, Failure> {
        let (progress, status) = (self.progress_of(tool), self.status_of_task());
        self.request(|client| {
            let call = client.call_tool(tool, arguments).on_progress(progress).on_status(status);
            if task { call.follow_task().raw() } else { call.raw() }
        })
    }

    /// Begins a call, and gives what is to be kept of the task that the server makes of it; the result if it makes none.
    pub(crate) fn begin_task(
        &mut self,
        tool: &str,
        arguments: &Json,
    ) -> Result<Result<TaskHandle, CallToolResult>, Failure> {
        self.notes.start(&format!("calling {tool}"));
        self.request(|client| {
            let started = client.call_tool(tool, arguments).as_task()?;
            Ok(started.into_task().map(RunningTask::into_handle))
        })
    }

    /// Shows that a task is waited for; gives who is told how it stands.
    pub(crate) fn watch_task(&self, what: &str) -> impl FnMut(&Task) + Send + 'static {
        self.notes.start(what);
        self.status_of_task()
    }

    fn status_of_task(&self) -> impl FnMut(&Task) + Send + 'static {
        let notes = self.notes.clone();
        move |task| notes.task(task)
    }

    fn progress_of(&self, tool: &str) -> impl FnMut(&Progress) + Send + 'static {
        let (mut shown, reports) = (self.notes.watch_call(tool), Arc::clone(&self.reports));
        reports.store(0, Ordering::Relaxed);
        move |progress| {
            reports.fetch_add(1, Ordering::Relaxed);
            shown(progress);
        }
    }

    /// How often the last call has reported progress.
    pub(crate) fn progress_reports(&self) -> usize {
        self.reports.load(Ordering::Relaxed)
    }

    /// Ends the server and says how it ended, if that is known.
    pub(crate) fn close(self) -> Option<ShutdownReport> {
        let report = self.client.shutdown();
        self.interrupt.forget();
        report.ok()
    }
}

/// Others on the way see tokens, and may change what is said.
const EXPOSED: &str =
    "warning: http:// is not encrypted: others on the way can read and change what is said, and see tokens";

fn definition(connection: &Connection, options: &Options) -> Result<McpServerDef, Failure> {
    if let Some(url) = &connection.url {
        return remote::definition(url, connection, options);
    }
    let mut definition = if connection.demo {
        let ourselves = env::current_exe().map_err(|error| Failure::no_demo_server(&error))?;
        McpServerDef::new(ourselves.to_string_lossy()).arg("demo-server")
    } else {
        let (command, arguments) = connection.command.split_first().ok_or_else(Failure::no_server)?;
        McpServerDef::new(command).args(arguments)
    };
    for variable in &options.variables {
        definition = match variable {
            Variable::Set(name, value) => definition.env(name, value),
            Variable::Inherit(name) => definition.inherit(name),
        };
    }
    if let Some(directory) = &options.cwd {
        definition = definition.cwd(directory);
    }
    Ok(definition)
}

fn config(options: &Options, notes: &Notes) -> Config {
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
    // Messages that nobody is shown need not be sent.
    config.log_level = notes.are_shown().then_some(LoggingLevel::Info);
    config
}

fn connect_options(args: &Options, notes: &Notes) -> Result<ConnectOptions, Failure> {
    let mut options = ConnectOptions::new(config(args, notes)).follow_tasks();
    if args.stderr == Stderr::Show {
        let notes = notes.clone();
        options = options.stderr(move |line| notes.server_stderr(line));
    }
    if let Some(path) = &args.trace {
        let mut trace = Trace::create(path).map_err(|error| Failure::no_trace(path, &error))?;
        options = options.trace(move |direction, message| {
            let direction = match direction {
                Direction::Sent => "sent",
                Direction::Received => "received",
            };
            trace.record(direction, message);
        });
    }
    let notes = notes.clone();
    Ok(options.on_notification(move |notification| {
        if let Notification::Log(message) = notification {
            notes.log(message);
        }
    }))
}
