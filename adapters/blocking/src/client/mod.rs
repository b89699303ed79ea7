//! [`McpClient`]: a connection to one server. This module runs operations, reports the state of the connection, and ends it.

mod opening;
mod requests;

use std::fmt;

use mcpwire_client::{ConnectionEnd, Error, GracePeriods, InvalidMessages, McpServerDef, ShutdownReport};
use mcpwire_core::internal::{Operation, Step};
use mcpwire_core::{Method, Notification, Phase, ServerInfo, Stats, Ticket};

use crate::cancel::Canceller;
use crate::connection::Connection;
use crate::pending_replies::{DroppedHandle, DroppedHandles};
use crate::transport::Io;
pub use opening::with_client;

/// A connection to one server, for programs without an async runtime.
///
/// The calling thread does all the work: there is no runtime, and on Unix no other thread. Over HTTP, a background thread sends
/// the requests.
///
/// Dropping the client kills the server and all processes that the server started; [`McpClient::shutdown`] ends them step by
/// step. Over HTTP, dropping the client aborts the pending requests, and ends the session on the server in the background.
///
/// # When the connection ends
///
/// Pending and later requests fail with [`ErrorKind::Closed`](crate::ErrorKind::Closed), and [`McpClient::closed`] returns the
/// reason. The client does not start the server again, because calls may already have taken effect. Connect a new client, or use
/// `mcpwire::hub`, which restarts servers.
///
/// Over HTTP, a failed request does not end the connection: the next request opens a new TCP connection. If the server has ended
/// the session, the client opens a new session, and [`McpClient::events`] reports this. The client also requests interrupted
/// streams and subscriptions again.
///
/// # Example
///
/// ```no_run
/// # mod mcpwire { pub use mcpwire_blocking::McpServerDef; pub mod blocking { pub use mcpwire_blocking::McpClient; } }
/// use mcpwire::McpServerDef;
/// use mcpwire::blocking::McpClient;
///
/// let def = McpServerDef::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]);
/// let mut client = McpClient::connect_and_initialize(&def)?;
/// for tool in client.tools() {
///     println!("{}", tool.name);
/// }
/// let result = client.call_tool("echo", [("message", "hi")]).send()?;
/// println!("{}", result.text());
/// client.shutdown()?;
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
pub struct McpClient {
    pub(crate) connection: Connection,
    /// The requests and subscriptions to cancel, because the program has dropped their handles.
    pub(crate) dropped: DroppedHandles,
}

impl McpClient {
    /// Returns the server's info and capabilities, or `None` before [`McpClient::initialize`].
    pub fn server_info(&self) -> Option<&ServerInfo> {
        self.connection.io.engine.session().server()
    }

    /// Returns the name of the server in errors.
    ///
    /// This is [`McpServerDef::display_name`]. For a pair of streams, it is
    /// [`ConnectOptions::name`](crate::ConnectOptions::name), by default `stream`.
    pub fn server_name(&self) -> &str {
        &self.connection.io.context.name
    }

    /// Returns the definition of the server, or `None` if the client was created over the program's own streams, as with
    /// [`McpClient::over`].
    pub fn definition(&self) -> Option<&McpServerDef> {
        self.connection.io.context.definition.as_deref()
    }

    /// Returns whether the server's process is running. Without a process, returns whether the connection has not ended.
    pub fn is_running(&mut self) -> bool {
        match &mut self.connection.io.process {
            Some(process) => process.observe().is_none(),
            None => self.connection.io.engine.session().phase() != Phase::Closed,
        }
    }

    /// Returns the id of the server's process, or `None` if there is no process.
    pub fn pid(&self) -> Option<u32> {
        self.connection.pid()
    }

    /// Returns the last lines that the server has written to standard error: at most 12 lines and 2 KiB, without control
    /// characters.
    pub fn stderr_tail(&mut self) -> String {
        self.connection.catch_up();
        self.connection.io.stderr.tail()
    }

    /// Returns the number of requests in flight: requests that were sent and have no response yet.
    pub fn in_flight(&self) -> usize {
        self.connection.io.engine.session().in_flight()
    }

    /// Returns how many messages of the server the client has ignored or rejected, with one counter for each reason.
    pub fn stats(&self) -> Stats {
        self.connection.io.engine.session().stats()
    }

    /// Returns the number of invalid messages from the server, and the beginnings of the last invalid messages.
    pub fn invalid_messages(&self) -> InvalidMessages {
        self.connection.io.state.invalid_messages.clone()
    }

