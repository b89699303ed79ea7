//! [`State`]: the data of a connection that its lock protects.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Waker};

use mcpwire_client::{
    ConnectionEnd, ConnectionHooks, ConnectionState, Direction, EndDetails, EventConsumers, ShutdownReport, Writer,
};
use mcpwire_core::internal::{AnyEngine, OpeningOutcome};
use mcpwire_core::{CloseReason, Event, Phase, ServerInfo, ServerRequest, ServerRequestId, SubscriptionKey, Timestamp};
use mcpwire_process::Process;

use crate::callers::Callers;
use crate::output::Output;
use crate::server_process::ServerProcess;

/// A connection counts as busy if it became idle more often than this while the timer was set.
///
/// 16: many programs connect to many servers and make only one or two calls.
const BUSY_THRESHOLD: u8 = 16;

/// The data of a connection that its lock protects.
///
/// While the lock is held, nothing blocks, and no code of the program runs except its writer.
pub(crate) struct State {
    pub(crate) engine: AnyEngine,
    /// The stream to the server. Closed over HTTP.
    pub(crate) output: Output,
    pub(crate) callers: Callers,
    /// Wakes the driver. The code that wakes the driver takes the waker, so that the driver is woken once.
    pub(crate) driver: Option<Waker>,
    /// Whether a call of `initialize` has returned `Ok`.
    pub(crate) is_opening_reported: bool,
    /// Whether a task is restarting the server. Other tasks wait for the outcome.
    pub(crate) is_restarting: bool,
    pub(crate) server: ServerProcess,
    /// The state that also exists after the connection has ended.
    pub(crate) connection: ConnectionState,
    /// The program's streams of events.
    pub(crate) consumers: EventConsumers,
    /// The tasks that wait for the next event of a subscription.
    pub(crate) subscriptions: Vec<(SubscriptionKey, Waker)>,
    /// Requests of the server and their cancellations, which the driver has not taken yet.
    pub(crate) server_requests: Vec<ServerRequestEvent>,
    /// The observer and the other callbacks of the program.
    pub(crate) hooks: Option<Arc<ConnectionHooks>>,
    /// Number of bytes that were received and not reported to `hooks` yet.
    pub(crate) received: u64,
    pub(crate) close_intent: CloseIntent,
    /// How the server was ended. `None` until the driver has ended.
    pub(crate) report: Option<ShutdownReport>,
    /// The tasks that wait for the opening or the end of the connection.
    pub(crate) waiters: Waiters,
    /// Whether there is a trace callback. Then only the driver writes.
    pub(crate) is_traced: bool,
    /// Time at which the driver's timer elapses. `None` if the timer is not set.
    pub(crate) timer_deadline: Option<Timestamp>,
    /// How often the connection became idle since the timer last elapsed.
    idle_count: u8,
}

/// How the clients want the connection to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CloseIntent {
    /// The connection stays open.
    #[default]
    None,
    /// Shut the server down step by step.
    Shutdown,
    /// Kill the server: a client has requested it, or all clients were dropped.
    Kill,
}

/// A request of the server, or its cancellation.
pub(crate) enum ServerRequestEvent {
    Received(ServerRequest),
    Cancelled(ServerRequestId),
}

impl State {
    pub(crate) fn new(engine: AnyEngine, writer: Option<Writer>, process: Option<Process>) -> Self {
        State {
            engine,
            output: Output::new(writer),
            callers: Callers::default(),
            driver: None,
            is_opening_reported: false,
            is_restarting: false,
            server: ServerProcess::new(process),
            connection: ConnectionState::default(),
            consumers: EventConsumers::default(),
            subscriptions: Vec::new(),
            server_requests: Vec::new(),
            hooks: None,
            received: 0,
            close_intent: CloseIntent::None,
            report: None,
            waiters: Waiters::default(),
            is_traced: false,
            timer_deadline: None,
            idle_count: 0,
        }
    }

