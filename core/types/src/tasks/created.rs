//! The result of a call that may create a task: the task, of either task protocol, or the final result.

use alloc::boxed::Box;
use alloc::string::String;

use serde::{Serialize, Serializer};

use super::{Task, TaskHandle, TaskProtocol};
use crate::CallToolResult;
use mcpwire_text::json::from_json::{self, FromJson, Mismatch};
use mcpwire_text::json::read::{self, Reader};
use mcpwire_text::json::scan;
use mcpwire_text::json::{Extra, Json, JsonText};
use mcpwire_text::object;

/// Response to a request that the server runs as a task, such as `tools/call`. It contains the task instead of the
/// result of the request, which is available when the task is complete.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[doc(alias = "tools/call")]
pub struct CreateTaskResult {
    /// The created task, with its status at creation.
    pub task: Task,
    /// Task protocol that the server used to create the task: the experimental protocol or the tasks extension. It
    /// determines the JSON format of this response.
    pub form: TaskProtocol,
    /// Metadata that the server attached to the response (`_meta`; experimental task protocol of revision 2025-11-25).
    /// `None` if the server sent none.
    ///
    /// Always `None` in the tasks extension, where the metadata is in [`Task::meta`].
    pub meta: Option<Json>,
    /// Members of the response that this version of the library does not define.
    ///
    /// Always empty in the tasks extension, where [`Task::extra`] contains these members.
    pub extra: Extra,
}

object! {
    /// The JSON object of a [`CreateTaskResult`] in the experimental task protocol.
    pub struct WrappedTask("an object") {
        required task: Task = "task",
        optional meta: Json = "_meta",
    }
}

impl CreateTaskResult {
    /// Returns a preliminary result for the language model, which can continue with it while the task is running.
    /// Returns `None` if the server sent none.
    ///
    /// Specification of revision 2025-11-25: basic/utilities/tasks, "Creating Tasks".
    pub fn immediate_response(&self) -> Option<String> {
        let meta = self.meta.as_ref().or(self.task.meta.as_ref())?;
        from_json::from_str(meta.member_text("io.modelcontextprotocol/model-immediate-response")?)
    }

    /// Returns a handle to the task. A program can store the handle, and use it later to wait for the task over another
    /// connection.
    pub fn handle(&self) -> TaskHandle {
        let mut handle = TaskHandle::new(self.task.task_id.clone(), self.form);
        handle.update(&self.task);
        handle
    }
}

/// Returns the task protocol that the server used, if `result` contains a task, or `None` if it contains none. `result`
/// is the JSON text of the member `result` of a JSON-RPC response.
fn form_of(result: &[u8]) -> Option<TaskProtocol> {
    match scan::last_member(result, "resultType") {
        Some(value) => (scan::text(value).as_deref() == Some("task")).then_some(TaskProtocol::Extension),
        None if scan::member(result, "content").is_some() => None,
        None => {
            let task = scan::last_member(result, "task")?;
            task.starts_with(b"{").then_some(TaskProtocol::Experimental)
        }
    }
}

impl FromJson for CreateTaskResult {
    const EXPECTED: &'static str = "a task in place of a result";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let text = reader.raw()?;
        let read_task = |form| {
            let WrappedTask { task, meta, extra } = match form {
                TaskProtocol::Extension => WrappedTask { task: from_json::from_str(text)?, ..WrappedTask::default() },
                TaskProtocol::Experimental => from_json::from_str(text)?,
            };
            Some(CreateTaskResult { task, form, meta, extra })
        };
        let read = form_of(text.as_bytes()).and_then(read_task);
        Ok(read.ok_or_else(|| Mismatch::object("no task that can be read")))
    }
}

mcpwire_text::impl_deserialize!(CreateTaskResult);

impl Serialize for CreateTaskResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.form {
            TaskProtocol::Extension => self.task.serialize(serializer),
            TaskProtocol::Experimental => {
                let (task, meta, extra) = (self.task.clone(), self.meta.clone(), self.extra.clone());
                WrappedTask { task, meta, extra }.serialize(serializer)
            }
        }
    }
}

/// The outcome of a tool call that the server may run as a task: the result of the call, or the created task.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[doc(alias = "tools/call")]
pub enum CallToolOutcome {
    /// The server completed the tool call and returned this result.
    Done(CallToolResult),
    /// The server created a task for the tool call. The result of the call is available when the task is complete.
    Task(Box<CreateTaskResult>),
}

impl FromJson for CallToolOutcome {
    const EXPECTED: &'static str = "the result of a tool, or a task";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let text = reader.raw()?;
        let mut reader = Reader::new(text);
        Ok(match form_of(text.as_bytes()) {
            None => CallToolResult::from_json(&mut reader)?.map(CallToolOutcome::Done),
            Some(_) => CreateTaskResult::from_json(&mut reader)?.map(|task| CallToolOutcome::Task(task.into())),
        })
    }
}

mcpwire_text::impl_deserialize!(CallToolOutcome);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskStatus;

    fn read<T: serde::de::DeserializeOwned>(text: &str) -> T {
        Json::parse(text).unwrap().decode().unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    #[test]
    fn both_forms_are_recognised() {
        let flat: CallToolOutcome = read(r#"{"resultType":"task","taskId":"t","status":"working","ttlMs":null}"#);
        let CallToolOutcome::Task(flat) = flat else { panic!("{flat:?}") };
        assert_eq!((flat.form, &*flat.task.task_id, flat.task.ttl()), (TaskProtocol::Extension, "t", None));
        let wrapped: CallToolOutcome = read(
            r#"{"_meta":{"io.modelcontextprotocol/model-immediate-response":"wait"},"task":{"taskId":"t","status":"new","ttl":5,"pollInterval":7}}"#,
        );
        let CallToolOutcome::Task(wrapped) = wrapped else { panic!("{wrapped:?}") };
        assert_eq!((wrapped.form, wrapped.immediate_response().as_deref()), (TaskProtocol::Experimental, Some("wait")));
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
}
