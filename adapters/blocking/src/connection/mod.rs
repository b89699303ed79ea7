//! [`Connection`]: an engine, its transport, and the process at the other end, with the loop that drives them.

mod end;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Context;

use mcpwire_client::{
    ConnectionHandlers, ConnectionState, Error, EventConsumers, Lifecycle, OptionParts, PendingAnswers, ReplySlot,
    ReportCallbacks, Stderr, Tracer,
};
use mcpwire_core::internal::{AnyEngine, OpeningOutcome};
use mcpwire_core::{CallError, Event, Notification, Phase, Reply, RequestKey, Timestamp};
use mcpwire_process::Process;

use crate::cancel::Canceller;
use crate::pending_replies::{Callbacks, PendingReplies, report};
use crate::transport::{Io, Transport};

pub(crate) struct Connection {
    pub(crate) io: Io,
    transport: Box<dyn Transport>,
    pub(crate) handlers: Arc<ConnectionHandlers>,
    /// The requests of the server that handlers are processing.
    answers: PendingAnswers,
    canceller: Canceller,
    replies: PendingReplies,
    /// The queues of [`Notifications`](crate::Notifications) and [`Events`](crate::Events).
    pub(crate) consumers: EventConsumers,
    /// Number of consecutive reads since a deadline has passed.
    late_reads: usize,
}

