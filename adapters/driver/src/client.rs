//! [`McpClient`]: a server, as a program uses it.

use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;

use mcpwire_client::{Error, McpServerDef, ShutdownReport, Tools, construct};
use mcpwire_core::internal::AnyEngine;
use mcpwire_core::{
    CallError, ConnectError, InvalidItem, Json, Method, Params, Phase, ProtocolVersion, RequestOptions, Root,
    RootsListChanged, ServerCapabilities, ServerInfo, Stats, Timestamp, Tool,
};
use mcpwire_process::Process;
use serde::Serialize;

use crate::call::Call;
use crate::driver::{Driver, Loop};
use crate::notifications::Notifications;
use crate::options::ConnectOptions;
use crate::pending::Pending;
use crate::runtime::{Clock, Runtime, Streams, Timer};
use crate::shared::{Lives, RestartAttempt, Shared};
use crate::state::{Opened, State, Wish};
use crate::tools::{self, Boxed};
use mcpwire_client::{ReadStream, WriteStream};

/// A connection to one server, on the runtime `R`. Cheap to clone, and for any number of tasks at once.
///
/// When the last clone is dropped, the server and all that it started are ended at once, with no runtime needed;
/// [`McpClient::shutdown`] does it politely.
pub struct McpClient<R> {
    pub(crate) life: Lives,
    runtime: PhantomData<fn() -> R>,
}

impl<R: Runtime> McpClient<R> {
    /// Starts a server, and no more: [`McpClient::initialize`] opens the connection. Of one that is spoken to by HTTP, nothing is
    /// asked yet.
    ///
    /// It is no `async` function because nothing in it waits, but it is to be called within the runtime.
    pub fn connect(def: &McpServerDef) -> Result<Self, Error> {
        Self::connect_with(def, ConnectOptions::default())
    }

    /// Starts a server with options.
    #[inline(never)]
    pub fn connect_with(def: &McpServerDef, mut options: ConnectOptions) -> Result<Self, Error> {
        options.config = def.configure(options.config);
        if def.url.is_some() {
            return Self::connect_http(def, options);
        }
        let (process, streams) = spawn::<R>(def)?;
        Ok(Self::begin_with(Some(Arc::new(def.clone())), Some(process), streams, options))
    }

    #[cfg(feature = "http")]
    fn connect_http(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Error> {
        let settings = options.http.settings(def)?;
        let (life, driver) = crate::http::assemble::<R>(def, settings, options, R::clock(), Box::new(R::timer()))?;
        R::spawn(driver);
        Ok(McpClient { life, runtime: PhantomData })
    }

    #[cfg(not(feature = "http"))]
    fn connect_http(def: &McpServerDef, _: ConnectOptions) -> Result<Self, Error> {
        Err(construct::http(def.display_name(), mcpwire_client::HttpSetupError::Missing))
    }

    /// A connection over any pair of streams: a socket, a pipe, a test's.
    pub fn over(
        reader: impl ReadStream + Send + 'static,
        writer: impl WriteStream + Send + 'static,
        options: ConnectOptions,
    ) -> Self {
        Self::begin_with(None, None, Streams::new(reader, writer), options)
    }

    /// Starts a server, opens the connection and lists the tools.
    ///
    /// A server without tools is no error: [`McpClient::tools`] is empty then.
    pub async fn connect_and_initialize(def: &McpServerDef) -> Result<Self, Error> {
        Self::opened(def).await
    }

    /// Boxed, and in a function of its own: what is awaited is compiled into whatever awaits it, and this is much.
    fn opened(def: &McpServerDef) -> Boxed<'_, Result<Self, Error>> {
        Box::pin(async move {
            let client = Self::connect(def)?;
            client.initialize().await?;
            if client.capabilities().is_none_or(|capabilities| capabilities.tools.is_some()) {
                client.list_tools().await?;
            }
            Ok(client)
        })
    }

