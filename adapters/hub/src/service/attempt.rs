//! [`Attempt`]: what there is of one attempt to run a server.

use mcpwire_tokio::McpClient;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::ErrorContract;
use crate::launch::{Container, Launch};
use crate::redact::Redactor;

/// What there is of one attempt to run a server.
pub(super) struct Attempt {
    /// What is to be started, until it is.
    launch: Option<Launch>,
    /// It is being started: what comes of that is not known yet.
    launching: bool,
    pub(super) container: Option<Container>,
    pub(super) client: Option<McpClient>,
    pub(super) redactor: Redactor,
    /// Why calls in flight will not be answered.
    pub(super) failed: watch::Sender<Option<ErrorContract>>,
    /// What listens to the server, and ends with it.
    tasks: Vec<AbortHandle>,
}

impl Attempt {
    pub(super) fn new() -> Self {
        Attempt {
            launch: None,
            launching: false,
            container: None,
            client: None,
            redactor: Redactor::default(),
            failed: watch::Sender::new(None),
            tasks: Vec::new(),
        }
    }

    pub(super) fn resolved(&mut self, launch: Launch) {
        self.redactor = launch.redactor.clone();
        self.container.clone_from(&launch.container);
        self.launch = Some(launch);
    }

    pub(super) fn begin_launch(&mut self) -> Option<Launch> {
        self.launching = true;
        self.launch.take()
    }

    /// The launch has ended: with a connection, or with nothing.
    pub(super) fn launched(&mut self, client: Option<McpClient>) {
        self.launching = false;
        self.client = client;
    }

    /// Whether there is a process, or there may come one.
    pub(super) fn is_alive(&self) -> bool {
        self.launching || self.client.is_some()
    }

    /// Ends this task with the attempt.
    pub(super) fn keep(&mut self, task: AbortHandle) {
        self.tasks.push(task);
    }

    /// Nothing is listened to any more.
    pub(super) fn deafen(&mut self) {
        self.tasks.drain(..).for_each(|task| task.abort());
    }

    /// Ends it now, without waiting for anything.
    pub(super) fn kill(&mut self) {
        self.deafen();
        if let Some(client) = &self.client {
            client.kill();
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.kill();
    }
}
