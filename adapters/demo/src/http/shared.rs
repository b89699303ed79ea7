//! [`Shared`]: the endpoint that all connections share.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Notify;

use super::endpoint::Endpoint;
use crate::Log;

/// The endpoint that all connections share, behind a lock.
pub(super) struct Shared {
    endpoint: Mutex<Endpoint>,
    log: Mutex<Log>,
    started: Instant,
    /// Notified when the next timeout may have changed.
    changed: Notify,
}

impl Shared {
    pub(super) fn new(log: Log) -> Self {
        let endpoint = Mutex::new(Endpoint::new(SystemTime::now()));
        Self { endpoint, log: Mutex::new(log), started: Instant::now(), changed: Notify::new() }
    }

    /// Calls the endpoint with the current time. Then writes its log lines, and updates the timer.
    pub(super) fn update<T>(&self, update: impl FnOnce(&mut Endpoint, Duration) -> T) -> T {
        let mut endpoint = self.endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        let result = update(&mut endpoint, self.started.elapsed());
        let lines = endpoint.take_log();
        drop(endpoint);
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        for line in &lines {
            log.line(line);
        }
        self.changed.notify_one();
        result
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let endpoint = self.endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        endpoint.next_timeout().map(|after| self.started + after)
    }

    /// Waits until the next timeout may have changed.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}
