//! [`Tasks`]: the table of calls that wait for a task.

use super::call::TaskCall;
use crate::session::request_keys::RequestKey;
use crate::session::server_info::ServerInfo;
use crate::time::Timestamp;
use alloc::collections::BTreeMap;

/// The calls that wait for a task.
#[derive(Debug, Default)]
pub(in crate::session) struct Tasks {
    /// The calls that wait for a task, by the key of the call.
    pub(super) calls: BTreeMap<RequestKey, TaskCall>,
    /// Whether the server accepts the parameter `task` in `tools/call` (revision 2025-11-25).
    pub(in crate::session) can_request: bool,
    /// Whether the server supports `tasks/cancel`. Used with revision 2025-11-25 only.
    pub(super) can_cancel: bool,
}

impl Tasks {
    /// Stores the server's capabilities for tasks when the connection opens.
    pub(in crate::session) fn open(&mut self, server: &ServerInfo) {
        let tasks = server.capabilities.as_ref().and_then(|capabilities| capabilities.tasks.as_ref());
        self.can_request = server.takes_tasks();
        self.can_cancel = tasks.is_some_and(|tasks| tasks.cancel.is_some());
    }

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
