//! [`Loop`]: the one loop that moves the bytes of a connection, keeps its time, and ends its server.

mod end;

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcpwire_client::{Direction, Reader, ShutdownReport, catch_panic};
use mcpwire_core::internal::EndOfStream;
use mcpwire_core::{Phase, Timestamp};

use crate::answers::Answers;
use crate::runtime::{ExitWatch, Timer};
use crate::shared::{Shared, Watchers};
use crate::state::{CloseIntent, State};
use crate::stop::Stop;

/// Maximum number of reads and writes in a row, before other parts of the connection have their turn. At 8 to 64 KiB each, at
/// most 2 MiB.
const ROUNDS: usize = 32;

/// Maximum number of turns in a row, before other tasks of the runtime have theirs.
const TURNS: usize = 8;

/// Maximum time to wait for consumers of events whose queues are half full. 20 ms: a task that is ready to run has run by then.
const HELD: Duration = Duration::from_millis(20);

/// The task of a connection. It ends when the connection has ended and nothing is left of the server. If a runtime that shuts
/// down drops it before, it ends the server at once.
#[must_use = "a connection moves only while its task runs"]
pub(crate) struct Loop {
    shared: Arc<Shared>,
    reader: Option<Reader>,
    stderr: Option<Reader>,
    exit: Option<ExitWatch>,
    timer: Box<dyn Timer>,
    ending: EndOfStream,
    /// Until when the loop waits for consumers of events.
    held: Option<Timestamp>,
    /// When to check whether the process has exited, on systems that do not report it.
    look_again: Option<Timestamp>,
    /// The error of a stream, until the end of the stream is passed to the engine.
    failure: Option<Arc<str>>,
    /// Whether the end of the stream was passed to the engine.
    ended: bool,
    /// The shutdown, once it has begun.
    stopping: Option<Stop>,
    watchers: Watchers,
    watched: Vec<(Direction, Vec<u8>)>,
    heard: Vec<u8>,
    wakers: Vec<Waker>,
    /// Wakers that are not needed any more, to be dropped without the lock.
    former: Vec<Waker>,
    answers: Answers,
    /// The exchanges of a connection over HTTP.
    #[cfg(feature = "http")]
    pub(crate) http: Option<Box<crate::http::Exchanges>>,
    /// How the server ended, until that is stored in the state.
    report: Option<ShutdownReport>,
    over: bool,
}

impl Loop {
    pub(crate) fn new(
        shared: Arc<Shared>,
        reader: Option<Reader>,
        stderr: Option<Reader>,
        exit: Option<ExitWatch>,
    ) -> Self {
        let watchers = mem::take(&mut *shared.watchers.lock().unwrap_or_else(PoisonError::into_inner));
        let mut state = shared.lock();
        state.traced = watchers.tracer.is_some();
        let ending = if state.process.is_some() { EndOfStream::of_process() } else { EndOfStream::of_streams() };
        drop(state);
        let timer = shared.runtime.timer();
        let answers = Answers::new(&shared);
        Loop {
            shared,
            reader,
            stderr,
            exit,
            timer,
            ending,
            held: None,
            look_again: None,
            failure: None,
            ended: false,
            stopping: None,
            watchers,
            watched: Vec::new(),
            heard: Vec::new(),
            wakers: Vec::new(),
            former: Vec::new(),
            answers,
            #[cfg(feature = "http")]
            http: None,
            report: None,
            over: false,
        }
    }

    /// Spawns the loop as a task of its runtime.
    #[inline(never)]
    pub(crate) fn spawn(self) {
        let runtime = Arc::clone(&self.shared.runtime);
        runtime.spawn(Box::pin(self));
    }

