//! [`McpClient`]: a connection to one server.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use mcpwire_client::{ConnectOptions, ConnectionEnd, Error, InvalidMessages, McpServerDef, ShutdownReport};
use mcpwire_core::internal::OpeningOutcome;
use mcpwire_core::{ServerInfo, Stats};

use crate::connect;
use crate::connection::ConnectionRef;
use crate::locked_state::State;
use crate::notifications::{Events, Notifications};
use crate::opening::RestartAttempt;
use crate::runtime::{CurrentRuntime, Runtime, Streams};
use mcpwire_client::{ReadStream, WriteStream};

/// A connection to one server, on the runtime `R`. Clones are cheap, and any number of tasks can use the client concurrently.
///
/// Dropping the last clone kills the server and all processes that it started. A client can be dropped outside of a runtime. A
/// pending call counts as a clone. Use [`McpClient::shutdown`] to let the server exit by itself.
///
/// # Many calls at once
///
/// A call borrows neither the client nor the name of the tool nor the arguments. It can be spawned even if the name and the
/// arguments are borrowed:
///
/// ```
/// # use mcpwire_driver::{Error, McpClient};
/// # use mcpwire_driver::protocol::{CallToolResult, Json};
/// # struct JoinSet;
/// # impl JoinSet {
/// #     fn spawn(&mut self, _: impl Future<Output = Result<CallToolResult, Error>> + Send + 'static) {}
/// # }
/// # struct Chosen { name: String, arguments: Json }
/// # fn start<R: 'static>(client: &McpClient<R>, chosen: &[Chosen], set: &mut JoinSet) {
/// for tool in chosen {
///     set.spawn(client.call_tool(&tool.name, &tool.arguments).send());
/// }
/// # }
/// ```
///
/// [`Call::begin`](crate::Call::begin) sends a call at once. Without it, the first poll of the future sends the call.
///
/// # Cancellation
///
/// Dropping the future of a request cancels the request, and notifies the server. `select!`, `timeout`, aborted tasks, and
/// `CancellationToken::run_until_cancelled` of `tokio-util` cancel requests in this way.
/// [`Pending::cancel`](crate::Pending::cancel) also tells the server the reason.
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
pub struct McpClient<R> {
    pub(crate) connection: ConnectionRef,
    runtime: PhantomData<fn() -> R>,
}

impl<R: CurrentRuntime> McpClient<R> {
    /// Starts a server without opening the connection. Over HTTP, this sends nothing.
    ///
    /// Then call [`McpClient::initialize`] to open the connection. [`open`](crate::open()) does all steps in one call.
    ///
    /// Call this function inside the runtime that is to drive the connection. The methods of the client can be called anywhere.
    ///
    /// # Errors
    /// If the server's process cannot be started, or the definition is invalid.
    ///
    /// # Panics
    /// If this is called outside of a runtime, and `R` needs one, as tokio does.
    pub fn connect(def: &McpServerDef) -> Result<Self, Error> {
        Self::connect_with(def, ConnectOptions::default())
    }

    /// Starts a server with options, without opening the connection.
    ///
    /// Then call [`McpClient::initialize`] to open the connection, and [`McpClient::list_tools`] to list the tools.
    ///
    /// # Errors
    /// If the server's process cannot be started, or the definition or an option is invalid.
    ///
    /// # Panics
    /// If this is called outside of a runtime, and `R` needs one, as tokio does.
    pub fn connect_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Error> {
        Self::connect_on(R::current(), def, options)
    }

    /// Creates a client over a pair of streams, such as the halves of a socket.
    ///
    /// The streams carry one message per line. [`ConnectOptions::name`] sets the name of the server in errors.
    ///
    /// The server may be a task of this program. In-memory streams for that are `memory::duplex` (feature `futures-io`) and
    /// `tokio::io::duplex`.
    ///
    /// `reader` is polled by the task of the connection only. `writer` is also polled by the tasks that send requests, under a
    /// lock of the connection. It must not block or use the client.
    ///
    /// An error of a stream ends the connection. Pending calls fail with the text of the error.
    ///
    /// # Panics
    /// If this is called outside of a runtime, and `R` needs one, as tokio does.
    #[doc(alias = "from_stream")]
    pub fn over(
        reader: impl ReadStream + Send + 'static,
        writer: impl WriteStream + Send + 'static,
        options: ConnectOptions,
    ) -> Self {
        Self::over_on(R::current(), reader, writer, options)
    }

