//! [`ScriptedServer`]: a server that does as it is told, and remembers what it was told.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use mcpwire_driver::core::{Era, Json, ProtocolVersion};
use mcpwire_driver::memory::duplex;
use mcpwire_driver::{ConnectOptions, CurrentRuntime, McpClient, Runtime};
use serde::Serialize;

use crate::answer::Answer;
use crate::outbox::{Outbox, Output};
use crate::recorded::{Cancellation, Recorded};
use crate::serving::Serving;
use crate::wire;

/// The number of bytes that a pipe of Linux holds.
pub(crate) const PIPE: usize = 64 * 1024;

/// A server that does as its script says, and remembers what it was sent.
///
/// Without a script it speaks both eras (`server/discover` and `initialize`), has no tools, answers `ping`, and refuses
/// what it does not know. It is cheap to clone; all clones are one server, which any number of clients may connect to, and
/// whose script may be changed at any time.
///
/// It serves in virtual time through a [`Testkit`](crate::Testkit), and under any runtime through
/// [`ScriptedServer::serve`]:
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
pub struct ScriptedServer(Arc<Mutex<State>>);

/// Answers a request by its parameters. For a tool, these are its arguments.
pub(crate) type Handler = Arc<Mutex<dyn FnMut(&Json) -> Answer + Send>>;

pub(crate) struct State {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) versions: Vec<String>,
    pub(crate) capabilities: Json,
    pub(crate) instructions: Option<String>,
    /// How each tool is listed, by its name, in the order in which they were added.
    pub(crate) tools: Vec<(String, Json, Handler)>,
    pub(crate) page_size: usize,
    pub(crate) methods: BTreeMap<String, Handler>,
    pub(crate) latency: Duration,
    pub(crate) ignores_cancellations: bool,
    pub(crate) reads: bool,
    pub(crate) recorded: Vec<Recorded>,
    /// What is to be said over each connection that is open.
    pub(crate) outboxes: BTreeMap<usize, Outbox>,
    connections: usize,
    asked: u64,
}

impl ScriptedServer {
    /// A server without tools that speaks all revisions of the protocol.
    pub fn new() -> Self {
        ScriptedServer(Arc::new(Mutex::new(State {
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
            reads: true,
            recorded: Vec::new(),
            outboxes: BTreeMap::new(),
            connections: 0,
            asked: 0,
        })))
    }

    /// Sets who it says it is.
    pub fn named(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.change(|state| (state.name, state.version) = (name.into(), version.into()))
    }

    /// Sets the one era that it speaks: as a server that knows nothing of the other.
    pub fn era(self, era: Era) -> Self {
        let versions = ProtocolVersion::ALL.into_iter().filter(|version| version.era() == era);
        self.versions(versions.map(|version| version.to_string()))
    }

    /// Sets the revisions of the protocol that it speaks, also such as this library does not know.
    pub fn versions(self, versions: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.change(|state| state.versions = versions.into_iter().map(Into::into).collect())
    }

    /// Sets what it says it can do: an object. By default, it has tools whose list may change, and logs.
    ///
    /// # Panics
    ///
    /// When the value does not serialise as JSON.
    pub fn capabilities(self, capabilities: impl Serialize) -> Self {
        self.change(|state| state.capabilities = wire::json(&capabilities))
    }

