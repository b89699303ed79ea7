//! [`ServeFuture`]: the future that serves one connection.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use mcpwire_driver::protocol::Timestamp;
use mcpwire_driver::{Clock, Reader, Timer, Writer};

use crate::outbox::{Outbox, Output};
use crate::server::ScriptedServer;

/// The future that serves one connection. [`ScriptedServer::serve`] creates it; spawn it on a runtime.
///
/// It ends when either side has closed the connection.
#[must_use = "a server answers only while it is polled"]
pub struct ServeFuture {
    server: ScriptedServer,
    connection: usize,
    reader: Reader,
    writer: Writer,
    clock: Clock,
    timer: Box<dyn Timer>,
    /// The time for which the timer is set.
    armed: Option<Timestamp>,
    /// The beginning of a line whose end has not arrived.
    input: Vec<u8>,
    /// The bytes to write. The first `written` bytes are written already.
    output: Vec<u8>,
    written: usize,
    /// Whether to close the connection after `output` is written.
    closing: bool,
    over: bool,
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
            armed: None,
            input: Vec::new(),
            output: Vec::new(),
            written: 0,
            closing: false,
            over: false,
        }
    }

    /// Reads and handles the messages in the pipe. Returns whether there were any.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.server.lock().reads {
            return false;
        }
        let mut chunk = [0; 8 * 1024];
        match self.reader.as_mut().poll_read(cx, &mut chunk) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => self.handle_lines(&chunk[..n]),
            Poll::Ready(Err(error)) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // The client has closed its side, so nobody reads the remaining output.
            Poll::Ready(_) => self.over = true,
        }
        true
    }

    fn handle_lines(&mut self, mut chunk: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            self.input.extend_from_slice(&chunk[..end]);
            chunk = &chunk[end + 1..];
            let line = std::mem::take(&mut self.input);
            if !line.trim_ascii().is_empty() {
                self.server.receive(self.connection, self.clock.now(), &String::from_utf8_lossy(&line));
            }
        }
        self.input.extend_from_slice(chunk);
    }

    /// Moves the output that is due to `output`. Returns whether there was any.
    fn collect_output(&mut self) -> bool {
        let before = (self.output.len(), self.closing);
        let mut state = self.server.lock();
        let Some(outbox) = state.outboxes.get_mut(&self.connection) else { return false };
        while !self.closing
            && let Some(output) = outbox.pop(self.clock.now())
        {
            match output {
                Output::Line(line) | Output::Response(line) => {
                    self.output.extend_from_slice(line.as_bytes());
                    self.output.push(b'\n');
                }
                Output::Raw(bytes) => self.output.extend_from_slice(&bytes),
                Output::Close => self.closing = true,
            }
        }
        before != (self.output.len(), self.closing)
    }

    /// Writes as much as the pipe takes. Returns whether it took anything.
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

    /// Sets the timer for the next output. Returns whether the timer has fired.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> bool {
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

    /// Removes the connection from those of the server.
    fn disconnect(&self) {
        let outbox = self.server.lock().outboxes.remove(&self.connection);
        // The lock is not held here: dropping a waker may drop its task, which may use the server.
        drop(outbox);
    }

    /// Stores the waker, which is woken when another task plans output.
    fn set_waker(&self, cx: &Context<'_>) {
        let former = match self.server.lock().outboxes.get_mut(&self.connection) {
            Some(outbox) => outbox.waker.replace(cx.waker().clone()),
            None => None,
        };
        drop(former);
    }
}

impl Future for ServeFuture {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        // The waker is stored first, so that output which is planned from now on wakes this task.
        this.set_waker(cx);
        while !this.over {
            let mut moved = this.collect_output();
            moved |= this.write(cx);
            moved |= !this.over && !this.closing && this.read(cx);
            moved |= this.poll_timer(cx);
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
