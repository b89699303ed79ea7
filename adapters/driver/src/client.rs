//! [`McpClient`]: a server, as a program uses it.

use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::sync::Arc;

use mcpwire_client::{ConnectionEnd, Error, InvalidMessages, McpServerDef, ShutdownReport};
use mcpwire_client::{ReadStream, WriteStream};
use mcpwire_core::internal::OpeningOutcome;
use mcpwire_core::{CallError, ProtocolVersion, ServerCapabilities, ServerInfo, Stats};

use crate::connect;
use crate::notifications::{Events, Notifications};
use crate::options::ConnectOptions;
use crate::runtime::{CurrentRuntime, Runtime, Streams};
use crate::shared::{Lives, RestartAttempt};
use crate::state::Opened;
use crate::tools::Boxed;

/// A connection to one server, on the runtime `R`. Cheap to clone, and for any number of tasks at once.
///
/// When the last clone is dropped, the server and all that it started are ended at once, with no runtime needed;
/// [`McpClient::shutdown`] does it politely.
pub struct McpClient<R> {
    pub(crate) life: Lives,
    runtime: PhantomData<fn() -> R>,
}

impl<R: CurrentRuntime> McpClient<R> {
    /// Starts a server. [`McpClient::initialize`] opens the connection. A server that is reached by HTTP gets no request yet.
    ///
    /// The function does not wait, so it is not `async`. The connection belongs to the runtime in which it is called; all other
    /// methods may be called anywhere.
    pub fn connect(def: &McpServerDef) -> Result<Self, Error> {
        Self::connect_with(def, ConnectOptions::default())
    }

    /// Starts a server with options.
    pub fn connect_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Error> {
        Self::connect_on(R::current(), def, options)
    }

    /// Connects over any pair of streams, such as a socket, a pipe, or streams of a test.
    pub fn over(
        reader: impl ReadStream + Send + 'static,
        writer: impl WriteStream + Send + 'static,
        options: ConnectOptions,
    ) -> Self {
        Self::over_on(R::current(), reader, writer, options)
    }

    /// Starts a server, opens the connection and lists the server's tools.
    ///
    /// A server without tools is no error: [`McpClient::tools`] is empty then.
    pub async fn connect_and_initialize(def: &McpServerDef) -> Result<Self, Error> {
        Self::opened(def, ConnectOptions::default()).await
    }

    /// Starts a server with options, opens the connection and lists the server's tools.
    pub async fn connect_and_initialize_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Error> {
        Self::opened(def, options).await
    }

    /// Boxed, and in a function of its own: what is awaited is compiled into whatever awaits it, and this is much.
    fn opened(def: &McpServerDef, options: ConnectOptions) -> Boxed<'_, Result<Self, Error>> {
        Box::pin(async move {
            let client = Self::connect_with(def, options)?;
            if OpeningOutcome::lists_tools(client.initialize().await?) {
                client.list_tools().await?;
            }
            Ok(client)
        })
    }

    /// Runs `f` with a client of a server that is started before and ended after it, however it ends.
    pub async fn with<T>(def: &McpServerDef, f: impl AsyncFnOnce(&Self) -> T) -> Result<T, Error> {
        let client = Self::connect_and_initialize(def).await?;
        let value = f(&client).await;
        client.shutdown().await?;
        Ok(value)
    }
}

impl<R> McpClient<R> {
    /// Starts a server with options, on this runtime. May be called outside of it.
    pub fn connect_on(runtime: Arc<dyn Runtime>, def: &McpServerDef, options: ConnectOptions) -> Result<Self, Error> {
        Ok(McpClient { life: connect::connect(runtime, def, options)?, runtime: PhantomData })
    }

    /// Connects over any pair of streams, on this runtime. May be called outside of it.
    pub fn over_on(
        runtime: Arc<dyn Runtime>,
        reader: impl ReadStream + Send + 'static,
        writer: impl WriteStream + Send + 'static,
        options: ConnectOptions,
    ) -> Self {
        let life = connect::connect_streams(runtime, None, Streams::new(reader, writer), options);
        McpClient { life, runtime: PhantomData }
    }

    /// Opens the connection: finds out which era the server speaks, and who it is.
    ///
    /// A server that ends when it is asked for its era is started once more and spoken to as a legacy one. Any number of
    /// tasks may wait for the same opening, and one that gave up may come back; once somebody has been told that the
    /// connection is open, a further call is an error ([`SendError::AlreadyInitialized`](mcpwire_core::SendError)).
    pub async fn initialize(&self) -> Result<&ServerInfo, Error> {
        let shared = self.life.shared();
        let begun = shared.clock.now();
        shared.send(|state| state.begin_opening(begun))?;
        // Until now it was not read what the server says.
        shared.wake_driver();
        loop {
            if let Some(server) = shared.server.get() {
                shared.lock().opening.told = true;
                return Ok(server);
            }
            let error = match poll_fn(|cx| shared.poll_opened(cx)).await {
                Opened::Connected => continue,
                Opened::Restart => {
                    let _others = RestartAttempt(shared);
                    connect::restart(shared, begun)?;
                    continue;
                }
                Opened::Closed(how) => how.into_opening_error(),
            };
            return Err(shared.connect_error(error));
        }
    }

