//! [`ScriptedServer`]: an MCP server for tests that follows a script and records the messages that it receives.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;
use std::time::Duration;

use mcpwire_driver::protocol::{Era, Json, ProtocolVersion};
use serde::Serialize;

use crate::progress_and_responses::Outbox;
use crate::response::{Output, ScriptedResponse};
use crate::wire;
use crate::wire::{Cancellation, RecordedMessage};
use crate::{lock, texts};

/// The default capacity of a pipe between client and server, in bytes. 64 KiB: the capacity of a pipe on Linux.
pub(crate) const PIPE_CAPACITY: usize = 64 * 1024;

/// An MCP server for tests. It answers requests as a script says, and records all messages that it receives.
///
/// Without a script, the server supports both eras (`server/discover` and `initialize`), has no tools, answers `ping`, and
/// rejects unknown methods. Clones refer to the same server. Any number of clients can connect, and the script can change at any
/// time.
///
/// A [`Testkit`](crate::Testkit) runs the server in virtual time. [`ScriptedServer::serve`] runs it on any runtime:
///
/// ```no_run
/// # mod mcpwire { pub use mcpwire_driver::ConnectOptions; pub mod testkit { pub use mcpwire_testkit::{ScriptedServer,
/// # duplex}; } }
/// # use mcpwire_testkit::VirtualTime as Tokio;
/// # use mcpwire_driver::McpClient;
/// # fn spawn(_: impl Future<Output = ()>) {}
/// # async fn run() -> Result<(), mcpwire_driver::Error> {
/// use mcpwire::ConnectOptions;
/// use mcpwire::testkit::{ScriptedServer, duplex};
///
/// let server = ScriptedServer::new().tool("hello", |_| "hello");
/// let (ours, theirs) = duplex(64 * 1024);
/// spawn(server.serve::<Tokio>(theirs.reader, theirs.writer)); // `tokio::spawn`, with `mcpwire::tokio::Tokio`
/// let client = McpClient::<Tokio>::over(ours.reader, ours.writer, ConnectOptions::default());
/// client.initialize().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedServer(Arc<Mutex<State>>);

/// A function of the test that answers a request. It gets the parameters of the request or, for a tool call, the arguments.
pub(crate) type Handler = Arc<Mutex<dyn FnMut(&Json) -> ScriptedResponse + Send>>;

#[derive(Default)]
pub(crate) struct State {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) versions: Vec<String>,
    pub(crate) capabilities: Json,
    /// The text that the server sends to clients as `instructions`. `None` if the server sends no instructions.
    pub(crate) instructions: Option<String>,
    /// The name, the definition and the handler of each tool, in the order in which they were added.
    pub(crate) tools: Vec<(String, Json, Handler)>,
    pub(crate) page_size: usize,
    pub(crate) methods: BTreeMap<String, Handler>,
    pub(crate) latency: Duration,
    pub(crate) ignores_cancellations: bool,
    pub(crate) reads: bool,
    pub(crate) recorded: Vec<RecordedMessage>,
    /// The planned output of each open connection, by the number of the connection.
    pub(crate) outboxes: BTreeMap<usize, Outbox>,
    pub(crate) connections: usize,
    /// The number in the id of the last request that the server has sent to any client. 0 before the first request.
    pub(crate) last_request_id: u64,
}

