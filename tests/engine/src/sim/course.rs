//! [`Course`]: how a simulation advances its time, over any transport. [`Replies`]: the replies that have arrived.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;

use mcpwire_core::{CallError, CallTool, Method, Reply, RequestKey, Ticket, Timestamp};

/// Maximum number of turns without a change of the time. More are a livelock, and fail the test.
const LIVELOCK: usize = 100_000;

/// A client and a server, in simulated time.
pub(super) trait Course {
    /// Returns the simulated time, to change it.
    fn clock(&mut self) -> &mut Timestamp;

    /// Lets the client and the server do what they can do now. Returns whether they did anything.
    fn turn(&mut self) -> bool;

    /// Returns when the server sends its next message, or `None` if it sends no more.
    fn next_said(&self) -> Option<Timestamp>;

    /// Returns when the client's next timeout expires, or `None` if no timeout is running.
    fn deadline(&self) -> Option<Timestamp>;

    /// Passes the time to the client, which handles its expired timeouts.
    fn tell_time(&mut self);
}

/// Runs the client and the server until neither does anything more at this time.
pub(super) fn drive(both: &mut impl Course) {
    for _ in 0..LIVELOCK {
        if !both.turn() {
            return;
        }
    }
    panic!("the two run in circles");
}

/// Advances the time by `time`, in steps: each timeout and each message of the server occurs at its own time.
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

/// The messages, or parts of messages, that the server is going to send, by their time and in their order.
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

    /// Returns the time of the next part.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.parts.keys().next().map(|(at, _)| *at)
    }

    /// Removes and returns the next part if its time has come.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<T> {
        let first = self.parts.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove())
    }
}

/// The replies that no test has taken yet, by the keys of their requests, and when each arrived.
#[derive(Default)]
pub(super) struct Replies(BTreeMap<RequestKey, (Duration, Reply)>);

impl Replies {
    pub(super) fn add(&mut self, at: Duration, reply: Reply) {
        let before = self.0.insert(reply.key(), (at, reply));
        assert!(before.is_none(), "two replies to one request");
    }

    pub(super) fn take<M: Method>(&mut self, ticket: Ticket<M>) -> Option<Result<M::Result, CallError>> {
        self.reply(ticket.key()).map(|reply| ticket.decode(reply))
    }

    pub(super) fn reply(&mut self, key: RequestKey) -> Option<Reply> {
        self.0.remove(&key).map(|(_, reply)| reply)
    }

    pub(super) fn text(&mut self, ticket: Ticket<CallTool>) -> String {
        self.take(ticket).expect("it has ended").expect("it went well").text().into_string()
    }

    pub(super) fn error<M: Method<Result: fmt::Debug>>(&mut self, ticket: Ticket<M>) -> CallError {
        self.take(ticket).expect("it has ended").expect_err("it did not go well")
    }

    pub(super) fn ended_at<M: Method>(&self, ticket: Ticket<M>) -> Option<Duration> {
        self.0.get(&ticket.key()).map(|(at, _)| *at)
    }
}
