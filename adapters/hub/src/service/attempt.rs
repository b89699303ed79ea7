//! [`Attempt`]: the client, the process and the tasks of one attempt to run a server.

use std::sync::{Arc, Mutex, PoisonError};

use futures_channel::oneshot;
use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Shared};

use super::logs::Logs;
use crate::HubError;
use crate::launch::{Container, Launch};
use crate::process_registry::{ProcessRegistry, ServerProcess};
use crate::redact::Redactor;
use crate::tasks::Client;

/// An attempt to run a server. Dropping it kills the server's process, which may block: the lock of the hub's state must not be
/// held.
pub(super) struct Attempt {
    phase: Phase,
    container: Option<Container>,
    redactor: Redactor,
    /// The sender for the error with which the pending tool calls fail. `None` after the error was sent.
    fail_calls: Option<oneshot::Sender<HubError>>,
    calls_failed: CallsFailed,
    /// Tasks of this attempt that use the connection to the server. They are aborted when the attempt ends.
    tasks: Vec<AbortHandle>,
    /// Whether the process is being killed. The kill then reports the end of the process, and a graceful stop does not.
    is_killed: bool,
}

/// A future that returns the error with which the pending tool calls of a server fail. Any number of calls can wait for
/// this future.
type CallsFailed = Shared<oneshot::Receiver<HubError>>;

enum Phase {
    /// The command of the server is being resolved (`None`), or is resolved and waits for its start (`Some`).
    Resolving(Option<Box<Launch>>),
    /// The process is being started, or there was no resolved command to start.
    Launching,
    Launched(Arc<Launched>),
}

/// A server that was started.
pub(super) struct Launched {
    pub(super) client: Client,
    pub(super) record: ProcessRecord,
    /// Held while the process is being killed.
    killing: Mutex<()>,
}

/// The parts of a running server that a tool call needs: its client, the error signal for pending calls, and the
/// redactor of secrets.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) calls_failed: CallsFailed,
    pub(super) redactor: Redactor,
}

/// The process and the container of a server that the caller must still stop.
pub(super) struct Remains {
    pub(super) server: Option<Arc<Launched>>,
    pub(super) container: Option<Container>,
}

impl Attempt {
    /// Creates an attempt whose command is being resolved.
    pub(super) fn new() -> Self {
        let (fail_calls, calls_failed) = oneshot::channel();
        Attempt {
            phase: Phase::Resolving(None),
            container: None,
            redactor: Redactor::default(),
            fail_calls: Some(fail_calls),
            calls_failed: calls_failed.shared(),
            tasks: Vec::new(),
            is_killed: false,
        }
    }

    /// Stores the resolved launch of the server: its command or address, with secrets.
    pub(super) fn resolved(&mut self, launch: Launch) {
        self.redactor = launch.redactor.clone();
        self.container.clone_from(&launch.container);
        self.phase = Phase::Resolving(Some(Box::new(launch)));
    }

    /// Removes and returns the resolved launch of the server, so that the caller starts it. Returns `None` if no launch
    /// is stored.
    pub(super) fn take_launch(&mut self) -> Option<Launch> {
        match std::mem::replace(&mut self.phase, Phase::Launching) {
            Phase::Resolving(launch) => launch.map(|launch| *launch),
            _ => None,
        }
    }

    pub(super) fn set_launched(&mut self, server: &Arc<Launched>) {
        self.phase = Phase::Launched(Arc::clone(server));
    }

    /// Returns the started server, or `None` if the server was not started.
    pub(super) fn launched(&self) -> Option<&Arc<Launched>> {
        if let Phase::Launched(server) = &self.phase { Some(server) } else { None }
    }

    /// Returns the connection to the server, or `None` if the server was not started.
    pub(super) fn connection(&self) -> Option<Connection> {
        let (client, calls_failed) = (self.launched()?.client.clone(), self.calls_failed.clone());
        Some(Connection { client, calls_failed, redactor: self.redactor.clone() })
    }

    /// Returns whether no process was started, and none is being started. A later attempt then replaces this one.
    pub(super) fn is_resolving(&self) -> bool {
        matches!(self.phase, Phase::Resolving(_))
    }

    /// Adds a task that is aborted when the attempt ends.
    pub(super) fn add_task(&mut self, task: AbortHandle) {
        self.tasks.push(task);
    }