    /// Sets the observer and the other callbacks of the program, and reports the start of the process to them.
    pub(crate) fn set_hooks(&mut self, hooks: Option<Arc<ConnectionHooks>>) {
        if let (Some(hooks), Some(pid)) = (&hooks, self.server.pid()) {
            hooks.process_started(pid);
        }
        self.hooks = hooks;
    }

    /// Reports the numbers of bytes that were sent and received to the hooks.
    #[cold]
    pub(crate) fn record_bytes(&mut self, hooks: &ConnectionHooks) {
        hooks.bytes(Direction::Sent, self.output.take_sent());
        hooks.bytes(Direction::Received, mem::take(&mut self.received));
    }

    /// Removes and returns the waker of the task that waits for the next event of a subscription.
    ///
    /// Wake it, or drop it without holding the lock.
    pub(crate) fn take_subscription_waker(&mut self, key: SubscriptionKey) -> Option<Waker> {
        let at = self.subscriptions.iter().position(|(waiting, _)| *waiting == key)?;
        Some(self.subscriptions.swap_remove(at).1)
    }

    /// Writes the engine's output, or returns the waker of the driver if the driver must write it.
    ///
    /// If one request is in flight, its caller writes it. If several are, the driver writes them together.
    pub(crate) fn send_or_wake_driver(&mut self) -> Option<Waker> {
        #[cfg(feature = "http")]
        if self.engine.is_http() {
            // Only the driver starts exchanges.
            return self.driver.take();
        }
        if self.engine.transmit().is_empty() {
            // The engine may have events without output, for example when the cache has answered a request.
            return if self.engine.session().has_events() { self.driver.take() } else { None };
        }
        // If there is no waker, the driver was already woken.
        let driver = self.driver.take()?;
        if self.engine.session().in_flight() > 1 || self.is_traced {
            return Some(driver);
        }
        let mut cx = Context::from_waker(&driver);
        self.output.write(&mut self.engine, &mut cx, |_, _| {});
        if self.output.has_failed() || !self.engine.transmit().is_empty() {
            return Some(driver);
        }
        if self.engine.session().has_events() || !self.is_timer_set_by(self.engine.poll_timeout()) {
            return Some(driver);
        }
        self.driver = Some(driver);
        None
    }

    /// Frees the request buffers if no request is in flight, because a program may have many idle connections.
    ///
    /// A busy connection does not free them until the timer elapses.
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

    /// Records that the driver's timer has elapsed.
    pub(crate) fn timer_elapsed(&mut self) {
        self.timer_deadline = None;
        self.idle_count = 0;
    }

    /// Returns whether the driver's timer elapses at this time or earlier. `true` if `at` is `None`.
    pub(crate) fn is_timer_set_by(&self, at: Option<Timestamp>) -> bool {
        at.is_none_or(|at| self.timer_deadline.is_some_and(|timer_deadline| timer_deadline <= at))
    }

    /// Tells the engine if the authorization of the requests has changed.
    #[inline]
    pub(crate) fn check_authorization(&mut self) {
        self.connection.check_authorization(&mut self.engine);
    }

