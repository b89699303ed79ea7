//! [`Threads`]: a transport over blocking streams. One thread reads and one thread writes, so that the client's thread can wait
//! with a deadline.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use mcpwire_core::Timestamp;

use super::{Io, Transport, observe};
use crate::cancel::ThreadWaker;
use mcpwire_client::{Direction, catch_panic};
use mcpwire_process::{EndOfStream, ExitPolling};

/// Maximum size of one read from the server, in bytes.
const CHUNK_SIZE: usize = 64 * 1024;

/// Maximum number of chunks of a stream that the client has not processed yet. At this limit, the reading thread pauses.
const MAX_CHUNKS: usize = 4;

/// An event that a thread of [`Threads`] or a canceller reports to the client's thread.
pub(crate) enum ThreadEvent {
    Read(Vec<u8>),
    /// The stream from the server has ended, perhaps with an error.
    ReadEnd(Option<io::Error>),
    Wrote,
    WriteError(io::Error),
    Stderr(Vec<u8>),
    StderrEnd,
    /// The server has exited.
    Exited,
    /// A stream panicked with this message.
    Panicked(String),
    Wake,
}

pub(crate) struct Threads {
    events: Receiver<ThreadEvent>,
    event_sender: Sender<ThreadEvent>,
    /// The permits of the thread that reads. Each permit lets it read one chunk. The client sends a permit for each processed
    /// chunk.
    permits: SyncSender<()>,
    /// The permits of the thread that reads standard error. They work like `permits`.
    stderr_permits: SyncSender<()>,
    /// Passes bytes to the thread that writes. `None` after the stream to the server was closed.
    write: Option<SyncSender<Vec<u8>>>,
    /// Whether the writing thread has not reported the end of the last write. No further bytes are passed to it until then.
    is_writing: bool,
    /// Received bytes that the engine has no room for yet.
    unread: Vec<u8>,
    end_of_stream: EndOfStream,
    exit_polling: ExitPolling,
}

impl Threads {
    /// Starts the threads of a connection. `end_of_stream` decides when the connection has ended: see [`EndOfStream::of_process`]
    /// and [`EndOfStream::of_streams`].
    ///
    /// The exit of a server process is checked at intervals, unless [`Threads::watch_exit`] is called.
    pub(crate) fn start(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        stderr: Option<Box<dyn Read + Send>>,
        mut end_of_stream: EndOfStream,
    ) -> io::Result<Self> {
        let (event_sender, events) = channel();
        let (permits, permit) = sync_channel(MAX_CHUNKS);
        let (stderr_permits, stderr_permit) = sync_channel(MAX_CHUNKS);
        let (write, to_write) = sync_channel(1);
        let named = |name: &str| thread::Builder::new().name(format!("mcpwire-{name}"));
        let sender = event_sender.clone();
        named("read").spawn(move || guard(reader, &sender, |reader| read(reader, &sender, &permit)))?;
        let sender = event_sender.clone();
        named("write").spawn(move || guard(writer, &sender, |writer| write_all(writer, &sender, &to_write)))?;
        if let Some(stderr) = stderr {
            let sender = event_sender.clone();
            named("stderr").spawn(move || read_stderr(stderr, &sender, &stderr_permit))?;
        } else {
            end_of_stream.stderr_ended();
        }
        for _ in 0..MAX_CHUNKS {
            let _ = permits.try_send(());
            let _ = stderr_permits.try_send(());
        }
        Ok(Threads {
            events,
            event_sender,
            permits,
            stderr_permits,
            write: Some(write),
            is_writing: false,
            unread: Vec::new(),
            end_of_stream,
            exit_polling: ExitPolling::Always,
        })
    }

    /// Starts a thread that reports the exit of the server. `wait_for_exit` must block until the server has exited.
    pub(crate) fn watch_exit(&mut self, wait_for_exit: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let sender = self.event_sender.clone();
        let wait = move || {
            // If the function panics, the exit stays unknown.
            let _ = catch_panic(wait_for_exit);
            let _ = sender.send(ThreadEvent::Exited);
        };
        thread::Builder::new().name("mcpwire-exit".into()).spawn(wait)?;
        self.exit_polling = ExitPolling::Never;
        Ok(())
    }

