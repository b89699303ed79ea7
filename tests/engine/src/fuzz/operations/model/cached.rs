//! Answers that the engine gives a second time: only while they hold, as their server said (2026-07-28,
//! server/utilities/caching).

use core::time::Duration;
use std::collections::BTreeMap;

use mcpwire_core::{Notification, Reply, Timestamp};
use serde_json::Value;

use super::Model;
use super::setup::LONGEST_KEPT;
use super::waiting::Waiting;

/// Until when answers hold, by what was asked for. The engine may keep fewer.
#[derive(Default)]
pub(super) struct Cached {
    until: BTreeMap<String, Timestamp>,
}

impl Cached {
    /// Takes in how a request ended.
    pub(super) fn note(&mut self, waiting: &Waiting, reply: &Reply, now: Timestamp) {
        let Some(message) = reply.message() else { return };
        let Ok(message) = serde_json::from_slice::<Value>(message) else { return };
        let Some(ttl) = message["result"]["ttlMs"].as_f64().filter(|_| waiting.is_current) else { return };
        let ttl = Duration::try_from_secs_f64(ttl / 1000.0).unwrap_or(LONGEST_KEPT).min(LONGEST_KEPT);
        let until = self.until.entry(waiting.what.clone()).or_default();
        *until = (*until).max(now + ttl);
    }

    /// Whether there may be an answer that holds.
    pub(super) fn may_hold(&self, what: &str, now: Timestamp) -> bool {
        self.until.get(what).is_some_and(|until| now < *until)
    }
}

impl Model {
    /// The server says that something has changed: earlier answers about it do not hold, and neither do those on their way.
    pub(super) fn note_change(&mut self, notification: &Notification) {
        let changed = match notification {
            Notification::ToolsChanged => "tools/list".to_owned(),
            Notification::ResourceUpdated(updated) => format!("resources/read {}", updated.uri),
            _ => return,
        };
        let is_about = |what: &str| match notification {
            Notification::ToolsChanged => what.starts_with(&changed),
            _ => what == changed,
        };
        self.cached.until.retain(|what, _| !is_about(what));
        for waiting in self.waiting.values_mut().filter(|waiting| is_about(&waiting.what)) {
            waiting.is_current = false;
        }
    }
}
