//! [`ServerProcess`]: a process with lines in both directions. Threads carry them, so that no wait depends on the server.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::mem;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mcpwire_driver::process::{Pipes, Process};
use mcpwire_driver::{McpServerDef, SpawnError};

use super::messages::excerpt;
use crate::lock;

/// Maximum length of a line of the server. The rest of a longer line is read as another line, which is noise.
const LONGEST_LINE: u64 = 64 << 20;
/// Maximum time that [`ServerProcess::read`] waits, so that its caller can check whether the program stops the test.
const GLANCE: Duration = Duration::from_millis(50);
/// Maximum time between the end of the server's output and its exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// Number of lines of standard error to keep, and their maximum length in characters.
const STDERR_LINES: usize = 20;
const STDERR_LENGTH: usize = 300;

/// The process of a server. Dropping this value kills it.
pub(super) struct ServerProcess {
    process: Process,
    input: Sender<Vec<u8>>,
    /// The lines of standard output. `None` is their end.
    output: Receiver<Option<Vec<u8>>>,
    stderr: Arc<Mutex<Stderr>>,
    gate: Arc<Gate>,
}

/// What reading from a server has given.
pub(super) enum Output {
    Line(Vec<u8>),
    /// No line has arrived in time.
    Nothing,
    /// The server has closed its output, or has exited.
    Ended,
}

impl ServerProcess {
    /// Starts a server.
    pub(super) fn start(def: &McpServerDef) -> Result<ServerProcess, SpawnError> {
        let (process, pipes) = Process::spawn(def)?;
        let Pipes { mut stdin, stdout, stderr } = pipes;
        let (input, lines) = mpsc::channel::<Vec<u8>>();
        // An error means that the server does not read any more, which its output tells.
        thread::spawn(move || lines.iter().try_for_each(|bytes| stdin.write_all(&bytes).and_then(|()| stdin.flush())));
        let (sender, output) = mpsc::channel();
        let gate = Arc::new(Gate::default());
        let passed = Arc::clone(&gate);
        thread::spawn(move || {
            let mut stdout = BufReader::with_capacity(4 << 10, stdout);
            loop {
                passed.pass();
                let mut line = Vec::new();
                let length = stdout.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).unwrap_or(0);
                let line = (length > 0).then_some(line);
                if sender.send(line).is_err() || length == 0 {
                    return;
                }
            }
        });
        let kept = Arc::new(Mutex::new(Stderr::default()));
        let of_thread = Arc::clone(&kept);
        thread::spawn(move || {
            let mut stderr = BufReader::new(stderr);
            let mut line = Vec::new();
            while stderr.by_ref().take(1 << 16).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                lock(&of_thread).push(&mem::take(&mut line));
            }
        });
        Ok(ServerProcess { process, input, output, stderr: kept, gate })
    }

    /// Writes bytes to the server's standard input. Does not wait.
    pub(super) fn send(&self, bytes: Vec<u8>) {
        // An error means that the server has ended, which the next read tells.
        let _ = self.input.send(bytes);
    }

    /// Reads the next line, and waits for it a short time, at most until `until`.
    pub(super) fn read(&mut self, until: Instant) -> Output {
        let left = until.saturating_duration_since(Instant::now());
        match self.output.recv_timeout(left.min(GLANCE)) {
            Ok(Some(line)) => Output::Line(line),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => Output::Ended,
            // A descendant of the server may keep its output open. The thread may have read a last line meanwhile.
            Err(RecvTimeoutError::Timeout) if self.process.observe().is_some() => {
                self.output.try_recv().ok().flatten().map_or(Output::Ended, Output::Line)
            }
            Err(RecvTimeoutError::Timeout) => Output::Nothing,
        }
    }

    /// Waits for the exit of a server whose output has ended, and says how it has ended, such as `exited with code 1`.
    pub(super) fn wait_for_exit(&mut self) -> String {
        let start = Instant::now();
        // The thread drops its handle after the last line of standard error.
        while start.elapsed() < EXIT_TIMEOUT
            && (self.process.observe().is_none() || Arc::strong_count(&self.stderr) > 1)
        {
            thread::sleep(Duration::from_millis(2));
        }
        let exit = self.process.observe().map(ToString::to_string);
        exit.unwrap_or_else(|| "closed its output, but did not exit".to_owned())
    }

    /// Removes and returns the first line of standard error that looks like the trace of an exception or a panic.
    pub(super) fn take_trace(&self) -> Option<String> {
        lock(&self.stderr).trace.take()
    }

    /// Returns the last lines of standard error.
    pub(super) fn stderr(&self) -> Vec<String> {
        lock(&self.stderr).last.iter().cloned().collect()
    }

    /// Stops reading the server's output, until the returned value is dropped.
    pub(super) fn stop_reading(&self) -> ClosedGate {
        *lock(&self.gate.is_closed) = true;
        ClosedGate(Arc::clone(&self.gate))
    }
}

/// What a server has written to standard error.
#[derive(Default)]
struct Stderr {
    last: VecDeque<String>,
    trace: Option<String>,
}

impl Stderr {
    /// How lines begin, or what they contain, that start the trace of an exception or a panic: Python, Node.js, Rust, Go, and the JVM.
    const TRACES: [&str; 6] = [
        "Traceback (most recent call last)",
        "Uncaught ",
        "UnhandledPromiseRejection",
        " panicked at ",
        "goroutine 1 [",
        "Exception in thread ",
    ];

    fn push(&mut self, line: &[u8]) {
        let line: String = excerpt(line).chars().take(STDERR_LENGTH).collect();
        if Self::TRACES.iter().any(|trace| line.contains(trace)) {
            self.trace.get_or_insert_with(|| line.clone());
        }
        self.last.push_back(line);
        if self.last.len() > STDERR_LINES {
            self.last.pop_front();
        }
    }
}

/// Keeps the thread that reads the server's output from reading.
#[derive(Default)]
struct Gate {
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn pass(&self) {
        drop(self.opened.wait_while(lock(&self.is_closed), |is_closed| *is_closed));
    }
}

/// A gate that opens when this value is dropped.
pub(super) struct ClosedGate(Arc<Gate>);

impl Drop for ClosedGate {
    fn drop(&mut self) {
        *lock(&self.0.is_closed) = false;
        self.0.opened.notify_all();
    }
}
