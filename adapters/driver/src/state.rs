//! [`State`]: what the lock of a connection protects.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use mcpwire_client::{
    ConnectionEnd, ConnectionFacts, ConnectionHooks, ConnectionState, Direction, Exit, ProcessReport, ShutdownReport,
    StderrTail, catch_panic,
};
use mcpwire_core::internal::{AnyEngine, OpeningOutcome};
use mcpwire_core::{
    CloseReason, Event, Notification, Phase, Reply, RequestKey, ServerInfo, ServerRequest, ServerRequestId,
    SubscriptionKey, Timestamp,
};
use mcpwire_process::Process;

use crate::opening::Opening;
use crate::slots::{Slot, Slots};
use crate::subscribers::EventSink;
use mcpwire_client::Writer;

/// Maximum number of reports about a request that wait for its caller. 64: later reports say more than earlier ones.
const MOST_REPORTS: usize = 64;

/// How often no request must be in flight before a connection counts as busy. 16: many programs connect to many servers and
/// make one or two calls.
const OFTEN: u8 = 16;

/// What the lock of a connection protects. While the lock is held, nothing waits, and no code of the program runs.
pub(crate) struct State {
    pub(crate) engine: AnyEngine,
    pub(crate) writer: Option<Writer>,
    /// Whether something was written and not flushed.
    pub(crate) unflushed: bool,
    slots: Slots,
    /// Wakes the driver. The code that wakes it takes the waker, so that the driver is woken once.
    pub(crate) driver: Option<Waker>,
    pub(crate) opening: Opening,
    /// Whether the driver runs on threads of its own, whatever the program does.
    pub(crate) runs_by_itself: bool,
    /// `None` when nothing is left of the process, and for a pair of streams.
    pub(crate) process: Option<Process>,
    pub(crate) pid: Option<u32>,
    pub(crate) exit: Option<Exit>,
    pub(crate) stderr: StderrTail,
    /// What the client remembers of the connection.
    pub(crate) record: ConnectionState,
    /// `None` until the program asks for events.
    pub(crate) subscribers: Option<Box<dyn EventSink>>,
    /// The tasks that wait for the next event of a subscription.
    pub(crate) subscriptions: Vec<(SubscriptionKey, Waker)>,
    /// The requests of the server, and their cancellations, for the driver to take.
    pub(crate) server_requests: Vec<ServerRequestEvent>,
    /// The program's callbacks for what happens on the connection.
    pub(crate) hooks: Option<Arc<dyn ConnectionHooks>>,
    /// Number of bytes that were sent since the callbacks learned of them.
    sent: u64,
    /// Number of bytes that were received since the callbacks learned of them.
    pub(crate) received: u64,
    pub(crate) close_intent: CloseIntent,
    /// The message of a panic in the writer. The driver ends the connection with it.
    pub(crate) writer_panic: Option<String>,
    /// How the server ended, once the driver has ended.
    pub(crate) report: Option<ShutdownReport>,
    pub(crate) ended: Vec<Waker>,
    /// Whether the program watches the messages: then only the driver writes.
    pub(crate) traced: bool,
    /// When the driver's timer goes off.
    pub(crate) armed: Option<Timestamp>,
    /// How often no request was in flight since the timer last went off.
    lulls: u8,
}

/// Whether, and how, the clients want the connection to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CloseIntent {
    /// Nobody has asked for the end.
    #[default]
    None,
    /// End the server step by step.
    Shutdown,
    /// Kill the server: a client has asked for it, or all clients were dropped.
    Kill,
}

/// What has arrived for a request. The caller must drop `unused_waker` without the lock: it may be the last reference to a
/// task, whose values may need the lock when they are dropped.
pub(crate) enum SlotPoll {
    Pending {
        reports: VecDeque<Notification>,
        unused_waker: Option<Waker>,
    },
    Reply {
        reports: VecDeque<Notification>,
        reply: Reply,
        unused_waker: Option<Waker>,
    },
    /// The connection does not know the request, so no reply will arrive.
    Unknown,
}

/// A request of the server, or its cancellation.
pub(crate) enum ServerRequestEvent {
    Received(ServerRequest),
    Cancelled(ServerRequestId),
}

