//! [`Noted`]: the processes of one attempt, as the ledger knows them.

use std::sync::{Arc, Mutex, PoisonError};

use crate::HubError;
use crate::ledger::{Child, Ledger};

/// The processes of one attempt, as the ledger knows them: for the next start to find if this program does not come to end
/// them. Mostly it is one; a server that ends when it is asked for its era is started once more, and is another then.
pub(super) struct Noted {
    ledger: Arc<Ledger>,
    child: Child,
    /// The one that is noted; none is any more once the attempt is over.
    state: Mutex<State>,
}

enum State {
    None,
    Pid(u32),
    Over,
}

impl Noted {
    /// Nothing is noted yet. The id of the process is taken from [`Noted::note`].
    pub(super) fn new(ledger: Arc<Ledger>, child: Child) -> Self {
        Noted { ledger, child, state: Mutex::new(State::None) }
    }

    /// Notes a process, in place of the one before, which is gone. Writes a file.
    pub(super) fn note(&self, pid: u32) -> Result<(), HubError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match *state {
            State::Over => return Ok(()),
            State::Pid(before) if before == pid => return Ok(()),
            State::Pid(before) => Some(before),
            State::None => None,
        };
        self.ledger.record(&Child { pid, ..self.child.clone() })?;
        *state = State::Pid(pid);
        before.map_or(Ok(()), |before| self.ledger.forget(before))
    }

    /// Strikes out what is noted: nothing is left of it. Writes a file.
    pub(super) fn strike_out(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Pid(pid) = std::mem::replace(&mut *state, State::Over) {
            // What cannot be struck out is found to be gone by the next hub.
            let _ = self.ledger.forget(pid);
        }
    }
}
