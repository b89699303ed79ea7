//! [`ScriptedServer`]: a server that responds as scripted, and records the messages that it receives.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use mcpwire_driver::memory::duplex;
use mcpwire_driver::protocol::{Era, Json, ProtocolVersion};
use mcpwire_driver::{ConnectOptions, CurrentRuntime, McpClient, Runtime};
use serde::Serialize;

use crate::outbox::{Outbox, Output};
use crate::recorded::{Cancellation, RecordedMessage};
use crate::response::ScriptedResponse;
use crate::serve_future::ServeFuture;
use crate::wire;

/// The default capacity of a pipe, in bytes. 64 KiB: as a pipe on Linux.
pub(crate) const DEFAULT_CAPACITY: usize = 64 * 1024;

/// A server that responds as scripted, and records the messages that it receives.
///
/// A new server supports both eras (`server/discover` and `initialize`), answers `ping`, has no tools, and responds to all other
/// methods with "method not found". Clones share one server. Any number of clients can connect to the server, and the script can
/// change at any time.
///
/// A [`Testkit`](crate::Testkit) runs the server in virtual time. [`ScriptedServer::serve`] runs it on any runtime:
///
/// ```no_run
/// # use mcpwire_testkit::VirtualTime as Tokio;
/// # use mcpwire_driver::McpClient;
/// # fn spawn(_: impl Future<Output = ()>) {}
/// # async fn run() -> Result<(), mcpwire_driver::Error> {
/// use mcpwire_driver::ConnectOptions;
/// use mcpwire_testkit::{ScriptedServer, duplex};
///
/// let server = ScriptedServer::new().tool("hello", |_| "hello");
/// let (ours, theirs) = duplex(64 * 1024);
/// spawn(server.serve::<Tokio>(theirs.reader, theirs.writer)); // `tokio::spawn`, with `mcpwire_tokio::Tokio`
/// let client = McpClient::<Tokio>::over(ours.reader, ours.writer, ConnectOptions::default());
/// client.initialize().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedServer(Arc<Mutex<ServerState>>);

/// Answers a request by its parameters. For a tool, these are its arguments.
pub(crate) type Handler = Arc<Mutex<dyn FnMut(&Json) -> ScriptedResponse + Send>>;

pub(crate) struct ServerState {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) versions: Vec<String>,
    pub(crate) capabilities: Json,
    pub(crate) instructions: Option<String>,
    /// The name, definition and handler of each tool, in the order of the list.
    pub(crate) tools: Vec<(String, Json, Handler)>,
    pub(crate) page_size: usize,
    pub(crate) methods: BTreeMap<String, Handler>,
    pub(crate) latency: Duration,
    pub(crate) ignores_cancellations: bool,
    pub(crate) is_reading: bool,
    pub(crate) recorded: Vec<RecordedMessage>,
    /// The scheduled output of each open connection, by the number of the connection.
    pub(crate) outboxes: BTreeMap<usize, Outbox>,
    /// Number of connections so far.
    connections: usize,
    /// Number of requests that the server has sent.
    requests: u64,
}

impl ScriptedServer {
    /// Creates a server without tools that supports all protocol versions.
    pub fn new() -> Self {
        ScriptedServer(Arc::new(Mutex::new(ServerState {
            name: "scripted".into(),
            version: "1.0.0".into(),
            versions: ProtocolVersion::ALL.map(|version| version.to_string()).into(),
            capabilities: wire::trusted(r#"{"tools":{"listChanged":true},"logging":{}}"#.into()),
            instructions: None,
            tools: Vec::new(),
            page_size: usize::MAX,
            methods: BTreeMap::new(),
            latency: Duration::ZERO,
            ignores_cancellations: false,
            is_reading: true,
            recorded: Vec::new(),
            outboxes: BTreeMap::new(),
            connections: 0,
            requests: 0,
        })))
    }

    /// Sets the name and the version in the `serverInfo`. The default is `scripted` 1.0.0.
    pub fn server_info(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.change(|state| (state.name, state.version) = (name.into(), version.into()))
    }

    /// Limits the server to the protocol versions of one era.
    pub fn era(self, era: Era) -> Self {
        let versions = ProtocolVersion::ALL.into_iter().filter(|version| version.era() == era);
        self.versions(versions.map(|version| version.to_string()))
    }

    /// Sets the protocol versions that the server supports. They need not exist.
    pub fn versions(self, versions: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.change(|state| state.versions = versions.into_iter().map(Into::into).collect())
    }

    /// Sets the capabilities that the server declares, an object. The default is `tools` with `listChanged`, and `logging`.
    ///
    /// # Panics
    /// If the value cannot be serialised as JSON.
    pub fn capabilities(self, capabilities: impl Serialize) -> Self {
        self.change(|state| state.capabilities = wire::json(&capabilities))
    }

    /// Sets the `instructions` of the server.
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.change(|state| state.instructions = Some(instructions.into()))
    }

