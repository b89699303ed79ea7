//! The deadlines of the request table, in the order in which they expire.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;
use core::mem;

use crate::time::Timestamp;

/// A heap of deadlines, each with the JSON-RPC id of its request.
///
/// The deadlines of a request stay in the heap when the request ends. [`Timers::remove_ended`] removes them later.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Timestamp, u64)>>,
}

/// All deadlines of ended requests are removed when the heap contains more than two deadlines per pending request plus
/// this number. 16: removing fewer deadlines is not worth the time.
const TOLERATED_ENDED: usize = 16;

impl Timers {
    /// Adds the deadline `at` for the request with this JSON-RPC id.
    pub(super) fn set(&mut self, at: Timestamp, id: u64) {
        self.heap.push(Reverse((at, id)));
    }

    /// Returns the earliest deadline, or `None` if the heap is empty.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Removes the earliest deadline if it has expired, and returns the JSON-RPC id of its request. Returns `None` if
    /// no deadline has expired.
    pub(super) fn fire(&mut self, now: Timestamp) -> Option<u64> {
        let Reverse((at, id)) = *self.heap.peek()?;
        (at <= now).then(|| {
            self.heap.pop();
            id
        })
    }

    /// Removes the deadlines of all requests for which `is_pending` returns `false`, and frees the unused memory.
    pub(super) fn release_buffers(&mut self, is_pending: impl Fn(u64) -> bool) {
        self.retain_pending(&is_pending);
        self.heap.shrink_to_fit();
    }

    /// Removes the deadlines of all requests for which `is_pending` returns `false`.
    fn retain_pending(&mut self, is_pending: &dyn Fn(u64) -> bool) {
        let mut deadlines = mem::take(&mut self.heap).into_vec();
        deadlines.retain(|Reverse((_, id))| is_pending(*id));
        self.heap = deadlines.into();
    }

    pub(super) fn clear(&mut self) {
        self.heap.clear();
    }

    /// Removes deadlines of ended requests, for which `is_pending` returns `false`: all of them if there are too many
    /// (see [`TOLERATED_ENDED`]), otherwise only those that expire before any deadline of a pending request.
    ///
    /// `pending` is the number of pending requests.
    pub(super) fn remove_ended(&mut self, pending: usize, is_pending: impl Fn(u64) -> bool) {
        if self.heap.len() > 2 * pending + TOLERATED_ENDED {
            self.retain_pending(&is_pending);
        }
        while let Some(Reverse((_, id))) = self.heap.peek() {
            if is_pending(*id) {
                break;
            }
            self.heap.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    #[test]
    fn the_heap_stays_small_while_many_requests_come_and_go() {
        let mut timers = Timers::default();
        let at = |n| Timestamp::from_origin(Duration::from_secs(n));
        timers.set(at(1_000_000), 0);
        for id in 1..10_000 {
            timers.set(at(id), id);
            timers.remove_ended(1, |id| id == 0);
            assert_eq!(timers.next(), Some(at(1_000_000)));
        }
        assert!(timers.heap.len() <= 2 + TOLERATED_ENDED);
        timers.clear();
        assert_eq!(timers.next(), None);
    }
}
