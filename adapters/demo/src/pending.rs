//! Requests that are answered later: slow calls, calls that ask the user, results of tasks, and subscriptions.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use crate::revision::Revision;
use crate::rpc::{Failure, INTERNAL_ERROR, INVALID_REQUEST};

/// The number of progress reports of a slow call, within the limits of [`SHORTEST_STEP`] and [`LONGEST_STEP`].
const REPORTS: u32 = 100;
const SHORTEST_STEP: Duration = Duration::from_millis(100);
const LONGEST_STEP: Duration = Duration::from_secs(1);

/// Maximum number of pending requests of all clients together.
const MAX_PENDING: usize = 4096;

/// The destination of an answer: a connection, and one of its streams.
///
/// Over stdio, there is one of each. Over HTTP, each POST has its own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Route {
    pub(crate) connection: u64,
    pub(crate) stream: u64,
}

/// The stream of a connection for messages that belong to no request.
pub(crate) const GENERAL_STREAM: u64 = 0;

impl Route {
    /// Returns the route of messages that belong to no request.
    pub(crate) fn general(connection: u64) -> Self {
        Self { connection, stream: GENERAL_STREAM }
    }
}

/// The decision on a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The request is answered with this result.
    Now(Value),
    /// The request is answered when the wait is over.
    Later(Wait),
}

/// A request that is not answered yet.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    pub(crate) route: Route,
    pub(crate) id: Value,
    pub(crate) revision: Revision,
    pub(crate) wait: Wait,
}

/// The event that a pending request waits for.
#[derive(Debug)]
pub(crate) enum Wait {
    /// The end of a call of `slow`.
    Slow(SlowCall),
    /// The client's answer to the server's request with this id.
    Answer(String),
    /// The end of the task with this id, at this time unless it is cancelled before.
    Task(String, Duration),
    /// A cancellation by the client. The request is a `subscriptions/listen` for these resources.
    Subscription(BTreeSet<String>),
}

impl Wait {
    /// Returns the time of the next action. `None` if it does not depend on the time.
    fn deadline(&self) -> Option<Duration> {
        match self {
            Self::Slow(call) => Some(call.started + call.next),
            Self::Task(_, at) => Some(*at),
            Self::Answer(_) | Self::Subscription(_) => None,
        }
    }
}

/// A pending call of `slow`.
#[derive(Debug)]
pub(crate) struct SlowCall {
    started: Duration,
    pub(crate) length: Duration,
    /// The time of the next progress report or of the end, since the start of the call.
    pub(crate) next: Duration,
    pub(crate) progress_token: Option<Value>,
}

impl SlowCall {
    pub(crate) fn new(started: Duration, length: Duration, progress_token: Option<Value>) -> Self {
        let mut call = Self { started, length, next: Duration::ZERO, progress_token };
        call.advance();
        call
    }

    /// Moves `next` to the next report, or to the end.
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

/// All pending requests.
#[derive(Debug, Default)]
pub(crate) struct Pending(Vec<PendingRequest>);

impl Pending {
    /// Adds a request. Fails if its id is in use or there are too many.
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

    /// Returns the time of the earliest deadline, or `None` if no request has one.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.0.iter().filter_map(|request| request.wait.deadline()).min()
    }

    /// Returns the request with the earliest deadline that has passed, or `None` if none has passed.
    pub(crate) fn due(&mut self, now: Duration) -> Option<&mut PendingRequest> {
        let due = |request: &&mut PendingRequest| request.wait.deadline().is_some_and(|at| at <= now);
        self.0.iter_mut().filter(due).min_by_key(|request| request.wait.deadline())
    }

    /// Removes and returns a request by its connection and its id, or returns `None` if it is unknown.
    pub(crate) fn remove(&mut self, connection: u64, id: &Value) -> Option<PendingRequest> {
        self.remove_if(|request| request.route.connection == connection && request.id == *id)
    }

    /// Removes and returns the first request for which `matches` returns true, or returns `None` if there is none.
    pub(crate) fn remove_if(&mut self, matches: impl Fn(&PendingRequest) -> bool) -> Option<PendingRequest> {
        let index = self.0.iter().position(matches)?;
        Some(self.0.remove(index))
    }

    /// Removes all requests of a connection.
    pub(crate) fn remove_connection(&mut self, connection: u64) {
        self.0.retain(|request| request.route.connection != connection);
    }
}
