//! Polls one task: when to send which request, what the answers mean, and when the task is over. Time and answers go in; the
//! requests to send and the end of the task come out.
//!
//! ```text
//!  status                      extension                        2025-11-25
//!   working, unknown           tasks/get after the interval     tasks/get after the interval
//!   input_required             the same; tasks/update carries   the same, and tasks/result, which the
//!                              the inputs                       server answers once the task is over
//!   completed, failed          over: the status has the result  tasks/result: over with its answer
//!   cancelled                  over                             over
//!   (an error)                 sent again, later each time; over after a few, or at once if there is no such task
//! ```

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::json::Json;
use crate::rpc::{PeerErrorKind, RpcError};
use crate::session::error::{CallError, TaskFault};
use crate::session::requests::TaskRequest;
use crate::time::Timestamp;
use crate::types::{Task, TaskForm, TaskStatus};

/// The shortest time between two polls. 100 ms: a server that asks for no interval at all must not keep both sides busy.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// The time between two polls where the server names none. 1 s: a person hardly waits for it, a server hardly notices it.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// The longest time between two polls. 5 min: a server that is wrong about its own tasks delays the result by no more.
const MAX_INTERVAL: Duration = Duration::from_secs(300);

/// How many polls in a row may fail. 5: with the interval doubled each time, half a minute for a server that restarts behind a
/// proxy.
const MAX_FAILURES: u32 = 5;

/// Where a status of a task comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The answer to the call.
    Call,
    /// The answer to `tasks/get`.
    Get,
    /// A notification.
    Notice,
}

/// When a request is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Schedule {
    Never,
    At(Timestamp),
    /// It was sent and has no answer yet.
    Sent,
}

/// How a task ended.
#[derive(Debug, PartialEq)]
pub(super) enum TaskEnd {
    /// With the result of the call.
    Result(Json),
    /// With the JSON-RPC error of the call.
    Error(Json),
    /// Without either.
    Fault(TaskFault),
}

/// A task that is polled.
#[derive(Debug)]
pub(super) struct TaskPoller {
    id: String,
    form: TaskForm,
    status: TaskStatus,
    message: Option<String>,
    interval: Duration,
    /// How many polls in a row have failed.
    failures: u32,
    get: Schedule,
    fetch: Schedule,
    update: Schedule,
    /// The inputs for the next `tasks/update`, each as a member of an object; the first `sent` of them are on their way.
    answers: Vec<Vec<u8>>,
    sent: usize,
    /// Why the server refused the last `tasks/update`. The next status tells whether that ends the task.
    update_refused: Option<RpcError>,
}