    fn write(&mut self, io: &mut Io) {
        let Some(engine) = io.engine.stream() else { return };
        let bytes = engine.transmit();
        if self.is_writing || bytes.is_empty() {
            return;
        }
        let Some(write) = &self.write else { return };
        match write.try_send(bytes.to_vec()) {
            Ok(()) => {
                observe(&mut io.tracer, &io.context, Direction::Sent, bytes);
                self.is_writing = true;
                let n = bytes.len();
                engine.transmitted(n);
            }
            Err(TrySendError::Full(_)) => {}
            Err(TrySendError::Disconnected(_)) => self.write = None,
        }
    }

    /// Passes received bytes to the engine, as far as it has room. When all are passed, lets the thread read the next chunk.
    fn feed(&mut self, io: &mut Io, now: Timestamp) {
        let Some(engine) = io.engine.stream() else { return };
        let taken = engine.receive(&self.unread, now);
        io.has_read |= taken > 0;
        self.unread.drain(..taken);
        if self.unread.is_empty() {
            let _ = self.permits.try_send(());
        }
    }

    /// Passes the end of the stream to the engine, if the streams and the process have ended. Returns whether they have.
    fn check_end(&mut self, io: &mut Io, now: Timestamp) -> bool {
        let has_ended = self.end_of_stream.poll(io.process.as_mut(), self.exit_polling, now);
        if has_ended {
            io.end(&mut self.end_of_stream, now);
        }
        has_ended
    }

    /// Stores a chunk of standard error, and lets the thread read the next one.
    fn push_stderr(&mut self, bytes: &[u8], io: &mut Io) {
        io.stderr.push(bytes);
        let _ = self.stderr_permits.try_send(());
    }

    fn handle_event(&mut self, event: ThreadEvent, io: &mut Io, now: Timestamp) {
        match event {
            ThreadEvent::Read(bytes) => {
                observe(&mut io.tracer, &io.context, Direction::Received, &bytes);
                self.unread = bytes;
                self.feed(io, now);
            }
            ThreadEvent::ReadEnd(error) => self.end_of_stream.output_ended(error.as_ref(), now),
            ThreadEvent::WriteError(error) => {
                self.write = None;
                self.end_of_stream.input_broke(&error, now);
            }
            ThreadEvent::Wrote => self.is_writing = false,
            ThreadEvent::Stderr(bytes) => self.push_stderr(&bytes, io),
            ThreadEvent::StderrEnd => self.end_of_stream.stderr_ended(),
            ThreadEvent::Exited => io.observe_exit(),
            ThreadEvent::Panicked(message) => {
                self.end_of_stream.abort();
                io.fail(message);
            }
            ThreadEvent::Wake => {}
        }
    }
}

impl Transport for Threads {
    fn turn(&mut self, io: &mut Io, until: Option<Timestamp>) -> io::Result<Timestamp> {
        self.write(io);
        let now = io.clock.now();
        if self.end_of_stream.is_over() {
            return Ok(now);
        }
        if !self.unread.is_empty() {
            self.feed(io, now);
            return Ok(now);
        }
        // The exit is checked before the wait, too. The wait ends when the next check is due.
        if self.check_end(io, now) {
            return Ok(now);
        }
        // Without a deadline, the wait is an hour long, because `Receiver` has no method with an optional timeout.
        let until = [until, self.end_of_stream.deadline()].into_iter().flatten().min();
        let wait = until.map_or(Duration::from_secs(3600), |at| at.duration_since(now));
        let received = self.events.recv_timeout(wait);
        let now = io.clock.now();
        if let Ok(event) = received {
            let is_output = matches!(event, ThreadEvent::Read(_));
            self.handle_event(event, io, now);
            // Output that has already arrived is processed before the end is checked, even if a deadline has passed in the
            // meantime.
            if is_output {
                return Ok(now);
            }
        }
        self.check_end(io, now);
        Ok(now)
    }

    fn flush(&mut self, io: &mut Io) {
        self.write(io);
    }

    fn close_input(&mut self) {
        // Without its sender, the thread ends after the current write, and drops the stream.
        self.write = None;
    }

