//! [`Attempts`] holds the client, the process and the tasks of each attempt to run a server.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;
use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Shared};
use mcpwire_supervisor::{Generation, ServerId};

use super::process_record::ProcessRecord;
use crate::HubError;
use crate::launch::{Container, Launch};
use crate::redact::Redactor;
use crate::tasks::Client;

/// A future that returns the error with which the pending tool calls of a server fail. Any number of calls can wait for
/// this future.
pub(super) type CallsFailed = Shared<oneshot::Receiver<HubError>>;

/// Identifies an attempt to run a server: the id of the server, and the number of the attempt.
pub(super) type AttemptKey = (ServerId, Generation);

/// All attempts to run servers, each with its resources: the resolved command, the client, the container and the tasks.
///
/// The caller of a method may hold the lock of the hub's state: no method takes that lock, and none but
/// [`end`](Attempts::end) kills a process, which may block.
#[derive(Default)]
pub(super) struct Attempts(Mutex<BTreeMap<AttemptKey, Attempt>>);

/// The parts of a running server that a tool call needs: its client, the error signal for pending calls, and the
/// redactor of secrets.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) calls_failed: CallsFailed,
    pub(super) redactor: Redactor,
}

/// The client and the container of a server that the caller must still stop.
pub(super) struct Remains {
    pub(super) client: Option<Client>,
    pub(super) container: Option<Container>,
    kill: Arc<Mutex<()>>,
}

impl Remains {
    /// Kills the process of the server, and waits for another thread that is killing it. May block for 500 ms.
    pub(super) fn kill_process(&self) {
        if let Some(client) = &self.client {
            kill_process(client, &self.kill);
        }
    }
}

/// Kills the process of a server. Holds the lock `kill` meanwhile, so that a second caller waits until the process is killed.
fn kill_process(client: &Client, kill: &Mutex<()>) {
    let _turn = kill.lock().unwrap_or_else(PoisonError::into_inner);
    client.kill();
}

/// An attempt to run a server. Dropping it kills the server's process, which may block.
pub(super) struct Attempt {
    phase: Phase,
    container: Option<Container>,
    redactor: Redactor,
    /// The sender for the error with which the pending tool calls fail. `None` after the error was sent.
    fail_calls: Option<oneshot::Sender<HubError>>,
    calls_failed: CallsFailed,
    /// Tasks of this attempt that use the connection to the server. They are aborted when the attempt ends.
    tasks: Vec<AbortHandle>,
    /// Whether the process is being killed. Its end is then reported by the kill alone.
    is_killed: bool,
    /// Held while the process is being killed.
    kill: Arc<Mutex<()>>,
}

enum Phase {
    /// The command of the server is being resolved (`None`), or is resolved and waits for its start (`Some`).
    Resolving(Option<Box<Launch>>),
    /// The process is being started, or there was no resolved command to start.
    Launching,
    Launched(Client, Arc<ProcessRecord>),
    LaunchFailed,
}

impl Attempts {
    /// Adds an attempt to run a server. Removes earlier attempts of the same server that have started no process.
    pub(super) fn begin(&self, key: AttemptKey) {
        let mut attempts = self.lock();
        let abandoned: Vec<AttemptKey> =
            attempts.range(of_server(key.0)).filter(|(_, attempt)| attempt.is_over()).map(|(key, _)| *key).collect();
        for key in abandoned {
            attempts.remove(&key);
        }
        attempts.insert(key, Attempt::new());
    }

    /// Stores the resolved launch of a server: its command or address, with secrets.
    pub(super) fn resolved(&self, key: AttemptKey, launch: Launch) {
        if let Some(attempt) = self.lock().get_mut(&key) {
            attempt.redactor = launch.redactor.clone();
            attempt.container.clone_from(&launch.container);
            attempt.phase = Phase::Resolving(Some(Box::new(launch)));
        }
    }

    /// Removes and returns the resolved launch of a server, so that the caller starts it. Returns `None` if no launch
    /// is stored.
    pub(super) fn take_launch(&self, key: AttemptKey) -> Option<Launch> {
        let mut attempts = self.lock();
        let attempt = attempts.get_mut(&key)?;
        match std::mem::replace(&mut attempt.phase, Phase::Launching) {
            Phase::Resolving(launch) => launch.map(|launch| *launch),
            _ => None,
        }
    }

    /// Stores the client and the process record of a started server. Returns `false` if the attempt `key` was removed
    /// meanwhile; the caller must then kill the client.
    pub(super) fn launched(&self, key: AttemptKey, client: &Client, record: &Arc<ProcessRecord>) -> bool {
        let mut attempts = self.lock();
        let Some(attempt) = attempts.get_mut(&key) else { return false };
        attempt.phase = Phase::Launched(client.clone(), Arc::clone(record));
        true
    }

    pub(super) fn launch_failed(&self, key: AttemptKey) {
        if let Some(attempt) = self.lock().get_mut(&key) {
            attempt.phase = Phase::LaunchFailed;
        }
    }

