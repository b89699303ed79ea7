//! The constructors of [`McpClient`], which start a server or connect to it, and [`McpClient::initialize`], which opens the
//! connection.

use std::io::{Read, Write};
use std::mem;
use std::sync::Arc;

use mcpwire_client::{Clock, ConnectOptions, Error, Launcher, McpServerDef, OptionParts, Transport as TransportKind};
use mcpwire_core::internal::{AnyEngine, OpeningOutcome};
use mcpwire_core::{ServerInfo, stdio};
use mcpwire_process::{EndOfStream, Process, RunningServer};

use super::McpClient;
use crate::connection::Connection;
use crate::pending_replies::DroppedHandles;
use crate::transport::{self, Threads, Transport, launched};

impl McpClient {
    /// Starts a server without opening the connection. Over HTTP, this sends nothing.
    ///
    /// Then call [`McpClient::initialize`] to open the connection. [`open`](crate::open()) does all steps in one call.
    ///
    /// # Errors
    /// If the server's process cannot be started, or the definition is invalid.
    pub fn connect(def: &McpServerDef) -> Result<Self, Error> {
        Self::connect_with(def, ConnectOptions::default())
    }

    /// Starts a server with options, without opening the connection.
    ///
    /// Then call [`McpClient::initialize`] to open the connection, and [`McpClient::list_tools`] to list the tools.
    ///
    /// # Errors
    /// If the server's process cannot be started, or the definition or an option is invalid.
    pub fn connect_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Error> {
        let (definition, clock) = (Some(Arc::new(def.clone())), Clock::system());
        if def.url.is_some() {
            return Self::connect_http(def, options.into_parts(definition, TransportKind::Http, clock));
        }
        let mut options = options.into_parts(definition, TransportKind::Stdio, clock);
        let (process, transport) = start_server(def, options.context.launcher.as_deref())?;
        let engine = AnyEngine::Stream(stdio::Engine::new(mem::take(&mut options.config)));
        Ok(Self::new(Connection::new(engine, transport, Some(process), options)))
    }

    /// Creates a client over a pair of streams, such as the halves of a socket.
    ///
    /// The streams carry one message per line. [`ConnectOptions::name`] sets the name of the server in errors. The server may be
    /// a thread of this program: [`std::io::pipe`] creates streams for that.
    ///
    /// An error of a stream ends the connection. Pending calls fail with the text of the error.
    ///
    /// The client starts two threads: one reads, and one writes. The reading thread owns the reader until the end of the stream.
    /// If both streams are one socket, keep a clone of the socket, and shut it down after [`McpClient::shutdown`]. Otherwise, the
    /// server does not see the end of the stream.
    #[doc(alias = "from_stream")]
    pub fn over(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        options: ConnectOptions,
    ) -> Result<Self, Error> {
        let mut options = options.into_parts(None, TransportKind::Stream, Clock::system());
        let transport = Threads::start(reader, writer, None, EndOfStream::of_streams())
            .map_err(|error| Error::new(&options.context.name, error))?;
        let engine = AnyEngine::Stream(stdio::Engine::new(mem::take(&mut options.config)));
        Ok(Self::new(Connection::new(engine, Box::new(transport), None, options)))
    }

    /// Starts a server, opens the connection and lists the server's tools.
    ///
    /// A server without tools is not an error: [`McpClient::tools`] returns an empty list. [`open`](crate::open()) does the same,
    /// with options as methods.
    ///
    /// # Errors
    /// If the server cannot be started or reached, if it has no protocol version in common with the client, or if one of the
    /// requests fails.
    pub fn connect_and_initialize(def: &McpServerDef) -> Result<Self, Error> {
        Self::connect_and_initialize_with(def, ConnectOptions::default())
    }

    /// Starts a server with options, opens the connection and lists the server's tools.
    ///
    /// # Errors
    /// If the server cannot be started or reached, if it has no protocol version in common with the client, or if one of the
    /// requests fails.
    pub fn connect_and_initialize_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Error> {
        let mut client = Self::connect_with(def, options)?;
        if OpeningOutcome::lists_tools(client.initialize()?) {
            client.list_tools()?;
        }
        Ok(client)
    }

