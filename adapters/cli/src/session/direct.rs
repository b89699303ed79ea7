//! [`Direct`]: a direct connection to one server, without a hub.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcpwire_blocking::protocol::{Config, LoggingLevel, Notification, Progress, ServerInfo, Task};
use mcpwire_blocking::{ConnectOptions, Direction, Error, ErrorKind, McpClient, ShutdownReport};
use mcpwire_hub::redact::Redactor;
use mcpwire_process::kill_tree;

use super::definition::Definition;
use super::requests::Handlers;
use super::trace::Trace;
use crate::args::{Options, Stderr, Target};
use crate::console::{Console, Interrupt};
use crate::failure::{Failure, INTERRUPTED};
use crate::login::ServerLogin;
use crate::lost_logins::end_at_once;

/// A direct connection to one server, without a hub.
pub(crate) struct Direct<'a> {
    pub(crate) options: &'a Options,
    pub(crate) console: Console,
    pub(crate) client: McpClient,
    interrupt: Interrupt,
    redactor: Redactor,
    /// The login of the server, if it may want one.
    pub(super) login: Option<ServerLogin>,
    progress_reports: Arc<AtomicUsize>,
}

/// A callback for the notifications of the server. If the callback returns `false`, the command stops listening.
pub(crate) type Listener = Box<dyn Fn(&Notification) -> bool + Send>;

impl<'a> Direct<'a> {
    /// Starts the server process, or prepares the connection to the URL of the server.
    ///
    /// From then on, an interrupt such as Ctrl-C cancels the pending request, and a second interrupt kills the server.
    ///
    /// If `listener` is given, it receives all notifications. Otherwise, log messages are shown on standard error.
    pub(crate) fn start(
        target: &Target,
        options: &'a Options,
        console: Console,
        listener: Option<Listener>,
    ) -> Result<Self, Failure> {
        let Definition { server, http, redactor, login } = Definition::new(target, options)?;
        console.hide(&redactor);
        let handlers = Handlers::new(options)?;
        let interrupt = Interrupt::install();
        if server.is_exposed() {
            console.note(EXPOSED);
        }
        let mut connect_options = connect_options(options, &console, &redactor)?.http(http);
        if let Some(listener) = listener {
            let interrupt = interrupt.clone();
            connect_options = connect_options.log_level(LoggingLevel::Info).on_notification(move |notification| {
                if !listener(notification) {
                    interrupt.cancel_wait();
                }
            });
        }
        let connect_options = handlers.declare(connect_options, server.display_name(), &console, &interrupt);
        let client = McpClient::connect_with(&server, connect_options)
            .map_err(|error| Failure::from_client(&error, options.stderr == Stderr::Hide).redacted(&redactor))?;
        let progress_reports = Arc::default();
        let mut session = Self { options, console, client, interrupt, redactor, login, progress_reports };
        session.watch()?;
        Ok(session)
    }

    /// Connects to the server with the MCP handshake. Returns the server's name, protocol version and capabilities.
    pub(crate) fn open(&mut self) -> Result<ServerInfo, Failure> {
        self.console.start("connecting");
        let info = self.request(|client| client.initialize().cloned())?;
        // A legacy server that exits when the client probes for the modern protocol is restarted, and then has another process
        // id.
        self.watch()?;
        Ok(info)
    }

    /// Sends a request and waits for the result. Returns an error if there was an interrupt such as Ctrl-C, even before the
    /// request.
    pub(crate) fn request<T>(
        &mut self,
        request: impl FnOnce(&mut McpClient) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        let answer = request(&mut self.client);
        self.console.finish();
        if self.interrupt.was_pressed() {
            return Err(Failure::interrupted());
        }
        answer.map_err(|error| self.failure(&error))
    }

    /// Converts an error of the client to the failure of a command, and removes secrets from the message.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        let failure = match &self.login {
            Some(login) if error.kind() == ErrorKind::LoginRequired => login.required_for(error),
            _ => Failure::from_client(error, self.options.stderr == Stderr::Hide),
        };
        failure.redacted(&self.redactor)
    }

    /// Replaces the secrets of this connection in the message of a failure.
    pub(crate) fn redacted(&self, failure: Failure) -> Failure {
        failure.redacted(&self.redactor)
    }

    pub(crate) fn was_interrupted(&self) -> bool {
        self.interrupt.was_pressed()
    }

    /// Sets what an interrupt such as Ctrl-C does: the first cancels the pending request, and the second kills the server and
    /// ends this process.
    fn watch(&mut self) -> Result<(), Failure> {
        let canceller = self.client.canceller().map_err(|error| self.failure(&error))?;
        let pid = self.client.pid();
        self.interrupt.on_press(move |again| {
            if again {
                pid.into_iter().for_each(kill_tree);
                end_at_once(INTERRUPTED);
            }
            canceller.cancel();
        });
        Ok(())
    }

    /// Shows a progress bar while the command waits for a task. `what` is the text beside the bar. Returns a callback that
    /// prints each new status of the task.
    pub(crate) fn watch_task(&self, what: &str) -> impl FnMut(&Task) + Send + 'static {
        self.console.start(what);
        self.on_status()
    }

    pub(super) fn on_status(&self) -> impl FnMut(&Task) + Send + 'static {
        let console = self.console.clone();
        move |task| console.task(task)
    }

    pub(super) fn on_progress(&self, tool: &str) -> impl FnMut(&Progress) + Send + 'static {
        let (mut show, reports) = (self.console.watch_call(tool), Arc::clone(&self.progress_reports));
        reports.store(0, Ordering::Relaxed);
        move |progress| {
            reports.fetch_add(1, Ordering::Relaxed);
            show(progress);
        }
    }

    /// Returns the number of progress notifications that the server sent for the last tool call.
    pub(crate) fn progress_reports(&self) -> usize {
        self.progress_reports.load(Ordering::Relaxed)
    }

    /// Ends the server. Returns a report of how the server ended, or `None` if that is not known.
    pub(crate) fn close(self) -> Option<ShutdownReport> {
        let report = self.client.shutdown();
        self.interrupt.forget();
        report.ok()
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
    // The server is not asked for log messages that would not be shown.
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
        let trace = Trace::create(path, redactor.clone());
        let mut trace = trace.map_err(|error| Failure::no_trace(path, &error))?;
        options = options.trace(move |direction, message| {
            let direction = match direction {
                Direction::Sent => "sent",
                Direction::Received => "received",
            };
            trace.record(direction, message);
        });
    }
    let console = console.clone();
    Ok(options.on_notification(move |notification| {
        if let Notification::Log(message) = notification {
            console.log(message);
        }
    }))
}
