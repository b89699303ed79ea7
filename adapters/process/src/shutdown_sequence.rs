//! The shutdown sequence of a server process (specification: basic/transports/stdio, "Shutdown").
//!
//! ```text
//! CloseInput ──3 s──▶ Terminate the group ──2 s──▶ Kill the group ──▶ Done
//!      │ exit               │ exit
//!      ▼                    ▼
//!   what is left of the group: Terminate ──2 s──▶ Kill ──▶ Done
//! ```
//!
//! [`ShutdownSequence`] performs no I/O. It returns the next step and its deadline, and the adapter performs the
//! step. An exited server may leave child processes behind, so the sequence continues until its process group is
//! empty.

use core::time::Duration;

use crate::time::Timestamp;

/// A step of the shutdown sequence that the adapter has to perform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Close the server's stdin, which tells the server to exit.
    CloseInput,
    /// Terminate the server's process group (`SIGTERM`).
    Terminate,
    /// Kill the server's process group (`SIGKILL`).
    Kill,
    /// Wait until the deadline, the exit of the server, or the end of its whole process group. Then call
    /// [`ShutdownSequence::next`] again.
    Wait,
    /// The shutdown is complete; there is nothing left to do.
    Done,
}

/// How long a server process may continue to run after each step of its shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "ShutdownTimeouts")]
pub struct GracePeriods {
    /// Time from [`Step::CloseInput`] to [`Step::Terminate`]. Default: 3 s, as in the official MCP clients.
    pub after_close: Duration,
    /// Time from [`Step::Terminate`] to [`Step::Kill`]. Default: 2 s, so that a server is killed at most 5 s after
    /// the start of the shutdown.
    pub after_terminate: Duration,
}

impl Default for GracePeriods {
    fn default() -> Self {
        GracePeriods { after_close: Duration::from_secs(3), after_terminate: Duration::from_secs(2) }
    }
}

/// How long to wait for the exit of the server process after [`Step::Kill`]: 1 s. A kill takes milliseconds, except
/// if the kernel blocks it.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Start,
    Closed,
    Terminated,
    Killed,
    Done,
}

/// The state of the shutdown of one server process: which step is next, and when it is due.
///
/// ```
/// use core::time::Duration;
/// use mcpwire_core::Timestamp;
/// use mcpwire_core::shutdown::{GracePeriods, ShutdownSequence, Step};
///
/// let at = |s| Timestamp::from_origin(Duration::from_secs(s));
/// let mut shutdown = ShutdownSequence::new(GracePeriods::default());
/// assert_eq!(shutdown.next(at(0)), Step::CloseInput);
/// assert_eq!(shutdown.next(at(1)), Step::Wait);
/// assert_eq!(shutdown.deadline(), Some(at(3)));
/// assert_eq!(shutdown.next(at(3)), Step::Terminate);
/// shutdown.exited();
/// shutdown.group_is_empty();
/// assert_eq!(shutdown.next(at(4)), Step::Done);
/// ```
#[derive(Clone, Debug)]
pub struct ShutdownSequence {
    grace_periods: GracePeriods,
    progress: Stage,
    deadline: Option<Timestamp>,
    has_exited: bool,
    is_group_empty: bool,
}

impl ShutdownSequence {
    /// Creates a shutdown sequence. Its first step is [`Step::CloseInput`], or [`Step::Terminate`] if the server has
    /// already exited.
    pub fn new(grace_periods: GracePeriods) -> Self {
        ShutdownSequence {
            grace_periods,
            progress: Stage::Start,
            deadline: None,
            has_exited: false,
            is_group_empty: false,
        }
    }

    /// Reports that the server process has exited. Other processes of its group may still be running.
    pub fn exited(&mut self) {
        self.has_exited = true;
    }

    /// Reports that the server's process group contains no process anymore.
    pub fn group_is_empty(&mut self) {
        self.is_group_empty = true;
    }

    /// Returns the next step. Call this method again at once after performing a step, until it returns [`Step::Wait`]
    /// or [`Step::Done`].
    pub fn next(&mut self, now: Timestamp) -> Step {
        if self.has_exited && self.is_group_empty {
            self.progress = Stage::Done;
            self.deadline = None;
            return Step::Done;
        }
        let due = self.deadline.is_none_or(|at| at <= now);
        match self.progress {
            // The server has exited, but its child processes remain. They do not read its stdin.
            Stage::Start | Stage::Closed if self.has_exited => self.terminate(now),
            Stage::Start => {
                self.progress = Stage::Closed;
                self.deadline = Some(now + self.grace_periods.after_close);
                Step::CloseInput
            }
            Stage::Closed if due => self.terminate(now),
            Stage::Terminated if due => {
                self.progress = Stage::Killed;
                self.deadline = Some(now + KILL_TIMEOUT);
                Step::Kill
            }
            Stage::Closed | Stage::Terminated => Step::Wait,
            // No process survives a kill. A process that still exists is a zombie or blocked in the kernel.
            Stage::Killed if self.has_exited || due => {
                self.progress = Stage::Done;
                Step::Done
            }
            Stage::Killed => Step::Wait,
            Stage::Done => Step::Done,
        }
    }

    /// Returns when the next step is due. Returns `None` before the first step, and after the process group is empty.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.deadline
    }

    fn terminate(&mut self, now: Timestamp) -> Step {
        self.progress = Stage::Terminated;
        self.deadline = Some(now + self.grace_periods.after_terminate);
        Step::Terminate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn a_server_that_obeys_is_asked_once() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        assert_eq!(sequence.next(at(0)), Step::CloseInput);
        assert_eq!(sequence.next(at(5)), Step::Wait);
        sequence.exited();
        sequence.group_is_empty();
        assert_eq!(sequence.next(at(10)), Step::Done);
        assert_eq!(sequence.deadline(), None);
    }

    #[test]
    fn a_server_that_ignores_everything_is_killed_after_five_seconds() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        assert_eq!(sequence.next(at(0)), Step::CloseInput);
        assert_eq!(sequence.next(at(2_999)), Step::Wait);
        assert_eq!(sequence.next(at(3_000)), Step::Terminate);
        assert_eq!(sequence.next(at(4_999)), Step::Wait);
        assert_eq!(sequence.next(at(5_000)), Step::Kill);
        assert_eq!(sequence.next(at(5_001)), Step::Wait);
        sequence.exited();
        assert_eq!(sequence.next(at(5_002)), Step::Done);
    }

    #[test]
    fn a_process_that_no_kill_ends_is_left_to_the_system() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        let mut steps = [0, 3_000, 5_000, 5_999, 6_000].map(|now| sequence.next(at(now))).into_iter();
        assert!(steps.by_ref().eq([Step::CloseInput, Step::Terminate, Step::Kill, Step::Wait, Step::Done]));
    }

    #[test]
    fn what_a_server_leaves_behind_is_ended_too() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        assert_eq!(sequence.next(at(0)), Step::CloseInput);
        sequence.exited();
        assert_eq!(sequence.next(at(10)), Step::Terminate);
        assert_eq!(sequence.next(at(20)), Step::Wait);
        assert_eq!(sequence.next(at(2_010)), Step::Kill);
        assert_eq!(sequence.next(at(2_020)), Step::Done);
    }

    #[test]
    fn a_server_that_has_exited_before_needs_no_closing() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        sequence.exited();
        assert_eq!(sequence.next(at(0)), Step::Terminate);
        sequence.group_is_empty();
        assert_eq!(sequence.next(at(1)), Step::Done);
    }
}