    /// Opens the connection: negotiates the protocol version, and requests the server's info and capabilities.
    ///
    /// Some legacy servers exit when they receive `server/discover`. The client restarts such a server, and opens the connection
    /// with `initialize`. This method does not list the tools: see [`McpClient::list_tools`].
    ///
    /// # Errors
    /// If the server exits, does not answer in time, refuses the connection, or has no protocol version in common with the
    /// client.
    #[doc(alias = "server/discover")]
    pub fn initialize(&mut self) -> Result<&ServerInfo, Error> {
        let start = self.connection.now();
        let mut outcome = self.connection.open(start)?;
        if let (OpeningOutcome::Restart, Some(def)) = (&outcome, self.connection.io.context.definition.clone()) {
            let spent = self.connection.now().duration_since(start);
            let engine =
                AnyEngine::Stream(stdio::Engine::new(self.connection.io.engine.session().config().for_restart(spent)));
            let (process, transport) = start_server(&def, self.connection.io.context.launcher.as_deref())?;
            let restarted = self.connection.restart(engine, transport, process);
            restarted.map_err(|error| self.connection.io_error(error))?;
            let now = self.connection.now();
            outcome = self.connection.open(now)?;
        }
        if let Some(error) = outcome.into_error() {
            let process = self.connection.process_report();
            let invalid = &self.connection.io.state.invalid_messages;
            return Err(Error::new(&self.connection.io.context.name, error)
                .with_invalid_messages(invalid)
                .with_process(process));
        }
        match self.connection.io.engine.session().server() {
            Some(server) => Ok(server),
            None => unreachable!("an open connection has server info"),
        }
    }

    #[cfg(feature = "http")]
    fn connect_http(def: &McpServerDef, mut options: OptionParts) -> Result<Self, Error> {
        let settings = options.http.settings(def, &options.config.client_info)?;
        let client = options.http_client(def, || mcpwire_smol::Runtime::http_client(&mcpwire_smol::Smol, def))?;
        let config = mem::take(&mut options.config);
        let engine = AnyEngine::Http(Box::new(mcpwire_core::http::Engine::new(config, settings)));
        let transport = transport::Web::new(client, options.trace.is_some());
        Ok(Self::new(Connection::new(engine, Box::new(transport), None, options)))
    }

    #[cfg(not(feature = "http"))]
    fn connect_http(def: &McpServerDef, _: OptionParts) -> Result<Self, Error> {
        Err(Error::new(def.display_name(), mcpwire_client::HttpSetupError::Missing))
    }

    fn new(connection: Connection) -> Self {
        McpClient { connection, dropped: DroppedHandles::default() }
    }
}

/// Starts a server, opens the connection, runs `f` with the client, and ends the server. Returns the value of `f`.
///
/// ```no_run
/// # mod mcpwire { pub use mcpwire_blocking::McpServerDef; pub mod blocking { pub use mcpwire_blocking::with_client; } }
/// use mcpwire::McpServerDef;
/// use mcpwire::blocking::with_client;
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

/// Starts the process of a server, or lets the program's launcher start it, and connects a transport to its pipes.
fn start_server(def: &McpServerDef, launcher: Option<&dyn Launcher>) -> Result<(Process, Box<dyn Transport>), Error> {
    let server = def.display_name();
    let (process, transport) = match RunningServer::start(def, launcher).map_err(|error| Error::new(server, error))? {
        RunningServer::Local(process, pipes) => {
            let transport = transport::start(pipes, &process);
            (process, transport)
        }
        RunningServer::Launched(remote) => {
            let (threads, control) = launched::start(*remote).map_err(|error| Error::new(server, error))?;
            (Process::launched(control), Ok(Box::new(threads) as Box<dyn Transport>))
        }
    };
    Ok((process, transport.map_err(|error| Error::new(server, error))?))
}