    /// Starts a server, opens the connection and lists the server's tools.
    ///
    /// A server without tools is not an error: [`McpClient::tools`] returns an empty list. [`open`](crate::open()) does the same,
    /// with options as methods.
    ///
    /// # Errors
    /// If the server cannot be started or reached, if it has no protocol version in common with the client, or if one of the
    /// requests fails.
    ///
    /// # Panics
    /// If this is called outside of a runtime, and `R` needs one, as tokio does.
    ///
    /// # Cancel safety
    /// Dropping the future before its end kills the server and all processes that it started.
    pub async fn connect_and_initialize(def: &McpServerDef) -> Result<Self, Error> {
        Self::connect_and_initialize_with(def, ConnectOptions::default()).await
    }

    /// Starts a server with options, opens the connection and lists the server's tools.
    ///
    /// # Errors
    /// If the server cannot be started or reached, if it has no protocol version in common with the client, or if one of the
    /// requests fails.
    ///
    /// # Panics
    /// If this is called outside of a runtime, and `R` needs one, as tokio does.
    ///
    /// # Cancel safety
    /// Dropping the future before its end kills the server and all processes that it started.
    pub async fn connect_and_initialize_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Error> {
        // The future is boxed, because it is large and would be part of each future that awaits it.
        Box::pin(async {
            let client = Self::connect_with(def, options)?;
            if OpeningOutcome::lists_tools(client.initialize().await?) {
                client.list_tools().await?;
            }
            Ok(client)
        })
        .await
    }
}

impl<R> McpClient<R> {
    /// Does the same as [`McpClient::connect_with`], on the given runtime. Can be called outside of the runtime.
    pub fn connect_on(runtime: Arc<dyn Runtime>, def: &McpServerDef, options: ConnectOptions) -> Result<Self, Error> {
        Ok(McpClient { connection: connect::connect(runtime, def, options)?, runtime: PhantomData })
    }

    /// Does the same as [`McpClient::over`], on the given runtime. Can be called outside of the runtime.
    pub fn over_on(
        runtime: Arc<dyn Runtime>,
        reader: impl ReadStream + Send + 'static,
        writer: impl WriteStream + Send + 'static,
        options: ConnectOptions,
    ) -> Self {
        let connection = connect::connect_streams(runtime, Streams::new(reader, writer), options);
        McpClient { connection, runtime: PhantomData }
    }

    /// Opens the connection: negotiates the protocol version, and requests the server's info and capabilities.
    ///
    /// Some legacy servers exit when they receive `server/discover`. The client restarts such a server, and opens the connection
    /// with `initialize`. This method does not list the tools: see [`McpClient::list_tools`].
    ///
    /// Any number of tasks can call this concurrently.
    ///
    /// # Errors
    /// If the server exits, does not answer in time, refuses the connection, or has no protocol version in common with the
    /// client. After one call has succeeded, a further call fails ([`SendError::AlreadyInitialized`](mcpwire_core::SendError)).
    ///
    /// # Cancel safety
    /// If the future is dropped, the opening continues. A later call of this method waits for its result.
    #[doc(alias = "server/discover")]
    pub async fn initialize(&self) -> Result<&ServerInfo, Error> {
        let shared = &*self.connection;
        let start = shared.clock.now();
        shared.send(|state, _| state.begin_opening(start))?;
        // The driver has read nothing so far. It must be woken to read the response.
        shared.lock().wake_driver();
        loop {
            if let Some(server) = shared.server.get() {
                shared.lock().is_opening_reported = true;
                return Ok(server);
            }
            let outcome = shared.wait_for(State::opening_outcome).await;
            if matches!(outcome, OpeningOutcome::Restart) {
                let _attempt = RestartAttempt(shared);
                connect::restart(shared, start)?;
            } else if let Some(error) = outcome.into_error() {
                return Err(shared.connect_error(error));
            }
        }
    }

    /// Returns a client of the same connection, without the runtime in its type. Use it to store clients of several runtimes
    /// together.
    pub fn without_runtime(&self) -> McpClient<()> {
        McpClient { connection: self.connection.clone(), runtime: PhantomData }
    }

    /// Returns a stream of the server's notifications, such as log messages and list changes, from now on.
    #[doc(alias = "notifications/message")]
    pub fn notifications(&self) -> Notifications {
        Notifications::new(&mut self.connection.lock())
    }

    /// Returns a stream of the connection's events from now on, such as invalid messages, new HTTP sessions and the end. It
    /// includes the server's notifications.
    pub fn events(&self) -> Events {
        Events::new(&mut self.connection.lock())
    }

    /// Returns the server's info and capabilities, or `None` before [`McpClient::initialize`].
    pub fn server_info(&self) -> Option<&ServerInfo> {
        self.connection.server.get().map(|server| &**server)
    }

    /// Returns the name of the server in errors.
    ///
    /// This is [`McpServerDef::display_name`]. For a pair of streams, it is
    /// [`ConnectOptions::name`](crate::ConnectOptions::name), by default `stream`.
    pub fn server_name(&self) -> &str {
        &self.connection.context.name
    }

