//! [`TaskPoller`]: a state machine that polls one task. It decides when to send which request, and when the task has
//! ended.
//!
//! ```text
//!  status              extension                            2025-11-25
//!  ─────────────────── ──────────────────────────────────── ────────────────────────────────────────────
//!  working, unknown    tasks/get after the interval         tasks/get after the interval
//!  input_required      also tasks/update with the answers   also tasks/result, to which the server
//!                                                           responds when the task has ended
//!  completed, failed   ended: the status has the result     tasks/result: ended with its response
//!  cancelled           ended                                ended
//!  (a request fails)   the request is sent again after a growing delay; ended after MAX_FAILURES, or at once if
//!                      the server does not know the task
//! ```

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::rpc::{PeerErrorKind, RpcError};
use crate::session::error::{CallError, TaskError};
use crate::session::requests::TaskRequest;
use crate::time::Timestamp;
use mcpwire_text::json::Json;
use mcpwire_types::{Task, TaskProtocol, TaskStatus};

/// Minimum interval between two `tasks/get` requests for a task. 100 ms: a server that suggests an interval of zero
/// must not keep both sides busy.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Interval between two `tasks/get` requests if the server does not suggest one. 1 s is a short delay for a person,
/// and no load for a server.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum interval between two `tasks/get` requests. 5 min limits the delay of the result if the server suggests a
/// longer interval.
const MAX_INTERVAL: Duration = Duration::from_secs(300);

/// Number of consecutive failed requests about a task that the session tolerates. After the next failure, the session
/// stops polling the task. 5: at the default interval, the delays add up to about a minute, in which a server can
/// restart.
const MAX_FAILURES: u32 = 5;

/// The kind of message that contained a task status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The response to the `tools/call` that created the task.
    Call,
    /// The response to `tasks/get`.
    Get,
    /// A notification of the server.
    Notification,
}

pub(super) struct StatusUpdate {
    /// Whether the task has a new status or a new status message. Always `true` for the response that created the task.
    pub(super) has_changed: bool,
    /// How the task ended, or `None` if the task continues.
    pub(super) end: Option<TaskEnd>,
}

/// When to send a request of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Schedule {
    /// No request is scheduled.
    #[default]
    Never,
    /// The request is due at this time.
    At(Timestamp),
    /// The request was sent. Its response has not arrived.
    Sent,
}

/// How a task ended.
#[derive(Debug, PartialEq)]
pub(super) enum TaskEnd {
    /// The task completed with this result, which its status contains.
    Result(Json),
    /// The task failed with this JSON-RPC error, which its status contains.
    Error(Json),
    /// The task ended without a result or JSON-RPC error, or the session stopped polling the task. The call fails for
    /// this reason.
    Fault(TaskError),
}

/// The polling state of one task.
#[derive(Debug, Default)]
pub(super) struct TaskPoller {
    pub(super) id: String,
    pub(super) form: TaskProtocol,
    status: TaskStatus,
    message: Option<String>,
    interval: Duration,
    /// Number of requests about the task that have failed in succession. A status from `tasks/get` or an accepted
    /// `tasks/update` resets it to 0.
    failures: u32,
    /// When to send `tasks/get`, which requests the status of the task.
    get: Schedule,
    /// When to send `tasks/result`, which requests the result of the task. Only used with revision 2025-11-25.
    result: Schedule,
    /// When to send `tasks/update` with the embedder's answers. [`Schedule::Never`] if `answers` is empty.
    update: Schedule,
    /// The embedder's answers to inputs of the task that the server has neither accepted nor refused yet. Each is the
    /// JSON text of one object member, whose key is the name of the input.
    answers: Vec<Vec<u8>>,
    /// Number of `answers`, counted from the first, that the last `tasks/update` contains. 0 after the server has
    /// responded to it.
    sent: usize,
    /// The error with which the server refused the last `tasks/update`. If the next response to `tasks/get` says that
    /// the task still requires input, the task ends with this error.
    update_refused: Option<Arc<RpcError>>,
}

