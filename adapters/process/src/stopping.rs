//! Ending a server step by step.

use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_core::shutdown::{GracePeriods, ShutdownSequence, Step};

use crate::process::Process;
use mcpwire_client::ShutdownReport;

/// How often a group is looked at whose leader has exited: that the others follow, nothing tells.
const TICK: Duration = Duration::from_millis(10);

/// The way of a process to its end: the [`ShutdownSequence`], with the signals that belong to its steps.
#[derive(Debug)]
pub struct Stopping {
    sequence: ShutdownSequence,
    took: Step,
}

/// What the adapter is to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Close the stream to the server, and ask again.
    CloseInput,
    /// Wait for the exit, but not longer than this, and ask again. What the server still writes is to be read meanwhile: a
    /// server that cannot get rid of it cannot exit.
    Wait(Timestamp),
    /// Nothing: nothing is left of the server.
    Done(ShutdownReport),
}

impl Stopping {
    /// No step has been taken yet.
    pub fn new(grace_periods: GracePeriods) -> Self {
        Stopping { sequence: ShutdownSequence::new(grace_periods), took: Step::CloseInput }
    }

    /// Takes the steps that are due.
    pub fn next(&mut self, process: &mut Process, now: Timestamp) -> Next {
        loop {
            if process.observe().is_some() {
                self.sequence.exited();
                if !process.left_others_behind() {
                    self.sequence.group_is_empty();
                }
            }
            let exited = process.exit().is_some();
            let step = self.sequence.next(now);
            // What an exited process left behind is no fault of the process.
            if !exited && matches!(step, Step::Terminate | Step::Kill) {
                self.took = step;
            }
            match step {
                Step::CloseInput => return Next::CloseInput,
                Step::Terminate => process.terminate(),
                Step::Kill => process.kill(),
                Step::Wait => {
                    let tick = exited.then(|| now + TICK);
                    let until = [self.sequence.deadline(), tick].into_iter().flatten().min();
                    return Next::Wait(until.unwrap_or(now + TICK));
                }
                Step::Done => return Next::Done(ShutdownReport::new(process.exit().copied(), self.took)),
            }
        }
    }
}