    /// Returns the definition of the server, or `None` if the client was created over the program's own streams, as with
    /// [`McpClient::over`].
    pub fn definition(&self) -> Option<&McpServerDef> {
        self.connection.context.definition.as_deref()
    }

    /// Returns whether the server's process is running. Without a process, returns whether the connection has not ended.
    pub fn is_running(&self) -> bool {
        self.connection.lock().is_running()
    }

    /// Returns the id of the server's process, even if the process has exited. `None` if the connection has no process.
    pub fn pid(&self) -> Option<u32> {
        self.connection.lock().server.pid
    }

    /// Returns the last lines that the server has written to standard error: at most 12 lines and 2 KiB, without control
    /// characters.
    pub fn stderr_tail(&self) -> String {
        self.connection.lock().server.stderr.excerpt()
    }

    /// Returns the number of requests in flight: requests that were sent and have no response yet.
    pub fn in_flight(&self) -> usize {
        self.connection.lock().engine.session().in_flight()
    }

    /// Returns how many messages of the server the client has ignored or rejected, with one counter for each reason.
    pub fn stats(&self) -> Stats {
        self.connection.lock().engine.session().stats()
    }

    /// Returns the number of invalid messages from the server, and the beginnings of the last invalid messages.
    pub fn invalid_messages(&self) -> InvalidMessages {
        self.connection.lock().connection.invalid_messages.clone()
    }

    /// Waits until the connection has ended, and returns the reason, with the server's exit status and last output.
    ///
    /// Returns at once if the connection has already ended. The future does not keep the connection alive: dropping the last
    /// client ends the connection.
    ///
    /// # Cancel safety
    /// The future can be dropped at any time. `closed` can be called again.
    pub fn closed(&self) -> impl Future<Output = ConnectionEnd> + Send + use<R> {
        let shared = Arc::clone(&*self.connection);
        async move { shared.wait_for(|state| state.connection_end().filter(|_| state.report.is_some())).await }
    }

    /// Returns the reason why the connection has ended, or `None` if it has not. Does not wait.
    pub fn connection_end(&self) -> Option<ConnectionEnd> {
        self.connection.lock().connection_end()
    }

    /// Ends the server step by step: closes its input, waits, terminates its processes, waits, and kills them.
    ///
    /// This takes at most 5 s with the default [`GracePeriods`](mcpwire_client::GracePeriods). Pending requests fail at
    /// once. The server ends for all clones of this client.
    ///
    /// If a token refresh of the connection's authorizer is in progress, this also waits for the refresh: at most 10 s with
    /// `mcpwire::oauth::OAuth`. If the program ends before the new token is stored, the login may be lost.
    ///
    /// # Errors
    /// If the process has not exited after it was killed, or a token refresh has not ended in time.
    ///
    /// # Cancel safety
    /// The shutdown begins when this function is called. If the future is dropped, the shutdown continues.
    pub fn shutdown(&self) -> impl Future<Output = Result<ShutdownReport, Error>> + Send + use<R> {
        let connection = self.connection.clone();
        connection.start_shutdown();
        async move {
            let report = connection.wait_for(|state| state.report).await;
            #[cfg(feature = "http")]
            connection.context.settle_authorizer().await?;
            connection.context.shutdown_result(report)
        }
    }

    /// Kills the server and all processes that it started. Pending requests fail.
    ///
    /// The server ends for all clones of this client. Dropping the last clone does the same. This can be called outside of a
    /// runtime.
    ///
    /// This does not wait for the exit, with one exception: on a runtime without threads of its own, such as tokio's
    /// current-thread runtime, this blocks until the killed process has exited, at most 500 ms.
    pub fn kill(&self) {
        self.connection.kill();
    }
}

/// Starts a server, opens the connection, runs `f` with the client, and ends the server. Returns the value of `f`.
///
/// # Errors
/// If the server cannot be started or reached, if the connection cannot be opened, or if the server does not end.
///
/// # Panics
/// If this is called outside of a runtime, and `R` needs one, as tokio does.
///
/// # Cancel safety
/// Dropping the future before its end kills the server and all processes that it started.
pub async fn with_client<R: CurrentRuntime, T>(
    def: &McpServerDef,
    f: impl AsyncFnOnce(&McpClient<R>) -> T,
) -> Result<T, Error> {
    let client = McpClient::connect_and_initialize(def).await?;
    let value = f(&client).await;
    client.shutdown().await?;
    Ok(value)
}

impl<R> Clone for McpClient<R> {
    fn clone(&self) -> Self {
        McpClient { connection: self.connection.clone(), runtime: PhantomData }
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
