//! [`Threads`]: a pair of streams. One thread reads, one writes, and the caller waits for both with a deadline.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_core::internal::{AnyEngine, EndOfStream};

use super::{IoContext, Transport};
use crate::cancel::Waker;
use mcpwire_client::{Direction, catch_panic};

/// Maximum number of bytes that a thread reads at once.
const CHUNK: usize = 64 * 1024;

/// Maximum number of chunks of a stream that wait for the caller. Then its thread stops reading, and the server has to wait.
const CHUNKS: usize = 4;

/// What the threads report to the caller.
pub(crate) enum ThreadEvent {
    Read(Vec<u8>),
    /// The stream of the server has ended, perhaps with an error.
    ReadEnd(Option<io::Error>),
    Wrote,
    WriteError(io::Error),
    Stderr(Vec<u8>),
    /// A stream panicked with this message.
    Panicked(String),
    Wake,
}

pub(crate) struct Threads {
    events: Receiver<ThreadEvent>,
    tell: Sender<ThreadEvent>,
    /// One permit for each chunk that was taken, for the thread that reads the server's output.
    permits: SyncSender<()>,
    /// The same for the thread that reads standard error.
    stderr_permits: SyncSender<()>,
    /// `None` after the input was closed.
    write: Option<SyncSender<Vec<u8>>>,
    /// Whether a write is in progress.
    writing: bool,
    /// Bytes that were read and did not fit into the engine yet.
    rest: Vec<u8>,
    ending: EndOfStream,
    /// The error of a write.
    failure: Option<io::Error>,
    ended: bool,
}

impl Threads {
    pub(crate) fn start(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        stderr: Option<Box<dyn Read + Send>>,
    ) -> io::Result<Self> {
        let (tell, events) = channel();
        let (permits, permit) = sync_channel(CHUNKS);
        let (stderr_permits, stderr_permit) = sync_channel(CHUNKS);
        let (write, to_write) = sync_channel(1);
        let named = |name: &str| thread::Builder::new().name(format!("mcpwire-{name}"));
        let sink = tell.clone();
        named("read").spawn(move || guard(&sink, || read(reader, &sink, &permit)))?;
        let sink = tell.clone();
        named("write").spawn(move || guard(&sink, || write_all(writer, &sink, &to_write)))?;
        if let Some(stderr) = stderr {
            let sink = tell.clone();
            named("stderr").spawn(move || read_stderr(stderr, &sink, &stderr_permit))?;
        }
        for _ in 0..CHUNKS {
            let _ = permits.try_send(());
            let _ = stderr_permits.try_send(());
        }
        Ok(Threads {
            events,
            tell,
            permits,
            stderr_permits,
            write: Some(write),
            writing: false,
            rest: Vec::new(),
            ending: EndOfStream::of_streams(),
            failure: None,
            ended: false,
        })
    }

    fn write(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>) {
        let bytes = engine.transmit();
        if self.writing || bytes.is_empty() {
            return;
        }
        let Some(write) = &self.write else { return };
        match write.try_send(bytes.to_vec()) {
            Ok(()) => {
                context.observe(Direction::Sent, bytes);
                self.writing = true;
                let n = bytes.len();
                engine.transmitted(n);
            }
            Err(TrySendError::Full(_)) => {}
            Err(TrySendError::Disconnected(_)) => self.write = None,
        }
    }

    /// Passes the bytes that were read to the engine, as far as they fit.
    fn feed(&mut self, engine: &mut AnyEngine, now: Timestamp) {
        let taken = engine.receive(&self.rest, now);
        self.rest.drain(..taken);
        if self.rest.is_empty() {
            let _ = self.permits.try_send(());
        }
    }

    fn end(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>, failure: Option<io::Error>, now: Timestamp) {
        self.ended = true;
        context.end(engine, failure, now);
    }

    /// Keeps what was read from standard error, and lets the thread read more.
    fn push_stderr(&mut self, bytes: &[u8], context: &mut IoContext<'_>) {
        context.stderr.push(bytes);
        let _ = self.stderr_permits.try_send(());
    }

    fn handle_event(
        &mut self,
        event: ThreadEvent,
        engine: &mut AnyEngine,
        context: &mut IoContext<'_>,
        now: Timestamp,
    ) {
        match event {
            ThreadEvent::Read(bytes) => {
                context.observe(Direction::Received, &bytes);
                self.rest = bytes;
                self.feed(engine, now);
            }
            ThreadEvent::ReadEnd(error) => {
                let failure = error.or(self.failure.take());
                self.end(engine, context, failure, now);
            }
            ThreadEvent::WriteError(error) => {
                self.write = None;
                // A broken pipe means that the server has closed its end. The end of its output says that too.
                self.failure = Some(error).filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
                self.ending.input_broke(now);
            }
            ThreadEvent::Wrote => self.writing = false,
            ThreadEvent::Stderr(bytes) => self.push_stderr(&bytes, context),
            ThreadEvent::Panicked(message) => {
                self.ended = true;
                context.fail(engine, message);
            }
            ThreadEvent::Wake => {}
        }
    }
}

