//! Any pair of streams: a thread reads, a thread writes, and the caller waits for both with a deadline.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_core::internal::{AnyEngine, EndOfStream};

use super::{IoContext, Transport};
use crate::cancel::Waker;
use mcpwire_client::{Direction, catch_panic};

/// How much a thread reads at once.
const CHUNK: usize = 64 * 1024;

/// How many chunks may wait for the caller: beyond it the thread does not read on, and the other side has to wait.
const CHUNKS: usize = 4;

/// What the threads tell.
pub(crate) enum ThreadEvent {
    Read(Vec<u8>),
    ReadEnd,
    Wrote,
    WriteEnd,
    Stderr(Vec<u8>),
    /// A stream panicked with this message.
    Panicked(String),
    Wake,
}

pub(crate) struct Threads {
    told: Receiver<ThreadEvent>,
    tell: Sender<ThreadEvent>,
    /// One permit for each chunk that has been taken.
    permits: SyncSender<()>,
    /// Gone when the input is closed.
    write: Option<SyncSender<Vec<u8>>>,
    /// A write is under way.
    writing: bool,
    /// What was read and did not fit into the engine yet.
    rest: Vec<u8>,
    ending: EndOfStream,
    ended: bool,
}

impl Threads {
    pub(crate) fn start(
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        stderr: Option<Box<dyn Read + Send>>,
    ) -> io::Result<Self> {
        let (tell, told) = channel();
        let (permits, permit) = sync_channel(CHUNKS);
        let (write, to_write) = sync_channel(1);
        let named = |name: &str| thread::Builder::new().name(format!("mcpwire-{name}"));
        let sink = tell.clone();
        named("read").spawn(move || guard(&sink, || read(reader, &sink, &permit)))?;
        let sink = tell.clone();
        named("write").spawn(move || guard(&sink, || write_all(writer, &sink, &to_write)))?;
        if let Some(stderr) = stderr {
            let sink = tell.clone();
            named("stderr").spawn(move || read_stderr(stderr, &sink))?;
        }
        for _ in 0..CHUNKS {
            let _ = permits.try_send(());
        }
        Ok(Threads {
            told,
            tell,
            permits,
            write: Some(write),
            writing: false,
            rest: Vec::new(),
            ending: EndOfStream::of_streams(),
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
                if let Some(tracer) = &mut context.tracer {
                    tracer.push(Direction::Sent, bytes);
                }
                self.writing = true;
                let n = bytes.len();
                engine.transmitted(n);
            }
            Err(TrySendError::Full(_)) => {}
            Err(TrySendError::Disconnected(_)) => self.write = None,
        }
    }

    /// Gives the engine what it takes of what was read.
    fn feed(&mut self, engine: &mut AnyEngine, now: Timestamp) {
        let taken = engine.receive(&self.rest, now);
        self.rest.drain(..taken);
        if self.rest.is_empty() {
            let _ = self.permits.try_send(());
        }
    }

    fn end(&mut self, engine: &mut AnyEngine, context: &mut IoContext<'_>, now: Timestamp) {
        if let Some(process) = &mut context.process {
            process.observe();
        }
        self.ended = true;
        engine.receive_eof(now);
    }

    fn take_in(&mut self, told: ThreadEvent, engine: &mut AnyEngine, context: &mut IoContext<'_>, now: Timestamp) {
        match told {
            ThreadEvent::Read(bytes) => {
                if let Some(tracer) = &mut context.tracer {
                    tracer.push(Direction::Received, &bytes);
                }
                self.rest = bytes;
                self.feed(engine, now);
            }
            ThreadEvent::ReadEnd => self.end(engine, context, now),
            ThreadEvent::WriteEnd => {
                self.write = None;
                self.ending.input_broke(now);
            }
            ThreadEvent::Wrote => self.writing = false,
            ThreadEvent::Stderr(bytes) => context.stderr.push(&bytes),
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
        let told = self.told.recv_timeout(wait);
        let now = context.clock.now();
        match told {
            Ok(told) => self.take_in(told, engine, context, now),
            Err(RecvTimeoutError::Timeout) if self.ending.is_over(now) => self.end(engine, context, now),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.end(engine, context, now),
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
        match self.told.recv_timeout(wait) {
            Ok(ThreadEvent::Stderr(bytes)) => context.stderr.push(&bytes),
            Ok(ThreadEvent::Read(_)) => drop(self.permits.try_send(())),
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => thread::sleep(wait),
        }
    }

    fn last_words(&mut self, context: &mut IoContext<'_>) {
        for told in self.told.try_iter() {
            if let ThreadEvent::Stderr(bytes) = told {
                context.stderr.push(&bytes);
            }
        }
    }

    fn waker(&mut self) -> io::Result<Waker> {
        Ok(Waker::Channel(self.tell.clone()))
    }
}

/// Runs a thread's work, and tells if it panics: nobody would hear of the stream any more.
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
                _ => break ThreadEvent::ReadEnd,
            }
        };
        let over = matches!(told, ThreadEvent::ReadEnd);
        if tell.send(told).is_err() || over {
            return;
        }
    }
}

fn write_all(mut writer: impl Write, tell: &Sender<ThreadEvent>, to_write: &Receiver<Vec<u8>>) {
    while let Ok(bytes) = to_write.recv() {
        let told = match writer.write_all(&bytes).and_then(|()| writer.flush()) {
            Ok(()) => ThreadEvent::Wrote,
            Err(_) => ThreadEvent::WriteEnd,
        };
        let over = matches!(told, ThreadEvent::WriteEnd);
        if tell.send(told).is_err() || over {
            return;
        }
    }
}

fn read_stderr(mut stderr: impl Read, tell: &Sender<ThreadEvent>) {
    let mut buffer = [0; 8 * 1024];
    while let Ok(n) = stderr.read(&mut buffer) {
        if n == 0 || tell.send(ThreadEvent::Stderr(buffer[..n].to_vec())).is_err() {
            return;
        }
    }
}
