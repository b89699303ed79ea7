//! Tasks: calls that go on after their answer, in both forms that the protocol has had.
//!
//! | | 2025-11-25, basic/utilities/tasks (experimental) | from 2026-07-28, the extension `io.modelcontextprotocol/tasks` |
//! |---|---|---|
//! | who decides | the client, with `params.task`, where server and tool allow it | the server, for each call, where the client has declared the extension |
//! | what it answers | `{"task": {..}}` | the task itself, `resultType: "task"` |
//! | the result | `tasks/result`, which waits | within `tasks/get` |
//! | input | requests of the server's, while `tasks/result` waits | `inputRequests` within `tasks/get`, answered by `tasks/update` |
//! | more | `tasks/cancel` gives the task, `tasks/list` | `tasks/cancel` gives nothing |
//! | told unasked | `notifications/tasks/status` | `notifications/tasks`, with the result |

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::lenient::{self, Hoped, Lenient, Mismatch};
use super::object::object;
use super::{CallToolResult, Extra, Listed};
use crate::json::Json;
use crate::json::read::{self, Reader};
use crate::json::scan;

/// The name of the extension (2026-07-28, extensions/tasks).
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident { $( $(#[$variant_meta:meta])* $Variant:ident = $text:literal, )* }
    ) => {
        $(#[$meta])*
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$variant_meta])* $Variant, )*
            /// One that the specification does not have.
            Other(String),
        }

        impl $Name {
            /// As it stands on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( $Name::$Variant => $text, )*
                    $Name::Other(name) => name,
                }
            }
        }

        impl From<String> for $Name {
            fn from(name: String) -> $Name {
                match &*name {
                    $( $text => $Name::$Variant, )*
                    _ => $Name::Other(name),
                }
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", crate::printable(self.as_str()))
            }
        }

        impl Lenient for $Name {
            const EXPECTED: &'static str = "a string";

            fn lenient(reader: &mut Reader<'_>) -> read::Result<Hoped<Self>> {
                Ok(String::lenient(reader)?.map($Name::from))
            }
        }

        impl<'de> Deserialize<'de> for $Name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map($Name::from)
            }
        }

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

open_enum! {
    /// How a task stands. An unknown status is taken for one of a task that goes on.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub enum TaskStatus {
        /// It goes on.
        #[default]
        Working = "working",
        /// It waits for input of the client's.
        InputRequired = "input_required",
        /// It has its result.
        Completed = "completed",
        /// It has failed: in the extension with an error of JSON-RPC only, in 2025-11-25 also with a tool's own error.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether it stays so for ever.
    pub fn is_final(&self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled)
    }
}

open_enum! {
    /// Whether a tool may be called as a task (2025-11-25, basic/utilities/tasks, "Tool-Level Negotiation").
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub enum TaskSupport {
        /// It may not.
        #[default]
        Forbidden = "forbidden",
        /// It may.
        Optional = "optional",
        /// It cannot be called in any other way.
        Required = "required",
    }
}

impl TaskSupport {
    /// Whether it may.
    pub fn allows(&self) -> bool {
        matches!(self, TaskSupport::Optional | TaskSupport::Required)
    }
}

/// Which of the protocol's two forms a task has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TaskForm {
    /// That of 2025-11-25.
    Experimental,
    /// That of the extension, from 2026-07-28 on.
    #[default]
    Extension,
}

