//! What the server says in answer to one request, or to none: kept until it is read, and for a while after that.
//!
//! A stream outlives the connections that carry it. In the legacy era a client whose connection broke comes back with the
//! id of the last event that it has read, and reads on from there (2025-11-25, "Resumability and Redelivery").

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::super::lock;
use super::super::outbox::Carrier;

/// More events than these are not kept. A call reports a few hundred, or one each second.
const MOST_KEPT: usize = 1_000;

/// Messages in order, with one reader at a time: a new one takes over from the one before.
#[derive(Default)]
pub(super) struct Stream {
    /// Told apart by this within a session; it is in the ids of the events.
    pub(super) number: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    events: VecDeque<Value>,
    /// How many came before those that are kept.
    forgotten: u64,
    /// Up to here they have been handed to a reader.
    read: u64,
    /// Requests that are not answered yet.
    due: usize,
    /// No more requests come: the last answer ends the stream.
    is_sealed: bool,
    has_ended: bool,
    has_reader: bool,
    /// The reader of today.
    reader: u64,
}

/// What the reader gets next.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// An event, and its number: the first has 1.
    Event(u64, Value),
    /// All is said.
    Ended,
    /// Someone else reads now, or nobody.
    Dismissed,
    /// Nothing has happened for a while.
    Quiet,
}

impl State {
    fn settle(&mut self) {
        self.has_ended |= self.is_sealed && self.due == 0;
    }

    /// The number of the event that is read next.
    fn next(&self) -> u64 {
        self.read.max(self.forgotten) + 1
    }

    fn is_read_by(&self, reader: u64) -> bool {
        self.has_reader && self.reader == reader
    }

    fn event(&self, number: u64) -> Option<&Value> {
        self.events.get(usize::try_from(number.checked_sub(self.forgotten + 1)?).ok()?)
    }
}

impl Stream {
    pub(super) fn new(number: u64) -> Arc<Self> {
        Arc::new(Self { number, ..Self::default() })
    }

    fn push(&self, message: &Value) {
        let mut state = lock(&self.state);
        if state.has_ended {
            return;
        }
        if state.events.len() == MOST_KEPT {
            state.events.pop_front();
            state.forgotten += 1;
        }
        state.events.push_back(message.clone());
        if is_answer(message) {
            state.due = state.due.saturating_sub(1);
            state.settle();
        }
        drop(state);
        self.changed.notify_all();
    }

    /// All requests are in. Gives what has been said so far if nothing more is to come.
    pub(super) fn seal(&self) -> Option<Vec<Value>> {
        let mut state = lock(&self.state);
        state.is_sealed = true;
        state.settle();
        state.has_ended.then(|| state.events.iter().cloned().collect())
    }

    /// Ends it, whatever is still due.
    pub(super) fn end(&self) {
        lock(&self.state).has_ended = true;
        self.changed.notify_all();
    }

    pub(super) fn has_ended(&self) -> bool {
        lock(&self.state).has_ended
    }

    /// Whether there is someone to whom an event goes at once.
    fn has_reader(&self) -> bool {
        let state = lock(&self.state);
        state.has_reader && !state.has_ended
    }

    /// Begins to read, after the event of this number or where the last reader ended. Gives the reader's name.
    pub(super) fn attach(&self, after: Option<u64>) -> u64 {
        let mut state = lock(&self.state);
        if let Some(after) = after {
            state.read = after.min(state.forgotten + state.events.len() as u64);
        }
        state.reader += 1;
        state.has_reader = true;
        let reader = state.reader;
        drop(state);
        self.changed.notify_all();
        reader
    }

    /// This reader is gone. Says whether it was still the one that reads.
    pub(super) fn detach(&self, reader: u64) -> bool {
        let mut state = lock(&self.state);
        let was_reading = state.is_read_by(reader);
        state.has_reader &= !was_reading;
        drop(state);
        self.changed.notify_all();
        was_reading
    }

    pub(super) fn is_read_by(&self, reader: u64) -> bool {
        lock(&self.state).is_read_by(reader)
    }

    /// Waits for what comes next, though not longer than this.
    pub(super) fn next(&self, reader: u64, grace_periods: Duration) -> Next {
        let waits =
            |state: &mut State| state.is_read_by(reader) && !state.has_ended && state.event(state.next()).is_none();
        let state = lock(&self.state);
        let waited = self.changed.wait_timeout_while(state, grace_periods, waits);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.is_read_by(reader) {
            return Next::Dismissed;
        }
        let number = state.next();
        if let Some(event) = state.event(number).cloned() {
            state.read = number;
            return Next::Event(number, event);
        }
        if state.has_ended { Next::Ended } else { Next::Quiet }
    }
}

fn is_answer(message: &Value) -> bool {
    message.get("method").is_none() && message.get("id").is_some_and(|id| !id.is_null())
}

/// Carries what is said in answer to one POST. Questions go to the stream that the client holds open for the server's
/// messages, if there is one, as they do from most servers.
pub(super) struct Post {
    pub(super) own: Arc<Stream>,
    pub(super) general: Option<Arc<Stream>>,
}

impl Carrier for Post {
    fn send(&self, message: &Value) -> io::Result<()> {
        let belongs = is_answer(message)
            || message.get("id").is_some_and(Value::is_null)
            || message.get("method").is_some_and(|method| method == "notifications/progress");
        match &self.general {
            Some(general) if !belongs && general.has_reader() => general.push(message),
            _ => self.own.push(message),
        }
        Ok(())
    }

    fn expect(&self) {
        lock(&self.own.state).due += 1;
    }

    fn give_up(&self) {
        let mut state = lock(&self.own.state);
        state.due = state.due.saturating_sub(1);
        state.settle();
        drop(state);
        self.own.changed.notify_all();
    }
}
