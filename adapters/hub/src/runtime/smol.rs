//! A hub on smol, and under any other executor.

use mcpwire_driver::{ConnectOptions, Error, McpServerDef};
use mcpwire_smol::McpClient;

use super::{ClientRuntime, Connection, Runtime, Task, Timer, Work};

/// The thread that `mcpwire-smol` drives its connections by, the timers of async-io, and the threads of `blocking`: whatever
/// executor the program itself runs on, or none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Smol;

impl Runtime for Smol {
    fn spawn(&self, task: Task) {
        mcpwire_smol::spawn(task);
    }

    fn block(&self, work: Work) {
        blocking::unblock(work).detach();
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(mcpwire_smol::Smol::timer())
    }

    fn connect(&self, def: &McpServerDef, options: ConnectOptions) -> Result<Connection, Error> {
        McpClient::connect_with(def, options).map(Connection::new)
    }
}
