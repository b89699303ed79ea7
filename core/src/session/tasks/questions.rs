//! What is asked about a task that is followed, what is answered, and what the server tells of tasks unasked.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::following::{About, Following, Source};
use crate::json::append::{push_raw, push_string};
use crate::rpc::decode::{self, Answer};
use crate::rpc::write::{self, Meta, Push};
use crate::rpc::{PeerError, PeerErrorKind};
use crate::session::engine::Session;
use crate::session::error::{CallError, Deadline};
use crate::session::event::{Event, Notification};
use crate::session::inflight::Waiting;
use crate::session::ticket::RequestKey;
use crate::time::Timestamp;
use crate::types::Task;

impl Session {
    /// Sends what is due, and ends what has taken too long.
    pub(super) fn drive_tasks(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        loop {
            let late = self.tasks.followed.iter().find(|(_, followed)| followed.total <= now);
            let Some((key, method, after)) = late
                .map(|(key, followed)| (*key, followed.method.clone(), followed.total.duration_since(followed.began)))
            else {
                break;
            };
            self.give_up_task(key, CallError::Timeout { method, after, deadline: Deadline::Total }, now, out);
        }
        let keys: Vec<RequestKey> = self.tasks.followed.iter().map(|(key, _)| *key).collect();
        for key in keys {
            while let Some(about) = self.tasks.followed.get_mut(&key).and_then(|followed| followed.task.due(now)) {
                self.send_about(key, about, now, out);
            }
        }
        self.tasks.reckon();
    }