    /// Does what can be done without waiting. Returns whether the connection is over.
    fn turn(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        for _ in 0..TURNS {
            let quiet = (0..ROUNDS).any(|_| !self.carry(state, cx));
            // Also on a busy stream, deadlines and a shutdown have their turn.
            let mut moved = self.read_stderr(state, cx);
            moved |= self.watch_exit(state, cx);
            moved |= self.end(state);
            moved |= self.keep_time(state, cx);
            if self.stop(state, cx) {
                return true;
            }
            if !quiet {
                break;
            }
            if !moved && state.has_time(self.deadline(state)) {
                return false;
            }
        }
        cx.waker().wake_by_ref();
        false
    }

    /// Writes, reads, and handles the events. Returns whether there was anything to do.
    fn carry(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        let mut moved = self.write(state, cx);
        if self.is_held(state, cx) {
            return moved;
        }
        moved |= self.read(state, cx);
        #[cfg(feature = "http")]
        if let Some((http, engine)) = self.http.as_mut().zip(state.engine.http()) {
            moved |= http.deliver_next(engine, self.shared.clock.now(), &mut self.watched);
        }
        moved | state.events(&self.shared.server, &mut self.wakers)
    }

    /// Returns whether the consumers of events should have their turn before more is read. This does not wait long, because
    /// replies arrive over the same stream.
    fn is_held(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        let Some(subscribers) = &mut state.subscribers else { return false };
        if !subscribers.is_crowded() || !subscribers.wait_for_room(cx.waker(), &mut self.former) {
            self.held = None;
            return false;
        }
        let now = self.shared.clock.now();
        let until = *self.held.get_or_insert(now + HELD);
        if until <= now {
            subscribers.give_up_waiting();
            self.held = None;
        }
        until > now
    }

    fn write(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        let watched = &mut self.watched;
        let traced = state.traced;
        let written = state.write(cx, |direction, bytes| {
            if traced {
                watched.push((direction, bytes.to_vec()));
            }
        });
        written.unwrap_or_else(|error| {
            state.writer = None;
            // A broken pipe means that the server has closed its end. The end of its output says that too.
            if self.reader.is_some() && error.kind() != std::io::ErrorKind::BrokenPipe {
                self.failure = Some(text_of(&error));
            }
            self.ending.input_broke(self.shared.clock.now());
            true
        })
    }

    fn read(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        let Some(reader) = &mut self.reader else { return false };
        let mut scratch;
        let phase = state.engine.session().phase();
        if phase == Phase::New && state.close_intent == CloseIntent::None {
            // The output of the server, and its end, are part of the opening.
            return false;
        }
        let closed = phase == Phase::Closed;
        let space = if closed {
            // A server that cannot write cannot exit, so its output is read and dropped.
            scratch = [0; 4096];
            &mut scratch[..]
        } else {
            let Some(space) = state.engine.space() else { return false };
            space
        };
        match reader.as_mut().poll_read(cx, space) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => {
                if !closed {
                    if state.traced {
                        self.watched.push((Direction::Received, space[..n].to_vec()));
                    }
                    state.received += n as u64;
                    state.engine.filled(n, self.shared.clock.now());
                }
            }
            Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Poll::Ready(end) => {
                self.reader = None;
                if let Err(error) = &end {
                    self.failure = Some(text_of(error));
                }
                self.ending.output_ended(self.shared.clock.now());
            }
        }
        true
    }

    fn keep_time(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        // Also if the deadline that it was set for has been removed: `armed` must be a time to come.
        let mut due = self.has_gone_off(state, cx);
        let deadline = self.deadline(state);
        // A timer that goes off too early costs less than one that is reset for each request.
        if let Some(at) = deadline
            && !state.has_time(deadline)
        {
            self.timer.reset(at.duration_since(self.shared.clock.now()));
            state.armed = Some(at);
            due |= self.has_gone_off(state, cx);
        }
        if due {
            state.engine.handle_timeout(self.shared.clock.now());
        }
        due
    }

    fn has_gone_off(&mut self, state: &mut State, cx: &mut Context<'_>) -> bool {
        if state.armed.is_none() || self.timer.poll(cx).is_pending() {
            return false;
        }
        state.gone_off();
        true
    }

    /// Returns the next time at which there is something to do.
    fn deadline(&self, state: &State) -> Option<Timestamp> {
        let stop = self.stopping.as_ref().map(Stop::deadline);
        let ending = self.ending.deadline().into_iter().chain(self.look_again).min().filter(|_| !self.ended);
        [state.engine.poll_timeout(), ending, stop, self.held].into_iter().flatten().min()
    }

    /// Does what needs no lock: calls code of the program, and wakes tasks.
    fn outside(&mut self) {
        if !self.heard.is_empty() {
            self.watchers.lines.push(&mem::take(&mut self.heard));
        }
        if let Some(tracer) = &mut self.watchers.tracer {
            for (direction, bytes) in mem::take(&mut self.watched) {
                tracer.push(direction, &bytes);
            }
        }
        if let Some(hooks) = &self.shared.context.hooks {
            if let Some(report) = &self.report {
                hooks.process_exited(report.exit);
            }
            hooks.deliver();
        }
        if let Some(report) = self.report.take() {
            self.watchers.lines.flush();
            // A restarted server has the same callbacks. They must be there before a task learns of this end.
            *self.shared.watchers.lock().unwrap_or_else(PoisonError::into_inner) = mem::take(&mut self.watchers);
            self.shared.lock().end(report, &mut self.wakers);
        }
        for waker in self.wakers.drain(..) {
            waker.wake();
        }
    }
}

