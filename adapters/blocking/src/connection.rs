//! One connection: an engine, what carries its bytes, and the process at the other end. The loop that drives them.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use mcpwire_client::{
    ConnectionContext, ConnectionFacts, PanicSource, ProcessReport, ShutdownReport, Stderr, Tracer, finish_ask,
};
use mcpwire_core::internal::{AnyEngine, KnownTools};
use mcpwire_core::shutdown::GracePeriods;
use mcpwire_core::{
    Event, Notification, Phase, Reply, RequestKey, ServerRequest, SubscriptionEvent, SubscriptionKey, Timestamp,
};
use mcpwire_process::{Next, Process, Stopping};

use crate::answers::Answers;
use crate::cancel::Canceller;
use crate::options::Listener;
use crate::transport::{Clock, Surroundings, Transport};

pub(crate) struct Connection {
    pub(crate) engine: AnyEngine,
    transport: Box<dyn Transport>,
    process: Option<Process>,
    pub(crate) stderr: Stderr,
    pub(crate) tracer: Option<Tracer>,
    pub(crate) listener: Option<Listener>,
    pub(crate) answers: Answers,
    pub(crate) context: ConnectionContext,
    /// Why this side could not go on, if that is how the connection ended.
    pub(crate) failure: Option<Arc<str>>,
    pub(crate) clock: Clock,
    /// The time, if it has been asked for a moment ago, on the way into the wait for an answer.
    asked: Option<Timestamp>,
    canceller: Option<Canceller>,
    /// Replies to requests that nobody waits for yet.
    replies: BTreeMap<RequestKey, Reply>,
    pub(crate) tools: KnownTools,
}

/// How often in a row it is looked at what has come. At 16 KiB or more each, that is 1 MiB.
const CAUGHT_UP: usize = 64;

/// How long a session may take to end on the server that nobody waits for.
const ABANDONED: Duration = Duration::from_secs(5);

/// What opening the connection came to.
pub(crate) enum Opened {
    Connected,
    Restart,
    Closed(mcpwire_core::CloseReason),
}

