//! The methods of [`Waiting`] for calls that wait for a task: begins, polls and ends tasks.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::call::TaskCall;
use super::polling::{Source, StatusUpdate, TaskEnd};
use crate::frame::Message;
use crate::input_requests::InputRequest;
use crate::rpc::{RequestFault, Response, decode};
use crate::session::error::{CallError, CloseReason, Deadline, InputError, SendError, TaskError};
use crate::session::event::{ClientRequest, Event, Notification};
use crate::session::link::Link;
use crate::session::requests::{CallerRequest, Deadlines, TaskRequest};
use crate::session::ticket::{Reply, RequestKey};
use crate::session::waiting::Waiting;
use mcpwire_types::{CreateTaskResult, Era, Task, TaskHandle, TaskProtocol};

/// Maximum number of inputs that one task may require during its life. 1,000: no person answers more questions about
/// one task.
const MAX_INPUTS: usize = 1_000;

impl Waiting {
    /// Begins to poll an existing task, whose handle the caller passed. Returns a new key, under which the session will
    /// report the result of the task.
    ///
    /// # Errors
    /// Returns [`SendError::TooManyInFlight`] if [`Config::max_tasks`](crate::session::Config::max_tasks) calls wait for a task
    /// already.
    pub(in crate::session) fn follow_task(
        &mut self,
        handle: &TaskHandle,
        deadlines: Deadlines,
        link: &mut Link,
    ) -> Result<RequestKey, SendError> {
        let limit = link.config.max_tasks;
        if self.tasks.calls.len() >= limit {
            return Err(SendError::TooManyInFlight { limit });
        }
        let key = link.requests.fresh_key();
        let call = TaskCall::followed(handle.task_id.clone(), form(link), deadlines, link.now);
        self.tasks.calls.insert(key, call);
        self.poll_tasks(link);
        Ok(key)
    }

    /// Begins to poll a task that the server created for the request `caller`. `message` is the server's response,
    /// which contains the task.
    #[cold]
    pub(in crate::session) fn begin_task(
        &mut self,
        caller: CallerRequest,
        response: Response,
        message: &[u8],
        link: &mut Link,
    ) {
        let key = caller.key;
        let task = match decode::answer::<CreateTaskResult>(message, response) {
            Ok(created) => created.task,
            Err(fault) => return link.fail(key, fault.into_call_error(caller.method)),
        };
        let call = TaskCall::answered(caller, response.id, task.task_id.clone(), form(link), link.now);
        let limit = link.config.max_tasks;
        let is_too_many = self.tasks.calls.len() >= limit;
        self.tasks.calls.insert(key, call);
        if is_too_many {
            self.end_task(key, TaskEnd::Fault(TaskError::TooMany { limit }), link);
        } else {
            self.task_status(key, task, Source::Call, link);
        }
        self.poll_tasks(link);
    }

    /// Fails the calls whose total deadline has expired, and sends the requests about tasks that are due.
    pub(in crate::session) fn poll_tasks(&mut self, link: &mut Link) {
        let now = link.now;
        loop {
            let late = self.tasks.calls.iter().find(|(_, call)| call.deadlines.total <= now);
            let late = late.map(|(key, call)| (*key, call.deadlines.error(call.method.clone(), Deadline::Total)));
            let Some((key, error)) = late else { break };
            self.give_up_task(key, error, link);
        }
        for (key, call) in &mut self.tasks.calls {
            while let Some(request) = call.poller.poll(now) {
                call.send(*key, request, link);
            }
        }
    }

    /// Handles the server's response to a request that polls a task, such as `tasks/get`. `key` is the key of the call
    /// that waits for the task.
    #[cold]
    pub(in crate::session) fn receive_about_task(
        &mut self,
        key: RequestKey,
        request: TaskRequest,
        response: Response,
        message: Message,
        link: &mut Link,
    ) {
        let Some(call) = self.tasks.calls.get_mut(&key) else { return };
        let answered = match request {
            TaskRequest::Get => {
                decode::answer::<Task>(&message, response).map(|task| self.task_status(key, task, Source::Get, link))
            }
            TaskRequest::Result => match decode::answer_skipped(&message, response) {
                Err(fault) if !matches!(fault, RequestFault::Server(_)) || !call.poller.is_final() => Err(fault),
                // A result or an error, the same as in the response to a call without a task ("Result Retrieval").
                _ => {
                    self.reply_of_task(key, message, response, link);
                    Ok(())
                }
            },
            TaskRequest::Update => decode::answer_skipped(&message, response).map(|()| call.poller.updated(link.now)),
            TaskRequest::Cancel => Ok(()),
        };
        if let Err(fault) = answered {
            self.task_request_failed(key, request, fault.into_call_error(request.method().into()), link);
        }
        self.poll_tasks(link);
    }

