//! [`Outbox`]: what a server is going to say over a connection, and when.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::task::Waker;
use std::time::Duration;

use mcpwire_driver::Clock;
use mcpwire_driver::core::{Json, Timestamp};

use crate::answer::{Answer, Step};
use crate::server::Handler;
use crate::wire;

/// What is to be said, by its time and then in the order in which it was said to.
pub(crate) struct Outbox {
    clock: Clock,
    due: BTreeMap<(Timestamp, u64), Saying>,
    said: u64,
    /// The requests to the client whose responses answers wait for.
    asked: Vec<Paused>,
    /// Wakes who says it.
    pub(crate) waker: Option<Waker>,
}

struct Saying {
    output: Output,
    /// The id of the request that it is part of the answer to.
    request: Option<Json>,
}

/// An answer that waits for the response to a request of the server.
pub(crate) struct Paused {
    /// The id of the request of the server.
    id: Json,
    asked: Asked,
    then: Handler,
    /// The steps after the response and the steps of `then`.
    rest: Vec<Step>,
}

impl Paused {
    /// Returns how the answer continues after the client's response, and to which request it belongs.
    pub(crate) fn resume(self, response: &Json) -> (Asked, Answer) {
        let mut answer = self.then.lock().unwrap_or_else(PoisonError::into_inner)(response);
        answer.steps.extend(self.rest);
        (self.asked, answer)
    }
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
        Outbox { clock, due: BTreeMap::new(), said: 0, asked: Vec::new(), waker: None }
    }

    /// Says something now, of its own accord.
    pub(crate) fn say(&mut self, output: Output) {
        self.plan(self.clock.now(), output, None);
    }

    /// Answers a request, beginning after `latency`.
    pub(crate) fn answer(&mut self, asked: Asked, answer: Answer, latency: Duration) {
        let mut at = self.clock.now() + latency;
        let mut steps = answer.steps.into_iter();
        while let Some(step) = steps.next() {
            match step {
                Step::Wait(duration) => at = at + duration,
                Step::Ask(ask) => {
                    let id = wire::json(&format!("call-{}", self.said));
                    self.plan(at, Output::line(wire::request(&id, &ask.method, &ask.params)), asked.id.clone());
                    return self.asked.push(Paused { id, asked, then: ask.then, rest: steps.collect() });
                }
                step => {
                    if let Some(output) = asked.output(step) {
                        self.plan(at, output, asked.id.clone());
                    }
                }
            }
        }
    }

    /// Returns the answer that waits for the response with this id.
    pub(crate) fn take_paused(&mut self, id: &Json) -> Option<Paused> {
        let index = self.asked.iter().position(|paused| paused.id == *id)?;
        Some(self.asked.remove(index))
    }

    /// Says no more in answer to a request.
    pub(crate) fn forget(&mut self, request: &Json) {
        self.due.retain(|_, saying| saying.request.as_ref() != Some(request));
        self.asked.retain(|paused| paused.asked.id.as_ref() != Some(request));
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
            Step::Wait(_) | Step::Ask(_) => return None,
        }))
    }
}