/// Adds a task to the tasks to wake, unless it is there already.
pub(crate) fn wait(waiting: &mut Vec<Waker>, cx: &mut Context<'_>) {
    if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
        waiting.push(cx.waker().clone());
    }
}

impl State {
    pub(crate) fn new(engine: AnyEngine, writer: Option<Writer>, process: Option<Process>) -> Self {
        State {
            engine,
            writer,
            unflushed: false,
            slots: Slots::default(),
            driver: None,
            opening: Opening::default(),
            runs_by_itself: false,
            pid: process.as_ref().and_then(Process::pid),
            process,
            exit: None,
            stderr: StderrTail::default(),
            record: ConnectionState::default(),
            subscribers: None,
            subscriptions: Vec::new(),
            server_requests: Vec::new(),
            hooks: None,
            sent: 0,
            received: 0,
            close_intent: CloseIntent::None,
            writer_panic: None,
            report: None,
            ended: Vec::new(),
            traced: false,
            armed: None,
            lulls: 0,
        }
    }

    /// Sets the program's callbacks for what happens on the connection.
    pub(crate) fn set_hooks(&mut self, hooks: Option<Arc<dyn ConnectionHooks>>) {
        if let (Some(hooks), Some(pid)) = (&hooks, self.pid) {
            hooks.process_started(pid);
        }
        self.hooks = hooks;
    }

    /// Records the bytes on the wire for the program's callbacks.
    #[cold]
    pub(crate) fn record_bytes(&mut self, hooks: &dyn ConnectionHooks) {
        hooks.bytes(Direction::Sent, mem::take(&mut self.sent));
        hooks.bytes(Direction::Received, mem::take(&mut self.received));
    }

    /// Adds a slot for the reply to a request that was sent, and for reports about it if the caller wants them.
    pub(crate) fn expect(&mut self, key: RequestKey, wants_reports: bool) {
        let reports = wants_reports.then(VecDeque::new);
        self.slots.add(key, Slot { reply: None, waker: None, reports });
    }

    /// Returns what has arrived for a request. If that is no reply, wakes the task when more arrives.
    pub(crate) fn poll_slot(&mut self, key: RequestKey, cx: &mut Context<'_>) -> SlotPoll {
        let Some(slot) = self.slots.get_mut(key) else { return SlotPoll::Unknown };
        let reports = slot.reports.as_mut().map(mem::take).unwrap_or_default();
        if slot.reply.is_none() {
            let is_same = slot.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
            let unused_waker = if is_same { None } else { slot.waker.replace(cx.waker().clone()) };
            return SlotPoll::Pending { reports, unused_waker };
        }
        match self.slots.take(key) {
            Some(Slot { reply: Some(reply), waker: unused_waker, .. }) => {
                SlotPoll::Reply { reports, reply, unused_waker }
            }
            _ => SlotPoll::Unknown,
        }
    }

    /// Cancels a request; the server receives the reason. Returns the waker of its task, to be dropped without the lock.
    #[must_use]
    pub(crate) fn cancel(&mut self, key: RequestKey, reason: &str, now: Timestamp) -> Option<Waker> {
        self.engine.calls().cancel(key, Some(reason), now);
        self.slots.take(key)?.waker
    }

    /// Forgets the task that waits for the next event of a subscription. Returns its waker, to be dropped without the lock.
    pub(crate) fn forget_subscriber(&mut self, key: SubscriptionKey) -> Option<Waker> {
        let at = self.subscriptions.iter().position(|(waiting, _)| *waiting == key)?;
        Some(self.subscriptions.swap_remove(at).1)
    }

    /// Sends the pending bytes, or returns the waker of the driver that must send them.
    ///
    /// If only one request is in flight, its caller writes it. The driver writes several requests together.
    pub(crate) fn hand_over(&mut self) -> Option<Waker> {
        #[cfg(feature = "http")]
        if self.engine.is_http() {
            // Only the driver starts exchanges.
            return self.driver.take();
        }
        if self.engine.transmit().is_empty() {
            // The engine may have events all the same: a request has ended, or its response came from the cache.
            return if self.engine.session().has_events() { self.driver.take() } else { None };
        }
        // Without a waker, the driver was woken already.
        let driver = self.driver.take()?;
        if self.engine.session().in_flight() > 1 || self.traced {
            return Some(driver);
        }
        let mut cx = Context::from_waker(&driver);
        let written = self.write(&mut cx, |_, _| {});
        if written.is_err() || !self.engine.transmit().is_empty() {
            return Some(driver);
        }
        if self.engine.session().has_events() || !self.has_time(self.engine.poll_timeout()) {
            return Some(driver);
        }
        self.driver = Some(driver);
        None
    }

