//! [`Shared`]: the data that the callers and the driver of a connection share. [`ConnectionRef`] keeps it alive.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

use mcpwire_client::{Clock, ConnectionContext, ConnectionHandlers, Error, OptionParts, StderrLines, Tracer};
use mcpwire_core::internal::RequestError;
use mcpwire_core::{CallError, CallToolResult, ConnectError, RequestOptions, SendError, ServerInfo};

use crate::locked_state::{CloseIntent, State};
use crate::runtime::Runtime;

/// The data that the callers and the driver of a connection share.
pub(crate) struct Shared {
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) context: ConnectionContext,
    pub(crate) clock: Clock,
    /// The program's handlers for requests of the server.
    pub(crate) handlers: Arc<ConnectionHandlers>,
    /// Set when the connection is open.
    pub(crate) server: OnceLock<Arc<ServerInfo>>,
    state: Mutex<State>,
    /// The callbacks for messages and standard error. Empty while a driver owns them.
    pub(crate) listeners: Mutex<Listeners>,
}

/// The callbacks for messages and standard error. The driver calls them without holding a lock.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    pub(crate) lines: StderrLines,
    pub(crate) tracer: Option<Tracer>,
}

impl Listeners {
    fn new(options: &mut OptionParts) -> Self {
        let tracer = options.trace.take().map(Tracer::new);
        Listeners { lines: StderrLines::new(options.stderr.take()), tracer }
    }
}

/// A function that checks the result of a tool with this name.
pub(crate) type CheckOutput<T> = fn(&Shared, &str, &T) -> Result<(), Error>;

impl Shared {
    /// Creates the shared data of a connection.
    pub(crate) fn new(runtime: Arc<dyn Runtime>, mut state: State, mut options: OptionParts) -> Arc<Self> {
        state.set_hooks(options.context.hooks.clone());
        #[cfg(feature = "http")]
        state.connection.watch_authorization(options.context.authorization.as_ref());
        let listeners = Mutex::new(Listeners::new(&mut options));
        let OptionParts { context, clock, handlers, .. } = options;
        let (server, state) = (OnceLock::new(), Mutex::new(state));
        Arc::new(Shared { runtime, context, clock, handlers, server, state, listeners })
    }

