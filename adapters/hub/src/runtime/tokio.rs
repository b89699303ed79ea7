//! A hub on tokio.

use mcpwire_driver::{ConnectOptions, Error, McpServerDef};
use mcpwire_tokio::McpClient;
use tokio::runtime::Handle;

use super::{ClientRuntime, Clock, Connection, Runtime, Task, Timer, Work};

/// A tokio runtime, with its time and I/O enabled.
#[derive(Clone, Debug)]
pub struct Tokio(Handle);

impl Tokio {
    /// This runtime.
    pub fn new(handle: Handle) -> Self {
        Tokio(handle)
    }

    /// The runtime that this is called in.
    ///
    /// # Panics
    ///
    /// Called outside of one, as [`Handle::current`] does.
    pub fn current() -> Self {
        Tokio(Handle::current())
    }
}

impl Runtime for Tokio {
    fn spawn(&self, task: Task) {
        self.0.spawn(task);
    }

    fn block(&self, work: Work) {
        self.0.spawn_blocking(work);
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(mcpwire_tokio::Tokio::timer())
    }

    fn clock(&self) -> Clock {
        mcpwire_tokio::Tokio::clock()
    }

    fn connect(&self, def: &McpServerDef, options: ConnectOptions) -> Result<Connection, Error> {
        let _entered = self.0.enter();
        McpClient::connect_with(def, options).map(Connection::new)
    }
}