    /// Handles the failure of a request that polls a task, such as `tasks/get`. `key` is the key of the call that waits
    /// for the task, and `id` is the JSON-RPC id of the request.
    pub(in crate::session) fn fail_about_task(
        &mut self,
        key: RequestKey,
        request: TaskRequest,
        error: CallError,
        link: &mut Link,
    ) {
        self.task_request_failed(key, request, error, link);
        self.poll_tasks(link);
    }

    /// Handles a notification about the status of a task. If no call waits for the task, only reports the status to
    /// the embedder.
    pub(in crate::session) fn task_notified(&mut self, task: Task, link: &mut Link) {
        let followed = self.tasks.calls.iter().find(|(_, call)| call.poller.id == task.task_id).map(|(key, _)| *key);
        match followed {
            Some(key) => self.task_status(key, task, Source::Notification, link),
            None => report_status(None, task, link),
        }
        self.poll_tasks(link);
    }

    /// Handles a status of the task that the tool call with this key waits for.
    fn task_status(&mut self, key: RequestKey, task: Task, source: Source, link: &mut Link) {
        let Some(call) = self.tasks.calls.get_mut(&key) else { return };
        let inputs = match call.needed_inputs(&task) {
            Ok(inputs) => inputs,
            Err(error) => return self.task_request_failed(key, TaskRequest::Get, error, link),
        };
        let Some(StatusUpdate { has_changed, end }) = call.poller.status(&task, source, link.now) else {
            let id = mcpwire_text::excerpt(task.task_id.as_bytes());
            let error = super::call::malformed(alloc::format!("an answer about another task, {id:?}"), "result.taskId");
            return self.task_request_failed(key, TaskRequest::Get, error, link);
        };
        if has_changed {
            report_status(Some(key), task, link);
        }
        match (end, inputs) {
            (Some(end), _) => self.end_task(key, end, link),
            (None, Some(inputs)) => {
                if let Err(error) = self.request_task_inputs(key, inputs, link) {
                    self.task_input_refused(key, error, link);
                }
            }
            (None, None) => {}
        }
    }

    /// Reports to the embedder those inputs of a task in `needed` that it has not received before. Withdraws earlier inputs
    /// that `needed` does not contain, because they need no answer any more. `key` is the key of the call that waits for the
    /// task.
    fn request_task_inputs(
        &mut self,
        key: RequestKey,
        needed: Vec<InputRequest>,
        link: &mut Link,
    ) -> Result<(), InputError> {
        let Waiting { server_requests, tasks, .. } = self;
        let Some(call) = tasks.calls.get_mut(&key) else { return Ok(()) };
        server_requests.withdraw_except(&needed, key, link);
        let during = ClientRequest { key, method: call.method.clone(), target: call.target.clone() };
        for input in needed {
            // If there is no room for an input now, the next status contains the input again.
            if !server_requests.has_room(link) || call.inputs.contains(&input.name) {
                continue;
            }
            call.inputs.push(input.name.clone());
            if call.inputs.len() > MAX_INPUTS {
                return Err(InputError::TooManyInputs { limit: MAX_INPUTS });
            }
            server_requests.request_inputs(&during, alloc::vec![input], link)?;
        }
        Ok(())
    }

    fn task_request_failed(&mut self, key: RequestKey, request: TaskRequest, error: CallError, link: &mut Link) {
        let Some(call) = self.tasks.calls.get_mut(&key) else { return };
        if let Some(end) = call.poller.failed(request, error, link.now) {
            self.end_task(key, end, link);
        }
    }

    /// Stores the embedder's answer to an input that a task requires, and sends it with `tasks/update`. `key` is the
    /// key of the call that waits for the task. `member` is the JSON text of one object member: the name of the input and
    /// the answer.
    pub(in crate::session) fn task_input_answered(&mut self, key: RequestKey, member: Vec<u8>, link: &mut Link) {
        if let Some(call) = self.tasks.calls.get_mut(&key) {
            call.poller.answer(member, link.now);
            self.poll_tasks(link);
        }
    }

