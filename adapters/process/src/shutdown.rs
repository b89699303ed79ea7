//! [`ProcessShutdown`]: ends a server's process step by step.

use std::time::Duration;

use mcpwire_client::{GracePeriods, ShutdownReport, ShutdownStep};
use mcpwire_core::Timestamp;

use crate::end_of_stream::{EXIT_POLL_INTERVAL, EndOfStream};
use crate::process::Process;
use crate::shutdown_sequence::ShutdownSequence;

/// How often to check for descendants after the server has exited. The system does not report when the last one exits.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Ends a process step by step ([`ShutdownStep`]), and sends the signals of each step. Then waits for the last output.
#[derive(Debug)]
pub struct ProcessShutdown {
    sequence: ShutdownSequence,
    /// The last step that was taken before the process exited.
    last_step: ShutdownStep,
    /// How the server was ended, and the time until which to read its standard error. `None` before it has ended.
    ended: Option<(ShutdownReport, Timestamp)>,
}

/// The next action of the adapter during a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownAction {
    /// Close the server's standard input, then call [`ProcessShutdown::next`] again.
    CloseInput,
    /// Wait until the process exits, its standard error ends, or this time, then call [`ProcessShutdown::next`] again.
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

    /// Advances the shutdown: sends the signals that are due, and returns the adapter's next action.
    ///
    /// Without a process, only the input is closed. `is_exit_reported` is whether the exit of the process ends the adapter's wait,
    /// and `has_stderr` whether standard error is open.
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
                    let interval = match (exited, is_exit_reported) {
                        (true, _) => Some(POLL_INTERVAL),
                        (false, false) => Some(EXIT_POLL_INTERVAL),
                        (false, true) => None,
                    };
                    let next_poll = interval.map(|interval| now + interval);
                    let until = [self.sequence.deadline(), next_poll].into_iter().flatten().min();
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
