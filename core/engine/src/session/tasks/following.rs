//! One task that is followed: when to ask how it stands, what the answers mean, and when it is over. Nothing but time and
//! answers go in; what is to be sent and how it ended come out. [`questions`](super::questions) carries it.
//!
//! ```text
//!                              extension                        2025-11-25
//!   working, unknown           tasks/get after the interval     tasks/get after the interval
//!   input_required             the same; asks are answered      the same, and tasks/result, which waits
//!                              by tasks/update
//!   completed, failed          over: the answer has it all      tasks/result: over with its answer
//!   cancelled                  over                             over
//!   an error                   asked again, later each time; over after a few, or at once where it says that there is
//!                              no such task
//! ```

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::json::Json;
use crate::rpc::{PeerErrorKind, RpcError};
use crate::session::error::CallError;
use crate::session::task_fault::TaskFault;
use crate::time::Timestamp;
use crate::types::{Task, TaskForm, TaskStatus};

/// The least time between two questions. 100 ms: a server that wishes none at all is not to keep both sides busy.
const SHORTEST: Duration = Duration::from_millis(100);

/// The time between two questions where the server does not say. 1 s: a person hardly waits for it, a server hardly
/// notices it.
const USUAL: Duration = Duration::from_secs(1);

/// The longest time between two questions. 5 min: a server that is wrong about its own tasks costs no more than that.
const LONGEST: Duration = Duration::from_secs(300);

/// How many questions in a row may go wrong. 5: with the interval doubled each time, half a minute of a server that is
/// restarted behind its own front.
const MOST_FAILURES: u32 = 5;

/// A request about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// `tasks/get`.
    Get,
    /// `tasks/result`.
    Result,
    /// `tasks/update`.
    Update,
    /// `tasks/cancel`, whose answer nobody waits for.
    Cancel,
}

/// Whose word it is how a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The answer to the call.
    Call,
    /// The answer to `tasks/get`.
    Get,
    /// A notification.
    Notice,
}

/// Whether a request is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// No.
    Rests,
    /// At that time.
    At(Timestamp),
    /// It was sent, and its answer has not come.
    Sent,
}

/// How a task ended.
#[derive(Debug, PartialEq)]
pub(super) enum End {
    /// With what the call would have answered: the text of a result.
    Result(Json),
    /// With what it would have answered: the text of an error.
    Error(Json),
    /// Without an answer.
    Fault(TaskFault),
}

/// A task on its way.
#[derive(Debug)]
pub(super) struct Following {
    id: String,
    form: TaskForm,
    status: TaskStatus,
    message: Option<String>,
    interval: Duration,
    /// How many questions in a row have gone wrong.
    failures: u32,
    get: Turn,
    fetch: Turn,
    update: Turn,
    /// What is to be sent with the next `tasks/update`, and how much of it is on its way.
    answers: Vec<Vec<u8>>,
    sent: usize,
    /// The server did not take the answers. What that means is seen from how the task stands next.
    not_taken: Option<RpcError>,
}

