//! [`Driver`]: the task of a connection. It reads, writes, handles timeouts, and ends the server.

mod end;

use std::future::Future;
use std::mem;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::{Direction, PendingAnswers, Reader, ShutdownReport, catch_panic};
use mcpwire_core::{Phase, Timestamp};
use mcpwire_process::{EndOfStream, Process};

use crate::connection::Shared;
use crate::locked_state::{CloseIntent, Listeners, ServerRequestEvent, State, Wakers};
use crate::output::{OutputFailure, TracedBytes};
use crate::runtime::{ExitWatch, Timer};
use crate::shutdown::Shutdown;

/// Maximum number of consecutive reads and writes, before timers and the shutdown are polled. At 8 to 64 KiB each, at most
/// 2 MiB.
const MAX_TRANSFERS: usize = 32;

/// Maximum number of iterations in one poll of the task, before it yields to other tasks of the runtime.
const MAX_TURNS: usize = 8;

/// Maximum time to stop reading while the queue of a consumer of events is half full. 20 ms: a task that is ready to run has run
/// by then.
const MAX_CONSUMER_WAIT: Duration = Duration::from_millis(20);

/// The task of a connection. It completes when the connection and the server have ended.
///
/// If the runtime drops the task before, the task kills the server.
#[must_use = "a connection moves only while its task runs"]
pub(crate) struct Driver {
    shared: Arc<Shared>,
    reader: Option<Reader>,
    stderr: Option<Reader>,
    exit: Option<ExitWatch>,
    timer: Box<dyn Timer>,
    end_of_stream: EndOfStream,
    /// Time until which reading is paused for consumers of events. `None` if reading is not paused.
    paused_until: Option<Timestamp>,
    /// `None` until the shutdown begins.
    shutdown: Option<Shutdown>,
    listeners: Listeners,
    /// Bytes for the trace callback, which is called without the lock.
    traced_bytes: TracedBytes,
    /// Bytes for the callback for standard error, which is called without the lock.
    stderr_bytes: Vec<u8>,
    /// Tasks to wake after the callbacks were called. Empty while the driver holds the lock.
    wakers: Wakers,
    /// The requests of the server that handlers are processing.
    answers: PendingAnswers,
    /// `None` for a connection over streams.
    #[cfg(feature = "http")]
    pub(crate) http: Option<Box<crate::http::Exchanges>>,
    /// How the server was ended, and its process. `run_callbacks` drops the process and moves the report to the state.
    ended: Option<(ShutdownReport, Option<Process>)>,
    /// Whether the connection and the server have ended.
    is_over: bool,
}

impl Driver {
    pub(crate) fn new(
        shared: Arc<Shared>,
        reader: Option<Reader>,
        stderr: Option<Reader>,
        exit: Option<ExitWatch>,
    ) -> Self {
        let mut state = shared.lock();
        let listeners = mem::take(&mut state.listeners);
        let end_of_stream =
            if state.server.process().is_some() { EndOfStream::of_process() } else { EndOfStream::of_streams() };
        drop(state);
        let timer = shared.runtime.timer();
        let answers = PendingAnswers::new(Arc::clone(&shared.handlers));
        Driver {
            shared,
            reader,
            stderr,
            exit,
            timer,
            end_of_stream,
            paused_until: None,
            shutdown: None,
            listeners,
            traced_bytes: Vec::new(),
            stderr_bytes: Vec::new(),
            wakers: Wakers::default(),
            answers,
            #[cfg(feature = "http")]
            http: None,
            ended: None,
            is_over: false,
        }
    }

    /// Spawns the driver as a task of its runtime.
    pub(crate) fn spawn(self) {
        let runtime = Arc::clone(&self.shared.runtime);
        runtime.spawn(Box::pin(self));
    }