object! {
    /// How a task stands: the answer to `tasks/get`, and what servers tell of tasks unasked. (`Task`, `GetTaskResult` and
    /// `TaskStatusNotificationParams` of 2025-11-25, `DetailedTask` and all of its variants of the extension.)
    pub struct Task("a task", finish check) {
        /// Its name, which the server has given it. Whoever knows it may be able to get at the task.
        required task_id: String = "taskId",
        /// How it stands.
        or_blank status: TaskStatus = "status",
        /// What it does at present, or how it ended, in words.
        optional status_message: String = "statusMessage",
        /// When it was created, as ISO 8601 has it.
        optional created_at: String = "createdAt",
        /// When its status was last changed.
        optional last_updated_at: String = "lastUpdatedAt",
        /// For how many milliseconds from its creation on the server keeps it; absent if it does not say, or for ever.
        optional ttl_ms: u64 = "ttlMs",
        /// The same, under its name in 2025-11-25. [`Task::ttl`] looks at both.
        optional ttl: u64 = "ttl",
        /// After how many milliseconds it may be asked for again.
        optional poll_interval_ms: u64 = "pollIntervalMs",
        /// The same, under its name in 2025-11-25. [`Task::poll_interval`] looks at both.
        optional poll_interval: u64 = "pollInterval",
        /// What the server asks before it goes on, by names that are answered once each (extension).
        optional input_requests: Json = "inputRequests",
        /// What the call would have answered (extension, `completed`).
        optional result: Json = "result",
        /// The error that it would have answered with (extension, `failed`).
        optional error: Json = "error",
        /// `complete`, or `task` where it answers a call.
        optional result_type: String = "resultType",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

fn check(task: Task) -> Result<Task, Mismatch> {
    if task.task_id.is_empty() {
        return Err(Mismatch::Object { reason: "`taskId` is empty".into(), name: None });
    }
    Ok(task)
}

impl Task {
    /// For how long from its creation on the server keeps it; `None` if it does not say, or for ever.
    pub fn ttl(&self) -> Option<Duration> {
        self.ttl_ms.or(self.ttl).map(Duration::from_millis)
    }

    /// After how long it may be asked for again, as the server wishes.
    pub fn poll_interval(&self) -> Option<Duration> {
        self.poll_interval_ms.or(self.poll_interval).map(Duration::from_millis)
    }
}

/// A task in place of a result (`CreateTaskResult`).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task as it stands at its creation.
    pub task: Task,
    /// In which form the server answered.
    pub form: TaskForm,
    /// Metadata of the answer (2025-11-25; in the extension, answer and task are one).
    pub meta: Option<Json>,
    /// Members of the answer that this version of the library does not know.
    pub extra: Extra,
}

impl CreateTaskResult {
    /// What a language model may be told at once in place of the result, where the server says it (2025-11-25,
    /// basic/utilities/tasks, "Creating Tasks").
    pub fn immediate_response(&self) -> Option<String> {
        let meta = self.meta.as_ref().or(self.task.meta.as_ref())?;
        meta.member("io.modelcontextprotocol/model-immediate-response")
    }

    /// What is to be kept of it, to take the task up again in another connection.
    pub fn handle(&self) -> TaskHandle {
        let mut handle = TaskHandle::new(self.task.task_id.clone(), self.form);
        handle.update(&self.task);
        handle
    }

    fn read(text: &str, form: TaskForm) -> Option<Self> {
        Some(match form {
            TaskForm::Extension => {
                CreateTaskResult { task: lenient::from_str(text)?, form, ..CreateTaskResult::default() }
            }
            TaskForm::Experimental => {
                let (mut task, mut meta, mut extra) = (None, None, Extra::default());
                let members = Reader::new(text).members(&mut |name, reader| match name {
                    "task" => lenient::member(&mut task, reader),
                    "_meta" => lenient::member(&mut meta, reader),
                    _ => extra.keep(name, reader),
                });
                members.ok()?;
                CreateTaskResult { task: task?, form, meta, extra }
            }
        })
    }
}

/// In which form a result is a task in place of what was asked for, if it is one. Looks no further than it has to.
pub(crate) fn form_of(result: &[u8]) -> Option<TaskForm> {
    for member in scan::members(result) {
        if member.is("resultType") {
            return (member.value == b"\"task\"").then_some(TaskForm::Extension);
        } else if member.is("content") {
            return None;
        } else if member.is("task") && member.value.starts_with(b"{") {
            return Some(TaskForm::Experimental);
        }
    }
    None
}

impl Lenient for CreateTaskResult {
    const EXPECTED: &'static str = "a task in place of a result";

    fn lenient(reader: &mut Reader<'_>) -> read::Result<Hoped<Self>> {
        let text = reader.raw()?;
        let read = form_of(text.as_bytes()).and_then(|form| CreateTaskResult::read(text, form));
        Ok(read.ok_or_else(|| Mismatch::Object { reason: "no task that can be read".into(), name: None }))
    }
}

impl<'de> Deserialize<'de> for CreateTaskResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient::deserialize(deserializer)
    }
}

