//! Connects clients to a [`ScriptedServer`] over streams.

use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use mcpwire_driver::{Clock, ConnectOptions, CurrentRuntime, McpClient, Runtime};

use crate::outbox::Outbox;
use mcpwire_driver::memory::duplex;

use crate::serve_future::ServeFuture;
use crate::server::PIPE_CAPACITY;
use crate::server::ScriptedServer;

impl ScriptedServer {
    /// Connects a new client to this server in memory, on the current runtime. The connection is not open yet.
    ///
    /// The time is that of the runtime. Use this for code that sleeps on tokio, because a [`Testkit`](crate::Testkit) runs
    /// outside of tokio. With `#[tokio::test(start_paused = true)]`, the time is virtual too.
    ///
    /// ```
    /// # mod mcpwire { pub use mcpwire_driver::{ConnectOptions, Error}; pub mod testkit { pub use
    /// # mcpwire_testkit::ScriptedServer; } pub mod tokio { pub use mcpwire_testkit::VirtualTime as Tokio; } }
    /// use mcpwire::{ConnectOptions, Error};
    /// use mcpwire::testkit::ScriptedServer;
    /// use serde_json::json;
    ///
    /// async fn test() -> Result<(), Error> {
    ///     let server = ScriptedServer::new().tool("greet", |_| "hello");
    ///     let client = server.connect::<mcpwire::tokio::Tokio>(ConnectOptions::default());
    ///     client.initialize().await?;
    ///     assert_eq!(client.call_tool("greet", json!({})).await?.text().as_str(), "hello");
    ///     Ok(())
    /// }
    /// # mcpwire_testkit::VirtualTime::new().run(test()).unwrap();
    /// ```
    ///
    /// # Panics
    /// If this is called outside of a runtime, and `R` needs one, as tokio does.
    pub fn connect<R: CurrentRuntime>(&self, options: ConnectOptions) -> McpClient<R> {
        self.connect_on(R::current(), PIPE_CAPACITY, options)
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

    /// Serves a client over any pair of streams, in the time of the current runtime.
    ///
    /// Spawn the future on this runtime. It ends with the connection, and dropping it closes the connection.
    ///
    /// # Panics
    /// If this is called outside of a runtime, and `R` needs one, as tokio does.
    pub fn serve<R: CurrentRuntime>(
        &self,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> ServeFuture {
        self.serve_on(&*R::current(), reader, writer)
    }

    /// Serves a client as [`ScriptedServer::serve`] does, in the time of this runtime.
    pub fn serve_on(
        &self,
        runtime: &dyn Runtime,
        reader: impl AsyncRead + Send + 'static,
        writer: impl AsyncWrite + Send + 'static,
    ) -> ServeFuture {
        let clock = runtime.clock();
        let connection = self.open(&clock, None, true);
        ServeFuture::new(self.clone(), connection, Box::pin(reader), Box::pin(writer), clock, runtime.timer())
    }

    /// Opens a connection of a client. `None` stands for a new client. Returns the number of the connection.
    pub(crate) fn open(&self, clock: &Clock, client: Option<usize>, is_general: bool) -> usize {
        let mut state = self.lock();
        let connection = state.connections;
        state.connections += 1;
        state.outboxes.insert(connection, Outbox::new(clock.clone(), client.unwrap_or(connection), is_general));
        connection
    }
}