impl TaskPoller {
    /// Polls a task of this id, at once for the first time.
    pub(super) fn new(id: String, form: TaskForm, now: Timestamp) -> Self {
        TaskPoller {
            id,
            form,
            status: TaskStatus::Working,
            message: None,
            interval: DEFAULT_INTERVAL,
            failures: 0,
            get: Schedule::At(now),
            fetch: Schedule::Never,
            update: Schedule::Never,
            answers: Vec::new(),
            sent: 0,
            update_refused: None,
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn into_id(self) -> String {
        self.id
    }

    /// Returns when the next request is to be sent.
    pub(super) fn next(&self) -> Option<Timestamp> {
        let at = |schedule: Schedule| if let Schedule::At(at) = schedule { Some(at) } else { None };
        [at(self.get), at(self.fetch), at(self.update)].into_iter().flatten().min()
    }

    /// Returns a request to send now. It is returned once, until its answer or its failure is handled.
    pub(super) fn poll(&mut self, now: Timestamp) -> Option<TaskRequest> {
        let schedules = [
            (&mut self.update, TaskRequest::Update),
            (&mut self.fetch, TaskRequest::Result),
            (&mut self.get, TaskRequest::Get),
        ];
        for (schedule, request) in schedules {
            if matches!(schedule, Schedule::At(at) if *at <= now) {
                *schedule = Schedule::Sent;
                if request == TaskRequest::Update {
                    self.sent = self.answers.len();
                }
                return Some(request);
            }
        }
        None
    }

    /// Returns the inputs for the `tasks/update` that is being sent.
    pub(super) fn answers(&self) -> &[Vec<u8>] {
        &self.answers[..self.sent]
    }

    /// Adds an input for the task: a member of an object, as text.
    pub(super) fn answer(&mut self, answer: Vec<u8>, now: Timestamp) {
        self.answers.push(answer);
        if self.update == Schedule::Never {
            self.update = Schedule::At(now);
        }
    }

    /// Handles a status of the task. Returns whether it has changed, and how the task ended if it has; `None` if the status is
    /// that of another task.
    pub(super) fn status(&mut self, task: &Task, source: Source, now: Timestamp) -> Option<(bool, Option<TaskEnd>)> {
        if task.task_id != self.id {
            return None;
        }
        let changed = source == Source::Call || task.status != self.status || task.status_message != self.message;
        self.status = task.status.clone();
        self.message.clone_from(&task.status_message);
        self.interval = task.poll_interval().unwrap_or(self.interval).clamp(MIN_INTERVAL, MAX_INTERVAL);
        if source == Source::Get {
            self.failures = 0;
        }
        if source == Source::Get || self.get != Schedule::Sent {
            self.get = Schedule::At(now + self.interval);
        }
        if source == Source::Get
            && let Some(error) = self.update_refused.take()
            && self.status == TaskStatus::InputRequired
        {
            return Some((changed, Some(TaskEnd::Fault(TaskFault::AnswersRefused { error }))));
        }
        let end = match self.form {
            TaskForm::Extension => self.end_of_extension(task, source, now),
            TaskForm::Experimental => self.end_of_experimental(now),
        };
        Some((changed, end))
    }

    /// In the extension, the status of a task that is over contains its result.
    fn end_of_extension(&mut self, task: &Task, source: Source, now: Timestamp) -> Option<TaskEnd> {
        match (&self.status, &task.result, &task.error) {
            (TaskStatus::Completed, Some(result), _) => Some(TaskEnd::Result(result.clone())),
            (TaskStatus::Failed, _, Some(error)) => Some(TaskEnd::Error(error.clone())),
            (TaskStatus::Cancelled, ..) => Some(self.fault(|message| TaskFault::Cancelled { message })),
            (TaskStatus::Completed, ..) if source == Source::Get => {
                Some(self.fault(|message| TaskFault::NoResult { message }))
            }
            (TaskStatus::Failed, ..) if source == Source::Get => {
                Some(self.fault(|message| TaskFault::Failed { message }))
            }
            (TaskStatus::Completed | TaskStatus::Failed, ..) => {
                // A notification may leave out the result.
                if self.get != Schedule::Sent {
                    self.get = Schedule::At(now);
                }
                None
            }
            _ => None,
        }
    }

    /// In 2025-11-25, the result is requested by `tasks/result`.
    fn end_of_experimental(&mut self, now: Timestamp) -> Option<TaskEnd> {
        match self.status {
            TaskStatus::Cancelled => return Some(self.fault(|message| TaskFault::Cancelled { message })),
            TaskStatus::Completed | TaskStatus::Failed => {
                if self.get != Schedule::Sent {
                    self.get = Schedule::Never;
                }
                self.fetch_at(now);
            }
            // The server sends its requests for input while `tasks/result` waits.
            TaskStatus::InputRequired => self.fetch_at(now),
            _ => {}
        }
        None
    }

    /// Handles that the server took the inputs.
    pub(super) fn updated(&mut self, now: Timestamp) {
        self.failures = 0;
        self.drop_sent();
        self.update = if self.answers.is_empty() { Schedule::Never } else { Schedule::At(now) };
    }

    /// Handles that a request about the task failed. Returns how the task ended, if that ends it.
    pub(super) fn failed(&mut self, request: TaskRequest, error: CallError, now: Timestamp) -> Option<TaskEnd> {
        if let CallError::Server { error, .. } = &error {
            match request {
                TaskRequest::Get if error.code == RpcError::INVALID_PARAMS => {
                    return Some(TaskEnd::Fault(TaskFault::Unknown { error: error.clone() }));
                }
                TaskRequest::Get | TaskRequest::Update
                    if matches!(
                        error.code,
                        RpcError::METHOD_NOT_FOUND | RpcError::MISSING_REQUIRED_CLIENT_CAPABILITY
                    ) =>
                {
                    return Some(TaskEnd::Fault(TaskFault::Lost { error: Box::new(error_of(error, request)) }));
                }
                TaskRequest::Update => {
                    self.update_refused = Some(error.clone());
                    self.drop_sent();
                    self.update = if self.answers.is_empty() { Schedule::Never } else { Schedule::At(now) };
                    if self.get != Schedule::Sent {
                        self.get = Schedule::At(now);
                    }
                    return None;
                }
                // The server does not wait for the end, or the end has just come: the next status tells which.
                TaskRequest::Result if !self.status.is_final() => {
                    self.fetch = Schedule::Never;
                    if self.get != Schedule::Sent {
                        self.get = Schedule::At(now + self.interval);
                    }
                    return None;
                }
                _ => {}
            }
        }
        // A message that was too long would be too long again.
        let is_too_long =
            matches!(&error, CallError::Invalid { error, .. } if matches!(error.kind, PeerErrorKind::TooLong { .. }));
        self.failures += 1;
        if self.failures > MAX_FAILURES || is_too_long {
            return Some(TaskEnd::Fault(TaskFault::Lost { error: Box::new(error) }));
        }
        let later = self.interval.saturating_mul(1 << self.failures.min(16)).min(MAX_INTERVAL);
        self.again(request, now + later);
        None
    }

    /// Handles that a request cannot be sent at present: it is sent after the interval.
    pub(super) fn postpone(&mut self, request: TaskRequest, now: Timestamp) {
        self.again(request, now + self.interval);
    }

    fn again(&mut self, request: TaskRequest, at: Timestamp) {
        let schedule = match request {
            TaskRequest::Get => &mut self.get,
            TaskRequest::Result => &mut self.fetch,
            TaskRequest::Update => &mut self.update,
            TaskRequest::Cancel => return,
        };
        *schedule = Schedule::At(at);
    }

    /// Whether the last status was final: then an error of `tasks/result` is the error of the call.
    pub(super) fn is_final(&self) -> bool {
        self.status.is_final()
    }

    fn fetch_at(&mut self, now: Timestamp) {
        if self.fetch == Schedule::Never {
            self.fetch = Schedule::At(now);
        }
    }

    fn drop_sent(&mut self) {
        self.answers.drain(..self.sent);
        self.sent = 0;
    }

    fn fault(&self, fault: impl FnOnce(Option<String>) -> TaskFault) -> TaskEnd {
        TaskEnd::Fault(fault(self.message.clone()))
    }
}

fn error_of(error: &RpcError, request: TaskRequest) -> CallError {
    CallError::Server { method: request.method().into(), error: error.clone() }
}
