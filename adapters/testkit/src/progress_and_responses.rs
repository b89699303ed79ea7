//! [`Outbox`]: the planned output of one connection. [`Alarm`]: a timer that wakes the task that sends the output.

use std::collections::BTreeMap;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcpwire_driver::protocol::{Json, Timestamp};
use mcpwire_driver::{Clock, Runtime, Timer};

use crate::response::{Output, ScriptedResponse, Step, Then};
use crate::wire;

/// The planned output of one connection, or of one response over HTTP, sorted by time and then by the order of planning.
pub(crate) struct Outbox {
    clock: Clock,
    due: BTreeMap<(Timestamp, u64), Planned>,
    planned: u64,
    /// The unanswered requests of the server to the client, each with its id.
    questions: Vec<(Json, Question)>,
    /// The number of the client. The connections of a client share its number, because a response may arrive over another
    /// connection than its request.
    pub(crate) client: usize,
    /// Whether the connection carries messages that belong to no request, such as notifications to all clients.
    pub(crate) is_general: bool,
    /// Wakes the task that sends the output of this connection. `None` until the task has run.
    pub(crate) waker: Option<Waker>,
}

struct Planned {
    output: Output,
    /// The id of the client's request that this output belongs to; a cancellation removes both. `None` if the output belongs to
    /// no request.
    request: Option<Json>,
}

/// The rest of an answer, which waits until the client has responded to a request of the server.
pub(crate) struct Question {
    info: RequestInfo,
    pub(crate) then: Then,
    rest: Vec<Step>,
}

/// The properties of a client's request or notification that determine how to answer it.
#[derive(Clone)]
pub(crate) struct RequestInfo {
    /// The id of the request. `None` for a notification.
    pub(crate) id: Option<Json>,
    /// Whether the request states its protocol revision in `_meta`, as requests of the modern era do.
    pub(crate) modern: bool,
    /// The token that progress reports must contain. `None` if the client has not asked for progress reports.
    pub(crate) progress_token: Option<Json>,
}

impl Outbox {
    pub(crate) fn new(clock: Clock, client: usize, is_general: bool) -> Self {
        Outbox { clock, due: BTreeMap::new(), planned: 0, questions: Vec::new(), client, is_general, waker: None }
    }

    /// Plans output that belongs to no request. It is due at once.
    pub(crate) fn send(&mut self, output: Output) {
        self.plan(self.clock.now(), output, None);
    }

    /// Plans the steps of an answer, which starts after `latency`. The steps after a request to the client wait for its response.
    /// `last_id` is the number in the id of the last request to any client.
    pub(crate) fn answer(&mut self, info: &RequestInfo, steps: Vec<Step>, latency: Duration, last_id: &mut u64) {
        let mut at = self.clock.now() + latency;
        let mut steps = steps.into_iter();
        while let Some(step) = steps.next() {
            match step {
                Step::Wait(duration) => at = at + duration,
                Step::Ask { method, params, then } => {
                    let id = wire::next_request_id(last_id);
                    self.plan(at, Output::Line(wire::request(&id, &method, &params)), info.id.clone());
                    self.questions.push((id, Question { info: info.clone(), then, rest: steps.collect() }));
                    return;
                }
                step => {
                    if let Some(output) = info.output(step) {
                        self.plan(at, output, info.id.clone());
                    }
                }
            }
        }
    }

    /// Removes a request to the client by its id. Returns the answer that waits for the client's response, or `None` if the id is
    /// unknown.
    pub(crate) fn take_question(&mut self, id: &Json) -> Option<Question> {
        let index = self.questions.iter().position(|(other, _)| other == id)?;
        Some(self.questions.remove(index).1)
    }

    /// Continues an answer after the client's response: plans the steps that depend on the response, and then the remaining
    /// steps.
    pub(crate) fn go_on(&mut self, mut question: Question, answer: ScriptedResponse, last_id: &mut u64) {
        let mut steps = answer.steps;
        steps.append(&mut question.rest);
        self.answer(&question.info, steps, Duration::ZERO, last_id);
    }

    /// Drops the answer to a cancelled request: removes its planned output, and its requests to the client.
    pub(crate) fn forget(&mut self, request: &Json) {
        self.due.retain(|_, planned| planned.request.as_ref() != Some(request));
        self.questions.retain(|(_, question)| question.info.id.as_ref() != Some(request));
    }

    /// Removes and returns the next output that is due at `now`, or returns `None` if none is due.
    pub(crate) fn pop(&mut self, now: Timestamp) -> Option<Output> {
        let first = self.due.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove().output)
    }

    /// Returns the time at which the next output is due, or `None` if none is planned.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.due.keys().next().map(|(at, _)| *at)
    }

    /// Returns the time and the text of the planned response if no other output is planned, or else `None`. Over HTTP, a single
    /// response can be sent as JSON instead of an event stream.
    #[cfg(feature = "http")]
    pub(crate) fn only_response(&self) -> Option<(Timestamp, &str)> {
        match self.due.first_key_value()? {
            ((at, _), Planned { output: Output::Response(line), .. }) if self.due.len() == 1 => Some((*at, line)),
            _ => None,
        }
    }

    /// Returns whether no output is planned and no answer waits for the client. An event stream whose request was answered then
    /// ends.
    #[cfg(feature = "http")]
    pub(crate) fn is_idle(&self) -> bool {
        self.due.is_empty() && self.questions.is_empty()
    }

    fn plan(&mut self, at: Timestamp, output: Output, request: Option<Json>) {
        self.planned += 1;
        self.due.insert((at, self.planned), Planned { output, request });
    }
}

impl RequestInfo {
    /// Returns the output of a step, or `None` for progress without a progress token, for a response to a notification, and for
    /// steps without output.
    fn output(&self, step: Step) -> Option<Output> {
        Some(match step {
            Step::Complete(result) if self.modern => {
                Output::Response(wire::complete_result(self.id.as_ref()?, &result))
            }
            Step::Complete(result) | Step::Result(result) => Output::Response(wire::result(self.id.as_ref()?, &result)),
            Step::Refuse(error) => Output::Response(wire::error(self.id.as_ref()?, &error)),
            Step::Progress { progress, total, message } => {
                Output::Line(wire::progress(self.progress_token.as_ref()?, progress, total, message.as_deref()))
            }
            Step::Send(output) => output,
            Step::Wait(_) | Step::Ask { .. } => return None,
        })
    }
}

/// A timer with its clock. It wakes a task when the next output is due.
pub(crate) struct Alarm {
    clock: Clock,
    timer: Box<dyn Timer>,
    /// The time for which the timer is set. `None` if it is not set, or has fired.
    armed: Option<Timestamp>,
}

impl Alarm {
    pub(crate) fn new(runtime: &dyn Runtime) -> Self {
        Alarm { clock: runtime.clock(), timer: runtime.timer(), armed: None }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns `Ready` if the time `at` has come. Otherwise, sets the timer to wake the task at this time.
    pub(crate) fn poll_until(&mut self, at: Timestamp, cx: &mut Context<'_>) -> Poll<()> {
        let now = self.now();
        if at <= now {
            return Poll::Ready(());
        }
        if self.armed != Some(at) {
            self.timer.reset(at.duration_since(now));
            self.armed = Some(at);
        }
        let poll = self.timer.poll(cx);
        if poll.is_ready() {
            self.armed = None;
        }
        poll
    }
}
