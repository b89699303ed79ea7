//! Connects clients to a [`ScriptedServer`] over streams, and serves them.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use mcpwire_driver::memory::duplex;
use mcpwire_driver::{Clock, ConnectOptions, CurrentRuntime, McpClient, Reader, Runtime, Writer};

use crate::progress_and_responses::{Alarm, Outbox};
use crate::response::Output;
use crate::server::{PIPE_CAPACITY, ScriptedServer};

impl ScriptedServer {
    /// Creates a client that is connected to this server in memory, on the current runtime. Call `initialize` to open the
    /// connection.
    ///
    /// Delays and timeouts use the time of the runtime. Use `connect` for code that sleeps on tokio, because a
    /// [`Testkit`](crate::Testkit) runs outside of tokio. With `#[tokio::test(start_paused = true)]`, the time is virtual too.
    ///
    /// ```
    /// # mod mcpwire { pub use mcpwire_driver::{ConnectOptions, Error}; pub mod testkit { pub use
    /// # mcpwire_testkit::ScriptedServer; } pub mod tokio { pub use mcpwire_testkit::VirtualTime as Tokio; } }
    /// use mcpwire::{ConnectOptions, Error};
    /// use mcpwire::testkit::ScriptedServer;
    /// use serde_json::json;
    ///
    /// async fn test() -> Result<(), Error> {
    ///     let server = ScriptedServer::new().tool("greet", |_| "hello");
    ///     let client = server.connect::<mcpwire::tokio::Tokio>(ConnectOptions::default());
    ///     client.initialize().await?;
    ///     assert_eq!(client.call_tool("greet", json!({})).await?.text().as_str(), "hello");
    ///     Ok(())
    /// }
    /// # mcpwire_testkit::VirtualTime::new().run(test()).unwrap();
    /// ```
    ///
    /// # Panics
    /// If `R` needs a runtime, as tokio does, and this is called outside of one.
    pub fn connect<R: CurrentRuntime>(&self, options: ConnectOptions) -> McpClient<R> {
        self.connect_on(R::current(), PIPE_CAPACITY, options)
    }

    /// Creates a client that is connected to this server on `runtime`, over streams that hold `capacity` bytes in each direction.
    pub(crate) fn connect_on<R>(
        &self,
        runtime: Arc<dyn Runtime>,
        capacity: usize,
        options: ConnectOptions,
    ) -> McpClient<R> {
        let (ours, theirs) = duplex(capacity);
        runtime.spawn(Box::pin(self.serve_on(&*runtime, theirs.reader, theirs.writer)));
        McpClient::over_on(runtime, ours.reader, ours.writer, options)
    }

    /// Returns a future that serves one client over any pair of streams. Delays use the time of the current runtime.
    ///
    /// Spawn the future on this runtime. It ends when the connection is closed. Dropping the future closes the connection.
    ///
    /// # Panics
    /// If `R` needs a runtime, as tokio does, and this is called outside of one.
    pub fn serve<R: CurrentRuntime>(
        &self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> ServeFuture {
        self.serve_on(&*R::current(), reader, writer)
    }

    /// Returns a future that serves one client as [`ScriptedServer::serve`] does. Delays use the time of `runtime`.
    pub fn serve_on(
        &self,
        runtime: &dyn Runtime,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> ServeFuture {
        let alarm = Alarm::new(runtime);
        ServeFuture {
            connection: self.open(alarm.clock(), None, true),
            server: self.clone(),
            reader: Box::pin(reader),
            writer: Box::pin(writer),
            alarm,
            input: Vec::new(),
            output: VecDeque::new(),
            is_closing: false,
            is_over: false,
        }
    }

    /// Registers a new connection, and returns its number. `client` is the number of a known client, or `None` for a new client.
    pub(crate) fn open(&self, clock: &Clock, client: Option<usize>, is_general: bool) -> usize {
        let mut state = self.lock();
        let connection = state.connections;
        state.connections += 1;
        state.outboxes.insert(connection, Outbox::new(clock.clone(), client.unwrap_or(connection), is_general));
        connection
    }

    /// Removes a connection and its planned output.
    pub(crate) fn disconnect(&self, connection: usize) {
        let outbox = self.lock().outboxes.remove(&connection);
        // The lock is not held here: dropping a waker may drop its task, which may use the server.
        drop(outbox);
    }

    /// Stores the waker of the task that sends the output of a connection. Other tasks wake it when they plan output.
    pub(crate) fn set_waker(&self, connection: usize, cx: &Context<'_>) {
        let former =
            self.lock().outboxes.get_mut(&connection).and_then(|outbox| outbox.waker.replace(cx.waker().clone()));
        // The lock is not held here: dropping a waker may drop its task, which may use the server.
        drop(former);
    }
}

/// The future that serves one connection of a [`ScriptedServer`]. Created by [`ScriptedServer::serve`]; spawn it on a runtime.
///
/// The future ends when the client or the server has closed the connection.
#[must_use = "a server answers only while it is polled"]
pub struct ServeFuture {
    server: ScriptedServer,
    connection: usize,
    reader: Reader,
    writer: Writer,
    alarm: Alarm,
    /// The bytes of a line whose end has not arrived yet.
    input: Vec<u8>,
    /// The bytes that are due and not yet written to the client.
    output: VecDeque<u8>,
    /// Whether to close the connection after `output` is written.
    is_closing: bool,
    is_over: bool,
}

impl ServeFuture {
    /// Reads bytes from the client, and handles the complete messages. Returns whether it made progress.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.server.lock().reads {
            return false;
        }
        let mut chunk = [0; 8 * 1024];
        match self.reader.as_mut().poll_read(cx, &mut chunk) {
            Poll::Pending => return false,
            Poll::Ready(Ok(n)) if n > 0 => self.handle_lines(&chunk[..n]),
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
            // The client has closed its side, so the remaining output is not sent.
            Poll::Ready(_) => self.is_over = true,
        }
        true
    }

