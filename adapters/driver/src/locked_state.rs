//! [`State`]: the data of a connection that its lock protects. [`StateGuard`]: the guard of the held lock.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::{Context, Waker};

use mcpwire_client::{
    ConnectionContext, ConnectionEnd, ConnectionHooks, ConnectionState, Direction, EndDetails, EventConsumers,
    Lifecycle, ReplySlots, ShutdownReport, StderrLines, Tracer, Writer, lock, replace_waker,
};
use mcpwire_core::internal::AnyEngine;
use mcpwire_core::{
    CloseReason, Event, Notification, Phase, ServerInfo, ServerRequest, ServerRequestId, SubscriptionKey, Timestamp,
};
use mcpwire_process::Process;

use crate::output::Output;
use crate::server_process::ServerProcess;

/// A connection counts as busy if the driver has found no request in flight more often than this since the timer last elapsed. A
/// busy connection keeps its request buffers, because it will soon need them again.
///
/// The value is 16, because many programs connect to many servers and make only one or two calls to each.
const BUSY_THRESHOLD: u8 = 16;

/// The data of a connection that its lock protects.
///
/// While the lock is held, nothing waits, and the only code of the program that runs is its writer and a launcher's `on_kill`.
/// Therefore, a [`Process`] is never dropped under the lock: dropping it waits for the killed process, and drops values of the
/// program.
pub(crate) struct State {
    pub(crate) engine: AnyEngine,
    /// The stream to the server. Not used over HTTP.
    pub(crate) output: Output,
    /// The callers that wait for the replies to their requests.
    pub(crate) callers: ReplySlots<Caller>,
    /// The waker of the driver. Waking the driver takes it, so that the driver is woken only once. `None` until the driver is
    /// polled again.
    pub(crate) driver: Option<Waker>,
    /// The tasks to wake when the lock is released.
    pub(crate) wakers: Wakers,
    /// Whether a call of `initialize` has returned `Ok`. Later calls fail.
    pub(crate) is_opening_reported: bool,
    pub(crate) server: ServerProcess,
    /// The state of the client that does not depend on the transport: its lists and caches, and whether the connection is open.
    pub(crate) connection: ConnectionState,
    /// The program's [`Notifications`](crate::Notifications) and [`Events`](crate::Events) streams.
    pub(crate) consumers: EventConsumers,
    /// The tasks that wait for the next event of a subscription. `None` if no task waits.
    subscriptions: BTreeMap<SubscriptionKey, Option<Waker>>,
    /// Requests of the server, and their cancellations, that the driver has not passed to the program's handlers yet.
    pub(crate) server_requests: Vec<ServerRequestEvent>,
    /// The program's callbacks for messages and standard error. Empty while a driver owns them.
    pub(crate) listeners: Listeners,
    /// The observer and the other callbacks of the program.
    pub(crate) hooks: Option<Arc<ConnectionHooks>>,
    /// Number of bytes that were received and not yet reported to `hooks`.
    pub(crate) received: u64,
    pub(crate) close_intent: CloseIntent,
    /// How the server was ended. `None` until the driver has completed.
    pub(crate) report: Option<ShutdownReport>,
    /// The tasks that wait for the opening or the end of the connection, in the order in which they began to wait.
    pub(crate) waiters: BTreeMap<u64, Option<Waker>>,
    /// Whether the program has set a trace callback. If so, only the driver writes, because it calls the callback.
    pub(crate) is_traced: bool,
    /// Time at which the driver's timer elapses. `None` if the timer is not set.
    pub(crate) timer_deadline: Option<Timestamp>,
    /// How often the driver has found no request in flight since the timer last elapsed. See [`BUSY_THRESHOLD`].
    idle_count: u8,
}

/// The program's callbacks for messages and standard error. The driver calls them without the lock.
#[derive(Default)]
pub(crate) struct Listeners {
    pub(crate) lines: StderrLines,
    pub(crate) tracer: Option<Tracer>,
}

/// Whether the program wants the connection to end, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CloseIntent {
    /// The connection stays open.
    #[default]
    None,
    /// The server is to be shut down step by step.
    Shutdown,
    /// The server is to be killed: the program has called `kill`, or all clients were dropped.
    Kill,
}

/// The caller that waits for the reply to a request.
#[derive(Debug, Default)]
pub(crate) struct Caller {
    /// Wakes the caller's task. `None` until the caller is polled, and after it was woken.
    pub(crate) waker: Option<Waker>,
    /// Progress notifications and task statuses that the caller has not taken yet. `None` if the caller does not want them.
    pub(crate) reports: Option<VecDeque<Notification>>,
}

