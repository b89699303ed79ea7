//! [`ScriptedHttp`]: a scripted server over HTTP, without a network.

mod body;
mod messages;

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};

use mcpwire_driver::http::{HttpClient, HttpOptions, HttpResponse, ResponseFuture};
use mcpwire_driver::protocol::http::{Exchange, Failure, Verb};
use mcpwire_driver::protocol::{Json, ProtocolVersion};
use mcpwire_driver::{Clock, ConnectOptions, CurrentRuntime, Error, McpClient, McpServerDef, Runtime};

use self::body::{Aborted, Body, Events, Source};
pub(crate) use self::messages::Requests;
pub use self::messages::{HttpAnswer, HttpRequest};
use crate::lock;
use crate::protocol::VERSION;
use crate::server::ScriptedServer;

/// A simulated HTTP server that serves a [`ScriptedServer`] over Streamable HTTP. It can also return any other HTTP response.
///
/// It takes the place of the HTTP client, so tests need no network, and the time may be virtual. Legacy clients get a session,
/// and a stream for messages that belong to no request.
///
/// An answer of one message is sent as JSON. An answer of several messages, such as progress or
/// [`ScriptedResponse::ask`](crate::ScriptedResponse::ask), is sent as an event stream, which ends with the response to the
/// request.
///
/// [`ScriptedHttp::on_request`] sets a handler that answers in place of the server, for example with a redirect or a broken
/// stream.
///
/// ```
/// # mod mcpwire { pub mod testkit { pub use mcpwire_testkit::{HttpAnswer, ScriptedServer, Testkit}; } }
/// use mcpwire::testkit::{HttpAnswer, ScriptedServer, Testkit};
/// use serde_json::json;
///
/// let server = ScriptedServer::new().tool("echo", |_| "hi");
/// let mut calls = 0;
/// let kit = Testkit::new(server).over_http(|http| {
///     http.on_request(move |request| {
///         calls += usize::from(request.method() == "tools/call");
///         (request.method() == "tools/call" && calls == 1).then(|| HttpAnswer::status(503).header("Retry-After", "30"))
///     })
/// });
/// kit.run(async |client| {
///     let error = client.call_tool("echo", json!({})).await.unwrap_err();
///     assert!(error.to_string().contains("503"), "{error}");
///     assert_eq!(client.call_tool("echo", json!({})).await.unwrap().text().as_str(), "hi");
/// });
/// ```
#[derive(Clone)]
pub struct ScriptedHttp(Arc<Shared>);

struct Shared {
    server: ScriptedServer,
    requests: Requests,
    aborted: Aborted,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The number of the client of each open session, by session id.
    sessions: BTreeMap<String, usize>,
    last_session: u64,
    is_stateless: bool,
    streams_always: bool,
}

/// An HTTP client that sends requests to a [`ScriptedHttp`] instead of a network. Created by [`ScriptedHttp::client_on`].
pub struct ScriptedHttpClient {
    http: ScriptedHttp,
    runtime: Arc<dyn Runtime>,
}

impl ScriptedHttp {
    /// The URL of the server for clients. Its host is never resolved.
    pub const URL: &str = "http://scripted.test/mcp";

    /// Creates an HTTP server for a scripted server. Connect clients with [`ScriptedHttp::connect`].
    pub fn new(server: ScriptedServer) -> Self {
        let (requests, aborted, state) = (Requests::default(), Aborted::default(), Mutex::default());
        ScriptedHttp(Arc::new(Shared { server, requests, aborted, state }))
    }

    /// Sets a handler that gets each HTTP request first. It returns the response, or `None` to let the server answer.
    pub fn on_request(self, script: impl FnMut(&HttpRequest) -> Option<HttpAnswer> + Send + 'static) -> Self {
        self.0.requests.set_handler(script);
        self
    }

    /// Turns off sessions for legacy clients, as in stateless servers. Clients then get no stream for messages that belong to no
    /// request, and their answers to requests of the server are lost.
    pub fn without_sessions(self) -> Self {
        self.lock().is_stateless = true;
        self
    }

