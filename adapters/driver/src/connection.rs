//! [`Shared`]: the data that the callers and the driver of a connection share. [`ConnectionRef`]: a reference that keeps the
//! connection alive.

use std::future::poll_fn;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;

use mcpwire_client::{Clock, ConnectionContext, ConnectionHandlers, Error, OptionParts, StderrLines, Tracer, Writer};
use mcpwire_core::internal::{AnyEngine, RequestError};
use mcpwire_core::{CallToolResult, ConnectError, SendError, ServerInfo, Timestamp};
use mcpwire_process::Process;

use crate::locked_state::{CloseIntent, Listeners, State, StateGuard};
use crate::runtime::Runtime;

/// The data that the callers and the driver of a connection share. The fields are immutable, except for the locked `state`.
pub(crate) struct Shared {
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) context: ConnectionContext,
    pub(crate) clock: Clock,
    /// The program's handlers for requests of the server.
    pub(crate) handlers: Arc<ConnectionHandlers>,
    /// The server's info and capabilities. Set when the connection is open.
    pub(crate) server: OnceLock<Arc<ServerInfo>>,
    state: Mutex<State>,
}

/// A function that checks the result of a tool against its output schema. The arguments are the connection, the name of the tool
/// and the result.
pub(crate) type CheckOutput<T> = fn(&Shared, &str, &T) -> Result<(), Error>;

impl Shared {
    /// Creates the shared data of a connection.
    ///
    /// `writer` is `None` over HTTP. `process` is `None` if this client has not started the server.
    pub(crate) fn new(
        runtime: Arc<dyn Runtime>,
        engine: AnyEngine,
        writer: Option<Writer>,
        process: Option<Process>,
        options: OptionParts,
    ) -> Arc<Self> {
        let OptionParts { context, clock, handlers, stderr, trace, .. } = options;
        let listeners = Listeners { lines: StderrLines::new(stderr), tracer: trace.map(Tracer::new) };
        let state = Mutex::new(State::new(engine, writer, process, listeners, &context));
        Arc::new(Shared { runtime, context, clock, handlers, server: OnceLock::new(), state })
    }

    /// Checks the result of a tool against the tool's output schema, if the program has set a validator.
    pub(crate) fn check_output(&self, tool: &str, result: &CallToolResult) -> Result<(), Error> {
        if self.context.output_validator.is_none() {
            return Ok(());
        }
        // The reference to the list is cloned, because the lock must not be held while the program's validator runs.
        let tools = Arc::clone(self.lock().connection.client.tools.list());
        self.context.check_output(&tools, tool, result).map_err(|error| self.error(error).with_tool(tool))
    }

    /// Locks the state. The documentation of [`State`] says which code may run under the lock.
    pub(crate) fn lock(&self) -> StateGuard<'_> {
        StateGuard::lock(&self.state)
    }

    /// Calls `f` with the locked state and the current time. Then writes the engine's output, or wakes the driver to write it.
    pub(crate) fn with_state<T>(&self, f: impl FnOnce(&mut State, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let mut state = self.lock();
        state.check_authorization();
        let result = f(&mut state, now);
        state.send_or_wake_driver();
        result
    }

    /// Does the same as [`Shared::with_state`], and converts the error of `f` to an error of the client.
    pub(crate) fn send<T>(&self, f: impl FnOnce(&mut State, Timestamp) -> Result<T, SendError>) -> Result<T, Error> {
        self.with_state(f).map_err(|error| self.error(error))
    }

    /// Waits until `get` returns a value. `get` is called again only when the opening of the connection makes progress and when
    /// the connection ends.
    pub(crate) async fn wait_for<T>(&self, get: impl Fn(&mut State) -> Option<T>) -> T {
        let mut waiter = Waiter { shared: self, key: None };
        poll_fn(|cx| {
            let mut state = self.lock();
            if let Some(value) = get(&mut state) {
                return Poll::Ready(value);
            }
            let state = &mut *state;
            let next = state.waiters.last_key_value().map_or(0, |(last, _)| last + 1);
            let key = *waiter.key.get_or_insert(next);
            state.wakers.store(state.waiters.entry(key).or_default(), cx);
            Poll::Pending
        })
        .await
    }

    /// Asks the driver to shut the server down step by step, unless the connection is being shut down or killed already.
    pub(crate) fn start_shutdown(&self) {
        let mut state = self.lock();
        state.abandon_restart();
        if state.close_intent == CloseIntent::None {
            state.close_intent = CloseIntent::Shutdown;
        }
        state.wake_driver();
    }

    /// Kills the server and all processes that it started, even during a shutdown. The driver then ends the connection.
    pub(crate) fn kill(&self) {
        let mut state = self.lock();
        state.abandon_restart();
        state.close_intent = CloseIntent::Kill;
        // If the driver may never be polled again, dropping the process here kills and reaps it.
        let process = if self.runtime.has_own_threads() { None } else { state.server.take() };
        if let Some(process) = state.server.process() {
            process.kill();
        }
        state.wake_driver();
        drop(state);
        drop(process);
    }

    /// Converts the error of a request to an error of the client, with the name of the server. The request need not have been
    /// sent.
    #[cold]
    pub(crate) fn error(&self, error: impl Into<RequestError>) -> Error {
        self.context.request_error(error.into(), || self.lock().end_details())
    }

    /// Converts the error of a failed opening to an error of the client, with the exit status and last output of the server.
    #[cold]
    pub(crate) fn connect_error(&self, error: ConnectError) -> Error {
        let mut state = self.lock();
        let error = Error::new(&self.context.name, error).with_invalid_messages(&state.connection.invalid_messages);
        error.with_process(state.server.report())
    }
}

/// The entry of a [`Shared::wait_for`] future in [`State::waiters`]. Dropping this value removes the entry.
struct Waiter<'s> {
    shared: &'s Shared,
    /// The key of the entry, or `None` if the future has not waited yet.
    key: Option<u64>,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let mut state = self.shared.lock();
            let removed = state.waiters.remove(&key);
            state.wakers.unused.extend(removed.flatten());
            if state.waiters.is_empty() {
                // An empty map keeps memory for eleven waiters, and a program may have many connections.
                drop(std::mem::take(&mut state.waiters));
            }
        }
    }
}

/// A reference that keeps a connection alive. Dropping the last clone kills the server.
#[derive(Clone)]
pub(crate) struct ConnectionRef(Arc<ConnectionGuard>);

impl ConnectionRef {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        ConnectionRef(Arc::new(ConnectionGuard(shared)))
    }
}

impl Deref for ConnectionRef {
    type Target = Arc<Shared>;

    fn deref(&self) -> &Arc<Shared> {
        &self.0.0
    }
}

/// Kills the server when it is dropped, unless the server has ended or is being shut down.
struct ConnectionGuard(Arc<Shared>);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if state.report.is_some() {
            state.abandon_restart();
            state.end_consumers();
        } else if state.close_intent == CloseIntent::None {
            drop(state);
            self.0.kill();
        } else {
            // A shutdown is in progress. The driver continues it.
            state.wake_driver();
        }
    }
}
