//! What a session does with what the server sends.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::engine::Session;
use super::error::CallError;
use super::event::{Event, Message, Notification};
use super::handshake::{Outcome, Refusal};
use super::inflight::Waiting;
use super::server::Phase;
use super::tasks::Tasked;
use super::ticket::{self, Reply};
use crate::json::from_json::FromJson;
use crate::json::{Json, scan};
use crate::rpc::decode::{self, Answer};
use crate::rpc::peek::{Peek, peek};
use crate::rpc::{PeerError, WireId};
use crate::text::excerpt;
use crate::time::Timestamp;
use crate::types::{DiscoverResult, ElicitationComplete, InitializeResult, LogMessage, Progress, ResourceUpdated};

/// What it takes to read reports of progress: set by what asks for them, so that it is part of no other program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progressing(fn(&mut Session, &[u8], Timestamp) -> Option<()>);

impl Progressing {
    pub(super) const HERE: Self = Progressing(Session::progress);
}

/// An array of messages, as far as it has been taken apart.
#[derive(Debug)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    at: usize,
    has_messages: bool,
}

impl Session {
    /// Takes in a message.
    ///
    /// An array of messages is taken apart as its events are polled: call [`Session::resume`] when there is none left.
    pub fn receive(&mut self, message: impl Message, now: Timestamp, out: &mut Vec<u8>) {
        while self.resume(now, out) {}
        if self.phase == Phase::Closed {
            return;
        }
        if scan::is_array(message.bytes()) {
            self.batch = Some(Batch { bytes: message.into_bytes(), at: 0, has_messages: false });
            self.resume(now, out);
        } else if let Some(id) = self.one(message.bytes(), now, out) {
            self.reply(id, message, now, out);
        }
    }

    /// Takes in one message. Of one that answers a request of the caller's it gives the id, for [`Session::reply`].
    fn one(&mut self, message: &[u8], now: Timestamp, out: &mut Vec<u8>) -> Option<u64> {
        match peek(message) {
            Peek::Response { id } => return self.response(id.number(), message, now, out),
            Peek::Request { id, method } => self.ask(id, &method, message, now, out),
            Peek::Notification { method } => self.notification(&method, message, now, out),
            Peek::OrphanError => self.orphan(message, now, out),
            Peek::Noise | Peek::Batch => self.noise(message),
        }
        None
    }

    fn reply(&mut self, id: u64, message: impl Message, now: Timestamp, out: &mut Vec<u8>) {
        let Some(mut waiting) = self.in_flight.remove(id) else { return self.not_awaited(id, message.bytes(), now) };
        let wants_input = self.wants_input(&waiting, message.bytes());
        if wants_input || waiting.tasks == Tasked::Followed || self.tasks.has_sent(waiting.key) {
            return self.special_reply(waiting, wants_input, id, message.into_bytes(), now, out);
        }
        self.rounds.recycle(&mut waiting);
        let outcome = ticket::Outcome::Answered { message: message.into_bytes(), id };
        let Waiting { key, method, cached_as, .. } = waiting;
        self.finish(cached_as, Reply { key, method, outcome, mirrored: false }, now);
    }

    /// An answer that may not be the last word.
    #[cold]
    #[inline(never)]
    fn special_reply(
        &mut self,
        mut waiting: Waiting,
        wants_input: bool,
        id: u64,
        message: Vec<u8>,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) {
        if wants_input {
            self.input_required(waiting, id, &message, now, out);
        } else {
            let mut message = message;
            if let Some(hooks) = self.tasks.hooks {
                let Some(given_back) = (hooks.replied)(self, waiting, id, message, now, out) else { return };
                (waiting, message) = given_back;
            }
            self.rounds.recycle(&mut waiting);
            let outcome = ticket::Outcome::Answered { message, id };
            let Waiting { key, method, cached_as, .. } = waiting;
            self.finish(cached_as, Reply { key, method, outcome, mirrored: false }, now);
        }
    }

    /// An answer that no request in flight waits for.
    #[cold]
    #[inline(never)]
    fn not_awaited(&mut self, id: u64, message: &[u8], now: Timestamp) {
        if self.is_of_a_subscription(id, message, now) {
            return;
        }
        if id < self.next_id {
            self.stats.late += 1;
        } else {
            self.stats.foreign += 1;
        }
    }

