//! [`ProcessShutdown`]: ends a server's process step by step (specification: basic/transports/stdio, "Shutdown").
//!
//! ```text
//! CloseInput ──3 s──▶ Terminate the group ──2 s──▶ Kill the group ──▶ Done
//!      │ exit               │ exit
//!      ▼                    ▼
//!   what is left of the group: Terminate ──2 s──▶ Kill ──▶ Done
//! ```
//!
//! [`ShutdownSequence`] decides which step is next and when it is due. [`ProcessShutdown`] performs the step. A server that has
//! exited may leave child processes behind, so the sequence continues until its process group is empty.

use std::time::Duration;

use mcpwire_client::{GracePeriods, ShutdownReport, ShutdownStep};
use mcpwire_core::Timestamp;

use crate::end_of_stream::{EXIT_POLL_INTERVAL, EndOfStream};
use crate::process::Process;

/// Interval at which to check whether descendants of an exited server are running. The system does not report the exit of the
/// last descendant.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Ends a server process step by step ([`ShutdownStep`]), and sends the signals of each step. After the end, the adapter has up
/// to 100 ms to read the last output of standard error.
#[derive(Debug)]
pub struct ProcessShutdown {
    sequence: ShutdownSequence,
    /// The last step before the server itself exited, for the [`ShutdownReport`].
    last_step: ShutdownStep,
    /// How the server has ended, and the time until which to read its standard error. `None` while the server has not ended.
    ended: Option<(ShutdownReport, Timestamp)>,
}

/// The next action of the adapter during a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownAction {
    /// Close the server's standard input, then call [`ProcessShutdown::next`] again.
    CloseInput,
    /// Wait until the process exits, until its standard error ends, or until this time. Then call [`ProcessShutdown::next`]
    /// again.
    ///
    /// Read the server's output while waiting: a server whose pipes are full cannot exit.
    Wait(Timestamp),
    /// Stop: the process and its descendants have ended.
    Done(ShutdownReport),
}

impl ProcessShutdown {
    /// Creates a shutdown whose first step is due at once.
    pub fn new(grace_periods: GracePeriods) -> Self {
        ProcessShutdown {
            sequence: ShutdownSequence::new(grace_periods),
            last_step: ShutdownStep::CloseInput,
            ended: None,
        }
    }

    /// Advances the shutdown. Sends the signals that are due, and returns the next action of the adapter.
    ///
    /// Without a process, the only action is to close the input. `is_exit_reported` says whether the adapter's wait ends when the
    /// process exits. `has_stderr` says whether standard error is still open.
    pub fn next(
        &mut self,
        process: Option<&mut Process>,
        is_exit_reported: bool,
        has_stderr: bool,
        now: Timestamp,
    ) -> ShutdownAction {
        if let Some((report, until)) = self.ended {
            return if has_stderr && now < until { ShutdownAction::Wait(until) } else { ShutdownAction::Done(report) };
        }
        let Some(process) = process else {
            self.ended = Some((ShutdownReport::without_process(), now));
            return ShutdownAction::CloseInput;
        };
        loop {
            let exited = process.observe().is_some();
            let left = match exited {
                false => Processes::Server,
                true if process.has_processes() => Processes::Descendants,
                true => Processes::None,
            };
            let step = self.sequence.next(left, now);
            // A signal after the server's exit goes only to its descendants. It is therefore not part of how the server itself
            // ended.
            if !exited && matches!(step, ShutdownStep::Terminate | ShutdownStep::Kill) {
                self.last_step = step;
            }
            match step {
                ShutdownStep::CloseInput => {
                    process.find_strays();
                    return ShutdownAction::CloseInput;
                }
                ShutdownStep::Terminate => process.terminate(),
                ShutdownStep::Kill => process.kill(),
                ShutdownStep::Wait => {
                    let interval = match (exited, is_exit_reported) {
                        (true, _) => Some(POLL_INTERVAL),
                        (false, false) => Some(EXIT_POLL_INTERVAL),
                        (false, true) => None,
                    };
                    let next_poll = interval.map(|interval| now + interval);
                    let until = [self.sequence.deadline, next_poll].into_iter().flatten().min();
                    return ShutdownAction::Wait(until.unwrap_or(now + POLL_INTERVAL));
                }
                ShutdownStep::Done => {
                    let report = ShutdownReport::new(process.exit().copied(), self.last_step);
                    let until = now + EndOfStream::LAST_WORDS;
                    self.ended = Some((report, until));
                    return if has_stderr { ShutdownAction::Wait(until) } else { ShutdownAction::Done(report) };
                }
            }
        }
    }
}

/// Maximum time to wait for the end of all processes after [`ShutdownStep::Kill`]: 1 s. A kill takes milliseconds, unless the
/// kernel blocks it.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Start,
    Closed,
    Terminated,
    Killed,
    Done,
}

