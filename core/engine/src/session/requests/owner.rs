//! [`Owner`]: the receiver of the response to a request that the client has sent.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use core::time::Duration;

use crate::cache::PendingEntry;
use crate::session::error::{CallError, Deadline};
use crate::session::request_keys::{RequestKey, SubscriptionKey};
use crate::session::retry_params::RetryParams;
use crate::time::Timestamp;

/// The receiver of the response to a pending request.
///
/// A variant contains deadlines if the request table enforces them. Other requests stay in the table until the
/// response arrives or the owner removes them.
#[derive(Debug)]
pub(in crate::session) enum Owner {
    /// The handshake that opens the connection. The handshake itself enforces the connect timeout.
    Opening(OpeningRequest),
    /// A caller, who receives the response as an [`Event::Reply`](crate::Event::Reply).
    Caller(CallerRequest),
    /// The part of the session that polls a task for a caller, with requests such as `tasks/get`.
    Task {
        /// The key of the caller's request whose reply will be the result of the task.
        call: RequestKey,
        request: TaskRequest,
        deadlines: Deadlines,
    },
    /// A subscription to a modern server (from revision 2026-07-28): the request is its `subscriptions/listen`. The
    /// response ends the subscription. The subscription itself enforces the time limit for the acknowledgment.
    Subscription(SubscriptionKey),
    /// The subscriptions to one resource of a legacy server (up to revision 2025-11-25): the request is their
    /// `resources/subscribe`. The subscriptions themselves enforce the time limit for the response.
    ResourceSubscribe,
    /// Nobody: when the response arrives, the session ignores it, and does not count it as late.
    Nobody,
    /// The transport, which handles the response before the session receives it.
    #[cfg(feature = "http")]
    Transport,
}

impl Owner {
    pub(super) fn deadlines(&self) -> Option<&Deadlines> {
        match self {
            Owner::Caller(CallerRequest { deadlines, .. }) | Owner::Task { deadlines, .. } => Some(deadlines),
            _ => None,
        }
    }
}

/// One of the two requests that can open a connection: `server/discover` or `initialize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum OpeningRequest {
    Discover,
    Initialize,
}

/// The kind of a request about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum TaskRequest {
    Get,
    Result,
    Update,
    /// `tasks/cancel`, whose response is ignored.
    Cancel,
}

impl TaskRequest {
    pub(in crate::session) fn method(self) -> &'static str {
        match self {
            TaskRequest::Get => "tasks/get",
            TaskRequest::Result => "tasks/result",
            TaskRequest::Update => "tasks/update",
            TaskRequest::Cancel => "tasks/cancel",
        }
    }
}

/// Whether the server may respond to a request with a task, and who polls the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::session) enum TaskUse {
    /// The server may not respond with a task.
    #[default]
    None,
    /// The server may respond with a task. The caller receives the task and polls it.
    Declared,
    /// The server may respond with a task. The session polls the task until it ends.
    Followed,
}

/// A pending request that a caller has sent.
#[derive(Debug)]
pub(in crate::session) struct CallerRequest {
    pub(in crate::session) key: RequestKey,
    pub(in crate::session) method: Cow<'static, str>,
    pub(in crate::session) wants_progress: bool,
    /// Whether the caller allows the server to execute the request twice.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "only HTTP sends requests twice"))]
    pub(in crate::session) repeatable: bool,
    pub(in crate::session) tasks: TaskUse,
    /// Number of times that the request was sent again with input that the server required.
    pub(in crate::session) input_rounds: u32,
    /// The parameters for sending the request again with input. `None` if the server is not allowed to require input
    /// for this method, or if the parameters would exceed [`Config::max_retry_bytes`](crate::Config::max_retry_bytes).
    pub(in crate::session) retry: Option<RetryParams>,
    /// The cache entry that the response will fill. `None` if the response will not be cached.
    pub(in crate::session) cache_entry: Option<Box<PendingEntry>>,
    pub(in crate::session) deadlines: Deadlines,
}

/// The idle deadline and the total deadline of a request.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Deadlines {
    pub(in crate::session) sent: Timestamp,
    /// Length of the idle timeout. Each progress notification restarts the timeout.
    pub(in crate::session) timeout: Duration,
    /// When the request times out regardless of progress notifications.
    pub(in crate::session) total: Timestamp,
    /// When the request was last sent, or when the server last reported progress, whichever is later.
    last_activity: Timestamp,
}

impl Deadlines {
    /// Creates the deadlines of a request that is sent at `now`. `timeout` is the length of the idle timeout, and
    /// `total` that of the total timeout.
    pub(in crate::session) fn new(now: Timestamp, timeout: Duration, total: Duration) -> Self {
        Deadlines { sent: now, timeout, total: now + total, last_activity: now }
    }

    /// Restarts the idle timeout at `now`.
    pub(super) fn restart_idle(&mut self, now: Timestamp) {
        self.last_activity = now;
    }

    /// Returns when the idle timeout expires. It counts from the last activity, or from `resumed` if that is later.
    /// `resumed` is when the last pause of all idle timeouts ended.
    pub(super) fn idle(&self, resumed: Timestamp) -> Timestamp {
        self.last_activity.max(resumed) + self.timeout
    }

    /// Returns the length of the timeout that `deadline` names: idle or total.
    pub(in crate::session) fn length(&self, deadline: Deadline) -> Duration {
        match deadline {
            Deadline::Idle => self.timeout,
            Deadline::Total => self.total.duration_since(self.sent),
        }
    }

    /// Returns the timeout error of a request of `method` that missed `deadline`.
    #[cold]
    pub(in crate::session) fn error(&self, method: Cow<'static, str>, deadline: Deadline) -> CallError {
        CallError::Timeout { method, after: self.length(deadline), deadline }
    }
}
