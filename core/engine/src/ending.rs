//! When the stream to a server is at its end.
//!
//! A server's output, its input and its process end at different times, and not always all of them: a grandchild may hold
//! the output open for ever, and a server may close its output and live on. What a server still says, and how its process
//! ended, is worth a moment; neither is worth a wait without a bound.

use core::time::Duration;

use crate::time::Timestamp;

/// How long a server that has closed one of its streams may take to close the other and exit. 500 ms: a process that is
/// about to exit does it in a few, also on a busy machine.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// How long output may still come after the exit. 500 ms: what the server wrote is there already, and what others who hold
/// the pipe write is not waited for.
const DRAIN: Duration = Duration::from_millis(500);

/// Watches a stream come to its end.
///
/// ```
/// use core::time::Duration;
/// use mcpwire_core::{Ending, Timestamp};
///
/// let at = |ms| Timestamp::from_origin(Duration::from_millis(ms));
/// let mut ending = Ending::of_process();
/// ending.output_ended(at(0));
/// assert!(!ending.is_over(at(5)), "how the process ended is not known yet");
/// ending.exited(at(10));
/// ending.errors_ended();
/// assert!(ending.is_over(at(10)));
/// ```
#[derive(Clone, Debug)]
pub struct Ending {
    output_over: bool,
    errors_over: bool,
    exited: bool,
    by: Option<Timestamp>,
}

impl Ending {
    /// How long what a server wrote on standard error may take to arrive after everything else. 100 ms: it was written
    /// before the exit and is only to be read, unless others hold the pipe open.
    pub const LAST_WORDS: Duration = Duration::from_millis(100);

    /// Of a server whose process is watched.
    pub fn of_process() -> Self {
        Ending { output_over: false, errors_over: false, exited: false, by: None }
    }

    /// Of a pair of streams: the end of what is read is the end.
    pub fn of_streams() -> Self {
        Ending { exited: true, errors_over: true, ..Ending::of_process() }
    }

    /// Takes in that nothing more can be read. May be told more than once, as all of these.
    pub fn output_ended(&mut self, now: Timestamp) {
        self.output_over = true;
        self.end_by(now + if self.exited { Self::LAST_WORDS } else { EXIT_GRACE });
    }

    /// Takes in that nothing more can be read from standard error. It is no sign of the end: some servers close it.
    pub fn errors_ended(&mut self) {
        self.errors_over = true;
    }

    /// Takes in that nothing more can be written. Whether the server has ended, its output and its exit tell.
    pub fn input_broke(&mut self, now: Timestamp) {
        self.end_by(now + EXIT_GRACE);
    }

    /// Takes in that the process has exited.
    pub fn exited(&mut self, now: Timestamp) {
        self.exited = true;
        self.end_by(now + if self.output_over { Self::LAST_WORDS } else { DRAIN });
    }

    /// Whether there is any sign of the end.
    pub fn is_near(&self) -> bool {
        self.by.is_some()
    }

    /// By when it is over, whatever else happens.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.by
    }

    /// Whether everything is known that there is to know.
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
        let mut ending = Ending::of_streams();
        assert!(!ending.is_near() && !ending.is_over(at(1_000_000)));
        ending.output_ended(at(0));
        assert!(ending.is_over(at(0)));
    }

    #[test]
    fn an_output_that_others_hold_open_is_not_waited_for() {
        let mut ending = Ending::of_process();
        ending.exited(at(100));
        assert!(!ending.is_over(at(100)), "what was written before the exit is to be read");
        assert_eq!(ending.deadline(), Some(at(600)));
        ending.exited(at(300));
        assert!(ending.is_over(at(600)), "told again, it does not begin again");
    }

    #[test]
    fn last_words_are_waited_for_but_not_for_long() {
        let mut ending = Ending::of_process();
        ending.output_ended(at(0));
        ending.exited(at(10));
        assert!(!ending.is_over(at(109)), "standard error is still open");
        assert!(ending.is_over(at(110)), "somebody else holds it");
    }

    #[test]
    fn a_server_that_reads_no_more_has_a_moment_to_say_why() {
        let mut ending = Ending::of_process();
        ending.input_broke(at(0));
        assert!(!ending.is_over(at(499)));
        assert!(ending.is_over(at(500)));
    }
}