impl Serialize for CreateTaskResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.form {
            TaskForm::Extension => self.task.serialize(serializer),
            TaskForm::Experimental => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("task", &self.task)?;
                if let Some(meta) = &self.meta {
                    map.serialize_entry("_meta", meta)?;
                }
                for (name, value) in self.extra.iter() {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

/// What comes of a call that may become a task: the result if the server had it at once, or the task.
#[derive(Clone, Debug, PartialEq)]
pub enum CallToolOutcome {
    /// The result.
    Done(CallToolResult),
    /// A task, which is to be asked for it.
    Task(Box<CreateTaskResult>),
}

impl Lenient for CallToolOutcome {
    const EXPECTED: &'static str = "the result of a tool, or a task";

    fn lenient(reader: &mut Reader<'_>) -> read::Result<Hoped<Self>> {
        let text = reader.raw()?;
        let Some(form) = form_of(text.as_bytes()) else {
            let result = CallToolResult::lenient(&mut Reader::new(text))?;
            return Ok(result.map(CallToolOutcome::Done));
        };
        let read = CreateTaskResult::read(text, form).map(|task| CallToolOutcome::Task(task.into()));
        Ok(read.ok_or_else(|| Mismatch::Object { reason: "no task that can be read".into(), name: None }))
    }
}

impl<'de> Deserialize<'de> for CallToolOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        lenient::deserialize(deserializer)
    }
}

/// What is to be kept of a task: enough to take it up again in another connection, after a restart, by another program.
///
/// It is plain data in the eyes of serde, in any format:
///
/// ```
/// use mcpwire_core::{TaskForm, TaskHandle};
///
/// let handle = TaskHandle::new("786512e2", TaskForm::Extension);
/// let stored = serde_json::to_string(&handle)?;
/// assert_eq!(serde_json::from_str::<TaskHandle>(&stored)?, handle);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskHandle {
    /// Its name, which the server has given it. Whoever knows it may be able to get at the task.
    pub task_id: String,
    /// The form that it was created in.
    #[serde(default)]
    pub form: TaskForm,
    /// How it stood when it was last looked at.
    #[serde(default)]
    pub status: TaskStatus,
    /// When it was created, as the server wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// For how many milliseconds from then on the server keeps it; absent if it did not say, or for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// After how many milliseconds it may be asked for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
}

impl TaskHandle {
    /// The handle of a task of which no more than its name is known.
    pub fn new(task_id: impl Into<String>, form: TaskForm) -> Self {
        TaskHandle {
            task_id: task_id.into(),
            form,
            status: TaskStatus::Working,
            created_at: None,
            ttl_ms: None,
            poll_interval_ms: None,
        }
    }

    /// Takes in how the task stands.
    pub fn update(&mut self, task: &Task) {
        self.status = task.status.clone();
        self.created_at = task.created_at.clone().or(self.created_at.take());
        self.ttl_ms = task.ttl_ms.or(task.ttl);
        self.poll_interval_ms = task.poll_interval_ms.or(task.poll_interval);
    }
}

/// Parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskParams<'a> {
    /// Which task.
    pub task_id: &'a str,
}

/// Parameters of `tasks/update` (extension, "Task Update Requests").
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateTaskParams<'a> {
    /// Which task.
    pub task_id: &'a str,
    /// Answers by the names of [`Task::input_requests`]: an object. It may answer some of them only.
    pub input_responses: &'a Json,
}

