//! How the session comes to follow a task: a call becomes one, or somebody comes back for one.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Followed;
use super::calls::Tasked;
use super::following::{End, Following, Source};
use crate::json::scan;
use crate::method::{CallTool, GetTask, Method};
use crate::revisions;
use crate::rpc::decode::{self, Answer};
use crate::rpc::result_type::{ResultType, result_type};
use crate::session::config::RequestOptions;
use crate::session::engine::Session;
use crate::session::error::{CallError, SendError};
use crate::session::inflight::Waiting;
use crate::session::task_fault::TaskFault;
use crate::session::ticket::Ticket;
use crate::time::Timestamp;
use crate::types::tasks::form_of;
use crate::types::{CreateTaskResult, TaskForm, TaskHandle};

impl Session {
    /// Follows a task that was begun earlier, in this connection or another one. It ends as its call would have, in an
    /// [`Event::Reply`](crate::Event::Reply) that the ticket decodes. The server is asked at once, and then in the intervals that it wishes.
    ///
    /// [`RequestOptions::timeout`] is that of each question; [`RequestOptions::total_timeout`] is for all, from now on. To
    /// give up, or to run out of time, ends the following only: whoever has the handle may come back for the task.
    ///
    /// # Errors
    /// If the connection is not open, a limit is reached, or the revision that is spoken has no tasks.
    pub fn follow_task(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<Ticket<CallTool>, SendError> {
        self.check_open(out)?;
        self.check_allowed(GetTask::NAME, const { revisions::bit(GetTask::NAME) })?;
        if self.tasks.followed.len() >= self.config.max_tasks {
            return Err(SendError::TooManyInFlight { limit: self.config.max_tasks });
        }
        let key = self.fresh_key();
        let timeout = options.timeout.unwrap_or(self.config.request_timeout);
        let total = now + options.total_timeout.unwrap_or(self.config.total_timeout.max(timeout));
        let task = Following::new(handle.task_id.clone(), self.task_form(), now);
        let method = Cow::Borrowed(CallTool::NAME);
        let (progress, asked, is_ours) = (None, Vec::new(), false);
        let followed = Followed { task, method, progress, asked, is_ours, began: now, timeout, total };
        self.tasks.followed.insert(key, Box::new(followed));
        self.drive_tasks(now, out);
        Ok(Ticket::new(key))
    }

    /// Takes in what may be a task, or the answer to a request of our own; gives back what is neither.
    pub(in crate::session) fn task_reply(
        &mut self,
        waiting: Waiting,
        id: u64,
        message: Vec<u8>,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Option<(Waiting, Vec<u8>)> {
        if self.tasks.has_sent(waiting.key) {
            self.task_answered(waiting.key, id, message, now, out);
        } else if waiting.tasks == Tasked::Followed && self.is_task(&message) {
            self.become_task(waiting, id, &message, now, out);
        } else {
            return Some((waiting, message));
        }
        None
    }

    /// Whether the answer to a call is a task, in the form of this session.
    fn is_task(&self, message: &[u8]) -> bool {
        match self.task_form() {
            TaskForm::Extension => result_type(message) == ResultType::Task,
            TaskForm::Experimental => {
                let result = scan::members(message).find(|member| member.is("result"));
                result.and_then(|result| form_of(result.value)) == Some(TaskForm::Experimental)
            }
        }
    }

    /// Takes in that a call, which has left the table, has become a task.
    #[cold]
    fn become_task(&mut self, waiting: Waiting, id: u64, message: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let (created, error) = match decode::answer::<CreateTaskResult>(message, id) {
            Ok(Answer::Result(created)) => (created, None),
            Ok(Answer::Error(error)) => {
                (<_>::default(), Some(CallError::Server { method: waiting.method.clone(), error }))
            }
            Err(error) => (<_>::default(), Some(CallError::Invalid { method: waiting.method.clone(), error })),
        };
        let key = waiting.key;
        if let Some(error) = error {
            self.end_with(key, error);
            return;
        }
        let task = created.task;
        let following = Following::new(task.task_id.clone(), self.task_form(), now);
        let (timeout, total, began) = (waiting.timeout(), waiting.total(), waiting.sent());
        let progress = waiting.wants_progress.then_some(id);
        let (method, asked, is_ours) = (waiting.method, Vec::new(), true);
        let followed = Followed { task: following, method, progress, asked, is_ours, began, timeout, total };
        let is_too_many = self.tasks.followed.len() >= self.config.max_tasks;
        self.tasks.followed.insert(key, Box::new(followed));
        if is_too_many {
            let fault = TaskFault::TooMany { limit: self.config.max_tasks };
            self.end_task(key, End::Fault(fault), now, out);
        } else {
            self.task_told(key, task, Source::Call, now, out);
        }
        self.drive_tasks(now, out);
    }
}
