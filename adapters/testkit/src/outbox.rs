//! [`Outbox`]: the scheduled output of a connection.

use std::collections::BTreeMap;
use std::task::Waker;
use std::time::Duration;

use mcpwire_driver::Clock;
use mcpwire_driver::protocol::{Json, Timestamp};

use crate::response::{ScriptedResponse, Step};
use crate::wire;

/// The output of a connection, sorted by time and then by the order in which it was scheduled.
pub(crate) struct Outbox {
    clock: Clock,
    scheduled: BTreeMap<(Timestamp, u64), ScheduledOutput>,
    /// The sequence number of the last output.
    last_number: u64,
    /// Wakes the task that sends the output.
    pub(crate) waker: Option<Waker>,
}

struct ScheduledOutput {
    output: Output,
    /// The id of the request to which the output responds.
    request: Option<Json>,
}

#[derive(Clone)]
pub(crate) enum Output {
    Bytes(Vec<u8>),
    Close,
}

/// The properties of a request that its response depends on.
pub(crate) struct ResponseTarget {
    /// `None` for a notification.
    pub(crate) id: Option<Json>,
    /// Whether the request names its protocol version, as in the modern era.
    pub(crate) is_modern: bool,
    /// `None` if the request wants no progress notifications.
    pub(crate) progress_token: Option<Json>,
}

impl Output {
    pub(crate) fn line(mut line: String) -> Self {
        line.push('\n');
        Output::Bytes(line.into_bytes())
    }
}

impl Outbox {
    pub(crate) fn new(clock: Clock) -> Self {
        Outbox { clock, scheduled: BTreeMap::new(), last_number: 0, waker: None }
    }

    /// Schedules output for the current time that is not part of a response.
    pub(crate) fn send_now(&mut self, output: Output) {
        self.schedule(self.clock.now(), output, None);
    }

    /// Schedules the response to a request. Its first step is due after `latency`.
    pub(crate) fn respond(&mut self, target: &ResponseTarget, response: ScriptedResponse, latency: Duration) {
        let mut at = self.clock.now() + latency;
        for step in response.steps {
            if let Step::Wait(duration) = step {
                at = at + duration;
            } else if let Some(output) = target.output(step) {
                self.schedule(at, output, target.id.clone());
            }
        }
    }

    /// Removes the rest of the response to a request.
    pub(crate) fn cancel(&mut self, request: &Json) {
        self.scheduled.retain(|_, scheduled| scheduled.request.as_ref() != Some(request));
    }

    /// Removes the next output that is due.
    pub(crate) fn pop(&mut self, now: Timestamp) -> Option<Output> {
        let first = self.scheduled.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove().output)
    }

    /// Returns when the next output is due.
    pub(crate) fn next_time(&self) -> Option<Timestamp> {
        self.scheduled.keys().next().map(|(at, _)| *at)
    }

    fn schedule(&mut self, at: Timestamp, output: Output, request: Option<Json>) {
        self.last_number += 1;
        self.scheduled.insert((at, self.last_number), ScheduledOutput { output, request });
    }
}

impl ResponseTarget {
    /// Returns the bytes of a step, or `None` if the step has no output for this request, such as progress without a token.
    fn output(&self, step: Step) -> Option<Output> {
        Some(Output::line(match step {
            Step::Complete(result) if self.is_modern => wire::complete_result(self.id.as_ref()?, &result),
            Step::Complete(result) | Step::Result(result) => wire::result(self.id.as_ref()?, &result),
            Step::Error(error) => wire::error(self.id.as_ref()?, &error),
            Step::Progress { progress, total, message } => {
                wire::progress(self.progress_token.as_ref()?, progress, total, message.as_deref())
            }
            Step::Line(line) => line,
            Step::Raw(bytes) => return Some(Output::Bytes(bytes)),
            Step::Close => return Some(Output::Close),
            Step::Wait(_) => return None,
        }))
    }
}
