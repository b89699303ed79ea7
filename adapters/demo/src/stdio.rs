//! Runs the server over standard input and output, or over other streams. [`Log`] writes lines for the user who runs the server.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Instant, SystemTime};

use crate::pending::Route;
use crate::server::{Output, Server};

/// Maximum number of input lines to read ahead, while the server handles an earlier line.
const READ_AHEAD: usize = 16;

/// Runs the server for one client over standard input and output, until the input ends.
pub fn serve_stdio(log: Log) -> io::Result<()> {
    serve(BufReader::new(io::stdin()), io::stdout(), log)
}

/// Runs the server for one client over two streams, with one JSON-RPC message per line. Returns when `input` ends or `output` is
/// closed.
///
/// Calls that are pending at the end are not answered. A separate thread reads the input.
pub fn serve(mut input: impl BufRead + Send + 'static, mut output: impl Write, mut log: Log) -> io::Result<()> {
    let (sender, lines) = mpsc::sync_channel(READ_AHEAD);
    let read = move || {
        loop {
            let mut line = Vec::new();
            let read = input.read_until(b'\n', &mut line);
            let is_error = read.is_err();
            // At the end of the input, returning drops the sender, which ends the server.
            if matches!(read, Ok(0)) || sender.send(read.map(|_| line)).is_err() || is_error {
                return;
            }
        }
    };
    thread::Builder::new().spawn(read)?;
    let started = Instant::now();
    let mut server = Server::new(SystemTime::now());
    let route = Route::general(server.connect());
    loop {
        let received = match server.next_timeout() {
            None => lines.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => lines.recv_timeout(at.saturating_sub(started.elapsed())),
        };
        match received {
            Ok(line) => match line?.trim_ascii() {
                [] => {}
                line => server.receive_text(route, line, started.elapsed()),
            },
            Err(RecvTimeoutError::Timeout) => server.handle_timeout(started.elapsed()),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        match write(&mut server, &mut output, &mut log) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
}

fn write(server: &mut Server, output: &mut impl Write, log: &mut Log) -> io::Result<()> {
    while let Some(next) = server.poll_output() {
        match next {
            Output::Message(_, message) => writeln!(output, "{message}")?,
            Output::Log(line) => log.line(&line),
            Output::Ended(_) => {}
        }
    }
    output.flush()
}

/// A log for the user who runs the server. Each line begins with the name of the program.
pub struct Log {
    program: String,
    output: Box<dyn Write + Send>,
}

impl Log {
    /// Creates a log that writes to `output`, such as standard error.
    pub fn new(program: impl Into<String>, output: impl Write + Send + 'static) -> Self {
        Self { program: program.into(), output: Box::new(output) }
    }

    pub(crate) fn line(&mut self, line: &str) {
        // Errors are ignored: the server continues if standard error is closed.
        let _ = writeln!(self.output, "{}: {line}", self.program);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("program", &self.program).finish_non_exhaustive()
    }
}
