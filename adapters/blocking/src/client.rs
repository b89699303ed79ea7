//! [`McpClient`]: a server, as a program uses it.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::shutdown::Patience;
use mcpwire_core::{
    AnyEngine, CallError, CallToolResult, Config, ConnectError, Json, KnownTools, ListTools, Method, Notification,
    PagesTime, Params, ProtocolVersion, Rejected, RequestOptions, Root, RootsListChanged, Searched, SendError,
    ServerCapabilities, ServerInfo, Ticket, Tool, ToolList, ToolSearch, stdio,
};
use mcpwire_process::{Error, McpServerDef, Process, ShutdownReport, Stderr, Tracer};
use serde::Serialize;

use crate::call::Call;
use crate::cancel::Canceller;
use crate::connection::{Connection, Opened};
use crate::options::ConnectOptions;
use crate::subscription::Unwanted;
use crate::transport::{Clock, Threads, Transport};

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
/// let result = client.call_tool("echo", [("message", "hi")].into_iter().collect::<std::collections::BTreeMap<_, _>>())?;
/// println!("{}", result.text());
/// client.shutdown()?;
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
pub struct McpClient {
    pub(crate) connection: Connection,
    /// How the server is started; `None` for a pair of streams.
    definition: Option<McpServerDef>,
    patience: Patience,
    tools: KnownTools,
    /// Subscriptions whose handles have gone.
    pub(crate) unwanted: Unwanted,
}

impl McpClient {
    /// Starts a server, and no more: [`McpClient::initialize`] opens the connection. Of one that is spoken to by HTTP, nothing is
    /// asked yet.
    pub fn connect(def: &McpServerDef) -> Result<Self, Error> {
        Self::connect_with(def, ConnectOptions::default())
    }

    /// Starts a server with options.
    pub fn connect_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Error> {
        let mut options = options;
        options.config = def.configure(options.config);
        if def.url.is_some() {
            return Self::connect_http(def, options);
        }
        let connection = spawn(def, options.config.clone(), Clock::start())?;
        Ok(Self::of(connection, Some(def.clone()), options))
    }

    #[cfg(feature = "http")]
    fn connect_http(def: &McpServerDef, mut options: ConnectOptions) -> Result<Self, Error> {
        let http = std::mem::take(&mut options.http);
        let settings = http.settings(def)?;
        let client = http
            .into_client(|| <mcpwire_smol::Smol as mcpwire_driver::Runtime>::http(def))
            .map_err(|error| Error::Http { server: def.display_name().into(), error })?;
        let engine = AnyEngine::Http(Box::new(mcpwire_core::http::Engine::new(options.config.clone(), settings)));
        let transport = crate::transport::Web::new(client, options.trace.is_some());
        let connection = Connection::new(engine, Box::new(transport), None, Clock::start());
        Ok(Self::of(connection, Some(def.clone()), options))
    }

    #[cfg(not(feature = "http"))]
    fn connect_http(def: &McpServerDef, _: ConnectOptions) -> Result<Self, Error> {
        Err(Error::Http { server: def.display_name().into(), error: mcpwire_process::HttpSetupError::Missing })
    }

    fn of(mut connection: Connection, definition: Option<McpServerDef>, options: ConnectOptions) -> Self {
        let ConnectOptions { patience, stderr, trace, trace_context, answers, on_event, .. } = options;
        connection.stderr = Stderr::new(stderr);
        connection.tracer = trace.map(Tracer::new);
        connection.listener = on_event;
        connection.answers = answers;
        connection.trace_context = trace_context;
        McpClient { connection, definition, patience, tools: KnownTools::default(), unwanted: Unwanted::default() }
    }

    /// A connection over any pair of streams: a socket, a pipe, a test's. Two threads carry the bytes.
    ///
    /// The thread that reads holds the reader until its stream ends. Where both halves are one socket, keep a clone of it
    /// and shut it down after [`McpClient::shutdown`], or the other side does not learn of the end.
    pub fn over(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        options: ConnectOptions,
    ) -> Result<Self, Error> {
        let transport =
            Threads::start(reader, writer, None).map_err(|error| Error::Io { server: STREAM.into(), error })?;
        let engine = AnyEngine::Stream(stdio::Engine::new(options.config.clone()));
        let connection = Connection::new(engine, Box::new(transport), None, Clock::start());
        Ok(Self::of(connection, None, options))
    }

