//! What may happen, and when.

use mcpwire_core::{Event, Notification};

use super::Model;
use crate::fuzz::describe;

impl Model {
    pub(super) fn drain(&mut self) {
        let mut bound = 16 + self.waiting.len() + self.subscriptions.len() + self.received / 2;
        while let Some(event) = self.engine.poll_event() {
            bound = bound.checked_sub(1).expect("events without end");
            assert!(!self.over, "an event after the end: {event:?}");
            self.happened += 1;
            // What was written before the event was written before the embedder knew of it.
            self.look();
            self.names.event(&event, &self.trace);
            self.event(event);
        }
        self.look();
        self.received = 0;
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Connected => {
                assert!(!core::mem::replace(&mut self.connected, true), "connected twice");
                let server = self.engine.session().server().expect("the connection is open");
                self.trace.line(format_args!("to {}", describe::server(server)));
                self.wire.open(server.era);
            }
            Event::Reply(reply) => self.reply(reply),
            Event::Notification(notification) => self.notification(&notification),
            Event::Subscription(key) => self.subscription_told(key),
            Event::ServerRequest(ask) => {
                assert!(self.asks.iter().all(|(key, _)| *key != ask.key), "a key used twice");
                let during = ask.during.map(|during| self.names.request(during.key));
                self.asks.push((ask.key, during));
                if let Some(number) = during {
                    let waiting = self.waiting.get_mut(&number).expect("a question for a request that has ended");
                    // In the pause only the total deadline runs.
                    waiting.idle = waiting.total;
                }
            }
            Event::ServerRequestCancelled(key) => {
                let asked = self.asks.iter().find(|(asked, _)| *asked == key);
                let (_, during) = *asked.expect("nobody was asked that");
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
            Event::InvalidMessage { excerpt } | Event::ServerRequestRefused { method: excerpt } => {
                assert!(excerpt.len() < 1000 && !excerpt.chars().any(char::is_control), "{excerpt:?}");
            }
            _ => {}
        }
    }

    fn notification(&mut self, notification: &Notification) {
        match notification {
            Notification::Progress { key, .. } => {
                let now = self.now;
                // The reply to it may be on its way in the same batch of events, never before it.
                let waiting = self.waiting(*key).expect("progress of a request that has ended");
                assert!(waiting.progress, "progress that nobody asked for");
                waiting.idle = now + waiting.timeout;
            }
            Notification::TaskStatus { key: Some(key), task } => self.task_status(*key, task),
            notification => self.note_change(notification),
        }
    }
}
