//! [`Owner`]: the receiver of the response to a request that the client has sent. [`CallerRequest`]: such a request of a
//! caller.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::cache::PendingEntry;
use crate::session::error::{CallError, Deadline};
use crate::session::event::{self, ClientRequest};
use crate::session::ticket::{RequestKey, SubscriptionKey};
use crate::time::Timestamp;
use mcpwire_text::json::Json;

/// The receiver of the response to a pending request.
///
/// If a variant contains deadlines, the request table enforces them. Other requests stay in the table until the
/// response arrives or the owner removes the request.
#[derive(Debug)]
pub(in crate::session) enum Owner {
    /// The handshake that opens the connection. It enforces the connect timeout itself.
    Opening(OpeningRequest),
    /// The caller that sent the request. The session passes the response to the caller as an
    /// [`Event::Reply`](crate::Event::Reply).
    Caller(CallerRequest),
    /// A call that waits for a task. The request, such as `tasks/get`, is about this task.
    Task {
        /// The key of the call that waits for the task. The result of the task will be the reply to this call.
        call: RequestKey,
        request: TaskRequest,
        deadlines: Deadlines,
    },
    /// A subscription to a modern server (from revision 2026-07-28). The request is the `subscriptions/listen` that
    /// opens the subscription, and the response ends the subscription.
    Subscription(SubscriptionKey),
    /// The subscriptions to one resource of a legacy server (up to revision 2025-11-25). The request is the
    /// `resources/subscribe` for this resource.
    ResourceSubscribe,
    /// No part of the session needs the response. When it arrives, it is ignored, and not counted as late.
    Nobody,
    /// The HTTP transport, which sent the request for itself. It also handles the response, so the session never sees
    /// the response.
    #[cfg(feature = "http")]
    Transport,
}

impl Owner {
    pub(in crate::session) fn deadlines(&self) -> Option<&Deadlines> {
        match self {
            Owner::Caller(CallerRequest { deadlines, .. }) | Owner::Task { deadlines, .. } => Some(deadlines),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum OpeningRequest {
    Discover,
    Initialize,
}

impl OpeningRequest {
    pub(in crate::session) fn method(self) -> &'static str {
        match self {
            OpeningRequest::Discover => "server/discover",
            OpeningRequest::Initialize => "initialize",
        }
    }
}

/// The kind of a request about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum TaskRequest {
    Get,
    Result,
    Update,
    /// `tasks/cancel`. The session ignores the response.
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
///
/// `requests_task` says whether the request contains the parameter `task`, which asks the server to run the request as a
/// task (specification, revision 2025-11-25: "Task Parameters").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::session) enum TaskUse {
    /// The server may not respond with a task.
    #[default]
    None,
    /// The server may respond with a task. The caller then receives the task instead of a result, and polls the task
    /// itself.
    Declared { requests_task: bool },
    /// The server may respond with a task. The session polls the task until it ends, and then passes its result to the
    /// caller.
    Followed { requests_task: bool },
}

impl TaskUse {
    /// Returns whether the request must declare that the client supports tasks.
    pub(in crate::session) fn is_declared(self) -> bool {
        self != TaskUse::None
    }

    /// Returns whether the session polls the task with which the server may respond.
    pub(in crate::session) fn is_followed(self) -> bool {
        matches!(self, TaskUse::Followed { .. })
    }

    pub(in crate::session) fn requests_task(self) -> bool {
        matches!(self, TaskUse::Declared { requests_task: true } | TaskUse::Followed { requests_task: true })
    }
}

/// A pending request that a caller has sent.
#[derive(Debug)]
pub(in crate::session) struct CallerRequest {
    pub(in crate::session) key: RequestKey,
    pub(in crate::session) method: Cow<'static, str>,
    pub(in crate::session) wants_progress: bool,
    /// Whether the caller allows the server to execute the request twice.
    pub(in crate::session) repeatable: bool,
    pub(in crate::session) tasks: TaskUse,
    /// Number of times that the request was sent again with input that the server required.
    pub(in crate::session) input_rounds: u32,
    /// The parameters for sending the request again with input that the server requires. `None` if the server must not
    /// require input for this method, or if the parameters would exceed
    /// [`Config::max_retry_bytes`](crate::Config::max_retry_bytes).
    pub(in crate::session) retry: Option<RetryParams>,
    /// The cache entry that the response will fill. `None` if the response will not be cached.
    pub(in crate::session) cache_entry: Option<Box<PendingEntry>>,
    pub(in crate::session) deadlines: Deadlines,
}

impl CallerRequest {
    /// Describes the request for an event.
    pub(in crate::session) fn to_client_request(&self) -> ClientRequest {
        let target = self.retry.as_ref().and_then(|retry| event::target(&self.method, &retry.params));
        ClientRequest { key: self.key, method: self.method.clone(), target }
    }
}

/// The parameters of a request and the `_meta` that the caller passed, for sending the request again.
pub(in crate::session) struct RetryParams {
    /// A JSON object.
    pub(in crate::session) params: Vec<u8>,
    pub(in crate::session) meta: Option<Json>,
}

impl RetryParams {
    /// Returns the size of the parameters and the `_meta`, in bytes.
    pub(in crate::session) fn len(&self) -> usize {
        self.params.len() + self.meta.as_ref().map_or(0, |meta| meta.get().len())
    }
}

impl fmt::Debug for RetryParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RetryParams({} bytes)", self.len())
    }
}

/// The idle deadline and the total deadline of a request.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Deadlines {
    pub(in crate::session) sent: Timestamp,
    /// Length of the idle timeout. Each progress notification restarts the timeout.
    pub(in crate::session) timeout: Duration,
    /// When the request times out regardless of progress notifications.
    pub(in crate::session) total: Timestamp,
    /// When the idle timeout last started, because the request was sent or the server reported progress.
    last_activity: Timestamp,
}

impl Deadlines {
    /// Creates the deadlines of a request that is sent at `now`. `timeout` is the length of the idle timeout, and
    /// `total` that of the total timeout.
    pub(in crate::session) fn new(now: Timestamp, timeout: Duration, total: Duration) -> Self {
        Deadlines { sent: now, timeout, total: now + total, last_activity: now }
    }

    pub(super) fn restart_idle(&mut self, now: Timestamp) {
        self.last_activity = now;
    }

    /// Returns when the idle timeout expires, which counts from the last activity of the request or from `resumed`,
    /// whichever is later. `resumed` is when the last pause of all idle timeouts ended.
    pub(super) fn idle(&self, resumed: Timestamp) -> Timestamp {
        self.last_activity.max(resumed) + self.timeout
    }

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