    /// Starts a server, opens the connection and lists the tools.
    ///
    /// A server without tools is no error: [`McpClient::tools`] is empty then.
    pub fn connect_and_initialize(def: &McpServerDef) -> Result<Self, Error> {
        let mut client = Self::connect(def)?;
        client.initialize()?;
        if client.capabilities().is_none_or(|capabilities| capabilities.tools.is_some()) {
            client.list_tools()?;
        }
        Ok(client)
    }

    /// Opens the connection: finds out which era the server speaks, and who it is.
    ///
    /// A server that ends when it is asked for its era is started once more and spoken to as a legacy one.
    pub fn initialize(&mut self) -> Result<&ServerInfo, Error> {
        let now = self.connection.now();
        self.connection.engine.initialize(now).map_err(|error| self.send_error(error))?;
        let mut opened = self.open()?;
        if let (Opened::Restart, Some(def)) = (&opened, self.definition.clone()) {
            let spent = self.connection.now().duration_since(now);
            let config = self.connection.engine.config().for_restart(spent);
            let mut successor = spawn(&def, config, self.connection.clock)?;
            self.connection.pass_on(&mut successor).map_err(|error| self.io_error(error))?;
            self.connection = successor;
            let now = self.connection.now();
            self.connection.engine.initialize(now).map_err(|error| self.send_error(error))?;
            opened = self.open()?;
        }
        let error = match opened {
            Opened::Connected => None,
            Opened::Closed(how) => Some(how.before_open()),
            Opened::Restart => Some(ConnectError::Closed),
        };
        if let Some(error) = error {
            let process = self.connection.report();
            return Err(Error::Connect { server: self.name().into(), error, process });
        }
        match self.connection.engine.server() {
            Some(server) => Ok(server),
            None => unreachable!("a connection that was opened has a server"),
        }
    }

    /// Lists the server's tools, all pages, and keeps the list. Entries that are no tools are left out and told by
    /// [`McpClient::rejected_tools`].
    ///
    /// A modern server may have said that its list holds for a while: it is not asked again before that has passed, or it has
    /// told of a change. [`McpClient::list_all_with`] and [`RequestOptions::fresh`](mcpwire_core::RequestOptions::fresh) ask
    /// all the same; [`Config::cache`](mcpwire_core::Config::cache) says how much is kept.
    pub fn list_tools(&mut self) -> Result<&[Tool], Error> {
        // A change that was told before the first answer is in the answer.
        let tools =
            self.list_pages::<ListTools>(&RequestOptions::new(), |client| client.connection.tools_changed = false)?;
        let mut list = ToolList::default();
        list.replace(tools);
        self.tools.replace(Arc::new(list));
        // Lists are larger than most answers, and what comes next may be long in coming.
        self.connection.engine.shrink();
        Ok(self.tools())
    }

    /// The tools, as they were last listed. No request is sent.
    pub fn tools(&self) -> &[Tool] {
        &self.tools.list().listed().items
    }

    /// What was left out of that list, and why.
    pub fn rejected_tools(&self) -> &[Rejected] {
        &self.tools.list().listed().rejected
    }