/// Maximum number of consecutive reads in [`Connection::catch_up`], and of those that delay a timeout. 64: 1 MiB, at 16 KiB or
/// more each.
const MAX_READS: usize = 64;

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
            io: Io {
                engine,
                process,
                stderr: Stderr::new(stderr),
                tracer: trace.map(Tracer::new),
                context,
                clock,
                state,
                has_read: false,
            },
            transport,
            answers: PendingAnswers::new(Arc::clone(&handlers)),
            handlers,
            canceller: Canceller::new(),
            replies: PendingReplies::default(),
            consumers: EventConsumers::default(),
            late_reads: 0,
        };
        connection.process_started();
        connection
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.io.clock.now()
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
        let sent = self.io.engine.calls().initialize(now);
        sent.map_err(|error| self.error(error))?;
        if let Some(hooks) = &self.io.context.hooks {
            hooks.connecting();
            hooks.deliver();
        }
        loop {
            self.handle_events();
            if let Some(outcome) = self.io.state.lifecycle.opening_outcome() {
                self.flush();
                return Ok(outcome);
            }
            if self.canceller.take_cancelled() {
                self.io.engine.close();
            } else {
                self.turn(None).map_err(|error| self.io_error(error))?;
            }
        }
    }

    /// Drives the engine until the request of this method has ended.
    pub(crate) fn wait(
        &mut self,
        key: RequestKey,
        method: &'static str,
        on_report: &mut dyn FnMut(&Notification),
    ) -> Result<Reply, Error> {
        let mut callbacks = match self.replies.take(key) {
            Some(ReplySlot { waiter: Callbacks::Panicked(panic), .. }) => resume_unwind(panic),
            Some(ReplySlot { reply: Some(reply), .. }) => return Ok(reply),
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
                        // After a timeout, the engine has a notification for the server to send. When the connection has ended,
                        // the event that says why follows.
                        if reply.error().is_some() {
                            self.handle_events();
                            self.flush();
                        }
                        return Ok(reply);
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
            if !self.io.engine.session().is_waiting(key) {
                return Err(self.error(CallError::WrongTicket { method: method.into() }));
            }
            if self.canceller.take_cancelled() {
                let now = self.now();
                self.io.engine.calls().cancel(key, Some("cancelled by the caller"), now);
            } else {
                self.turn(None).map_err(|error| self.io_error(error))?;
            }
        }
    }

    /// Cancels a request. The server receives the reason.
    pub(crate) fn cancel(&mut self, key: RequestKey, reason: &str) {
        drop(self.replies.take(key));
        let now = self.now();
        self.io.engine.calls().cancel(key, Some(reason), now);
        // The engine reports the end of the request at once.
        let _ = self.wait(key, "a request", &mut |_| {});
        self.flush();
    }

    /// Drives the engine until `poll` returns a value. Returns `None` when the connection has ended or the time is `until`.
    ///
    /// `awaited` is what the error names if a [`Canceller`] ends the wait.
    pub(crate) fn wait_for<T>(
        &mut self,
        awaited: &'static str,
        until: Option<Timestamp>,
        mut poll: impl FnMut(&mut AnyEngine) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        loop {
            self.handle_events();
            if let Some(value) = poll(&mut self.io.engine) {
                // After a deadline, the engine has a notification for the server to send.
                self.flush();
                return Ok(Some(value));
            }
            let closed = self.io.engine.session().phase() == Phase::Closed;
            if closed || until.is_some_and(|until| self.now() >= until) {
                return Ok(None);
            }
            if self.canceller.take_cancelled() {
                return Err(self.error(CallError::Cancelled { method: awaited.into() }));
            }
            self.turn(until).map_err(|error| self.io_error(error))?;
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
        if self.io.engine.stream().is_none_or(|engine| !engine.transmit().is_empty()) {
            self.transport.flush(&mut self.io);
        }
    }

    /// Returns a canceller that can wake this thread.
    pub(crate) fn canceller(&mut self) -> io::Result<&Canceller> {
        if !self.canceller.has_waker() {
            self.canceller.set_waker(self.transport.waker()?);
        }
        Ok(&self.canceller)
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.io.process.as_ref().and_then(Process::pid)
    }

    /// Replaces a server that has exited when it received `server/discover`.
    pub(crate) fn restart(
        &mut self,
        engine: AnyEngine,
        mut transport: Box<dyn Transport>,
        process: Process,
    ) -> io::Result<()> {
        if self.canceller.has_waker() {
            self.canceller.set_waker(transport.waker()?);
        }
        if let Some(hooks) = &self.io.context.hooks {
            hooks.process_exited(self.io.process.as_ref().and_then(Process::exit).copied());
        }
        self.io.engine = engine;
        self.io.process = Some(process);
        self.transport = transport;
        self.io.stderr = self.io.stderr.take_for_restart();
        self.io.state.lifecycle = Lifecycle::Opening;
        self.process_started();
        Ok(())
    }

    fn turn(&mut self, until: Option<Timestamp>) -> io::Result<()> {
        let deadline = self.io.engine.poll_timeout();
        let until = [deadline, until].into_iter().flatten().min();
        if !self.answers.is_empty() {
            self.canceller()?;
        }
        if self.canceller.take_woken() {
            self.poll_handlers();
            if self.io.engine.session().has_events() {
                return Ok(());
            }
        }
        self.io.has_read = false;
        let now = self.transport.turn(&mut self.io, until)?;
        if let Some(hooks) = &self.io.context.hooks {
            hooks.deliver();
        }
        if deadline.is_some_and(|deadline| deadline <= now) {
            if self.io.has_read && self.late_reads < MAX_READS {
                // A response that had arrived counts, although the program did not wait for it until now. The caller handles it, and
                // then comes back.
                self.late_reads += 1;
                return Ok(());
            }
            self.io.engine.handle_timeout(now);
        }
        self.late_reads = 0;
        Ok(())
    }

    fn handle_event(&mut self, event: Event) {
        match event {
            Event::Reply(reply) => drop(self.replies.receive(reply)),
            Event::Notification(ref notification) => {
                if let Some(key) = report(&mut self.replies, notification) {
                    let now = self.now();
                    self.io.engine.calls().cancel(key, Some("the caller has panicked"), now);
                    self.flush();
                }
                self.update(event);
            }
            Event::ServerRequest(request) => {
                self.answers.start(request);
                self.poll_handlers();
            }
            Event::ServerRequestCancelled(id) => {
                self.answers.cancel(id, &mut Context::from_waker(&self.canceller.handler_waker()));
            }
            event => self.update(event),
        }
    }

    /// Updates the state of the client, and adds the event to the queues.
    fn update(&mut self, event: Event) {
        self.io.state.handle_event(&event, &mut self.io.engine.calls());
        // Nobody waits for a queue: the thread that would is this one.
        let dropped = self.consumers.push(event, &mut Vec::new());
        if let Some(hooks) = &self.io.context.hooks {
            hooks.dropped(dropped);
        }
    }

    /// Polls the program's handlers, and sends the complete answers.
    fn poll_handlers(&mut self) {
        for answer in self.answers.poll(&mut Context::from_waker(&self.canceller.handler_waker())) {
            let now = self.now();
            answer.send(&mut self.io.engine.calls(), now);
        }
    }

    /// Tells the engine if the authorization of the requests has changed.
    #[inline]
    pub(crate) fn check_authorization(&mut self) {
        self.io.state.check_authorization(&mut self.io.engine);
    }

    /// Returns the next event, after passing it to the hooks.
    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        self.check_authorization();
        let event = self.io.engine.poll_event()?;
        if let Some(hooks) = &self.io.context.hooks {
            hooks.record(&event, self.io.engine.session());
            hooks.deliver();
        }
        Some(event)
    }

    fn process_started(&self) {
        if let (Some(hooks), Some(pid)) = (&self.io.context.hooks, self.pid()) {
            hooks.process_started(pid);
            hooks.deliver();
        }
    }
}
