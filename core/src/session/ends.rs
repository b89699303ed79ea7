//! What ends requests, and the session: deadlines, callers who give up, and the end of the connection.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::caching::Pending;
use super::closed::{Closed, ConnectError};
use super::engine::Session;
use super::error::CallError;
use super::event::Event;
use super::handshake::Action;
use super::server::Phase;
use super::ticket::{Reply, RequestKey};
use crate::json::append::{push, push_number, push_string};
use crate::revisions::Barred;
use crate::rpc::write;
use crate::time::Timestamp;

impl Session {
    /// Gives up a request: its reply says so, and the server is told. `false` if it had ended already.
    pub fn cancel(&mut self, key: RequestKey, reason: Option<&str>, now: Timestamp, out: &mut Vec<u8>) -> bool {
        let Some(id) = self.in_flight.id_of(key) else {
            let hooks = self.tasks.hooks;
            return self.cancel_round(key) || hooks.is_some_and(|hooks| (hooks.cancelled)(self, key, now, out));
        };
        let Some(waiting) = self.in_flight.remove(id) else { return false };
        self.tell_cancelled(id, reason.unwrap_or("the caller gave up"), out);
        self.end_with(key, CallError::Cancelled { method: waiting.method });
        true
    }

    /// Lets time pass: what was due by `now` happens.
    pub fn handle_timeout(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        if self.connect_by.is_some_and(|at| at <= now) {
            let after = self.config.connect_timeout;
            let action = self.handshake.fail(ConnectError::Timeout { after });
            self.act(action, now, out);
        } else if self.silent_at.is_some_and(|at| at <= now) {
            self.silent_at = None;
            let action = self.handshake.silence();
            self.act(action, now, out);
        }
        if let Some(hooks) = self.subscriptions.hooks
            && self.subscriptions.poll_timeout().is_some_and(|at| at <= now)
        {
            (hooks.due)(self, now, out);
        }
        while let Some((id, mut waiting, deadline)) = self.in_flight.expire(now) {
            self.tell_cancelled(id, "timed out", out);
            let (key, cached_as) = (waiting.key, waiting.cached_as.take());
            self.unanswered(key, cached_as, waiting.timed_out(deadline), now, out);
        }
        if let Some(hooks) = self.tasks.hooks
            && self.tasks.poll_timeout().is_some_and(|at| at <= now)
        {
            (hooks.due)(self, now, out);
        }
        self.expire_rounds(now);
    }

    /// Takes in that the connection has ended: all requests end with it.
    pub fn close(&mut self, how: Closed) {
        if self.phase == Phase::Closed {
            return;
        }
        let action = match how {
            Closed::ByServer if self.phase == Phase::Connecting => self.handshake.ended(),
            Closed::ByClient if self.phase == Phase::Connecting => self.handshake.fail(ConnectError::Cancelled),
            Closed::Failed(ref why) if self.phase == Phase::Connecting => {
                self.handshake.fail(ConnectError::Failed(Arc::clone(why)))
            }
            _ => Action::Nothing,
        };
        match action {
            Action::Restart => {
                self.end(Closed::ByServer);
                // It replaces the event that says the end.
                self.events.pop_back();
                self.events.push_back(Event::Restart);
            }
            Action::Fail(error) => self.end(Closed::NotOpened(Arc::new(error))),
            _ => self.end(how),
        }
    }

    pub(super) fn tell_cancelled(&mut self, id: u64, reason: &str, out: &mut Vec<u8>) {
        if out.len() <= self.config.max_transmit {
            let params = |out: &mut Vec<u8>| {
                push(out, b"{\"requestId\":");
                push_number(out, id);
                push(out, b",\"reason\":");
                push_string(out, reason);
                push(out, b"}");
                Ok(())
            };
            // These parameters cannot fail to serialise.
            let _ = write::notification(out, "notifications/cancelled", &params);
        }
    }

    /// A request has ended without an answer.
    #[cold]
    #[inline(never)]
    pub(super) fn end_with(&mut self, key: RequestKey, error: CallError) {
        self.events.push_back(Event::Reply(Reply::failed(key, error)));
    }

    /// A request that has left the table gets no answer.
    #[cold]
    #[inline(never)]
    pub(super) fn unanswered(
        &mut self,
        key: RequestKey,
        cached_as: Option<Box<Pending>>,
        error: CallError,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) {
        match self.tasks.hooks {
            Some(hooks) if self.tasks.has_sent(key) => (hooks.unanswered)(self, key, error, now, out),
            _ => self.finish_with(cached_as, key, error, now),
        }
    }

    /// The same as [`Session::end_with`], where an answer would have been kept.
    #[cold]
    #[inline(never)]
    pub(super) fn finish_with(
        &mut self,
        cached_as: Option<Box<Pending>>,
        key: RequestKey,
        error: CallError,
        now: Timestamp,
    ) {
        self.finish(cached_as, Reply::failed(key, error), now);
    }

    /// Gives back what is there for requests and events, if there are none.
    pub(crate) fn let_go(&mut self) {
        if self.in_flight() == 0 && self.events.is_empty() {
            self.in_flight.let_go();
            self.rounds.let_go();
            self.events = VecDeque::new();
        }
    }

    pub(super) fn end(&mut self, how: Closed) {
        self.phase = Phase::Closed;
        // That it has ended is the better reason.
        self.barred = Barred::default();
        self.connect_by = None;
        self.silent_at = None;
        while let Some((_, waiting)) = self.in_flight.pop() {
            if self.tasks.has_sent(waiting.key) {
                continue;
            }
            let error = CallError::Closed { method: waiting.method, reason: how.clone() };
            // Nothing is kept of it, whatever the time.
            self.finish_with(waiting.cached_as, waiting.key, error, Timestamp::ORIGIN);
        }
        self.close_rounds(&how);
        self.end_caching();
        if let Some(hooks) = self.tasks.hooks {
            (hooks.ended)(self, &how);
        }
        self.forget_asks();
        if let Some(hooks) = self.subscriptions.hooks {
            (hooks.ended)(self, &how);
        }
        self.events.push_back(Event::Closed(how));
    }
}