impl TaskPoller {
    /// Creates the state of a task whose first `tasks/get` is due at `now`.
    pub(super) fn new(id: String, form: TaskProtocol, now: Timestamp) -> Self {
        TaskPoller { id, form, interval: DEFAULT_INTERVAL, get: Schedule::At(now), ..TaskPoller::default() }
    }

    /// Returns when the next request is due, or `None` if no request is scheduled.
    pub(super) fn next(&self) -> Option<Timestamp> {
        let at = |schedule: Schedule| if let Schedule::At(at) = schedule { Some(at) } else { None };
        [at(self.get), at(self.result), at(self.update)].into_iter().flatten().min()
    }

    /// Returns the kind of a request about the task that must be sent now, and records the request as sent. Returns
    /// `None` if no request is due.
    pub(super) fn poll(&mut self, now: Timestamp) -> Option<TaskRequest> {
        let schedules = [
            (&mut self.update, TaskRequest::Update),
            (&mut self.result, TaskRequest::Result),
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

    /// Returns the answers for the `tasks/update` that [`Self::poll`] has just returned. Each is the JSON text of one
    /// object member, whose key is the name of the input.
    pub(super) fn answers(&self) -> &[Vec<u8>] {
        &self.answers[..self.sent]
    }

    /// Stores the embedder's answer to an input of the task, and schedules a `tasks/update` that contains it. `answer`
    /// is the JSON text of one object member, whose key is the name of the input.
    pub(super) fn answer(&mut self, answer: Vec<u8>, now: Timestamp) {
        self.answers.push(answer);
        if self.update == Schedule::Never {
            self.update = Schedule::At(now);
        }
    }

    /// Updates the polling state from `task`, a status that the server sent. Returns `None` if it is the status of
    /// another task.
    pub(super) fn status(&mut self, task: &Task, source: Source, now: Timestamp) -> Option<StatusUpdate> {
        if task.task_id != self.id {
            return None;
        }
        let has_changed = source == Source::Call || task.status != self.status || task.status_message != self.message;
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
            let end = Some(TaskEnd::Fault(TaskError::AnswersRefused { error }));
            return Some(StatusUpdate { has_changed, end });
        }
        let end = match self.form {
            TaskProtocol::Extension => self.end_of_extension(task, source, now),
            TaskProtocol::Experimental => self.end_of_experimental(now),
        };
        Some(StatusUpdate { has_changed, end })
    }

    /// Returns how a task of the tasks extension (from revision 2026-07-28) ended, or `None` if that is not known yet.
    ///
    /// The status of an ended task contains the result. If a notification omits the result, schedules a `tasks/get` to
    /// receive it.
    fn end_of_extension(&mut self, task: &Task, source: Source, now: Timestamp) -> Option<TaskEnd> {
        match (&self.status, &task.result, &task.error) {
            (TaskStatus::Completed, Some(result), _) => Some(TaskEnd::Result(result.clone())),
            (TaskStatus::Failed, _, Some(error)) => Some(TaskEnd::Error(error.clone())),
            (TaskStatus::Cancelled, ..) => Some(self.fault(|message| TaskError::Cancelled { message })),
            (TaskStatus::Completed, ..) if source == Source::Get => {
                Some(self.fault(|message| TaskError::NoResult { message }))
            }
            (TaskStatus::Failed, ..) if source == Source::Get => {
                Some(self.fault(|message| TaskError::Failed { message }))
            }
            (TaskStatus::Completed | TaskStatus::Failed, ..) => {
                // A notification may omit the result.
                self.schedule_get(now);
                None
            }
            _ => None,
        }
    }

    /// Returns how an experimental task (revision 2025-11-25) ended, or `None` if that is not known yet.
    ///
    /// If the task has completed or failed, schedules `tasks/result`, whose response contains the result or error.
    fn end_of_experimental(&mut self, now: Timestamp) -> Option<TaskEnd> {
        match self.status {
            TaskStatus::Cancelled => return Some(self.fault(|message| TaskError::Cancelled { message })),
            TaskStatus::Completed | TaskStatus::Failed => {
                if self.get != Schedule::Sent {
                    self.get = Schedule::Never;
                }
                self.schedule_result(now);
            }
            // The server sends its requests for input while `tasks/result` is pending.
            TaskStatus::InputRequired => self.schedule_result(now),
            _ => {}
        }
        None
    }

    /// Removes the answers that the server has accepted with its response to `tasks/update`.
    pub(super) fn updated(&mut self, now: Timestamp) {
        self.failures = 0;
        self.drop_sent(now);
    }

    /// Handles the failure of a request about the task. Returns how the task ended, or `None` if the session continues
    /// to poll the task.
    pub(super) fn failed(&mut self, request: TaskRequest, error: CallError, now: Timestamp) -> Option<TaskEnd> {
        // A response that exceeds the size limit would exceed it again.
        let mut is_lost =
            matches!(&error, CallError::Invalid { error, .. } if matches!(error.kind, PeerErrorKind::TooLong { .. }));
        if let CallError::Server { error, .. } = &error {
            match (request, error.code) {
                (TaskRequest::Get, RpcError::INVALID_PARAMS) => {
                    return Some(TaskEnd::Fault(TaskError::Unknown { error: error.clone() }));
                }
                (
                    TaskRequest::Get | TaskRequest::Update,
                    RpcError::METHOD_NOT_FOUND | RpcError::MISSING_REQUIRED_CLIENT_CAPABILITY,
                ) => is_lost = true,
                (TaskRequest::Update, _) => {
                    self.update_refused = Some(error.clone());
                    self.drop_sent(now);
                    self.schedule_get(now);
                    return None;
                }
                // The server does not respond before the task ends, or the task has just ended. The next status shows
                // which.
                (TaskRequest::Result, _) if !self.status.is_final() => {
                    self.result = Schedule::Never;
                    self.schedule_get(now + self.interval);
                    return None;
                }
                _ => {}
            }
        }
        self.failures += 1;
        if self.failures > MAX_FAILURES || is_lost {
            return Some(TaskEnd::Fault(TaskError::Lost { error: Arc::new(error) }));
        }
        let later = self.interval.saturating_mul(1 << self.failures.min(16)).min(MAX_INTERVAL);
        self.reschedule(request, now + later);
        None
    }

    pub(super) fn postpone(&mut self, request: TaskRequest, now: Timestamp) {
        self.reschedule(request, now + self.interval);
    }

    fn reschedule(&mut self, request: TaskRequest, at: Timestamp) {
        let schedule = match request {
            TaskRequest::Get => &mut self.get,
            TaskRequest::Result => &mut self.result,
            TaskRequest::Update => &mut self.update,
            TaskRequest::Cancel => return,
        };
        *schedule = Schedule::At(at);
    }

    pub(super) fn is_final(&self) -> bool {
        self.status.is_final()
    }

    fn schedule_result(&mut self, now: Timestamp) {
        if self.result == Schedule::Never {
            self.result = Schedule::At(now);
        }
    }

    /// Schedules `tasks/get`, unless its response is pending.
    fn schedule_get(&mut self, at: Timestamp) {
        if self.get != Schedule::Sent {
            self.get = Schedule::At(at);
        }
    }

    /// Removes the answers to which the server has responded, and schedules a `tasks/update` with those that were added
    /// since.
    fn drop_sent(&mut self, now: Timestamp) {
        self.answers.drain(..self.sent);
        self.sent = 0;
        self.update = if self.answers.is_empty() { Schedule::Never } else { Schedule::At(now) };
    }

    fn fault(&self, fault: impl FnOnce(Option<String>) -> TaskError) -> TaskEnd {
        TaskEnd::Fault(fault(self.message.clone()))
    }
}