    fn handle_lines(&mut self, mut chunk: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            self.input.extend_from_slice(&chunk[..end]);
            chunk = &chunk[end + 1..];
            let line = std::mem::take(&mut self.input);
            if !line.trim_ascii().is_empty() {
                self.server.receive(self.connection, self.alarm.now(), &String::from_utf8_lossy(&line));
            }
        }
        self.input.extend_from_slice(chunk);
    }

    /// Moves the planned output that is due to the buffer `output`. Returns whether it made progress.
    fn collect_output(&mut self) -> bool {
        let before = (self.output.len(), self.is_closing);
        let mut state = self.server.lock();
        let Some(outbox) = state.outboxes.get_mut(&self.connection) else { return false };
        while !self.is_closing
            && let Some(output) = outbox.pop(self.alarm.now())
        {
            match output {
                Output::Line(line) | Output::Response(line) => {
                    self.output.extend(line.as_bytes());
                    self.output.push_back(b'\n');
                }
                Output::Raw(bytes) => self.output.extend(bytes),
                Output::Close => self.is_closing = true,
            }
        }
        before != (self.output.len(), self.is_closing)
    }

    /// Writes as many bytes of `output` as the pipe accepts. Returns whether it made progress.
    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        let mut any = false;
        while !self.is_over && !self.output.is_empty() {
            match self.writer.as_mut().poll_write(cx, self.output.as_slices().0) {
                Poll::Pending => return any,
                Poll::Ready(Ok(n)) if n > 0 => drop(self.output.drain(..n)),
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Poll::Ready(_) => self.is_over = true,
            }
            any = true;
        }
        any
    }

    /// Sets the timer for the next planned output. Returns whether this output is due now.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> bool {
        let next = self.server.lock().outboxes.get(&self.connection).and_then(Outbox::next);
        next.is_some_and(|next| !self.is_closing && self.alarm.poll_until(next, cx).is_ready())
    }
}

impl Future for ServeFuture {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        // The waker is stored first, so that output which is planned from now on wakes this task.
        this.server.set_waker(this.connection, cx);
        while !this.is_over {
            let mut has_moved = this.collect_output();
            has_moved |= this.write(cx);
            has_moved |= !this.is_over && !this.is_closing && this.read(cx);
            has_moved |= this.poll_timer(cx);
            let flushed = this.writer.as_mut().poll_flush(cx);
            if this.is_closing && this.output.is_empty() && flushed.is_ready() {
                this.is_over = this.writer.as_mut().poll_close(cx).is_ready();
            }
            if !has_moved {
                break;
            }
        }
        if !this.is_over {
            return Poll::Pending;
        }
        this.server.disconnect(this.connection);
        Poll::Ready(())
    }
}

impl Drop for ServeFuture {
    fn drop(&mut self) {
        self.server.disconnect(self.connection);
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
