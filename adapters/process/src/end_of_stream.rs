//! [`EndOfStream`]: decides when the connection to a server has ended.
//!
//! A server's stdout, stdin and process end at different times, and some may never end. A child process of the server may keep
//! stdout open, and a server may close stdout and keep running. [`EndOfStream`] waits for the last messages and the exit status,
//! but at most 500 ms after the first end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::{Timestamp, stdio};

use crate::process::Process;

/// Maximum time to wait for the server process to exit after its stdout has ended or writing to its stdin has failed: 500 ms. An
/// exiting process needs only milliseconds, even on a busy machine.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// Maximum time to read stdout after the server process has exited: 500 ms. All output of the exited process is already in the
/// pipe. Only a child process that inherited the pipe can keep it open longer.
const DRAIN: Duration = Duration::from_millis(500);

/// Interval at which to check whether the process has exited, while the connection is about to end: 20 ms. Used only if the
/// system does not report the exit.
pub(crate) const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Interval at which to check whether the process has exited, before the connection is about to end: 100 ms. Used only if the
/// system does not report the exit.
const IDLE_EXIT_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Tracks the ends of stdout, stderr and the server process. Decides when the connection has ended, and how long to wait for the
/// last output.
#[derive(Clone, Debug)]
pub struct EndOfStream {
    has_output_ended: bool,
    has_stderr_ended: bool,
    /// Whether the process has exited. Also `true` for a connection without a process.
    has_exited: bool,
    /// The error of reading stdout or writing stdin, if one of them has failed.
    failure: Option<Arc<str>>,
    stage: Stage,
    /// The time of the next check whether the process has exited. `None` if the next call of [`EndOfStream::poll`] may check at
    /// once, or if no check is needed.
    next_exit_poll: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Stdout, stdin and the process all work.
    Open,
    /// Stdout, stdin or the process has ended. The connection ends at this time, or earlier if stdout, stderr and the process
    /// have all ended.
    Ending(Timestamp),
    Over,
}

/// When [`EndOfStream`] checks whether the process has exited. The adapter chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitPolling {
    /// Not at intervals. The system reports the exit to the adapter, which then calls [`Process::observe`].
    Never,
    /// At intervals, but only while the connection is about to end. Use this while no caller waits for the server, to save
    /// wake-ups.
    AtTheEnd,
    /// At intervals, for as long as the connection is open.
    Always,
}

impl EndOfStream {
    /// Maximum time to read stderr after stdout has ended and the server process has exited: 100 ms. A child process of the
    /// server could keep stderr open much longer.
    pub(crate) const LAST_WORDS: Duration = Duration::from_millis(100);

    /// Creates a tracker for a server process whose stdin, stdout and stderr are pipes to this program.
    pub fn of_process() -> Self {
        EndOfStream {
            has_output_ended: false,
            has_stderr_ended: false,
            has_exited: false,
            failure: None,
            stage: Stage::Open,
            next_exit_poll: None,
        }
    }

    /// Creates a tracker for a connection over two byte streams, without a server process. The connection ends when the stream
    /// from the server ends.
    pub fn of_streams() -> Self {
        EndOfStream { has_exited: true, has_stderr_ended: true, ..EndOfStream::of_process() }
    }

    /// Records that the server's stdout has ended, or that reading it failed with `error`. Repeated calls have no effect.
    pub fn output_ended(&mut self, error: Option<&io::Error>, now: Timestamp) {
        if !self.has_output_ended {
            self.has_output_ended = true;
            self.failure = error.map(|error| error.to_string().into()).or(self.failure.take());
            self.end_by(now + if self.has_exited { Self::LAST_WORDS } else { EXIT_GRACE });
        }
    }

    /// Records the end of stderr. This alone does not end the connection, because some servers close stderr early.
    pub fn stderr_ended(&mut self) {
        self.has_stderr_ended = true;
    }

    /// Returns whether stderr has ended.
    pub fn has_stderr_ended(&self) -> bool {
        self.has_stderr_ended
    }

    /// Records that writing to stdin failed. The connection ends 500 ms later, or earlier if stdout, stderr and the process end
    /// before that.
    pub fn input_broke(&mut self, error: &io::Error, now: Timestamp) {
        // A broken pipe means that the server has closed its stdin. This is not recorded as an error: it only announces the end.
        if !self.has_output_ended && error.kind() != io::ErrorKind::BrokenPipe {
            self.failure = Some(error.to_string().into());
        }
        self.end_by(now + EXIT_GRACE);
    }

    /// Ends the connection at once. For adapters whose stream has failed, so that waiting for more output is of no use.
    pub fn abort(&mut self) {
        self.stage = Stage::Over;
    }

