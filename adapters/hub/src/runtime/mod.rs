//! [`Runtime`]: what a hub needs of an async runtime: tasks, threads that may be blocked, a timer, and connections.

mod tasks;

#[cfg(feature = "smol")]
mod smol;
#[cfg(feature = "tokio")]
mod tokio;

use std::fmt;
use std::future::Future;
use std::pin::Pin;

pub use mcpwire_driver::{Clock, Runtime as ClientRuntime, Timer};
use mcpwire_driver::{ConnectOptions, Error, McpClient, McpServerDef};

#[cfg(feature = "smol")]
pub use self::smol::Smol;
#[cfg(feature = "tokio")]
pub use self::tokio::Tokio;
pub(crate) use tasks::{Alarm, Tasks, panicked};

/// What a runtime runs.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What may block a thread for a while.
pub type Work = Box<dyn FnOnce() + Send>;

/// An async runtime, as far as a hub needs one. [`Tokio`] and, with the feature `smol`,
/// [`Smol`] are two; any other is a few lines:
///
/// ```
/// use mcpwire_hub::runtime::{ClientRuntime, Clock, Connection, Runtime, Task, Timer, Work};
/// use mcpwire_hub::{ConnectOptions, McpServerDef};
/// # use mcpwire_tokio as my_client;
/// # use mcpwire_tokio::Tokio as MyClientRuntime;
///
/// struct Mine(tokio::runtime::Handle);
///
/// impl Runtime for Mine {
///     fn spawn(&self, task: Task) {
///         self.0.spawn(task);
///     }
///
///     fn block(&self, work: Work) {
///         self.0.spawn_blocking(work);
///     }
///
///     fn timer(&self) -> Box<dyn Timer> {
///         Box::new(MyClientRuntime::timer())
///     }
///
///     fn connect(&self, def: &McpServerDef, options: ConnectOptions) -> Result<Connection, my_client::Error> {
///         let _entered = self.0.enter();
///         my_client::McpClient::connect_with(def, options).map(Connection::new)
///     }
/// }
/// ```
pub trait Runtime: Send + Sync + 'static {
    /// Runs a task that nobody waits for. It never blocks.
    fn spawn(&self, task: Task);

    /// Runs something that may block, on a thread where it may: files are read, processes started.
    fn block(&self, work: Work);

    /// A timer that has not been set.
    fn timer(&self) -> Box<dyn Timer>;

    /// The clock that the timer goes by. The system's by default. Asked for once.
    fn clock(&self) -> Clock {
        Clock::system()
    }

    /// Starts a server, or makes ready to speak to one at an address, and no more: the connection is opened later. Called where
    /// it may block.
    ///
    /// # Errors
    ///
    /// Those of [`McpClient::connect_with`].
    fn connect(&self, def: &McpServerDef, options: ConnectOptions) -> Result<Connection, Error>;
}

/// A client of any runtime.
pub(crate) type Client = McpClient<()>;

/// The opening of a connection.
pub(crate) type Opening = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// A server that was started, and to which the connection is not open yet.
pub struct Connection {
    pub(crate) client: Client,
    pub(crate) opening: Opening,
}

impl Connection {
    /// Of a client on which [`McpClient::initialize`] was not called.
    pub fn new<R: ClientRuntime>(client: McpClient<R>) -> Self {
        let erased = client.without_runtime();
        Connection { client: erased, opening: Box::pin(async move { client.initialize().await.map(drop) }) }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection").field(&self.client).finish()
    }
}
