//! For how long lists of tools hold (2026-07-28, server/utilities/caching): one that has passed its time is asked for again
//! when the tools are looked at, and not before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcpwire_core::{Timestamp, ToolList};

use super::shared::{Core, Shared};
use crate::tasks::Client;

/// When the first list passes its time, in nanoseconds: a look at the tools takes no lock and asks no clock before.
#[derive(Debug)]
pub(super) struct StaleAt(AtomicU64);

impl Default for StaleAt {
    fn default() -> Self {
        StaleAt(AtomicU64::new(u64::MAX))
    }
}

impl StaleAt {
    fn set(&self, at: Option<Timestamp>) {
        let nanos = |at: Timestamp| u64::try_from(at.since_origin().as_nanos()).unwrap_or(u64::MAX);
        self.0.store(at.map_or(u64::MAX, nanos), Ordering::Relaxed);
    }

    fn is_past(&self, now: impl FnOnce() -> Timestamp) -> bool {
        let at = self.0.load(Ordering::Relaxed);
        at != u64::MAX && now().since_origin() >= Duration::from_nanos(at)
    }
}

impl Shared {
    /// A list has come, or could not be had.
    pub(super) fn note_stale(&self, core: &Core) {
        self.stale_at.set(core.supervisor.stale_at());
    }

    /// Somebody looks at the tools. Nothing is waited for: what they see is what is there.
    pub(super) fn looked_at(self: &Arc<Self>) {
        if self.stale_at.is_past(|| self.now()) {
            // Whoever looks from within, or while something happens, need not: somebody will look again.
            self.try_act(|core, now| {
                core.supervisor.touch(now);
                self.note_stale(core);
            });
        }
    }
}

/// For how long the list of a server's tools holds that has just come.
pub(super) fn ttl(client: &Client, list: &ToolList) -> Option<Duration> {
    let tells = client.capabilities().and_then(|all| all.tools.as_ref()).is_some_and(|tools| tools.list_changed);
    list.hints().stale_after(tells)
}