    /// Takes in that a message is longer than [`Config::max_message`](super::Config::max_message), by how it begins: the
    /// request that it answers fails.
    pub fn receive_overlong(&mut self, head: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        if self.phase == Phase::Closed {
            return;
        }
        let known = match peek(head) {
            Peek::Response { id } => id.number(),
            _ => None,
        };
        if !known.is_some_and(|id| self.fail_overlong(id, head, now, out)) {
            self.noise(head);
        }
    }

    /// Takes in how such a message ended, in case only its end names the request.
    pub fn receive_overlong_end(&mut self, tail: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        // As if it were a short message: what the tail lacks is its beginning.
        let mut whole = Vec::from(&b"{\"result\":0"[..]);
        let cut = memchr::memrchr(b',', tail).and_then(|last| memchr::memrchr(b',', &tail[..last]).or(Some(last)));
        for from in [cut, memchr::memrchr(b',', tail)].into_iter().flatten() {
            whole.truncate(11);
            whole.extend_from_slice(&tail[from..]);
            if let Peek::Response { id } = peek(&whole)
                && id.number().is_some_and(|id| self.fail_overlong(id, tail, now, out))
            {
                return;
            }
        }
    }

    fn response(&mut self, id: Option<u64>, message: &[u8], now: Timestamp, out: &mut Vec<u8>) -> Option<u64> {
        match id {
            Some(id) if self.discover == Some(id) => {
                self.discover = None;
                let outcome = opened::<DiscoverResult>(message, id);
                let action = self.handshake.discovered(outcome);
                self.act(action, now, out);
            }
            Some(id) if self.initialize == Some(id) => {
                self.initialize = None;
                let outcome = opened::<InitializeResult>(message, id);
                let action = self.handshake.initialized(outcome);
                self.act(action, now, out);
            }
            Some(id) => return Some(id),
            None => self.stats.foreign += 1,
        }
        None
    }

    /// Whether an array of messages has been taken apart in part.
    pub(crate) fn is_in_batch(&self) -> bool {
        self.batch.is_some()
    }

    /// Goes on with an array of messages until it brings an event or ends; `false` if there is none to go on with. A small
    /// message makes a larger event, so the events of a long array are not made ahead of time.
    #[inline]
    pub fn resume(&mut self, now: Timestamp, out: &mut Vec<u8>) -> bool {
        match self.batch.take() {
            Some(batch) => self.go_on(batch, now, out),
            None => false,
        }
    }

    fn go_on(&mut self, mut batch: Batch, now: Timestamp, out: &mut Vec<u8>) -> bool {
        let before = self.events.len();
        while let Some(element) = scan::next_element(&batch.bytes, &mut batch.at) {
            let element = &batch.bytes[element];
            if element.first() == Some(&b'{') && self.phase != Phase::Closed {
                batch.has_messages = true;
                if let Some(id) = self.one(element, now, out) {
                    self.reply(id, element, now, out);
                }
            }
            if self.events.len() > before {
                self.batch = Some(batch);
                return true;
            }
        }
        if !batch.has_messages {
            self.noise(&batch.bytes);
        }
        true
    }

    fn notification(&mut self, method: &str, bytes: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let told = match method {
            "notifications/progress" => match self.progress {
                Some(Progressing(read)) => read(self, bytes, now),
                None => self.unasked_progress(bytes),
            },
            "notifications/message" => {
                params::<LogMessage>(bytes).map(|log| self.tell(Notification::Log(log), bytes, now))
            }
            "notifications/cancelled" => {
                let hooks = self.subscriptions.hooks;
                if !hooks.is_some_and(|hooks| (hooks.cancelled)(self, bytes, now)) {
                    self.ask_cancelled(bytes, now);
                }
                Some(())
            }
            "notifications/tasks/status" | "notifications/tasks" => match (self.tasks.hooks, self.tasks.news) {
                (Some(hooks), _) => (hooks.told)(self, bytes, now, out),
                (None, Some(news)) => news(self, bytes),
                (None, None) => self.other(method, bytes, now),
            },
            "notifications/tools/list_changed" => {
                self.tell(Notification::ToolsChanged, bytes, now);
                Some(())
            }
            "notifications/prompts/list_changed" => {
                self.tell(Notification::PromptsChanged, bytes, now);
                Some(())
            }
            "notifications/resources/list_changed" => {
                self.tell(Notification::ResourcesChanged, bytes, now);
                Some(())
            }
            "notifications/elicitation/complete" => params::<ElicitationComplete>(bytes)
                .map(|complete| self.tell(Notification::ElicitationComplete(complete), bytes, now)),
            "notifications/resources/updated" => match params::<ResourceUpdated>(bytes) {
                Some(updated) => {
                    self.tell(Notification::ResourceUpdated(updated), bytes, now);
                    Some(())
                }
                None => self.other(method, bytes, now),
            },
            _ => self.other(method, bytes, now),
        };
        if told.is_none() {
            self.noise(bytes);
        }
    }