    /// Fails the call `key` with [`CallError::Input`], because the client does not provide an input that the call's
    /// task requires. Without this input, the task might never end.
    pub(in crate::session) fn task_input_refused(&mut self, key: RequestKey, error: InputError, link: &mut Link) {
        let Some(call) = self.tasks.calls.get(&key) else { return };
        let error = CallError::Input { method: call.method.clone(), error: Arc::new(error) };
        self.give_up_task(key, error, link);
    }

    /// Cancels a call that waits for a task. Returns `false` if there is no such call with this key.
    pub(in crate::session) fn cancel_task(&mut self, key: RequestKey, link: &mut Link) -> bool {
        let Some(call) = self.tasks.calls.get(&key) else { return false };
        let error = CallError::Cancelled { method: call.method.clone() };
        self.give_up_task(key, error, link);
        true
    }

    fn give_up_task(&mut self, key: RequestKey, error: CallError, link: &mut Link) {
        self.send_task_cancel(key, link);
        self.remove_task(key, link);
        link.fail(key, error);
    }

    fn send_task_cancel(&mut self, key: RequestKey, link: &mut Link) {
        if let Some(call) = self.tasks.calls.get_mut(&key)
            && call.owns_task
            && (form(link) == TaskProtocol::Extension || can_cancel(link))
        {
            call.send(key, TaskRequest::Cancel, link);
        }
    }

    fn end_task(&mut self, key: RequestKey, end: TaskEnd, link: &mut Link) {
        let (message, response) = match end {
            TaskEnd::Result(json) => ([RESULT, json.get(), "}"].concat(), Response::of_client(Some(RESULT.len()))),
            TaskEnd::Error(json) => ([ERROR, json.get(), "}"].concat(), Response::of_client(None)),
            TaskEnd::Fault(fault) => {
                if matches!(fault, TaskError::TooMany { .. } | TaskError::AnswersRefused { .. }) {
                    self.send_task_cancel(key, link);
                }
                let Some(call) = self.remove_task(key, link) else { return };
                let (method, task) = (call.method, call.poller.id);
                return link.fail(key, CallError::Task { method, task, fault });
            }
        };
        self.reply_of_task(key, message.into_bytes().into(), response, link);
    }

    fn reply_of_task(&mut self, key: RequestKey, message: Message, response: Response, link: &mut Link) {
        if let Some(call) = self.remove_task(key, link) {
            link.report(Event::Reply(Reply::answered(key, call.method, message, response)));
        }
    }

    fn remove_task(&mut self, key: RequestKey, link: &mut Link) -> Option<TaskCall> {
        let call = self.tasks.calls.remove(&key)?;
        for id in link.requests.about_task(key) {
            link.abandon(id);
        }
        self.server_requests.withdraw(key, link);
        Some(call)
    }

    /// Fails all calls, because the connection has ended for `reason`. Their tasks may continue on the server.
    pub(in crate::session) fn close_tasks(&mut self, reason: &CloseReason, link: &mut Link) {
        for (key, call) in core::mem::take(&mut self.tasks).calls {
            self.server_requests.withdraw(key, link);
            link.fail(key, CallError::Closed { method: call.method, reason: reason.clone() });
        }
    }
}

/// Returns whether the server declares `tasks/cancel` (revision 2025-11-25).
fn can_cancel(link: &Link) -> bool {
    let capabilities = link.connection.server().and_then(|server| server.capabilities.as_ref());
    capabilities.and_then(|capabilities| capabilities.tasks.as_ref()).is_some_and(|tasks| tasks.cancel.is_some())
}

fn form(link: &Link) -> TaskProtocol {
    if link.connection.is_era(Era::Modern) { TaskProtocol::Extension } else { TaskProtocol::Experimental }
}

fn report_status(key: Option<RequestKey>, task: Task, link: &mut Link) {
    link.report(Event::Notification(Notification::TaskStatus { key, task: task.into() }));
}

/// The beginning of a response with the result of an ended task. The id is 0, because the server did not send this
/// response.
const RESULT: &str = r#"{"jsonrpc":"2.0","id":0,"result":"#;

/// The beginning of a response with the error of a failed task.
const ERROR: &str = r#"{"jsonrpc":"2.0","id":0,"error":"#;
