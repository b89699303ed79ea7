//! [`Waiting`]: what the requests of callers wait for beside their responses.

use super::error::SendError;
use super::link::Link;
use super::paused::PausedRequests;
use super::server_requests::{AnswerOutcome, RefusalReason, ServerRequests};
use super::tasks::Tasks;
use super::ticket::{RequestKey, ServerRequestId};
use crate::rpc::write::ParamsWriter;
use crate::time::Timestamp;

/// The callers' requests that wait for something other than a response: for the embedder's answers to requests of the server,
/// or for the end of a task.
///
/// `input_required` adds the methods for requests that wait for input, and `tasks` those for calls that wait for a task.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) server_requests: ServerRequests,
    pub(super) paused: PausedRequests,
    pub(super) tasks: Tasks,
}

impl Waiting {
    /// Returns the number of callers' requests that wait for input or for a task.
    pub(super) fn len(&self) -> usize {
        self.tasks.len() + self.paused.len()
    }

    /// Returns whether the request with this key waits for input or for a task.
    pub(super) fn contains(&self, key: RequestKey) -> bool {
        self.paused.is_paused(key) || self.tasks.is_followed(key)
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        [self.paused.poll_timeout(), self.tasks.poll_timeout()].into_iter().flatten().min()
    }

    /// Answers a request of the server. `result` must write a JSON object. Returns `false` if the request is not pending.
    pub(super) fn answer(
        &mut self,
        key: ServerRequestId,
        result: ParamsWriter<'_>,
        link: &mut Link,
    ) -> Result<bool, SendError> {
        let outcome = self.server_requests.answer(key, result, link)?;
        Ok(self.act_on(outcome, link))
    }

    /// Refuses a request of the server. Returns `false` if the request is not pending.
    pub(super) fn refuse(&mut self, key: ServerRequestId, refusal: &RefusalReason<'_>, link: &mut Link) -> bool {
        let outcome = self.server_requests.refuse(key, refusal, link);
        self.act_on(outcome, link)
    }

    fn act_on(&mut self, outcome: AnswerOutcome, link: &mut Link) -> bool {
        match outcome {
            AnswerOutcome::Unknown => return false,
            AnswerOutcome::Done => {}
            AnswerOutcome::Answered(key, member) if self.tasks.is_followed(key) => {
                self.task_input_answered(key, member, link);
            }
            AnswerOutcome::Answered(key, member) => self.input_answered(key, &member, link),
            AnswerOutcome::Refused(key, error) if self.tasks.is_followed(key) => {
                self.task_input_refused(key, error, link);
            }
            AnswerOutcome::Refused(key, error) => self.input_refused(key, error, link),
        }
        true
    }
}