    /// Frees the request buffers if no request is in flight: a program may have many idle connections.
    ///
    /// If requests follow each other, the buffers are kept until the timer that was set for one of them goes off.
    pub(crate) fn shrink(&mut self) {
        if self.engine.session().in_flight() > 0 {
            return;
        }
        self.lulls = self.lulls.saturating_add(1);
        let is_busy = self.lulls > OFTEN && self.armed.is_some();
        if !is_busy {
            self.engine.shrink();
        }
        self.slots.keep(is_busy);
    }

    /// Notes that the driver's timer has gone off.
    pub(crate) fn gone_off(&mut self) {
        self.armed = None;
        self.lulls = 0;
    }

    /// Returns whether the driver's timer goes off at this time or before.
    pub(crate) fn has_time(&self, at: Option<Timestamp>) -> bool {
        at.is_none_or(|at| self.armed.is_some_and(|armed| armed <= at))
    }

    /// Writes what can be written without waiting. Returns whether anything was written, or an error if the stream is closed.
    pub(crate) fn write(
        &mut self,
        cx: &mut Context<'_>,
        watch: impl FnMut(Direction, &[u8]),
    ) -> Result<bool, std::io::Error> {
        // The writer may be the program's. Its panic must not reach the caller whose request is written.
        catch_panic(|| self.write_some(cx, watch)).unwrap_or_else(|message| {
            self.writer_panic = Some(message);
            self.writer = None;
            Err(std::io::ErrorKind::BrokenPipe.into())
        })
    }

