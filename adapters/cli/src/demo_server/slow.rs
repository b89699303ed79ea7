//! The calls that take their time: a thread each, progress as it goes, gone when cancelled.

use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::lock;
use super::outbox::{Log, Outbox};
use super::revision::Revision;
use super::tools::Output;

/// Progress is reported a hundred times in a call, though no more and no less often than this.
const REPORTS: u32 = 100;
const SHORTEST_STEP: Duration = Duration::from_millis(100);
const LONGEST_STEP: Duration = Duration::from_secs(1);

type Running = Arc<Mutex<HashMap<String, mpsc::Sender<()>>>>;

/// The slow calls in flight, by request id.
pub(super) struct SlowCalls {
    running: Running,
    log: Log,
}

impl SlowCalls {
    pub(super) fn new(log: Log) -> Self {
        Self { running: Running::default(), log }
    }

    pub(super) fn start(
        &mut self,
        outbox: Outbox,
        revision: Revision,
        id: Value,
        progress_token: Option<Value>,
        length: Duration,
    ) {
        let (cancel, cancelled) = mpsc::channel();
        lock(&self.running).insert(id.to_string(), cancel);
        let running = Arc::clone(&self.running);
        thread::spawn(move || {
            let call = SlowCall { outbox, progress_token, length };
            let finished = call.wait(&cancelled);
            // Out of the table before the answer goes out: from then on a cancel comes too late.
            let cancelled = lock(&running).remove(&id.to_string()).is_none();
            if matches!(finished, Ok(true)) && !cancelled {
                let result = waited(length).into_result(revision);
                // A client that is gone ends the server through its input.
                let _ = call.outbox.result(&id, &result);
            } else {
                call.outbox.give_up();
            }
        });
    }

    /// Stops the call, which is then never answered. What is unknown or already answered is ignored.
    pub(super) fn cancel(&mut self, id: &Value, reason: Option<&str>) {
        if let Some(cancel) = lock(&self.running).remove(&id.to_string()) {
            drop(cancel);
            let reason = reason.unwrap_or("no reason given");
            self.log.line(&format!("request {id} was cancelled: {reason}"));
        }
    }

    /// Stops all of them.
    pub(super) fn cancel_all(&mut self) {
        lock(&self.running).clear();
    }
}

/// What has come of a call that was waited for.
pub(super) fn waited(length: Duration) -> Output {
    Output::text(format!("Waited {} s.", length.as_secs_f64()))
}

struct SlowCall {
    outbox: Outbox,
    progress_token: Option<Value>,
    length: Duration,
}

impl SlowCall {
    /// Waits, and says whether the whole time has passed. Dropping the sender of `cancelled` ends the wait.
    fn wait(&self, cancelled: &Receiver<()>) -> io::Result<bool> {
        let started = Instant::now();
        let step = (self.length / REPORTS).clamp(SHORTEST_STEP, LONGEST_STEP);
        let mut due = Duration::ZERO;
        loop {
            due = self.length.min(due + step);
            match cancelled.recv_timeout(due.saturating_sub(started.elapsed())) {
                Err(RecvTimeoutError::Timeout) => self.report(due)?,
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
            if due >= self.length {
                return Ok(true);
            }
        }
    }

    fn report(&self, done: Duration) -> io::Result<()> {
        let Some(token) = &self.progress_token else {
            return Ok(());
        };
        let (done, total) = (done.as_secs_f64(), self.length.as_secs_f64());
        let params = json!({
            "progressToken": token,
            "progress": done,
            "total": total,
            "message": format!("{done:.1} of {total:.1} s"),
        });
        self.outbox.notification("notifications/progress", &params)
    }
}