    /// Sets how it says it is to be used.
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        self.change(|state| state.instructions = Some(instructions.into()))
    }

    /// Gives it a tool that takes any arguments: by its name, and by what it does about them. One that has the name
    /// already is replaced.
    ///
    /// ```
    /// # use mcpwire_testkit::ScriptedServer;
    /// let mut count = 0;
    /// let server = ScriptedServer::new().tool("count", move |_| {
    ///     count += 1;
    ///     count.to_string()
    /// });
    /// ```
    pub fn tool<A: Into<Answer>>(
        self,
        name: impl Into<String>,
        handler: impl FnMut(&Json) -> A + Send + 'static,
    ) -> Self {
        let name = name.into();
        let definition =
            wire::trusted(format!(r#"{{"name":{},"inputSchema":{{"type":"object"}}}}"#, wire::json(&name)));
        self.tool_with(definition, handler)
    }

    /// As [`ScriptedServer::tool`], with all that the list is to say about the tool.
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
    /// When the definition does not serialise as JSON.
    pub fn tool_with<A: Into<Answer>>(
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

    /// Sets what it does about requests of a method, by their parameters, in place of what it would do: `server/discover`
    /// and `initialize` are methods too. For a notification, whatever answers is left out.
    ///
    /// ```
    /// # use mcpwire_testkit::{Answer, ScriptedServer};
    /// # use serde_json::json;
    /// let server = ScriptedServer::new()
    ///     .on("resources/list", |_| Answer::new().result(json!({"resources": []})))
    ///     .on("notifications/initialized", |_| Answer::new().notify("notifications/tools/list_changed", ()));
    /// ```
    pub fn on<A: Into<Answer>>(
        self,
        method: impl Into<String>,
        handler: impl FnMut(&Json) -> A + Send + 'static,
    ) -> Self {
        self.change(|state| drop(state.methods.insert(method.into(), shared(handler))))
    }

    /// Sets how many tools it lists on a page. By default, one page has them all.
    pub fn page_size(self, tools: usize) -> Self {
        self.change(|state| state.page_size = tools.max(1))
    }

    /// Sets how long it takes before the first step of each answer. By default, no time.
    pub fn latency(self, latency: Duration) -> Self {
        self.change(|state| state.latency = latency)
    }

    /// Makes it answer requests also when they have been cancelled: too late.
    pub fn ignoring_cancellations(self) -> Self {
        self.change(|state| state.ignores_cancellations = true)
    }

    /// Takes a tool away. [`ScriptedServer::notify`] tells the clients of it.
    pub fn remove_tool(&self, name: &str) {
        self.lock().tools.retain(|(known, ..)| known != name);
    }

    /// Says whether it reads. While it does not, what clients send is not even taken from the pipe.
    pub fn reads(&self, reads: bool) {
        self.lock().reads = reads;
        self.wake();
    }

    /// Sends a notification to all clients that are connected; `()` stands for no parameters.
    ///
    /// # Panics
    ///
    /// When the parameters do not serialise as JSON.
    pub fn notify(&self, method: &str, params: impl Serialize) {
        self.say(&Output::line(wire::notification(method, &wire::json(&params))));
    }

    /// Sends a request to all clients that are connected, and gives its id, by which the answers are found among what was
    /// recorded. Clients do not answer servers of the modern era, which may not ask.
    ///
    /// # Panics
    ///
    /// When the parameters do not serialise as JSON.
    pub fn request(&self, method: &str, params: impl Serialize) -> Json {
        let id = {
            let mut state = self.lock();
            state.asked += 1;
            wire::json(&format!("server-{}", state.asked))
        };
        self.say(&Output::line(wire::request(&id, method, &wire::json(&params))));
        id
    }

    /// Sends a line of any text to all clients that are connected.
    pub fn line(&self, line: impl Into<String>) {
        self.say(&Output::line(line.into()));
    }

    /// Closes all connections, when what is due has been sent.
    pub fn close(&self) {
        self.say(&Output::Close);
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.lock().outboxes.len()
    }

    /// Everything that it was sent, in order.
    pub fn recorded(&self) -> Vec<Recorded> {
        self.lock().recorded.clone()
    }

    /// As [`ScriptedServer::recorded`], and forgets it.
    pub fn take_recorded(&self) -> Vec<Recorded> {
        mem::take(&mut self.lock().recorded)
    }

    /// The requests among it.
    pub fn requests(&self) -> Vec<Recorded> {
        self.select(Recorded::is_request)
    }

    /// The notifications among it.
    pub fn notifications(&self) -> Vec<Recorded> {
        self.select(Recorded::is_notification)
    }

    /// The arguments of each call of a tool.
    pub fn calls(&self, tool: &str) -> Vec<Json> {
        let state = self.lock();
        let calls = state.recorded.iter().filter(|message| message.is_request() && message.method == "tools/call");
        let calls = calls.filter(|call| call.param::<String>("name").is_some_and(|name| name == tool));
        calls.map(|call| call.param("arguments").unwrap_or_default()).collect()
    }

    /// The requests that clients gave up.
    pub fn cancellations(&self) -> Vec<Cancellation> {
        self.lock().recorded.iter().filter_map(Cancellation::of).collect()
    }

    /// Connects a new client to this server, in memory, on the current runtime of the program. The connection is not open yet.
    ///
    /// Time is that of the runtime. Code that sleeps on tokio needs this, because a [`Testkit`](crate::Testkit) runs outside of
    /// tokio; with `#[tokio::test(start_paused = true)]`, time is virtual all the same.
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
        self.connect_on(R::current(), PIPE, options)
    }

    /// Connects a new client to this server on a runtime, over streams that hold `capacity` bytes each way.
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

    /// Serves a client over any pair of streams, in the time of the current runtime. Spawn the future there: it ends when the
    /// connection does. Dropping it closes the connection.
    pub fn serve<R: CurrentRuntime>(
        &self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> Serving {
        self.serve_on(&*R::current(), reader, writer)
    }

    /// Serves a client as [`ScriptedServer::serve`] does, in the time of this runtime.
    pub fn serve_on(
        &self,
        runtime: &dyn Runtime,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> Serving {
        let clock = runtime.clock();
        let mut state = self.lock();
        let connection = state.connections;
        state.connections += 1;
        state.outboxes.insert(connection, Outbox::new(clock.clone()));
        drop(state);
        Serving::new(self.clone(), connection, Box::pin(reader), Box::pin(writer), clock, runtime.timer())
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(self, change: impl FnOnce(&mut State)) -> Self {
        change(&mut self.lock());
        self
    }

    fn select(&self, which: impl Fn(&Recorded) -> bool) -> Vec<Recorded> {
        self.lock().recorded.iter().filter(|message| which(message)).cloned().collect()
    }

    fn say(&self, output: &Output) {
        for outbox in self.lock().outboxes.values_mut() {
            outbox.say(output.clone());
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

fn shared<A: Into<Answer>>(mut handler: impl FnMut(&Json) -> A + Send + 'static) -> Handler {
    Arc::new(Mutex::new(move |params: &Json| handler(params).into()))
}
