//! [`Tasks`]: the calls that wait for a task. [`TaskCall`]: one of them. Also the parameters of requests about tasks, and the
//! detection of tasks in responses.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::polling::TaskPoller;
use crate::input_requests::{InputRequest, InputRequiredResult};
use crate::rpc::peer_error;
use crate::session::error::CallError;
use crate::session::handshake::ServerInfo;
use crate::session::link::Link;
use crate::session::request_options::{RequestOptions, TaskMode};
use crate::session::requests::{CallerRequest, Deadlines, Owner, TaskRequest, TaskUse};
use crate::session::ticket::RequestKey;
use crate::time::Timestamp;
use mcpwire_text::json::append::{push_number, push_raw, push_string};
use mcpwire_text::json::scan;
use mcpwire_types::{CallTool, Era, Method, Task, TaskProtocol, TaskStatus};

/// The calls that wait for a task.
#[derive(Debug, Default)]
pub(in crate::session) struct Tasks {
    /// The calls that wait for a task, by the key of the call.
    pub(super) calls: BTreeMap<RequestKey, TaskCall>,
}

impl Tasks {
    pub(in crate::session) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Returns whether the call with this key waits for a task.
    pub(in crate::session) fn is_followed(&self, key: RequestKey) -> bool {
        self.calls.contains_key(&key)
    }

    /// Returns when the next request about a task is due or a call times out, or `None` if no call waits for a task.
    pub(in crate::session) fn poll_timeout(&self) -> Option<Timestamp> {
        self.calls.values().map(TaskCall::wake).min()
    }

    /// Returns the key of the call that waits for a task and has the progress token `id`, or `None` if there is no such
    /// call.
    pub(in crate::session) fn progress(&self, id: u64) -> Option<RequestKey> {
        self.calls.iter().find(|(_, call)| call.progress_id == Some(id)).map(|(key, _)| *key)
    }
}

/// A call that ends when its task ends. Either the server responded to the call with the task, or the caller waits for
/// a task that an earlier call created.
#[derive(Debug)]
pub(super) struct TaskCall {
    pub(super) poller: TaskPoller,
    pub(super) method: Cow<'static, str>,
    /// Name of the called tool. `None` if the caller passed the handle of an existing task.
    pub(super) target: Option<String>,
    /// The progress token, with which the server also reports the progress of the task: the JSON-RPC id of the caller's
    /// request. `None` if the caller did not request progress notifications, or passed the handle of an existing task.
    pub(super) progress_id: Option<u64>,
    /// The names of the inputs that the session has reported to the embedder. An input is reported only once, even if
    /// later statuses of the task contain it.
    pub(super) inputs: Vec<String>,
    /// Whether the server created the task for this call. Otherwise the caller passed the
    /// [`TaskHandle`](mcpwire_types::TaskHandle) of an existing task: if the call is cancelled, that task continues, because
    /// the caller can use the handle again.
    pub(super) owns_task: bool,
    /// The deadlines of the call. They count from the start of the call, not from the creation of the task.
    pub(super) deadlines: Deadlines,
}

impl TaskCall {
    /// Creates the state of a call that waits for an existing task. `task` is the id of the task.
    pub(super) fn followed(task: String, form: TaskProtocol, deadlines: Deadlines, now: Timestamp) -> Self {
        TaskCall {
            poller: TaskPoller::new(task, form, now),
            method: Cow::Borrowed(CallTool::NAME),
            target: None,
            progress_id: None,
            inputs: Vec::new(),
            owns_task: false,
            deadlines,
        }
    }

    /// Creates the state of a caller's request to which the server responded with a task. `id` is the JSON-RPC id of
    /// the request, and `task` is the id of the task.
    pub(super) fn answered(caller: CallerRequest, id: u64, task: String, form: TaskProtocol, now: Timestamp) -> Self {
        TaskCall {
            target: caller.to_client_request().target,
            method: caller.method,
            progress_id: caller.wants_progress.then_some(id),
            owns_task: true,
            ..TaskCall::followed(task, form, caller.deadlines, now)
        }
    }

    pub(super) fn wake(&self) -> Timestamp {
        let total = self.deadlines.total;
        self.poller.next().map_or(total, |at| at.min(total))
    }

    /// Sends a request about the task, or schedules it for one polling interval later if the connection is not open or
    /// the transmit buffer is full. A `tasks/cancel` that cannot be sent now is dropped, because the call ends in any
    /// case.
    pub(super) fn send(&mut self, key: RequestKey, request: TaskRequest, link: &mut Link) {
        if link.check_open().is_err() {
            return self.poller.postpone(request, link.now);
        }
        let left = self.deadlines.total.duration_since(link.now);
        let (timeout, total) = match request {
            // The server responds only when the task has ended.
            TaskRequest::Result if !self.poller.is_final() => (left, left),
            TaskRequest::Cancel => (link.config.request_timeout, link.config.request_timeout),
            _ => (self.deadlines.timeout.min(left), left),
        };
        let poller = &self.poller;
        let params = |out: &mut Vec<u8>| {
            push_params(out, poller, request);
            Ok(())
        };
        let deadlines = Deadlines::new(link.now, timeout, total);
        let owner = Owner::Task { call: key, request, deadlines };
        // These parameters cannot fail to serialize.
        let _ = link.send(request.method(), &params, owner);
    }

    /// Returns the inputs that the task requires now: an empty list if it requires none, or `None` if its status does not
    /// list the inputs, as in revision 2025-11-25.
    ///
    /// # Errors
    /// Returns an error if the inputs in the status are malformed.
    pub(super) fn needed_inputs(&self, task: &Task) -> Result<Option<Vec<InputRequest>>, CallError> {
        match (&task.status, &task.input_requests) {
            // In revision 2025-11-25, servers send JSON-RPC requests instead.
            _ if self.poller.form == TaskProtocol::Experimental => Ok(None),
            (TaskStatus::InputRequired, None) => Ok(None),
            (TaskStatus::InputRequired, Some(inputs)) => {
                InputRequiredResult::inputs(inputs).map(Some).map_err(|what| malformed(what, "result.inputRequests"))
            }
            _ => Ok(Some(Vec::new())),
        }
    }
}

/// Creates the error for a malformed response to `tasks/get`. `at` is the path of the defect in the response, such as
/// `result.taskId`.
pub(super) fn malformed(what: String, at: &str) -> CallError {
    let error = peer_error::malformed(what, at);
    CallError::Invalid { method: TaskRequest::Get.method().into(), error: Arc::new(error) }
}

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
