//! Tasks that the session follows for their callers (2025-11-25, basic/utilities/tasks; from 2026-07-28 on the extension
//! `io.modelcontextprotocol/tasks`). A call that becomes a task keeps its ticket, and ends with the result of the task.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the table of followed tasks: sends requests about them, hands out answers, ends them |
//! | `polling` | one task as a state machine: when to send which request, when it is over |
//! | `inputs` | the inputs that a task wants before it goes on |
//! | `params` | what a call says about tasks when it is sent |

mod inputs;
mod params;
mod polling;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use super::closed::Closed;
use super::config::RequestOptions;
use super::context::Context;
use super::error::{CallError, Deadline, InputError, SendError};
use super::event::{Event, Notification};
use super::keys::RequestKey;
use super::requests::{CallerRequest, Deadlines, Owner, TaskRequest, TaskUse};
use super::server::ServerInfo;
use super::server_requests::{InputOwner, ServerRequests};
use super::task_fault::TaskFault;
use crate::json::Json;
use crate::method::{CallTool, Method};
use crate::rpc::decode::{self, Answer};
use crate::rpc::{PeerError, PeerErrorKind};
use crate::sorted::Sorted;
use crate::time::Timestamp;
use crate::types::{CreateTaskResult, Era, Task, TaskForm, TaskHandle};
pub(super) use params::push_task_param;
use polling::{Source, TaskEnd, TaskPoller};

/// The tasks that the session follows.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// By the key of the call that ends with the task.
    calls: Sorted<RequestKey, Box<TaskCall>>,
    /// When the next request about a task is to be sent, or the next call times out.
    wake: Option<Timestamp>,
    /// Whether calls of tools may ask for a task (2025-11-25).
    server_takes_calls: bool,
    /// Whether the server cancels tasks (2025-11-25).
    server_takes_cancels: bool,
}

/// A call that has become a task, or a caller who has come back for one.
#[derive(Debug)]
struct TaskCall {
    task: TaskPoller,
    method: Cow<'static, str>,
    /// The id of the call, under which the server goes on to report progress.
    progress_id: Option<u64>,
    /// The names of the inputs that the task has asked for. Each is asked for once, however often it is seen.
    inputs: Vec<String>,
    /// Nobody else knows of the task: when it is given up, the server may end it.
    is_ours: bool,
    began: Timestamp,
    timeout: Duration,
    total: Timestamp,
    /// The ids of the requests about the task that have no answer yet, without `tasks/cancel`.
    requests: Vec<u64>,
}

impl Tasks {
    /// Takes over what the server says about tasks.
    pub(super) fn open(&mut self, server: &ServerInfo) {
        let tasks = server.capabilities.as_ref().and_then(|capabilities| capabilities.tasks.as_ref());
        self.server_takes_calls = server.takes_tasks();
        self.server_takes_cancels = tasks.is_some_and(|tasks| tasks.cancel.is_some());
    }

