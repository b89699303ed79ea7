//! What may happen, and when; and how requests may end.

use core::time::Duration;

use mcpwire_core::{CallError, Deadline, Era, Event, Notification, Phase, Reply};

use super::Model;

impl Model {
    pub(super) fn drain(&mut self) {
        let mut bound = 16 + self.waiting.len() + self.received / 2;
        while let Some(event) = self.engine.poll_event() {
            bound = bound.checked_sub(1).expect("events without end");
            assert!(!self.over, "an event after the end: {event:?}");
            self.event(event);
        }
        self.received = 0;
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Connected => {
                assert!(!core::mem::replace(&mut self.connected, true), "connected twice");
                let server = self.engine.session().server().expect("the connection is open");
                self.wire.open(server.era, self.engine.transmit().len());
            }
            Event::Reply(reply) => self.reply(reply),
            Event::Notification(Notification::Progress { key, .. }) => {
                // The reply to it may be on its way in the same batch of events, never before it.
                let waiting = self.waiting.get_mut(&key).expect("progress of a request that has ended");
                assert!(waiting.progress, "progress that nobody asked for");
                waiting.idle = self.now + waiting.timeout;
            }
            Event::Ask(ask) => {
                assert!(self.asks.insert(ask.key, ask.during).is_none(), "a key used twice");
                if let Some(key) = ask.during {
                    let waiting = self.waiting.get_mut(&key).expect("a question for a request that has ended");
                    // In the pause only the total deadline runs.
                    waiting.idle = waiting.total;
                }
            }
            Event::AskCancelled(key) => {
                let during = *self.asks.get(&key).expect("nobody was asked that");
                self.asked_no_more(key, during);
            }
            Event::Restart => {
                assert!(!self.connected, "a restart of an open connection");
                self.over = true;
            }
            Event::Closed(how) => {
                assert!(self.waiting.is_empty(), "the end came before the replies");
                assert!(self.asks.is_empty(), "a question outlives the connection");
                assert!(how.to_string().len() < 2000, "errors are short");
                self.over = true;
            }
            Event::Noise { excerpt } | Event::Refused { method: excerpt } => {
                assert!(excerpt.len() < 1000 && !excerpt.chars().any(char::is_control), "{excerpt:?}");
            }
            _ => {}
        }
    }

    fn reply(&mut self, reply: Reply) {
        let key = reply.key();
        let waiting = self.waiting.remove(&key).expect("a second reply, or one to nobody");
        assert!(self.asks.values().all(|during| *during != Some(key)), "a question for what has ended");
        self.ended.push(waiting.id);
        self.wire.dead_key = Some(key);
        assert!(!self.engine.session().is_waiting(key));
        let answered = reply.message().is_some();
        match reply.error() {
            None => assert!(answered),
            Some(CallError::Timeout { deadline, after, .. }) => {
                let (at, due) = match deadline {
                    Deadline::Idle => (waiting.timeout, waiting.idle),
                    Deadline::Total => (Duration::MAX, waiting.total),
                };
                assert!(due <= self.now, "timed out before its time");
                assert!(*deadline == Deadline::Total || *after == at, "another time than was asked for");
            }
            Some(CallError::Cancelled { .. }) => assert!(waiting.cancelled, "cancelled by nobody"),
            Some(CallError::Closed { .. }) => assert_eq!(self.engine.session().phase(), Phase::Closed),
            Some(CallError::Invalid { .. }) => {}
            Some(CallError::Input { .. }) => {
                assert_eq!(self.wire.era(), Some(Era::Modern), "a legacy server wants no input");
            }
            Some(error) => panic!("{error:?}"),
        }
        if let Err(error) = waiting.ticket.decode(reply) {
            assert!(error.to_string().len() < 3000, "errors are short");
            assert!(!matches!(error, CallError::WrongTicket { .. }));
        }
    }
}