impl ScriptedServer {
    /// Creates a server without tools that supports all revisions of the protocol.
    pub fn new() -> Self {
        ScriptedServer(Arc::new(Mutex::new(State {
            name: "scripted".into(),
            version: "1.0.0".into(),
            versions: ProtocolVersion::ALL.map(|version| version.to_string()).into(),
            capabilities: wire::trusted(r#"{"tools":{"listChanged":true},"logging":{}}"#.into()),
            page_size: usize::MAX,
            reads: true,
            ..State::default()
        })))
    }

    /// Limits the server to the protocol revisions of one era, for example to test a client against a legacy server.
    pub fn era(self, era: Era) -> Self {
        let versions = ProtocolVersion::ALL.into_iter().filter(|version| version.era() == era);
        self.versions(versions.map(|version| version.to_string()))
    }

    changes! {
        /// Sets the name and the version that the server reports as `serverInfo`. The default is `scripted`, version 1.0.0.
        fn server_info(self, name: impl Into<String>, version: impl Into<String>)
            => |state| (state.name, state.version) = (name.into(), version.into());

        /// Sets the protocol revisions that the server supports, such as `2025-11-25`. Revisions that this library does not know
        /// are allowed. The default is all revisions of this library.
        fn versions(self, versions: impl IntoIterator<Item = impl Into<String>>)
            => |state| state.versions = texts(versions);

        /// Sets the capabilities that the server declares, as an object. The default is `tools` with `listChanged`, and
        /// `logging`.
        ///
        /// # Panics
        ///
        /// If the value cannot be serialized as JSON.
        fn capabilities(self, capabilities: impl Serialize) => |state| state.capabilities = wire::json(&capabilities);

        /// Sets the `instructions` that the server sends to each client that connects. By default, it sends none.
        fn instructions(self, instructions: impl Into<String>)
            => |state| state.instructions = Some(instructions.into());

        /// Sets the maximum number of tools on a page of `tools/list`, at least 1. By default, one page has all tools.
        fn page_size(self, tools: usize) => |state| state.page_size = tools.max(1);

        /// Sets the delay between a request and the first step of its answer, for all requests. The default is zero.
        fn latency(self, latency: Duration) => |state| state.latency = latency;

        /// Makes the server answer requests even if the client has cancelled them. This simulates a cancellation that arrives too
        /// late.
        fn ignore_cancellations(self) => |state| state.ignores_cancellations = true;
    }

    /// Adds a tool that accepts any arguments. For each call, `handler` gets the arguments and returns the answer. Replaces a
    /// tool of the same name.
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

    /// Adds a tool as [`ScriptedServer::tool`] does, but with this definition. `tools/list` returns the definition unchanged.
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
    ///
    /// If the definition cannot be serialized as JSON.
    pub fn tool_with<A: Into<ScriptedResponse>>(
        self,
        definition: impl Serialize,
        handler: impl FnMut(&Json) -> A + Send + 'static,
    ) -> Self {
        let definition = wire::json(&definition);
        let tool = (definition.member("name").unwrap_or_default(), definition, shared(handler));
        self.change(|state| match state.tools.iter_mut().find(|(name, ..)| *name == tool.0) {
            Some(known) => *known = tool,
            None => state.tools.push(tool),
        })
    }

    /// Sets the handler of a method, in place of the server's default answer. Any method is allowed, including `server/discover`,
    /// `initialize` and notifications.
    ///
    /// The handler of a notification can send messages. Its steps that answer a request have no effect.
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

    /// Removes a tool. Clients are not notified: send `notifications/tools/list_changed` with [`ScriptedServer::notify`] if they
    /// are to know.
    pub fn remove_tool(&self, name: &str) {
        self.lock().tools.retain(|(known, ..)| known != name);
    }

    /// Sets whether the server reads messages. While it does not read, messages of clients stay in the pipe. The default is
    /// `true`.
    pub fn set_reading(&self, reads: bool) {
        self.lock().reads = reads;
        self.wake();
    }

    /// Sends a notification to all connected clients. Pass `()` to send no parameters.
    ///
    /// # Panics
    ///
    /// If the parameters cannot be serialized as JSON.
    pub fn notify(&self, method: &str, params: impl Serialize) {
        self.send(&Output::Line(wire::notification(method, &wire::json(&params))));
    }

    /// Sends a request to all connected clients, and returns its id. [`ScriptedServer::recorded`] contains the clients' responses
    /// with this id.
    ///
    /// To send a request in the middle of a tool call, use [`ScriptedResponse::ask`]. Clients of a modern server do not respond,
    /// because modern servers must not send requests.
    ///
    /// # Panics
    ///
    /// If the parameters cannot be serialized as JSON.
    pub fn request(&self, method: &str, params: impl Serialize) -> Json {
        let id = wire::next_request_id(&mut self.lock().last_request_id);
        self.send(&Output::Line(wire::request(&id, method, &wire::json(&params))));
        id
    }

    /// Sends any text as a line to all connected clients, for example an invalid message.
    pub fn line(&self, line: impl Into<String>) {
        self.send(&Output::Line(line.into()));
    }

    /// Closes all connections, after sending the output that is already due. Over HTTP, closes only the streams that belong to no
    /// request.
    pub fn close(&self) {
        self.send(&Output::Close);
    }

    /// Returns the number of connections that are open now.
    pub fn connections(&self) -> usize {
        self.lock().outboxes.len()
    }

    /// Returns all messages that the server has received from all clients, in order of arrival.
    pub fn recorded(&self) -> Vec<RecordedMessage> {
        self.lock().recorded.clone()
    }

    /// Returns all messages that the server has received, and clears the record. The next call returns only later messages.
    pub fn take_recorded(&self) -> Vec<RecordedMessage> {
        mem::take(&mut self.lock().recorded)
    }

    /// Returns the requests that the server has received, in order of arrival.
    pub fn requests(&self) -> Vec<RecordedMessage> {
        self.select(RecordedMessage::is_request)
    }

    /// Returns the notifications that the server has received, in order of arrival.
    pub fn notifications(&self) -> Vec<RecordedMessage> {
        self.select(RecordedMessage::is_notification)
    }

    /// Returns the arguments of each call of the tool with this name, in order of arrival. A call without arguments counts as
    /// `null`.
    pub fn calls(&self, tool: &str) -> Vec<Json> {
        let state = self.lock();
        let calls = state.recorded.iter().filter(|message| message.is_request() && message.method == "tools/call");
        let calls = calls.filter(|call| call.param::<String>("name").as_deref() == Some(tool));
        calls.map(|call| call.param("arguments").unwrap_or_default()).collect()
    }

    /// Returns the cancellations that clients have sent, in order of arrival. A client cancels a request that timed out or whose
    /// future was dropped.
    pub fn cancellations(&self) -> Vec<Cancellation> {
        self.lock().recorded.iter().filter_map(Cancellation::of).collect()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }

    fn change(self, change: impl FnOnce(&mut State)) -> Self {
        change(&mut self.lock());
        self
    }

    fn select(&self, which: impl Fn(&RecordedMessage) -> bool) -> Vec<RecordedMessage> {
        self.lock().recorded.iter().filter(|message| which(message)).cloned().collect()
    }

    fn send(&self, output: &Output) {
        for outbox in self.lock().outboxes.values_mut().filter(|outbox| outbox.is_general) {
            outbox.send(output.clone());
        }
        self.wake();
    }

    pub(crate) fn wake(&self) {
        let wakers: Vec<Waker> = self.lock().outboxes.values_mut().filter_map(|outbox| outbox.waker.take()).collect();
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(feature = "http")]
impl State {
    /// Returns the number of the connection that is open for a client's messages that belong to no request, such as its HTTP GET
    /// stream. `None` if the client has no such connection.
    pub(crate) fn general_connection(&self, client: Option<usize>) -> Option<usize> {
        let is_general = |outbox: &Outbox| outbox.is_general && Some(outbox.client) == client;
        self.outboxes.iter().find(|(_, outbox)| is_general(outbox)).map(|(connection, _)| *connection)
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
