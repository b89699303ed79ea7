//! The MCP endpoint: which era a request is of, and what is done about it there.
//!
//! Legacy clients have sessions, each with a server of its own, as behind a pipe. In the modern era each request stands for
//! itself, and has a server of its own.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use super::super::outbox::{Log, Outbox, error};
use super::super::revision::Revision;
use super::super::tasks::{Tasks, random_id};
use super::super::{Failure, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, Server, lock, revision};
use super::headers::{self, HEADER_MISMATCH, VERSION};
use super::message::{Request, Response};
use super::stream::{Post, Stream};

/// The path of the endpoint.
pub(super) const PATH: &str = "/mcp";

/// More sessions than these are not kept: the one that has not been used for longest ends.
const MOST_SESSIONS: usize = 256;
/// The streams of one session that a client can come back to.
const MOST_STREAMS: usize = 64;
const METHODS: &str = "POST, GET, DELETE";

/// What is answered.
pub(super) enum Reply {
    Whole(Response),
    Events(Reading),
}

/// A stream to be read from on.
pub(super) struct Reading {
    pub(super) stream: Arc<Stream>,
    /// The last event that the client has; without it, it reads on where it was.
    pub(super) after: Option<u64>,
    /// Whether it can come back for what it has missed.
    pub(super) is_resumable: bool,
    /// Whether it is given an id to come back with before there is an event.
    pub(super) is_primed: bool,
    /// The client has gone away.
    pub(super) gone: Box<dyn Fn() + Send + Sync>,
}

/// All clients.
pub(super) struct Endpoint {
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// Of the modern era.
    tasks: Arc<Mutex<Tasks>>,
    log: Log,
    clock: AtomicU64,
}

/// A legacy client.
struct Session {
    server: Mutex<Server>,
    revision: Revision,
    /// What the server says of its own accord.
    general: Arc<Stream>,
    calls: Mutex<VecDeque<Arc<Stream>>>,
    opened: AtomicU64,
    /// When it was last used, by the endpoint's clock.
    used: AtomicU64,
}

impl Endpoint {
    pub(super) fn new(log: Log) -> Self {
        Self { sessions: Mutex::default(), tasks: Arc::default(), log, clock: AtomicU64::new(0) }
    }

    pub(super) fn answer(&self, request: &Request) -> Reply {
        if !headers::is_from_here(request) {
            return Reply::Whole(Response::text(403, "pages of other origins have no access"));
        }
        if request.path != PATH {
            return Reply::Whole(Response::text(404, format!("the MCP endpoint is {PATH}")));
        }
        let is_modern = request.header(VERSION).is_some_and(is_modern);
        let answer = match request.method.as_str() {
            "POST" => self.post(request),
            "GET" | "DELETE" if is_modern => {
                Err(Response::text(405, "there are no sessions in this revision").with_header("Allow", "POST"))
            }
            "GET" => self.get(request),
            "DELETE" => self.delete(request),
            _ => Err(Response::text(405, "not a method of this endpoint").with_header("Allow", METHODS)),
        };
        answer.unwrap_or_else(Reply::Whole)
    }

    fn post(&self, request: &Request) -> Result<Reply, Response> {
        if !headers::sends_json(request) {
            return Err(Response::text(415, "Content-Type must be application/json"));
        }
        if !headers::accepts_both(request) {
            return Err(Response::text(406, "Accept must list application/json and text/event-stream"));
        }
        let body: Value = serde_json::from_slice(&request.body)
            .map_err(|error| refused(400, &Value::Null, Failure::new(PARSE_ERROR, format!("not JSON: {error}"))))?;
        if body.get("method").is_some_and(|method| method == "initialize") {
            return self.initialize(&body);
        }
        if headers::said_version(&body).is_some() || request.header(VERSION).is_some_and(is_modern) {
            return self.modern(request, &body);
        }
        let session = self.session(request)?;
        let (post, outbox) = session.open();
        // A stream takes all it is given.
        let _ = lock(&session.server).take(&body, &outbox);
        match post.seal() {
            Some(said) if said.len() < 2 => Ok(Reply::Whole(whole(said, |_| 200))),
            _ => Ok(Reply::Events(session.keep(post))),
        }
    }

