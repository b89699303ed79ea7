//! [`McpClient`]: a server, as a program uses it. Here it sends requests, waits for them, and says what it is connected to.

mod opening;
mod tools;

use std::fmt;
use std::io;
use std::time::Duration;

use mcpwire_client::{ConnectionContext, ConnectionFacts, Error, McpServerDef, ShutdownReport, construct};
use mcpwire_core::internal::{AnyEngine, RequestError};
use mcpwire_core::{
    CallError, Json, Method, Notification, Params, ProtocolVersion, Reply, RequestKey, RequestOptions, Root,
    RootsListChanged, SendError, ServerCapabilities, ServerInfo, Ticket, Timestamp,
};

use crate::cancel::Canceller;
use crate::connection::Connection;
use crate::subscription::Unwanted;
pub use opening::with_client;

/// A connection to one server. The thread that calls it does all the work: there is no runtime, and on Unix no other
/// thread. (By HTTP, the requests are made by a thread in the background.)
///
/// When it is dropped, the server and all that it started are ended at once; [`McpClient::shutdown`] does it politely. By HTTP,
/// what is under way is given up, and a session is ended on the server without waiting for that.
///
/// ```no_run
/// use mcpwire_blocking::{McpClient, McpServerDef};
///
/// let def = McpServerDef::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]);
/// let mut client = McpClient::connect_and_initialize(&def)?;
/// for tool in client.tools() {
///     println!("{}", tool.name);
/// }
/// let result = client.call_tool("echo", [("message", "hi")]).call()?;
/// println!("{}", result.text());
/// client.shutdown()?;
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
pub struct McpClient {
    pub(crate) connection: Connection,
    /// Subscriptions whose handles have gone.
    pub(crate) unwanted: Unwanted,
}