/// Which processes of a server are still running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Processes {
    /// The server itself is running, and perhaps descendants.
    Server,
    /// The server has exited, and some of its descendants are running.
    Descendants,
    None,
}

/// The state machine of one shutdown. It decides which step is next and when the step is due, and sends no signals.
#[derive(Clone, Debug)]
struct ShutdownSequence {
    grace_periods: GracePeriods,
    progress: Stage,
    deadline: Option<Timestamp>,
}

impl ShutdownSequence {
    /// Creates a shutdown sequence. Its first step is [`ShutdownStep::CloseInput`], or [`ShutdownStep::Terminate`] if the server
    /// has already exited.
    fn new(grace_periods: GracePeriods) -> Self {
        ShutdownSequence { grace_periods, progress: Stage::Start, deadline: None }
    }

    /// Returns the next step. After you have performed the step, call this method again at once, until it returns
    /// [`ShutdownStep::Wait`] or [`ShutdownStep::Done`].
    fn next(&mut self, left: Processes, now: Timestamp) -> ShutdownStep {
        if left == Processes::None {
            self.progress = Stage::Done;
        }
        let due = self.deadline.is_none_or(|at| at <= now);
        match self.progress {
            // The server has exited, but its child processes are running. They do not read the server's stdin, so closing it is
            // of no use.
            Stage::Start | Stage::Closed if left == Processes::Descendants => self.terminate(now),
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
            // A killed process may need a while to end on a busy machine. A process that still exists when the time has passed is
            // blocked in the kernel.
            Stage::Killed if due => {
                self.progress = Stage::Done;
                ShutdownStep::Done
            }
            Stage::Killed => ShutdownStep::Wait,
            Stage::Done => ShutdownStep::Done,
        }
    }

    fn terminate(&mut self, now: Timestamp) -> ShutdownStep {
        self.progress = Stage::Terminated;
        self.deadline = Some(now + self.grace_periods.after_terminate);
        ShutdownStep::Terminate
    }
}

#[cfg(test)]
mod tests {
    use super::Processes::{Descendants, None as Gone, Server};
    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn a_server_that_obeys_is_asked_once() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        assert_eq!(sequence.next(Server, at(0)), ShutdownStep::CloseInput);
        assert_eq!(sequence.next(Server, at(5)), ShutdownStep::Wait);
        assert_eq!(sequence.next(Gone, at(10)), ShutdownStep::Done);
    }

    #[test]
    fn a_server_that_ignores_everything_is_killed_after_five_seconds() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        assert_eq!(sequence.next(Server, at(0)), ShutdownStep::CloseInput);
        assert_eq!(sequence.next(Server, at(2_999)), ShutdownStep::Wait);
        assert_eq!(sequence.next(Server, at(3_000)), ShutdownStep::Terminate);
        assert_eq!(sequence.next(Server, at(4_999)), ShutdownStep::Wait);
        assert_eq!(sequence.next(Server, at(5_000)), ShutdownStep::Kill);
        assert_eq!(sequence.next(Server, at(5_001)), ShutdownStep::Wait);
        assert_eq!(sequence.next(Gone, at(5_002)), ShutdownStep::Done);
    }

    #[test]
    fn a_process_that_no_kill_ends_is_left_to_the_system() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        let mut steps = [0, 3_000, 5_000, 5_999, 6_000].map(|now| sequence.next(Server, at(now))).into_iter();
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
        assert_eq!(sequence.next(Server, at(0)), ShutdownStep::CloseInput);
        assert_eq!(sequence.next(Descendants, at(10)), ShutdownStep::Terminate);
        assert_eq!(sequence.next(Descendants, at(20)), ShutdownStep::Wait);
        assert_eq!(sequence.next(Descendants, at(2_010)), ShutdownStep::Kill);
        assert_eq!(sequence.next(Descendants, at(2_020)), ShutdownStep::Wait);
        assert_eq!(sequence.next(Gone, at(2_030)), ShutdownStep::Done);
    }

    #[test]
    fn killed_descendants_are_waited_for_although_the_server_has_exited() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        assert_eq!(sequence.next(Descendants, at(0)), ShutdownStep::Terminate);
        assert_eq!(sequence.next(Descendants, at(2_000)), ShutdownStep::Kill);
        assert_eq!(sequence.next(Descendants, at(2_999)), ShutdownStep::Wait);
        assert_eq!(sequence.next(Descendants, at(3_000)), ShutdownStep::Done);
    }

    #[test]
    fn a_server_that_has_exited_before_needs_no_closing() {
        let mut sequence = ShutdownSequence::new(GracePeriods::default());
        assert_eq!(sequence.next(Descendants, at(0)), ShutdownStep::Terminate);
        assert_eq!(sequence.next(Gone, at(1)), ShutdownStep::Done);
    }
}