    fn write_some(
        &mut self,
        cx: &mut Context<'_>,
        mut watch: impl FnMut(Direction, &[u8]),
    ) -> Result<bool, std::io::Error> {
        let mut written = false;
        while let Some(writer) = &mut self.writer {
            let bytes = self.engine.transmit();
            if bytes.is_empty() {
                break;
            }
            match writer.as_mut().poll_write(cx, bytes) {
                Poll::Pending => break,
                Poll::Ready(Ok(n)) if n > 0 => {
                    watch(Direction::Sent, &bytes[..n]);
                    self.engine.transmitted(n);
                    self.sent += n as u64;
                    self.unflushed = true;
                    written = true;
                }
                Poll::Ready(Ok(_)) => return Err(std::io::ErrorKind::WriteZero.into()),
                Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        if self.unflushed
            && let Some(writer) = &mut self.writer
            && let Poll::Ready(flushed) = writer.as_mut().poll_flush(cx)
        {
            self.unflushed = false;
            flushed?;
        }
        Ok(written)
    }

    /// Handles the events of the engine, until a consumer of events should have its turn. Returns whether there were any.
    /// Adds the tasks to wake to `wakers`.
    pub(crate) fn events(&mut self, server: &OnceLock<Arc<ServerInfo>>, wakers: &mut Vec<Waker>) -> bool {
        let mut any = false;
        while let Some(event) = self.engine.poll_event() {
            any = true;
            if let Some(hooks) = &self.hooks {
                hooks.record(&event, self.engine.session());
            }
            match event {
                Event::Reply(reply) => {
                    // Without a slot, the caller does not wait any more.
                    if let Some(slot) = self.slots.get_mut(reply.key()) {
                        wakers.extend(slot.waker.take());
                        slot.reply = Some(reply);
                    }
                }
                Event::Subscription(key) => wakers.extend(self.forget_subscriber(key)),
                Event::ServerRequest(ask) => self.server_requests.push(ServerRequestEvent::Received(ask)),
                Event::ServerRequestCancelled(key) => self.server_requests.push(ServerRequestEvent::Cancelled(key)),
                Event::Connected => {
                    if let Some(info) = self.engine.session().shared_server() {
                        let _ = server.set(info);
                    }
                    self.opened(OpeningOutcome::Connected, wakers);
                }
                Event::Restart => self.opened(OpeningOutcome::Restart, wakers),
                event => {
                    self.record.handle_event(&event, &mut self.engine.calls());
                    match &event {
                        Event::Notification(notification) => self.report(notification, wakers),
                        Event::Closed(reason) if server.get().is_none() => {
                            self.opened(OpeningOutcome::Closed(reason.clone()), wakers);
                        }
                        _ => {}
                    }
                    let is_last = matches!(event, Event::Closed(_));
                    if let Some(subscribers) = &mut self.subscribers {
                        let dropped = subscribers.push(event, wakers);
                        if let Some(hooks) = &self.hooks {
                            hooks.dropped(dropped);
                        }
                        if is_last {
                            subscribers.end(wakers);
                        }
                        if subscribers.is_crowded() {
                            return true;
                        }
                    }
                }
            }
        }
        any
    }

    /// Adds the progress of a request, or the status of its task, to the reports for its caller.
    fn report(&mut self, notification: &Notification, wakers: &mut Vec<Waker>) {
        if let Some(key) = notification.request_key()
            && let Some(Slot { reports: Some(reports), waker, .. }) = self.slots.get_mut(key)
        {
            if reports.len() == MOST_REPORTS {
                reports.pop_front();
            }
            reports.push_back(notification.clone());
            wakers.extend(waker.take());
        }
    }

    /// Ends the connection because this side cannot continue.
    #[cold]
    pub(crate) fn fail(&mut self, why: Arc<str>) {
        self.engine.close_failed(Arc::clone(&why));
        self.record.failure = Some(why);
    }

    /// Closes the connection: all pending requests fail, and all waiting tasks are added to `wakers`.
    pub(crate) fn close(&mut self, server: &OnceLock<Arc<ServerInfo>>, wakers: &mut Vec<Waker>) {
        self.engine.close();
        while self.events(server, wakers) {}
        if self.opening.outcome.is_none() && server.get().is_none() {
            self.opened(OpeningOutcome::Closed(CloseReason::ByClient), wakers);
        }
        // A server that is restarted continues to report events.
        if !self.is_to_be_restarted() {
            // Before the opening, the engine reports no end.
            self.record.close_reason.get_or_insert(CloseReason::ByClient);
            self.end_subscribers(wakers);
        }
        wakers.extend(mem::take(&mut self.opening.waiting));
    }

    /// Ends the queues of events: no more events will be added.
    pub(crate) fn end_subscribers(&mut self, wakers: &mut Vec<Waker>) {
        if let Some(subscribers) = &mut self.subscribers {
            subscribers.end(wakers);
        }
    }

    /// Returns why the connection has ended, or `None` if it is open or about to be restarted.
    pub(crate) fn connection_end(&mut self) -> Option<ConnectionEnd> {
        let reason = self.record.close_reason.clone().filter(|_| !self.is_to_be_restarted())?;
        Some(ConnectionEnd::new(reason, (&mut *self).process_report()))
    }

    /// Removes the process, of which nothing is left, and keeps its exit status.
    pub(crate) fn gone(&mut self, report: &ShutdownReport) {
        self.process = None;
        self.exit = report.exit.or(self.exit);
    }

    /// Stores how the server ended.
    pub(crate) fn end(&mut self, report: ShutdownReport, wakers: &mut Vec<Waker>) {
        self.report = Some(report);
        wakers.append(&mut self.ended);
    }

    pub(crate) fn is_running(&mut self) -> bool {
        match &mut self.process {
            Some(process) => process.observe().is_none(),
            None => self.engine.session().phase() != Phase::Closed,
        }
    }
}

/// For a reference, because a trait object brings the code that drops its type: 4 KiB for the state, in the driver and again in the
/// program.
impl ConnectionFacts for &mut State {
    fn process_report(&mut self) -> Option<Box<ProcessReport>> {
        let exit = match &mut self.process {
            Some(process) => process.observe().copied(),
            None => Some(self.exit?),
        };
        Some(Box::new(ProcessReport { exit, stderr_tail: self.stderr.shown() }))
    }

    fn failure(&self) -> Option<Arc<str>> {
        self.record.failure.clone()
    }
}