/// A request of the server, or the cancellation of an earlier request. The driver passes both to the program's handlers.
pub(crate) enum ServerRequestEvent {
    Received(ServerRequest),
    Cancelled(ServerRequestId),
}

impl State {
    pub(crate) fn new(
        engine: AnyEngine,
        writer: Option<Writer>,
        process: Option<Process>,
        listeners: Listeners,
        context: &ConnectionContext,
    ) -> Self {
        let mut state = State {
            engine,
            output: Output::new(writer),
            callers: ReplySlots::default(),
            driver: None,
            wakers: Wakers::default(),
            is_opening_reported: false,
            server: ServerProcess::default(),
            connection: ConnectionState::default(),
            consumers: EventConsumers::default(),
            subscriptions: BTreeMap::new(),
            server_requests: Vec::new(),
            hooks: context.hooks.clone(),
            received: 0,
            close_intent: CloseIntent::None,
            report: None,
            waiters: BTreeMap::new(),
            is_traced: listeners.tracer.is_some(),
            listeners,
            timer_deadline: None,
            idle_count: 0,
        };
        state.set_process(process);
        #[cfg(feature = "http")]
        state.connection.watch_authorization(context.authorization.as_ref());
        state
    }

    /// Stores the server's process, and reports its start to the hooks.
    pub(crate) fn set_process(&mut self, process: Option<Process>) {
        self.server = ServerProcess::new(process);
        if let (Some(hooks), Some(pid)) = (&self.hooks, self.server.pid) {
            hooks.process_started(pid);
        }
    }

    /// Reports to the hooks how many bytes were sent and received since the last call.
    pub(crate) fn record_bytes(&mut self) {
        if let Some(hooks) = &self.hooks {
            hooks.bytes(Direction::Sent, mem::take(&mut self.output.sent));
            hooks.bytes(Direction::Received, mem::take(&mut self.received));
        }
    }

    /// Registers the task of `cx`, to wake it at the next event of this subscription.
    pub(crate) fn wait_for_subscription(&mut self, key: SubscriptionKey, cx: &Context<'_>) {
        self.wakers.store(self.subscriptions.entry(key).or_default(), cx);
    }

    /// Removes a subscription that the program has dropped.
    pub(crate) fn remove_subscription(&mut self, key: SubscriptionKey) {
        self.wakers.unused.extend(self.subscriptions.remove(&key).flatten());
    }

    /// Stores the waker of the driver, so that callers can wake it.
    pub(crate) fn set_driver(&mut self, cx: &Context<'_>) {
        self.wakers.store(&mut self.driver, cx);
    }

    /// Wakes the driver when the lock is released. Does nothing if the driver was already woken.
    pub(crate) fn wake_driver(&mut self) {
        if self.driver.is_some() {
            self.wakers.driver = self.driver.take();
        }
    }

    /// Wakes all tasks that wait for the opening or the end of the connection, when the lock is released.
    pub(crate) fn wake_waiters(&mut self) {
        self.wakers.tasks.extend(self.waiters.values_mut().filter_map(Option::take));
    }

    /// Ends the program's streams of notifications and events.
    pub(crate) fn end_consumers(&mut self) {
        self.consumers.end(&mut self.wakers.tasks);
    }

    /// Frees the request buffers if no request is in flight, because a program may have many idle connections.
    ///
    /// A busy connection keeps its buffers until the timer elapses. See [`BUSY_THRESHOLD`].
    pub(crate) fn shrink(&mut self) {
        if self.engine.session().in_flight() > 0 {
            return;
        }
        self.idle_count = self.idle_count.saturating_add(1);
        let is_busy = self.idle_count > BUSY_THRESHOLD && self.timer_deadline.is_some();
        if !is_busy {
            self.engine.shrink();
        }
        self.callers.set_keeps_memory(is_busy);
    }

    /// Records that the driver's timer has elapsed and is no longer set.
    pub(crate) fn timer_elapsed(&mut self) {
        self.timer_deadline = None;
        self.idle_count = 0;
    }

    /// Checks whether the authorization of the requests has changed, for example to another account. If so, the engine and the
    /// client drop the cached data of the previous authorization.
    #[inline]
    pub(crate) fn check_authorization(&mut self) {
        self.connection.check_authorization(&mut self.engine);
    }

