//! [`Pending`]: the requests that are answered later, such as slow calls, calls that ask the user, results of tasks, and
//! subscriptions.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::revision::Revision;
use crate::rpc::{Failure, INTERNAL_ERROR, INVALID_REQUEST};

/// The number of progress reports of a slow call, unless the time between two reports would leave the range from
/// [`SHORTEST_STEP`] to [`LONGEST_STEP`].
const REPORTS: u32 = 100;
const SHORTEST_STEP: Duration = Duration::from_millis(100);
const LONGEST_STEP: Duration = Duration::from_secs(1);

/// Maximum number of pending requests of all clients together. Further requests fail.
const MAX_PENDING: usize = 4096;

/// The destination of a message: a connection, and a stream of this connection.
///
/// Over stdio, there is one connection with one stream. Over HTTP, each POST has its own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Route {
    pub(crate) connection: u64,
    pub(crate) stream: u64,
}

/// The number of a connection's stream for messages that belong to no request.
pub(crate) const GENERAL_STREAM: u64 = 0;

impl Route {
    /// Returns the route for messages to a client that belong to no request.
    pub(crate) fn general(connection: u64) -> Self {
        Self { connection, stream: GENERAL_STREAM }
    }
}

/// When and how the server answers a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The server answers at once, with this result.
    Now(Value),
    /// The server answers when this wait is over.
    Later(Wait),
}

/// A request of a client that is not answered yet.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    pub(crate) route: Route,
    pub(crate) id: Value,
    pub(crate) revision: Revision,
    pub(crate) wait: Wait,
}

/// The event that a pending request waits for before it is answered.
#[derive(Debug)]
pub(crate) enum Wait {
    /// The end of a call of the tool `slow`.
    Slow(SlowCall),
    /// The client's response to the server's request with this id.
    Answer(String),
    /// The end of the task with this id. It ends at this time, unless it is cancelled before.
    Task(String, Duration),
    /// The client's cancellation of a `subscriptions/listen` request for these resources. The request gets no result.
    Subscription(BTreeSet<String>),
}

impl Wait {
    /// Returns the time of the next progress report or of the answer. `None` if the request waits for the client.
    fn deadline(&self) -> Option<Duration> {
        match self {
            Self::Slow(call) => Some(call.started + call.next),
            Self::Task(_, at) => Some(*at),
            Self::Answer(_) | Self::Subscription(_) => None,
        }
    }
}

/// A pending call of the tool `slow`, which waits and reports progress.
#[derive(Debug)]
pub(crate) struct SlowCall {
    started: Duration,
    pub(crate) length: Duration,
    /// The time of the next progress report or of the end of the call, since its start.
    pub(crate) next: Duration,
    pub(crate) progress_token: Option<Value>,
}

impl SlowCall {
    pub(crate) fn new(started: Duration, length: Duration, progress_token: Option<Value>) -> Self {
        let mut call = Self { started, length, next: Duration::ZERO, progress_token };
        call.advance();
        call
    }

    /// Advances `next` to the next progress report or, without a progress token, to the end of the call.
    pub(crate) fn advance(&mut self) {
        let step = match self.progress_token {
            Some(_) => (self.length / REPORTS).clamp(SHORTEST_STEP, LONGEST_STEP),
            None => self.length,
        };
        self.next = self.length.min(self.next + step);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.next >= self.length
    }
}

/// The pending requests of all clients, in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Pending(Vec<PendingRequest>);

impl Pending {
    /// Adds a pending request. Fails if its id is already in use on the connection, or if there are too many pending requests.
    pub(crate) fn add(&mut self, request: PendingRequest) -> Result<(), Failure> {
        if self.0.len() >= MAX_PENDING {
            return Err(Failure::new(INTERNAL_ERROR, "too many requests are pending: try again later"));
        }
        let same =
            |other: &PendingRequest| other.route.connection == request.route.connection && other.id == request.id;
        if self.0.iter().any(same) {
            return Err(Failure::new(INVALID_REQUEST, "the id of a pending request must not be used again"));
        }
        self.0.push(request);
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &PendingRequest> {
        self.0.iter()
    }

    /// Returns the time of the earliest action of a pending request, or `None` if all requests wait for clients.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.0.iter().filter_map(|request| request.wait.deadline()).min()
    }

    /// Returns the pending request whose next action is due first, or `None` if no action is due.
    pub(crate) fn due(&mut self, now: Duration) -> Option<&mut PendingRequest> {
        let due = |request: &&mut PendingRequest| request.wait.deadline().is_some_and(|at| at <= now);
        self.0.iter_mut().filter(due).min_by_key(|request| request.wait.deadline())
    }

    /// Removes and returns a pending request by its connection and its id, or returns `None` if there is no such request.
    pub(crate) fn remove(&mut self, connection: u64, id: &Value) -> Option<PendingRequest> {
        self.remove_if(|request| request.route.connection == connection && request.id == *id)
    }

    /// Removes and returns the first pending request for which `matches` returns true, or returns `None` if there is none.
    pub(crate) fn remove_if(&mut self, matches: impl Fn(&PendingRequest) -> bool) -> Option<PendingRequest> {
        let index = self.0.iter().position(matches)?;
        Some(self.0.remove(index))
    }

    /// Removes all pending requests of a connection that has ended. They are never answered.
    pub(crate) fn remove_connection(&mut self, connection: u64) {
        self.0.retain(|request| request.route.connection != connection);
    }
}