impl Following {
    /// A task of which its name is known. How it stands is asked at once.
    pub(super) fn new(id: String, form: TaskForm, now: Timestamp) -> Self {
        Following {
            id,
            form,
            status: TaskStatus::Working,
            message: None,
            interval: USUAL,
            failures: 0,
            get: Turn::At(now),
            fetch: Turn::Rests,
            update: Turn::Rests,
            answers: Vec::new(),
            sent: 0,
            not_taken: None,
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn into_id(self) -> String {
        self.id
    }

    /// When there is something to be sent.
    pub(super) fn next(&self) -> Option<Timestamp> {
        let at = |turn: Turn| if let Turn::At(at) = turn { Some(at) } else { None };
        [at(self.get), at(self.fetch), at(self.update)].into_iter().flatten().min()
    }

    /// What is to be sent now. Each is given once, until [`Following::told`] or [`Following::refused`] says what came of it.
    pub(super) fn due(&mut self, now: Timestamp) -> Option<About> {
        let turns = [(&mut self.update, About::Update), (&mut self.fetch, About::Result), (&mut self.get, About::Get)];
        for (turn, about) in turns {
            if matches!(turn, Turn::At(at) if *at <= now) {
                *turn = Turn::Sent;
                if about == About::Update {
                    self.sent = self.answers.len();
                }
                return Some(about);
            }
        }
        None
    }

    /// The answers that go with the `tasks/update` that is due.
    pub(super) fn answers(&self) -> &[Vec<u8>] {
        &self.answers[..self.sent]
    }

    /// Takes an answer to something that the task asks: a member of an object, as text.
    pub(super) fn answer(&mut self, answer: Vec<u8>, now: Timestamp) {
        self.answers.push(answer);
        if self.update == Turn::Rests {
            self.update = Turn::At(now);
        }
    }

    /// Takes in how the task stands. Whether that is news, and how it ended if it has; `None` if it is about another task.
    pub(super) fn told(&mut self, task: &Task, source: Source, now: Timestamp) -> Option<(bool, Option<End>)> {
        if task.task_id != self.id {
            return None;
        }
        let changed = source == Source::Call || task.status != self.status || task.status_message != self.message;
        self.status = task.status.clone();
        self.message.clone_from(&task.status_message);
        self.interval = task.poll_interval().unwrap_or(self.interval).clamp(SHORTEST, LONGEST);
        if source == Source::Get {
            self.failures = 0;
        }
        if source == Source::Get || self.get != Turn::Sent {
            self.get = Turn::At(now + self.interval);
        }
        if source == Source::Get
            && let Some(error) = self.not_taken.take()
            && self.status == TaskStatus::InputRequired
        {
            return Some((changed, Some(End::Fault(TaskFault::AnswersRefused { error }))));
        }
        let end = match self.form {
            TaskForm::Extension => self.ended_within(task, source, now),
            TaskForm::Experimental => self.ended_beside(now),
        };
        Some((changed, end))
    }

    /// In the extension, the end comes with the answer.
    fn ended_within(&mut self, task: &Task, source: Source, now: Timestamp) -> Option<End> {
        match (&self.status, &task.result, &task.error) {
            (TaskStatus::Completed, Some(result), _) => Some(End::Result(result.clone())),
            (TaskStatus::Failed, _, Some(error)) => Some(End::Error(error.clone())),
            (TaskStatus::Cancelled, ..) => Some(self.fault(|message| TaskFault::Cancelled { message })),
            (TaskStatus::Completed, ..) if source == Source::Get => {
                Some(self.fault(|message| TaskFault::NoResult { message }))
            }
            (TaskStatus::Failed, ..) if source == Source::Get => {
                Some(self.fault(|message| TaskFault::Failed { message }))
            }
            (TaskStatus::Completed | TaskStatus::Failed, ..) => {
                // It is over, and the details were left out.
                if self.get != Turn::Sent {
                    self.get = Turn::At(now);
                }
                None
            }
            _ => None,
        }
    }

    /// In 2025-11-25 the result is asked for.
    fn ended_beside(&mut self, now: Timestamp) -> Option<End> {
        match self.status {
            TaskStatus::Cancelled => return Some(self.fault(|message| TaskFault::Cancelled { message })),
            TaskStatus::Completed | TaskStatus::Failed => {
                if self.get != Turn::Sent {
                    self.get = Turn::Rests;
                }
                self.fetch_at(now);
            }
            // What the server wants to know, it asks while `tasks/result` waits.
            TaskStatus::InputRequired => self.fetch_at(now),
            _ => {}
        }
        None
    }

    /// The server has taken what was sent with `tasks/update`.
    pub(super) fn updated(&mut self, now: Timestamp) {
        self.failures = 0;
        self.take_sent();
        self.update = if self.answers.is_empty() { Turn::Rests } else { Turn::At(now) };
    }

    /// A request about the task has failed. How the task ended, if that is the end of it.
    pub(super) fn refused(&mut self, about: About, error: CallError, now: Timestamp) -> Option<End> {
        if let CallError::Server { error, .. } = &error {
            match about {
                About::Get if error.code == RpcError::INVALID_PARAMS => {
                    return Some(End::Fault(TaskFault::Unknown { error: error.clone() }));
                }
                About::Get | About::Update
                    if matches!(
                        error.code,
                        RpcError::METHOD_NOT_FOUND | RpcError::MISSING_REQUIRED_CLIENT_CAPABILITY
                    ) =>
                {
                    return Some(End::Fault(TaskFault::Lost { error: Box::new(error_of(error, about)) }));
                }
                About::Update => {
                    self.not_taken = Some(error.clone());
                    self.take_sent();
                    self.update = if self.answers.is_empty() { Turn::Rests } else { Turn::At(now) };
                    if self.get != Turn::Sent {
                        self.get = Turn::At(now);
                    }
                    return None;
                }
                // It does not wait for the end, or the end came meanwhile: the next look at the task tells which.
                About::Result if !self.status.is_final() => {
                    self.fetch = Turn::Rests;
                    if self.get != Turn::Sent {
                        self.get = Turn::At(now + self.interval);
                    }
                    return None;
                }
                _ => {}
            }
        }
        // What was too long will be too long again.
        let is_too_long =
            matches!(&error, CallError::Invalid { error, .. } if matches!(error.kind, PeerErrorKind::TooLong { .. }));
        self.failures += 1;
        if self.failures > MOST_FAILURES || is_too_long {
            return Some(End::Fault(TaskFault::Lost { error: Box::new(error) }));
        }
        let later = self.interval.saturating_mul(1 << self.failures.min(16)).min(LONGEST);
        self.again(about, now + later);
        None
    }

    /// What is due cannot be sent at present.
    pub(super) fn postpone(&mut self, about: About, now: Timestamp) {
        self.again(about, now + self.interval);
    }

    fn again(&mut self, about: About, at: Timestamp) {
        let turn = match about {
            About::Get => &mut self.get,
            About::Result => &mut self.fetch,
            About::Update => &mut self.update,
            About::Cancel => return,
        };
        *turn = Turn::At(at);
    }

    /// Whether the task was final when it was last looked at: then an error of `tasks/result` is the call's.
    pub(super) fn is_final(&self) -> bool {
        self.status.is_final()
    }

    fn fetch_at(&mut self, now: Timestamp) {
        if self.fetch == Turn::Rests {
            self.fetch = Turn::At(now);
        }
    }

    fn take_sent(&mut self) {
        self.answers.drain(..self.sent);
        self.sent = 0;
    }

    fn fault(&self, fault: impl FnOnce(Option<String>) -> TaskFault) -> End {
        End::Fault(fault(self.message.clone()))
    }
}

fn error_of(error: &RpcError, about: About) -> CallError {
    CallError::Server { method: about.method().into(), error: error.clone() }
}

impl About {
    pub(super) fn method(self) -> &'static str {
        match self {
            About::Get => "tasks/get",
            About::Result => "tasks/result",
            About::Update => "tasks/update",
            About::Cancel => "tasks/cancel",
        }
    }
}