    /// Adds a tool that accepts any arguments, or replaces the tool of this name.
    ///
    /// ```
    /// # use mcpwire_testkit::ScriptedServer;
    /// let mut count = 0;
    /// let server = ScriptedServer::new().tool("count", move |_| {
    ///     count += 1;
    ///     count.to_string()
    /// });
    /// ```
    pub fn tool<A: Into<ScriptedResponse>>(
        self,
        name: impl Into<String>,
        handler: impl FnMut(&Json) -> A + Send + 'static,
    ) -> Self {
        let name = name.into();
        let definition =
            wire::trusted(format!(r#"{{"name":{},"inputSchema":{{"type":"object"}}}}"#, wire::json(&name)));
        self.tool_with(definition, handler)
    }

    /// Adds a tool with a definition as in `tools/list`, or replaces the tool of the same name.
    ///
    /// ```
    /// # use mcpwire_testkit::ScriptedServer;
    /// # use serde_json::json;
    /// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    /// let server = ScriptedServer::new()
    ///     .tool_with(json!({"name": "weather", "description": "How it is outside.", "inputSchema": schema}), |_| "sunny");
    /// ```
    ///
    /// # Panics
    /// If the definition cannot be serialised as JSON.
    pub fn tool_with<A: Into<ScriptedResponse>>(
        self,
        definition: impl Serialize,
        handler: impl FnMut(&Json) -> A + Send + 'static,
    ) -> Self {
        let definition = wire::json(&definition);
        let name: String = definition.member("name").unwrap_or_default();
        let tool = (name, definition, shared(handler));
        self.change(|state| match state.tools.iter_mut().find(|(name, ..)| *name == tool.0) {
            Some(known) => *known = tool,
            None => state.tools.push(tool),
        })
    }

    /// Sets the handler of a method, which replaces the default response.
    ///
    /// `method` can be any request, including `server/discover` and `initialize`, or a notification. The server sends no result or
    /// error for a notification.
    ///
    /// ```
    /// # use mcpwire_testkit::{ScriptedResponse, ScriptedServer};
    /// # use serde_json::json;
    /// let server = ScriptedServer::new()
    ///     .on("resources/list", |_| ScriptedResponse::new().result(json!({"resources": []})))
    ///     .on("notifications/initialized", |_| ScriptedResponse::new().notify("notifications/tools/list_changed", ()));
    /// ```
    pub fn on<A: Into<ScriptedResponse>>(
        self,
        method: impl Into<String>,
        handler: impl FnMut(&Json) -> A + Send + 'static,
    ) -> Self {
        self.change(|state| drop(state.methods.insert(method.into(), shared(handler))))
    }

    /// Sets the maximum number of tools on a page of the list. By default, one page contains all tools.
    pub fn page_size(self, tools: usize) -> Self {
        self.change(|state| state.page_size = tools.max(1))
    }

    /// Sets the delay before the first step of each response. The default is no delay.
    pub fn latency(self, latency: Duration) -> Self {
        self.change(|state| state.latency = latency)
    }

    /// Makes the server respond to cancelled requests, too.
    pub fn ignore_cancellations(self) -> Self {
        self.change(|state| state.ignores_cancellations = true)
    }

    /// Removes a tool, without a notification. Use [`ScriptedServer::notify`] to notify the clients.
    pub fn remove_tool(&self, name: &str) {
        self.lock().tools.retain(|(known, ..)| known != name);
    }

    /// Stops or resumes reading. While the server does not read, messages of the clients stay in the pipe.
    pub fn set_reading(&self, is_reading: bool) {
        self.lock().is_reading = is_reading;
        self.wake();
    }

    /// Sends a notification to all connected clients. `()` means no parameters.
    ///
    /// # Panics
    /// If the parameters cannot be serialised as JSON.
    pub fn notify(&self, method: &str, params: impl Serialize) {
        self.broadcast(&Output::line(wire::notification(method, &wire::json(&params))));
    }

    /// Sends a request to all connected clients, and returns its id. [`ScriptedServer::recorded`] contains the answers.
    ///
    /// Only legacy servers may send requests: modern clients do not answer.
    ///
    /// # Panics
    /// If the parameters cannot be serialised as JSON.
    pub fn request(&self, method: &str, params: impl Serialize) -> Json {
        let id = {
            let mut state = self.lock();
            state.requests += 1;
            wire::json(&format!("server-{}", state.requests))
        };
        self.broadcast(&Output::line(wire::request(&id, method, &wire::json(&params))));
        id
    }

    /// Sends a line of text, which need not be valid JSON, to all connected clients.
    pub fn line(&self, line: impl Into<String>) {
        self.broadcast(&Output::line(line.into()));
    }

    /// Closes all connections, after the output that is due.
    pub fn close(&self) {
        self.broadcast(&Output::Close);
    }

    /// Returns the number of open connections.
    pub fn connections(&self) -> usize {
        self.lock().outboxes.len()
    }

    /// Returns all messages that the server has received, in order.
    pub fn recorded(&self) -> Vec<RecordedMessage> {
        self.lock().recorded.clone()
    }

    /// Returns all messages that the server has received, and clears the record.
    pub fn take_recorded(&self) -> Vec<RecordedMessage> {
        mem::take(&mut self.lock().recorded)
    }

    /// Returns the requests that the server has received.
    pub fn requests(&self) -> Vec<RecordedMessage> {
        self.select(RecordedMessage::is_request)
    }

    /// Returns the notifications that the server has received.
    pub fn notifications(&self) -> Vec<RecordedMessage> {
        self.select(RecordedMessage::is_notification)
    }

    /// Returns the arguments of each call of a tool.
    pub fn calls(&self, tool: &str) -> Vec<Json> {
        let state = self.lock();
        let calls = state.recorded.iter().filter(|message| message.is_request() && message.method == "tools/call");
        let calls = calls.filter(|call| call.param::<String>("name").is_some_and(|name| name == tool));
        calls.map(|call| call.param("arguments").unwrap_or_default()).collect()
    }

    /// Returns the cancellations that the server has received.
    pub fn cancellations(&self) -> Vec<Cancellation> {
        self.lock().recorded.iter().filter_map(Cancellation::from_message).collect()
    }

    /// Connects a new client to this server over in-memory streams, on the current runtime. The connection is not open yet.
    ///
    /// Client and server use the time of that runtime. Code that sleeps on tokio needs this, because a
    /// [`Testkit`](crate::Testkit) runs outside of tokio. With `#[tokio::test(start_paused = true)]`, the time is virtual.
    ///
    /// ```
    /// # mod mcpwire_tokio {
    /// #     pub use mcpwire_testkit::VirtualTime as Tokio;
    /// # }
    /// use mcpwire_driver::{ConnectOptions, Error};
    /// use mcpwire_testkit::ScriptedServer;
    /// use serde_json::json;
    ///
    /// async fn test() -> Result<(), Error> {
    ///     let server = ScriptedServer::new().tool("greet", |_| "hello");
    ///     let client = server.connect::<mcpwire_tokio::Tokio>(ConnectOptions::default());
    ///     client.initialize().await?;
    ///     assert_eq!(client.call_tool("greet", json!({})).await?.text().as_str(), "hello");
    ///     Ok(())
    /// }
    /// # mcpwire_testkit::VirtualTime::new().run(test()).unwrap();
    /// ```
    pub fn connect<R: CurrentRuntime>(&self, options: ConnectOptions) -> McpClient<R> {
        self.connect_on(R::current(), DEFAULT_CAPACITY, options)
    }

    /// Connects a new client to this server on a runtime, over streams of `capacity` bytes in each direction.
    pub(crate) fn connect_on<R>(
        &self,
        runtime: Arc<dyn Runtime>,
        capacity: usize,
        options: ConnectOptions,
    ) -> McpClient<R> {
        let (ours, theirs) = duplex(capacity);
        runtime.spawn(Box::pin(self.serve_on(&*runtime, theirs.reader, theirs.writer)));
        McpClient::over_on(runtime, ours.reader, ours.writer, options)
    }

    /// Serves a client over a pair of streams, in the time of the current runtime.
    ///
    /// Spawn the future on that runtime. It ends with the connection, and dropping it closes the connection.
    pub fn serve<R: CurrentRuntime>(
        &self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> ServeFuture {
        self.serve_on(&*R::current(), reader, writer)
    }

    /// Serves a client over a pair of streams, in the time of this runtime. Otherwise as [`ScriptedServer::serve`].
    pub fn serve_on(
        &self,
        runtime: &dyn Runtime,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> ServeFuture {
        let clock = runtime.clock();
        let mut state = self.lock();
        let connection = state.connections;
        state.connections += 1;
        state.outboxes.insert(connection, Outbox::new(clock.clone()));
        drop(state);
        ServeFuture::new(self.clone(), connection, Box::pin(reader), Box::pin(writer), clock, runtime.timer())
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, ServerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(self, change: impl FnOnce(&mut ServerState)) -> Self {
        change(&mut self.lock());
        self
    }

    fn select(&self, which: impl Fn(&RecordedMessage) -> bool) -> Vec<RecordedMessage> {
        self.lock().recorded.iter().filter(|message| which(message)).cloned().collect()
    }

    fn broadcast(&self, output: &Output) {
        for outbox in self.lock().outboxes.values_mut() {
            outbox.send_now(output.clone());
        }
        self.wake();
    }

    fn wake(&self) {
        let wakers: Vec<Waker> = self.lock().outboxes.values_mut().filter_map(|outbox| outbox.waker.take()).collect();
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Default for ScriptedServer {
    fn default() -> Self {
        ScriptedServer::new()
    }
}

impl fmt::Debug for ScriptedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        let tools: Vec<&str> = state.tools.iter().map(|(name, ..)| name.as_str()).collect();
        f.debug_struct("ScriptedServer")
            .field("name", &state.name)
            .field("tools", &tools)
            .field("recorded", &state.recorded.len())
            .finish_non_exhaustive()
    }
}

fn shared<A: Into<ScriptedResponse>>(mut handler: impl FnMut(&Json) -> A + Send + 'static) -> Handler {
    Arc::new(Mutex::new(move |params: &Json| handler(params).into()))
}
