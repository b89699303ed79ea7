//! The shutdown sequence of a server process (specification: basic/transports/stdio, "Shutdown").
//!
//! ```text
//! CloseInput ──3 s──▶ Terminate the group ──2 s──▶ Kill the group ──▶ Done
//!      │ exit               │ exit
//!      ▼                    ▼
//!   what is left of the group: Terminate ──2 s──▶ Kill ──▶ Done
//! ```
//!
//! [`ShutdownSequence`] performs no I/O. It returns the next step and its deadline, and [`ProcessShutdown`](crate::ProcessShutdown)
//! performs the step. An exited server may leave child processes behind, so the sequence continues until its process group is
//! empty.

use std::time::Duration;

use mcpwire_client::{GracePeriods, ShutdownStep};
use mcpwire_core::Timestamp;

/// How long to wait for the end of all processes after [`ShutdownStep::Kill`]: 1 s. A kill takes milliseconds, except
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
#[derive(Clone, Debug)]
pub(crate) struct ShutdownSequence {
    grace_periods: GracePeriods,
    progress: Stage,
    deadline: Option<Timestamp>,
    has_exited: bool,
    is_group_empty: bool,
}

impl ShutdownSequence {
    /// Creates a shutdown sequence. Its first step is [`ShutdownStep::CloseInput`], or [`ShutdownStep::Terminate`] if the server has
    /// already exited.
    pub(crate) fn new(grace_periods: GracePeriods) -> Self {
        ShutdownSequence {
            grace_periods,
            progress: Stage::Start,
            deadline: None,
            has_exited: false,
            is_group_empty: false,
        }
    }

    /// Reports that the server process has exited. Other processes of its group may still be running.
    pub(crate) fn exited(&mut self) {
        self.has_exited = true;
    }

    /// Reports that the server's process group contains no process anymore.
    pub(crate) fn group_is_empty(&mut self) {
        self.is_group_empty = true;
    }

    /// Returns the next step. Call this method again at once after performing a step, until it returns [`ShutdownStep::Wait`]
    /// or [`ShutdownStep::Done`].
    pub(crate) fn next(&mut self, now: Timestamp) -> ShutdownStep {
        if self.has_exited && self.is_group_empty {
            self.progress = Stage::Done;
            self.deadline = None;
            return ShutdownStep::Done;
        }
        let due = self.deadline.is_none_or(|at| at <= now);
        match self.progress {
            // The server has exited, but its child processes remain. They do not read its stdin.
            Stage::Start | Stage::Closed if self.has_exited => self.terminate(now),
            Stage::Start => {
                self.progress = Stage::Closed;
                self.deadline = Some(now + self.grace_periods.after_close);
                ShutdownStep::CloseInput
            }
            Stage::Closed if due => self.terminate(now),
            Stage::Terminated if due => {
                self.progress = Stage::Killed;
                self.deadline = Some(now + KILL_TIMEOUT);
                ShutdownStep::Kill
            }
            Stage::Closed | Stage::Terminated => ShutdownStep::Wait,
            // No process survives a kill, but on a busy machine it takes a while until the last one is gone. A process that
            // exists after this time is blocked in the kernel.
            Stage::Killed if due => {
                self.progress = Stage::Done;
                ShutdownStep::Done
            }
            Stage::Killed => ShutdownStep::Wait,
            Stage::Done => ShutdownStep::Done,
        }
    }

    /// Returns when the next step is due. Returns `None` before the first step, and after the process group is empty.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        self.deadline
    }

    fn terminate(&mut self, now: Timestamp) -> ShutdownStep {
        self.progress = Stage::Terminated;
        self.deadline = Some(now + self.grace_periods.after_terminate);
        ShutdownStep::Terminate
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
        assert_eq!(sequence.next(at(0)), ShutdownStep::CloseInput);
        assert_eq!(sequence.next(at(5)), ShutdownStep::Wait);
        sequence.exited();
        sequence.group_is_empty();
        assert_eq!(sequence.next(at(10)), ShutdownStep::Done);
        assert_eq!(sequence.deadline(), None);
    }

    #[test]
    fn a_server_that_ignores_everything_is_killed_after_five_seconds() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        assert_eq!(sequence.next(at(0)), ShutdownStep::CloseInput);
        assert_eq!(sequence.next(at(2_999)), ShutdownStep::Wait);
        assert_eq!(sequence.next(at(3_000)), ShutdownStep::Terminate);
        assert_eq!(sequence.next(at(4_999)), ShutdownStep::Wait);
        assert_eq!(sequence.next(at(5_000)), ShutdownStep::Kill);
        assert_eq!(sequence.next(at(5_001)), ShutdownStep::Wait);
        sequence.exited();
        sequence.group_is_empty();
        assert_eq!(sequence.next(at(5_002)), ShutdownStep::Done);
    }

    #[test]
    fn a_process_that_no_kill_ends_is_left_to_the_system() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        let mut steps = [0, 3_000, 5_000, 5_999, 6_000].map(|now| sequence.next(at(now))).into_iter();
        assert!(steps.by_ref().eq([
            ShutdownStep::CloseInput,
            ShutdownStep::Terminate,
            ShutdownStep::Kill,
            ShutdownStep::Wait,
            ShutdownStep::Done
        ]));
    }

    #[test]
    fn what_a_server_leaves_behind_is_ended_too() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        assert_eq!(sequence.next(at(0)), ShutdownStep::CloseInput);
        sequence.exited();
        assert_eq!(sequence.next(at(10)), ShutdownStep::Terminate);
        assert_eq!(sequence.next(at(20)), ShutdownStep::Wait);
        assert_eq!(sequence.next(at(2_010)), ShutdownStep::Kill);
        assert_eq!(sequence.next(at(2_020)), ShutdownStep::Wait);
        sequence.group_is_empty();
        assert_eq!(sequence.next(at(2_030)), ShutdownStep::Done);
    }

    #[test]
    fn killed_descendants_are_waited_for_although_the_server_has_exited() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        sequence.exited();
        assert_eq!(sequence.next(at(0)), ShutdownStep::Terminate);
        assert_eq!(sequence.next(at(2_000)), ShutdownStep::Kill);
        assert_eq!(sequence.next(at(2_999)), ShutdownStep::Wait);
        assert_eq!(sequence.next(at(3_000)), ShutdownStep::Done);
    }

    #[test]
    fn a_server_that_has_exited_before_needs_no_closing() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        sequence.exited();
        assert_eq!(sequence.next(at(0)), ShutdownStep::Terminate);
        sequence.group_is_empty();
        assert_eq!(sequence.next(at(1)), ShutdownStep::Done);
    }
}
