//! The process of a server, on systems with neither process groups nor job objects. Only the server's own process can be ended,
//! and not its descendants.

use std::io;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use mcpwire_client::{Exit, McpServerDef};

use crate::pipes::Pipes;

/// A server's process on this machine, without its descendants.
#[derive(Debug)]
pub(crate) struct LocalProcess(Child);

#[expect(clippy::unused_self, reason = "the signatures are the same as on Unix")]
impl LocalProcess {
    pub(crate) fn start(mut command: Command, _: &McpServerDef) -> io::Result<(Self, Pipes)> {
        let mut child = command.spawn()?;
        let pipes = Pipes::of(&mut child);
        Ok((LocalProcess(child), pipes))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn observe(&mut self) -> Option<Exit> {
        let status = self.0.try_wait().ok()??;
        Some(Exit::new(status.code(), None))
    }

    pub(crate) fn reap(&mut self) {}

    pub(crate) fn has_processes(&mut self) -> bool {
        self.observe().is_none()
    }

    pub(crate) fn find_strays(&mut self) -> bool {
        false
    }

    pub(crate) fn terminate(&mut self) {
        let _ = self.0.kill();
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
    }

    /// Blocks until the server has exited, at most for `timeout`.
    pub(crate) fn reap_all(&mut self, timeout: Duration) {
        let until = Instant::now() + timeout;
        while self.observe().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// On Linux, kills all child processes of this program, with their descendants. Does nothing on this system.
pub fn kill_children() {}

/// On Unix, kills a process that leads a process group, with its descendants. Does nothing on this system.
pub fn kill_tree(_: u32) {}
