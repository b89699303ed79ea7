//! How the following of a task ends: with what its call would have answered, with an error, or because nobody waits any more.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Followed;
use super::following::{About, End};
use crate::session::asks::InputOwner;
use crate::session::closed::Closed;
use crate::session::engine::Session;
use crate::session::error::CallError;
use crate::session::event::Event;
use crate::session::task_fault::TaskFault;
use crate::session::ticket::{Outcome, Reply, RequestKey};
use crate::time::Timestamp;
use crate::types::TaskForm;

impl Session {
    #[inline(never)]
    pub(super) fn end_task(&mut self, key: RequestKey, end: End, now: Timestamp, out: &mut Vec<u8>) {
        let (member, json) = match end {
            End::Result(json) => ("result", json),
            End::Error(json) => ("error", json),
            End::Fault(fault) => {
                if matches!(fault, TaskFault::TooMany { .. } | TaskFault::AnswersRefused { .. }) {
                    self.ask_for_end(key, now, out);
                }
                let Some(followed) = self.forget_task(key) else { return };
                let error = CallError::Task { method: followed.method, task: followed.task.into_id(), fault };
                self.end_with(key, error);
                return;
            }
        };
        let mut message = Vec::with_capacity(json.get().len() + 40);
        message.extend_from_slice(br#"{"jsonrpc":"2.0","id":0,""#);
        message.extend_from_slice(member.as_bytes());
        message.extend_from_slice(b"\":");
        message.extend_from_slice(json.get().as_bytes());
        message.push(b'}');
        self.reply_to_task(key, message, 0);
    }

    pub(super) fn reply_to_task(&mut self, key: RequestKey, message: Vec<u8>, id: u64) {
        let Some(followed) = self.forget_task(key) else { return };
        let outcome = Outcome::Answered { message, id };
        self.events.push_back(Event::Reply(Reply { key, method: followed.method, outcome, mirrored: false }));
    }

    /// Gives up a call that has become a task: the server is asked to end it. `false` if it is none.
    pub(in crate::session) fn cancel_task(&mut self, key: RequestKey, now: Timestamp, out: &mut Vec<u8>) -> bool {
        let Some(followed) = self.tasks.followed.get(&key) else { return false };
        let error = CallError::Cancelled { method: followed.method.clone() };
        self.give_up_task(key, error, now, out);
        true
    }

    #[inline(never)]
    pub(super) fn give_up_task(&mut self, key: RequestKey, error: CallError, now: Timestamp, out: &mut Vec<u8>) {
        self.ask_for_end(key, now, out);
        self.forget_task(key);
        self.end_with(key, error);
        self.tasks.reckon();
    }

    /// Takes a task out, and what was asked about it: nobody wants to know any more.
    fn forget_task(&mut self, key: RequestKey) -> Option<Box<Followed>> {
        let asked = |(own, (of, about)): (&RequestKey, &(RequestKey, About))| {
            (*of == key && *about != About::Cancel).then_some(*own)
        };
        let asked: Vec<RequestKey> = self.tasks.own.iter().filter_map(asked).collect();
        for own in asked {
            self.tasks.own.remove(&own);
            if let Some(id) = self.in_flight.id_of(own) {
                self.in_flight.remove(id);
            }
        }
        let followed = self.tasks.followed.remove(&key)?;
        for (at, _) in (0..).zip(&followed.asked) {
            self.give_up_inputs(InputOwner::Task(key, at));
        }
        Some(followed)
    }

    /// Asks the server to end a task ("Task Cancellation"), if it takes that.
    fn ask_for_end(&mut self, key: RequestKey, now: Timestamp, out: &mut Vec<u8>) {
        if !self.tasks.followed.get(&key).is_some_and(|followed| followed.is_ours) {
            return;
        }
        if self.task_form() == TaskForm::Extension || self.tasks.takes_cancels {
            self.send_about(key, About::Cancel, now, out);
        }
    }

    /// The connection has ended, and with it all calls that have become tasks. The tasks may go on.
    pub(in crate::session) fn close_tasks(&mut self, reason: &Closed) {
        for (key, followed) in core::mem::take(&mut self.tasks).followed.into_entries() {
            let error = CallError::Closed { method: followed.method, reason: reason.clone() };
            self.end_with(key, error);
        }
    }
}
