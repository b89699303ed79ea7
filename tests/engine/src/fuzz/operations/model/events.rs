//! What may happen, and when.

use core::time::Duration;
use std::collections::BTreeMap;

use mcpwire_core::{Event, Json, Notification, Reply, RpcError, SendError, ServerRequestId, Timestamp};
use serde_json::Value;

use super::requests::Waiting;
use super::{LONGEST_KEPT, Model};
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

impl Model {
    pub(in crate::fuzz::operations) fn answer(&mut self, which: usize, answer: &Json) {
        let Some((key, during)) = self.ask(which) else {
            let gone = self.dead_ask.map(|dead| self.engine.calls().answer(dead, answer, self.now));
            return assert!(gone.is_none_or(|answered| answered != Ok(true)), "nobody waits for it");
        };
        self.trace.line(format_args!("> answer a{} {answer}", self.names.ask(key)));
        match self.engine.calls().answer(key, answer, self.now) {
            Ok(answered) => {
                assert!(answered, "it is waited for");
                self.asked_no_more(key, during);
            }
            Err(error) => {
                describe::not_sent(&error, &self.trace);
                assert!(matches!(error, SendError::NotAnObject { .. }), "{error:?}");
            }
        }
        self.drain();
    }

    pub(in crate::fuzz::operations) fn refuse(&mut self, which: usize) {
        let error = RpcError::new(-1, "no");
        let Some((key, during)) = self.ask(which) else {
            let gone = self.dead_ask.is_some_and(|dead| self.engine.calls().refuse(dead, &error, self.now));
            return assert!(!gone, "nobody waits for it");
        };
        self.trace.line(format_args!("> refuse a{}", self.names.ask(key)));
        assert!(self.engine.calls().refuse(key, &error, self.now), "it is waited for");
        self.asked_no_more(key, during);
        self.drain();
        assert!(during.is_none_or(|number| !self.waiting.contains_key(&number)), "refused, and its request goes on");
    }

    fn ask(&self, which: usize) -> Option<(ServerRequestId, Option<usize>)> {
        self.asks.get(which % 8).copied()
    }

    pub(super) fn asked_no_more(&mut self, key: ServerRequestId, during: Option<usize>) {
        let at = self.asks.iter().position(|(asked, _)| *asked == key).expect("it was asked");
        self.asks.remove(at);
        self.dead_ask = Some(key);
        if during.is_none() && !self.holds_up_the_server() {
            // A legacy server can go on.
            for waiting in self.waiting.values_mut() {
                waiting.idle = waiting.idle.max(self.now + waiting.timeout);
            }
        }
    }

    pub(super) fn holds_up_the_server(&self) -> bool {
        self.asks.iter().any(|(_, during)| during.is_none())
    }
}

/// Until when answers hold, by what was asked for. The engine may keep fewer.
#[derive(Default)]
pub(super) struct Cached {
    until: BTreeMap<String, Timestamp>,
}

impl Cached {
    /// Takes in how a request ended.
    pub(super) fn note(&mut self, waiting: &Waiting, reply: &Reply, now: Timestamp) {
        let Some(message) = reply.message() else { return };
        let Ok(message) = serde_json::from_slice::<Value>(message) else { return };
        let Some(ttl) = message["result"]["ttlMs"].as_f64().filter(|_| waiting.is_current) else { return };
        let ttl = Duration::try_from_secs_f64(ttl / 1000.0).unwrap_or(LONGEST_KEPT).min(LONGEST_KEPT);
        let until = self.until.entry(waiting.what.clone()).or_default();
        *until = (*until).max(now + ttl);
    }

    /// Whether there may be an answer that holds.
    pub(super) fn may_hold(&self, what: &str, now: Timestamp) -> bool {
        self.until.get(what).is_some_and(|until| now < *until)
    }
}

impl Model {
    /// The server says that something has changed: earlier answers about it do not hold, and neither do those on their way.
    pub(super) fn note_change(&mut self, notification: &Notification) {
        let changed = match notification {
            Notification::ToolsChanged => "tools/list".to_owned(),
            Notification::ResourceUpdated(updated) => format!("resources/read {}", updated.uri),
            _ => return,
        };
        let is_about = |what: &str| match notification {
            Notification::ToolsChanged => what.starts_with(&changed),
            _ => what == changed,
        };
        self.cached.until.retain(|what, _| !is_about(what));
        for waiting in self.waiting.values_mut().filter(|waiting| is_about(&waiting.what)) {
            waiting.is_current = false;
        }
    }
}