impl McpClient {
    /// Sends a request of a typed method and waits for its result.
    pub fn request<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
    ) -> Result<M::Result, Error> {
        let ticket = self.begin_to_wait(params, options)?;
        self.wait(ticket)
    }

    /// Sends a request of a typed method without waiting. Any number may be under way; [`McpClient::wait`] takes their
    /// results in any order.
    pub fn begin<M: Method>(&mut self, params: &impl Params<M>, options: &RequestOptions) -> Result<Ticket<M>, Error> {
        let ticket = self.begin_to_wait(params, options);
        // Nobody knows when it is waited for.
        self.connection.wait_knows(None);
        ticket
    }

    /// Like [`McpClient::begin`], for a request that is waited for at once.
    pub(crate) fn begin_to_wait<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
    ) -> Result<Ticket<M>, Error> {
        self.unsubscribe_unwanted();
        if self.connection.engine.session().keeps_answers_to::<M>() {
            // That they do not hold any more may have been told and not been heard yet.
            self.connection.catch_up();
        }
        let options = &*self.connection.context.traced(options);
        let now = self.connection.now();
        let ticket =
            self.connection.engine.calls().request(params, options, now).map_err(|error| self.send_error(error))?;
        self.connection.wait_knows(Some(now));
        Ok(ticket)
    }

    /// Waits for the result of a request.
    pub fn wait<M: Method>(&mut self, ticket: Ticket<M>) -> Result<M::Result, Error> {
        self.wait_with(ticket, &mut |_| {})
    }

    /// Gives up a request that was begun. The server is told.
    pub fn cancel<M: Method>(&mut self, ticket: Ticket<M>) {
        self.connection.cancel(ticket.key());
    }

    /// Sends a request of any method, and gives its result as the server sent it.
    #[doc(alias = "send_raw")]
    pub fn request_raw(&mut self, method: &str, params: Option<&Json>) -> Result<Json, Error> {
        let now = self.connection.now();
        let options = RequestOptions::new();
        let options = self.connection.context.traced(&options);
        let ticket = self.connection.engine.calls().request_raw(method, params, &options, now);
        let ticket = ticket.map_err(|error| self.send_error(error))?;
        self.wait(ticket)
    }

    /// Sends a notification of any method.
    #[doc(alias = "send_notification")]
    pub fn notify_raw(&mut self, method: &str, params: Option<&Json>) -> Result<(), Error> {
        let now = self.connection.now();
        self.connection.engine.calls().notify_raw(method, params, now).map_err(|error| self.send_error(error))?;
        self.connection.flush();
        Ok(())
    }

    /// Changes the roots. A legacy server that was told that there are some (by
    /// [`ConnectOptions::roots`](crate::ConnectOptions::roots)) is told that they have changed.
    pub fn set_roots(&mut self, roots: impl IntoIterator<Item = Root>) -> Result<(), Error> {
        self.connection.answers.roots = Some(roots.into_iter().collect());
        if self.connection.engine.session().declares_roots_list_changed() {
            let now = self.connection.now();
            self.connection
                .engine
                .calls()
                .notify::<RootsListChanged>(&(), now)
                .map_err(|error| self.send_error(error))?;
            self.connection.flush();
        }
        Ok(())
    }

    /// Takes in what the server tells unasked, for `duration`. While no call waits, nothing is read, and a server that has
    /// much to tell has to wait.
    pub fn listen(&mut self, duration: Duration) -> Result<(), Error> {
        self.unsubscribe_unwanted();
        let until = self.connection.now() + duration;
        self.connection.listen(until).map_err(|error| self.io_error(error))
    }

    /// To whom the connection is open; `None` before [`McpClient::initialize`].
    pub fn server_info(&self) -> Option<&ServerInfo> {
        self.connection.engine.session().server()
    }

    /// What the server says it can do; `None` if it said nothing about it.
    pub fn capabilities(&self) -> Option<&ServerCapabilities> {
        self.server_info()?.capabilities.as_ref()
    }

    /// The version that is spoken.
    pub fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.server_info().map(|server| server.protocol_version)
    }

    /// How the server was started; `None` for a pair of streams.
    pub fn definition(&self) -> Option<&McpServerDef> {
        self.connection.context.definition.as_deref()
    }

    /// Whether the connection was opened.
    pub fn is_initialized(&self) -> bool {
        self.server_info().is_some()
    }

    /// Whether the server's process lives; for a pair of streams, whether the connection has not ended.
    pub fn is_running(&mut self) -> bool {
        self.connection.is_running()
    }

    /// The id of the server's process; `None` for a pair of streams.
    pub fn pid(&self) -> Option<u32> {
        self.connection.pid()
    }

    /// The last lines that the server wrote on standard error: bounded, and fit for a terminal. All that is kept is 64 KiB.
    pub fn stderr_tail(&mut self) -> String {
        self.connection.catch_up();
        self.connection.stderr.tail()
    }

    /// What ends a wait from another thread.
    ///
    /// # Errors
    /// If the system has no pipe left to give.
    pub fn canceller(&mut self) -> Result<Canceller, Error> {
        self.connection.canceller().map_err(|error| self.io_error(error))
    }

    /// The engine, for what this client has no method for.
    pub fn engine(&self) -> &AnyEngine {
        &self.connection.engine
    }

    /// Ends the server: closes its input, waits, asks its group to end, waits, and kills what is left. Takes 5 s at most
    /// with the default [`GracePeriods`](mcpwire_core::shutdown::GracePeriods). By HTTP, ends the session on the server, if there is one; that takes no longer than
    /// [`GracePeriods::after_close`](mcpwire_core::shutdown::GracePeriods::after_close).
    pub fn shutdown(mut self) -> Result<ShutdownReport, Error> {
        Ok(self.connection.shut_down())
    }

    pub(crate) fn wait_with<M: Method>(
        &mut self,
        ticket: Ticket<M>,
        on_report: &mut dyn FnMut(&Notification),
    ) -> Result<M::Result, Error> {
        match self.connection.wait(ticket.key(), on_report) {
            Ok(Some(mut reply)) => {
                let result = ticket.decode_mut(&mut reply);
                self.connection.engine.recycle(reply);
                result.map_err(|error| self.call_error(error))
            }
            Ok(None) => Err(self.call_error(CallError::WrongTicket { method: M::NAME.into() })),
            Err(error) => Err(self.io_error(error)),
        }
    }

    /// Waits for the reply to a request that one of the core's machines has sent.
    pub(crate) fn reply(
        &mut self,
        key: RequestKey,
        now: Timestamp,
        on_report: &mut dyn FnMut(&Notification),
    ) -> Result<Reply, Error> {
        self.connection.wait_knows(Some(now));
        match self.connection.wait(key, on_report) {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(self.call_error(CallError::WrongTicket { method: "a request".into() })),
            Err(error) => Err(self.io_error(error)),
        }
    }

    /// Runs `f` with the context of the connection and what an error says about the connection.
    fn with_context<T>(&mut self, f: impl FnOnce(&ConnectionContext, &mut dyn ConnectionFacts) -> T) -> T {
        let context = std::mem::take(&mut self.connection.context);
        let value = f(&context, &mut self.connection);
        self.connection.context = context;
        value
    }

    #[cold]
    pub(crate) fn request_error(&mut self, error: RequestError) -> Error {
        self.with_context(|context, facts| context.request_error(error, facts))
    }

    #[cold]
    pub(crate) fn call_error(&mut self, error: CallError) -> Error {
        self.with_context(|context, facts| context.call_error(error, facts))
    }

    #[cold]
    pub(crate) fn send_error(&mut self, error: SendError) -> Error {
        self.with_context(|context, facts| context.send_error(error, facts))
    }

    #[cold]
    pub(crate) fn io_error(&self, error: io::Error) -> Error {
        construct::io(self.connection.context.name(), error)
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("definition", &self.definition())
            .field("phase", &self.connection.engine.session().phase())
            .field("server", &self.server_info())
            .field("tools", &self.tools().len())
            .finish_non_exhaustive()
    }
}
