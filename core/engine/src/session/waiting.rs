//! [`Waiting`]: what the requests of callers wait for beside their responses.

use super::paused::PausedRequests;
use super::request_keys::RequestKey;
use super::server_requests::ServerRequests;
use super::tasks::Tasks;
use crate::time::Timestamp;

/// What the requests of callers wait for beside their responses: the embedder's answers to requests of the server, and the
/// end of tasks.
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
}
