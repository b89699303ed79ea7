//! The timeouts of all servers, in order.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::ServerId;
use mcpwire_core::Timestamp;

/// The next timeout of each server, stored twice: by server, to replace it, and by time, to find the earliest.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    by_server: BTreeMap<ServerId, Timestamp>,
    by_time: BTreeSet<(Timestamp, ServerId)>,
}

impl Deadlines {
    /// Sets the next timeout of a server, or removes it if `deadline` is `None`.
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

    /// Returns the earliest timeout of all servers, or `None` if no server has a timeout.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Returns the servers whose timeout has expired at `now`, earliest first.
    pub(super) fn expired(&self, now: Timestamp) -> Vec<ServerId> {
        self.by_time.iter().take_while(|(at, _)| *at <= now).map(|(_, server)| *server).collect()
    }
}
