//! How a server's process is ended: a ladder whose steps have deadlines (2026-07-28, basic/transports/stdio, "Shutdown").
//!
//! ```text
//! CloseInput ──3 s──▶ Terminate the group ──2 s──▶ Kill the group ──▶ Done
//!      │ exit               │ exit
//!      ▼                    ▼
//!   what is left of the group: Terminate ──2 s──▶ Kill ──▶ Done
//! ```
//!
//! The ladder waits for nothing and signals nobody: it says which step is next and by when, and the adapter does the step.
//! A process that exits may leave others of its group behind, so its exit is not the end.

use core::time::Duration;

use crate::time::Timestamp;

/// What the adapter is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Close the server's input: the polite way to ask it to end.
    CloseInput,
    /// Ask the whole group to end (`SIGTERM`).
    Terminate,
    /// End the whole group (`SIGKILL`).
    Kill,
    /// Nothing until the deadline, an exit, or the group is empty.
    Wait,
    /// Nothing more: nothing is left.
    Done,
}

/// How long each step is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// From closing the input to [`Step::Terminate`]. 3 s by default: what the official clients settled on.
    pub after_close: Duration,
    /// From there to [`Step::Kill`]. 2 s by default, so that the whole takes 5 s at most.
    pub after_terminate: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { after_close: Duration::from_secs(3), after_terminate: Duration::from_secs(2) }
    }
}

/// How long the exit after a kill is waited for. 1 s: it takes milliseconds, or is in the hands of a driver of the kernel.
const AFTER_KILL: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rung {
    Start,
    Closed,
    Terminated,
    Killed,
    Done,
}

/// The ladder.
///
/// ```
/// use core::time::Duration;
/// use mcpwire_core::Timestamp;
/// use mcpwire_core::shutdown::{Ladder, Patience, Step};
///
/// let at = |s| Timestamp::from_origin(Duration::from_secs(s));
/// let mut ladder = Ladder::new(Patience::default());
/// assert_eq!(ladder.next(at(0)), Step::CloseInput);
/// assert_eq!(ladder.next(at(1)), Step::Wait);
/// assert_eq!(ladder.deadline(), Some(at(3)));
/// assert_eq!(ladder.next(at(3)), Step::Terminate);
/// ladder.exited();
/// ladder.group_is_empty();
/// assert_eq!(ladder.next(at(4)), Step::Done);
/// ```
#[derive(Clone, Debug)]
pub struct Ladder {
    patience: Patience,
    rung: Rung,
    deadline: Option<Timestamp>,
    exited: bool,
    empty: bool,
}

impl Ladder {
    /// A ladder on which no step has been taken.
    pub fn new(patience: Patience) -> Self {
        Ladder { patience, rung: Rung::Start, deadline: None, exited: false, empty: false }
    }

    /// Takes in that the process itself has exited. Others of its group may live on.
    pub fn exited(&mut self) {
        self.exited = true;
    }

    /// Takes in that no process of the group is left.
    pub fn group_is_empty(&mut self) {
        self.empty = true;
    }

    /// The next step. After one that is not [`Step::Wait`], ask again once it is done.
    pub fn next(&mut self, now: Timestamp) -> Step {
        if self.exited && self.empty {
            self.rung = Rung::Done;
            self.deadline = None;
            return Step::Done;
        }
        let due = self.deadline.is_none_or(|at| at <= now);
        match self.rung {
            // The process has gone, and left others behind: they get no input that could be closed.
            Rung::Start | Rung::Closed if self.exited => self.terminate(now),
            Rung::Start => {
                self.rung = Rung::Closed;
                self.deadline = Some(now + self.patience.after_close);
                Step::CloseInput
            }
            Rung::Closed if due => self.terminate(now),
            Rung::Terminated if due => {
                self.rung = Rung::Killed;
                self.deadline = Some(now + AFTER_KILL);
                Step::Kill
            }
            Rung::Closed | Rung::Terminated => Step::Wait,
            // Nothing survives a kill; what still shows has been given up by its parent, or is stuck in the kernel.
            Rung::Killed if self.exited || due => {
                self.rung = Rung::Done;
                Step::Done
            }
            Rung::Killed => Step::Wait,
            Rung::Done => Step::Done,
        }
    }

    /// When the next step is due, if nothing happens before.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.deadline
    }

    fn terminate(&mut self, now: Timestamp) -> Step {
        self.rung = Rung::Terminated;
        self.deadline = Some(now + self.patience.after_terminate);
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
        let mut ladder = Ladder::new(Patience::default());
        assert_eq!(ladder.next(at(0)), Step::CloseInput);
        assert_eq!(ladder.next(at(5)), Step::Wait);
        ladder.exited();
        ladder.group_is_empty();
        assert_eq!(ladder.next(at(10)), Step::Done);
        assert_eq!(ladder.deadline(), None);
    }

    #[test]
    fn a_server_that_ignores_everything_is_killed_after_five_seconds() {
        let mut ladder = Ladder::new(Patience::default());
        assert_eq!(ladder.next(at(0)), Step::CloseInput);
        assert_eq!(ladder.next(at(2_999)), Step::Wait);
        assert_eq!(ladder.next(at(3_000)), Step::Terminate);
        assert_eq!(ladder.next(at(4_999)), Step::Wait);
        assert_eq!(ladder.next(at(5_000)), Step::Kill);
        assert_eq!(ladder.next(at(5_001)), Step::Wait);
        ladder.exited();
        assert_eq!(ladder.next(at(5_002)), Step::Done);
    }

    #[test]
    fn a_process_that_no_kill_ends_is_left_to_the_system() {
        let mut ladder = Ladder::new(Patience::default());
        let mut steps = [0, 3_000, 5_000, 5_999, 6_000].map(|now| ladder.next(at(now))).into_iter();
        assert!(steps.by_ref().eq([Step::CloseInput, Step::Terminate, Step::Kill, Step::Wait, Step::Done]));
    }

    #[test]
    fn what_a_server_leaves_behind_is_ended_too() {
        let mut ladder = Ladder::new(Patience::default());
        assert_eq!(ladder.next(at(0)), Step::CloseInput);
        ladder.exited();
        assert_eq!(ladder.next(at(10)), Step::Terminate);
        assert_eq!(ladder.next(at(20)), Step::Wait);
        assert_eq!(ladder.next(at(2_010)), Step::Kill);
        assert_eq!(ladder.next(at(2_020)), Step::Done);
    }

    #[test]
    fn a_server_that_has_exited_before_needs_no_closing() {
        let mut ladder = Ladder::new(Patience::default());
        ladder.exited();
        assert_eq!(ladder.next(at(0)), Step::Terminate);
        ladder.group_is_empty();
        assert_eq!(ladder.next(at(1)), Step::Done);
    }
}