    /// Returns the connection to a server, or `None` if the attempt `key` to run the server was removed or has no
    /// client.
    pub(super) fn connection(&self, key: AttemptKey) -> Option<Connection> {
        let attempts = self.lock();
        let attempt = attempts.get(&key)?;
        let client = attempt.client()?.clone();
        Some(Connection { client, calls_failed: attempt.calls_failed.clone(), redactor: attempt.redactor.clone() })
    }

    pub(super) fn client(&self, key: AttemptKey) -> Option<Client> {
        self.lock().get(&key)?.client().cloned()
    }

    pub(super) fn record(&self, key: AttemptKey) -> Option<Arc<ProcessRecord>> {
        match &self.lock().get(&key)?.phase {
            Phase::Launched(_, record) => Some(Arc::clone(record)),
            _ => None,
        }
    }

    /// Adds a task that is aborted when the attempt `key` to run a server ends. If the attempt was already removed, the
    /// task is aborted at once.
    pub(super) fn add_task(&self, key: AttemptKey, task: AbortHandle) {
        match self.lock().get_mut(&key) {
            Some(attempt) => attempt.tasks.push(task),
            None => task.abort(),
        }
    }

    /// Fails the pending tool calls of a server with `error`. Only the first call of this function for an attempt `key`
    /// has an effect.
    pub(super) fn fail_calls(&self, key: AttemptKey, error: HubError) {
        let sender = self.lock().get_mut(&key).and_then(|attempt| attempt.fail_calls.take());
        if let Some(sender) = sender {
            // If no calls are pending, nobody receives the error.
            let _ = sender.send(error);
        }
    }

    /// Aborts the tasks of an attempt to run a server. Returns the client and the container, which the caller must
    /// stop, or `None` if the attempt was removed.
    pub(super) fn stop(&self, key: AttemptKey) -> Option<Remains> {
        let mut attempts = self.lock();
        let attempt = attempts.get_mut(&key)?;
        Some(attempt.stop())
    }

    /// Does the same as [`stop`](Self::stop) before the process of the server is killed.
    pub(super) fn begin_kill(&self, key: AttemptKey) -> Option<Remains> {
        let mut attempts = self.lock();
        let attempt = attempts.get_mut(&key)?;
        attempt.is_killed = true;
        Some(attempt.stop())
    }

    /// Returns whether [`begin_kill`](Self::begin_kill) was called for this attempt. A graceful stop may then end before the process
    /// is dead.
    pub(super) fn is_killed(&self, key: AttemptKey) -> bool {
        self.lock().get(&key).is_some_and(|attempt| attempt.is_killed)
    }

    /// Removes an attempt to run a server. Dropping the returned attempt kills its process, which may block.
    pub(super) fn remove(&self, key: AttemptKey) -> Option<Attempt> {
        self.lock().remove(&key)
    }

    /// Removes all attempts to run a server that was deleted. Dropping the returned attempts kills their processes, which
    /// may block.
    pub(super) fn remove_server(&self, server: ServerId) -> Vec<Attempt> {
        let mut attempts = self.lock();
        let keys: Vec<AttemptKey> = attempts.range(of_server(server)).map(|(key, _)| *key).collect();
        keys.iter().filter_map(|key| attempts.remove(key)).collect()
    }

    /// Kills the processes of all servers, and returns the containers that may still run.
    pub(super) fn end(&self) -> Vec<Container> {
        let attempts = std::mem::take(&mut *self.lock());
        let with_client = attempts.into_values().filter(|attempt| attempt.client().is_some());
        with_client.filter_map(|mut attempt| attempt.container.take()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<AttemptKey, Attempt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of_server(server: ServerId) -> RangeInclusive<AttemptKey> {
    (server, Generation(0))..=(server, Generation(u64::MAX))
}

impl Attempt {
    fn new() -> Self {
        let (fail_calls, calls_failed) = oneshot::channel();
        Attempt {
            phase: Phase::Resolving(None),
            container: None,
            redactor: Redactor::default(),
            fail_calls: Some(fail_calls),
            calls_failed: calls_failed.shared(),
            tasks: Vec::new(),
            is_killed: false,
            kill: Arc::default(),
        }
    }

    fn client(&self) -> Option<&Client> {
        match &self.phase {
            Phase::Launched(client, _) => Some(client),
            _ => None,
        }
    }

    /// Returns whether this attempt to run a server has no process. Call this only for attempts before the current one: they start no
    /// process any more.
    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Resolving(_) | Phase::LaunchFailed)
    }

    fn stop(&mut self) -> Remains {
        self.abort_tasks();
        let kill = Arc::clone(&self.kill);
        Remains { client: self.client().cloned(), container: self.container.clone(), kill }
    }

    fn abort_tasks(&mut self) {
        self.tasks.drain(..).for_each(|task| task.abort());
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.abort_tasks();
        if let Some(client) = self.client() {
            kill_process(client, &self.kill);
        }
    }
}
