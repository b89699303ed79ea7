//! [`LoginState`]: what the hub knows about the login of one server, and what it does when the stored login changes.

use std::time::Duration;

use mcpwire_core::Timestamp;
use mcpwire_supervisor::State as Lifecycle;

use crate::logins::{LoginKey, RequiredLogin};

/// Time between two looks at the stored logins.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time between two starts of a server because its stored login has changed.
const MAX_DELAY: Duration = Duration::from_secs(300);

/// What the hub knows about the login of one server.
pub(super) struct LoginState {
    pub(super) key: LoginKey,
    /// The revision of the stored login before the last start of the server. `None` if no login was stored.
    seen: Option<u64>,
    /// The login that the server waits for, if it has asked for one.
    pub(super) required: Option<RequiredLogin>,
    /// Number of starts because the stored login has changed, since the server has run.
    starts: u32,
    /// The time before which the server is not started because of its login. A server that refuses every new token would
    /// otherwise be started in a loop.
    not_before: Timestamp,
    /// Whether the hub has looked at the stored login since the server runs.
    is_settled: bool,
}

/// What to do about a server whose stored login has changed.
pub(super) enum Reaction {
    Start,
    Restart,
}

impl LoginState {
    /// Creates the state of a server that is being started. `before` is the state of its last start.
    pub(super) fn new(key: LoginKey, seen: Option<u64>, before: Option<LoginState>, now: Timestamp) -> Self {
        let (starts, not_before) = before.map_or((0, now), |before| (before.starts, before.not_before));
        LoginState { key, seen, required: None, starts, not_before, is_settled: false }
    }

    /// Returns whether the hub looks at the stored login while the server is in this state. A server that runs without a login is
    /// left alone: if it asks for one later, its state changes.
    pub(super) fn is_watched(&self, state: Lifecycle) -> bool {
        match state {
            Lifecycle::Running => self.seen.is_some() || !self.is_settled,
            Lifecycle::NeedsLogin | Lifecycle::NeedsAuth | Lifecycle::Stopping => true,
            state => state.is_starting(),
        }
    }

    /// Returns whether a login was stored when the hub looked last.
    pub(super) fn is_stored(&self) -> bool {
        self.seen.is_some()
    }

    /// Returns what to do about the server, which is in this state. `revision` is that of the stored login.
    pub(super) fn reaction(&mut self, state: Lifecycle, revision: Option<u64>, now: Timestamp) -> Option<Reaction> {
        match (state, revision) {
            (Lifecycle::NeedsLogin | Lifecycle::NeedsAuth, Some(_))
                if revision != self.seen && now >= self.not_before =>
            {
                self.seen = revision;
                let delay = INTERVAL.saturating_mul(2_u32.saturating_pow(self.starts)).min(MAX_DELAY);
                self.starts = self.starts.saturating_add(1);
                self.not_before = now + delay;
                Some(Reaction::Start)
            }
            // The next login is a new one, even if it is the first again.
            (Lifecycle::NeedsLogin | Lifecycle::NeedsAuth, None) => {
                self.seen = None;
                None
            }
            (Lifecycle::Running, None) if self.seen.is_some() => {
                self.seen = None;
                Some(Reaction::Restart)
            }
            (Lifecycle::Running, _) => {
                (self.seen, self.starts, self.not_before, self.is_settled) = (revision, 0, now, true);
                None
            }
            _ => None,
        }
    }
}
