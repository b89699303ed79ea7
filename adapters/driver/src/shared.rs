//! What the callers and the driver of a connection share.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use mcpwire_client::{
    ConnectionContext, ConnectionEnd, ConnectionFacts, Error, Follower, McpServerDef, Panics, ShutdownReport,
    StderrLines, Tracer, Watcher,
};
use mcpwire_core::internal::RequestError;
use mcpwire_core::{CallError, ConnectError, RequestOptions, SendError, ServerInfo};

use crate::clock::Clock;
use crate::handlers::Handlers;
use crate::options::ConnectOptions;
use crate::runtime::Runtime;
use crate::state::{Opened, State, Wish, wait};

/// One connection.
pub(crate) struct Shared {
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) context: ConnectionContext,
    pub(crate) clock: Clock,
    /// Who answers what the server asks for.
    pub(crate) handlers: Option<Arc<Handlers>>,
    pub(crate) server: OnceLock<Arc<ServerInfo>>,
    state: Mutex<State>,
    /// Those who watch, while no driver has them.
    pub(crate) watchers: Mutex<Watchers>,
}

/// Who is told what goes over the wire and over standard error. Called without any lock.
#[derive(Debug, Default)]
pub(crate) struct Watchers {
    pub(crate) lines: StderrLines,
    pub(crate) tracer: Option<Tracer>,
}

impl Watchers {
    fn new(stderr: Option<Follower>, trace: Option<Watcher>, panics: &Panics) -> Self {
        Watchers {
            lines: StderrLines::new(stderr.map(|follower| panics.guard_follower(follower))),
            tracer: trace.map(|watcher| Tracer::new(panics.guard_watcher(watcher))),
        }
    }
}

impl Shared {
    /// A connection with these options, but for those that made the state.
    pub(crate) fn new(
        runtime: Arc<dyn Runtime>,
        definition: Option<Arc<McpServerDef>>,
        mut state: State,
        options: ConnectOptions,
    ) -> Arc<Self> {
        let ConnectOptions { grace_periods, stderr, trace, trace_context, handlers, panics, .. } = options;
        let watchers = Mutex::new(Watchers::new(stderr, trace, &panics));
        state.runs_by_itself = runtime.runs_by_itself();
        let (clock, server, state) = (runtime.clock(), OnceLock::new(), Mutex::new(state));
        let context = ConnectionContext { definition, grace_periods, trace_context, panics };
        Arc::new(Shared { runtime, context, clock, handlers, server, state, watchers })
    }