    /// Returns `true` once, when the connection has ended: stdout, stderr and the process have ended, or the deadline has passed.
    ///
    /// An adapter calls this after each wait for input, output or [`EndOfStream::deadline`].
    pub fn poll(&mut self, process: Option<&mut Process>, polling: ExitPolling, now: Timestamp) -> bool {
        if self.is_over() {
            return false;
        }
        if let Some(process) = process.filter(|_| !self.has_exited) {
            self.poll_exit(process, polling, now);
        }
        let is_complete = self.has_output_ended && self.has_exited && self.has_stderr_ended;
        let is_overdue = matches!(self.stage, Stage::Ending(at) if at <= now);
        if is_complete || is_overdue {
            self.stage = Stage::Over;
        }
        self.is_over()
    }

    /// Passes the end of the connection to the engine. If reading stdout or writing stdin failed, passes that error instead,
    /// unless the process has exited: its exit status then explains the end better.
    pub fn deliver(&mut self, process: Option<&Process>, engine: &mut stdio::Engine, now: Timestamp) {
        let exit = process.and_then(Process::exit);
        match self.failure.take().filter(|_| exit.is_none()) {
            Some(why) => engine.receive_error(why, now),
            None => engine.receive_eof(now),
        }
    }

    /// Returns whether the connection has ended.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Returns whether the connection is about to end: stdout has ended, writing to stdin has failed, or the process has exited.
    pub fn is_near(&self) -> bool {
        self.stage != Stage::Open
    }

    /// Returns the time at which [`EndOfStream::poll`] must be called next, or `None` if no call is due.
    pub fn deadline(&self) -> Option<Timestamp> {
        match self.stage {
            Stage::Open => self.next_exit_poll,
            Stage::Ending(at) => Some(self.next_exit_poll.map_or(at, |poll| poll.min(at))),
            Stage::Over => None,
        }
    }

    fn poll_exit(&mut self, process: &mut Process, polling: ExitPolling, now: Timestamp) {
        let is_polled = match polling {
            ExitPolling::Never => false,
            ExitPolling::AtTheEnd => self.is_near(),
            ExitPolling::Always => true,
        };
        let is_due = is_polled && self.next_exit_poll.is_none_or(|at| at <= now);
        if is_due || self.is_near() {
            process.observe();
        }
        if process.exit().is_some() {
            self.exited(now);
        } else if is_due {
            let interval = if self.is_near() { EXIT_POLL_INTERVAL } else { IDLE_EXIT_POLL_INTERVAL };
            self.next_exit_poll = Some(now + interval);
        } else if !is_polled {
            self.next_exit_poll = None;
        }
    }

    fn exited(&mut self, now: Timestamp) {
        self.has_exited = true;
        self.next_exit_poll = None;
        self.end_by(now + if self.has_output_ended { Self::LAST_WORDS } else { DRAIN });
    }

    fn end_by(&mut self, at: Timestamp) {
        self.stage = match self.stage {
            Stage::Open => Stage::Ending(at),
            Stage::Ending(earlier) => Stage::Ending(earlier.min(at)),
            Stage::Over => return,
        };
        // The connection is about to end, so the exit is checked at the shorter interval from now on.
        self.next_exit_poll = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(millis))
    }

    /// Without a process to look at: the tests say when it exits.
    fn is_over(ending: &mut EndOfStream, millis: u64) -> bool {
        ending.poll(None, ExitPolling::Never, at(millis))
    }

    #[test]
    fn streams_end_with_what_is_read() {
        let mut ending = EndOfStream::of_streams();
        assert!(!ending.is_near() && !is_over(&mut ending, 1_000_000));
        ending.output_ended(None, at(0));
        assert!(is_over(&mut ending, 0));
        assert!(!is_over(&mut ending, 1) && ending.is_over(), "told once");
        assert_eq!(ending.deadline(), None);
    }

    #[test]
    fn an_output_that_others_hold_open_is_not_waited_for() {
        let mut ending = EndOfStream::of_process();
        ending.exited(at(100));
        assert!(!is_over(&mut ending, 100), "what was written before the exit is to be read");
        assert_eq!(ending.deadline(), Some(at(600)));
        ending.exited(at(300));
        assert!(is_over(&mut ending, 600), "told again, it does not begin again");
    }

    #[test]
    fn last_words_are_waited_for_but_not_for_long() {
        let mut ending = EndOfStream::of_process();
        ending.output_ended(None, at(0));
        ending.exited(at(10));
        assert!(!is_over(&mut ending, 109), "standard error is still open");
        assert!(is_over(&mut ending, 110), "somebody else holds it");
    }

    #[test]
    fn a_server_that_reads_no_more_has_a_moment_to_say_why() {
        let mut ending = EndOfStream::of_process();
        ending.input_broke(&io::ErrorKind::BrokenPipe.into(), at(0));
        assert!(!is_over(&mut ending, 499));
        assert!(is_over(&mut ending, 500));
    }
}
