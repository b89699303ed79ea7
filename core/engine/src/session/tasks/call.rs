//! [`TaskCall`]: a call that waits for its task to end.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::inputs::{self, Inputs};
use super::params;
use super::polling::TaskPoller;
use crate::method::{CallTool, Method};
use crate::rpc::RequestFault;
use crate::rpc::decode;
use crate::rpc::{PeerError, PeerErrorKind};
use crate::session::context::Context;
use crate::session::error::{CallError, InputError};
use crate::session::request_keys::RequestKey;
use crate::session::requests::{CallerRequest, Deadlines, Owner, TaskRequest};
use crate::session::server_requests::ServerRequests;
use crate::time::Timestamp;
use crate::types::{InputRequest, Task, TaskProtocol};

/// A call that the server has answered with a task, or a caller that follows an earlier task.
#[derive(Debug)]
pub(super) struct TaskCall {
    pub(super) poller: TaskPoller,
    method: Cow<'static, str>,
    /// The wire id of the call, under which the server keeps reporting progress. `None` if the caller wants no progress.
    progress_id: Option<u64>,
    inputs: Inputs,
    origin: Origin,
    deadlines: Deadlines,
    /// The ids of the pending requests about the task, without `tasks/cancel`.
    requests: Vec<u64>,
}

/// How a caller came to wait for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The server answered the call with the task. Nobody else knows the task.
    Call,
    /// The caller passed the handle of the task, and may come back with the handle later.
    Handle,
}

/// The content of a response to a request about a task.
pub(super) enum Response {
    /// The response to `tasks/get`.
    Status(Task),
    /// The response that the call itself would have got.
    OfCall(Vec<u8>),
    /// The server took the inputs, or the response is ignored.
    Accepted,
    Failed(CallError),
}

impl TaskCall {
    /// Creates the call of a caller that follows an earlier task.
    pub(super) fn followed(task: String, form: TaskProtocol, deadlines: Deadlines, now: Timestamp) -> Self {
        TaskCall {
            poller: TaskPoller::new(task, form, now),
            method: Cow::Borrowed(CallTool::NAME),
            progress_id: None,
            inputs: Inputs::default(),
            origin: Origin::Handle,
            deadlines,
            requests: Vec::new(),
        }
    }

    /// Creates the call of a request whose response, which had this wire id, is a task.
    pub(super) fn answered(caller: CallerRequest, id: u64, task: String, form: TaskProtocol, now: Timestamp) -> Self {
        TaskCall {
            poller: TaskPoller::new(task, form, now),
            method: caller.method,
            progress_id: caller.wants_progress.then_some(id),
            inputs: Inputs::default(),
            origin: Origin::Call,
            deadlines: caller.deadlines,
            requests: Vec::new(),
        }
    }

    /// Returns the method of the call.
    pub(super) fn method(&self) -> Cow<'static, str> {
        self.method.clone()
    }

    /// Returns the wire id of progress notifications for the call.
    pub(super) fn progress_id(&self) -> Option<u64> {
        self.progress_id
    }

    /// Returns the deadlines of the call, which include the time before it became a task.
    pub(super) fn deadlines(&self) -> &Deadlines {
        &self.deadlines
    }

    /// Returns when the next request is due or the call times out.
    pub(super) fn wake(&self) -> Timestamp {
        let total = self.deadlines.total;
        self.poller.next().map_or(total, |at| at.min(total))
    }

    /// Returns whether the task serves this call only, so that the server may end it with the call.
    pub(super) fn owns_task(&self) -> bool {
        self.origin == Origin::Call
    }

    /// Sends a request about the task, or postpones it if the connection cannot send.
    pub(super) fn send(&mut self, key: RequestKey, request: TaskRequest, context: &mut Context<'_>) {
        if context.check_open().is_err() {
            return self.poller.postpone(request, context.now);
        }
        let left = self.deadlines.total.duration_since(context.now);
        let (timeout, total) = match request {
            // The server responds only when the task has ended.
            TaskRequest::Result if !self.poller.is_final() => (left, left),
            TaskRequest::Cancel => (context.config.request_timeout, context.config.request_timeout),
            _ => (self.deadlines.timeout.min(left), left),
        };
        let poller = &self.poller;
        let params = |out: &mut Vec<u8>| {
            params::push_params(out, poller, request);
            Ok(())
        };
        let deadlines = Deadlines::new(context.now, timeout, total);
        let owner = Owner::Task { call: key, request, deadlines };
        let id = context.send_about_task(request.method(), &params, owner);
        if request != TaskRequest::Cancel {
            self.requests.push(id);
        }
    }

    /// Notes that a request about the task has ended.
    pub(super) fn request_ended(&mut self, id: u64) {
        self.requests.retain(|sent| *sent != id);
    }

    /// Reads the response to a request about the task.
    pub(super) fn receive(&mut self, request: TaskRequest, id: u64, message: Vec<u8>, now: Timestamp) -> Response {
        self.request_ended(id);
        let failed = |fault: RequestFault| Response::Failed(fault.into_call_error(request.method().into()));
        match request {
            TaskRequest::Get => match decode::answer::<Task>(&message, id) {
                Ok(task) => Response::Status(task),
                Err(fault) => failed(fault),
            },
            TaskRequest::Result => match decode::answer_skipped(&message, id) {
                // A result or an error, as the call itself would have got ("Result Retrieval").
                Ok(()) => Response::OfCall(message),
                Err(RequestFault::Server(_)) if self.poller.is_final() => Response::OfCall(message),
                Err(fault) => failed(fault),
            },
            TaskRequest::Update => match decode::answer_skipped(&message, id) {
                Ok(()) => {
                    self.poller.updated(now);
                    Response::Accepted
                }
                Err(fault) => failed(fault),
            },
            TaskRequest::Cancel => Response::Accepted,
        }
    }

    /// Reports the inputs that the task needs now, and withdraws those that it no longer needs.
    pub(super) fn request_inputs(
        &mut self,
        key: RequestKey,
        needed: Vec<InputRequest>,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) -> Result<(), InputError> {
        self.inputs.request(key, needed, server_requests, context)
    }

    /// Withdraws all inputs of the task.
    pub(super) fn withdraw_inputs(
        &self,
        key: RequestKey,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        self.inputs.withdraw_all(key, server_requests, context);
    }

    /// Abandons the pending requests about the task, except `tasks/cancel`.
    pub(super) fn abandon_requests(&self, context: &mut Context<'_>) {
        for id in &self.requests {
            let _ = context.requests.abandon(*id);
        }
    }

    /// Returns the method of the call and the id of its task.
    pub(super) fn into_parts(self: Box<Self>) -> (Cow<'static, str>, String) {
        (self.method, self.poller.into_id())
    }

    /// Reads the inputs that the task needs now. Returns `None` if the status does not say.
    pub(super) fn needed_inputs(&self, task: &Task) -> Result<Option<Vec<InputRequest>>, CallError> {
        inputs::needed_inputs(task, self.poller.form()).map_err(|what| malformed(what, "result.inputRequests"))
    }
}

/// Returns the error of a `tasks/get` whose response is wrong at the path `at`.
pub(super) fn malformed(what: String, at: &str) -> CallError {
    let kind = PeerErrorKind::Malformed(what);
    let error = PeerError { kind, at: at.into(), excerpt: String::new() };
    CallError::Invalid { method: TaskRequest::Get.method().into(), error }
}
