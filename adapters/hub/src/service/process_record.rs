//! [`ProcessRecord`] is the entry of a server process in the process registry.

use std::sync::{Arc, Mutex, PoisonError};

use crate::HubError;
use crate::process_registry::{ProcessRegistry, ServerProcess};

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