    /// Makes all progress that is possible without waiting. Returns whether the connection and the server have ended.
    fn advance(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        for _ in 0..MAX_TURNS {
            // No step of the turn waits, so all of them use the same time.
            let now = self.shared.clock.now();
            let is_idle = (0..MAX_TRANSFERS).any(|_| !self.transfer(state, now, cx));
            // Polled on a busy stream too, so that deadlines and a shutdown are not delayed.
            let mut moved = self.read_stderr(state, cx);
            moved |= self.poll_exit(state, cx);
            moved |= self.deliver_eof(state, now);
            if self.poll_shutdown(state, now, cx) {
                return true;
            }
            // Last, because all others may change the deadline.
            moved |= self.poll_timer(state, cx);
            if !is_idle {
                break;
            }
            if !moved {
                return false;
            }
        }
        cx.waker().wake_by_ref();
        false
    }

    /// Writes, reads, and handles events of the engine. Returns whether it made progress.
    fn transfer(&mut self, state: &mut State, now: Timestamp, cx: &mut Context<'_>) -> bool {
        let mut moved = self.write(state, now, cx);
        if self.is_reading_paused(state, now, cx) {
            return moved;
        }
        moved |= self.read(state, now, cx);
        #[cfg(feature = "http")]
        if let Some((http, engine)) = self.http.as_mut().zip(state.engine.http()) {
            moved |= http.deliver_next(engine, now, &mut self.traced_bytes);
        }
        moved | state.handle_events(&self.shared.server)
    }

    /// Returns whether reading must wait until consumers of events have taken theirs.
    ///
    /// The wait is limited to [`MAX_CONSUMER_WAIT`], because replies arrive over the same stream.
    fn is_reading_paused(&mut self, state: &mut State, now: Timestamp, cx: &mut Context<'_>) -> bool {
        let consumers = &mut state.consumers;
        if !consumers.is_crowded() || !consumers.wait_for_room(cx.waker(), &mut state.wakers.unused) {
            self.paused_until = None;
            return false;
        }
        let until = *self.paused_until.get_or_insert(now + MAX_CONSUMER_WAIT);
        if until <= now {
            consumers.give_up_waiting();
            self.paused_until = None;
        }
        until > now
    }

    fn write(&mut self, state: &mut State, now: Timestamp, cx: &mut Context<'_>) -> bool {
        let Some(engine) = state.engine.stream() else { return false };
        let traced = state.is_traced.then_some(&mut self.traced_bytes);
        let written = state.output.write(engine, cx, traced);
        // The caller of a request may have tried to write before.
        match state.output.failure.take() {
            None => return written,
            // Reported where the panics of all streams are.
            Some(OutputFailure::Panic(message)) => resume_unwind(Box::new(message)),
            Some(OutputFailure::Error(error)) => self.end_of_stream.input_broke(&error, now),
        }
        true
    }

