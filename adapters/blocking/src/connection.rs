//! [`Connection`]: an engine, its transport, and the process at the other end, with the loop that drives them.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use mcpwire_client::{
    Clock, ConnectionContext, ConnectionEnd, ConnectionState, EndDetails, Error, EventConsumers, Exit, GracePeriods,
    OptionParts, OutgoingAnswer, ProcessReport, ReplySlot, ReportCallbacks, ShutdownReport, Stderr, Tracer,
};
use mcpwire_core::internal::{AnyEngine, OpeningOutcome, RequestError};
use mcpwire_core::{CallError, CloseReason, Event, Notification, Phase, Reply, RequestKey, SendError, Timestamp};
use mcpwire_process::{Process, ProcessShutdown, ShutdownAction};

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

/// Maximum time for the `DELETE` of an HTTP session after the client was dropped.
const SESSION_END_TIMEOUT: Duration = Duration::from_secs(5);

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

    /// Returns whether a wait for this reply would return at once.
    #[cfg(feature = "tool-client")]
    pub(crate) fn has_reply(&mut self, key: RequestKey) -> bool {
        match self.replies.get_mut(key) {
            Some(ReplySlot { reply: None, waiter: Callbacks::Callable(_) }) => !self.engine.session().is_waiting(key),
            _ => true,
        }
    }

    /// Drives the engine until `is_done` returns `true`, or the connection has ended. [`Canceller::wake`] makes this method check
    /// `is_done` again.
    #[cfg(feature = "tool-client")]
    pub(crate) fn wait_until(&mut self, mut is_done: impl FnMut(&mut Self) -> bool) -> io::Result<()> {
        loop {
            self.handle_events();
            if is_done(self) || self.engine.session().phase() == Phase::Closed {
                // After a timeout, the engine has a notification for the server to send.
                self.flush();
                return Ok(());
            }
            self.turn(None)?;
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

    /// Returns why the connection has ended, or `None` if it is open.
    pub(crate) fn end(&mut self) -> Option<ConnectionEnd> {
        if self.engine.session().phase() != Phase::Closed {
            return None;
        }
        // An engine that is closed before it is opened emits no `Event::Closed`.
        let reason = self.state.close_reason.clone().unwrap_or(CloseReason::ByClient);
        Some(ConnectionEnd::new(reason, self.process_report()))
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.as_ref().and_then(Process::pid)
    }

    /// Ends the server step by step.
    pub(crate) fn shut_down(&mut self, grace_periods: GracePeriods) -> ShutdownReport {
        let report = self.stop(grace_periods);
        if self.context.hooks.is_some() {
            self.end_hooks(report.exit);
        }
        report
    }

    fn stop(&mut self, grace_periods: GracePeriods) -> ShutdownReport {
        self.flush();
        self.engine.close();
        while let Some(event) = self.next_event() {
            // The server is being ended, so handlers are not called.
            if !matches!(event, Event::ServerRequest(_)) {
                self.handle_event(event);
            }
        }
        if self.engine.is_http() {
            self.end_session(grace_periods);
            return ShutdownReport::without_process();
        }
        let mut shutdown = ProcessShutdown::new(grace_periods);
        loop {
            let (reports_exit, has_stderr) = (self.transport.reports_exit(), self.transport.has_stderr());
            match shutdown.next(self.process.as_mut(), reports_exit, has_stderr, self.clock.now()) {
                ShutdownAction::CloseInput => self.transport.close_input(),
                ShutdownAction::Wait(until) => {
                    let (transport, _, mut context) = self.split();
                    transport.wait_for_exit(&mut context, until);
                }
                ShutdownAction::Done(report) => {
                    self.stderr.flush();
                    return report;
                }
            }
        }
    }

    /// Ends the HTTP session on the server, and waits for the response for at most [`GracePeriods::after_close`].
    #[cfg(feature = "http")]
    fn end_session(&mut self, grace_periods: GracePeriods) {
        let until = self.now() + grace_periods.after_close;
        while self.engine.http().is_some_and(|engine| engine.exchanges() > 0) && self.now() < until {
            while self.next_event().is_some() {}
            if self.turn(Some(until)).is_err() {
                return;
            }
        }
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "there is no HTTP")]
    fn end_session(&mut self, _: GracePeriods) {}

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

    /// Notifies the hooks of the end of the connection, and drops them.
    #[cold]
    fn end_hooks(&mut self, exit: Option<Exit>) {
        while self.next_event().is_some() {}
        if let Some(hooks) = self.context.hooks.take() {
            hooks.process_exited(exit);
            hooks.deliver();
        }
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

/// Errors of the client, with what is known of a connection that has ended.
impl Connection {
    #[cold]
    pub(crate) fn request_error(&mut self, error: RequestError) -> Error {
        let Connection { context, process, stderr, state, .. } = self;
        context.request_error(error, || end_details(process.as_mut(), stderr, state))
    }

    #[cold]
    pub(crate) fn call_error(&mut self, error: CallError) -> Error {
        let Connection { context, process, stderr, state, .. } = self;
        context.call_error(error, || end_details(process.as_mut(), stderr, state))
    }

    #[cold]
    pub(crate) fn send_error(&mut self, error: SendError) -> Error {
        let Connection { context, process, stderr, state, .. } = self;
        context.send_error(error, || end_details(process.as_mut(), stderr, state))
    }

    #[cold]
    pub(crate) fn io_error(&self, error: io::Error) -> Error {
        Error::new(self.context.name(), error)
    }

    /// Returns the exit status and last output of the server's process, or `None` if there is no process.
    pub(crate) fn process_report(&mut self) -> Option<Box<ProcessReport>> {
        process_report(self.process.as_mut(), &self.stderr)
    }
}

fn process_report(process: Option<&mut Process>, stderr: &Stderr) -> Option<Box<ProcessReport>> {
    Some(Box::new(ProcessReport::new(process?.observe().copied(), stderr.tail())))
}

fn end_details(process: Option<&mut Process>, stderr: &Stderr, state: &ConnectionState) -> EndDetails {
    EndDetails { process: process_report(process, stderr), failure: state.failure.clone() }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.engine.session().phase() != Phase::Closed {
            let now = self.now();
            self.transport.close_in_background(&mut self.engine, now, SESSION_END_TIMEOUT);
        }
        if self.context.hooks.is_some() {
            self.engine.close();
            self.end_hooks(None);
        }
        // Ended before the transport closes the server's input: a server that exits by itself would leave descendants that have left
        // its process group, and that can then no longer be found.
        self.process = None;
    }
}
