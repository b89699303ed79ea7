//! How a connection comes to be: a server is started or reached, and the connection to it is opened.

use std::io::{self, Read, Write};
use std::sync::Arc;

use mcpwire_client::{ConnectionContext, ConnectionFacts, Error, McpServerDef, Stderr, Tracer, construct};
use mcpwire_core::internal::AnyEngine;
use mcpwire_core::{Config, ConnectError, ServerInfo, Timestamp, stdio};
use mcpwire_process::Process;

use super::McpClient;
use crate::connection::{Connection, Opened};
use crate::options::ConnectOptions;
use crate::subscription::Unwanted;
use crate::transport::{Clock, Threads, Transport};

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

    /// A connection over any pair of streams: a socket, a pipe, a test's. Two threads carry the bytes.
    ///
    /// The thread that reads holds the reader until its stream ends. Where both halves are one socket, keep a clone of it
    /// and shut it down after [`McpClient::shutdown`], or the other side does not learn of the end.
    pub fn over(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        options: ConnectOptions,
    ) -> Result<Self, Error> {
        let transport = Threads::start(reader, writer, None)
            .map_err(|error| construct::io(ConnectionContext::default().name(), error))?;
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
        let began = self.connection.now();
        let mut opened = self.open(began)?;
        if let (Opened::Restart, Some(def)) = (&opened, self.connection.context.definition.clone()) {
            let spent = self.connection.now().duration_since(began);
            let config = self.connection.engine.session().config().for_restart(spent);
            let mut successor = spawn(&def, config, self.connection.clock)?;
            self.connection.pass_on(&mut successor).map_err(|error| self.io_error(error))?;
            self.connection = successor;
            let now = self.connection.now();
            opened = self.open(now)?;
        }
        let error = match opened {
            Opened::Connected => None,
            Opened::Closed(how) => Some(how.into_opening_error()),
            Opened::Restart => Some(ConnectError::Closed),
        };
        if let Some(error) = error {
            let process = self.connection.process_report();
            return Err(construct::connect(self.connection.context.name(), error, process));
        }
        match self.connection.engine.session().server() {
            Some(server) => Ok(server),
            None => unreachable!("a connection that was opened has a server"),
        }
    }

    fn open(&mut self, now: Timestamp) -> Result<Opened, Error> {
        self.connection.engine.calls().initialize(now).map_err(|error| self.send_error(error))?;
        self.connection.open().map_err(|error| self.io_error(error))
    }

    #[cfg(feature = "http")]
    fn connect_http(def: &McpServerDef, mut options: ConnectOptions) -> Result<Self, Error> {
        let http = std::mem::take(&mut options.http);
        let settings = http.settings(def)?;
        let client = http
            .into_client(|| <mcpwire_smol::Smol as mcpwire_smol::Runtime>::http(def))
            .map_err(|error| construct::http(def.display_name(), error))?;
        let engine = AnyEngine::Http(Box::new(mcpwire_core::http::Engine::new(options.config.clone(), settings)));
        let transport = crate::transport::Web::new(client, options.trace.is_some());
        let connection = Connection::new(engine, Box::new(transport), None, Clock::start());
        Ok(Self::of(connection, Some(def.clone()), options))
    }

    #[cfg(not(feature = "http"))]
    fn connect_http(def: &McpServerDef, _: ConnectOptions) -> Result<Self, Error> {
        Err(construct::http(def.display_name(), mcpwire_client::HttpSetupError::Missing))
    }

    fn of(mut connection: Connection, definition: Option<McpServerDef>, options: ConnectOptions) -> Self {
        let ConnectOptions { grace_periods, stderr, trace, trace_context, answers, on_event, panics, .. } = options;
        connection.stderr = Stderr::new(stderr.map(|follower| panics.guard_follower(follower)));
        connection.tracer = trace.map(|watcher| Tracer::new(panics.guard_watcher(watcher)));
        connection.listener = on_event;
        connection.answers = answers;
        let definition = definition.map(Arc::new);
        connection.context = ConnectionContext { definition, grace_periods, trace_context, panics };
        McpClient { connection, unwanted: Unwanted::default() }
    }
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

fn spawn(def: &McpServerDef, config: Config, clock: Clock) -> Result<Connection, Error> {
    let server = def.display_name();
    let (process, pipes) = Process::spawn(def).map_err(|error| construct::spawn(server, error))?;
    let transport = transport(pipes).map_err(|error| construct::io(server, error))?;
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