    /// Returns the options of a request with the trace context of the calling code.
    pub(crate) fn traced<'o>(&self, options: &'o RequestOptions) -> Cow<'o, RequestOptions> {
        self.context.traced(options)
    }

    /// Locks the state. Not inlined, because there are twenty callers.
    #[inline(never)]
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the engine that may leave bytes to be sent, and sees to it that they are.
    pub(crate) fn tell<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let result = f(&mut state);
        Self::hand_over(state);
        result
    }

    /// Not compiled again for each thing that is done.
    #[inline(never)]
    fn hand_over(mut state: MutexGuard<'_, State>) {
        let waker = state.hand_over();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// As [`Shared::tell`], for what may be refused.
    pub(crate) fn send<T>(&self, f: impl FnOnce(&mut State) -> Result<T, SendError>) -> Result<T, Error> {
        self.tell(|state| f(state).map_err(|error| self.context.send_error(error, state)))
    }

    /// Returns the error of a request that was not sent.
    #[cold]
    #[inline(never)]
    pub(crate) fn refused(&self, error: SendError) -> Error {
        self.context.send_error(error, &mut *self.lock())
    }

    /// What the opening came to. A server that is to be started once more has ended by then.
    pub(crate) fn poll_opened(&self, cx: &mut Context<'_>) -> Poll<Opened> {
        let mut state = self.lock();
        match state.opening.outcome {
            Some(Opened::Restart) if state.report.is_none() => wait(&mut state.ended, cx),
            Some(Opened::Restart) if state.opening.restarting => wait(&mut state.opening.waiting, cx),
            Some(Opened::Restart) => {
                state.opening.restarting = true;
                return Poll::Ready(Opened::Restart);
            }
            Some(ref outcome) => return Poll::Ready(outcome.clone()),
            None => wait(&mut state.opening.waiting, cx),
        }
        Poll::Pending
    }

    /// How the server ended.
    pub(crate) fn poll_ended(&self, cx: &mut Context<'_>) -> Poll<ShutdownReport> {
        let mut state = self.lock();
        if state.report.is_none() {
            wait(&mut state.ended, cx);
        }
        state.report.map_or(Poll::Pending, Poll::Ready)
    }

    /// Waits until nothing is left of the server, and returns why the connection has ended.
    pub(crate) fn poll_closed(&self, cx: &mut Context<'_>) -> Poll<ConnectionEnd> {
        let mut state = self.lock();
        if let Some(end) = state.connection_end().filter(|_| state.report.is_some()) {
            return Poll::Ready(end);
        }
        wait(&mut state.ended, cx);
        Poll::Pending
    }

    /// Asks for the end, step by step.
    pub(crate) fn ask_for_end(&self) {
        let mut wakers = Vec::new();
        let mut state = self.lock();
        if state.is_to_be_restarted() && state.report.is_some() {
            // Between two processes there is nobody else to say it.
            state.give_up_opening(&mut wakers);
        }
        if state.wish == Wish::Live {
            state.wish = Wish::End;
        }
        wakers.extend(state.driver.take());
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends it at once, whatever else was asked for.
    pub(crate) fn end_at_once(&self) {
        let mut wakers = Vec::new();
        let mut state = self.lock();
        if state.is_to_be_restarted() && state.report.is_some() {
            state.give_up_opening(&mut wakers);
        }
        Self::abandon(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Nobody wants the server any more: it ends now, with all that it started.
    #[inline(never)]
    fn abandon(mut state: MutexGuard<'_, State>) {
        state.wish = Wish::Abandoned;
        // Without a driver that sees to what is left of it, that is done here.
        let process = if state.runs_by_itself { None } else { state.process.take() };
        if let Some(process) = &mut state.process {
            process.kill();
        }
        let driver = state.driver.take();
        drop(state);
        drop(process);
        if let Some(driver) = driver {
            driver.wake();
        }
    }

    /// Wakes the driver, whatever there is to send.
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

    /// Returns the error of an operation that ended without a result.
    #[cold]
    #[inline(never)]
    pub(crate) fn request_error(&self, error: RequestError) -> Error {
        self.context.request_error(error, &mut *self.lock())
    }

    /// Returns the error of a request that was sent and has no result.
    #[cold]
    #[inline(never)]
    pub(crate) fn call_error(&self, error: CallError) -> Error {
        self.context.call_error(error, &mut *self.lock())
    }

    /// Returns the error of a connection that could not be opened.
    #[cold]
    #[inline(never)]
    pub(crate) fn connect_error(&self, error: ConnectError) -> Error {
        Error::new(self.name(), error).with_process(self.lock().process_report())
    }
}

/// The attempt to start a server once more. If nothing comes of it, for whatever reason, all who wait for it are told.
pub(crate) struct RestartAttempt<'s>(pub(crate) &'s Shared);

impl Drop for RestartAttempt<'_> {
    fn drop(&mut self) {
        let mut wakers = Vec::new();
        let mut state = self.0.lock();
        if state.opening.restarting {
            state.give_up_opening(&mut wakers);
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Keeps a connection alive: when the last clone goes, the server is ended.
///
/// Behind a pointer, so that what it takes to drop a connection is not compiled again into each program's own code.
#[derive(Clone)]
pub(crate) struct Lives(Arc<dyn Alive>);

trait Alive: Send + Sync {
    fn shared(&self) -> &Arc<Shared>;
}

impl Lives {
    #[inline(never)]
    pub(crate) fn of(shared: Arc<Shared>) -> Self {
        Lives(Arc::new(Life(shared)))
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.0.shared()
    }
}

struct Life(Arc<Shared>);

impl Alive for Life {
    fn shared(&self) -> &Arc<Shared> {
        &self.0
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if state.report.is_some() {
            let mut wakers = Vec::new();
            state.subscribers.end(&mut wakers);
            drop(state);
            wakers.into_iter().for_each(Waker::wake);
            return;
        }
        if state.wish == Wish::Live {
            return Shared::abandon(state);
        }
        // Whoever asked for a polite end gets it, also if nobody waits for it.
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
