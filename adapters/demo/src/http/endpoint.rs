//! [`Endpoint`]: decides, without I/O, how to reply to each HTTP request, and which stream carries each message.
//!
//! Each legacy client has a session, which is one connection of the [`Server`]. In the modern era, each request is a connection
//! of its own.

use std::collections::BTreeMap;
use std::task::Waker;
use std::time::{Duration, SystemTime};

use ::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use bytes::Bytes;
use serde_json::Value;

use super::headers::{self, HEADER_MISMATCH, SESSION, VERSION};
use super::reply::{self, Reading, Reply, Response};
use super::sessions::{Next, OnLeave, Session, SessionKind, Sessions, Stream};
use crate::pending::{GENERAL_STREAM, Route};
use crate::revision::{MISSING_CAPABILITY, Revision, UNSUPPORTED_VERSION, unsupported};
use crate::rpc::{Failure, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR};
use crate::server::{Output, Server};

/// The URL path of the endpoint for Streamable HTTP.
pub(super) const PATH: &str = "/mcp";
/// The URL paths of HTTP+SSE (2024-11-05): the first for the event stream, the second for POST requests.
const SSE_PATH: &str = "/sse";
const MESSAGES_PATH: &str = "/messages";

/// The number of the stream that answers the first request of a connection.
const FIRST_STREAM: u64 = GENERAL_STREAM + 1;

/// The HTTP endpoint as a state machine, with the demo server, the sessions and the streams of all clients.
#[derive(Debug)]
pub(super) struct Endpoint {
    server: Server,
    sessions: Sessions,
    streams: BTreeMap<Route, Stream>,
    log: Vec<String>,
}

impl Endpoint {
    pub(super) fn new(started: SystemTime) -> Self {
        Self { server: Server::new(started), sessions: Sessions::default(), streams: BTreeMap::new(), log: Vec::new() }
    }

    /// Returns the time at which to call [`Endpoint::handle_timeout`], or `None` if the endpoint waits for no time.
    pub(super) fn next_timeout(&self) -> Option<Duration> {
        self.server.next_timeout()
    }

    pub(super) fn handle_timeout(&mut self, now: Duration) {
        self.server.handle_timeout(now);
        self.deliver();
    }

    /// Removes and returns the log lines that were added since the last call.
    pub(super) fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    /// Returns the next event of a stream for this reader. If there is none yet, stores `waker` to wake the reader.
    pub(super) fn poll(&mut self, reading: &Reading, waker: &Waker) -> Next {
        self.streams.get_mut(&reading.route).map_or(Next::Replaced, |stream| stream.poll(reading.reader, waker))
    }

    /// Handles a reader that leaves its stream, because the client has closed the response or has read the stream to its end.
    pub(super) fn leave(&mut self, reading: &Reading) {
        let Some(stream) = self.streams.get_mut(&reading.route) else { return };
        if !stream.detach(reading.reader) {
            return;
        }
        let connection = reading.route.connection;
        match stream.on_leave.clone() {
            OnLeave::Wait => {}
            OnLeave::Cancel(id) => {
                self.server.cancel(connection, &id, Some("the client closed the response"));
                self.close(connection);
            }
            OnLeave::EndSession(id) => {
                self.sessions.remove(&id);
                self.close(connection);
            }
            OnLeave::Remove => drop(self.streams.remove(&reading.route)),
        }
        self.deliver();
    }

    /// Decides how to reply to an HTTP request.
    pub(super) fn answer(&mut self, request: &Request<Bytes>, now: Duration) -> Reply {
        if !headers::is_from_here(request.headers()) {
            return Reply::Whole(reply::text(StatusCode::FORBIDDEN, "pages of other origins have no access"));
        }
        let reply = self.route(request, now);
        self.deliver();
        reply.unwrap_or_else(Reply::Whole)
    }

