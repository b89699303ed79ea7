//! [`Attempt`]: what there is of one attempt to run a server.

use std::sync::Arc;

use futures_channel::oneshot;
use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Shared};

use super::noted::Noted;
use crate::HubError;
use crate::launch::{Container, Launch};
use crate::redact::Redactor;
use crate::tasks::Client;

/// Why calls in flight will not be answered, once that is so; any number may wait for it.
pub(super) type Failing = Shared<oneshot::Receiver<HubError>>;

/// What there is of one attempt to run a server.
pub(super) struct Attempt {
    /// What is to be started, until it is.
    launch: Option<Launch>,
    /// It is being started: what comes of that is not known yet.
    launching: bool,
    pub(super) container: Option<Container>,
    pub(super) client: Option<Client>,
    /// Its process, as the ledger knows it.
    pub(super) noted: Option<Arc<Noted>>,
    pub(super) redactor: Redactor,
    fail: Option<oneshot::Sender<HubError>>,
    pub(super) failing: Failing,
    /// What listens to the server, and ends with it.
    tasks: Vec<AbortHandle>,
}

impl Attempt {
    pub(super) fn new() -> Self {
        let (fail, failing) = oneshot::channel();
        Attempt {
            launch: None,
            launching: false,
            container: None,
            client: None,
            noted: None,
            redactor: Redactor::default(),
            fail: Some(fail),
            failing: failing.shared(),
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

    /// Ends the launch: with the client of a server that was started, or without.
    pub(super) fn launched(&mut self, client: Option<Client>, noted: Option<Arc<Noted>>) {
        self.launching = false;
        self.noted = noted;
        self.client = client;
    }

    /// No call is answered any more. The first reason counts.
    pub(super) fn fail_calls(&mut self, error: HubError) {
        if let Some(fail) = self.fail.take() {
            // There may be none.
            let _ = fail.send(error);
        }
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
