//! Deadlines, in the order in which they pass.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;
use core::mem;

use crate::time::Timestamp;

/// A heap of deadlines. The deadline of a request that has ended stays until it comes to the top, or until such deadlines are
/// the majority and are removed at once. So setting a deadline costs a few instructions, removing one costs none, and the heap
/// is never larger than twice the number of waiting requests.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Timestamp, u64)>>,
}

/// Below this size, removing old deadlines costs more than they do.
const FEW: usize = 16;

impl Timers {
    pub(crate) fn set(&mut self, at: Timestamp, id: u64) {
        self.heap.push(Reverse((at, id)));
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes out the first deadline if it has passed, and returns its request.
    pub(crate) fn fire(&mut self, now: Timestamp) -> Option<u64> {
        let Reverse((at, id)) = *self.heap.peek()?;
        (at <= now).then(|| {
            self.heap.pop();
            id
        })
    }

    /// Removes all deadlines but those of requests that wait, and frees the memory of the others.
    pub(crate) fn release_buffers(&mut self, is_waiting: impl Fn(u64) -> bool) {
        let mut deadlines = mem::take(&mut self.heap).into_vec();
        deadlines.retain(|Reverse((_, id))| is_waiting(*id));
        deadlines.shrink_to_fit();
        self.heap = deadlines.into();
    }

    /// Removes all deadlines.
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
    }

    /// Removes the deadlines of requests that have ended, if they are the majority. Afterwards the first deadline is that of a
    /// request that waits.
    pub(crate) fn sweep(&mut self, waiting: usize, waits: impl Fn(u64) -> bool) {
        if self.heap.len() > 2 * waiting + FEW {
            let mut deadlines = mem::take(&mut self.heap).into_vec();
            deadlines.retain(|Reverse((_, id))| waits(*id));
            self.heap = deadlines.into();
        }
        while let Some(Reverse((_, id))) = self.heap.peek() {
            if waits(*id) {
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
    fn the_heap_stays_small_however_many_come_and_go() {
        let mut timers = Timers::default();
        let at = |n| Timestamp::from_origin(Duration::from_secs(n));
        timers.set(at(1_000_000), 0);
        for id in 1..10_000 {
            timers.set(at(id), id);
            timers.sweep(1, |waits| waits == 0);
            assert_eq!(timers.next(), Some(at(1_000_000)));
        }
        assert!(timers.heap.len() <= 2 + FEW);
        timers.clear();
        assert_eq!(timers.next(), None);
    }
}
