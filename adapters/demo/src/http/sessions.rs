//! The sessions of legacy clients over HTTP, and the streams that are stored for them.

use std::collections::{HashMap, VecDeque};
use std::task::Waker;

use serde_json::Value;

use crate::pending::{GENERAL_STREAM, Route};
use crate::rpc::random_id;

/// Maximum number of sessions. A further session removes the least recently used session.
const MAX_SESSIONS: usize = 256;
/// Maximum number of streams of a session that are stored for a client that reconnects.
const MAX_STREAMS: usize = 64;

/// The session of a legacy client over HTTP.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) connection: u64,
    pub(super) kind: SessionKind,
    /// The stored streams that answer the client's requests, oldest first.
    streams: VecDeque<Route>,
    last_stream: u64,
    /// The value of [`Sessions::uses`] at the last use of this session, to find the least recently used session.
    used: u64,
}

/// The HTTP transport that the client of a session uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SessionKind {
    /// Streamable HTTP, since 2025-03-26.
    Streamable,
    /// HTTP+SSE of 2024-11-05.
    HttpSse,
}

impl Session {
    pub(super) fn new(connection: u64, kind: SessionKind) -> Self {
        // Stream 1 of the session belongs to the request that opens the session.
        Self { connection, kind, streams: VecDeque::new(), last_stream: GENERAL_STREAM + 1, used: 0 }
    }

    /// Creates the route of a new stream, for the answers to one POST request.
    pub(super) fn next_route(&mut self) -> Route {
        self.last_stream += 1;
        Route { connection: self.connection, stream: self.last_stream }
    }

    /// Stores a stream for a client that reconnects. If there are too many streams, returns a stream to drop, preferably a stream
    /// that has ended.
    pub(super) fn keep(&mut self, route: Route, has_ended: impl Fn(Route) -> bool) -> Option<Route> {
        self.streams.push_back(route);
        if self.streams.len() <= MAX_STREAMS {
            return None;
        }
        let dropped = self.streams.iter().position(|route| has_ended(*route)).unwrap_or(0);
        self.streams.remove(dropped)
    }
}

/// The sessions of all legacy clients, by their ids.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    all: HashMap<String, Session>,
    uses: u64,
}

impl Sessions {
    /// Returns the session with this id and marks it as used, or returns `None` if there is no such session.
    pub(super) fn get(&mut self, id: &str) -> Option<&mut Session> {
        let session = self.all.get_mut(id)?;
        self.uses += 1;
        session.used = self.uses;
        Some(session)
    }

    /// Adds a session. Returns its new id, and the session that was removed if there were too many.
    pub(super) fn add(&mut self, mut session: Session) -> (String, Option<Session>) {
        let oldest = self.all.iter().min_by_key(|(_, session)| session.used).map(|(id, _)| id.clone());
        let evicted = oldest.filter(|_| self.all.len() >= MAX_SESSIONS).and_then(|id| self.all.remove(&id));
        self.uses += 1;
        session.used = self.uses;
        let id = random_id();
        self.all.insert(id.clone(), session);
        (id, evicted)
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.all.remove(id);
    }
}

// The messages of one response or GET stream. In the legacy era, a stream survives the loss of its connection. A client that reconnects
// sends the id of the last event that it has read, and receives the later events (2025-11-25, basic/transports, "Resumability and
// Redelivery").

/// Maximum number of stored events of a stream; older events are dropped. A call sends a few hundred, or one per second.
const MAX_EVENTS: usize = 1_000;

/// The messages of a response or a GET stream, in order. A stream has one reader at a time; a new reader replaces the current
/// one.
#[derive(Debug, Default)]
pub(super) struct Stream {
    events: VecDeque<Value>,
    /// The number of events that were dropped. They precede the events in `events`.
    dropped: u64,
    /// The number of the last event that a reader has read. 0 before the first event.
    read: u64,
    has_ended: bool,
    /// The number of the current reader. `None` if there is no reader, because the client has closed its connection.
    reader: Option<u64>,
    last_reader: u64,
    waker: Option<Waker>,
    pub(super) on_leave: OnLeave,
}

/// The effect on a stream when its reader closes the connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum OnLeave {
    /// The stream stays, because the client may reconnect.
    #[default]
    Wait,
    /// Cancels the client's request with this id, as in the modern era (from 2026-07-28 on).
    Cancel(Value),
    /// Ends the session with this id (HTTP+SSE of 2024-11-05).
    EndSession(String),
    /// Removes the stream, because the server has already ended its connection.
    Remove,
}

/// The result of polling a stream for its next event.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// The number of an event, counted from 1, and its message.
    Event(u64, Value),
    /// The stream has ended, and all events were read.
    Ended,
    /// Another reader has replaced this one, or the stream was removed.
    Replaced,
    /// There is no event yet. The next event wakes the waker.
    Pending,
}

impl Stream {
    pub(super) fn new(on_leave: OnLeave) -> Self {
        Self { on_leave, ..Self::default() }
    }

    /// Adds an event, unless the stream has ended. Drops the oldest event if there are too many.
    pub(super) fn push(&mut self, message: Value) {
        if self.has_ended {
            return;
        }
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(message);
        self.wake();
    }

    /// Ends the stream: readers get the stored events, and later events are ignored.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
        self.wake();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the number of stored events, without the dropped events.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn into_first(mut self) -> Option<Value> {
        self.events.pop_front()
    }

    pub(super) fn has_reader(&self) -> bool {
        self.reader.is_some()
    }

    /// Adds a reader, which replaces the current reader, and returns its number. It starts after the event number `after` or, if
    /// this is `None`, after the last event that was read.
    pub(super) fn attach(&mut self, after: Option<u64>) -> u64 {
        if let Some(after) = after {
            self.read = after.min(self.dropped + self.events.len() as u64);
        }
        self.last_reader += 1;
        self.reader = Some(self.last_reader);
        // Wakes the previous reader, so that it notices that it was replaced.
        self.wake();
        self.last_reader
    }

    /// Removes a reader. Returns whether it was the current reader, and not one that was already replaced.
    pub(super) fn detach(&mut self, reader: u64) -> bool {
        let was_current = self.reader == Some(reader);
        if was_current {
            self.reader = None;
        }
        was_current
    }

    /// Returns the next event for this reader, or why there is none. Stores `waker` if the reader has to wait.
    pub(super) fn poll(&mut self, reader: u64, waker: &Waker) -> Next {
        if self.reader != Some(reader) {
            return Next::Replaced;
        }
        let number = self.read.max(self.dropped) + 1;
        let index = usize::try_from(number - self.dropped - 1).unwrap_or(usize::MAX);
        if let Some(event) = self.events.get(index) {
            self.read = number;
            return Next::Event(number, event.clone());
        }
        if self.has_ended {
            return Next::Ended;
        }
        self.waker = Some(waker.clone());
        Next::Pending
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
