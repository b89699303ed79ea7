//! [`Owner`]: who gets the response to a request that this side has sent.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use core::time::Duration;

use crate::cache::PendingEntry;
use crate::session::error::{CallError, Deadline};
use crate::session::request_keys::{RequestKey, SubscriptionKey};
use crate::session::retry_params::RetryParams;
use crate::time::Timestamp;

/// Who gets the response to a request.
///
/// A request with deadlines contains them. The other requests have none in the table: they last until the response comes, or
/// their part of the session ends them.
#[derive(Debug)]
pub(in crate::session) enum Owner {
    /// The opening of the connection, which has the connect timeout.
    Opening(OpeningRequest),
    /// A caller, who gets the response as an [`Event::Reply`](crate::Event::Reply).
    Caller(CallerRequest),
    /// The task that a caller waits for.
    Task {
        /// The call that ends with the task.
        call: RequestKey,
        request: TaskRequest,
        deadlines: Deadlines,
    },
    /// A subscription of the modern era, which ends with the response. It has the deadline of its acknowledgment.
    Subscription(SubscriptionKey),
    /// The `resources/subscribe` of a legacy subscription, which has the deadline of the acknowledgment.
    ResourceSubscribe,
    /// Nobody: the response is expected and ignored.
    Nobody,
    /// The transport, which reads the response before the session does.
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

/// The two requests that open a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum OpeningRequest {
    Discover,
    Initialize,
}

/// The requests about a task.
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

/// Whether the server may answer a request with a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::session) enum TaskUse {
    /// The server may not.
    #[default]
    None,
    /// The server may, and the caller gets the task.
    Declared,
    /// The server may, and the session polls the task until it ends.
    Followed,
}

/// A request of a caller.
#[derive(Debug)]
pub(in crate::session) struct CallerRequest {
    pub(in crate::session) key: RequestKey,
    pub(in crate::session) method: Cow<'static, str>,
    pub(in crate::session) wants_progress: bool,
    /// Whether the server may carry out the request twice.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "only HTTP sends requests twice"))]
    pub(in crate::session) repeatable: bool,
    pub(in crate::session) tasks: TaskUse,
    /// The number of times that the request was sent again with input for the server.
    pub(in crate::session) input_rounds: u32,
    /// The parameters for sending the request again. `None` if the server may not require input, or if they did not fit into
    /// [`Config::max_retry_bytes`](crate::Config::max_retry_bytes).
    pub(in crate::session) retry: Option<RetryParams>,
    /// Where the cache stores the response.
    pub(in crate::session) cache_entry: Option<Box<PendingEntry>>,
    pub(in crate::session) deadlines: Deadlines,
}

/// When a request times out.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Deadlines {
    pub(in crate::session) sent: Timestamp,
    /// The idle timeout. Each progress notification restarts it.
    pub(in crate::session) timeout: Duration,
    /// The total deadline.
    pub(in crate::session) total: Timestamp,
    /// When the request was last sent, or the server last reported progress.
    last_activity: Timestamp,
}

impl Deadlines {
    /// Creates the deadlines of a request that is sent now.
    pub(in crate::session) fn new(now: Timestamp, timeout: Duration, total: Duration) -> Self {
        Deadlines { sent: now, timeout, total: now + total, last_activity: now }
    }

    /// Restarts the idle timeout.
    pub(super) fn restart_idle(&mut self, now: Timestamp) {
        self.last_activity = now;
    }

    /// Returns when the idle timeout expires, if the timeouts of all requests were paused until `resumed`.
    pub(super) fn idle(&self, resumed: Timestamp) -> Timestamp {
        self.last_activity.max(resumed) + self.timeout
    }

    /// Returns the length of one of the two timeouts.
    pub(in crate::session) fn length(&self, deadline: Deadline) -> Duration {
        match deadline {
            Deadline::Idle => self.timeout,
            Deadline::Total => self.total.duration_since(self.sent),
        }
    }

    /// Returns the error of a request that missed `deadline`.
    pub(in crate::session) fn error(&self, method: Cow<'static, str>, deadline: Deadline) -> CallError {
        CallError::Timeout { method, after: self.length(deadline), deadline }
    }
}
