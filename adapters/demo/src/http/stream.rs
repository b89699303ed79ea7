//! [`Stream`]: the messages of one response or GET stream, which are stored for clients that reconnect.
//!
//! In the legacy era, a stream survives the loss of its connection. A client that reconnects sends the id of the last event that
//! it has read, and receives the later events (2025-11-25, basic/transports, "Resumability and Redelivery").

use std::collections::VecDeque;
use std::task::Waker;

use serde_json::Value;

/// Maximum number of stored events of a stream; older events are dropped. A call sends a few hundred, or one per second.
const MAX_EVENTS: usize = 1_000;

/// The messages of a response or a GET stream, in order. A stream has one reader at a time; a new reader replaces the current
/// one.
#[derive(Debug, Default)]
pub(super) struct Stream {
    events: VecDeque<Value>,
    /// The number of events that were dropped. They precede the events in `events`.
    dropped: u64,
    /// The number of the last event that a reader has read. 0 before the first event.
    read: u64,
    has_ended: bool,
    /// The number of the current reader. `None` if there is no reader, because the client has closed its connection.
    reader: Option<u64>,
    last_reader: u64,
    waker: Option<Waker>,
    pub(super) on_leave: OnLeave,
}

/// The effect on a stream when its reader closes the connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum OnLeave {
    /// The stream stays, because the client may reconnect.
    #[default]
    Wait,
    /// Cancels the client's request with this id, as in the modern era (from 2026-07-28 on).
    Cancel(Value),
    /// Ends the session with this id (HTTP+SSE of 2024-11-05).
    EndSession(String),
    /// Removes the stream, because the server has already ended its connection.
    Remove,
}

/// The result of polling a stream for its next event.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// The number of an event, counted from 1, and its message.
    Event(u64, Value),
    /// The stream has ended, and all events were read.
    Ended,
    /// Another reader has replaced this one, or the stream was removed.
    Replaced,
    /// There is no event yet. The next event wakes the waker.
    Pending,
}

impl Stream {
    pub(super) fn new(on_leave: OnLeave) -> Self {
        Self { on_leave, ..Self::default() }
    }

    /// Adds an event, unless the stream has ended. Drops the oldest event if there are too many.
    pub(super) fn push(&mut self, message: Value) {
        if self.has_ended {
            return;
        }
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(message);
        self.wake();
    }

    /// Ends the stream: readers get the stored events, and later events are ignored.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
        self.wake();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the number of stored events, without the dropped events.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn into_first(mut self) -> Option<Value> {
        self.events.pop_front()
    }

    pub(super) fn has_reader(&self) -> bool {
        self.reader.is_some()
    }

    /// Adds a reader, which replaces the current reader, and returns its number. It starts after the event number `after` or, if
    /// this is `None`, after the last event that was read.
    pub(super) fn attach(&mut self, after: Option<u64>) -> u64 {
        if let Some(after) = after {
            self.read = after.min(self.dropped + self.events.len() as u64);
        }
        self.last_reader += 1;
        self.reader = Some(self.last_reader);
        // Wakes the previous reader, so that it notices that it was replaced.
        self.wake();
        self.last_reader
    }

    /// Removes a reader. Returns whether it was the current reader, and not one that was already replaced.
    pub(super) fn detach(&mut self, reader: u64) -> bool {
        let was_current = self.reader == Some(reader);
        if was_current {
            self.reader = None;
        }
        was_current
    }

    /// Returns the next event for this reader, or why there is none. Stores `waker` if the reader has to wait.
    pub(super) fn poll(&mut self, reader: u64, waker: &Waker) -> Next {
        if self.reader != Some(reader) {
            return Next::Replaced;
        }
        let number = self.read.max(self.dropped) + 1;
        let index = usize::try_from(number - self.dropped - 1).unwrap_or(usize::MAX);
        if let Some(event) = self.events.get(index) {
            self.read = number;
            return Next::Event(number, event.clone());
        }
        if self.has_ended {
            return Next::Ended;
        }
        self.waker = Some(waker.clone());
        Next::Pending
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
