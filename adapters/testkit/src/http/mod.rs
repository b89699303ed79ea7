//! [`ScriptedHttp`]: a scripted server over HTTP, without a network.

mod answer;
mod body;
mod request;

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcpwire_driver::http::{HttpClient, HttpOptions, HttpResponse, ResponseFuture};
use mcpwire_driver::protocol::http::{Exchange, Verb};
use mcpwire_driver::protocol::{Json, ProtocolVersion, Timestamp};
use mcpwire_driver::{ConnectOptions, CurrentRuntime, Error, McpClient, McpServerDef, Runtime};

pub use self::answer::HttpAnswer;
use self::answer::Part;
pub(crate) use self::body::Aborted;
use self::body::{Body, Source};
pub use self::request::HttpRequest;
use crate::protocol::VERSION;
use crate::server::ScriptedServer;

/// A [`ScriptedServer`] over Streamable HTTP, which can also return any other HTTP response.
///
/// It replaces the HTTP client, so there is no network, and the time may be virtual. Legacy clients get a session, with a stream
/// for messages that belong to no request.
///
/// An answer of one message is JSON. An answer that sends several messages, such as progress or
/// [`ScriptedResponse::ask`](crate::ScriptedResponse::ask), is an event stream, which ends with the response to the request.
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

type Script = dyn FnMut(&HttpRequest) -> Option<HttpAnswer> + Send;

struct Shared {
    server: ScriptedServer,
    state: Mutex<State>,
    /// Outside of `state`, because a script may use the server that it scripts, which locks `state`.
    script: Mutex<Option<Box<Script>>>,
}

#[derive(Default)]
struct State {
    requests: Vec<HttpRequest>,
    aborted: Aborted,
    /// The numbers of the clients with a session, by session id.
    sessions: BTreeMap<String, usize>,
    last_session: u64,
    is_stateless: bool,
    streams_always: bool,
}

/// An HTTP client that reaches the scripted server instead of a network, created by [`ScriptedHttp::client_on`].
pub struct ScriptedHttpClient {
    http: ScriptedHttp,
    runtime: Arc<dyn Runtime>,
}

impl ScriptedHttp {
    /// The URL at which clients reach the server. It is never looked up.
    pub const URL: &str = "http://scripted.test/mcp";

    /// Serves a scripted server over HTTP.
    pub fn new(server: ScriptedServer) -> Self {
        let (state, script) = (Mutex::default(), Mutex::default());
        ScriptedHttp(Arc::new(Shared { server, state, script }))
    }

