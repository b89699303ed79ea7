//! Slow calls that have become tasks: in the form of 2025-11-25, and in that of the extension from 2026-07-28 on.
//!
//! How a task stands follows from the time, so no task has a thread; only a client of 2025-11-25 that waits for a result has
//! one, until the result is there.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::outbox::Outbox;
use super::revision::{MISSING_CAPABILITY, Revision};
use super::slow::waited;
use super::{Answer, Failure, INVALID_PARAMS, METHOD_NOT_FOUND};

pub(super) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// How long a task is kept after its creation. The longest of them is over long before.
const KEPT: Duration = Duration::from_secs(2 * 3600);
/// More than these are not kept: then the call is answered as any other.
const MOST: usize = 1_000;
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The tasks of those who share a server, by their ids.
#[derive(Default)]
pub(super) struct Tasks {
    all: HashMap<String, Task>,
}

struct Task {
    begun: Instant,
    created: String,
    length: Duration,
    /// When it was cancelled.
    cancelled: Option<String>,
    /// Those who wait for its result; dropped when it is cancelled.
    waiting: Vec<mpsc::Sender<()>>,
}

/// Whether a call wants to become a task: the client asks for it, or says that it understands it.
pub(super) fn is_wanted(revision: Revision, params: &Map<String, Value>) -> bool {
    match revision {
        Revision::V2026_07_28 => has_declared(params),
        Revision::V2025_11_25 => params.get("task").is_some_and(Value::is_object),
        _ => false,
    }
}

fn has_declared(params: &Map<String, Value>) -> bool {
    let capabilities = params.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/clientCapabilities"));
    capabilities.and_then(|all| all.get("extensions")?.get(EXTENSION)).is_some_and(Value::is_object)
}

impl Tasks {
    /// Makes a task, and gives the answer to its call.
    pub(super) fn create(&mut self, revision: Revision, length: Duration) -> Value {
        self.all.retain(|_, task| task.begun.elapsed() < KEPT);
        if self.all.len() >= MOST {
            let oldest = self.all.iter().min_by_key(|(_, task)| task.begun).map(|(id, _)| id.clone());
            oldest.and_then(|id| self.all.remove(&id));
        }
        let id = random_id();
        let created = jiff::Timestamp::now().to_string();
        let task = Task { begun: Instant::now(), created, length, cancelled: None, waiting: Vec::new() };
        let state = task.state(&id, revision);
        self.all.insert(id, task);
        if revision.is_modern() {
            let mut result = revision.complete(state);
            result["resultType"] = json!("task");
            result
        } else {
            json!({ "task": state })
        }
    }

    pub(super) fn request(
        &mut self,
        method: &str,
        revision: Revision,
        params: &Map<String, Value>,
        id: &Value,
        outbox: &Outbox,
    ) -> Result<Answer, Failure> {
        if revision.is_modern() && !has_declared(params) {
            let required = json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } });
            return Err(Failure::new(MISSING_CAPABILITY, "Missing required client capability").with_data(required));
        }
        let known = match method {
            "tasks/result" => revision == Revision::V2025_11_25,
            "tasks/update" => revision.is_modern(),
            _ => revision >= Revision::V2025_11_25,
        };
        if !known {
            return Err(Failure::new(METHOD_NOT_FOUND, format!("method not found: {method}")));
        }
        let name = params
            .get("taskId")
            .and_then(Value::as_str)
            .ok_or_else(|| Failure::new(INVALID_PARAMS, "taskId must be a string"))?;
        let Some(task) = self.all.get_mut(name).filter(|task| task.begun.elapsed() < KEPT) else {
            return Err(Failure::new(INVALID_PARAMS, "Failed to retrieve task: Task not found"));
        };
        match method {
            "tasks/get" => Ok(Answer::Now(revision.complete(task.state(name, revision)))),
            "tasks/result" => task.result(name, revision, id, outbox),
            "tasks/cancel" => {
                let is_over = task.status() != "working";
                if is_over && !revision.is_modern() {
                    let message = format!("Cannot cancel task: already in terminal status '{}'", task.status());
                    return Err(Failure::new(INVALID_PARAMS, message));
                }
                if !is_over {
                    task.cancelled = Some(jiff::Timestamp::now().to_string());
                    task.waiting.clear();
                }
                let state = if revision.is_modern() { json!({}) } else { task.state(name, revision) };
                Ok(Answer::Now(revision.complete(state)))
            }
            // No task here asks anything, so there is nothing to be answered.
            _ => Ok(Answer::Now(revision.complete(json!({})))),
        }
    }
}

impl Task {
    fn status(&self) -> &'static str {
        if self.cancelled.is_some() {
            "cancelled"
        } else if self.begun.elapsed() < self.length {
            "working"
        } else {
            "completed"
        }
    }

    fn state(&self, id: &str, revision: Revision) -> Value {
        let status = self.status();
        let updated = self.cancelled.as_ref().unwrap_or(&self.created);
        let mut state = json!({
            "taskId": id,
            "status": status,
            "createdAt": self.created,
            "lastUpdatedAt": updated,
        });
        if status == "working" {
            let (done, total) = (self.begun.elapsed().as_secs(), self.length.as_secs_f64());
            state["statusMessage"] = json!(format!("{done} of {total:.1} s"));
        }
        let (ttl, interval) = if revision.is_modern() { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
        state[ttl] = json!(KEPT.as_millis());
        state[interval] = json!(POLL_INTERVAL.as_millis());
        if status == "completed" && revision.is_modern() {
            state["result"] = waited(self.length).into_result(revision);
        }
        state
    }

    /// Answers when the task is over (2025-11-25).
    fn result(&mut self, name: &str, revision: Revision, id: &Value, outbox: &Outbox) -> Result<Answer, Failure> {
        let mut result = waited(self.length).into_result(revision);
        result["_meta"] = json!({ "io.modelcontextprotocol/related-task": { "taskId": name } });
        match self.status() {
            "completed" => return Ok(Answer::Now(result)),
            "cancelled" => return Err(Failure::new(INVALID_PARAMS, WAS_CANCELLED)),
            _ => {}
        }
        let (waits, cancelled) = mpsc::channel();
        self.waiting.push(waits);
        let left = self.length.saturating_sub(self.begun.elapsed());
        let (id, outbox) = (id.clone(), outbox.clone());
        thread::spawn(move || {
            // A client that is gone ends the server through its input.
            let _ = match cancelled.recv_timeout(left) {
                Err(RecvTimeoutError::Timeout) => outbox.result(&id, &result),
                _ => outbox.error(&id, INVALID_PARAMS, WAS_CANCELLED, None),
            };
        });
        Ok(Answer::Later)
    }
}

const WAS_CANCELLED: &str = "The task was cancelled";

/// A name that nobody guesses: 128 bits of the randomness that the standard library has for its hash tables.
pub(super) fn random_id() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}
