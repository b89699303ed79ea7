//! [`TaskCall`]: a call that waits for the end of its task.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::inputs::{self, Inputs};
use super::params;
use super::polling::TaskPoller;
use crate::input_requests::InputRequest;
use crate::rpc::{RequestFault, Response, decode, peer_error};
use crate::session::error::{CallError, InputError};
use crate::session::event::{self, ClientRequest};
use crate::session::link::Link;
use crate::session::request_keys::RequestKey;
use crate::session::requests::{CallerRequest, Deadlines, Owner, TaskRequest};
use crate::session::server_requests::ServerRequests;
use crate::time::Timestamp;
use mcpwire_types::{CallTool, Method};
use mcpwire_types::{Task, TaskProtocol};

/// A call that ends when its task ends. Either the server responded to the call with the task, or the caller waits for
/// a task that an earlier call created.
#[derive(Debug)]
pub(super) struct TaskCall {
    pub(super) poller: TaskPoller,
    method: Cow<'static, str>,
    /// Name of the called tool. `None` if the caller passed the handle of an existing task.
    target: Option<String>,
    /// The progress token, with which the server also reports the progress of the task: the JSON-RPC id of the caller's
    /// request. `None` if the caller did not request progress notifications, or passed the handle of an existing task.
    progress_id: Option<u64>,
    inputs: Inputs,
    origin: Origin,
    deadlines: Deadlines,
    /// JSON-RPC ids of the pending requests about the task, except `tasks/cancel`.
    requests: Vec<u64>,
}

/// How the caller got to know the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The server responded to the caller's request with a new task.
    Call,
    /// The caller passed the [`TaskHandle`](mcpwire_types::TaskHandle) of an existing task. If the call is cancelled,
    /// the task continues, because the caller can use the handle again.
    Handle,
}

/// The content of a response to a request about a task.
pub(super) enum Answer {
    Status(Task),
    /// The raw JSON-RPC response to `tasks/result`. The caller receives it as the response to the tool call.
    OfCall(Vec<u8>),
    /// The server accepted a `tasks/update`. Also stands for every response to a `tasks/cancel`, because the session
    /// ignores it.
    Accepted,
    Failed(CallError),
}

impl TaskCall {
    /// Creates the state of a call that waits for an existing task. `task` is the id of the task.
    pub(super) fn followed(task: String, form: TaskProtocol, deadlines: Deadlines, now: Timestamp) -> Self {
        TaskCall {
            poller: TaskPoller::new(task, form, now),
            method: Cow::Borrowed(CallTool::NAME),
            target: None,
            progress_id: None,
            inputs: Inputs::default(),
            origin: Origin::Handle,
            deadlines,
            requests: Vec::new(),
        }
    }

    /// Creates the state of a caller's request to which the server responded with a task. `id` is the JSON-RPC id of
    /// the request, and `task` is the id of the task.
    pub(super) fn answered(caller: CallerRequest, id: u64, task: String, form: TaskProtocol, now: Timestamp) -> Self {
        TaskCall {
            poller: TaskPoller::new(task, form, now),
            target: caller.retry.as_ref().and_then(|retry| event::target(&caller.method, retry.params())),
            method: caller.method,
            progress_id: caller.wants_progress.then_some(id),
            inputs: Inputs::default(),
            origin: Origin::Call,
            deadlines: caller.deadlines,
            requests: Vec::new(),
        }
    }

    /// Returns the method of the call, such as `tools/call`.
    pub(super) fn method(&self) -> Cow<'static, str> {
        self.method.clone()
    }

    /// Returns the progress token of the call, or `None` if the caller did not request progress notifications.
    pub(super) fn progress_id(&self) -> Option<u64> {
        self.progress_id
    }

    /// Returns the deadlines of the call. They count from the start of the call, not from the creation of the task.
    pub(super) fn deadlines(&self) -> &Deadlines {
        &self.deadlines
    }

    pub(super) fn wake(&self) -> Timestamp {
        let total = self.deadlines.total;
        self.poller.next().map_or(total, |at| at.min(total))
    }

    pub(super) fn owns_task(&self) -> bool {
        self.origin == Origin::Call
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
            params::push_params(out, poller, request);
            Ok(())
        };
        let deadlines = Deadlines::new(link.now, timeout, total);
        let owner = Owner::Task { call: key, request, deadlines };
        // These parameters cannot fail to serialize.
        let Ok(id) = link.send(request.method(), &params, owner) else { return };
        if request != TaskRequest::Cancel {
            self.requests.push(id);
        }
    }

    pub(super) fn request_ended(&mut self, id: u64) {
        self.requests.retain(|sent| *sent != id);
    }

    /// Decodes the server's response to a request about the task. `request` is the kind of the request.
    pub(super) fn receive(
        &mut self,
        request: TaskRequest,
        response: Response,
        message: Vec<u8>,
        now: Timestamp,
    ) -> Answer {
        self.request_ended(response.id);
        let failed = |fault: RequestFault| Answer::Failed(fault.into_call_error(request.method().into()));
        match request {
            TaskRequest::Get => match decode::answer::<Task>(&message, response) {
                Ok(task) => Answer::Status(task),
                Err(fault) => failed(fault),
            },
            TaskRequest::Result => match decode::answer_skipped(&message, response) {
                // A result or an error, the same as in the response to a call without a task ("Result Retrieval").
                Ok(()) => Answer::OfCall(message),
                Err(RequestFault::Server(_)) if self.poller.is_final() => Answer::OfCall(message),
                Err(fault) => failed(fault),
            },
            TaskRequest::Update => match decode::answer_skipped(&message, response) {
                Ok(()) => {
                    self.poller.updated(now);
                    Answer::Accepted
                }
                Err(fault) => failed(fault),
            },
            TaskRequest::Cancel => Answer::Accepted,
        }
    }

    pub(super) fn request_inputs(
        &mut self,
        key: RequestKey,
        needed: Vec<InputRequest>,
        server_requests: &mut ServerRequests,
        link: &mut Link,
    ) -> Result<(), InputError> {
        let call = ClientRequest::new(key, self.method.clone(), self.target.clone());
        self.inputs.request(&call, needed, server_requests, link)
    }

    pub(super) fn withdraw_inputs(&self, key: RequestKey, server_requests: &mut ServerRequests, link: &mut Link) {
        self.inputs.withdraw_all(key, server_requests, link);
    }

    /// Abandons the pending requests about the task, except `tasks/cancel`, so that their responses are ignored.
    pub(super) fn abandon_requests(&self, link: &mut Link) {
        for id in &self.requests {
            let _ = link.abandon(*id);
        }
    }

    /// Returns the method of the call and the id of the task.
    pub(super) fn into_parts(self: Box<Self>) -> (Cow<'static, str>, String) {
        (self.method, self.poller.into_id())
    }

    pub(super) fn needed_inputs(&self, task: &Task) -> Result<Option<Vec<InputRequest>>, CallError> {
        inputs::needed_inputs(task, self.poller.form()).map_err(|what| malformed(what, "result.inputRequests"))
    }
}

/// Creates the error for a malformed response to `tasks/get`. `at` is the path of the defect in the response, such as
/// `result.taskId`.
pub(super) fn malformed(what: String, at: &str) -> CallError {
    let error = peer_error::malformed(what, at);
    CallError::Invalid { method: TaskRequest::Get.method().into(), error: Arc::new(error) }
}
