//! [`Testkit`]: a scripted server, its clients, and their virtual time.

use std::fmt;
use std::marker::PhantomData;

use mcpwire_driver::protocol::Config;
use mcpwire_driver::{ConnectOptions, McpClient};

use crate::recorded::RecordedMessage;
use crate::server::{DEFAULT_CAPACITY, ScriptedServer};
use crate::time::VirtualTime;

/// A scripted server, its clients, and their virtual time.
///
/// ```
/// use std::time::Duration;
///
/// use mcpwire_driver::ErrorKind;
/// use mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit};
/// use serde_json::json;
///
/// let kit = Testkit::new(ScriptedServer::new().tool("never", |_| ScriptedResponse::new()));
/// kit.run(async |client| {
///     let error = client.call_tool("never", json!({})).timeout(Duration::from_secs(600)).await.unwrap_err();
///     assert_eq!(error.kind(), ErrorKind::Timeout);
/// });
/// assert_eq!(kit.time().elapsed(), Duration::from_secs(600));
/// assert_eq!(kit.server().cancellations().len(), 1);
/// ```
///
/// `R` is the runtime parameter of the client type that the tested program uses ([`Testkit::for_runtime`]). The test does not run
/// on that runtime, so a call such as `tokio::time::sleep` panics. Use [`ScriptedServer::connect`] to test such a program.
pub struct Testkit<R = VirtualTime> {
    server: ScriptedServer,
    time: VirtualTime,
    config: Config,
    capacity: usize,
    runtime: PhantomData<fn() -> R>,
}

impl Testkit {
    /// Creates a test kit for programs that are generic over the runtime.
    pub fn new(server: ScriptedServer) -> Self {
        Testkit::for_runtime(server)
    }
}

impl<R> Testkit<R> {
    /// Creates a test kit for programs that take a client of the runtime `R`.
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
        Testkit {
            server,
            time: VirtualTime::new(),
            config: Config::default(),
            capacity: DEFAULT_CAPACITY,
            runtime: PhantomData,
        }
    }

    /// Sets the configuration of the clients: their names, protocol versions and limits.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets the capacity of the streams between client and server, in bytes for each direction. The default is 64 KiB.
    pub fn capacity(mut self, bytes: usize) -> Self {
        self.capacity = bytes;
        self
    }

    /// Runs `f` with a new client that is initialized and has listed the tools, as after `connect_and_initialize`.
    ///
    /// When this returns, the server has received everything that the client has sent. If no client is left, the server has also
    /// received the end of the connection.
    ///
    /// # Panics
    /// If the connection cannot be opened, and as [`VirtualTime::run`]. Use [`Testkit::connect`] to test the opening.
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

    /// Returns a new client whose connection is not open yet. Use the client within [`VirtualTime::run`] of [`Testkit::time`].
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

    /// Returns a new client with options. Otherwise as [`Testkit::connect`].
    pub fn connect_with(&self, options: ConnectOptions) -> McpClient<R> {
        self.server.connect_on(self.time.runtime(), self.capacity, options)
    }

    /// Returns the server.
    pub fn server(&self) -> &ScriptedServer {
        &self.server
    }

    /// Returns the virtual time.
    pub fn time(&self) -> &VirtualTime {
        &self.time
    }

    /// Returns all messages that the server has received, in order.
    pub fn recorded(&self) -> Vec<RecordedMessage> {
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