    /// A session begins.
    fn initialize(&self, body: &Value) -> Result<Reply, Response> {
        let mut server = Server::new(self.log.clone(), Arc::default());
        let post = Stream::new(1);
        let _ = server.take(body, &Outbox::new(Post { own: Arc::clone(&post), general: None }));
        let response = whole(post.seal().unwrap_or_default(), |_| 200);
        let Some(revision) = server.negotiated else {
            return Err(response);
        };
        let session = Session {
            server: Mutex::new(server),
            revision,
            general: Stream::new(0),
            calls: Mutex::default(),
            opened: AtomicU64::new(1),
            used: AtomicU64::new(self.tick()),
        };
        let id = random_id();
        let mut sessions = lock(&self.sessions);
        if sessions.len() >= MOST_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.used.load(Ordering::Relaxed));
            let oldest = oldest.map(|(id, _)| id.clone());
            if let Some(session) = oldest.and_then(|id| sessions.remove(&id)) {
                session.end();
            }
        }
        sessions.insert(id.clone(), Arc::new(session));
        Ok(Reply::Whole(response.with_header("Mcp-Session-Id", id)))
    }

    fn modern(&self, request: &Request, message: &Value) -> Result<Reply, Response> {
        let id = message.get("id").cloned().unwrap_or(Value::Null);
        if message.get("method").is_none() {
            let failure = Failure::new(INVALID_REQUEST, "the body is one request or notification");
            return Err(refused(400, &Value::Null, failure));
        }
        if message.get("id").is_none() {
            // None of them means anything here: a call is cancelled by closing its stream.
            return Err(Response::empty(202));
        }
        headers::check(request, message).map_err(|failure| refused(400, &id, failure))?;
        let mut server = Server::new(self.log.clone(), Arc::clone(&self.tasks));
        let stream = Stream::new(0);
        let _ = server.take(message, &Outbox::new(Post { own: Arc::clone(&stream), general: None }));
        match stream.seal() {
            Some(said) if said.len() < 2 => return Ok(Reply::Whole(whole(said, status_of))),
            _ => {}
        }
        let server = Mutex::new(server);
        let cancelled = Map::from_iter([
            ("requestId".to_owned(), id),
            ("reason".to_owned(), json!("the client closed the response")),
        ]);
        let gone = move || {
            let _ = lock(&server).notification("notifications/cancelled", &cancelled);
        };
        let gone = Box::new(gone);
        Ok(Reply::Events(Reading { stream, after: None, is_resumable: false, is_primed: false, gone }))
    }

    fn get(&self, request: &Request) -> Result<Reply, Response> {
        if !request
            .list("accept")
            .any(|range| ["text/event-stream", "text/*", "*/*"].iter().any(|it| range.starts_with(it)))
        {
            return Err(Response::text(406, "Accept must list text/event-stream"));
        }
        let session = self.session(request)?;
        let Some(last) = request.header("last-event-id") else {
            return Ok(Reply::Events(session.reading(Arc::clone(&session.general), None)));
        };
        let (stream, after) = last
            .split_once('-')
            .and_then(|(stream, event)| Some((session.stream(stream.parse().ok()?)?, event.parse().ok()?)))
            .ok_or_else(|| Response::text(400, "there is no event of this id to go on from"))?;
        Ok(Reply::Events(session.reading(stream, Some(after))))
    }

    fn delete(&self, request: &Request) -> Result<Reply, Response> {
        self.session(request)?;
        let session = request.header("mcp-session-id").and_then(|id| lock(&self.sessions).remove(id));
        if let Some(session) = session {
            session.end();
        }
        Ok(Reply::Whole(Response::empty(204)))
    }

    /// The session that a legacy request belongs to.
    fn session(&self, request: &Request) -> Result<Arc<Session>, Response> {
        let refuse = |status, message: &str| refused(status, &Value::Null, Failure::new(INVALID_REQUEST, message));
        let Some(id) = request.header("mcp-session-id") else {
            return Err(refuse(400, "Mcp-Session-Id must be there: call initialize first"));
        };
        let session = lock(&self.sessions).get(id).cloned();
        let session = session.ok_or_else(|| refuse(404, "there is no such session"))?;
        session.used.store(self.tick(), Ordering::Relaxed);
        match request.header(VERSION) {
            Some(version) if !Revision::ALL.iter().any(|known| known.as_str() == version) => {
                Err(refused(400, &Value::Null, headers::unsupported(version)))
            }
            _ => Ok(session),
        }
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }
}

impl Session {
    /// A stream for what comes of one POST.
    fn open(&self) -> (Arc<Stream>, Outbox) {
        let own = Stream::new(self.opened.fetch_add(1, Ordering::Relaxed));
        let outbox = Outbox::new(Post { own: Arc::clone(&own), general: Some(Arc::clone(&self.general)) });
        (own, outbox)
    }

    /// Keeps a stream for a client that comes back to it.
    fn keep(&self, stream: Arc<Stream>) -> Reading {
        let mut calls = lock(&self.calls);
        if calls.len() >= MOST_STREAMS {
            let oldest = calls.iter().position(|stream| stream.has_ended()).unwrap_or(0);
            calls.remove(oldest);
        }
        calls.push_back(Arc::clone(&stream));
        drop(calls);
        self.reading(stream, None)
    }

    fn stream(&self, number: u64) -> Option<Arc<Stream>> {
        if number == self.general.number {
            return Some(Arc::clone(&self.general));
        }
        lock(&self.calls).iter().find(|stream| stream.number == number).cloned()
    }

    fn reading(&self, stream: Arc<Stream>, after: Option<u64>) -> Reading {
        // Clients of earlier revisions may take an event without data for a message.
        let is_primed = after.is_none() && self.revision >= Revision::V2025_11_25;
        // A connection that breaks cancels nothing.
        Reading { stream, after, is_resumable: true, is_primed, gone: Box::new(|| {}) }
    }

    fn end(&self) {
        lock(&self.server).end();
        self.general.end();
        lock(&self.calls).drain(..).for_each(|stream| stream.end());
    }
}

/// Whether a header speaks of the modern era. What nobody knows is no version of the legacy one.
fn is_modern(version: &str) -> bool {
    Revision::ALL.iter().find(|known| known.as_str() == version).is_none_or(|known| known.is_modern())
}

/// The answer that is there at once: one message, or none where none was asked for.
fn whole(said: Vec<Value>, status: impl Fn(i64) -> u16) -> Response {
    let Some(message) = said.into_iter().next() else {
        return Response::empty(202);
    };
    let code = message.get("error").and_then(|error| error["code"].as_i64());
    // What could not be read as a request.
    let is_nobodys = message.get("id").is_some_and(Value::is_null);
    let status = if is_nobodys { 400 } else { code.map_or(200, status) };
    Response::json(status, &message)
}

/// The status of a modern error.
fn status_of(code: i64) -> u16 {
    match code {
        HEADER_MISMATCH
        | revision::UNSUPPORTED_VERSION
        | revision::MISSING_CAPABILITY
        | INVALID_REQUEST
        | PARSE_ERROR => 400,
        METHOD_NOT_FOUND => 404,
        _ => 200,
    }
}

fn refused(status: u16, id: &Value, failure: Failure) -> Response {
    Response::json(status, &error(id, failure.code, &failure.message, failure.data))
}