    pub(super) fn send_about(&mut self, key: RequestKey, about: About, now: Timestamp, out: &mut Vec<u8>) {
        let own = self.fresh_key();
        let is_open = self.check_open(out).is_ok();
        self.make_task_meta();
        let Some(followed) = self.tasks.followed.get_mut(&key) else { return };
        if !is_open {
            // The server does not read: it is asked again later, for as long as the call may take.
            return followed.task.postpone(about, now);
        }
        let meta = Meta { protocol: self.tasks.meta.as_deref().unwrap_or(&self.meta), ..Meta::default() };
        let task = &followed.task;
        let params: Push<'_> = &|out: &mut Vec<u8>| {
            push_params(out, task, about);
            Ok(())
        };
        let id = self.next_id;
        // What it is made of has no part that could fail to serialise.
        let _ = write::request(out, id, about.method(), params, meta);
        self.next_id += 1;
        let left = followed.total.duration_since(now);
        let (timeout, total) = match about {
            // It waits until the task is over.
            About::Result if !followed.task.is_final() => (left, left),
            About::Cancel => (self.config.request_timeout, self.config.request_timeout),
            _ => (followed.timeout.min(left), left),
        };
        let method = Cow::Borrowed(about.method());
        self.in_flight.insert(id, Waiting::new(own, method, false, None, timeout, total, now));
        self.tasks.own.insert(own, (key, about));
    }

    /// Takes in the answer to a request of our own, which has left the table.
    #[cold]
    pub(super) fn task_answered(
        &mut self,
        own: RequestKey,
        id: u64,
        message: Vec<u8>,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) {
        let Some((key, about)) = self.tasks.own.remove(&own) else { return };
        let Some(followed) = self.tasks.followed.get_mut(&key) else { return };
        let server = |error| CallError::Server { method: about.method().into(), error };
        let invalid = |error| CallError::Invalid { method: about.method().into(), error };
        let refused = match about {
            About::Get => match decode::answer::<Task>(&message, id) {
                Ok(Answer::Result(task)) => {
                    self.task_told(key, task, Source::Get, now, out);
                    None
                }
                Ok(Answer::Error(error)) => Some(server(error)),
                Err(error) => Some(invalid(error)),
            },
            About::Result => match decode::answer_skipped(&message, id) {
                Ok(Answer::Error(error)) if !followed.task.is_final() => Some(server(error)),
                // It is what the call would have answered, an error as well as a result ("Result Retrieval").
                Ok(_) => {
                    self.reply_to_task(key, message, id);
                    None
                }
                Err(error) => Some(invalid(error)),
            },
            About::Update => match decode::answer_skipped(&message, id) {
                Ok(Answer::Result(())) => {
                    followed.task.updated(now);
                    None
                }
                Ok(Answer::Error(error)) => Some(server(error)),
                Err(error) => Some(invalid(error)),
            },
            About::Cancel => None,
        };
        if let Some(error) = refused {
            self.task_refused(key, about, error, now, out);
        }
        self.drive_tasks(now, out);
    }

    /// Takes in that a request of our own ended without an answer.
    pub(super) fn task_unanswered(&mut self, own: RequestKey, error: CallError, now: Timestamp, out: &mut Vec<u8>) {
        if let Some((key, about)) = self.tasks.own.remove(&own) {
            self.task_refused(key, about, error, now, out);
            self.drive_tasks(now, out);
        }
    }

    /// Takes in what the server tells of a task unasked.
    pub(super) fn task_notice(&mut self, notice: &[u8], now: Timestamp, out: &mut Vec<u8>) -> Option<()> {
        let task: Task = decode::params(notice)?.ok()?;
        let id = &task.task_id;
        let known = self.tasks.followed.iter().find(|(_, followed)| followed.task.id() == id).map(|(key, _)| *key);
        match known {
            Some(key) => self.task_told(key, task, Source::Notice, now, out),
            None => {
                self.events.push_back(Event::Notification(Notification::TaskStatus { key: None, task: task.into() }));
            }
        }
        self.drive_tasks(now, out);
        Some(())
    }

    /// Tells what the server says of a task that nobody follows.
    pub(in crate::session) fn task_news(&mut self, notice: &[u8]) -> Option<()> {
        let task: Task = decode::params(notice)?.ok()?;
        self.events.push_back(Event::Notification(Notification::TaskStatus { key: None, task: task.into() }));
        Some(())
    }

    pub(super) fn task_told(&mut self, key: RequestKey, task: Task, source: Source, now: Timestamp, out: &mut Vec<u8>) {
        let inputs = match self.inputs_of(&task) {
            Ok(inputs) => inputs,
            Err(what) => {
                return self.task_refused(key, About::Get, malformed(what, "result.inputRequests"), now, out);
            }
        };
        let Some(followed) = self.tasks.followed.get_mut(&key) else { return };
        let Some((changed, end)) = followed.task.told(&task, source, now) else {
            let other =
                alloc::format!("an answer about another task, {:?}", crate::text::excerpt(task.task_id.as_bytes()));
            return self.task_refused(key, About::Get, malformed(other, "result.taskId"), now, out);
        };
        if changed {
            self.events.push_back(Event::Notification(Notification::TaskStatus { key: Some(key), task: task.into() }));
        }
        match (end, inputs) {
            (Some(end), _) => self.end_task(key, end, now, out),
            (None, Some(inputs)) => self.ask_for_task(key, inputs, now, out),
            (None, None) => {}
        }
    }

    #[inline(never)]
    fn task_refused(&mut self, key: RequestKey, about: About, error: CallError, now: Timestamp, out: &mut Vec<u8>) {
        let Some(followed) = self.tasks.followed.get_mut(&key) else { return };
        if let Some(end) = followed.task.refused(about, error, now) {
            self.end_task(key, end, now, out);
        }
    }

    pub(super) fn fresh_key(&mut self) -> RequestKey {
        let key = RequestKey(self.next_key);
        self.next_key += 1;
        key
    }
}

fn push_params(out: &mut Vec<u8>, task: &Following, about: About) {
    out.extend_from_slice(b"{\"taskId\":");
    push_string(out, task.id());
    if about == About::Update {
        out.extend_from_slice(b",\"inputResponses\":{");
        for (at, answer) in task.answers().iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            push_raw(out, answer);
        }
        out.push(b'}');
    }
    out.push(b'}');
}

fn malformed(what: String, at: &str) -> CallError {
    let kind = PeerErrorKind::Malformed(what);
    let error = PeerError { kind, at: at.into(), excerpt: String::new() };
    CallError::Invalid { method: About::Get.method().into(), error }
}