    /// Handles events of the engine, until the queue of a consumer is half full. Returns whether there were events.
    ///
    /// Adds the tasks to wake to `wakers`.
    pub(crate) fn handle_events(&mut self, server: &OnceLock<Arc<ServerInfo>>, wakers: &mut Vec<Waker>) -> bool {
        let mut any = false;
        self.check_authorization();
        while let Some(event) = self.engine.poll_event() {
            any = true;
            if let Some(hooks) = &self.hooks {
                hooks.record(&event, self.engine.session());
            }
            match event {
                Event::Reply(reply) => wakers.extend(self.callers.receive(reply)),
                Event::Subscription(key) => wakers.extend(self.take_subscription_waker(key)),
                Event::ServerRequest(request) => self.server_requests.push(ServerRequestEvent::Received(request)),
                Event::ServerRequestCancelled(key) => self.server_requests.push(ServerRequestEvent::Cancelled(key)),
                event => {
                    self.connection.handle_event(&event, &mut self.engine.calls());
                    match &event {
                        Event::Connected => {
                            if let Some(info) = self.engine.session().shared_server() {
                                let _ = server.set(info);
                            }
                            self.waiters.take(wakers);
                        }
                        Event::Restart | Event::Closed(_) => self.waiters.take(wakers),
                        Event::Notification(notification) => wakers.extend(self.callers.report(notification)),
                        _ => {}
                    }
                    let dropped = self.consumers.push(event, wakers);
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

    /// Stores the error of a stream, with which the connection is going to end. The exit of a process is a better reason than the error
    /// of its pipe.
    #[cold]
    pub(crate) fn stream_failed(&mut self, error: &std::io::Error) {
        if self.server.process().is_none() {
            self.connection.failure = Some(error.to_string().into());
        }
    }

    /// Ends the connection because of a failure of the client.
    #[cold]
    pub(crate) fn fail(&mut self, why: Arc<str>) {
        self.engine.close_failed(Arc::clone(&why));
        self.connection.failure = Some(why);
    }

    /// Closes the connection. All pending requests fail, and all waiting tasks are added to `wakers`.
    pub(crate) fn close(&mut self, server: &OnceLock<Arc<ServerInfo>>, wakers: &mut Vec<Waker>) {
        self.engine.close();
        while self.handle_events(server, wakers) {}
        self.connection.opening.get_or_insert(OpeningOutcome::Closed(CloseReason::ByClient));
        // The streams of events continue with the restarted server.
        if !self.will_restart() {
            // The engine reports no end before the opening.
            self.connection.close_reason.get_or_insert(CloseReason::ByClient);
            self.consumers.end(wakers);
        }
        self.waiters.take(wakers);
    }

    /// Returns why the connection has ended, or `None` if it is open or will be restarted.
    pub(crate) fn connection_end(&mut self) -> Option<ConnectionEnd> {
        let reason = self.connection.close_reason.clone().filter(|_| !self.will_restart())?;
        Some(ConnectionEnd::new(reason, self.server.report()))
    }

    /// Stores the report of the shutdown, and adds the tasks that wait for it to `wakers`.
    pub(crate) fn finish(&mut self, report: ShutdownReport, wakers: &mut Vec<Waker>) {
        self.report = Some(report);
        self.waiters.take(wakers);
    }

    pub(crate) fn is_running(&mut self) -> bool {
        match self.server.process() {
            Some(process) => process.observe().is_none(),
            None => self.engine.session().phase() != Phase::Closed,
        }
    }

    /// Returns the details of the end of the connection, for errors.
    pub(crate) fn end_details(&mut self) -> EndDetails {
        EndDetails { process: self.server.report(), failure: self.connection.failure.clone() }
    }
}

/// The wakers of the tasks that wait for the opening or the end of a connection, by key.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    wakers: BTreeMap<u64, Waker>,
    next_key: u64,
}

impl Waiters {
    /// Stores the waker of the waiter with this key, which is new if it is `None`. Returns the waker that it replaces.
    pub(crate) fn insert(&mut self, key: &mut Option<u64>, waker: Waker) -> Option<Waker> {
        let key = *key.get_or_insert_with(|| {
            self.next_key += 1;
            self.next_key
        });
        self.wakers.insert(key, waker)
    }

    /// Removes the waker of the waiter with this key, and returns it.
    pub(crate) fn remove(&mut self, key: u64) -> Option<Waker> {
        self.wakers.remove(&key)
    }

    /// Adds all wakers to `wakers`, and removes them from this list.
    pub(crate) fn take(&mut self, wakers: &mut Vec<Waker>) {
        wakers.extend(mem::take(&mut self.wakers).into_values());
    }
}
