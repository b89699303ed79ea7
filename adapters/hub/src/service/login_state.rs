//! [`LoginState`]: the stored login of one server as the hub knows it, and the reaction of the hub to a change of the login.

use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_supervisor::{Command, State as Lifecycle};

use crate::logins::{LoginKey, RequiredLogin};

/// Time between two checks of the stored logins: 1 s.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time between two starts of a server that the hub makes because the stored login has changed: 300 s.
const MAX_DELAY: Duration = Duration::from_secs(300);

/// The stored login of one server as the hub knows it. The hub compares it with the store, to notice that a user has logged in or
/// out.
pub(super) struct LoginState {
    pub(super) key: LoginKey,
    /// The revision of the stored login that the hub has seen last, at first before the last start of the server. `None` if no
    /// login was stored.
    seen: Option<u64>,
    /// The login that the server waits for. `None` if the server has not asked for a login.
    pub(super) required: Option<RequiredLogin>,
    /// Number of starts that a change of the stored login has caused since the server was last running. The delay between these
    /// starts doubles with each.
    starts: u32,
    /// The hub does not start the server because of its login before this time. Otherwise it would start a server that refuses
    /// every new token again and again.
    not_before: Timestamp,
    /// Whether the hub has checked the stored login since the server began to run.
    is_settled: bool,
}

impl LoginState {
    /// Creates the state of a server that is being started. `before` is the state from its previous start, if there was one.
    pub(super) fn new(key: LoginKey, seen: Option<u64>, before: Option<LoginState>, now: Timestamp) -> Self {
        let (starts, not_before) = before.map_or((0, now), |before| (before.starts, before.not_before));
        LoginState { key, seen, required: None, starts, not_before, is_settled: false }
    }

    /// Returns whether the hub must check the stored login while the server is in the state `state`. A server that runs without a
    /// login is not checked. If it asks for a login later, its state changes.
    pub(super) fn is_watched(&self, state: Lifecycle) -> bool {
        match state {
            Lifecycle::Running => self.seen.is_some() || !self.is_settled,
            Lifecycle::NeedsLogin | Lifecycle::NeedsAuth | Lifecycle::Stopping => true,
            state => state.is_starting(),
        }
    }

    /// Returns whether a login was stored when the hub checked last.
    pub(super) fn is_stored(&self) -> bool {
        self.seen.is_some()
    }

    /// Compares the stored login with the login that the hub knows, and returns the command for a server in the state `state`: to
    /// boot after a login, or to restart after a logout. Returns `None` if nothing has to be done. `revision` is the revision of the
    /// stored login, or `None` if no login is stored.
    pub(super) fn reaction(&mut self, state: Lifecycle, revision: Option<u64>, now: Timestamp) -> Option<Command> {
        match (state, revision) {
            (Lifecycle::NeedsLogin | Lifecycle::NeedsAuth, Some(_))
                if revision != self.seen && now >= self.not_before =>
            {
                self.seen = revision;
                let delay = INTERVAL.saturating_mul(2_u32.saturating_pow(self.starts)).min(MAX_DELAY);
                self.starts = self.starts.saturating_add(1);
                self.not_before = now + delay;
                Some(Command::Boot)
            }
            // The user has logged out. The next login counts as new, even if it has the same revision as an earlier login.
            (Lifecycle::NeedsLogin | Lifecycle::NeedsAuth, None) => {
                self.seen = None;
                None
            }
            (Lifecycle::Running, None) if self.seen.is_some() => {
                self.seen = None;
                Some(Command::Restart)
            }
            (Lifecycle::Running, _) => {
                (self.seen, self.starts, self.not_before, self.is_settled) = (revision, 0, now, true);
                None
            }
            _ => None,
        }
    }
}
