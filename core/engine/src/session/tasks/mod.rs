//! Tasks that the session follows for their callers (2025-11-25, basic/utilities/tasks; from 2026-07-28 the extension
//! `io.modelcontextprotocol/tasks`). A call whose answer is a task keeps its ticket, and ends with the task's result.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the table of the tasks that are followed |
//! | `calls` | what a request has to do with tasks, and what it carries for that |
//! | `begin` | how a task comes to be followed |
//! | `following` | one task: when to ask what, what the answers mean, when it is over |
//! | `questions` | what is asked is sent, and what comes is handed out |
//! | `inputs` | what a task wants to know before it goes on |
//! | `ends` | how the following ends |

mod begin;
mod calls;
mod ends;
mod following;
mod inputs;
mod questions;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::server::ServerInfo;
use super::ticket::RequestKey;
use crate::sorted::Sorted;
use crate::time::Timestamp;
use crate::types::ProtocolVersion;
pub(super) use calls::Tasked;
use following::{About, Following};

/// The tasks that are followed.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// By the key of the call that each is to end.
    followed: Sorted<RequestKey, Box<Followed>>,
    /// Requests of our own by their keys: for which call, and what they are about.
    own: Sorted<RequestKey, (RequestKey, About)>,
    /// When the next of them has something to send.
    wake: Option<Timestamp>,
    /// What the modern era wants in the `_meta` of requests that have to do with tasks; made when it is first needed.
    meta: Option<String>,
    version: Option<ProtocolVersion>,
    /// What the server said of tasks (2025-11-25): that calls of tools may ask for one, and that it cancels them.
    takes_calls: bool,
    takes_cancels: bool,
}

#[derive(Debug)]
struct Followed {
    task: Following,
    method: Cow<'static, str>,
    /// The id that the call had: progress goes on under it.
    progress: Option<u64>,
    /// The inputs that it has asked for, by their names: each is asked for once, however often it is seen.
    asked: Vec<String>,
    /// Nobody else knows of the task: when it is given up, the server may end it.
    is_ours: bool,
    began: Timestamp,
    timeout: Duration,
    total: Timestamp,
}

impl Tasks {
    /// Takes in to whom the connection is open.
    pub(super) fn open(&mut self, server: &ServerInfo) {
        let tasks = server.capabilities.as_ref().and_then(|capabilities| capabilities.tasks.as_ref());
        self.version = Some(server.protocol_version);
        self.takes_calls = server.takes_tasks();
        self.takes_cancels = tasks.is_some_and(|tasks| tasks.cancel.is_some());
    }

    /// What is said in `_meta` has changed.
    pub(super) fn forget_meta(&mut self) {
        self.meta = None;
    }

    /// Returns the number of calls that wait for a task.
    pub(super) fn len(&self) -> usize {
        self.followed.len()
    }

    pub(super) fn is_waiting(&self, key: RequestKey) -> bool {
        self.followed.contains_key(&key)
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.wake
    }

    /// Whether a request is one of our own.
    pub(super) fn has_sent(&self, key: RequestKey) -> bool {
        !self.own.is_empty() && self.own.contains_key(&key)
    }

    /// Whose progress is reported under the id of a call that has become a task.
    pub(super) fn progress(&self, id: u64) -> Option<RequestKey> {
        self.followed.iter().find(|(_, followed)| followed.progress == Some(id)).map(|(key, _)| *key)
    }

    fn reckon(&mut self) {
        let next = |followed: &Followed| followed.task.next().map_or(followed.total, |at| at.min(followed.total));
        self.wake = self.followed.iter().map(|(_, followed)| next(followed)).min();
    }
}
