//! [`ServeFuture`]: serves one connection of a scripted server.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll};

use mcpwire_driver::protocol::{Json, Timestamp};
use mcpwire_driver::{Clock, Reader, Timer, Writer};

use crate::outbox::{Outbox, Output, ResponseTarget};
use crate::protocol::{PROTOCOL_VERSION, Plan};
use crate::recorded::{Cancellation, RecordedMessage};
use crate::server::ScriptedServer;

/// A future that serves one connection. Returned by [`ScriptedServer::serve`], to be spawned on a runtime.
///
/// The future ends when either side has closed the connection.
#[must_use = "the server responds only while this future is polled"]
pub struct ServeFuture {
    server: ScriptedServer,
    connection: usize,
    reader: Reader,
    writer: Writer,
    clock: Clock,
    timer: Box<dyn Timer>,
    /// The deadline of the timer. `None` if the timer is not set.
    deadline: Option<Timestamp>,
    /// The beginning of an incomplete line.
    input: Vec<u8>,
    /// Bytes to write, of which `written` have been written.
    output: Vec<u8>,
    written: usize,
    /// Whether the connection is to be closed after `output` has been written.
    is_closing: bool,
    is_closed: bool,
}

impl ServeFuture {
    pub(crate) fn new(
        server: ScriptedServer,
        connection: usize,
        reader: Reader,
        writer: Writer,
        clock: Clock,
        timer: Box<dyn Timer>,
    ) -> Self {
        ServeFuture {
            server,
            connection,
            reader,
            writer,
            clock,
            timer,
            deadline: None,
            input: Vec::new(),
            output: Vec::new(),
            written: 0,
            is_closing: false,
            is_closed: false,
        }
    }

    /// Reads once, and handles the messages. Returns whether bytes or the end of the stream arrived.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.server.lock().is_reading {
            return false;
        }
        let mut chunk = [0; 8 * 1024];
        match self.reader.as_mut().poll_read(cx, &mut chunk) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => self.split_lines(&chunk[..n]),
            Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // The client has closed the connection, so the remaining output has no reader.
            Poll::Ready(_) => self.is_closed = true,
        }
        true
    }

    fn split_lines(&mut self, mut chunk: &[u8]) {
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

    /// Records a message, and schedules the response.
    fn receive(&mut self, line: &str) {
        let message = RecordedMessage::new(self.clock.now().since_origin(), self.connection, line);
        let mut state = self.server.lock();
        state.recorded.push(message.clone());
        if message.method.is_empty() {
            return;
        }
        let params = message.params.clone().unwrap_or_default();
        let meta: Json = message.param("_meta").unwrap_or_default();
        let version: Option<String> = meta.member(PROTOCOL_VERSION);
        let plan = match &message.id {
            Some(_) => state.plan(&message.method, &params, version.as_deref()),
            // A notification has no response, but its handler may send other messages.
            None => match state.methods.get(&message.method) {
                Some(handler) => Plan::Call(handler.clone(), params),
                None => Plan::Respond(crate::ScriptedResponse::new()),
            },
        };
        let cancelled = Cancellation::from_message(&message).filter(|_| !state.ignores_cancellations);
        drop(state);
        let response = match plan {
            Plan::Respond(response) => response,
            Plan::Call(handler, params) => handler.lock().unwrap_or_else(PoisonError::into_inner)(&params),
        };
        let mut state = self.server.lock();
        let latency = state.latency;
        let Some(outbox) = state.outboxes.get_mut(&self.connection) else { return };
        if let Some(cancelled) = cancelled {
            outbox.cancel(&cancelled.id);
        }
        let progress_token = meta.member("progressToken");
        let target = ResponseTarget { id: message.id, is_modern: version.is_some(), progress_token };
        outbox.respond(&target, response, latency);
    }

    /// Moves the output that is due from the outbox. Returns whether there was any.
    fn take_due_output(&mut self) -> bool {
        let before = (self.output.len(), self.is_closing);
        let mut state = self.server.lock();
        let Some(outbox) = state.outboxes.get_mut(&self.connection) else { return false };
        while !self.is_closing
            && let Some(output) = outbox.pop(self.clock.now())
        {
            match output {
                Output::Bytes(bytes) => self.output.extend_from_slice(&bytes),
                Output::Close => self.is_closing = true,
            }
        }
        before != (self.output.len(), self.is_closing)
    }

    /// Writes as much as the stream accepts. Returns whether anything was written.
    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        let mut any = false;
        while self.written < self.output.len() {
            match self.writer.as_mut().poll_write(cx, &self.output[self.written..]) {
                Poll::Pending => return any,
                Poll::Ready(Ok(n)) if n > 0 => self.written += n,
                Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Poll::Ready(_) => self.is_closed = true,
            }
            any = true;
            if self.is_closed {
                return any;
            }
        }
        self.output.clear();
        self.written = 0;
        any
    }

    /// Sets the timer to the next output. Returns whether the timer has fired.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> bool {
        let next = self.server.lock().outboxes.get(&self.connection).and_then(Outbox::next_time);
        let Some(next) = next.filter(|_| !self.is_closing) else { return false };
        if self.deadline != Some(next) {
            self.timer.reset(next.duration_since(self.clock.now()));
            self.deadline = Some(next);
        }
        if self.timer.poll(cx).is_pending() {
            return false;
        }
        self.deadline = None;
        true
    }

    /// Removes the connection from the server.
    fn disconnect(&self) {
        let outbox = self.server.lock().outboxes.remove(&self.connection);
        // Dropped without the lock, because its waker may own a task.
        drop(outbox);
    }

    /// Registers the task to be woken by new output.
    fn register_waker(&self, cx: &Context<'_>) {
        let previous = match self.server.lock().outboxes.get_mut(&self.connection) {
            Some(outbox) => outbox.waker.replace(cx.waker().clone()),
            None => None,
        };
        drop(previous);
    }
}

impl Future for ServeFuture {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        // Before the outbox is read, so that no output is missed.
        this.register_waker(cx);
        while !this.is_closed {
            let mut moved = this.take_due_output();
            moved |= this.write(cx);
            moved |= !this.is_closed && !this.is_closing && this.read(cx);
            moved |= this.poll_timer(cx);
            let flushed = this.writer.as_mut().poll_flush(cx);
            if this.is_closing && this.output.is_empty() && flushed.is_ready() {
                this.is_closed = this.writer.as_mut().poll_close(cx).is_ready();
            }
            if !moved {
                break;
            }
        }
        if !this.is_closed {
            return Poll::Pending;
        }
        this.disconnect();
        Poll::Ready(())
    }
}

impl Drop for ServeFuture {
    fn drop(&mut self) {
        self.disconnect();
    }
}

impl fmt::Debug for ServeFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServeFuture")
            .field("server", &self.server)
            .field("connection", &self.connection)
            .finish_non_exhaustive()
    }
}
