//! What requests say about tasks, and how an answer says that it is one.

use alloc::vec::Vec;

use super::polling::TaskPoller;
use crate::json::append::{push_number, push_raw, push_string};
use crate::json::scan;
use crate::method::{CallTool, Method};
use crate::rpc::result_type::{ResultType, result_type};
use crate::session::config::{RequestOptions, TaskMode};
use crate::session::context::Context;
use crate::session::requests::{TaskRequest, TaskUse};
use crate::types::tasks::form_of;
use crate::types::{Era, TaskForm};

/// Returns whether the answer to a request may be a task, and whether the request asks for one by the parameter `task`
/// (2025-11-25, "Task Parameters"), which only some servers take.
pub(super) fn task_use(
    method: &str,
    options: &RequestOptions,
    server_takes_calls: bool,
    context: &Context<'_>,
) -> (TaskUse, bool) {
    let is_declared = options.task_mode() != TaskMode::Session || method.starts_with("tasks/");
    if method != CallTool::NAME {
        return (if is_declared { TaskUse::Declared } else { TaskUse::None }, false);
    }
    let is_modern = context.connection.is_era(Era::Modern);
    // A server that does not say so must not be asked for a task ("Tool-Level Negotiation").
    let asks = options.task_mode() != TaskMode::Session && server_takes_calls;
    let follows = match options.task_mode() {
        TaskMode::Session => is_modern && context.config.capabilities.has_tasks(),
        TaskMode::Follow => is_modern || asks,
        TaskMode::Handle => false,
    };
    match (follows, is_declared) {
        (true, _) => (TaskUse::Followed, asks),
        (false, true) => (TaskUse::Declared, asks),
        (false, false) => (TaskUse::None, false),
    }
}

/// Adds the parameter `task` to the parameters of a call, which are an object with at least one member.
pub(in crate::session) fn push_task_param(out: &mut Vec<u8>, options: &RequestOptions) {
    if out.pop() != Some(b'}') {
        return;
    }
    out.extend_from_slice(b",\"task\":{");
    if let Some(ttl) = options.task_ttl {
        out.extend_from_slice(b"\"ttl\":");
        push_number(out, u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
    }
    out.extend_from_slice(b"}}");
}

/// Whether the answer to a call is a task of this form.
pub(super) fn is_task(message: &[u8], form: TaskForm) -> bool {
    match form {
        TaskForm::Extension => result_type(message) == ResultType::Task,
        TaskForm::Experimental => {
            let result = scan::members(message).find(|member| member.is("result"));
            result.and_then(|result| form_of(result.value)) == Some(TaskForm::Experimental)
        }
    }
}

/// Appends the parameters of a request about a task.
pub(super) fn push_params(out: &mut Vec<u8>, task: &TaskPoller, request: TaskRequest) {
    out.extend_from_slice(b"{\"taskId\":");
    push_string(out, task.id());
    if request == TaskRequest::Update {
        out.extend_from_slice(b",\"inputResponses\":{");
        for (at, answer) in task.answers().iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            push_raw(out, answer);
        }
        out.push(b'}');
    }
    out.push(b'}');
}
