//! [`Sessions`]: the sessions of legacy clients over HTTP.

use std::collections::{HashMap, VecDeque};

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