    /// Opens the connection: finds out which era the server speaks, and who it is.
    ///
    /// A server that ends when it is asked for its era is started once more and spoken to as a legacy one. Any number of
    /// tasks may wait for the same opening, and one that gave up may come back; once somebody has been told that the
    /// connection is open, a further call is an error ([`SendError::AlreadyInitialized`](mcpwire_core::SendError)).
    pub async fn initialize(&self) -> Result<&ServerInfo, Error> {
        let shared = self.life.shared();
        let begun = shared.clock.now();
        shared.send(|state| state.begin_opening(begun))?;
        // Until now it was not read what the server says.
        shared.wake_driver();
        loop {
            if let Some(server) = shared.server.get() {
                shared.lock().opening.told = true;
                return Ok(server);
            }
            let error = match poll_fn(|cx| shared.poll_opened(cx)).await {
                Opened::Connected => continue,
                Opened::Restart => {
                    let _others = RestartAttempt(shared);
                    self.restart(begun)?;
                    continue;
                }
                Opened::Closed(how) => how.into_opening_error(),
            };
            return Err(shared.connect_error(error));
        }
    }

    /// Runs `f` with a client of a server that is started before and ended after it, however it ends.
    pub async fn with<T>(def: &McpServerDef, f: impl AsyncFnOnce(&Self) -> T) -> Result<T, Error> {
        let client = Self::connect_and_initialize(def).await?;
        let value = f(&client).await;
        client.shutdown().await?;
        Ok(value)
    }

    /// Starts the server once more, as a legacy one.
    #[inline(never)]
    fn restart(&self, begun: Timestamp) -> Result<(), Error> {
        let shared = self.life.shared();
        let closed = || Err(shared.connect_error(ConnectError::Closed));
        let Some(def) = shared.context.definition.as_deref().filter(|_| shared.lock().wish == Wish::Live) else {
            return closed();
        };
        let (process, Streams { reader, writer, stderr, exit }) = spawn::<R>(def)?;
        let now = shared.clock.now();
        let mut state = shared.lock();
        if state.wish != Wish::Live {
            // The end was asked for meanwhile.
            drop(state);
            return closed();
        }
        let Some(engine) = state.engine.restarted(now.duration_since(begun)) else {
            drop(state);
            return closed();
        };
        state.restart(engine, writer, process);
        let begun = state.engine.calls().initialize(now);
        drop(state);
        begun.map_err(|error| construct::send(shared.name(), error, None))?;
        R::spawn(Loop::new(Arc::clone(shared), Some(reader), stderr, exit, Box::new(R::timer())).into_driver());
        Ok(())
    }

    fn begin_with(
        definition: Option<Arc<McpServerDef>>,
        process: Option<Process>,
        streams: Streams,
        options: ConnectOptions,
    ) -> Self {
        let (client, driver) = Self::parts(definition, process, streams, options, R::clock(), R::timer());
        client.life.shared().lock().runs_by_itself = R::runs_by_itself();
        R::spawn(driver);
        client
    }
}

impl<R> McpClient<R> {
    /// The same client, for whoever holds clients of several runtimes: all that one can do but start and open a connection.
    pub fn without_runtime(&self) -> McpClient<()> {
        McpClient { life: self.life.clone(), runtime: PhantomData }
    }

    /// A connection whose driver the caller polls, with the caller's own timer and clock. It is what tests with simulated
    /// time are made of; a program uses [`McpClient::connect`] or [`McpClient::over`].
    pub fn undriven(streams: Streams, options: ConnectOptions, clock: Clock, timer: impl Timer) -> (Self, Driver) {
        Self::parts(None, None, streams, options, clock, timer)
    }

    fn parts(
        definition: Option<Arc<McpServerDef>>,
        process: Option<Process>,
        streams: Streams,
        options: ConnectOptions,
        clock: Clock,
        timer: impl Timer,
    ) -> (Self, Driver) {
        let (life, driver) = assemble(definition, process, streams, options, clock, Box::new(timer));
        (McpClient { life, runtime: PhantomData }, driver)
    }

