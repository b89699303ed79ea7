//! [`ProcessRecord`]: the entry of one attempt in the process registry.

use std::sync::{Arc, Mutex, PoisonError};

use crate::HubError;
use crate::process_registry::{ProcessRegistry, ServerProcess};

/// The entry of one attempt in the process registry, with which the next hub ends the process if this hub is killed.
///
/// An attempt usually has one process. A server that ends when it is asked for its protocol era is started again, and the
/// entry then names the new process.
pub(super) struct ProcessRecord {
    /// `None` if the hub keeps no files.
    registry: Option<Arc<ProcessRegistry>>,
    child: ServerProcess,
    state: Mutex<RecordState>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordState {
    Empty,
    /// The id of the recorded process, or 0 if it has not been started yet.
    Recorded(u32),
    /// The attempt is over, and no process is recorded any more.
    Closed,
}

impl ProcessRecord {
    /// Creates a record of an attempt. [`set_pid`](Self::set_pid) replaces the process id in `child`.
    pub(super) fn new(registry: Option<Arc<ProcessRegistry>>, child: ServerProcess) -> Self {
        ProcessRecord { registry, child, state: Mutex::new(RecordState::Empty) }
    }

    /// Records a process, in place of the previous one, which has ended. 0 records that a process is about to be started.
    /// Writes a file.
    pub(super) fn set_pid(&self, pid: u32) -> Result<(), HubError> {
        let Some(registry) = &self.registry else { return Ok(()) };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == RecordState::Closed || *state == RecordState::Recorded(pid) {
            return Ok(());
        }
        registry.record(&ServerProcess { pid, ..self.child.clone() })?;
        *state = RecordState::Recorded(pid);
        Ok(())
    }

    /// Removes the entry, because the process has ended. Writes a file.
    pub(super) fn remove(&self) {
        let Some(registry) = &self.registry else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let RecordState::Recorded(_) = std::mem::replace(&mut *state, RecordState::Closed) {
            // The next hub removes an entry that stays: its process has ended.
            let _ = registry.forget(&self.child);
        }
    }
}