    /// Answers each JSON-RPC request with an event stream, even if the answer is one message. By default, such an answer is JSON.
    pub fn always_streaming(self) -> Self {
        self.lock().streams_always = true;
        self
    }

    /// Returns the scripted MCP server, for example to change its script.
    pub fn server(&self) -> &ScriptedServer {
        &self.0.server
    }

    /// Returns all HTTP requests that the server has received so far, in order of arrival.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.0.requests.all()
    }

    /// Returns the requests whose response the client has closed before its end. In the modern era, a client cancels a request
    /// this way.
    pub fn aborted(&self) -> Vec<HttpRequest> {
        lock(&self.0.aborted).clone()
    }

    /// Ends all sessions and their streams, as a restart of the server does. Later requests with the id of an ended session get
    /// the status 404.
    pub fn expire_sessions(&self) {
        self.lock().sessions.clear();
        self.0.server.close();
    }

    /// Returns an HTTP client that sends its requests to this server, for [`HttpOptions::client`]. Delays use the time of
    /// `runtime`.
    pub fn client_on(&self, runtime: Arc<dyn Runtime>) -> ScriptedHttpClient {
        ScriptedHttpClient { http: self.clone(), runtime }
    }

    /// Creates an MCP client of this server on the current runtime of the program. Call `initialize` to open the connection.
    ///
    /// # Panics
    /// If `R` needs a runtime, as tokio does, and this is called outside of one.
    pub fn connect<R: CurrentRuntime>(&self, options: ConnectOptions) -> Result<McpClient<R>, Error> {
        self.connect_on(R::current(), options)
    }

    pub(crate) fn connect_on<R>(
        &self,
        runtime: Arc<dyn Runtime>,
        options: ConnectOptions,
    ) -> Result<McpClient<R>, Error> {
        let client = self.client_on(Arc::clone(&runtime));
        let options = options.http(HttpOptions::default().client(client));
        McpClient::connect_on(runtime, &McpServerDef::http(ScriptedHttp::URL), options)
    }

    /// Returns the response to an HTTP request, from the handler of the test or else from the server. For an event stream, also
    /// returns the number of the connection whose output is the body.
    fn answer(&self, request: &HttpRequest, clock: &Clock) -> (HttpAnswer, Option<usize>) {
        if let Some(scripted) = self.0.requests.receive(request) {
            return (scripted, None);
        }
        let is_modern = is_modern(request);
        let client = match self.client(request, is_modern) {
            Ok(client) => client,
            Err(status) => return (status.into(), None),
        };
        match request.verb {
            Verb::Post => self.post(request, client, clock),
            Verb::Get if !self.lock().is_stateless && !is_modern => {
                (HttpAnswer::events(), Some(self.0.server.open(clock, client, true)))
            }
            Verb::Delete if !is_modern => {
                self.lock().sessions.remove(request.header(SESSION).unwrap_or_default());
                (204.into(), None)
            }
            _ => (HttpAnswer::status(405).header("Allow", "POST"), None),
        }
    }

    /// Returns the number of the client to which a request's session id belongs, or `None` if the request needs no session. The
    /// error is an HTTP status.
    fn client(&self, request: &HttpRequest, is_modern: bool) -> Result<Option<usize>, u16> {
        let state = self.lock();
        if is_modern || state.is_stateless || request.method() == "initialize" {
            return Ok(None);
        }
        let id = request.header(SESSION).ok_or(400_u16)?;
        state.sessions.get(id).copied().map(Some).ok_or(404)
    }

    fn post(&self, request: &HttpRequest, client: Option<usize>, clock: &Clock) -> (HttpAnswer, Option<usize>) {
        let server = &self.0.server;
        let method = request.method();
        let connection = server.open(clock, client, method == "subscriptions/listen");
        if method.is_empty() || !request.has_id() {
            // Messages that a notification triggers are sent on the GET stream, if the client has one.
            let general = server.lock().general_connection(client);
            server.receive(general.unwrap_or(connection), clock.now(), &request.body);
            server.disconnect(connection);
            server.wake();
            return (202.into(), None);
        }
        server.receive(connection, clock.now(), &request.body);
        let locked = server.lock();
        let only = locked.outboxes.get(&connection).and_then(|outbox| outbox.only_response());
        let only = only.map(|(at, line)| (at, line.to_owned()));
        drop(locked);
        let is_opened = |line: &String| Json::parse(&**line).is_ok_and(|line| line.member::<Json>("result").is_some());
        let opens = method == "initialize" && only.as_ref().is_some_and(|(_, line)| is_opened(line));
        let (is_stateless, streams_always) = {
            let state = self.lock();
            (state.is_stateless, state.streams_always)
        };
        let mut answer = HttpAnswer::status(200);
        if opens && !is_stateless {
            answer = answer.header(SESSION, self.add_session(connection));
        }
        match only.filter(|_| !streams_always) {
            Some((at, line)) => {
                server.disconnect(connection);
                let answer = answer.header("Content-Type", "application/json");
                (answer.wait(at.duration_since(clock.now())).body(line), None)
            }
            None => (answer.header("Content-Type", "text/event-stream"), Some(connection)),
        }
    }

    /// Opens a session, and returns its id. The client of the session gets the number of the connection that sent `initialize`.
    fn add_session(&self, connection: usize) -> String {
        let mut state = self.lock();
        state.last_session += 1;
        let id = format!("session-{}", state.last_session);
        state.sessions.insert(id.clone(), connection);
        id
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }
}