    fn read(&mut self, state: &mut State, now: Timestamp, cx: &mut Context<'_>) -> bool {
        let Some(reader) = &mut self.reader else { return false };
        let mut scratch;
        let Some(engine) = state.engine.stream() else { return false };
        let phase = engine.session().phase();
        if phase == Phase::New && state.close_intent == CloseIntent::None {
            // Nothing is read before the opening: if the server exits early, the opening reports it.
            return false;
        }
        let closed = phase == Phase::Closed;
        let space = if closed {
            // Discards the output: a server whose pipe is full cannot exit.
            scratch = [0; 4096];
            &mut scratch[..]
        } else {
            let Some(space) = engine.space() else { return false };
            space
        };
        match reader.as_mut().poll_read(cx, space) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => {
                if !closed {
                    if state.is_traced {
                        self.traced_bytes.push((Direction::Received, space[..n].to_vec()));
                    }
                    state.received += n as u64;
                    engine.filled(n, now);
                }
            }
            Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Poll::Ready(end) => {
                self.reader = None;
                self.end_of_stream.output_ended(end.as_ref().err(), now);
            }
        }
        true
    }

    /// Sets the timer, and lets the engine handle timeouts that are due. Returns whether the timer has elapsed.
    fn poll_timer(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        let deadline = self.deadline(state);
        // The timer is only set to earlier times. An early wake-up costs less than a reset for each request.
        if let Some(at) = deadline
            && !state.is_timer_set_by(deadline)
        {
            self.timer.reset(at.duration_since(self.shared.clock.now()));
            state.timer_deadline = Some(at);
        }
        // Polled even if its deadline was removed: `timer_deadline` must not be in the past.
        if state.timer_deadline.is_none() || self.timer.poll(cx).is_pending() {
            return false;
        }
        state.timer_elapsed();
        state.engine.handle_timeout(self.shared.clock.now());
        true
    }

    /// Returns the earliest deadline of the engine, the end of the stream, the shutdown, and the wait for consumers.
    fn deadline(&self, state: &State) -> Option<Timestamp> {
        let stop = self.shutdown.as_ref().map(|shutdown| shutdown.until);
        [state.engine.poll_timeout(), self.end_of_stream.deadline(), stop, self.paused_until]
            .into_iter()
            .flatten()
            .min()
    }

    /// Calls the program's callbacks and wakes tasks. Call it without holding the lock.
    fn run_callbacks(&mut self) {
        if !self.stderr_bytes.is_empty() {
            self.listeners.lines.push(&mem::take(&mut self.stderr_bytes));
        }
        if let Some(tracer) = &mut self.listeners.tracer {
            for (direction, bytes) in mem::take(&mut self.traced_bytes) {
                tracer.push(direction, &bytes);
            }
        }
        let ended = self.ended.take().map(|(report, process)| {
            // Kills a process that is still running, and its descendants.
            drop(process);
            report
        });
        if let Some(hooks) = &self.shared.context.hooks {
            if let Some(report) = &ended {
                hooks.process_exited(report.exit);
            }
            hooks.deliver();
        }
        if let Some(report) = ended {
            self.listeners.lines.flush();
            let mut state = self.shared.lock();
            // A restarted server uses the same callbacks.
            state.listeners = mem::take(&mut self.listeners);
            state.report = Some(report);
            if state.close_intent != CloseIntent::None {
                state.abandon_restart();
            }
            state.wake_waiters();
        }
        self.wakers.wake();
    }

    /// Over HTTP, alternates between handling the parts of responses and polling the exchanges.
    #[cfg(feature = "http")]
    fn poll_transport(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..MAX_TURNS {
            if self.poll_once(cx).is_ready() {
                return Poll::Ready(());
            }
            let Some(http) = &mut self.http else { return Poll::Pending };
            // While the driver waits for consumers of events, it reads nothing. The consumers wake this task.
            let may_read = self.paused_until.is_none();
            let has_parts = http.poll(may_read, &mut self.traced_bytes, cx);
            if !may_read || !has_parts && !http.has_more() {
                self.run_callbacks();
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    #[cfg(not(feature = "http"))]
    fn poll_transport(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_once(cx)
    }

    /// Makes progress under the lock, then calls the program's handlers and callbacks without the lock.
    #[inline]
    fn poll_once(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        // The tasks are woken after the callbacks were called, not when the lock is released.
        mem::swap(&mut state.wakers, &mut self.wakers);
        self.is_over = self.advance(&mut state, cx);
        #[cfg(feature = "http")]
        if let Some((http, engine)) = self.http.as_mut().zip(state.engine.http()) {
            http.take_commands(engine, shared.clock.now());
        }
        state.shrink();
        state.set_driver(cx);
        let requests = mem::take(&mut state.server_requests);
        state.record_bytes();
        mem::swap(&mut state.wakers, &mut self.wakers);
        drop(state);
        if self.is_over {
            self.answers.clear();
        } else {
            self.answer(requests, cx);
        }
        self.run_callbacks();
        if self.is_over { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Calls the handlers of new requests of the server, polls all pending handlers, and sends the answers that are complete.
    ///
    /// This calls code of the program: call it without holding a lock.
    fn answer(&mut self, requests: Vec<ServerRequestEvent>, cx: &mut Context<'_>) {
        for request in requests {
            match request {
                ServerRequestEvent::Received(request) => self.answers.start(request),
                ServerRequestEvent::Cancelled(id) => self.answers.cancel(id, cx),
            }
        }
        for answer in self.answers.poll(cx) {
            self.shared.with_state(|state, now| answer.send(&mut state.engine.calls(), now));
        }
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.is_over {
            return Poll::Ready(());
        }
        // Panics of handlers and callbacks are caught elsewhere. This catches panics of the program's streams and runtime.
        catch_panic(|| this.poll_transport(cx)).unwrap_or_else(|message| {
            this.fail(message);
            Poll::Ready(())
        })
    }
}
