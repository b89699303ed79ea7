//! The timeouts of all servers, in order.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::ServerId;
use mcpwire_core::Timestamp;

/// The next timeout of each server. Both collections contain the same timeouts: `by_server` to replace one, `by_time`
/// to find the earliest.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    by_server: BTreeMap<ServerId, Timestamp>,
    by_time: BTreeSet<(Timestamp, ServerId)>,
}

impl Deadlines {
    pub(super) fn set(&mut self, server: ServerId, deadline: Option<Timestamp>) {
        if self.by_server.get(&server) == deadline.as_ref() {
            return;
        }
        let before = match deadline {
            Some(at) => self.by_server.insert(server, at),
            None => self.by_server.remove(&server),
        };
        if let Some(at) = before {
            self.by_time.remove(&(at, server));
        }
        if let Some(at) = deadline {
            self.by_time.insert((at, server));
        }
    }

    pub(super) fn first(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(at, _)| *at)
    }

    pub(super) fn expired(&self, now: Timestamp) -> Vec<ServerId> {
        self.by_time.iter().take_while(|(at, _)| *at <= now).map(|(_, server)| *server).collect()
    }
}