object! {
    /// Result of `tasks/cancel`: in 2025-11-25 the task as it stands then, in the extension nothing, as the server may take
    /// its time, or finish the task all the same.
    pub struct CancelTaskResult("an object") {
        /// Its name (2025-11-25).
        optional task_id: String = "taskId",
        /// How it stands (2025-11-25).
        optional status: TaskStatus = "status",
        /// How it ended, in words (2025-11-25).
        optional status_message: String = "statusMessage",
        /// When it was created, as ISO 8601 has it (2025-11-25).
        optional created_at: String = "createdAt",
        /// When its status was last changed (2025-11-25).
        optional last_updated_at: String = "lastUpdatedAt",
        /// For how many milliseconds from its creation on the server keeps it (2025-11-25).
        optional ttl: u64 = "ttl",
        /// After how many milliseconds it may be asked for again (2025-11-25).
        optional poll_interval: u64 = "pollInterval",
        /// `complete`.
        optional result_type: String = "resultType",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// One page of the tasks that a server has for this client (2025-11-25, `ListTasksResult`).
    pub struct ListTasksResult("an object") {
        /// The tasks.
        or_blank tasks: Listed<Task> = "tasks",
        /// Where the next page starts; absent on the last one.
        optional next_cursor: String = "nextCursor",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// What a side says of tasks in 2025-11-25 (basic/utilities/tasks, "Capabilities"). The members are open objects.
    pub struct TasksCapability("an object of capabilities") {
        /// Its tasks can be listed.
        optional list: Json = "list",
        /// Its tasks can be cancelled.
        optional cancel: Json = "cancel",
        /// Which requests to it may become tasks, by the parts of their method: `{"tools":{"call":{}}}`.
        optional requests: Json = "requests",
    }
}

impl TasksCapability {
    /// Whether requests of this method may become tasks, such as `tools/call`.
    pub fn covers(&self, method: &str) -> bool {
        let mut at = self.requests.clone();
        for part in method.split('/') {
            at = at.and_then(|json| json.member::<Json>(part)).filter(|json| json.get() != "null");
        }
        at.is_some()
    }
}

object! {
    /// How a tool is to be called (2025-11-25, `ToolExecution`).
    pub struct ToolExecution("an object") {
        /// Whether it may be called as a task.
        optional task_support: TaskSupport = "taskSupport",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: for<'de> Deserialize<'de>>(text: &str) -> T {
        Json::parse(text).unwrap().decode().unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    #[test]
    fn both_forms_are_recognised() {
        let flat: CallToolOutcome = read(r#"{"resultType":"task","taskId":"t","status":"working","ttlMs":null}"#);
        let CallToolOutcome::Task(flat) = flat else { panic!("{flat:?}") };
        assert_eq!((flat.form, &*flat.task.task_id, flat.task.ttl()), (TaskForm::Extension, "t", None));
        let wrapped: CallToolOutcome = read(
            r#"{"_meta":{"io.modelcontextprotocol/model-immediate-response":"wait"},"task":{"taskId":"t","status":"new","ttl":5,"pollInterval":7}}"#,
        );
        let CallToolOutcome::Task(wrapped) = wrapped else { panic!("{wrapped:?}") };
        assert_eq!((wrapped.form, wrapped.immediate_response().as_deref()), (TaskForm::Experimental, Some("wait")));
        assert_eq!(wrapped.task.status, TaskStatus::Other("new".into()));
        assert_eq!(wrapped.handle().poll_interval_ms, Some(7));
    }

    #[test]
    fn a_result_is_no_task() {
        for text in [
            r#"{"content":[],"task":{"taskId":"t"}}"#,
            r#"{"task":"t","content":[]}"#,
            r#"{"resultType":"complete","content":[]}"#,
            r#"{"structuredContent":{"task":{}}}"#,
            "{}",
        ] {
            assert!(matches!(read(text), CallToolOutcome::Done(_)), "{text}");
        }
        for text in [r#"{"resultType":"task"}"#, r#"{"task":{}}"#, r#"{"resultType":"task","taskId":""}"#] {
            assert!(Json::parse(text).unwrap().decode::<CallToolOutcome>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_may_become_a_task_is_said_in_parts() {
        let tasks: TasksCapability = read(r#"{"requests":{"tools":{"call":{},"list":null}}}"#);
        assert!(tasks.covers("tools/call"));
        for method in ["tools/list", "tools", "tools/call/x", "prompts/get", ""] {
            assert_eq!(tasks.covers(method), method == "tools", "{method}");
        }
    }

    #[test]
    fn a_handle_of_a_later_version_can_be_read() {
        let handle: TaskHandle = serde_json::from_str(r#"{"taskId":"t","status":"paused","more":1}"#).unwrap();
        assert_eq!((handle.form, handle.status), (TaskForm::Extension, TaskStatus::Other("paused".into())));
    }
}