    /// Returns the number of calls that wait for a task.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    pub(super) fn is_waiting(&self, key: RequestKey) -> bool {
        self.calls.contains_key(&key)
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.wake
    }

    /// Returns the call whose progress is reported under this id.
    pub(super) fn progress(&self, id: u64) -> Option<RequestKey> {
        self.calls.iter().find(|(_, call)| call.progress_id == Some(id)).map(|(key, _)| *key)
    }

    /// Follows a task that was created earlier. Returns the key that it ends under.
    pub(super) fn follow(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) -> Result<RequestKey, SendError> {
        let limit = context.config.max_tasks;
        if self.calls.len() >= limit {
            return Err(SendError::TooManyInFlight { limit });
        }
        let now = context.now;
        let timeout = options.timeout.unwrap_or(context.config.request_timeout);
        let total = now + options.total_timeout.unwrap_or(context.config.total_timeout.max(timeout));
        let key = context.requests.fresh_key();
        let call = TaskCall {
            task: TaskPoller::new(handle.task_id.clone(), form(context), now),
            method: Cow::Borrowed(CallTool::NAME),
            progress_id: None,
            inputs: Vec::new(),
            is_ours: false,
            began: now,
            timeout,
            total,
            requests: Vec::new(),
        };
        self.calls.insert(key, Box::new(call));
        self.handle_timeout(server_requests, context);
        Ok(key)
    }

    /// Returns whether the answer to a request may be a task, and whether the request is to ask for one by a parameter.
    pub(super) fn task_use(&self, method: &str, options: &RequestOptions, context: &Context<'_>) -> (TaskUse, bool) {
        params::task_use(method, options, self.server_takes_calls, context)
    }

    /// Whether the answer to a call is a task.
    pub(super) fn is_task(message: &[u8], context: &Context<'_>) -> bool {
        params::is_task(message, form(context))
    }

    /// Follows the task that a call, which has left the table, was answered with.
    #[cold]
    pub(super) fn begin(
        &mut self,
        caller: CallerRequest,
        deadlines: Deadlines,
        id: u64,
        message: &[u8],
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        let key = caller.key;
        let task = match decode::answer::<CreateTaskResult>(message, id) {
            Ok(Answer::Result(created)) => created.task,
            Ok(Answer::Error(error)) => return context.fail(key, CallError::Server { method: caller.method, error }),
            Err(error) => return context.fail(key, CallError::Invalid { method: caller.method, error }),
        };
        let call = TaskCall {
            task: TaskPoller::new(task.task_id.clone(), form(context), context.now),
            method: caller.method,
            progress_id: caller.wants_progress.then_some(id),
            inputs: Vec::new(),
            is_ours: true,
            began: deadlines.sent,
            timeout: deadlines.timeout,
            total: deadlines.total,
            requests: Vec::new(),
        };
        let limit = context.config.max_tasks;
        let is_too_many = self.calls.len() >= limit;
        self.calls.insert(key, Box::new(call));
        if is_too_many {
            self.end(key, TaskEnd::Fault(TaskFault::TooMany { limit }), server_requests, context);
        } else {
            self.status(key, task, Source::Call, server_requests, context);
        }
        self.handle_timeout(server_requests, context);
    }

    /// Sends the requests that are due, and ends the calls that have taken too long.
    pub(super) fn handle_timeout(&mut self, server_requests: &mut ServerRequests, context: &mut Context<'_>) {
        let now = context.now;
        loop {
            let late = self.calls.iter().find(|(_, call)| call.total <= now);
            let late = late.map(|(key, call)| (*key, call.method.clone(), call.total.duration_since(call.began)));
            let Some((key, method, after)) = late else { break };
            let error = CallError::Timeout { method, after, deadline: Deadline::Total };
            self.give_up(key, error, server_requests, context);
        }
        let keys: Vec<RequestKey> = self.calls.iter().map(|(key, _)| *key).collect();
        for key in keys {
            while let Some(request) = self.calls.get_mut(&key).and_then(|call| call.task.poll(now)) {
                self.send(key, request, context);
            }
        }
        self.update_wake();
    }

    fn send(&mut self, key: RequestKey, request: TaskRequest, context: &mut Context<'_>) {
        let Some(call) = self.calls.get_mut(&key) else { return };
        if context.check_open().is_err() {
            // The server does not read: the request is sent later, for as long as the call may take.
            return call.task.postpone(request, context.now);
        }
        let left = call.total.duration_since(context.now);
        let (timeout, total) = match request {
            // The server answers it once the task is over.
            TaskRequest::Result if !call.task.is_final() => (left, left),
            TaskRequest::Cancel => (context.config.request_timeout, context.config.request_timeout),
            _ => (call.timeout.min(left), left),
        };
        let task = &call.task;
        let params = |out: &mut Vec<u8>| {
            params::push_params(out, task, request);
            Ok(())
        };
        let deadlines = Deadlines::new(context.now, timeout, total);
        let owner = Owner::Task { call: key, request };
        let id = context.send_about_task(request.method(), &params, owner, deadlines);
        if request != TaskRequest::Cancel {
            call.requests.push(id);
        }
    }

    /// Handles the answer to a request about the task of a call.
    #[cold]
    pub(super) fn answered(
        &mut self,
        key: RequestKey,
        request: TaskRequest,
        id: u64,
        message: Vec<u8>,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        let Some(call) = self.calls.get_mut(&key) else { return };
        call.requests.retain(|sent| *sent != id);
        let server = |error| CallError::Server { method: request.method().into(), error };
        let invalid = |error| CallError::Invalid { method: request.method().into(), error };
        let failure = match request {
            TaskRequest::Get => match decode::answer::<Task>(&message, id) {
                Ok(Answer::Result(task)) => {
                    self.status(key, task, Source::Get, server_requests, context);
                    None
                }
                Ok(Answer::Error(error)) => Some(server(error)),
                Err(error) => Some(invalid(error)),
            },
            TaskRequest::Result => match decode::answer_skipped(&message, id) {
                Ok(Answer::Error(error)) if !call.task.is_final() => Some(server(error)),
                // It is what the call would have answered, be it a result or an error ("Result Retrieval").
                Ok(_) => {
                    self.reply(key, message, id, server_requests, context);
                    None
                }
                Err(error) => Some(invalid(error)),
            },
            TaskRequest::Update => match decode::answer_skipped(&message, id) {
                Ok(Answer::Result(())) => {
                    call.task.updated(context.now);
                    None
                }
                Ok(Answer::Error(error)) => Some(server(error)),
                Err(error) => Some(invalid(error)),
            },
            TaskRequest::Cancel => None,
        };
        if let Some(error) = failure {
            self.request_failed(key, request, error, server_requests, context);
        }
        self.handle_timeout(server_requests, context);
    }

    /// Handles that a request about the task of a call ended without an answer.
    pub(super) fn unanswered(
        &mut self,
        key: RequestKey,
        request: TaskRequest,
        id: u64,
        error: CallError,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        if let Some(call) = self.calls.get_mut(&key) {
            call.requests.retain(|sent| *sent != id);
        }
        self.request_failed(key, request, error, server_requests, context);
        self.handle_timeout(server_requests, context);
    }

    /// Handles a task status notification, whether the task is followed or not.
    pub(super) fn notified(&mut self, task: Task, server_requests: &mut ServerRequests, context: &mut Context<'_>) {
        let followed = self.calls.iter().find(|(_, call)| call.task.id() == task.task_id).map(|(key, _)| *key);
        match followed {
            Some(key) => self.status(key, task, Source::Notice, server_requests, context),
            None => report_status(None, task, context),
        }
        self.handle_timeout(server_requests, context);
    }

    fn status(
        &mut self,
        key: RequestKey,
        task: Task,
        source: Source,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        let inputs = match inputs::inputs_of(&task, form(context)) {
            Ok(inputs) => inputs,
            Err(what) => {
                let error = malformed(what, "result.inputRequests");
                return self.request_failed(key, TaskRequest::Get, error, server_requests, context);
            }
        };
        let Some(call) = self.calls.get_mut(&key) else { return };
        let Some((changed, end)) = call.task.status(&task, source, context.now) else {
            let id = crate::text::excerpt(task.task_id.as_bytes());
            let error = malformed(alloc::format!("an answer about another task, {id:?}"), "result.taskId");
            return self.request_failed(key, TaskRequest::Get, error, server_requests, context);
        };
        if changed {
            report_status(Some(key), task, context);
        }
        match (end, inputs) {
            (Some(end), _) => self.end(key, end, server_requests, context),
            (None, Some(inputs)) => {
                if let Err(error) = inputs::request(key, &mut call.inputs, inputs, server_requests, context) {
                    self.input_refused(key, error, server_requests, context);
                }
            }
            (None, None) => {}
        }
    }

    #[inline(never)]
    fn request_failed(
        &mut self,
        key: RequestKey,
        request: TaskRequest,
        error: CallError,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        let Some(call) = self.calls.get_mut(&key) else { return };
        if let Some(end) = call.task.failed(request, error, context.now) {
            self.end(key, end, server_requests, context);
        }
    }

    /// Takes the answer to an input of a task: a JSON object with one member, as text.
    pub(super) fn input_answered(
        &mut self,
        key: RequestKey,
        answer: &[u8],
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        if let Some(call) = self.calls.get_mut(&key) {
            let member = answer.strip_prefix(b"{").and_then(|answer| answer.strip_suffix(b"}"));
            call.task.answer(member.unwrap_or_default().to_vec(), context.now);
            self.handle_timeout(server_requests, context);
        }
    }

    /// Gives up a call because an input of its task was refused: the task might wait for it for ever.
    pub(super) fn input_refused(
        &mut self,
        key: RequestKey,
        error: InputError,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        let Some(call) = self.calls.get(&key) else { return };
        let error = CallError::Input { method: call.method.clone(), error: Arc::new(error) };
        self.give_up(key, error, server_requests, context);
    }

    /// Cancels a call that has become a task: the server is asked to end the task. Returns `false` if there is no such call.
    pub(super) fn cancel(
        &mut self,
        key: RequestKey,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) -> bool {
        let Some(call) = self.calls.get(&key) else { return false };
        let error = CallError::Cancelled { method: call.method.clone() };
        self.give_up(key, error, server_requests, context);
        true
    }

    #[inline(never)]
    fn give_up(
        &mut self,
        key: RequestKey,
        error: CallError,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        self.send_cancel(key, context);
        self.remove(key, server_requests, context);
        context.fail(key, error);
        self.update_wake();
    }

    /// Asks the server to cancel a task ("Task Cancellation"), if it takes that.
    fn send_cancel(&mut self, key: RequestKey, context: &mut Context<'_>) {
        let is_ours = self.calls.get(&key).is_some_and(|call| call.is_ours);
        if is_ours && (form(context) == TaskForm::Extension || self.server_takes_cancels) {
            self.send(key, TaskRequest::Cancel, context);
        }
    }

    #[inline(never)]
    fn end(&mut self, key: RequestKey, end: TaskEnd, server_requests: &mut ServerRequests, context: &mut Context<'_>) {
        let message = match end {
            TaskEnd::Result(json) => message_with("result", &json),
            TaskEnd::Error(json) => message_with("error", &json),
            TaskEnd::Fault(fault) => {
                if matches!(fault, TaskFault::TooMany { .. } | TaskFault::AnswersRefused { .. }) {
                    self.send_cancel(key, context);
                }
                let Some(call) = self.remove(key, server_requests, context) else { return };
                let error = CallError::Task { method: call.method, task: call.task.into_id(), fault };
                return context.fail(key, error);
            }
        };
        self.reply(key, message, 0, server_requests, context);
    }

    fn reply(
        &mut self,
        key: RequestKey,
        message: Vec<u8>,
        id: u64,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        if let Some(call) = self.remove(key, server_requests, context) {
            context.reply(key, call.method, message, id);
        }
    }

    /// Removes a call with its requests and inputs.
    fn remove(
        &mut self,
        key: RequestKey,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) -> Option<Box<TaskCall>> {
        let call = self.calls.remove(&key)?;
        for id in &call.requests {
            let _ = context.requests.abandon(*id);
        }
        for (number, _) in (0..).zip(&call.inputs) {
            server_requests.withdraw(InputOwner::Task(key, number), context);
        }
        Some(call)
    }

    /// Ends all calls, as the connection has ended. The tasks may go on.
    pub(super) fn close(&mut self, reason: &Closed, server_requests: &mut ServerRequests, context: &mut Context<'_>) {
        for (key, call) in core::mem::take(self).calls.into_entries() {
            for (number, _) in (0..).zip(&call.inputs) {
                server_requests.withdraw(InputOwner::Task(key, number), context);
            }
            context.fail(key, CallError::Closed { method: call.method, reason: reason.clone() });
        }
    }

    fn update_wake(&mut self) {
        let next = |call: &TaskCall| call.task.next().map_or(call.total, |at| at.min(call.total));
        self.wake = self.calls.iter().map(|(_, call)| next(call)).min();
    }
}

/// Returns the form of tasks in the era that is spoken.
fn form(context: &Context<'_>) -> TaskForm {
    if context.connection.is_era(Era::Modern) { TaskForm::Extension } else { TaskForm::Experimental }
}

fn report_status(key: Option<RequestKey>, task: Task, context: &mut Context<'_>) {
    context.report(Event::Notification(Notification::TaskStatus { key, task: task.into() }));
}

/// Returns a response with id 0, from the result or the error in the status of a task.
fn message_with(member: &str, value: &Json) -> Vec<u8> {
    let mut message = Vec::with_capacity(value.get().len() + 40);
    message.extend_from_slice(br#"{"jsonrpc":"2.0","id":0,""#);
    message.extend_from_slice(member.as_bytes());
    message.extend_from_slice(b"\":");
    message.extend_from_slice(value.get().as_bytes());
    message.push(b'}');
    message
}

fn malformed(what: String, at: &str) -> CallError {
    let kind = PeerErrorKind::Malformed(what);
    let error = PeerError { kind, at: at.into(), excerpt: String::new() };
    CallError::Invalid { method: TaskRequest::Get.method().into(), error }
}