    /// The same client, for whoever holds clients of several runtimes: all that one can do but start and open a connection.
    pub fn without_runtime(&self) -> McpClient<()> {
        McpClient { life: self.life.clone(), runtime: PhantomData }
    }

    /// Returns the server's notifications from now on.
    #[doc(alias = "notifications/message")]
    pub fn notifications(&self) -> Notifications {
        Notifications::new(&mut self.life.shared().lock())
    }

    /// Returns the events of the connection from now on: notifications, and what becomes of the connection.
    pub fn events(&self) -> Events {
        Events::new(&mut self.life.shared().lock())
    }

    /// Returns the description of the server, or `None` before [`McpClient::initialize`].
    pub fn server_info(&self) -> Option<&ServerInfo> {
        self.life.shared().server.get().map(|server| &**server)
    }

    /// Returns the capabilities that the server has declared.
    pub fn capabilities(&self) -> Option<&ServerCapabilities> {
        self.server_info()?.capabilities.as_ref()
    }

    /// Returns the negotiated protocol version.
    pub fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.server_info().map(|server| server.protocol_version)
    }

    /// Returns the definition from which the server was started, or `None` for a pair of streams.
    pub fn definition(&self) -> Option<&McpServerDef> {
        self.life.shared().context.definition.as_deref()
    }

    /// Returns whether the connection was opened.
    pub fn is_initialized(&self) -> bool {
        self.server_info().is_some()
    }

    /// Returns whether the server's process is running. For a pair of streams, returns whether the connection has not ended.
    pub fn is_running(&self) -> bool {
        self.life.shared().lock().is_running()
    }

    /// Returns the id of the server's process, or `None` if there is no process.
    pub fn pid(&self) -> Option<u32> {
        self.life.shared().lock().pid
    }

    /// Returns the last lines that the server wrote on standard error, without control characters, at most 64 KiB.
    pub fn stderr_tail(&self) -> String {
        self.life.shared().lock().stderr.shown()
    }

    /// Returns the number of requests that have no response yet.
    pub fn in_flight(&self) -> usize {
        self.life.shared().lock().engine.session().in_flight()
    }

    /// Returns counters of the messages that were ignored or refused.
    pub fn stats(&self) -> Stats {
        self.life.shared().lock().engine.session().stats()
    }

    /// Returns the messages of the server that could not be read: how many, and the beginnings of the last ones.
    pub fn invalid_messages(&self) -> InvalidMessages {
        self.life.shared().lock().record.invalid_messages.clone()
    }

    /// Waits until the connection has ended, and returns why.
    ///
    /// Returns at once if the connection has already ended. The future does not keep the connection alive: if the last client
    /// is dropped, the connection ends.
    pub fn closed(&self) -> impl Future<Output = ConnectionEnd> + Send + use<R> {
        let shared = Arc::clone(self.life.shared());
        async move { poll_fn(|cx| shared.poll_closed(cx)).await }
    }

    /// Returns why the connection has ended, or `None` if it is open.
    pub fn connection_end(&self) -> Option<ConnectionEnd> {
        self.life.shared().lock().connection_end()
    }

    /// Ends the server step by step: closes its input, waits, terminates its process group, waits, and kills what is left.
    ///
    /// This takes at most 5 s with the default [`GracePeriods`](mcpwire_core::shutdown::GracePeriods). Pending requests fail at
    /// once. The server ends for all clones of this client. The future may be dropped: the shutdown continues.
    ///
    /// # Errors
    /// If the process is still there after it was killed.
    pub fn shutdown(&self) -> impl Future<Output = Result<ShutdownReport, Error>> + Send + use<R> {
        let life = self.life.clone();
        life.shared().ask_for_end();
        async move {
            let report = poll_fn(|cx| life.shared().poll_ended(cx)).await;
            life.shared().context.shutdown_result(report)
        }
    }

    /// Kills the server and all processes that it started. Pending requests fail.
    ///
    /// The server ends for all clones of this client. This needs no runtime: it is what happens when the last clone is dropped.
    /// It does not wait, unless the runtime's tasks run only while the program waits for them, as those of tokio's
    /// current-thread runtime: then it waits until the server has exited, which takes a moment (500 ms at most).
    pub fn kill(&self) {
        self.life.shared().end_at_once();
    }

    /// The connection, for what is waited for.
    pub(crate) fn life(&self) -> &Lives {
        &self.life
    }

    pub(crate) fn call_error(&self, error: CallError) -> Error {
        self.life.shared().call_error(error)
    }
}

impl<R> Clone for McpClient<R> {
    fn clone(&self) -> Self {
        McpClient { life: self.life.clone(), runtime: PhantomData }
    }
}

impl<R> fmt::Debug for McpClient<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("definition", &self.definition())
            .field("server", &self.server_info())
            .finish_non_exhaustive()
    }
}
