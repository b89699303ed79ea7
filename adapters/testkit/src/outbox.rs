//! [`Outbox`]: what a server is going to say over a connection, and when.

use std::collections::BTreeMap;
use std::task::Waker;
use std::time::Duration;

use mcpwire_driver::Clock;
use mcpwire_driver::core::{Json, Timestamp};

use crate::answer::{Answer, Step};
use crate::wire;

/// What is to be said, by its time and then in the order in which it was said to.
pub(crate) struct Outbox {
    clock: Clock,
    due: BTreeMap<(Timestamp, u64), Saying>,
    said: u64,
    /// Wakes who says it.
    pub(crate) waker: Option<Waker>,
}

struct Saying {
    output: Output,
    /// The id of the request that it is part of the answer to.
    request: Option<Json>,
}

#[derive(Clone)]
pub(crate) enum Output {
    Bytes(Vec<u8>),
    Close,
}

/// The request that an answer answers.
pub(crate) struct Asked {
    /// A notification has none.
    pub(crate) id: Option<Json>,
    /// It says which revision it follows, as those of the modern era do.
    pub(crate) modern: bool,
    /// It wants reports of progress.
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
        Outbox { clock, due: BTreeMap::new(), said: 0, waker: None }
    }

    /// Says something now, of its own accord.
    pub(crate) fn say(&mut self, output: Output) {
        self.plan(self.clock.now(), output, None);
    }

    /// Answers a request, beginning after `latency`.
    pub(crate) fn answer(&mut self, asked: &Asked, answer: Answer, latency: Duration) {
        let mut at = self.clock.now() + latency;
        for step in answer.steps {
            if let Step::Wait(duration) = step {
                at = at + duration;
            } else if let Some(output) = asked.output(step) {
                self.plan(at, output, asked.id.clone());
            }
        }
    }

    /// Says no more in answer to a request.
    pub(crate) fn forget(&mut self, request: &Json) {
        self.due.retain(|_, saying| saying.request.as_ref() != Some(request));
    }

    /// What is to be said by now.
    pub(crate) fn pop(&mut self, now: Timestamp) -> Option<Output> {
        let first = self.due.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove().output)
    }

    /// When there is more to be said.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.due.keys().next().map(|(at, _)| *at)
    }

    fn plan(&mut self, at: Timestamp, output: Output, request: Option<Json>) {
        self.said += 1;
        self.due.insert((at, self.said), Saying { output, request });
    }
}

impl Asked {
    /// What a step says; nothing, where nobody asked for that.
    fn output(&self, step: Step) -> Option<Output> {
        Some(Output::line(match step {
            Step::Complete(result) if self.modern => wire::complete_result(self.id.as_ref()?, &result),
            Step::Complete(result) | Step::Result(result) => wire::result(self.id.as_ref()?, &result),
            Step::Refuse(error) => wire::error(self.id.as_ref()?, &error),
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