    /// Fails the pending tool calls of the server with `error`. Only the first call of this function has an effect.
    pub(super) fn fail_calls(&mut self, error: HubError) {
        if let Some(sender) = self.fail_calls.take() {
            // If no calls are pending, nobody receives the error.
            let _ = sender.send(error);
        }
    }

    /// Aborts the tasks of the attempt. Returns the process and the container, which the caller must stop.
    pub(super) fn stop(&mut self) -> Remains {
        self.abort_tasks();
        Remains { server: self.launched().cloned(), container: self.container.clone() }
    }

    /// Does the same as [`stop`](Self::stop) before the process of the server is killed.
    pub(super) fn begin_kill(&mut self) -> Remains {
        self.is_killed = true;
        self.stop()
    }

    /// Returns whether [`begin_kill`](Self::begin_kill) was called. A graceful stop may then end before the process is dead.
    pub(super) fn is_killed(&self) -> bool {
        self.is_killed
    }

    /// Kills the process of the server, and returns the container, which may still run. May block for 500 ms.
    pub(super) fn end(mut self) -> Option<Container> {
        self.launched()?;
        self.container.take()
    }

    fn abort_tasks(&mut self) {
        self.tasks.drain(..).for_each(|task| task.abort());
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.abort_tasks();
        if let Some(server) = self.launched() {
            server.kill();
        }
    }
}

impl Launched {
    pub(super) fn new(client: Client, record: ProcessRecord) -> Arc<Self> {
        Arc::new(Launched { client, record, killing: Mutex::default() })
    }

    /// Kills the process of the server. If another thread is killing it, waits until it is killed. May block for 500 ms.
    pub(super) fn kill(&self) {
        let _turn = self.killing.lock().unwrap_or_else(PoisonError::into_inner);
        self.client.kill();
    }
}

/// The entry of a server process in the process registry. If this hub is killed, the next hub finds the process through
/// this entry and ends it.
///
/// A server usually has one process. A server that exits when the client asks for its protocol version is started
/// again, and the entry then contains the id of the new process.
pub(super) struct ProcessRecord {
    /// The process registry, or `None` if the hub keeps no files.
    registry: Option<Arc<ProcessRegistry>>,
    child: ServerProcess,
    state: Mutex<RecordState>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordState {
    Empty,
    /// The registry contains this process id, or 0 if the process has not been started yet.
    Recorded(u32),
    /// The process has ended, and this record accepts no further process.
    Closed,
}

impl ProcessRecord {
    /// Creates the entry for a server process, but does not write it to the process registry.
    /// [`set_pid`](Self::set_pid) writes the entry, with the process id in `child` replaced.
    pub(super) fn new(registry: Option<Arc<ProcessRegistry>>, child: ServerProcess) -> Self {
        ProcessRecord { registry, child, state: Mutex::new(RecordState::Empty) }
    }

    /// Writes the id of a server process to the process registry, in place of the previous process, which has ended.
    /// The id 0 means that a process is about to be started. Blocks while it writes a file.
    fn set_pid(&self, pid: u32) -> Result<(), HubError> {
        let Some(registry) = &self.registry else { return Ok(()) };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == RecordState::Closed || *state == RecordState::Recorded(pid) {
            return Ok(());
        }
        registry.record(&ServerProcess { pid, ..self.child.clone() })?;
        *state = RecordState::Recorded(pid);
        Ok(())
    }

    /// Does the same as [`set_pid`](Self::set_pid), and adds an error to the logs of the server. Does nothing if `pid` is `None`.
    pub(super) fn record(&self, pid: Option<u32>, logs: &Logs) {
        if let Some(Err(error)) = pid.map(|pid| self.set_pid(pid)) {
            logs.push(&format!("the process will not be found if the hub is killed: {error}"));
        }
    }

    /// Removes the entry from the process registry, because the server process has ended. Blocks while it writes a
    /// file.
    pub(super) fn remove(&self) {
        let Some(registry) = &self.registry else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let RecordState::Recorded(_) = std::mem::replace(&mut *state, RecordState::Closed) {
            // Errors are ignored: the next hub removes the entry, because the process has ended.
            let _ = registry.forget(&self.child);
        }
    }
}