    /// Returns the options with the trace context and the observer's data of the calling code.
    pub(crate) fn with_caller_context<'o>(&self, options: &'o RequestOptions) -> Cow<'o, RequestOptions> {
        self.context.with_caller_context(options)
    }

    /// Checks the result of a tool against the tool's output schema, if the program has set a validator.
    pub(crate) fn check_output(&self, tool: &str, result: &CallToolResult) -> Result<(), Error> {
        if self.context.output_validator.is_none() {
            return Ok(());
        }
        // The list is copied, because the lock must not be held while the program's validator runs.
        let tools = Arc::clone(self.lock().connection.client.tools.list());
        self.context.check_output(&tools, tool, result).map_err(|error| self.call_error(error).with_tool(tool))
    }

    /// Adds the trace context and the observer's data of the calling code to the options of a tool call.
    pub(crate) fn add_caller_context(&self, options: &mut RequestOptions, tool: &str) {
        if !self.context.has_caller_context() {
            return;
        }
        let with_context = match self.context.with_tool_caller_context(options, Some(tool)) {
            Cow::Owned(options) => Some(options),
            Cow::Borrowed(_) => None,
        };
        if let Some(with_context) = with_context {
            *options = with_context;
        }
    }

    /// Locks the state.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `f` under the lock, then sends the engine's output or wakes the driver to send it.
    pub(crate) fn with_state<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        state.check_authorization();
        let result = f(&mut state);
        let waker = state.send_or_wake_driver();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        result
    }

    /// Does the same as [`Shared::with_state`], and converts the error of `f`.
    pub(crate) fn send<T>(&self, f: impl FnOnce(&mut State) -> Result<T, SendError>) -> Result<T, Error> {
        self.with_state(|state| f(state).map_err(|error| self.send_error(error, state)))
    }

    /// Converts the error of a request that was not sent.
    #[cold]
    pub(crate) fn not_sent_error(&self, error: SendError) -> Error {
        self.send_error(error, &mut self.lock())
    }

    #[cold]
    fn send_error(&self, error: SendError, state: &mut State) -> Error {
        self.context.send_error(error, || state.end_details())
    }

    /// Starts the shutdown.
    pub(crate) fn start_shutdown(&self) {
        let mut wakers = Vec::new();
        let mut state = self.lock();
        if state.will_restart() && state.report.is_some() {
            // The first process has ended and the second was not started, so there is no driver to wake.
            state.fail_opening(&mut wakers);
        }
        if state.close_intent == CloseIntent::None {
            state.close_intent = CloseIntent::Shutdown;
        }
        wakers.extend(state.driver.take());
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Kills the server, even during a shutdown.
    pub(crate) fn kill(&self) {
        let mut wakers = Vec::new();
        let mut state = self.lock();
        if state.will_restart() && state.report.is_some() {
            state.fail_opening(&mut wakers);
        }
        self.kill_process(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Kills the server and all processes that it started.
    fn kill_process(&self, mut state: MutexGuard<'_, State>) {
        state.close_intent = CloseIntent::Kill;
        // If the driver may never be polled again, dropping the process here kills and reaps it.
        let process = if self.runtime.has_own_threads() { None } else { state.server.take() };
        if let Some(process) = state.server.process() {
            process.kill();
        }
        let driver = state.driver.take();
        drop(state);
        drop(process);
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// Wakes the driver.
    pub(crate) fn wake_driver(&self) {
        let driver = self.lock().driver.take();
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// Returns the name of the server for errors.
    pub(crate) fn name(&self) -> &str {
        self.context.name()
    }

    /// Converts the error of an operation, which may have occurred before or after its request was sent.
    #[cold]
    pub(crate) fn request_error(&self, error: RequestError) -> Error {
        self.context.request_error(error, || self.lock().end_details())
    }

    /// Converts the error of a request that was sent.
    #[cold]
    pub(crate) fn call_error(&self, error: CallError) -> Error {
        self.context.call_error(error, || self.lock().end_details())
    }

    /// Returns the error for a request that the state has no slot for.
    #[cold]
    pub(crate) fn unknown_request_error(&self) -> Error {
        self.call_error(CallError::WrongTicket { method: "a request".into() })
    }

    /// Converts the error of a connection that could not be opened.
    #[cold]
    pub(crate) fn connect_error(&self, error: ConnectError) -> Error {
        Error::new(self.name(), error).with_process(self.lock().server.report())
    }
}

/// Guards the restart of a server. If the restart fails or is cancelled, dropping the guard fails the opening for all tasks.
pub(crate) struct RestartAttempt<'s>(pub(crate) &'s Shared);

impl Drop for RestartAttempt<'_> {
    fn drop(&mut self) {
        let mut wakers = Vec::new();
        let mut state = self.0.lock();
        if state.is_restarting {
            state.fail_opening(&mut wakers);
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// A reference that keeps a connection alive. Dropping the last clone kills the server.
#[derive(Clone)]
pub(crate) struct ConnectionRef(Arc<ConnectionGuard>);

impl ConnectionRef {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        ConnectionRef(Arc::new(ConnectionGuard(shared)))
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0.0
    }
}

/// Kills the server when it is dropped.
struct ConnectionGuard(Arc<Shared>);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if state.report.is_some() {
            let mut wakers = Vec::new();
            if state.will_restart() {
                state.fail_opening(&mut wakers);
            }
            state.consumers.end(&mut wakers);
            drop(state);
            wakers.into_iter().for_each(Waker::wake);
            return;
        }
        if state.close_intent == CloseIntent::None {
            return self.0.kill_process(state);
        }
        // A shutdown in progress continues in the driver.
        let driver = state.driver.take();
        drop(state);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("server", &self.name()).finish_non_exhaustive()
    }
}
