//! Detects the end of a connection to a server process.
//!
//! A server's stdout, stdin and process end at different times, and some may never end. A child process of the server
//! may keep stdout open, and a server may close stdout and keep running. The last messages and the exit status are
//! worth a short wait, but not an unbounded one.

use std::time::Duration;

use mcpwire_core::Timestamp;

/// How long to wait for the server process to exit after its stdout has ended or writing to its stdin has failed: 500
/// ms. An exiting process needs only milliseconds, even on a busy machine.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// How long to read stdout after the server process has exited: 500 ms. All output of the process is in the pipe by
/// then. Only another process can keep the pipe open longer.
const DRAIN: Duration = Duration::from_millis(500);

/// Tracks the ends of stdout, stderr and the server process. Decides when the connection has ended, and how long to
/// wait for the last output.
///
/// ```
/// use std::time::Duration;
/// use mcpwire_core::Timestamp;
/// use mcpwire_process::EndOfStream;
///
/// let at = |ms| Timestamp::from_origin(Duration::from_millis(ms));
/// let mut ending = EndOfStream::of_process();
/// ending.output_ended(at(0));
/// assert!(!ending.is_over(at(5)), "how the process ended is not known yet");
/// ending.exited(at(10));
/// ending.errors_ended();
/// assert!(ending.is_over(at(10)));
/// ```
#[derive(Clone, Debug)]
pub struct EndOfStream {
    output_over: bool,
    errors_over: bool,
    exited: bool,
    by: Option<Timestamp>,
}

impl EndOfStream {
    /// How long to read stderr after stdout has ended and the server process has exited: 100 ms. A child process of the
    /// server could keep stderr open much longer.
    pub const LAST_WORDS: Duration = Duration::from_millis(100);

    /// Creates a tracker for a server process that is connected through its stdin, stdout and stderr.
    pub fn of_process() -> Self {
        EndOfStream { output_over: false, errors_over: false, exited: false, by: None }
    }

    /// Creates a tracker for a connection over two byte streams without a server process. The connection ends when the
    /// stream from the server ends.
    pub fn of_streams() -> Self {
        EndOfStream { exited: true, errors_over: true, ..EndOfStream::of_process() }
    }

    /// Reports that the server's stdout has ended. Repeated calls have no effect.
    pub fn output_ended(&mut self, now: Timestamp) {
        self.output_over = true;
        self.end_by(now + if self.exited { Self::LAST_WORDS } else { EXIT_GRACE });
    }

    /// Reports the end of stderr. Alone it does not indicate the end of the connection, because some servers close
    /// stderr early.
    pub fn errors_ended(&mut self) {
        self.errors_over = true;
    }

    /// Reports that writing to stdin failed. The connection ends 500 ms later, or earlier if stdout, stderr and the
    /// process end before that.
    pub fn input_broke(&mut self, now: Timestamp) {
        self.end_by(now + EXIT_GRACE);
    }

    /// Reports that the server process has exited.
    pub fn exited(&mut self, now: Timestamp) {
        self.exited = true;
        self.end_by(now + if self.output_over { Self::LAST_WORDS } else { DRAIN });
    }

    /// Returns whether the connection is about to end: stdout has ended, writing to stdin has failed, or the process
    /// has exited.
    pub fn is_near(&self) -> bool {
        self.by.is_some()
    }

    /// Returns the time at which the connection counts as ended, even if stdout or stderr is still open or the process
    /// is still running.
    ///
    /// Returns `None` as long as stdout, stdin and the process all work.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.by
    }

    /// Returns whether the connection has ended: stdout, stderr and the process have ended, or the deadline has
    /// passed.
    pub fn is_over(&self, now: Timestamp) -> bool {
        (self.output_over && self.exited && self.errors_over) || self.by.is_some_and(|at| at <= now)
    }

    fn end_by(&mut self, at: Timestamp) {
        self.by = Some(self.by.map_or(at, |earlier| earlier.min(at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn streams_end_with_what_is_read() {
        let mut ending = EndOfStream::of_streams();
        assert!(!ending.is_near() && !ending.is_over(at(1_000_000)));
        ending.output_ended(at(0));
        assert!(ending.is_over(at(0)));
    }

    #[test]
    fn an_output_that_others_hold_open_is_not_waited_for() {
        let mut ending = EndOfStream::of_process();
        ending.exited(at(100));
        assert!(!ending.is_over(at(100)), "what was written before the exit is to be read");
        assert_eq!(ending.deadline(), Some(at(600)));
        ending.exited(at(300));
        assert!(ending.is_over(at(600)), "told again, it does not begin again");
    }

    #[test]
    fn last_words_are_waited_for_but_not_for_long() {
        let mut ending = EndOfStream::of_process();
        ending.output_ended(at(0));
        ending.exited(at(10));
        assert!(!ending.is_over(at(109)), "standard error is still open");
        assert!(ending.is_over(at(110)), "somebody else holds it");
    }

    #[test]
    fn a_server_that_reads_no_more_has_a_moment_to_say_why() {
        let mut ending = EndOfStream::of_process();
        ending.input_broke(at(0));
        assert!(!ending.is_over(at(499)));
        assert!(ending.is_over(at(500)));
    }
}