    /// Progress where nobody has asked for any.
    #[cold]
    fn unasked_progress(&mut self, bytes: &[u8]) -> Option<()> {
        let params = decode::params::<Json>(bytes)?.ok()?;
        params.is_object().then(|| self.stats.late += 1)
    }

    fn progress(&mut self, bytes: &[u8], now: Timestamp) -> Option<()> {
        let progress: Progress = params(bytes)?;
        let id = progress.progress_token.as_ref().and_then(|token| WireId(token.get().as_bytes()).number());
        let key = id.and_then(|id| self.in_flight.progress(id, now).or_else(|| self.tasks.progress(id)));
        match key {
            Some(key) => self.tell(Notification::Progress { key, progress }, bytes, now),
            None => self.stats.late += 1,
        }
        Some(())
    }

    /// What is not known, or not as it should be.
    #[inline(never)]
    fn other(&mut self, method: &str, bytes: &[u8], now: Timestamp) -> Option<()> {
        let params = decode::params(bytes)?.ok();
        self.tell(Notification::Other { method: method.to_string(), params }, bytes, now);
        Some(())
    }

    #[inline(never)]
    fn tell(&mut self, notification: Notification, bytes: &[u8], now: Timestamp) {
        self.keep_up(&notification);
        // What it means to a subscription is told after it.
        let before = self.events.len();
        if let Some(hooks) = self.subscriptions.hooks
            && !self.subscriptions.is_empty()
        {
            (hooks.told)(self, &notification, bytes, now);
        }
        self.events.insert(before, Event::Notification(notification));
    }

    /// An error that names no request. While the probe is all that was sent, it is the answer to that.
    fn orphan(&mut self, bytes: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let Some(error) = decode::orphan_error(bytes) else { return self.noise(bytes) };
        if self.handshake.is_probing() {
            self.discover = None;
            let action = self.handshake.discovered(Err(Refusal::Error(error)));
            self.act(action, now, out);
        } else {
            self.events.push_back(Event::OrphanError(error));
        }
    }

    fn noise(&mut self, bytes: &[u8]) {
        self.stats.noise += 1;
        self.events.push_back(Event::Noise { excerpt: excerpt(bytes) });
    }

    fn fail_overlong(&mut self, id: u64, seen: &[u8], now: Timestamp, out: &mut Vec<u8>) -> bool {
        let error = PeerError::too_long(self.config.max_message, seen);
        if self.discover == Some(id) {
            self.discover = None;
            let action = self.handshake.discovered(Err(Refusal::Invalid(error)));
            self.act(action, now, out);
        } else if self.initialize == Some(id) {
            self.initialize = None;
            let action = self.handshake.initialized(Err(Refusal::Invalid(error)));
            self.act(action, now, out);
        } else if let Some(waiting) = self.in_flight.remove(id) {
            let error = CallError::Invalid { method: waiting.method, error };
            self.unanswered(waiting.key, waiting.cached_as, error, now, out);
        } else {
            let hooks = self.subscriptions.hooks;
            return hooks.is_some_and(|hooks| (hooks.overlong)(self, id, error, now));
        }
        true
    }

    /// Takes in an answer that is none to a request in flight. Whether it belongs to a subscription.
    fn is_of_a_subscription(&mut self, id: u64, message: &[u8], now: Timestamp) -> bool {
        self.subscriptions.hooks.is_some_and(|hooks| (hooks.answered)(self, id, message, now))
    }
}

/// The parameters of a notification, if they are what they should be.
fn params<P: FromJson>(bytes: &[u8]) -> Option<P> {
    decode::params(bytes)?.ok()
}

/// Reads the answer to one of the two requests that open a connection.
fn opened<R: FromJson>(bytes: &[u8], id: u64) -> Outcome<R> {
    match decode::answer::<R>(bytes, id) {
        Ok(Answer::Result(result)) => Ok(result),
        Ok(Answer::Error(error)) => Err(Refusal::Error(error)),
        Err(error) => Err(Refusal::Invalid(error)),
    }
}
