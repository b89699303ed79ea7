//! [`ProcessShutdown`]: ends a server's process step by step.

use std::time::Duration;

use mcpwire_client::{GracePeriods, ShutdownReport, ShutdownStep};
use mcpwire_core::Timestamp;

use crate::process::Process;
use crate::shutdown_sequence::ShutdownSequence;

/// How often to check for descendants after the server has exited. The system does not report when the last one exits.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Ends a process by the steps of a [`ShutdownSequence`], and sends the signals of each step.
#[derive(Debug)]
pub struct ProcessShutdown {
    sequence: ShutdownSequence,
    /// The last step that was taken before the process exited.
    last_step: ShutdownStep,
}

/// The next action of the adapter during a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownAction {
    /// Close the server's standard input, then call [`ProcessShutdown::next`] again.
    CloseInput,
    /// Wait until the process exits, at most until this time, then call [`ProcessShutdown::next`] again.
    ///
    /// Read the server's output while waiting: a server whose pipes are full cannot exit.
    Wait(Timestamp),
    /// Stop: the process and its descendants have ended.
    Done(ShutdownReport),
}

impl ProcessShutdown {
    /// Creates a shutdown whose first step is due at once.
    pub fn new(grace_periods: GracePeriods) -> Self {
        ProcessShutdown { sequence: ShutdownSequence::new(grace_periods), last_step: ShutdownStep::CloseInput }
    }

    /// Advances the shutdown: sends the signals that are due, and returns the adapter's next action.
    pub fn next(&mut self, process: &mut Process, now: Timestamp) -> ShutdownAction {
        loop {
            if process.observe().is_some() {
                self.sequence.exited();
                if !process.has_processes() {
                    self.sequence.group_is_empty();
                }
            }
            let exited = process.exit().is_some();
            let step = self.sequence.next(now);
            // Signals after the exit go only to descendants, so they are no steps of the server's own end.
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
                    let next_poll = exited.then(|| now + POLL_INTERVAL);
                    let until = [self.sequence.deadline(), next_poll].into_iter().flatten().min();
                    return ShutdownAction::Wait(until.unwrap_or(now + POLL_INTERVAL));
                }
                ShutdownStep::Done => {
                    return ShutdownAction::Done(ShutdownReport::new(process.exit().copied(), self.last_step));
                }
            }
        }
    }
}