impl Transport for Threads {
    fn turn(
        &mut self,
        engine: &mut AnyEngine,
        context: &mut IoContext<'_>,
        until: Option<Timestamp>,
    ) -> io::Result<Timestamp> {
        self.write(engine, context);
        let now = context.clock.now();
        if self.ended {
            return Ok(now);
        }
        if !self.rest.is_empty() {
            self.feed(engine, now);
            return Ok(now);
        }
        // Without a deadline the wait is still not for ever: it costs a wake-up an hour.
        let until = [until, self.ending.deadline()].into_iter().flatten().min();
        let wait = until.map_or(Duration::from_secs(3600), |at| at.duration_since(now));
        let told = self.events.recv_timeout(wait);
        let now = context.clock.now();
        match told {
            Ok(told) => self.handle_event(told, engine, context, now),
            Err(RecvTimeoutError::Timeout) if self.ending.is_over(now) => {
                let failure = self.failure.take();
                self.end(engine, context, failure, now);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.end(engine, context, None, now),
        }
        Ok(now)
    }

    fn flush(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>) {
        self.write(engine, context);
    }

    fn close_input(&mut self) {
        // The thread ends, and drops the stream, when it has written what it was given.
        self.write = None;
    }

    fn idle(&mut self, context: &mut IoContext<'_>, until: Timestamp) {
        /// The exit of a process is no message of the threads.
        const TICK: Duration = Duration::from_millis(20);
        let wait = until.duration_since(context.clock.now()).min(TICK);
        match self.events.recv_timeout(wait) {
            Ok(ThreadEvent::Stderr(bytes)) => self.push_stderr(&bytes, context),
            Ok(ThreadEvent::Read(_)) => drop(self.permits.try_send(())),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => thread::sleep(wait),
        }
    }

    fn last_words(&mut self, context: &mut IoContext<'_>) {
        while let Ok(event) = self.events.try_recv() {
            if let ThreadEvent::Stderr(bytes) = event {
                self.push_stderr(&bytes, context);
            }
        }
    }

    fn waker(&mut self) -> io::Result<Waker> {
        let tell = self.tell.clone();
        Ok(Waker::Call(Box::new(move || drop(tell.send(ThreadEvent::Wake)))))
    }
}

/// Runs a thread's work, and reports a panic: otherwise the caller would wait for the stream for ever.
fn guard(tell: &Sender<ThreadEvent>, work: impl FnOnce()) {
    if let Err(message) = catch_panic(work) {
        let _ = tell.send(ThreadEvent::Panicked(message));
    }
}

fn read(mut reader: impl Read, tell: &Sender<ThreadEvent>, permit: &Receiver<()>) {
    let mut buffer = vec![0; CHUNK];
    while permit.recv().is_ok() {
        let told = loop {
            match reader.read(&mut buffer) {
                Ok(n) if n > 0 => break ThreadEvent::Read(buffer[..n].to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                end => break ThreadEvent::ReadEnd(end.err()),
            }
        };
        let over = matches!(told, ThreadEvent::ReadEnd(_));
        if tell.send(told).is_err() || over {
            return;
        }
    }
}

fn write_all(mut writer: impl Write, tell: &Sender<ThreadEvent>, to_write: &Receiver<Vec<u8>>) {
    while let Ok(bytes) = to_write.recv() {
        let told = match writer.write_all(&bytes).and_then(|()| writer.flush()) {
            Ok(()) => ThreadEvent::Wrote,
            Err(error) => ThreadEvent::WriteError(error),
        };
        let over = matches!(told, ThreadEvent::WriteError(_));
        if tell.send(told).is_err() || over {
            return;
        }
    }
}

fn read_stderr(mut stderr: impl Read, tell: &Sender<ThreadEvent>, permit: &Receiver<()>) {
    let mut buffer = [0; 8 * 1024];
    while permit.recv().is_ok() {
        let Ok(n) = stderr.read(&mut buffer) else { return };
        if n == 0 || tell.send(ThreadEvent::Stderr(buffer[..n].to_vec())).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports each read.
    struct Endless(Sender<()>);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let _ = self.0.send(());
            buffer.fill(b'x');
            Ok(buffer.len())
        }
    }

    #[test]
    fn standard_error_is_read_no_further_than_the_caller_takes_it() {
        let (reads, read) = channel();
        let threads = Threads::start(io::empty(), io::sink(), Some(Box::new(Endless(reads)))).unwrap();
        for _ in 0..CHUNKS {
            read.recv().unwrap();
        }
        assert!(read.recv_timeout(Duration::from_millis(20)).is_err(), "the queue is full");
        threads.stderr_permits.send(()).unwrap();
        read.recv().expect("there is room for one more chunk");
        drop(threads);
        assert!(read.recv().is_err(), "the thread has ended");
    }
}
