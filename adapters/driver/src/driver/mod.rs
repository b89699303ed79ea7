//! [`Driver`]: the task of a connection. It moves bytes between the engine and the server, handles timeouts, and ends the server.

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

/// Maximum number of consecutive reads and writes before timers and the shutdown are polled. One read is 8 to 64 KiB, so these
/// are at most 2 MiB.
const MAX_TRANSFERS: usize = 32;

/// Maximum number of turns in one poll of the driver, before it yields to other tasks of the runtime.
const MAX_TURNS: usize = 8;

/// Maximum time for which reading is paused because a program's event queue is half full. Within 20 ms, a consumer that is ready
/// to run takes its events.
const MAX_CONSUMER_WAIT: Duration = Duration::from_millis(20);

/// The task of a connection. It completes when the connection and the server have ended.
///
/// If the runtime drops the task earlier, the task kills the server.
#[must_use = "a connection moves only while its task runs"]
pub(crate) struct Driver {
    shared: Arc<Shared>,
    reader: Option<Reader>,
    stderr: Option<Reader>,
    exit: Option<ExitWatch>,
    timer: Box<dyn Timer>,
    end_of_stream: EndOfStream,
    /// Time until which reading is paused, so that the program can take events from a full queue. `None` if reading is not
    /// paused.
    paused_until: Option<Timestamp>,
    /// `None` until the shutdown begins.
    shutdown: Option<Shutdown>,
    listeners: Listeners,
    /// Bytes for the trace callback. They are collected here, because the callback is called after the lock was released.
    traced_bytes: TracedBytes,
    /// Bytes for the callback for standard error. They are collected here, because the callback is called after the lock was
    /// released.
    stderr_bytes: Vec<u8>,
    /// Tasks to wake after the callbacks were called. While the driver holds the lock, they are in [`State::wakers`].
    wakers: Wakers,
    /// The server's requests that the program's handlers are processing.
    answers: PendingAnswers,
    /// The HTTP requests in progress. `None` for a connection over pipes or streams.
    #[cfg(feature = "http")]
    pub(crate) http: Option<Box<crate::http::Exchanges>>,
    /// The report of a complete shutdown, and the process to drop. `run_callbacks` drops the process without the lock, and moves
    /// the report to the state. `None` before the shutdown is complete, and after that.
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
            // No step of the turn waits, so all steps use the same time.
            let now = self.shared.clock.now();
            let is_idle = (0..MAX_TRANSFERS).any(|_| !self.transfer(state, now, cx));
            // These steps also run while the stream is busy, so that deadlines and a shutdown are not delayed.
            let mut moved = self.read_stderr(state, cx);
            moved |= self.poll_exit(state, cx);
            moved |= self.deliver_eof(state, now);
            if self.poll_shutdown(state, now, cx) {
                return true;
            }
            // The timer is last, because all other steps may change the deadline.
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

    /// Writes output of the engine, reads input, and handles the engine's events. Returns whether anything was done.
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

    /// Returns whether reading must pause, because a program's event queue is half full.
    ///
    /// A pause lasts at most [`MAX_CONSUMER_WAIT`], because replies arrive over the same stream.
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
        // The failure may also come from a caller that wrote its request itself.
        match state.output.failure.take() {
            None => return written,
            // `Driver::poll` catches the panics of all streams, and reports them.
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
            // Nothing is read before the opening begins. If the server exits earlier, the opening reports the exit.
            return false;
        }
        let closed = phase == Phase::Closed;
        let space = if closed {
            // Output after the end is read and discarded, because a server cannot exit while its pipe is full.
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

    /// Sets the timer to the next deadline. If the timer has elapsed, lets the engine handle the timeouts that are due, and
    /// returns `true`.
    fn poll_timer(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        let deadline = self.deadline(state);
        // The timer is never moved to a later time: an early wake-up costs less than a reset for each request.
        if let Some(at) = deadline
            && !state.is_timer_set_by(deadline)
        {
            self.timer.reset(at.duration_since(self.shared.clock.now()));
            state.timer_deadline = Some(at);
        }
        // The timer is polled even if there is no deadline any more, so that `timer_deadline` is never in the past.
        if state.timer_deadline.is_none() || self.timer.poll(cx).is_pending() {
            return false;
        }
        state.timer_elapsed();
        state.engine.handle_timeout(self.shared.clock.now());
        true
    }

    /// Returns the earliest deadline of the engine, the end of the stream, the shutdown, and the pause of reading. `None` if
    /// there is no deadline.
    fn deadline(&self, state: &State) -> Option<Timestamp> {
        let stop = self.shutdown.as_ref().map(|shutdown| shutdown.until);
        [state.engine.poll_timeout(), self.end_of_stream.deadline(), stop, self.paused_until]
            .into_iter()
            .flatten()
            .min()
    }

    /// Calls the program's callbacks with the collected data, and wakes tasks. Must be called without the lock.
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
            // Dropping a process that is still running kills it and its descendants.
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
            // The driver of a restarted server takes the same callbacks from the state.
            state.listeners = mem::take(&mut self.listeners);
            state.report = Some(report);
            if state.close_intent != CloseIntent::None {
                state.abandon_restart();
            }
            state.wake_waiters();
        }
        self.wakers.wake();
    }

    /// Polls the driver. Over HTTP, alternates between passing received data to the engine and polling the HTTP requests.
    #[cfg(feature = "http")]
    fn poll_transport(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..MAX_TURNS {
            if self.poll_once(cx).is_ready() {
                return Poll::Ready(());
            }
            let Some(http) = &mut self.http else { return Poll::Pending };
            // While reading is paused, no response is read. The program's consumers wake this task when they take events.
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

    /// Reads, writes and handles events under the lock, then calls the program's handlers and callbacks without the lock.
    #[inline]
    fn poll_once(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        // The driver takes the wakers out of the state before it releases the lock, so that it wakes the tasks after the
        // callbacks.
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

    /// Calls the program's handlers for new requests of the server, polls all pending handlers, and sends the answers that are
    /// complete.
    ///
    /// Must be called without the lock, because handlers are code of the program.
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
        // This catches panics of the program's streams and runtime. Panics of handlers and callbacks are caught where they are
        // called.
        catch_panic(|| this.poll_transport(cx)).unwrap_or_else(|message| {
            this.fail(message);
            Poll::Ready(())
        })
    }
}