    fn route(&mut self, request: &Request<Bytes>, now: Duration) -> Result<Reply, Response> {
        let is_modern = headers::single(request.headers(), VERSION).is_some_and(is_modern);
        match (request.uri().path(), request.method()) {
            (PATH, &Method::POST) => self.post(request, now),
            (PATH, &Method::GET | &Method::DELETE) if is_modern => {
                Err(reply::method_not_allowed("there are no sessions in this revision", "POST"))
            }
            (PATH, &Method::GET) => self.get(request.headers()),
            (PATH, &Method::DELETE) => self.delete(request.headers()),
            (PATH, _) => Err(reply::method_not_allowed("not a method of this endpoint", "POST, GET, DELETE")),
            (SSE_PATH, &Method::GET) => Ok(self.open_sse()),
            (SSE_PATH, _) => Err(reply::method_not_allowed("this is the stream of HTTP+SSE", "GET")),
            (MESSAGES_PATH, &Method::POST) => self.post_message(request, now),
            (MESSAGES_PATH, _) => Err(reply::method_not_allowed("this is where messages are posted", "POST")),
            _ => {
                let text = format!("the MCP endpoint is {PATH}, that of HTTP+SSE is {SSE_PATH}");
                Err(reply::text(StatusCode::NOT_FOUND, &text))
            }
        }
    }

    fn post(&mut self, request: &Request<Bytes>, now: Duration) -> Result<Reply, Response> {
        let headers = request.headers();
        if !headers::accepts_both(headers) {
            let text = "Accept must list application/json and text/event-stream";
            return Err(reply::text(StatusCode::NOT_ACCEPTABLE, text));
        }
        let body = body(request)?;
        if body.get("method").is_some_and(|method| method == "initialize") {
            return self.initialize(&body, now);
        }
        if headers::body_version(&body).is_some() || headers::single(headers, VERSION).is_some_and(is_modern) {
            return self.post_modern(headers, &body, now);
        }
        let route = session(&mut self.sessions, headers)?.next_route();
        self.streams.insert(route, Stream::new(OnLeave::Wait));
        self.server.receive(route, &body, now);
        if let Some(response) = self.take_response(route, |_| StatusCode::OK) {
            return Ok(Reply::Whole(response));
        }
        let has_ended = |route| self.streams.get(&route).is_none_or(Stream::has_ended);
        if let Some(dropped) = session(&mut self.sessions, headers)?.keep(route, has_ended) {
            self.streams.remove(&dropped);
        }
        self.read_legacy(route, None)
    }

    /// Opens a session for a legacy client, and answers its `initialize` request.
    fn initialize(&mut self, body: &Value, now: Duration) -> Result<Reply, Response> {
        let connection = self.server.connect();
        let route = Route { connection, stream: FIRST_STREAM };
        self.streams.insert(route, Stream::new(OnLeave::Wait));
        self.server.receive(route, body, now);
        let response = self.take_response(route, |_| StatusCode::OK);
        let mut response = response.unwrap_or_else(|| reply::empty(StatusCode::ACCEPTED));
        if self.server.negotiated(connection).is_none() {
            self.close(connection);
            return Err(response);
        }
        let id = self.add_session(Session::new(connection, SessionKind::Streamable));
        self.streams.insert(Route::general(connection), Stream::new(OnLeave::Wait));
        if let Ok(id) = HeaderValue::try_from(id) {
            response.headers_mut().insert(SESSION, id);
        }
        Ok(Reply::Whole(response))
    }

    fn post_modern(&mut self, headers: &HeaderMap, message: &Value, now: Duration) -> Result<Reply, Response> {
        if message.get("method").is_none() {
            let failure = Failure::new(INVALID_REQUEST, "the body is one request or notification");
            return Err(reply::failed(StatusCode::BAD_REQUEST, &Value::Null, failure));
        }
        let Some(id) = message.get("id") else {
            // Notifications have no effect: in the modern era over HTTP, a client cancels a call by closing its stream.
            return Err(reply::empty(StatusCode::ACCEPTED));
        };
        headers::check(headers, message).map_err(|failure| reply::failed(StatusCode::BAD_REQUEST, id, failure))?;
        let connection = self.server.connect();
        let route = Route { connection, stream: FIRST_STREAM };
        self.streams.insert(route, Stream::new(OnLeave::Cancel(id.clone())));
        self.server.receive(route, message, now);
        if let Some(response) = self.take_response(route, status_of) {
            self.close(connection);
            return Ok(Reply::Whole(response));
        }
        self.read(route, None, None, false)
    }

