//! [`Connection`]: an engine, its transport, and the process at the other end, with the loop that drives them.

mod end;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use mcpwire_client::{
    Clock, ConnectionContext, ConnectionState, Error, EventConsumers, OptionParts, OutgoingAnswer, ReplySlot,
    ReportCallbacks, Stderr, Tracer,
};
use mcpwire_core::internal::{AnyEngine, OpeningOutcome};
use mcpwire_core::{Event, Notification, Phase, Reply, RequestKey, Timestamp};
use mcpwire_process::Process;

use crate::answers::Answers;
use crate::cancel::Canceller;
use crate::pending_replies::{Callbacks, PendingReplies, report};
use crate::transport::{IoContext, Transport};

pub(crate) struct Connection {
    pub(crate) engine: AnyEngine,
    transport: Box<dyn Transport>,
    process: Option<Process>,
    pub(crate) stderr: Stderr,
    pub(crate) tracer: Option<Tracer>,
    pub(crate) answers: Answers,
    pub(crate) context: ConnectionContext,
    pub(crate) clock: Clock,
    /// The current time, if the caller has just read the clock. Saves the next wait from reading the clock again.
    recent_time: Option<Timestamp>,
    canceller: Option<Canceller>,
    replies: PendingReplies,
    /// The queues of [`Notifications`](crate::Notifications) and [`Events`](crate::Events).
    pub(crate) consumers: EventConsumers,
    pub(crate) state: ConnectionState,
}

/// Maximum number of consecutive reads in [`Connection::catch_up`]. 64: 1 MiB, at 16 KiB or more each.
const MAX_READS: usize = 64;

/// The outcome of a wait.
pub(crate) enum WaitOutcome<T> {
    /// The value that the caller has waited for.
    Value(T),
    /// The connection has ended, or the time of the wait has passed.
    Expired,
    /// A [`Canceller`] has ended the wait.
    Cancelled,
}