    /// Sets a handler that answers requests in place of the server. If it returns `None`, the server answers.
    pub fn on_request(self, script: impl FnMut(&HttpRequest) -> Option<HttpAnswer> + Send + 'static) -> Self {
        *self.0.script.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(script));
        self
    }

    /// Turns off sessions for legacy clients, as in stateless servers. Such a server has no stream for messages that belong to no
    /// request, and gets no answers to its requests.
    pub fn without_sessions(self) -> Self {
        self.lock().is_stateless = true;
        self
    }

    /// Answers each request with an event stream, even if the answer is one message.
    pub fn always_streaming(self) -> Self {
        self.lock().streams_always = true;
        self
    }

    /// Returns the scripted server.
    pub fn server(&self) -> &ScriptedServer {
        &self.0.server
    }

    /// Returns all HTTP requests so far.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.lock().requests.clone()
    }

    /// Returns the requests whose response the client has closed before its end. In the modern era, this cancels a request.
    pub fn aborted(&self) -> Vec<HttpRequest> {
        self.lock().aborted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends all sessions and their streams, as a restart of the server does. Requests with their ids are answered with 404.
    pub fn expire_sessions(&self) {
        self.lock().sessions.clear();
        self.0.server.close();
    }

    /// Returns an HTTP client for [`HttpOptions::client`] that reaches this server. The time is that of the runtime.
    pub fn client_on(&self, runtime: Arc<dyn Runtime>) -> ScriptedHttpClient {
        ScriptedHttpClient { http: self.clone(), runtime }
    }

    /// Connects a new client on the current runtime of the program. The connection is not open yet.
    ///
    /// # Panics
    /// If this is called outside of a runtime, and `R` needs one, as tokio does.
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

    /// Decides on the reply to a request: by the handler of the script, or else by the server.
    fn answer(&self, request: &HttpRequest, body: &str, runtime: &Arc<dyn Runtime>) -> Decision {
        let mut script = self.0.script.lock().unwrap_or_else(PoisonError::into_inner);
        let scripted = script.as_mut().and_then(|script| script(request));
        drop(script);
        if let Some(answer) = scripted {
            return Decision::Scripted(answer);
        }
        let is_modern = modern(request);
        let client = match self.client(request, is_modern) {
            Ok(client) => client,
            Err(status) => return Decision::Scripted(status.into()),
        };
        let clock = runtime.clock();
        match request.verb {
            Verb::Post => self.post(request, body, client, runtime),
            Verb::Get if !self.lock().is_stateless && !is_modern => {
                Decision::Events(Vec::new(), self.0.server.open(&clock, client, true))
            }
            Verb::Delete if !is_modern => {
                let id = request.header(SESSION).unwrap_or_default();
                self.lock().sessions.remove(id);
                Decision::Scripted(204.into())
            }
            _ => Decision::Scripted(HttpAnswer::status(405).header("Allow", "POST")),
        }
    }

    /// Returns the client of a request, or `None` for a client without a session. The error is an HTTP status.
    fn client(&self, request: &HttpRequest, is_modern: bool) -> Result<Option<usize>, u16> {
        let state = self.lock();
        if is_modern || state.is_stateless || request.method() == "initialize" {
            return Ok(None);
        }
        let id = request.header(SESSION).ok_or(400_u16)?;
        state.sessions.get(id).copied().map(Some).ok_or(404)
    }

    fn post(&self, request: &HttpRequest, body: &str, client: Option<usize>, runtime: &Arc<dyn Runtime>) -> Decision {
        let server = &self.0.server;
        let method = request.method();
        let clock = runtime.clock();
        let connection = server.open(&clock, client, method == "subscriptions/listen");
        if method.is_empty() || !request.has_id() {
            // Messages that a notification triggers are sent on the GET stream, if the client has one.
            let general = server.lock().general_connection(client);
            server.receive(general.unwrap_or(connection), clock.now(), body);
            server.lock().outboxes.remove(&connection);
            server.wake();
            return Decision::Scripted(202.into());
        }
        server.receive(connection, clock.now(), body);
        let mut locked = server.lock();
        let only = locked.outboxes.get(&connection).and_then(|outbox| outbox.only_response());
        let only = only.map(|(at, line)| (at, line.to_owned()));
        let mut headers = Vec::new();
        let is_opened = only.as_ref().is_some_and(|(_, line)| line.contains(r#","result":"#));
        if method == "initialize" && is_opened && !self.lock().is_stateless {
            headers.push((SESSION.to_owned(), self.add_session(connection).into_bytes()));
        }
        match only.filter(|_| !self.lock().streams_always) {
            Some((at, line)) => {
                locked.outboxes.remove(&connection);
                Decision::Json(headers, at, line)
            }
            None => Decision::Events(headers, connection),
        }
    }

    /// Opens a session. The number of the client is that of the connection that opened the session.
    fn add_session(&self, connection: usize) -> String {
        let mut state = self.lock();
        state.last_session += 1;
        let id = format!("session-{}", state.last_session);
        state.sessions.insert(id.clone(), connection);
        id
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const SESSION: &str = "Mcp-Session-Id";

/// The reply to an HTTP request.
enum Decision {
    Scripted(HttpAnswer),
    /// A message with these headers, sent at this time.
    Json(Headers, Timestamp, String),
    /// An event stream with these headers. It contains the output of a connection.
    Events(Headers, usize),
}

type Headers = Vec<(String, Vec<u8>)>;

/// Returns whether a request is of the modern era, by its header or its body.
fn modern(request: &HttpRequest) -> bool {
    let meta = request.message.member::<Json>("params").and_then(|params| params.member::<Json>("_meta"));
    let version = meta.and_then(|meta| meta.member::<String>(VERSION));
    let version = version.as_deref().or_else(|| request.header("MCP-Protocol-Version"));
    version.is_some_and(|version| version >= ProtocolVersion::V2026_07_28.as_str())
}

impl HttpClient for ScriptedHttpClient {
    fn send(&self, exchange: Exchange) -> ResponseFuture {
        let now = self.runtime.clock().now();
        let request = HttpRequest::new(now.since_origin(), &exchange);
        let aborted = {
            let mut state = self.http.lock();
            state.requests.push(request.clone());
            Arc::clone(&state.aborted)
        };
        let (status, headers, at, source) = match self.http.answer(&request, &request.body, &self.runtime) {
            Decision::Scripted(answer) => return respond(answer, request, &self.runtime, aborted),
            Decision::Json(mut headers, at, line) => {
                headers.push(content_type("application/json"));
                (200, headers, at, Source::Parts([(at, Part::Bytes(line.into_bytes()))].into()))
            }
            Decision::Events(mut headers, connection) => {
                headers.push(content_type("text/event-stream"));
                (200, headers, now, Source::Events(self.http.server().clone(), connection))
            }
        };
        let mut body = Body::new(source, &self.runtime, request, aborted);
        Box::pin(async move {
            poll_fn(|cx| body.poll_until(at, cx)).await;
            Ok(HttpResponse::new(status, headers, body))
        })
    }
}

/// Responds to a request with a scripted answer, in the time of the runtime.
pub(crate) fn respond(
    mut answer: HttpAnswer,
    request: HttpRequest,
    runtime: &Arc<dyn Runtime>,
    aborted: Aborted,
) -> ResponseFuture {
    let at = runtime.clock().now() + answer.delay;
    let failure = answer.take_failure();
    let parts = answer.parts.into_iter().map(|(after, part)| (at + after, part)).collect();
    let mut body = Body::new(Source::Parts(parts), runtime, request, aborted);
    Box::pin(async move {
        poll_fn(|cx| body.poll_until(at, cx)).await;
        match failure {
            Some(failure) => Err(failure),
            None => Ok(HttpResponse::new(answer.status, answer.headers, body)),
        }
    })
}

fn content_type(media_type: &str) -> (String, Vec<u8>) {
    ("Content-Type".into(), media_type.into())
}

impl fmt::Debug for ScriptedHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The lock is not held while the server is formatted, because the server has its own lock.
        let (requests, sessions) = {
            let state = self.lock();
            (state.requests.len(), state.sessions.len())
        };
        f.debug_struct("ScriptedHttp")
            .field("server", &self.0.server)
            .field("requests", &requests)
            .field("sessions", &sessions)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ScriptedHttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedHttpClient").field("http", &self.http).finish_non_exhaustive()
    }
}
