//! Calls that become tasks, and tasks that are followed by their handles.

use mcpwire_core::{Era, RequestKey, RequestOptions, SendError, Task, TaskHandle, TaskProtocol};
use serde_json::Value;

use super::requests::Waiting;
use super::{AnyTicket, MAX_TASKS, MAX_TRANSMIT, Model};
use crate::fuzz::describe;
use crate::fuzz::operations::wire::Asked;

/// What a request has to do with tasks.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum InTask {
    /// Nothing.
    No,
    /// The server has answered it with what may be a task.
    Perhaps,
    /// It ends with a task. That task is `ours` if nobody else knows of it.
    Followed { id: String, ours: bool },
}

/// How many names of tasks are remembered.
const REMEMBERED: usize = 8;

impl Model {
    /// The name of one of the tasks that there have been, counted from the latest.
    pub(in crate::fuzz::operations) fn task(&self, which: u8) -> String {
        let at = usize::from(which) % self.tasks.len().max(1);
        self.tasks.iter().rev().nth(at).cloned().unwrap_or_else(|| "t0".into())
    }

    /// Remembers the name of a task.
    pub(in crate::fuzz::operations) fn remember_task(&mut self, name: &str) {
        if self.tasks.len() == REMEMBERED {
            self.tasks.remove(0);
        }
        self.tasks.push(name.into());
    }

    pub(in crate::fuzz::operations) fn follow(&mut self, handle: &TaskHandle, options: &RequestOptions) {
        self.trace.line(format_args!("> follow {}", handle.task_id));
        self.look();
        let before = self.engine.transmit().len();
        match self.engine.calls().follow_task(handle, options, self.now) {
            Ok(ticket) => {
                assert!(self.tasks_followed(true) < MAX_TASKS, "one task too many");
                assert!(before <= MAX_TRANSMIT, "followed although the buffer is full");
                let number = self.names.request(ticket.key());
                let id = handle.task_id.clone();
                let mut waiting = Waiting::new(AnyTicket::from(ticket), format!("follow {id}"), options, self);
                self.trace.line(format_args!("request r{number}, {waiting}"));
                waiting.task = InTask::Followed { id: id.clone(), ours: false };
                // Without any time it is over before the server is asked.
                let has_time = waiting.total > self.now;
                assert!(self.waiting.insert(number, waiting).is_none(), "a key used twice");
                let written = self.look();
                let is_asked = written.iter().any(|asked| asked.is_about("tasks/get", &id));
                assert!(is_asked || !has_time || before > MAX_TRANSMIT / 2, "the server is not asked for the task");
            }
            Err(error) => {
                describe::not_sent(&error, &self.trace);
                let may = match error {
                    SendError::TooManyInFlight { .. } => self.tasks_followed(false) >= MAX_TASKS,
                    error => self.may_refuse(&error, before),
                };
                assert!(may, "not followed");
                assert!(self.look().is_empty(), "refused, and bytes left behind");
            }
        }
        self.drain();
    }

    /// How many tasks are followed: for sure, or perhaps.
    fn tasks_followed(&self, for_sure: bool) -> usize {
        let is_followed = |waiting: &&Waiting| match waiting.task {
            InTask::No => false,
            InTask::Perhaps => !for_sure,
            InTask::Followed { .. } => true,
        };
        self.waiting.values().filter(is_followed).count()
    }

    /// The engine says how a task of a call stands.
    pub(super) fn task_status(&mut self, key: RequestKey, task: &Task) {
        let waiting = self.waiting(key).expect("how a task stands that nobody waits for");
        match &waiting.task {
            InTask::Followed { id, .. } => assert_eq!(*id, task.task_id, "another task"),
            _ => waiting.task = InTask::Followed { id: task.task_id.clone(), ours: true },
        }
    }

    /// The server may be about to answer requests with tasks.
    pub(super) fn expect_tasks(&mut self, bytes: &[u8]) {
        for line in bytes.split(|byte| *byte == b'\n') {
            match serde_json::from_slice(line) {
                Ok(Value::Array(messages)) => messages.iter().for_each(|message| self.expect_task(message)),
                Ok(message) => self.expect_task(&message),
                Err(_) => {}
            }
        }
    }

    fn expect_task(&mut self, message: &Value) {
        let result = &message["result"];
        if result["taskId"].is_null() && result["task"].is_null() {
            return;
        }
        let id = match &message["id"] {
            Value::String(id) => id.clone(),
            id => id.to_string(),
        };
        let id = id.split('.').next().and_then(|id| id.parse().ok());
        if let Some(waiting) = self.waiting.values_mut().find(|waiting| id.is_some() && waiting.id == id)
            && waiting.task == InTask::No
            && matches!(waiting.ticket, AnyTicket::CallTool(_) | AnyTicket::Raw(_))
        {
            waiting.task = InTask::Perhaps;
        }
    }

    /// The engine may wait for the answer to a `tasks/cancel` of its own, although no request of the caller's is left.
    pub(super) fn note_task_cancel(&mut self, asked: &Asked) {
        if asked.method == "tasks/cancel" {
            let until = self.now + self.engine.session().config().request_timeout;
            self.cancels_until = self.cancels_until.max(until);
        }
    }

    /// Whether the server is to be asked to end a task that nobody waits for any more.
    pub(super) fn is_to_be_ended(&self, ours: bool) -> bool {
        ours && (self.form() == TaskProtocol::Extension || self.takes_cancels())
    }

    fn takes_cancels(&self) -> bool {
        let capabilities = self.engine.session().server().and_then(|server| server.capabilities.as_ref());
        capabilities.and_then(|all| all.tasks.as_ref()).is_some_and(|tasks| tasks.cancel.is_some())
    }

    /// The form that tasks have here.
    pub(in crate::fuzz::operations) fn form(&self) -> TaskProtocol {
        if self.wire.era() == Some(Era::Modern) { TaskProtocol::Extension } else { TaskProtocol::Experimental }
    }
}