    /// Whether that list has a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.get_tool(name).is_some()
    }

    /// The tool of this name in that list.
    pub fn get_tool(&self, name: &str) -> Option<&Tool> {
        self.tools.list().get(name)
    }

    /// Calls a tool. That the tool failed ([`CallToolResult::is_error`]) is a result like any other.
    ///
    /// A name that the list of tools does not have is an error without a request, as long as the list holds.
    pub fn call_tool(&mut self, name: &str, arguments: impl Serialize) -> Result<CallToolResult, Error> {
        self.tool(name, arguments).call()
    }

    /// Calls a tool that may take longer, or is not to take as long, as others.
    pub fn call_tool_with_timeout(
        &mut self,
        name: &str,
        arguments: impl Serialize,
        timeout: Duration,
    ) -> Result<CallToolResult, Error> {
        self.tool(name, arguments).timeout(timeout).call()
    }

    /// A call of a tool with options of its own: ends in [`Call::call`] or [`Call::raw`].
    pub fn tool<'c, A: Serialize>(&'c mut self, name: &'c str, arguments: A) -> Call<'c, A> {
        Call::new(self, name, arguments)
    }

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
        if self.connection.engine.keeps_answers_to::<M>() {
            // That they do not hold any more may have been told and not been heard yet.
            self.connection.catch_up();
        }
        let options = &*self.connection.traced(options);
        let now = self.connection.now();
        let ticket = self.connection.engine.request(params, options, now).map_err(|error| self.send_error(error))?;
        self.connection.wait_knows(Some(now));
        Ok(ticket)
    }

    /// Waits for the result of a request.
    pub fn wait<M: Method>(&mut self, ticket: Ticket<M>) -> Result<M::Result, Error> {
        self.wait_with(ticket, &mut |_| {})
    }

    /// Gives up a request that was begun. The server is told.
    pub fn cancel<M: Method>(&mut self, ticket: Ticket<M>) {
        self.connection.engine.cancel(ticket.key(), None);
        // Its reply is of no interest any more.
        let _ = self.connection.wait(ticket.key(), &mut |_| {});
        self.connection.flush();
    }

    /// Sends a request of any method, and gives its result as the server sent it.
    pub fn send_raw(&mut self, method: &str, params: Option<&Json>) -> Result<Json, Error> {
        let now = self.connection.now();
        let options = RequestOptions::new();
        let options = self.connection.traced(&options);
        let ticket = self.connection.engine.request_raw(method, params, &options, now);
        let ticket = ticket.map_err(|error| self.send_error(error))?;
        self.wait(ticket)
    }

    /// Sends a notification of any method.
    pub fn send_notification(&mut self, method: &str, params: Option<&Json>) -> Result<(), Error> {
        self.connection.engine.notify_raw(method, params).map_err(|error| self.send_error(error))?;
        self.connection.flush();
        Ok(())
    }

    /// Changes the roots. A legacy server that was told that there are some (by [`ConnectOptions::roots`]) is told that they
    /// have changed.
    pub fn set_roots(&mut self, roots: impl IntoIterator<Item = Root>) -> Result<(), Error> {
        self.connection.answers.roots = Some(roots.into_iter().collect());
        if self.connection.engine.tells_roots_changes() {
            self.connection.engine.notify::<RootsListChanged>(&()).map_err(|error| self.send_error(error))?;
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
        self.connection.engine.server()
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
        self.definition.as_ref()
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
    /// with the default [`Patience`]. By HTTP, ends the session on the server, if there is one; that takes no longer than
    /// [`Patience::after_close`].
    pub fn shutdown(mut self) -> Result<ShutdownReport, Error> {
        Ok(self.connection.shut_down(self.patience))
    }

    /// Whether it is certain that the server does not have this tool.
    pub(crate) fn lacks(&mut self, tool: &str) -> bool {
        if self.known_tools().knows(tool) != Some(false) {
            return false;
        }
        // That the list has changed may have been told and not been heard yet; and of a server that has ended, that is told.
        self.connection.catch_up();
        self.is_running() && self.known_tools().knows(tool) == Some(false)
    }

    /// Settles in which mode a tool is called, where `options` say what the caller would like. The list of tools is asked for
    /// if it matters what it says.
    pub(crate) fn settle_task_mode(&mut self, tool: &str, options: &mut RequestOptions) -> Result<(), Error> {
        // A change that was told and not taken in yet counts.
        self.known_tools();
        if self.tools.must_look_before(tool, self.connection.engine.server(), options.task_mode()) {
            self.look_for(tool);
        }
        let engine = &self.connection.engine;
        let settled = self.tools.settle_task_mode(tool, engine.server(), engine.config(), options);
        settled.map_err(|error| self.send_error(error))
    }

    /// Looks for a tool in the server's list, and takes note of what it says, if it does.
    fn look_for(&mut self, tool: &str) {
        let connection = &mut self.connection;
        let time = PagesTime::begin(&RequestOptions::new(), connection.engine.config(), connection.now());
        let mut search = ToolSearch::new(tool);
        let found = loop {
            let now = connection.now();
            let options = RequestOptions::new().total_timeout(time.left(now));
            let options = &*connection.traced(&options);
            let Ok(key) = connection.engine.send_prepared(&search.request(), options, now) else { return };
            let Ok(Some(reply)) = connection.wait(key, &mut |_| {}) else { return };
            match search.look_at(&reply) {
                Searched::Has(support) => break Some(support),
                Searched::Lacks => break None,
                Searched::AskForMore => {}
                _ => return,
            }
        };
        // What the list lacked before it changed, it may have now.
        if found.is_some() || !connection.tools_changed {
            self.tools.note(tool, found);
        }
    }

    fn known_tools(&mut self) -> &mut KnownTools {
        if std::mem::take(&mut self.connection.tools_changed) {
            self.tools.invalidate();
        }
        &mut self.tools
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

    /// What an error of a call of `tool` means, after a look at the list of tools if that is what it takes.
    pub(crate) fn explain(&mut self, tool: &str, error: CallError) -> Error {
        if self.known_tools().must_look_after(tool, &error) {
            // Without the list, the error stays what the server said.
            self.look_for(tool);
        }
        let error = self.known_tools().explain(tool, error);
        self.call_error(error)
    }

    pub(crate) fn call_error(&mut self, error: CallError) -> Error {
        let process = match &error {
            CallError::Closed { .. } => self.connection.report(),
            _ => None,
        };
        Error::Call { server: self.name().into(), error, process }
    }

    fn open(&mut self) -> Result<Opened, Error> {
        self.connection.open().map_err(|error| self.io_error(error))
    }

    pub(crate) fn send_error(&mut self, error: SendError) -> Error {
        let process = match &error {
            SendError::Closed => self.connection.report(),
            _ => None,
        };
        Error::Send { server: self.name().into(), error, process }
    }

    pub(crate) fn io_error(&self, error: io::Error) -> Error {
        Error::Io { server: self.name().into(), error }
    }

    fn name(&self) -> &str {
        self.definition.as_ref().map_or(STREAM, McpServerDef::display_name)
    }
}

/// What errors call the other end of a pair of streams.
const STREAM: &str = "stream";

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("definition", &self.definition)
            .field("phase", &self.connection.engine.phase())
            .field("server", &self.server_info())
            .field("tools", &self.tools().len())
            .finish_non_exhaustive()
    }
}

