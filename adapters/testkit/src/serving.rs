//! [`Serving`]: a scripted server at work on one connection.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_driver::core::{Json, Timestamp};
use mcpwire_driver::{Clock, Reader, Timer, Writer};

use crate::outbox::{Asked, Outbox, Output};
use crate::protocol::{Plan, VERSION};
use crate::recorded::{Cancellation, Recorded};
use crate::server::ScriptedServer;

/// A server at work on one connection: made by [`ScriptedServer::serve`], to be spawned on a runtime.
///
/// It ends when either side has closed the connection.
#[must_use = "a server answers only while it is polled"]
pub struct Serving {
    server: ScriptedServer,
    connection: usize,
    reader: Reader,
    writer: Writer,
    clock: Clock,
    timer: Box<dyn Timer>,
    /// When the timer goes off.
    armed: Option<Timestamp>,
    /// What was read and is not a whole line yet.
    input: Vec<u8>,
    /// What is to be written, and how much of it has been.
    output: Vec<u8>,
    written: usize,
    /// Nothing is said after what is to be written.
    closing: bool,
    over: bool,
}

impl Serving {
    pub(crate) fn new(
        server: ScriptedServer,
        connection: usize,
        reader: Reader,
        writer: Writer,
        clock: Clock,
        timer: Box<dyn Timer>,
    ) -> Self {
        Serving {
            server,
            connection,
            reader,
            writer,
            clock,
            timer,
            armed: None,
            input: Vec::new(),
            output: Vec::new(),
            written: 0,
            closing: false,
            over: false,
        }
    }

    /// Reads what there is, and does something about it. Whether there was anything.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.server.lock().reads {
            return false;
        }
        let mut chunk = [0; 8 * 1024];
        match self.reader.as_mut().poll_read(cx, &mut chunk) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => self.take_in(&chunk[..n]),
            Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // The client has gone, and with it who would read what is still to be said.
            Poll::Ready(_) => self.over = true,
        }
        true
    }

    fn take_in(&mut self, mut chunk: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            self.input.extend_from_slice(&chunk[..end]);
            chunk = &chunk[end + 1..];
            let line = std::mem::take(&mut self.input);
            if !line.trim_ascii().is_empty() {
                self.receive(&String::from_utf8_lossy(&line));
            }
        }
        self.input.extend_from_slice(chunk);
    }

    /// Does something about a message.
    fn receive(&mut self, line: &str) {
        let message = Recorded::new(self.clock.now().since_origin(), self.connection, line);
        let mut state = self.server.lock();
        state.recorded.push(message.clone());
        if message.method.is_empty() {
            let outbox = state.outboxes.get_mut(&self.connection);
            let paused = message.id.as_ref().and_then(|id| outbox?.take_paused(id));
            drop(state);
            let Some((asked, answer)) = paused.map(|paused| paused.resume(&message.message)) else { return };
            if let Some(outbox) = self.server.lock().outboxes.get_mut(&self.connection) {
                outbox.answer(asked, answer, Duration::ZERO);
            }
            return;
        }
        let params = message.params.clone().unwrap_or_default();
        let meta: Json = message.param("_meta").unwrap_or_default();
        let version: Option<String> = meta.member(VERSION);
        let plan = match &message.id {
            Some(_) => state.plan(&message.method, &params, version.as_deref()),
            // Nobody waits for an answer, but there may be something to do.
            None => match state.methods.get(&message.method) {
                Some(handler) => Plan::Call(handler.clone(), params),
                None => Plan::Answer(crate::Answer::new()),
            },
        };
        let cancelled = Cancellation::of(&message).filter(|_| !state.ignores_cancellations);
        drop(state);
        let answer = match plan {
            Plan::Answer(answer) => answer,
            Plan::Call(handler, params) => handler.lock().unwrap_or_else(PoisonError::into_inner)(&params),
        };
        let mut state = self.server.lock();
        let latency = state.latency;
        let Some(outbox) = state.outboxes.get_mut(&self.connection) else { return };
        if let Some(cancelled) = cancelled {
            outbox.forget(&cancelled.id);
        }
        let progress_token = meta.member("progressToken");
        outbox.answer(Asked { id: message.id, modern: version.is_some(), progress_token }, answer, latency);
    }

    /// Takes what is to be said by now. Whether there was anything.
    fn speak(&mut self) -> bool {
        let before = (self.output.len(), self.closing);
        let mut state = self.server.lock();
        let Some(outbox) = state.outboxes.get_mut(&self.connection) else { return false };
        while !self.closing
            && let Some(output) = outbox.pop(self.clock.now())
        {
            match output {
                Output::Bytes(bytes) => self.output.extend_from_slice(&bytes),
                Output::Close => self.closing = true,
            }
        }
        before != (self.output.len(), self.closing)
    }

    /// Writes what the client takes. Whether it took anything.
    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        let mut any = false;
        while self.written < self.output.len() {
            match self.writer.as_mut().poll_write(cx, &self.output[self.written..]) {
                Poll::Pending => return any,
                Poll::Ready(Ok(n)) if n > 0 => self.written += n,
                Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Poll::Ready(_) => self.over = true,
            }
            any = true;
            if self.over {
                return any;
            }
        }
        self.output.clear();
        self.written = 0;
        any
    }

    /// Sets the timer to what is to be said next. Whether it has gone off.
    fn keep_time(&mut self, cx: &mut Context<'_>) -> bool {
        let next = self.server.lock().outboxes.get(&self.connection).and_then(Outbox::next);
        let Some(next) = next.filter(|_| !self.closing) else { return false };
        if self.armed != Some(next) {
            self.timer.reset(next.duration_since(self.clock.now()));
            self.armed = Some(next);
        }
        if self.timer.poll(cx).is_pending() {
            return false;
        }
        self.armed = None;
        true
    }

    /// The connection is not among those that are open any more.
    fn leave(&self) {
        let outbox = self.server.lock().outboxes.remove(&self.connection);
        // Without the lock: a task may hang on its waker.
        drop(outbox);
    }

    /// Leaves what is said from outside a way to wake this task.
    fn park(&self, cx: &Context<'_>) {
        let former = match self.server.lock().outboxes.get_mut(&self.connection) {
            Some(outbox) => outbox.waker.replace(cx.waker().clone()),
            None => None,
        };
        drop(former);
    }
}

impl Future for Serving {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        // First: whoever says something from now on wakes this task.
        this.park(cx);
        while !this.over {
            let mut moved = this.speak();
            moved |= this.write(cx);
            moved |= !this.over && !this.closing && this.read(cx);
            moved |= this.keep_time(cx);
            let flushed = this.writer.as_mut().poll_flush(cx);
            if this.closing && this.output.is_empty() && flushed.is_ready() {
                this.over = this.writer.as_mut().poll_close(cx).is_ready();
            }
            if !moved {
                break;
            }
        }
        if !this.over {
            return Poll::Pending;
        }
        this.leave();
        Poll::Ready(())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("server", &self.server)
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}
