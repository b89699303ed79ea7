//! [`Attempt`]: one attempt to run a server, with its client, its process and its tasks.

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

/// One attempt to run a server, from the resolution of its command to the end of its process. Dropping it kills the process,
/// which may block, so the caller must not hold the lock of the hub's state.
pub(super) struct Attempt {
    phase: Phase,
    container: Option<Container>,
    redactor: Redactor,
    /// Sends the error with which the pending tool calls of the server fail. `None` after the error was sent.
    fail_calls: Option<oneshot::Sender<HubError>>,
    calls_failed: CallsFailed,
    /// The tasks of this attempt that use the connection to the server. They are aborted when the attempt ends.
    pub(super) tasks: Vec<AbortHandle>,
    /// Whether the process is being killed. The end of the process is then reported by the kill, and not by a graceful stop that
    /// still runs, because the process may still be running.
    pub(super) is_killed: bool,
}

/// Completes when the pending tool calls of a server must fail, and returns their error. Any number of calls can wait for this
/// future.
type CallsFailed = Shared<oneshot::Receiver<HubError>>;

enum Phase {
    /// The command of the server is being resolved (`None`), or is resolved and waits to be started (`Some`).
    Resolving(Option<Box<Launch>>),
    /// The process is being started. Also the phase of an attempt without a resolved command, whose start fails.
    Launching,
    Launched(Arc<Launched>),
}

/// A started server: the client with its connection, and the record of the process.
pub(super) struct Launched {
    pub(super) client: Client,
    pub(super) record: ProcessRecord,
    /// Locked while a thread kills the process, so that other threads can wait for the end of the kill.
    killing: Mutex<()>,
}

/// The parts of a running server that a tool call needs: the client that sends the call, the error signal for pending calls, and
/// the redactor that removes secrets from errors.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) calls_failed: CallsFailed,
    pub(super) redactor: Redactor,
}

/// The process and the container of an attempt that has ended. The caller must stop both.
#[derive(Default)]
pub(super) struct Remains {
    pub(super) server: Option<Arc<Launched>>,
    pub(super) container: Option<Container>,
}

impl Attempt {
    /// Creates an attempt whose command is still being resolved.
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

    /// Stores the resolved command or address of the server, with its secrets, until the server is started.
    pub(super) fn resolved(&mut self, launch: Launch) {
        self.redactor = launch.redactor.clone();
        self.container.clone_from(&launch.container);
        self.phase = Phase::Resolving(Some(Box::new(launch)));
    }

    /// Takes the resolved command or address of the server, to start it. Returns `None` if none is stored, for example because an
    /// earlier call took it.
    pub(super) fn take_launch(&mut self) -> Option<Launch> {
        match std::mem::replace(&mut self.phase, Phase::Launching) {
            Phase::Resolving(launch) => launch.map(|launch| *launch),
            _ => None,
        }
    }

    pub(super) fn set_launched(&mut self, server: &Arc<Launched>) {
        self.phase = Phase::Launched(Arc::clone(server));
    }

    /// Returns the started server, or `None` if the server has not been started yet.
    pub(super) fn launched(&self) -> Option<&Arc<Launched>> {
        if let Phase::Launched(server) = &self.phase { Some(server) } else { None }
    }

    /// Returns the connection to the server, or `None` if the server has not been started yet.
    pub(super) fn connection(&self) -> Option<Connection> {
        let (client, calls_failed) = (self.launched()?.client.clone(), self.calls_failed.clone());
        Some(Connection { client, calls_failed, redactor: self.redactor.clone() })
    }

    /// Returns whether this attempt has not begun to start a process. A later attempt may then replace it, because there is no
    /// process to stop.
    pub(super) fn is_resolving(&self) -> bool {
        matches!(self.phase, Phase::Resolving(_))
    }

    /// Fails the pending tool calls of the server with `error`. Has an effect only the first time.
    pub(super) fn fail_calls(&mut self, error: HubError) {
        if let Some(sender) = self.fail_calls.take() {
            // Sending fails only if no call is pending.
            let _ = sender.send(error);
        }
    }

    /// Aborts the tasks of the attempt. Returns its process and its container, which the caller must stop.
    pub(super) fn stop(&mut self) -> Remains {
        self.abort_tasks();
        Remains { server: self.launched().cloned(), container: self.container.clone() }
    }

    /// Kills the process of the server, if it was started, and returns its container. The caller must remove the container, which
    /// may still be running. May block for 500 ms.
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

    /// Kills the process of the server. If another thread is already killing it, waits until that thread is done. May block for
    /// 500 ms.
    pub(super) fn kill(&self) {
        let _turn = self.killing.lock().unwrap_or_else(PoisonError::into_inner);
        self.client.kill();
    }
}

/// The record of a server process in the process registry. If this hub is killed, the next hub finds the process by this record
/// and ends it.
///
/// A server usually has one process. Some servers exit when the client asks for their protocol version, and are started again:
/// the record then contains the id of the new process.
pub(super) struct ProcessRecord {
    /// The process registry, or `None` if the hub keeps no files. Then nothing is recorded.
    registry: Option<Arc<ProcessRegistry>>,
    child: ServerProcess,
    state: Mutex<RecordState>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordState {
    Empty,
    /// The registry contains this process id, or 0 if the process is about to be started.
    Recorded(u32),
    /// The process has ended. Later calls of `record` have no effect.
    Closed,
}

impl ProcessRecord {
    /// Creates the record of a server process, without writing it to the process registry. [`record`](Self::record) writes it, with
    /// its own process id instead of the one in `child`.
    pub(super) fn new(registry: Option<Arc<ProcessRegistry>>, child: ServerProcess) -> Self {
        ProcessRecord { registry, child, state: Mutex::new(RecordState::Empty) }
    }

    /// Writes the id of a server process to the process registry. The id replaces the id of the previous process, which has
    /// ended. 0 means that a process is about to be started. Does nothing if `pid` is `None`. Writes an error to the logs of the
    /// server. Blocks while it writes a file.
    pub(super) fn record(&self, pid: Option<u32>, logs: &Logs) {
        let (Some(registry), Some(pid)) = (&self.registry, pid) else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == RecordState::Closed || *state == RecordState::Recorded(pid) {
            return;
        }
        match registry.record(&ServerProcess { pid, ..self.child.clone() }) {
            Ok(()) => *state = RecordState::Recorded(pid),
            Err(error) => logs.push(&format!("the process will not be found if the hub is killed: {error}")),
        }
    }

    /// Removes the record from the process registry. Call this after the server process has ended. Blocks while it writes a file.
    pub(super) fn remove(&self) {
        let Some(registry) = &self.registry else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let RecordState::Recorded(_) = std::mem::replace(&mut *state, RecordState::Closed) {
            // Errors are ignored: the next hub removes the record, because the process has ended.
            let _ = registry.forget(&self.child);
        }
    }
}
