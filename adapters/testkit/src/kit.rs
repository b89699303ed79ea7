//! [`Testkit`]: runs a test with a scripted server and its clients, in virtual time.

use std::fmt;
use std::marker::PhantomData;

use mcpwire_driver::protocol::Config;
use mcpwire_driver::{ConnectOptions, McpClient};

use crate::server::PIPE_CAPACITY;
use crate::server::ScriptedServer;
use crate::time::VirtualTime;
use crate::wire::RecordedMessage;

/// A test environment: a [`ScriptedServer`] and clients that are connected to it, in virtual time.
///
/// ```
/// # mod mcpwire { pub use mcpwire_driver::ErrorKind; pub mod testkit { pub use mcpwire_testkit::{ScriptedResponse,
/// # ScriptedServer, Testkit}; } }
/// use std::time::Duration;
///
/// use mcpwire::ErrorKind;
/// use mcpwire::testkit::{ScriptedResponse, ScriptedServer, Testkit};
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
/// `R` is only the runtime parameter of the client type, because the code under test may expect the client of a runtime such as
/// tokio ([`Testkit::for_runtime`]). The test itself runs in virtual time, so code that uses the runtime `R`, such as
/// `tokio::time::sleep`, panics. Test such code with [`ScriptedServer::connect`].
pub struct Testkit<R = VirtualTime> {
    server: ScriptedServer,
    time: VirtualTime,
    config: Config,
    capacity: usize,
    #[cfg(feature = "http")]
    http: Option<crate::http::ScriptedHttp>,
    runtime: PhantomData<fn() -> R>,
}

impl Testkit {
    /// Creates a test kit whose clients have the type `McpClient<VirtualTime>`. Use it if the code under test is generic over the
    /// runtime of the client.
    pub fn new(server: ScriptedServer) -> Self {
        Testkit::for_runtime(server)
    }
}

impl<R> Testkit<R> {
    /// Creates a test kit whose clients have the type `McpClient<R>`, for code that takes a client of one runtime, such as tokio.
    ///
    /// ```
    /// # mod mcpwire {
    /// #     pub use mcpwire_driver::Error;
    /// #     pub mod testkit { pub use mcpwire_testkit::{ScriptedServer, Testkit}; }
    /// #     pub mod tokio {
    /// #         pub use mcpwire_testkit::VirtualTime as Tokio;
    /// #         pub type McpClient = mcpwire_driver::McpClient<Tokio>;
    /// #     }
    /// # }
    /// use mcpwire::testkit::{ScriptedServer, Testkit};
    /// use serde_json::json;
    ///
    /// async fn greeting(client: &mcpwire::tokio::McpClient) -> Result<String, mcpwire::Error> {
    ///     let result = client.call_tool("greet", json!({"name": "you"})).await?;
    ///     Ok(result.text().into_string())
    /// }
    ///
    /// let server = ScriptedServer::new().tool("greet", |_| "hello, you");
    /// let kit = Testkit::<mcpwire::tokio::Tokio>::for_runtime(server);
    /// assert_eq!(kit.run(async |client| greeting(&client).await)?, "hello, you");
    /// # Ok::<(), mcpwire::Error>(())
    /// ```
    pub fn for_runtime(server: ScriptedServer) -> Self {
        Testkit {
            server,
            time: VirtualTime::new(),
            config: Config::default(),
            capacity: PIPE_CAPACITY,
            #[cfg(feature = "http")]
            http: None,
            runtime: PhantomData,
        }
    }

    mcpwire_driver::setters! {
        /// Sets the configuration of new clients, such as their name, protocol revisions and limits. The default is
        /// [`Config::default`].
        fn config(config: Config) => config = config;

        /// Sets the number of unread bytes that the pipe between client and server holds in each direction. The default is 64
        /// KiB. With a small pipe, messages arrive in parts.
        fn capacity(bytes: usize) => capacity = bytes;
    }

    /// Connects clients over simulated HTTP instead of pipes. `script` configures the HTTP server, for example to turn sessions
    /// off.
    ///
    /// ```
    /// # use mcpwire_testkit::{ScriptedServer, Testkit};
    /// # use serde_json::json;
    /// let server = ScriptedServer::new().tool("echo", |_| "hi");
    /// let kit = Testkit::new(server).over_http(|http| http.always_streaming());
    /// assert_eq!(kit.run(async |client| client.call_tool("echo", json!({})).await).unwrap().text().as_str(), "hi");
    /// assert!(kit.http().unwrap().requests().iter().any(|request| request.method() == "tools/call"));
    /// ```
    #[cfg(feature = "http")]
    pub fn over_http(mut self, script: impl FnOnce(crate::http::ScriptedHttp) -> crate::http::ScriptedHttp) -> Self {
        self.http = Some(script(crate::http::ScriptedHttp::new(self.server.clone())));
        self
    }

    /// Returns the simulated HTTP server, for example to read the requests that it has received. `None` if [`Testkit::over_http`]
    /// was not called.
    #[cfg(feature = "http")]
    pub fn http(&self) -> Option<&crate::http::ScriptedHttp> {
        self.http.as_ref()
    }

    /// Runs a test in virtual time: calls `f` with a client whose connection is open. If the server has tools, the client has
    /// already listed them, as after `connect_and_initialize`.
    ///
    /// When `run` returns, the server has received all messages of the client. If all clones of the client were dropped, the
    /// connection is closed.
    ///
    /// # Panics
    ///
    /// If the connection does not open, and in the cases of [`VirtualTime::run`]. Use [`Testkit::connect`] to test connections
    /// that do not open.
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

    /// Creates a client of the server without opening the connection, for example to test `initialize`. Use the client within
    /// [`VirtualTime::run`] of [`Testkit::time`].
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

    /// Creates a client as [`Testkit::connect`] does, but with these options. Over HTTP, the `http` of the options is ignored. To
    /// set it, use
    #[cfg_attr(feature = "http", doc = "[`ScriptedHttp::client_on`](crate::ScriptedHttp::client_on).")]
    #[cfg_attr(not(feature = "http"), doc = "`ScriptedHttp::client_on`.")]
    ///
    /// # Panics
    ///
    /// If the options are invalid for a client over HTTP.
    #[track_caller]
    pub fn connect_with(&self, options: ConnectOptions) -> McpClient<R> {
        #[cfg(feature = "http")]
        if let Some(http) = &self.http {
            match http.connect_on(self.time.runtime(), options) {
                Ok(client) => return client,
                Err(error) => panic!("the client does not connect over HTTP: {error}"),
            }
        }
        self.server.connect_on(self.time.runtime(), self.capacity, options)
    }

    /// Returns the scripted server, for example to change its script or to read the messages that it has received.
    pub fn server(&self) -> &ScriptedServer {
        &self.server
    }

    /// Returns the virtual time in which the clients and the server run.
    pub fn time(&self) -> &VirtualTime {
        &self.time
    }

    /// Returns all messages that the server has received from all clients, in order of arrival.
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
