//! What is behind the lock of a connection.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use mcpwire_client::{
    ConnectionEnd, ConnectionFacts, ConnectionState, Direction, Exit, ProcessReport, ShutdownReport, StderrTail,
    catch_panic,
};
use mcpwire_core::internal::AnyEngine;
use mcpwire_core::{
    CloseReason, Event, Notification, Phase, Reply, RequestKey, SendError, ServerInfo, ServerRequest, ServerRequestId,
    SubscriptionKey, Timestamp,
};
use mcpwire_process::Process;

use crate::notifications::Subscribers;
use crate::slots::{Slot, Slots};
use mcpwire_client::Writer;

/// How many reports about a request may wait for whoever takes them. 64: later ones say more than earlier ones.
const MOST_REPORTS: usize = 64;

/// How often there is nothing left to answer before a connection counts as busy. 16: many a program connects to many servers
/// and makes a call or two.
const OFTEN: u8 = 16;

/// What is behind the lock. Nothing is waited for while it is held, and no code of the user's is called.
pub(crate) struct State {
    pub(crate) engine: AnyEngine,
    pub(crate) writer: Option<Writer>,
    /// Something was written that has not been flushed.
    pub(crate) unflushed: bool,
    slots: Slots,
    /// Wakes the driver. Taken by who does it, so that it is done once.
    pub(crate) driver: Option<Waker>,
    pub(crate) opening: Opening,
    /// The driver goes on, whatever the program does.
    pub(crate) runs_by_itself: bool,
    /// Gone when nothing is left of it.
    pub(crate) process: Option<Process>,
    pub(crate) pid: Option<u32>,
    pub(crate) exit: Option<Exit>,
    pub(crate) stderr: StderrTail,
    /// What the client remembers of the connection.
    pub(crate) record: ConnectionState,
    pub(crate) subscribers: Subscribers,
    /// Who waits for what a subscription has to tell.
    pub(crate) subscriptions: Vec<(SubscriptionKey, Waker)>,
    /// What the server has asked for, and whether it still wants to know, for the driver to take.
    pub(crate) asks: Vec<Asked>,
    pub(crate) wish: Wish,
    /// The message of a panic in the writer, for the driver, which ends the connection with it.
    pub(crate) writer_panic: Option<String>,
    /// How it ended, once the driver has done its work.
    pub(crate) report: Option<ShutdownReport>,
    pub(crate) ended: Vec<Waker>,
    /// Whether what is written is watched: then the driver alone writes.
    pub(crate) traced: bool,
    /// When the driver's timer goes off.
    pub(crate) armed: Option<Timestamp>,
    /// How often there was nothing left to answer since it last did.
    lulls: u8,
}

/// What the clients want of the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To go on.
    #[default]
    Live,
    /// To end the server step by step.
    End,
    /// Nobody is left to want anything.
    Abandoned,
}

/// How far the opening has come, and who waits for it.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    pub(crate) outcome: Option<Opened>,
    /// Somebody knows that it is open.
    pub(crate) told: bool,
    /// One of those who wait has taken it upon itself to start the server once more.
    pub(crate) restarting: bool,
    pub(crate) waiting: Vec<Waker>,
}

