//! [`Tasks`]: calls of the tool `slow` that run as tasks, in the form of revision 2025-11-25 and of the tasks extension since
//! 2026-07-28.
//!
//! The status of a task is computed from the time, so tasks need no timers.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::output::waited;
use crate::pending::{Answer, Wait};
use crate::revision::{MISSING_CAPABILITY, Revision, client_capabilities};
use crate::rpc::{Failure, METHOD_NOT_FOUND, Params, random_id, required_text};

pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Time for which a task is stored after its creation. It is longer than any task runs.
const TTL: Duration = Duration::from_secs(2 * 3600);
/// Maximum number of stored tasks. A further task replaces the oldest one.
const MAX_TASKS: usize = 1_000;
const POLL_INTERVAL: Duration = Duration::from_millis(500);

pub(crate) const CANCELLED: &str = "The task was cancelled";

/// The tasks of all clients, by their ids. Clients need the unguessable id to access a task.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    all: HashMap<String, Task>,
    /// The date at which the server has started, as the time since the Unix epoch. It converts the server's time to dates.
    started: Duration,
}

#[derive(Debug)]
struct Task {
    created: Duration,
    length: Duration,
    /// The time at which a client cancelled the task. `None` if it was not cancelled.
    cancelled: Option<Duration>,
}

/// Returns whether a call is to run as a task: the client requests this for the call (2025-11-25), or declares the tasks
/// extension (2026-07-28).
pub(crate) fn is_wanted(revision: Revision, params: &Params) -> bool {
    match revision {
        Revision::V2026_07_28 => has_declared(params),
        Revision::V2025_11_25 => params.get("task").is_some_and(Value::is_object),
        _ => false,
    }
}

fn has_declared(params: &Params) -> bool {
    client_capabilities(params).and_then(|all| all.get("extensions")?.get(EXTENSION)).is_some_and(Value::is_object)
}

/// Returns the result of `tasks/result` for a task of this duration (2025-11-25).
pub(crate) fn result(id: &str, length: Duration, revision: Revision) -> Value {
    let mut result = waited(length).into_result(revision);
    result["_meta"] = json!({ "io.modelcontextprotocol/related-task": { "taskId": id } });
    result
}

impl Tasks {
    pub(crate) fn new(started: SystemTime) -> Self {
        Self { all: HashMap::new(), started: started.duration_since(UNIX_EPOCH).unwrap_or_default() }
    }

    /// Creates a task for a slow call. Returns the result of the call, which contains the id of the task.
    pub(crate) fn create(&mut self, revision: Revision, length: Duration, now: Duration) -> Value {
        self.all.retain(|_, task| task.is_kept(now));
        if self.all.len() >= MAX_TASKS {
            let oldest = self.all.iter().min_by_key(|(_, task)| task.created).map(|(id, _)| id.clone());
            oldest.and_then(|id| self.all.remove(&id));
        }
        let id = random_id();
        let task = Task { created: now, length, cancelled: None };
        let state = task.state(&id, revision, self.started, now);
        self.all.insert(id, task);
        if revision.is_modern() {
            let mut result = revision.complete(state);
            result["resultType"] = json!("task");
            result
        } else {
            json!({ "task": state })
        }
    }

    /// Returns the time that the task with this id runs, or `None` if there is no such task.
    pub(crate) fn length(&self, id: &str) -> Option<Duration> {
        self.all.get(id).map(|task| task.length)
    }

    /// Decides how to answer a request whose method begins with `tasks/`.
    pub(crate) fn request(
        &mut self,
        method: &str,
        revision: Revision,
        params: &Params,
        now: Duration,
    ) -> Result<Answer, Failure> {
        if revision.is_modern() && !has_declared(params) {
            let required = json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } });
            return Err(Failure::new(MISSING_CAPABILITY, "Missing required client capability").with_data(required));
        }
        let is_known = match method {
            "tasks/result" => revision == Revision::V2025_11_25,
            "tasks/update" => revision.is_modern(),
            _ => revision >= Revision::V2025_11_25,
        };
        if !is_known {
            return Err(Failure::new(METHOD_NOT_FOUND, format!("method not found: {method}")));
        }
        let id = required_text(params, "taskId")?;
        let Some(task) = self.all.get_mut(id).filter(|task| task.is_kept(now)) else {
            return Err(Failure::invalid_params("Failed to retrieve task: Task not found"));
        };
        match method {
            "tasks/get" => Ok(Answer::Now(revision.complete(task.state(id, revision, self.started, now)))),
            "tasks/result" => match task.status(now) {
                "cancelled" => Err(Failure::invalid_params(CANCELLED)),
                "completed" => Ok(Answer::Now(result(id, task.length, revision))),
                _ => Ok(Answer::Later(Wait::Task(id.to_owned(), task.created + task.length))),
            },
            "tasks/cancel" => {
                let status = task.status(now);
                if status != "working" && !revision.is_modern() {
                    let message = format!("Cannot cancel task: already in terminal status '{status}'");
                    return Err(Failure::invalid_params(message));
                }
                if status == "working" {
                    task.cancelled = Some(now);
                }
                let state = if revision.is_modern() { json!({}) } else { task.state(id, revision, self.started, now) };
                Ok(Answer::Now(revision.complete(state)))
            }
            // `tasks/update` provides input, and no task here requests input.
            _ => Ok(Answer::Now(revision.complete(json!({})))),
        }
    }
}

impl Task {
    fn is_kept(&self, now: Duration) -> bool {
        now < self.created + TTL
    }

    fn status(&self, now: Duration) -> &'static str {
        if self.cancelled.is_some() {
            "cancelled"
        } else if now < self.created + self.length {
            "working"
        } else {
            "completed"
        }
    }

    fn state(&self, id: &str, revision: Revision, started: Duration, now: Duration) -> Value {
        let status = self.status(now);
        let date = |at: Duration| Timestamp::try_from(UNIX_EPOCH + started + at).unwrap_or_default().to_string();
        let updated = match status {
            "completed" => self.created + self.length,
            _ => self.cancelled.unwrap_or(self.created),
        };
        let mut state = json!({
            "taskId": id,
            "status": status,
            "createdAt": date(self.created),
            "lastUpdatedAt": date(updated),
        });
        if status == "working" {
            let (done, total) = (now.saturating_sub(self.created).as_secs(), self.length.as_secs_f64());
            state["statusMessage"] = json!(format!("{done} of {total:.1} s"));
        }
        let (ttl, interval) = if revision.is_modern() { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
        state[ttl] = json!(TTL.as_millis());
        state[interval] = json!(POLL_INTERVAL.as_millis());
        if status == "completed" && revision.is_modern() {
            state["result"] = waited(self.length).into_result(revision);
        }
        state
    }
}
