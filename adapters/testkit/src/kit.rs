//! [`Testkit`]: a scripted server, clients of it, and the time that both live in.

use std::fmt;
use std::marker::PhantomData;

use mcpwire_driver::core::Config;
use mcpwire_driver::{ConnectOptions, McpClient};

use crate::recorded::Recorded;
use crate::server::{PIPE, ScriptedServer};
use crate::time::VirtualTime;

/// A scripted server, clients of it, and the virtual time that both live in.
///
/// ```
/// use std::time::Duration;
///
/// use mcpwire_driver::ErrorKind;
/// use mcpwire_testkit::{Answer, ScriptedServer, Testkit};
/// use serde_json::json;
///
/// let kit = Testkit::new(ScriptedServer::new().tool("never", |_| Answer::new()));
/// kit.run(async |client| {
///     let error = client.call_tool("never", json!({})).timeout(Duration::from_secs(600)).await.unwrap_err();
///     assert_eq!(error.kind(), ErrorKind::Timeout);
/// });
/// assert_eq!(kit.time().elapsed(), Duration::from_secs(600));
/// assert_eq!(kit.server().cancellations().len(), 1);
/// ```
///
/// `R` is the runtime of the client's type, as the tested program names it ([`Testkit::for_runtime`]). Nothing runs on that
/// runtime, so code that calls it, such as a sleep of tokio, panics. Test such a program with [`ScriptedServer::connect`].
pub struct Testkit<R = VirtualTime> {
    server: ScriptedServer,
    time: VirtualTime,
    config: Config,
    capacity: usize,
    runtime: PhantomData<fn() -> R>,
}

impl Testkit {
    /// A kit for programs that take a client of any runtime.
    pub fn new(server: ScriptedServer) -> Self {
        Testkit::for_runtime(server)
    }
}

impl<R> Testkit<R> {
    /// A kit for programs that take a client of the runtime `R`.
    ///
    /// ```
    /// # mod mcpwire_tokio {
    /// #     pub use mcpwire_driver::Error;
    /// #     pub use mcpwire_testkit::VirtualTime as Tokio;
    /// #     pub type McpClient = mcpwire_driver::McpClient<Tokio>;
    /// # }
    /// use mcpwire_testkit::{ScriptedServer, Testkit};
    /// use serde_json::json;
    ///
    /// async fn greeting(client: &mcpwire_tokio::McpClient) -> Result<String, mcpwire_tokio::Error> {
    ///     let result = client.call_tool("greet", json!({"name": "you"})).await?;
    ///     Ok(result.text().into_string())
    /// }
    ///
    /// let server = ScriptedServer::new().tool("greet", |_| "hello, you");
    /// let kit = Testkit::<mcpwire_tokio::Tokio>::for_runtime(server);
    /// assert_eq!(kit.run(async |client| greeting(&client).await)?, "hello, you");
    /// # Ok::<(), mcpwire_tokio::Error>(())
    /// ```
    pub fn for_runtime(server: ScriptedServer) -> Self {
        Testkit { server, time: VirtualTime::new(), config: Config::default(), capacity: PIPE, runtime: PhantomData }
    }

    /// Sets who the clients are, what they speak, and their limits.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets how many bytes fit between client and server, each way. By default, 64 KiB.
    pub fn capacity(mut self, bytes: usize) -> Self {
        self.capacity = bytes;
        self
    }

    /// Runs `f` with a client that is connected as by `connect_and_initialize`: the connection is open, and the tools are
    /// listed if there are any.
    ///
    /// What it does last has its effect: the server has got all that was sent when this returns, and seen the end of the
    /// connection if no client is left.
    ///
    /// # Panics
    ///
    /// When the connection does not open, and as [`VirtualTime::run`]. [`Testkit::connect`] is for tests of how it opens.
    #[track_caller]
    pub fn run<T>(&self, f: impl AsyncFnOnce(McpClient<R>) -> T) -> T {
        self.time.run(async {
            let client = self.connect();
            if let Err(error) = open(&client).await {
                panic!("the connection to the scripted server does not open: {error}");
            }
            f(client).await
        })
    }

    /// A client that has not been opened, for use within [`VirtualTime::run`] of [`Testkit::time`].
    ///
    /// ```
    /// # use mcpwire_testkit::{ScriptedServer, Testkit};
    /// let kit = Testkit::new(ScriptedServer::new().versions(["1999-12-31"]));
    /// let client = kit.connect();
    /// let error = kit.time().run(client.initialize()).unwrap_err();
    /// assert!(error.to_string().contains("1999-12-31"));
    /// ```
    pub fn connect(&self) -> McpClient<R> {
        self.connect_with(ConnectOptions::new(self.config.clone()))
    }

    /// As [`Testkit::connect`], with options of its own.
    pub fn connect_with(&self, options: ConnectOptions) -> McpClient<R> {
        self.server.connect_on(self.time.runtime(), self.capacity, options)
    }

    /// The server.
    pub fn server(&self) -> &ScriptedServer {
        &self.server
    }

    /// The time.
    pub fn time(&self) -> &VirtualTime {
        &self.time
    }

    /// Everything that the server was sent, in order.
    pub fn recorded(&self) -> Vec<Recorded> {
        self.server.recorded()
    }
}

async fn open<R>(client: &McpClient<R>) -> Result<(), mcpwire_driver::Error> {
    client.initialize().await?;
    if client.capabilities().is_none_or(|capabilities| capabilities.tools.is_some()) {
        client.list_tools().await?;
    }
    Ok(())
}

impl<R> fmt::Debug for Testkit<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Testkit").field("server", &self.server).field("time", &self.time).finish_non_exhaustive()
    }
}