#[derive(Clone, Debug)]
pub(crate) enum Opened {
    Connected,
    Restart,
    Closed(CloseReason),
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

/// What the server wants of the client.
pub(crate) enum Asked {
    Asks(ServerRequest),
    GivesUp(ServerRequestId),
}

/// Adds a task to those that are woken, once.
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
            pid: process.as_ref().map(Process::pid),
            process,
            exit: None,
            stderr: StderrTail::default(),
            record: ConnectionState::default(),
            subscribers: Subscribers::default(),
            subscriptions: Vec::new(),
            asks: Vec::new(),
            wish: Wish::Live,
            writer_panic: None,
            report: None,
            ended: Vec::new(),
            traced: false,
            armed: None,
            lulls: 0,
        }
    }

    /// Takes the place of a server that ended on the probe.
    pub(crate) fn restart(&mut self, engine: AnyEngine, writer: Writer, process: Process) {
        self.engine = engine;
        self.writer = Some(writer);
        self.unflushed = false;
        self.pid = Some(process.pid());
        self.process = Some(process);
        self.exit = None;
        self.stderr = StderrTail::default();
        self.writer_panic = None;
        self.record = ConnectionState::default();
        self.report = None;
        self.driver = None;
        self.armed = None;
        self.opening.outcome = None;
        self.opening.restarting = false;
    }

    /// Makes room for the reply of a request that was sent, and for reports about it if the caller wants them.
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

    /// Nobody waits any more for what a subscription has to tell. What woke the task that did.
    pub(crate) fn forget_subscriber(&mut self, key: SubscriptionKey) -> Option<Waker> {
        let at = self.subscriptions.iter().position(|(waiting, _)| *waiting == key)?;
        Some(self.subscriptions.swap_remove(at).1)
    }

    /// Sees to it that what waits is sent. One call at a time is written where it is made; where there are many, the driver
    /// writes them together. Who is to be woken for it, if anybody.
    pub(crate) fn hand_over(&mut self) -> Option<Waker> {
        #[cfg(feature = "http")]
        if self.engine.is_http() {
            // Requests are made by the driver alone.
            return self.driver.take();
        }
        if self.engine.transmit().is_empty() {
            // What was done may have ended a request, or a question, all the same; or its answer was there already.
            return if self.engine.session().has_events() { self.driver.take() } else { None };
        }
        // Without its waker the driver is on its way already.
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

    /// Gives back what only requests take, if there are none: a program may have many connections that are idle for long. Where
    /// one request follows another it is kept, until the timer that was set for one of them goes off.
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

    /// The driver's timer has gone off.
    pub(crate) fn gone_off(&mut self) {
        self.armed = None;
        self.lulls = 0;
    }

    /// Whether the driver's timer goes off by then.
    pub(crate) fn has_time(&self, at: Option<Timestamp>) -> bool {
        at.is_none_or(|at| self.armed.is_some_and(|armed| armed <= at))
    }

    /// Writes what can be written without waiting. Whether anything was; an error when nobody reads any more.
    pub(crate) fn write(
        &mut self,
        cx: &mut Context<'_>,
        watch: impl FnMut(Direction, &[u8]),
    ) -> Result<bool, std::io::Error> {
        // The writer may be the program's own, and its panic is none of the caller's whose request is written.
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
            match event {
                Event::Reply(reply) => {
                    // Without a slot, the caller does not wait any more.
                    if let Some(slot) = self.slots.get_mut(reply.key()) {
                        wakers.extend(slot.waker.take());
                        slot.reply = Some(reply);
                    }
                }
                Event::Subscription(key) => wakers.extend(self.forget_subscriber(key)),
                Event::ServerRequest(ask) => self.asks.push(Asked::Asks(ask)),
                Event::ServerRequestCancelled(key) => self.asks.push(Asked::GivesUp(key)),
                Event::Connected => {
                    if let Some(info) = self.engine.session().shared_server() {
                        let _ = server.set(info);
                    }
                    self.opened(Opened::Connected, wakers);
                }
                Event::Restart => self.opened(Opened::Restart, wakers),
                event => {
                    self.record.handle_event(&event, &mut self.engine.calls());
                    match &event {
                        Event::Notification(notification) => self.report(notification, wakers),
                        Event::Closed(reason) if server.get().is_none() => {
                            self.opened(Opened::Closed(reason.clone()), wakers);
                        }
                        _ => {}
                    }
                    let is_last = matches!(event, Event::Closed(_));
                    self.subscribers.push(event, wakers);
                    if is_last {
                        self.subscribers.end(wakers);
                    }
                    if self.subscribers.is_crowded() {
                        return true;
                    }
                }
            }
        }
        any
    }

    /// Adds the progress of a request, or the status of its task, to the reports for its caller.
    fn report(&mut self, notification: &Notification, wakers: &mut Vec<Waker>) {
        if let Notification::Progress { key, .. } | Notification::TaskStatus { key: Some(key), .. } = notification
            && let Some(Slot { reports: Some(reports), waker, .. }) = self.slots.get_mut(*key)
        {
            if reports.len() == MOST_REPORTS {
                reports.pop_front();
            }
            reports.push_back(notification.clone());
            wakers.extend(waker.take());
        }
    }

    fn opened(&mut self, opened: Opened, wakers: &mut Vec<Waker>) {
        self.opening.outcome = Some(opened);
        wakers.extend(mem::take(&mut self.opening.waiting));
    }

    /// Ends the connection because this side cannot go on.
    #[cold]
    pub(crate) fn fail(&mut self, why: Arc<str>) {
        self.engine.close_failed(Arc::clone(&why));
        self.record.failure = Some(why);
    }

    /// Ends the connection at once, as far as those are concerned who wait for something.
    pub(crate) fn close(&mut self, server: &OnceLock<Arc<ServerInfo>>, wakers: &mut Vec<Waker>) {
        self.engine.close();
        while self.events(server, wakers) {}
        if self.opening.outcome.is_none() && server.get().is_none() {
            self.opened(Opened::Closed(CloseReason::ByClient), wakers);
        }
        // A server that is restarted continues to report events.
        if !self.is_to_be_restarted() {
            // Before the opening, the engine reports no end.
            self.record.close_reason.get_or_insert(CloseReason::ByClient);
            self.subscribers.end(wakers);
        }
        wakers.extend(mem::take(&mut self.opening.waiting));
    }

    /// Whether the server ended on the probe, and may be started once more.
    pub(crate) fn is_to_be_restarted(&self) -> bool {
        self.wish == Wish::Live && matches!(self.opening.outcome, Some(Opened::Restart))
    }

    /// Begins to open the connection, or joins those who wait for that already.
    pub(crate) fn begin_opening(&mut self, now: Timestamp) -> Result<(), SendError> {
        match (&self.opening.outcome, self.engine.session().phase()) {
            (Some(Opened::Restart | Opened::Closed(_)), _) | (None, Phase::Connecting) => Ok(()),
            // Whoever began it did not wait for the end of it.
            (Some(Opened::Connected), Phase::Ready) if !self.opening.told => Ok(()),
            _ => self.engine.calls().initialize(now),
        }
    }

    /// It will not be started once more: everybody is told.
    pub(crate) fn give_up_opening(&mut self, wakers: &mut Vec<Waker>) {
        self.opening.restarting = false;
        self.opened(Opened::Closed(CloseReason::ByServer), wakers);
        self.record.close_reason.get_or_insert(CloseReason::ByServer);
        self.subscribers.end(wakers);
        wakers.append(&mut self.ended);
    }

    /// Returns why the connection has ended, or `None` if it is open or about to be restarted.
    pub(crate) fn connection_end(&mut self) -> Option<ConnectionEnd> {
        let reason = self.record.close_reason.clone().filter(|_| !self.is_to_be_restarted())?;
        Some(ConnectionEnd::new(reason, self.process_report()))
    }

    /// Nothing is left of the process. How it ended is kept in the same moment: a caller that asks has one or the other.
    pub(crate) fn gone(&mut self, report: &ShutdownReport) {
        self.process = None;
        self.exit = report.exit.or(self.exit);
    }

    /// The driver has done its work.
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

impl ConnectionFacts for State {
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