    fn get(&mut self, headers: &HeaderMap) -> Result<Reply, Response> {
        if !headers::accepts_events(headers) {
            return Err(reply::text(StatusCode::NOT_ACCEPTABLE, "Accept must list text/event-stream"));
        }
        let connection = session(&mut self.sessions, headers)?.connection;
        let Some(last) = headers::single(headers, "last-event-id") else {
            return self.read_legacy(Route::general(connection), None);
        };
        let unknown = || reply::text(StatusCode::BAD_REQUEST, "there is no event of this id to go on from");
        let (stream, event) = last.split_once('-').ok_or_else(unknown)?;
        let route = Route { connection, stream: stream.parse().map_err(|_| unknown())? };
        if !self.streams.contains_key(&route) {
            return Err(unknown());
        }
        self.read_legacy(route, Some(event.parse().map_err(|_| unknown())?))
    }

    fn delete(&mut self, headers: &HeaderMap) -> Result<Reply, Response> {
        let connection = session(&mut self.sessions, headers)?.connection;
        if let Some(id) = headers::single(headers, SESSION) {
            self.sessions.remove(id);
        }
        self.close(connection);
        Ok(Reply::Whole(reply::empty(StatusCode::NO_CONTENT)))
    }

    /// Opens a session and its event stream for HTTP+SSE. The first event contains the path for POST requests (2024-11-05,
    /// basic/transports).
    fn open_sse(&mut self) -> Reply {
        let connection = self.server.connect();
        let route = Route::general(connection);
        let id = self.add_session(Session::new(connection, SessionKind::HttpSse));
        let first = format!("event: endpoint\ndata: {MESSAGES_PATH}?sessionId={id}\n\n");
        let mut stream = Stream::new(OnLeave::EndSession(id));
        let reader = stream.attach(None);
        self.streams.insert(route, stream);
        Reply::Events(Reading { route, reader, first: Some(first), is_resumable: false })
    }

    /// Handles a message that an HTTP+SSE client has sent by POST. The answer is sent on the event stream of the session.
    fn post_message(&mut self, request: &Request<Bytes>, now: Duration) -> Result<Reply, Response> {
        let query = request.uri().query().unwrap_or_default();
        let id = query.split('&').find_map(|pair| pair.strip_prefix("sessionId=")).unwrap_or_default();
        let Some(session) = self.sessions.get(id).filter(|session| session.kind == SessionKind::HttpSse) else {
            return Err(reply::text(StatusCode::NOT_FOUND, "there is no such session"));
        };
        let route = Route::general(session.connection);
        let body = body(request)?;
        self.server.receive(route, &body, now);
        Ok(Reply::Whole(reply::text(StatusCode::ACCEPTED, "Accepted")))
    }

    fn add_session(&mut self, session: Session) -> String {
        let (id, evicted) = self.sessions.add(session);
        if let Some(evicted) = evicted {
            self.close(evicted.connection);
        }
        id
    }

    /// Removes a connection of the server, and ends its streams.
    fn close(&mut self, connection: u64) {
        self.server.disconnect(connection);
        self.streams.retain(|route, stream| {
            if route.connection == connection {
                stream.end();
                stream.on_leave = OnLeave::Remove;
            }
            route.connection != connection || stream.has_reader()
        });
    }

    /// Returns the complete response to a POST request if it needs no event stream: no request is pending, and there is at most
    /// one message. Otherwise, returns `None`, and the reply is an event stream.
    fn take_response(&mut self, route: Route, status: impl Fn(i64) -> StatusCode) -> Option<Response> {
        self.deliver();
        let stream = self.streams.get_mut(&route)?;
        if self.server.has_pending(route) {
            return None;
        }
        if stream.len() > 1 {
            stream.end();
            return None;
        }
        let Some(message) = self.streams.remove(&route)?.into_first() else {
            return Some(reply::empty(StatusCode::ACCEPTED));
        };
        let code = message.get("error").and_then(|error| error["code"].as_i64());
        // An error response without an id answers a body that is no valid message.
        let is_no_message = message.get("id").is_some_and(Value::is_null);
        let status = if is_no_message { StatusCode::BAD_REQUEST } else { code.map_or(StatusCode::OK, status) };
        Some(reply::json(status, &message))
    }