    /// Lists the server's tools, all pages, and keeps the list. Entries that are no tools are left out and told by
    /// [`Tools::rejected`].
    ///
    /// A modern server may have said that its list holds for a while: it is not asked again before that has passed, or it has
    /// told of a change. [`McpClient::list_all_with`] and [`RequestOptions::fresh`](mcpwire_core::RequestOptions::fresh) ask
    /// all the same; [`Config::cache`](mcpwire_core::Config::cache) says how much is kept.
    pub async fn list_tools(&self) -> Result<Tools, Error> {
        tools::list(&self.life).await
    }

    /// The tools, as they were last listed. No request is sent.
    pub fn tools(&self) -> Tools {
        Tools::new(Arc::clone(self.life.shared().lock().tools.list()))
    }

    /// What was left out of that list, and why.
    pub fn rejected_tools(&self) -> Vec<InvalidItem> {
        self.tools().rejected().to_vec()
    }

    /// Whether that list has a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.life.shared().lock().tools.list().get(name).is_some()
    }

    /// The tool of this name in that list.
    pub fn get_tool(&self, name: &str) -> Option<Tool> {
        self.life.shared().lock().tools.list().get(name).cloned()
    }

    /// Calls a tool: a future, with options to be set before it is awaited. That the tool failed
    /// ([`CallToolResult::is_error`]) is a result like any other.
    ///
    /// A name that the list of tools does not have is an error without a request, as long as the list holds. Dropped before
    /// its end, the call is cancelled, and the server told.
    pub fn call_tool<'c, A: Serialize>(&'c self, name: &'c str, arguments: A) -> Call<'c, R, A> {
        Call::new(self, name, arguments)
    }

    /// Sends a request of a typed method and waits for its result.
    pub async fn request<M: Method>(
        &self,
        params: &impl Params<M>,
        options: &RequestOptions,
    ) -> Result<M::Result, Error> {
        self.begin(params, options)?.await
    }

    /// Sends a request of a typed method, and gives the future of its result. Any number may be under way.
    pub fn begin<M: Method>(&self, params: &impl Params<M>, options: &RequestOptions) -> Result<Pending<M>, Error> {
        Pending::begin(&self.life, params, options, options.wants_progress())
    }

    /// Sends a request of any method, and gives its result as the server sent it.
    #[doc(alias = "send_raw")]
    pub async fn request_raw(&self, method: &str, params: Option<&Json>) -> Result<Json, Error> {
        let options = RequestOptions::new();
        let options = self.life.shared().traced(&options);
        let now = self.life.shared().clock.now();
        let ticket = self.life.shared().send(|state| {
            let ticket = state.engine.calls().request_raw(method, params, &options, now)?;
            state.expect(ticket.key(), false);
            Ok(ticket)
        })?;
        Pending::new(&self.life, ticket).await
    }

    /// Sends a notification of any method. It is queued, and sent as soon as the server reads; nothing is waited for.
    #[doc(alias = "send_notification")]
    pub fn notify_raw(&self, method: &str, params: Option<&Json>) -> Result<(), Error> {
        let shared = self.life.shared();
        let now = shared.clock.now();
        shared.send(|state| state.engine.calls().notify_raw(method, params, now))
    }

    /// Changes the roots. A legacy server that was told that there are some (by [`ConnectOptions::roots`]) is told that they
    /// have changed.
    pub fn set_roots(&self, roots: impl IntoIterator<Item = Root>) -> Result<(), Error> {
        let shared = self.life.shared();
        // Without a word of roots before, the server was not told that it may ask for them.
        if let Some(handlers) = &shared.handlers {
            handlers.set_roots(roots.into_iter().collect());
        }
        let now = shared.clock.now();
        shared.send(|state| {
            if state.engine.session().declares_roots_list_changed() {
                state.engine.calls().notify::<RootsListChanged>(&(), now)
            } else {
                Ok(())
            }
        })
    }

    /// What the server tells unasked, from now on. Any number may listen.
    pub fn notifications(&self) -> Notifications {
        let mut state = self.life.shared().lock();
        let over = state.engine.session().phase() == Phase::Closed;
        state.subscribers.add(over)
    }

    /// To whom the connection is open; `None` before [`McpClient::initialize`].
    pub fn server_info(&self) -> Option<&ServerInfo> {
        self.life.shared().server.get().map(|server| &**server)
    }

    /// What the server says it can do; `None` if it said nothing about it.
    pub fn capabilities(&self) -> Option<&ServerCapabilities> {
        self.server_info()?.capabilities.as_ref()
    }

    /// The version that is spoken.
    pub fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.server_info().map(|server| server.protocol_version)
    }

    /// How the server was started; `None` for a pair of streams.
    pub fn definition(&self) -> Option<&McpServerDef> {
        self.life.shared().context.definition.as_deref()
    }

    /// Whether the connection was opened.
    pub fn is_initialized(&self) -> bool {
        self.server_info().is_some()
    }

    /// Whether the server's process lives; for a pair of streams, whether the connection has not ended.
    pub fn is_running(&self) -> bool {
        self.life.shared().lock().is_running()
    }

    /// The id of the server's process; `None` for a pair of streams.
    pub fn pid(&self) -> Option<u32> {
        self.life.shared().lock().pid
    }

    /// The last lines that the server wrote on standard error: bounded, and fit for a terminal. All that is kept is 64 KiB.
    pub fn stderr_tail(&self) -> String {
        self.life.shared().lock().stderr.shown()
    }

    /// How many requests wait for an answer.
    pub fn in_flight(&self) -> usize {
        self.life.shared().lock().engine.session().in_flight()
    }

    /// What was left aside so far.
    pub fn stats(&self) -> Stats {
        self.life.shared().lock().engine.session().stats()
    }

    /// Ends the server: closes its input, waits, asks its group to end, waits, and kills what is left. Takes 5 s at most
    /// with the default [`GracePeriods`](mcpwire_core::shutdown::GracePeriods). Requests that are under way end at once.
    ///
    /// It ends for all clones of this client. The future may be dropped: the way to the end goes on without it.
    pub fn shutdown(&self) -> impl Future<Output = Result<ShutdownReport, Error>> + Send + use<R> {
        let life = self.life.clone();
        life.shared().ask_for_end();
        async move { Ok(poll_fn(|cx| life.shared().poll_ended(cx)).await) }
    }

    /// Ends the server at once, with all that it started, for all clones of this client. Needs no runtime: it is what happens
    /// when the last clone is dropped. Requests that are under way end at once.
    ///
    /// It waits for nothing, unless the runtime's tasks go on only while the program waits for them, as those of tokio's
    /// current-thread runtime: then it waits for the killed server to be gone, which takes a moment (500 ms at most).
    pub fn kill(&self) {
        self.life.shared().end_at_once();
    }

    /// The connection, for what is waited for.
    pub(crate) fn life(&self) -> &Lives {
        &self.life
    }

    pub(crate) fn call_error(&self, error: CallError) -> Error {
        self.life.shared().call_error(error)
    }
}

