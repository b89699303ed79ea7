//! [`Connection`]: the loop in which the calling thread drives the engine, its transport and the server's process.

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
    /// The server's requests that the program's handlers are processing.
    answers: PendingAnswers,
    canceller: Canceller,
    replies: PendingReplies,
    /// The queues of [`Notifications`](crate::Notifications) and [`Events`](crate::Events).
    pub(crate) consumers: EventConsumers,
    /// Number of consecutive reads since a deadline has passed. At [`MAX_READS`], the timeout is no longer delayed.
    late_reads: usize,
}

/// Maximum number of consecutive reads in [`Connection::catch_up`], and maximum number of reads that delay a timeout.
///
/// These reads contain at least 1 MiB, because a read is 16 KiB or more if the server sends continuously.
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

    /// Registers a request that the program has sent without waiting. Its reply is stored until the program waits for it.
    ///
    /// `callbacks` receive its progress notifications and task statuses, whenever the connection reads.
    pub(crate) fn expect(&mut self, key: RequestKey, callbacks: ReportCallbacks<'static>) {
        self.replies.add(key, Callbacks::Callable(callbacks));
    }

    /// Returns whether there are requests of [`Connection::expect`] whose replies the program has not taken.
    pub(crate) fn expects_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Begins to open the connection, and drives the engine until the opening has succeeded or failed, or the server must be
    /// restarted.
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

    /// Drives the engine until the reply to this request arrives, or the request fails. `method` is the name of its method, for
    /// errors.
    ///
    /// The progress notifications and task statuses of the request go to `on_report`. A request of [`Connection::expect`] has its
    /// own callbacks instead.
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
                        // After a timeout, the engine has a cancellation to send. After the end of the connection, the event with
                        // the reason follows.
                        if reply.error().is_some() {
                            self.handle_events();
                            self.flush();
                        }
                        return Ok(reply);
                    }
                    Event::Notification(ref report) if report.request_key() == Some(key) => {
                        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| on_report(report))) {
                            // `on_report` has panicked, so nobody waits for the reply any more.
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

    /// Cancels a request, drops its reply, and notifies the server. The notification contains `reason`.
    pub(crate) fn cancel(&mut self, key: RequestKey, reason: &str) {
        drop(self.replies.take(key));
        let now = self.now();
        self.io.engine.calls().cancel(key, Some(reason), now);
        // This returns at once, because the engine has already failed the request.
        let _ = self.wait(key, "a request", &mut |_| {});
        self.flush();
    }

    /// Drives the engine until `poll` returns a value. Returns `None` when the connection has ended or the time `until` has come.
    ///
    /// If a [`Canceller`] ends the wait, the error contains `awaited` as the name of the wait.
    pub(crate) fn wait_for<T>(
        &mut self,
        awaited: &'static str,
        until: Option<Timestamp>,
        mut poll: impl FnMut(&mut AnyEngine) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        loop {
            self.handle_events();
            if let Some(value) = poll(&mut self.io.engine) {
                // If a timeout has occurred in the meantime, the engine has a cancellation to send.
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

    /// Reads and processes the data that has already arrived, without waiting. Reads at most [`MAX_READS`] times.
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

    /// Writes the engine's output, or over HTTP starts its requests, as far as possible without waiting.
    pub(crate) fn flush(&mut self) {
        if self.io.engine.stream().is_none_or(|engine| !engine.transmit().is_empty()) {
            self.transport.flush(&mut self.io);
        }
    }

    /// Returns the canceller of this connection. The first call creates its waker, with which it wakes the client's thread.
    pub(crate) fn canceller(&mut self) -> io::Result<&Canceller> {
        if !self.canceller.has_waker() {
            self.canceller.set_waker(self.transport.waker()?);
        }
        Ok(&self.canceller)
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.io.process.as_ref().and_then(Process::pid)
    }

    /// Replaces a server that has exited when it received `server/discover`, and resets the state for the new process.
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
                // The data was read late, because the program did not wait for it. A response in it is still valid. The caller
                // handles the data before it calls `turn` again.
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

    /// Updates the state of the client for an event, and adds the event to the program's queues.
    fn update(&mut self, event: Event) {
        self.io.state.handle_event(&event, &mut self.io.engine.calls());
        // There is no task to wake: only this thread could wait for a queue.
        let dropped = self.consumers.push(event, &mut Vec::new());
        if let Some(hooks) = &self.io.context.hooks {
            hooks.dropped(dropped);
        }
    }

    /// Polls the program's handlers, and sends the answers that are complete.
    fn poll_handlers(&mut self) {
        for answer in self.answers.poll(&mut Context::from_waker(&self.canceller.handler_waker())) {
            let now = self.now();
            answer.send(&mut self.io.engine.calls(), now);
        }
    }

    /// Checks whether the authorization of the requests has changed, for example to another account. If so, the engine and the
    /// client drop the cached data of the previous authorization.
    #[inline]
    pub(crate) fn check_authorization(&mut self) {
        self.io.state.check_authorization(&mut self.io.engine);
    }

    /// Returns the next event of the engine, after reporting it to the program's hooks. `None` if there is no event.
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