    /// Waits until the connection has ended, and returns the reason, with the server's exit status and last output.
    ///
    /// Returns at once if the connection has already ended.
    ///
    /// # Errors
    /// If the wait is cancelled by a [`Canceller`].
    pub fn closed(&mut self) -> Result<ConnectionEnd, Error> {
        loop {
            if let Some(end) = self.connection.end() {
                return Ok(end);
            }
            self.connection.wait_for("the end", None, |_| None::<()>)?;
        }
    }

    /// Returns the reason why the connection has ended, or `None` if it has not. Does not wait.
    pub fn connection_end(&mut self) -> Option<ConnectionEnd> {
        self.connection.catch_up();
        self.connection.end()
    }

    /// Returns a handle with which another thread cancels a wait of this client.
    ///
    /// # Errors
    /// If the canceller needs a pipe, and this program has too many open files to create it.
    pub fn canceller(&mut self) -> Result<Canceller, Error> {
        match self.connection.canceller() {
            Ok(canceller) => Ok(canceller.clone()),
            Err(error) => Err(self.connection.io_error(error)),
        }
    }

    /// Ends the server step by step: closes its input, waits, terminates its processes, waits, and kills them.
    ///
    /// With the default [`GracePeriods`], this takes at most 5 s. Over HTTP, this ends the session on the server, and waits for
    /// the response for at most [`GracePeriods::after_close`].
    ///
    /// If a token refresh of the connection's authorizer is in progress, this also waits for the refresh: at most 10 s with
    /// `mcpwire::oauth::OAuth`. If the program ends before the new token is stored, the login may be lost.
    ///
    /// # Errors
    /// If the process still exists after it was killed, or a token refresh has not ended in time.
    pub fn shutdown(mut self) -> Result<ShutdownReport, Error> {
        let report = self.connection.shut_down(self.connection.io.context.grace_periods);
        #[cfg(feature = "http")]
        crate::http::block_on(self.connection.io.context.settle_authorizer())?;
        self.connection.io.context.shutdown_result(report)
    }

    /// Kills the server and all processes that it started. Pending requests fail.
    ///
    /// This waits for the exit of the server. Dropping the client kills the server, too.
    pub fn kill(&mut self) {
        let no_grace =
            GracePeriods { after_close: std::time::Duration::ZERO, after_terminate: std::time::Duration::ZERO };
        self.connection.shut_down(no_grace);
    }

    /// Runs an operation of the core, such as a listing of all pages, to its end.
    pub(crate) fn run<O: Operation>(&mut self, operation: O) -> Result<O::Output, Error> {
        self.run_reporting(operation, &mut |_| {})
    }

    /// Runs an operation of the core to its end, and calls `on_report` with its progress notifications and task statuses.
    pub(crate) fn run_reporting<O: Operation>(
        &mut self,
        mut operation: O,
        on_report: &mut dyn FnMut(&Notification),
    ) -> Result<O::Output, Error> {
        self.cancel_dropped();
        loop {
            let now = self.connection.now();
            self.connection.check_authorization();
            let Io { engine, state, .. } = &mut self.connection.io;
            match operation.poll(&mut state.client, &mut engine.calls(), now) {
                Step::Wait(key) => {
                    let mut reply = self.connection.wait(key, "a request", on_report)?;
                    operation.receive(&mut reply);
                    if let Some(output) = operation.take_output() {
                        return Ok(output);
                    }
                }
                Step::Drain => self.connection.catch_up(),
                Step::Done(result) => return result.map_err(|error| self.connection.error(error)),
            }
        }
    }

    /// Waits for the result of a [`Pending`](crate::Pending) request, and decodes it.
    pub(crate) fn wait<M: Method>(&mut self, ticket: Ticket<M>) -> Result<M::Result, Error> {
        let mut reply = self.connection.wait(ticket.key(), M::NAME, &mut |_| {})?;
        let result = ticket.decode_mut(&mut reply);
        result.map_err(|error| self.connection.error(error))
    }

    /// Cancels the requests and subscriptions whose handles the program has dropped. Called before each request and each wait.
    #[inline]
    pub(crate) fn cancel_dropped(&mut self) {
        if self.connection.expects_replies() || self.connection.io.engine.session().subscriptions() > 0 {
            self.cancel_all_dropped();
        }
    }

    fn cancel_all_dropped(&mut self) {
        let now = self.connection.now();
        for handle in self.dropped.take() {
            match handle {
                DroppedHandle::Request(key) => self.connection.cancel(key, "no longer needed"),
                DroppedHandle::Subscription(key) => {
                    self.connection.io.engine.calls().unsubscribe(key, now);
                }
            }
        }
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("definition", &self.definition())
            .field("phase", &self.connection.io.engine.session().phase())
            .field("server", &self.server_info())
            .field("tools", &self.tools().len())
            .finish_non_exhaustive()
    }
}