    fn wait_for_exit(&mut self, io: &mut Io, until: Timestamp) {
        match self.events.recv_timeout(until.duration_since(io.clock.now())) {
            Ok(ThreadEvent::Stderr(bytes)) => self.push_stderr(&bytes, io),
            Ok(ThreadEvent::StderrEnd) => self.end_of_stream.stderr_ended(),
            Ok(ThreadEvent::Read(_)) => drop(self.permits.try_send(())),
            // `self` has a sender, so the channel is never disconnected.
            Ok(_) | Err(_) => {}
        }
    }

    fn reports_exit(&self) -> bool {
        self.exit_polling == ExitPolling::Never
    }

    fn has_stderr(&self) -> bool {
        !self.end_of_stream.has_stderr_ended()
    }

    fn waker(&mut self) -> io::Result<ThreadWaker> {
        let sender = self.event_sender.clone();
        Ok(Box::new(move || drop(sender.send(ThreadEvent::Wake))))
    }
}

/// Runs the work of a thread with its stream. If the work panics, reports the panic, so that the client does not wait for the
/// stream forever. The stream is dropped after the report: the server may end the connection when the stream ends, and the client
/// would then report that end in place of the panic.
fn guard<S>(mut stream: S, sender: &Sender<ThreadEvent>, work: impl FnOnce(&mut S)) {
    if let Err(message) = catch_panic(|| work(&mut stream)) {
        let _ = sender.send(ThreadEvent::Panicked(message));
    }
    // The client needs the stream no more, so a panic while it is dropped is ignored.
    let _ = catch_panic(|| drop(stream));
}

fn read(reader: &mut impl Read, sender: &Sender<ThreadEvent>, permit: &Receiver<()>) {
    let mut buffer = vec![0; CHUNK_SIZE];
    while permit.recv().is_ok() {
        let event = loop {
            match reader.read(&mut buffer) {
                Ok(n) if n > 0 => break ThreadEvent::Read(buffer[..n].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                end => break ThreadEvent::ReadEnd(end.err()),
            }
        };
        let is_end = matches!(event, ThreadEvent::ReadEnd(_));
        if sender.send(event).is_err() || is_end {
            return;
        }
    }
}

fn write_all(writer: &mut impl Write, sender: &Sender<ThreadEvent>, to_write: &Receiver<Vec<u8>>) {
    while let Ok(bytes) = to_write.recv() {
        let event = match writer.write_all(&bytes).and_then(|()| flush(writer)) {
            Ok(()) => ThreadEvent::Wrote,
            Err(error) => ThreadEvent::WriteError(error),
        };
        let is_end = matches!(event, ThreadEvent::WriteError(_));
        if sender.send(event).is_err() || is_end {
            return;
        }
    }
}

/// Flushes the writer. Repeats a flush that a signal has interrupted.
fn flush(writer: &mut impl Write) -> io::Result<()> {
    loop {
        match writer.flush() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            flushed => return flushed,
        }
    }
}

fn read_stderr(mut stderr: impl Read, sender: &Sender<ThreadEvent>, permit: &Receiver<()>) {
    let mut buffer = [0; 8 * 1024];
    while permit.recv().is_ok() {
        let n = stderr.read(&mut buffer).unwrap_or_default();
        let is_end = n == 0;
        let event = if is_end { ThreadEvent::StderrEnd } else { ThreadEvent::Stderr(buffer[..n].to_vec()) };
        if sender.send(event).is_err() || is_end {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An endless stream that reports each read.
    struct EndlessReader(Sender<()>);

    impl Read for EndlessReader {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let _ = self.0.send(());
            buffer.fill(b'x');
            Ok(buffer.len())
        }
    }

    #[test]
    fn the_queue_of_standard_error_is_bounded() {
        let (reads, read) = channel();
        let stderr = Some(Box::new(EndlessReader(reads)) as _);
        let threads = Threads::start(io::empty(), io::sink(), stderr, EndOfStream::of_process()).unwrap();
        for _ in 0..MAX_CHUNKS {
            read.recv().unwrap();
        }
        threads.stderr_permits.send(()).unwrap();
        read.recv().expect("there is room for one more chunk");
        drop(threads);
        assert!(read.recv().is_err(), "the thread has ended, and has read no more than there was room for");
    }
}