    fn read_legacy(&mut self, route: Route, after: Option<u64>) -> Result<Reply, Response> {
        // Only from revision 2025-11-25 on, because clients of earlier revisions may parse an event without data as a message.
        let has_first = after.is_none() && self.server.negotiated(route.connection) >= Some(Revision::V2025_11_25);
        let first = has_first.then(|| format!("id: {}-0\ndata:\n\n", route.stream));
        self.read(route, after, first, true)
    }

    fn read(
        &mut self,
        route: Route,
        after: Option<u64>,
        first: Option<String>,
        is_resumable: bool,
    ) -> Result<Reply, Response> {
        let stream = self.streams.get_mut(&route);
        let stream = stream.ok_or_else(|| reply::text(StatusCode::NOT_FOUND, "there is no such stream"))?;
        Ok(Reply::Events(Reading { route, reader: stream.attach(after), first, is_resumable }))
    }

    /// Moves the output of the server to the streams and the log.
    fn deliver(&mut self) {
        while let Some(output) = self.server.poll_output() {
            match output {
                Output::Log(line) => self.log.push(line),
                Output::Message(route, message) => {
                    let route = self.stream_for(route, &message);
                    if let Some(stream) = self.streams.get_mut(&route) {
                        stream.push(message);
                    }
                }
                Output::Ended(route) if route.stream == GENERAL_STREAM || self.server.has_pending(route) => {}
                Output::Ended(route) => {
                    if let Some(stream) = self.streams.get_mut(&route) {
                        stream.end();
                    }
                }
            }
        }
    }

    /// Returns the route of the stream that carries a message. Requests to the client use the GET stream if it has a reader, as
    /// in most servers.
    fn stream_for(&self, route: Route, message: &Value) -> Route {
        let method = message.get("method").and_then(Value::as_str);
        let is_question = method.is_some_and(|method| method != "notifications/progress");
        let general = Route::general(route.connection);
        match self.streams.get(&general) {
            Some(stream) if is_question && stream.has_reader() => general,
            _ => route,
        }
    }
}

/// Returns the session of a legacy request by its header `Mcp-Session-Id`. The error is the reply if the id is missing or
/// unknown.
fn session<'a>(sessions: &'a mut Sessions, headers: &HeaderMap) -> Result<&'a mut Session, Response> {
    let refused = |status, text: &str| reply::failed(status, &Value::Null, Failure::new(INVALID_REQUEST, text));
    let Some(id) = headers::single(headers, SESSION) else {
        return Err(refused(StatusCode::BAD_REQUEST, "Mcp-Session-Id must be there: call initialize first"));
    };
    let session = sessions.get(id).filter(|session| session.kind == SessionKind::Streamable);
    let session = session.ok_or_else(|| refused(StatusCode::NOT_FOUND, "there is no such session"))?;
    match headers::single(headers, VERSION) {
        Some(version) if !Revision::ALL.iter().any(|known| known.as_str() == version) => {
            Err(reply::failed(StatusCode::BAD_REQUEST, &Value::Null, unsupported(version)))
        }
        _ => Ok(session),
    }
}

/// Parses the body of a POST request as JSON. The error is the reply to the client.
fn body(request: &Request<Bytes>) -> Result<Value, Response> {
    if !headers::sends_json(request.headers()) {
        return Err(reply::text(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json"));
    }
    serde_json::from_slice(request.body())
        .map_err(|error| reply::failed(StatusCode::BAD_REQUEST, &Value::Null, Failure::not_json(&error)))
}

/// Returns whether a protocol version belongs to the modern era. Unknown versions do, because the legacy era gets no new
/// versions.
fn is_modern(version: &str) -> bool {
    Revision::ALL.iter().find(|known| known.as_str() == version).is_none_or(|known| known.is_modern())
}

/// Returns the HTTP status for the code of a JSON-RPC error in the modern era.
fn status_of(code: i64) -> StatusCode {
    match code {
        HEADER_MISMATCH | UNSUPPORTED_VERSION | MISSING_CAPABILITY | INVALID_REQUEST | PARSE_ERROR => {
            StatusCode::BAD_REQUEST
        }
        METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}