impl Connection {
    pub(crate) fn new(
        engine: AnyEngine,
        transport: Box<dyn Transport>,
        process: Option<Process>,
        options: OptionParts,
    ) -> Self {
        let OptionParts { context, clock, stderr, trace, handlers, .. } = options;
        #[cfg_attr(not(feature = "http"), expect(unused_mut, reason = "there is no HTTP"))]
        let mut state = ConnectionState::default();
        #[cfg(feature = "http")]
        state.watch_authorization(context.authorization.as_ref());
        let connection = Connection {
            engine,
            transport,
            process,
            stderr: Stderr::new(stderr),
            tracer: trace.map(Tracer::new),
            answers: Answers::new(handlers),
            context,
            clock,
            recent_time: None,
            canceller: None,
            replies: PendingReplies::default(),
            consumers: EventConsumers::default(),
            state,
        };
        connection.process_started();
        connection
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Sets the time for a wait that follows at once. `None` if the next wait may be later.
    pub(crate) fn set_recent_time(&mut self, now: Option<Timestamp>) {
        self.recent_time = now;
    }

    /// Registers a request whose reply is stored until the program waits for it. Its callbacks are called whenever the
    /// connection reads.
    pub(crate) fn expect(&mut self, key: RequestKey, callbacks: ReportCallbacks<'static>) {
        self.replies.add(key, Callbacks::Callable(callbacks));
    }

    /// Returns whether [`Connection::expect`] was called for requests whose replies were not taken.
    pub(crate) fn expects_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Begins to open the connection, and drives the engine until it is open, closed, or to be opened again after a restart.
    pub(crate) fn open(&mut self, now: Timestamp) -> Result<OpeningOutcome, Error> {
        let sent = self.engine.calls().initialize(now);
        sent.map_err(|error| self.send_error(error))?;
        if let Some(hooks) = &self.context.hooks {
            hooks.connecting();
            hooks.deliver();
        }
        loop {
            self.handle_events();
            if let Some(outcome) = &self.state.opening {
                let outcome = outcome.clone();
                self.flush();
                return Ok(outcome);
            }
            if self.was_cancelled() {
                self.engine.close();
            } else {
                self.turn(None).map_err(|error| self.io_error(error))?;
            }
        }
    }

    /// Drives the engine until the request has ended. Returns `None` if the request is unknown.
    pub(crate) fn wait(
        &mut self,
        key: RequestKey,
        on_report: &mut dyn FnMut(&Notification),
    ) -> io::Result<Option<Reply>> {
        let mut recent_time = self.recent_time.take();
        let mut callbacks = match self.replies.take(key) {
            Some(ReplySlot { waiter: Callbacks::Panicked(panic), .. }) => resume_unwind(panic),
            Some(ReplySlot { reply: Some(reply), .. }) => return Ok(Some(reply)),
            Some(ReplySlot { waiter: Callbacks::Callable(callbacks), .. }) => Some(callbacks),
            None => None,
        };
        let mut on_report = |report: &Notification| match &mut callbacks {
            Some(callbacks) => callbacks.call(report),
            None => on_report(report),
        };
        loop {
            while let Some(event) = self.next_event() {
                match event {
                    Event::Reply(reply) if reply.key() == key => {
                        // After a timeout, the engine has a notification for the server to send.
                        if reply.error().is_some() {
                            self.flush();
                        }
                        return Ok(Some(reply));
                    }
                    Event::Notification(ref report) if report.request_key() == Some(key) => {
                        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| on_report(report))) {
                            // `on_report` has panicked, so the caller no longer waits for the reply.
                            self.cancel(key, "the caller has panicked");
                            resume_unwind(panic);
                        }
                        self.update(event);
                    }
                    event => self.handle_event(event),
                }
            }
            if !self.engine.session().is_waiting(key) {
                return Ok(None);
            }
            if self.was_cancelled() {
                let now = self.now();
                self.engine.calls().cancel(key, Some("cancelled by the caller"), now);
            } else {
                self.recent_time = recent_time.take();
                self.turn(None)?;
            }
        }
    }

    /// Cancels a request. The server receives the reason.
    pub(crate) fn cancel(&mut self, key: RequestKey, reason: &str) {
        drop(self.replies.take(key));
        let now = self.now();
        self.engine.calls().cancel(key, Some(reason), now);
        // The engine reports the end of the request at once.
        let _ = self.wait(key, &mut |_| {});
        self.flush();
    }

    /// Drives the engine until `poll` returns a value, or until the time `until`.
    pub(crate) fn wait_for<T>(
        &mut self,
        until: Option<Timestamp>,
        mut poll: impl FnMut(&mut AnyEngine) -> Option<T>,
    ) -> io::Result<WaitOutcome<T>> {
        loop {
            self.handle_events();
            if let Some(value) = poll(&mut self.engine) {
                // After a deadline, the engine has a notification for the server to send.
                self.flush();
                return Ok(WaitOutcome::Value(value));
            }
            let closed = self.engine.session().phase() == Phase::Closed;
            if closed || until.is_some_and(|until| self.now() >= until) {
                return Ok(WaitOutcome::Expired);
            }
            if self.was_cancelled() {
                return Ok(WaitOutcome::Cancelled);
            }
            self.turn(until)?;
        }
    }

    fn handle_events(&mut self) {
        while let Some(event) = self.next_event() {
            self.handle_event(event);
        }
    }

    /// Reads and processes the data that has arrived, without waiting.
    pub(crate) fn catch_up(&mut self) {
        for _ in 0..MAX_READS {
            // The error is ignored, because the next call reports it.
            let _ = self.turn(Some(Timestamp::ORIGIN));
            self.handle_events();
            if !self.transport.has_more() {
                break;
            }
        }
    }

    /// Writes pending bytes, as far as possible without waiting.
    pub(crate) fn flush(&mut self) {
        if self.engine.is_http() || !self.engine.transmit().is_empty() {
            let (transport, engine, mut context) = self.split();
            transport.flush(engine, &mut context);
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
        self.process.as_ref().and_then(Process::pid)
    }

    /// Replaces a server that has exited when it received `server/discover`.
    pub(crate) fn restart(
        &mut self,
        engine: AnyEngine,
        mut transport: Box<dyn Transport>,
        process: Process,
    ) -> io::Result<()> {
        if let Some(canceller) = &self.canceller {
            canceller.set_waker(transport.waker()?);
        }
        if let Some(hooks) = &self.context.hooks {
            hooks.process_exited(self.process.as_ref().and_then(Process::exit).copied());
        }
        self.engine = engine;
        self.process = Some(process);
        self.transport = transport;
        self.stderr = self.stderr.take_for_restart();
        self.state.opening = None;
        self.process_started();
        Ok(())
    }

    fn turn(&mut self, until: Option<Timestamp>) -> io::Result<()> {
        let deadline = self.engine.poll_timeout();
        let until = [deadline, until].into_iter().flatten().min();
        if self.answers.needs_canceller() {
            let canceller = self.canceller()?;
            self.answers.set_canceller(canceller);
        }
        let answered = self.answers.poll_woken();
        if !answered.is_empty() {
            self.send_answers(answered);
            if self.engine.session().has_events() {
                return Ok(());
            }
        }
        let (transport, engine, mut context) = self.split();
        let now = transport.turn(engine, &mut context, until)?;
        if let Some(hooks) = &self.context.hooks {
            hooks.deliver();
        }
        if deadline.is_some_and(|deadline| deadline <= now) {
            self.engine.handle_timeout(now);
        }
        Ok(())
    }

    fn was_cancelled(&self) -> bool {
        self.canceller.as_ref().is_some_and(Canceller::take_cancelled)
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Reply(reply) => drop(self.replies.receive(reply)),
            Event::Notification(ref notification) => {
                if let Some(key) = report(&mut self.replies, notification) {
                    let now = self.now();
                    self.engine.calls().cancel(key, Some("the caller has panicked"), now);
                    self.flush();
                }
                self.update(event);
            }
            Event::ServerRequest(request) => {
                let answered = self.answers.start(request);
                self.send_answers(answered);
            }
            Event::ServerRequestCancelled(id) => self.answers.cancel(id),
            event => self.update(event),
        }
    }

    /// Updates the state of the client, and adds the event to the queues.
    fn update(&mut self, event: Event) {
        self.state.handle_event(&event, &mut self.engine.calls());
        // Nobody waits for a queue: the thread that would is this one.
        let dropped = self.consumers.push(event, &mut Vec::new());
        if let Some(hooks) = &self.context.hooks {
            hooks.dropped(dropped);
        }
    }

    fn send_answers(&mut self, answered: Vec<OutgoingAnswer>) {
        for answered in answered {
            // The handler may have run for long, so the time is no longer recent.
            self.recent_time = None;
            let now = self.clock.now();
            answered.send(&mut self.engine.calls(), now);
        }
    }

    /// Tells the engine if the authorization of the requests has changed.
    #[inline]
    pub(crate) fn check_authorization(&mut self) {
        self.state.check_authorization(&mut self.engine);
    }

    /// Returns the next event, after passing it to the hooks.
    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        self.check_authorization();
        let event = self.engine.poll_event()?;
        if let Some(hooks) = &self.context.hooks {
            hooks.record(&event, self.engine.session());
            hooks.deliver();
        }
        Some(event)
    }

    fn process_started(&self) {
        if let (Some(hooks), Some(pid)) = (&self.context.hooks, self.pid()) {
            hooks.process_started(pid);
            hooks.deliver();
        }
    }

    fn split(&mut self) -> (&mut dyn Transport, &mut AnyEngine, IoContext<'_>) {
        let context = IoContext {
            clock: &self.clock,
            #[cfg(unix)]
            recent_time: self.recent_time.take(),
            process: self.process.as_mut(),
            stderr: &mut self.stderr,
            tracer: self.tracer.as_mut(),
            hooks: self.context.hooks.as_deref(),
            panics: &self.context.panics,
            failure: &mut self.state.failure,
        };
        (&mut *self.transport, &mut self.engine, context)
    }
}