    /// Handles events of the engine until none is left, or until a program's event queue is half full. Returns whether there were
    /// events.
    ///
    /// Stores the server's info and capabilities in `server` when the connection is open.
    pub(crate) fn handle_events(&mut self, server: &OnceLock<Arc<ServerInfo>>) -> bool {
        let mut any = false;
        self.check_authorization();
        while let Some(event) = self.engine.poll_event() {
            any = true;
            if let Some(hooks) = &self.hooks {
                hooks.record(&event, self.engine.session());
            }
            match event {
                // If the caller has dropped its future, the reply has no slot and is dropped.
                Event::Reply(reply) => {
                    self.wakers.tasks.extend(self.callers.receive(reply).and_then(|caller| caller.waker.take()));
                }
                Event::Subscription(key) => {
                    self.wakers.tasks.extend(self.subscriptions.get_mut(&key).and_then(Option::take));
                }
                Event::ServerRequest(request) => self.server_requests.push(ServerRequestEvent::Received(request)),
                Event::ServerRequestCancelled(key) => self.server_requests.push(ServerRequestEvent::Cancelled(key)),
                event => {
                    self.connection.handle_event(&event, &mut self.engine.calls());
                    match &event {
                        Event::Connected => {
                            if let Some(info) = self.engine.session().shared_server() {
                                let _ = server.set(info);
                            }
                            self.wake_waiters();
                        }
                        Event::Restart | Event::Closed(_) => self.wake_waiters(),
                        Event::Notification(notification) => self.report(notification),
                        _ => {}
                    }
                    let dropped = self.consumers.push(event, &mut self.wakers.tasks);
                    if let Some(hooks) = &self.hooks {
                        hooks.dropped(dropped);
                    }
                    if self.consumers.is_crowded() {
                        return true;
                    }
                }
            }
        }
        any
    }

    /// Closes the engine. All pending requests fail, and all tasks that wait are woken.
    pub(crate) fn close(&mut self, server: &OnceLock<Arc<ServerInfo>>) {
        self.engine.close();
        while self.handle_events(server) {}
        // If the server will be restarted, the program's streams continue with the new process.
        if self.close_intent != CloseIntent::None || !matches!(self.connection.lifecycle, Lifecycle::Restart) {
            // An engine that has asked for a restart does not report the end of the connection, so the end is recorded here.
            self.connection.lifecycle.end(CloseReason::ByClient);
            self.end_consumers();
        }
        self.wake_waiters();
    }

    /// Returns why the connection has ended, or `None` if it is open or will be restarted.
    pub(crate) fn connection_end(&mut self) -> Option<ConnectionEnd> {
        let reason = self.connection.lifecycle.close_reason()?.clone();
        Some(ConnectionEnd::new(reason, self.server.report()))
    }

    pub(crate) fn is_running(&mut self) -> bool {
        match self.server.process() {
            Some(process) => process.observe().is_none(),
            None => self.engine.session().phase() != Phase::Closed,
        }
    }

    /// Returns why the connection has ended, and the exit status and last output of the server. Errors contain these details.
    pub(crate) fn end_details(&mut self) -> EndDetails {
        EndDetails { process: self.server.report(), reason: self.connection.lifecycle.close_reason().cloned() }
    }
}

/// The tasks to wake, and the wakers to drop, after the lock was released.
///
/// A task that is woken may need the lock at once. Dropping a waker may also need the lock: a waker can be the last reference to
/// a task, and dropping a task drops its clients and requests.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    driver: Option<Waker>,
    pub(crate) tasks: Vec<Waker>,
    pub(crate) unused: Vec<Waker>,
}

impl Wakers {
    /// Stores the waker of `cx` in `place`. The previous waker is dropped after the lock was released.
    pub(crate) fn store(&mut self, place: &mut Option<Waker>, cx: &Context<'_>) {
        self.unused.extend(replace_waker(place, cx.waker()));
    }

    /// Wakes all tasks, and drops the unused wakers. Must be called without the lock.
    pub(crate) fn wake(&mut self) {
        self.unused.clear();
        self.tasks.drain(..).chain(self.driver.take()).for_each(Waker::wake);
    }

    fn is_empty(&self) -> bool {
        self.driver.is_none() && self.tasks.is_empty() && self.unused.is_empty()
    }
}

impl Drop for Wakers {
    fn drop(&mut self) {
        self.wake();
    }
}

/// The locked state of a connection. Dropping this guard releases the lock, and then wakes the tasks in [`State::wakers`].
pub(crate) struct StateGuard<'s> {
    state: MutexGuard<'s, State>,
    /// The wakers of `state`, moved here when the guard is dropped. Being declared after `state`, they are dropped after the lock
    /// was released. `None` if there is no task to wake, which is the common case.
    wakers: Option<Wakers>,
}

impl<'s> StateGuard<'s> {
    pub(crate) fn lock(state: &'s Mutex<State>) -> Self {
        StateGuard { state: lock(state), wakers: None }
    }
}

impl Deref for StateGuard<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Drop for StateGuard<'_> {
    fn drop(&mut self) {
        if !self.state.wakers.is_empty() {
            self.wakers = Some(mem::take(&mut self.state.wakers));
        }
    }
}
