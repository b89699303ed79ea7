//! How time goes in a simulation, whatever carries the messages.

use core::time::Duration;
use std::collections::BTreeMap;

use mcpwire_core::Timestamp;

/// Turns without time passing after which the two are thought to run in circles.
const LIVELOCK: usize = 100_000;

/// A client and a server, in simulated time.
pub(super) trait Course {
    /// The time.
    fn clock(&mut self) -> &mut Timestamp;

    /// Lets each of both do what it can do without time passing. Whether there was anything.
    fn turn(&mut self) -> bool;

    /// When the server says something next.
    fn next_said(&self) -> Option<Timestamp>;

    /// When the client wants to be told of the time.
    fn deadline(&self) -> Option<Timestamp>;

    /// Tells the client of the time.
    fn tell_time(&mut self);
}

/// Lets both talk until neither has anything to say without time passing.
pub(super) fn drive(both: &mut impl Course) {
    for _ in 0..LIVELOCK {
        if !both.turn() {
            return;
        }
    }
    panic!("the two run in circles");
}

/// Lets time pass, and everything happen at its time.
pub(super) fn pass(both: &mut impl Course, time: Duration) {
    let until = *both.clock() + time;
    drive(both);
    loop {
        let next = [both.next_said(), both.deadline()].into_iter().flatten().min();
        let Some(next) = next.filter(|next| *next <= until) else { break };
        let now = next.max(*both.clock());
        be_at(both, now);
        let deadline = both.deadline();
        assert!(deadline.is_none_or(|at| at > now), "a deadline in the past: {deadline:?} at {now:?}");
    }
    be_at(both, until);
}

fn be_at(both: &mut impl Course, now: Timestamp) {
    *both.clock() = now;
    both.tell_time();
    drive(both);
}

/// What the server is going to say: when, in which order, and what.
pub(super) struct Saying<T> {
    parts: BTreeMap<(Timestamp, u64), T>,
    said: u64,
}

impl<T> Saying<T> {
    pub(super) fn new() -> Self {
        Saying { parts: BTreeMap::new(), said: 0 }
    }

    pub(super) fn add(&mut self, at: Timestamp, part: T) {
        self.said += 1;
        self.parts.insert((at, self.said), part);
    }

    /// When it says something next.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.parts.keys().next().map(|(at, _)| *at)
    }

    /// What it says by now, one part after the other.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<T> {
        let first = self.parts.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove())
    }
}