const SESSION: &str = "Mcp-Session-Id";

/// Returns whether a request is of the modern era, by the protocol revision in its body or else in its header.
fn is_modern(request: &HttpRequest) -> bool {
    let meta = request.message.member::<Json>("params").and_then(|params| params.member::<Json>("_meta"));
    let version = meta.and_then(|meta| meta.member::<String>(VERSION));
    let version = version.as_deref().or_else(|| request.header("MCP-Protocol-Version"));
    version.is_some_and(|version| version >= ProtocolVersion::V2026_07_28.as_str())
}

impl HttpClient for ScriptedHttpClient {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        let clock = self.runtime.clock();
        let request = HttpRequest::new(clock.now().since_origin(), &exchange);
        let Shared { server, aborted, .. } = &*self.http.0;
        let (answer, connection) = self.http.answer(&request, &clock);
        let events = connection.map(|connection| Events { server: server.clone(), connection, has_answered: false });
        respond(answer, events, request, &*self.runtime, Arc::clone(aborted))
    }
}

/// Converts a scripted response to the future that an HTTP client returns. The body is `events`, or else the parts of the
/// response. Delays use the time of `runtime`.
pub(crate) fn respond(
    answer: HttpAnswer,
    events: Option<Events>,
    request: HttpRequest,
    runtime: &dyn Runtime,
    aborted: Aborted,
) -> ResponseFuture {
    let at = runtime.clock().now() + answer.delay;
    let source = match events {
        Some(events) => Source::Events(events),
        None => Source::Parts(answer.parts.into_iter().map(|(after, part)| (at + after, part)).collect()),
    };
    let mut body = Body::new(source, runtime, request, aborted);
    Box::pin(async move {
        poll_fn(|cx| body.alarm.poll_until(at, cx)).await;
        match answer.failure {
            Some((kind, detail)) => Err(Failure::new(kind, detail)),
            None => Ok(HttpResponse::new(answer.status, answer.headers, body)),
        }
    })
}

impl fmt::Debug for ScriptedHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The lock is not held while the server is formatted, because the server has its own lock.
        let sessions = self.lock().sessions.len();
        f.debug_struct("ScriptedHttp")
            .field("server", &self.0.server)
            .field("requests", &self.0.requests.count())
            .field("sessions", &sessions)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ScriptedHttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedHttpClient").field("http", &self.http).finish_non_exhaustive()
    }
}