/// The two halves of a connection, whatever its runtime.
fn assemble(
    definition: Option<Arc<McpServerDef>>,
    process: Option<Process>,
    streams: Streams,
    mut options: ConnectOptions,
    clock: Clock,
    timer: Box<dyn Timer>,
) -> (Lives, Driver) {
    let Streams { reader, writer, stderr, exit } = streams;
    let engine = AnyEngine::stream(mem::take(&mut options.config));
    let shared = Shared::new(definition, clock, State::new(engine, Some(writer), process), options);
    let driver = Loop::new(Arc::clone(&shared), Some(reader), stderr, exit, timer).into_driver();
    (Lives::of(shared), driver)
}

fn spawn<R: Runtime>(def: &McpServerDef) -> Result<(Process, Streams), Error> {
    let server = def.display_name();
    let (process, pipes) = Process::spawn(def).map_err(|error| construct::spawn(server, error))?;
    let streams = R::pipes(pipes, process.exit_handle()).map_err(|error| construct::io(server, error))?;
    Ok((process, streams))
}

impl<R> Clone for McpClient<R> {
    fn clone(&self) -> Self {
        McpClient { life: self.life.clone(), runtime: PhantomData }
    }
}

impl<R> fmt::Debug for McpClient<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient")
            .field("definition", &self.definition())
            .field("server", &self.server_info())
            .finish_non_exhaustive()
    }
}