fn spawn(def: &McpServerDef, config: Config, clock: Clock) -> Result<Connection, Error> {
    let server = || def.display_name().to_owned();
    let (process, pipes) = Process::spawn(def).map_err(|error| Error::Spawn { server: server(), error })?;
    let transport = transport(pipes).map_err(|error| Error::Io { server: server(), error })?;
    let engine = AnyEngine::Stream(stdio::Engine::new(config));
    Ok(Connection::new(engine, transport, Some(process), clock))
}

#[cfg(unix)]
fn transport(pipes: mcpwire_process::Pipes) -> io::Result<Box<dyn Transport>> {
    Ok(Box::new(crate::transport::Pipes::new(pipes)?))
}

#[cfg(not(unix))]
fn transport(pipes: mcpwire_process::Pipes) -> io::Result<Box<dyn Transport>> {
    Ok(Box::new(Threads::start(pipes.stdout, pipes.stdin, Some(Box::new(pipes.stderr)))?))
}

/// Runs `f` with a client of a server that is started before and ended after it, however it ends.
///
/// ```no_run
/// use mcpwire_blocking::{McpServerDef, with_client};
///
/// let names: Vec<String> = with_client(&McpServerDef::new("my-server"), |client| {
///     client.tools().iter().map(|tool| tool.name.clone()).collect()
/// })?;
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
pub fn with_client<T>(def: &McpServerDef, f: impl FnOnce(&mut McpClient) -> T) -> Result<T, Error> {
    let mut client = McpClient::connect_and_initialize(def)?;
    let value = f(&mut client);
    client.shutdown()?;
    Ok(value)
}