impl Connection {
    pub(crate) fn new(
        engine: AnyEngine,
        transport: Box<dyn Transport>,
        process: Option<Process>,
        clock: Clock,
    ) -> Self {
        Connection {
            engine,
            transport,
            process,
            stderr: Stderr::default(),
            tracer: None,
            listener: None,
            answers: Answers::default(),
            context: ConnectionContext::default(),
            failure: None,
            clock,
            asked: None,
            canceller: None,
            replies: BTreeMap::new(),
            tools: KnownTools::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Tells the next wait for an answer the time, as far as it is known: it need not ask for it again.
    pub(crate) fn wait_knows(&mut self, now: Option<Timestamp>) {
        self.asked = now;
    }

    /// Drives the opening to its end.
    pub(crate) fn open(&mut self) -> io::Result<Opened> {
        loop {
            while let Some(event) = self.engine.poll_event() {
                match event {
                    Event::Connected => {
                        self.flush();
                        return Ok(Opened::Connected);
                    }
                    Event::Restart => return Ok(Opened::Restart),
                    Event::Closed(how) => return Ok(Opened::Closed(how)),
                    other => self.event(other, None, &mut |_| {}),
                }
            }
            if self.was_cancelled() {
                self.engine.close();
            } else {
                self.turn(None)?;
            }
        }
    }

    /// Drives the engine until the request has ended.
    pub(crate) fn wait(
        &mut self,
        key: RequestKey,
        on_report: &mut dyn FnMut(&Notification),
    ) -> io::Result<Option<Reply>> {
        let mut asked = self.asked.take();
        if let Some(reply) = self.replies.remove(&key) {
            return Ok(Some(reply));
        }
        loop {
            while let Some(event) = self.engine.poll_event() {
                match event {
                    Event::Reply(reply) if reply.key() == key => {
                        // A timeout has left a word for the server behind.
                        if reply.error().is_some() {
                            self.flush();
                        }
                        return Ok(Some(reply));
                    }
                    other => {
                        let event = || self.event(other, Some(key), on_report);
                        if let Err(panic) = catch_unwind(AssertUnwindSafe(event)) {
                            // It is the caller's own callback. The panic is the caller's, and the request nobody's.
                            self.cancel(key);
                            resume_unwind(panic);
                        }
                    }
                }
            }
            if !self.engine.session().is_waiting(key) {
                return Ok(None);
            }
            if self.was_cancelled() {
                let now = self.now();
                self.engine.calls().cancel(key, Some("cancelled by the caller"), now);
            } else {
                self.asked = asked.take();
                self.turn(None)?;
            }
        }
    }

    /// Gives up a request. The server is told.
    pub(crate) fn cancel(&mut self, key: RequestKey) {
        let now = self.now();
        self.engine.calls().cancel(key, Some("no longer needed"), now);
        // Its reply is of no interest any more.
        let _ = self.wait(key, &mut |_| {});
        self.flush();
    }

    /// Drives the engine until a subscription has something to tell; `Ok(None)` if that takes longer than `until`, `Err` of
    /// nothing if the wait was cancelled.
    pub(crate) fn next_of(
        &mut self,
        key: SubscriptionKey,
        until: Option<Timestamp>,
    ) -> io::Result<Result<Option<SubscriptionEvent>, ()>> {
        loop {
            while let Some(event) = self.engine.poll_event() {
                self.event(event, None, &mut |_| {});
            }
            let event = self.engine.calls().poll_subscription(key);
            if event.is_some() {
                // A deadline that has passed has left a word for the server behind.
                self.flush();
                return Ok(Ok(event));
            }
            let closed = self.engine.session().phase() == Phase::Closed;
            if closed || until.is_some_and(|until| self.now() >= until) {
                return Ok(Ok(None));
            }
            if self.was_cancelled() {
                return Ok(Err(()));
            }
            self.turn(until)?;
        }
    }

    /// Drives the engine until `until`, for the sake of what the server tells unasked.
    pub(crate) fn listen(&mut self, until: Timestamp) -> io::Result<()> {
        loop {
            while let Some(event) = self.engine.poll_event() {
                self.event(event, None, &mut |_| {});
            }
            if self.now() >= until || self.engine.session().phase() == Phase::Closed {
                return Ok(());
            }
            if self.was_cancelled() {
                return Ok(());
            }
            self.turn(Some(until))?;
        }
    }

    /// Takes in what has come already, without waiting.
    pub(crate) fn catch_up(&mut self) {
        for _ in 0..CAUGHT_UP {
            // A stream that fails will fail the next call as well.
            let _ = self.turn(Some(Timestamp::ORIGIN));
            while let Some(event) = self.engine.poll_event() {
                self.event(event, None, &mut |_| {});
            }
            if !self.transport.has_more() {
                break;
            }
        }
    }

    /// Writes what can be written without waiting.
    pub(crate) fn flush(&mut self) {
        if self.engine.is_http() || !self.engine.transmit().is_empty() {
            let (transport, engine, mut around) = self.split();
            transport.flush(engine, &mut around);
        }
    }

    pub(crate) fn canceller(&mut self) -> io::Result<Canceller> {
        if let Some(canceller) = &self.canceller {
            return Ok(canceller.clone());
        }
        let canceller = Canceller::new(self.transport.waker()?);
        self.canceller = Some(canceller.clone());
        Ok(canceller)
    }

    pub(crate) fn is_running(&mut self) -> bool {
        match &mut self.process {
            Some(process) => process.observe().is_none(),
            None => self.engine.session().phase() != Phase::Closed,
        }
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
    }

    /// Ends the server step by step.
    pub(crate) fn shut_down(&mut self) -> ShutdownReport {
        let grace_periods = self.context.grace_periods;
        self.flush();
        self.engine.close();
        if self.engine.is_http() {
            self.end_session(grace_periods);
            return ShutdownReport::of_streams();
        }
        let mut stopping = Stopping::new(grace_periods);
        loop {
            let Some(process) = &mut self.process else {
                self.transport.close_input();
                return ShutdownReport::of_streams();
            };
            match stopping.next(process, self.clock.now()) {
                Next::CloseInput => self.transport.close_input(),
                Next::Wait(until) => {
                    let (transport, _, mut around) = self.split();
                    transport.idle(&mut around, until);
                }
                Next::Done(report) => {
                    let (transport, _, mut around) = self.split();
                    transport.last_words(&mut around);
                    self.stderr.flush();
                    return report;
                }
            }
        }
    }

    /// Lets a session be ended on the server, which is not waited for long.
    #[cfg(feature = "http")]
    fn end_session(&mut self, grace_periods: GracePeriods) {
        let until = self.now() + grace_periods.after_close;
        while self.engine.http().is_some_and(|engine| engine.exchanges() > 0) && self.now() < until {
            while self.engine.poll_event().is_some() {}
            if self.turn(Some(until)).is_err() {
                return;
            }
        }
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "there is no HTTP")]
    fn end_session(&mut self, _: GracePeriods) {}

    /// Hands the parts that outlive a process to the connection to its successor.
    pub(crate) fn pass_on(&mut self, successor: &mut Connection) -> io::Result<()> {
        if let Some(canceller) = self.canceller.take() {
            canceller.rewire(successor.transport.waker()?);
            successor.canceller = Some(canceller);
        }
        successor.stderr = self.stderr.take_over();
        successor.tracer = self.tracer.take();
        successor.listener = self.listener.take();
        successor.answers = std::mem::take(&mut self.answers);
        successor.context = std::mem::take(&mut self.context);
        Ok(())
    }

    fn turn(&mut self, until: Option<Timestamp>) -> io::Result<()> {
        let deadline = self.engine.poll_timeout();
        let until = [deadline, until].into_iter().flatten().min();
        let (transport, engine, mut around) = self.split();
        let now = transport.turn(engine, &mut around, until)?;
        if deadline.is_some_and(|deadline| deadline <= now) {
            self.engine.handle_timeout(now);
        }
        Ok(())
    }

    fn was_cancelled(&self) -> bool {
        self.canceller.as_ref().is_some_and(Canceller::take)
    }

    fn event(&mut self, event: Event, waited_for: Option<RequestKey>, on_report: &mut dyn FnMut(&Notification)) {
        match event {
            Event::Reply(reply) => {
                self.replies.insert(reply.key(), reply);
                return;
            }
            Event::Notification(
                ref report @ (Notification::Progress { key, .. } | Notification::TaskStatus { key: Some(key), .. }),
            ) if Some(key) == waited_for => on_report(report),
            Event::Notification(Notification::ToolsChanged) => self.tools.invalidate(),
            Event::ServerRequest(ref ask) => self.answer(ask),
            _ => {}
        }
        if let Some(listener) = &mut self.listener {
            self.context.panics.catch(PanicSource::OnEvent, || listener(&event));
        }
    }

    fn answer(&mut self, ask: &ServerRequest) {
        let answer = self.answers.answer(ask, &self.context.panics);
        // Whoever answered may have taken a while.
        let now = self.clock.now();
        finish_ask(&mut self.engine.calls(), ask, answer, now);
    }

    fn split(&mut self) -> (&mut dyn Transport, &mut AnyEngine, Surroundings<'_>) {
        let around = Surroundings {
            clock: self.clock,
            #[cfg(unix)]
            asked: self.asked.take(),
            process: self.process.as_mut(),
            stderr: &mut self.stderr,
            tracer: self.tracer.as_mut(),
            panics: &self.context.panics,
            failure: &mut self.failure,
        };
        (&mut *self.transport, &mut self.engine, around)
    }
}

impl ConnectionFacts for Connection {
    fn process_report(&mut self) -> Option<Box<ProcessReport>> {
        let exit = self.process.as_mut()?.observe().copied();
        Some(Box::new(ProcessReport { exit, stderr_tail: self.stderr.tail() }))
    }

    fn failure(&self) -> Option<Arc<str>> {
        self.failure.clone()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.engine.session().phase() != Phase::Closed {
            let now = self.now();
            self.transport.abandon(&mut self.engine, now, ABANDONED);
        }
    }
}
