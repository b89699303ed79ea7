//! The parameters of requests about tasks, and the detection of tasks in responses.

use alloc::vec::Vec;

use super::polling::TaskPoller;
use crate::session::link::Link;
use crate::session::request_options::{RequestOptions, TaskMode};
use crate::session::requests::{TaskRequest, TaskUse};
use crate::session::server_info::ServerInfo;
use mcpwire_text::json::append::{push_number, push_raw, push_string};
use mcpwire_text::json::scan;
use mcpwire_types::{CallTool, Era, Method};

/// Returns whether the server may respond with a task to a request of this method, and who polls the task.
pub(in crate::session) fn task_use(method: &str, options: &RequestOptions, link: &Link) -> TaskUse {
    let mode = options.task_mode();
    let is_declared = mode != TaskMode::Session || method.starts_with("tasks/");
    if method != CallTool::NAME {
        return if is_declared { TaskUse::Declared { requests_task: false } } else { TaskUse::None };
    }
    let is_modern = link.connection.is_era(Era::Modern);
    // Clients must not send the parameter `task` to servers that do not accept it ("Tool-Level Negotiation").
    let requests_task = mode != TaskMode::Session && link.connection.server().is_some_and(ServerInfo::takes_tasks);
    match mode {
        TaskMode::Session if is_modern && link.config.capabilities.has_tasks() => TaskUse::Followed { requests_task },
        TaskMode::Follow if is_modern || requests_task => TaskUse::Followed { requests_task },
        TaskMode::Session => TaskUse::None,
        TaskMode::Follow | TaskMode::Handle => TaskUse::Declared { requests_task },
    }
}

/// Adds the member `task` to a request's parameters, to ask the server to run the request as a task.
///
/// `out` must end with the parameters as a JSON object, which begins at the index `begin`. If they have a member `task` already,
/// it stays as it is: the caller has chosen its contents, and a key must not occur twice.
pub(in crate::session) fn push_task_param(out: &mut Vec<u8>, begin: usize, options: &RequestOptions) {
    let params = out.get(begin..).unwrap_or_default();
    if !params.ends_with(b"}") || scan::member(params, "task").is_some() {
        return;
    }
    out.pop();
    // A brace before the closing brace opens the same object, which then has no members.
    if !out.trim_ascii_end().ends_with(b"{") {
        out.push(b',');
    }
    out.extend_from_slice(b"\"task\":{");
    if let Some(ttl) = options.task_ttl {
        out.extend_from_slice(b"\"ttl\":");
        push_number(out, u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
    }
    out.extend_from_slice(b"}}");
}

/// Returns whether the response to a call contains a task of revision 2025-11-25, whose results have no `resultType`.
pub(in crate::session) fn is_experimental_task(message: &[u8]) -> bool {
    let result = scan::member(message, "result").unwrap_or_default();
    scan::last_member(result, "task").is_some_and(|task| task.starts_with(b"{"))
        && scan::members(result).all(|member| !member.is("content") && !member.is("resultType"))
}

/// Appends the parameters of a request about a task to `out`: the task id, and for `tasks/update` also the answers.
pub(super) fn push_params(out: &mut Vec<u8>, task: &TaskPoller, request: TaskRequest) {
    out.extend_from_slice(b"{\"taskId\":");
    push_string(out, &task.id);
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