/// Returns the text of a stream's error. A function of its own, so that the code for it is not compiled into the loop.
#[cold]
#[inline(never)]
fn text_of(error: &std::io::Error) -> Arc<str> {
    error.to_string().into()
}

#[cfg(feature = "http")]
impl Loop {
    /// Handles what has arrived, and polls the exchanges, in turns.
    fn poll_http(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..TURNS {
            if self.poll_once(cx).is_ready() {
                self.http = None;
                return Poll::Ready(());
            }
            let Some(http) = &mut self.http else { return Poll::Pending };
            // While the loop waits for consumers of events, nothing is read: they wake this task.
            let may_read = self.held.is_none();
            let has_come = http.poll(may_read, &mut self.watched, cx);
            if !may_read || !has_come && !http.has_more() {
                self.outside();
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Loop {
    /// Does one turn: first what needs the lock, then what must not have it.
    #[inline]
    fn poll_once(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        self.over = self.turn(&mut state, cx);
        #[cfg(feature = "http")]
        if let Some((http, engine)) = self.http.as_mut().zip(state.engine.http()) {
            http.take_commands(engine, shared.clock.now());
        }
        state.shrink();
        match &mut state.driver {
            Some(waker) if waker.will_wake(cx.waker()) => {}
            driver => self.former.extend(driver.replace(cx.waker().clone())),
        }
        let requests = mem::take(&mut state.server_requests);
        if let Some(hooks) = &shared.context.hooks {
            state.record_bytes(&**hooks);
        }
        let writer_panic = state.writer_panic.take();
        drop(state);
        self.former.clear();
        if let Some(message) = writer_panic.filter(|_| !self.over) {
            self.fail(message);
        }
        if self.over {
            self.answers.clear();
        } else {
            self.answers.serve(&shared, requests, cx);
        }
        self.outside();
        if self.over { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Loop {
    fn poll_any(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        #[cfg(feature = "http")]
        if self.http.is_some() {
            return self.poll_http(cx);
        }
        self.poll_once(cx)
    }
}

impl Future for Loop {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.over {
            return Poll::Ready(());
        }
        // Panics of handlers and callbacks are caught one by one. What is left are the streams and the runtime of the program.
        catch_panic(|| this.poll_any(cx)).unwrap_or_else(|message| {
            this.fail(message);
            Poll::Ready(())
        })
    }
}
