//! Tasks that the session follows for their callers (2025-11-25, basic/utilities/tasks; from 2026-07-28 the extension
//! `io.modelcontextprotocol/tasks`). A call whose answer is a task keeps its ticket, and ends with the task's result.
//!
//! What is asked when is up to [`following`](super::following); here it is sent, and what comes is handed out.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::de::IgnoredAny;

use super::asks::InputOwner;
use super::config::{RequestOptions, TaskMode};
use super::engine::Session;
use super::error::{CallError, Closed, Deadline, InputError, SendError};
use super::event::{Event, Notification};
use super::following::{About, End, Following, Source};
use super::inflight::Waiting;
use super::opening::modern_meta;
use super::server::ServerInfo;
use super::task_fault::TaskFault;
use super::ticket::{Outcome, Reply, RequestKey, Ticket};
use crate::json::append::{push_number, push_raw, push_string};
use crate::json::scan;
use crate::method::{CallTool, GetTask, Method};
use crate::revisions;
use crate::rpc::decode::{self, Answer};
use crate::rpc::result_type::{ResultType, result_type};
use crate::rpc::write::{self, Meta, Push};
use crate::rpc::{PeerError, PeerErrorKind};
use crate::sorted::Sorted;
use crate::time::Timestamp;
use crate::types::tasks::form_of;
use crate::types::{
    CreateTaskResult, InputRequest, InputRequiredResult, ProtocolVersion, Task, TaskForm, TaskHandle, TaskStatus,
};

/// The most inputs that a task may want in its life. 1,000: a person who is asked more often than that has long gone.
const MOST_INPUTS: u32 = 1_000;

/// The tasks that are followed.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// By the key of the call that each is to end.
    followed: Sorted<RequestKey, Box<Followed>>,
    /// Requests of our own by their keys: for which call, and what they are about.
    own: Sorted<RequestKey, (RequestKey, About)>,
    /// When the next of them has something to send.
    wake: Option<Timestamp>,
    /// What the modern era wants in the `_meta` of requests that have to do with tasks; made when it is first needed.
    meta: Option<String>,
    version: Option<ProtocolVersion>,
    /// What the server said of tasks (2025-11-25): that calls of tools may ask for one, and that it cancels them.
    takes_calls: bool,
    takes_cancels: bool,
    /// Set where the session is configured to follow tasks, and by the first request that has to do with one.
    pub(super) hooks: Option<&'static Hooks>,
    /// Tells how tasks stand that are not followed. Set by a subscription that is for some.
    pub(super) news: Option<News>,
}

pub(super) type News = fn(&mut Session, &[u8]) -> Option<()>;

/// What the rest of a session calls of this. It is called through here, so that it is part of no program that has nothing to
/// do with tasks.
#[derive(Debug)]
pub(crate) struct Hooks {
    /// [`Session::prepare_task`].
    pub(super) sent: Sent,
    /// [`Session::task_reply`].
    pub(super) replied: Replied,
    /// [`Session::task_unanswered`].
    pub(super) unanswered: fn(&mut Session, RequestKey, CallError, Timestamp, &mut Vec<u8>),
    /// [`Session::task_notice`].
    pub(super) told: fn(&mut Session, &[u8], Timestamp, &mut Vec<u8>) -> Option<()>,
    /// [`Session::cancel_task`].
    pub(super) cancelled: fn(&mut Session, RequestKey, Timestamp, &mut Vec<u8>) -> bool,
    /// [`Session::drive_tasks`].
    pub(super) due: fn(&mut Session, Timestamp, &mut Vec<u8>),
    /// [`Session::task_input_answered`].
    pub(super) input: fn(&mut Session, RequestKey, &[u8], Timestamp, &mut Vec<u8>),
    /// [`Session::task_input_refused`].
    pub(super) input_refused: fn(&mut Session, RequestKey, InputError, Timestamp, &mut Vec<u8>),
    /// [`Session::close_tasks`].
    pub(super) ended: fn(&mut Session, &Closed),
}

type Sent = fn(&mut Session, &str, &RequestOptions) -> (Tasked, Option<Vec<u8>>);
type Replied = fn(&mut Session, Waiting, u64, Vec<u8>, Timestamp, &mut Vec<u8>) -> Option<(Waiting, Vec<u8>)>;

pub(crate) static HOOKS: Hooks = Hooks {
    sent: Session::prepare_task,
    replied: Session::task_reply,
    unanswered: Session::task_unanswered,
    told: Session::task_notice,
    cancelled: Session::cancel_task,
    due: Session::drive_tasks,
    input: Session::task_input_answered,
    input_refused: Session::task_input_refused,
    ended: Session::close_tasks,
};

/// What it takes to follow tasks, for a request that is about them.
pub(super) const fn hooks_of(method: &str) -> Option<&'static Hooks> {
    if is_about_tasks(method) { Some(&HOOKS) } else { None }
}

/// Whether requests of a method are about tasks.
const fn is_about_tasks(method: &str) -> bool {
    matches!(method.as_bytes(), [b't', b'a', b's', b'k', b's', b'/', ..])
}

#[derive(Debug)]
struct Followed {
    task: Following,
    method: Cow<'static, str>,
    /// The id that the call had: progress goes on under it.
    progress: Option<u64>,
    /// The inputs that it has asked for, by their names: each is asked for once, however often it is seen.
    asked: Vec<String>,
    /// Nobody else knows of the task: when it is given up, the server may end it.
    is_ours: bool,
    began: Timestamp,
    timeout: Duration,
    total: Timestamp,
}

impl Tasks {
    pub(super) fn new(hooks: Option<&'static Hooks>) -> Self {
        Tasks { hooks, ..Tasks::default() }
    }

    /// Takes in to whom the connection is open.
    pub(super) fn open(&mut self, server: &ServerInfo) {
        let tasks = server.capabilities.as_ref().and_then(|capabilities| capabilities.tasks.as_ref());
        self.version = Some(server.protocol_version);
        self.takes_calls = server.takes_tasks();
        self.takes_cancels = tasks.is_some_and(|tasks| tasks.cancel.is_some());
    }

    /// What is said in `_meta` has changed.
    pub(super) fn forget_meta(&mut self) {
        self.meta = None;
    }

    /// How many calls wait for a task, less the requests of our own that wait for an answer.
    pub(super) fn callers(&self, in_flight: usize) -> usize {
        in_flight.saturating_sub(self.own.len()) + self.followed.len()
    }

    pub(super) fn is_waiting(&self, key: RequestKey) -> bool {
        self.followed.contains_key(&key)
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.wake
    }

    /// Whether a request is one of our own.
    pub(super) fn has_sent(&self, key: RequestKey) -> bool {
        !self.own.is_empty() && self.own.contains_key(&key)
    }

    /// Whose progress is reported under the id of a call that has become a task.
    pub(super) fn progress(&self, id: u64) -> Option<RequestKey> {
        self.followed.iter().find(|(_, followed)| followed.progress == Some(id)).map(|(key, _)| *key)
    }

    fn reckon(&mut self) {
        let next = |followed: &Followed| followed.task.next().map_or(followed.total, |at| at.min(followed.total));
        self.wake = self.followed.iter().map(|(_, followed)| next(followed)).min();
    }
}

impl Session {
    /// Follows a task that was begun earlier, in this connection or another one. It ends as its call would have, in an
    /// [`Event::Reply`] that the ticket decodes. The server is asked at once, and then in the intervals that it wishes.
    ///
    /// [`RequestOptions::timeout`] is that of each question; [`RequestOptions::total_timeout`] is for all, from now on. To
    /// give up, or to run out of time, ends the following only: whoever has the handle may come back for the task.
    ///
    /// # Errors
    /// If the connection is not open, a limit is reached, or the revision that is spoken has no tasks.
    pub fn follow_task(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<Ticket<CallTool>, SendError> {
        self.check_open(out)?;
        self.check_allowed(GetTask::NAME, const { revisions::bit(GetTask::NAME) })?;
        if self.tasks.followed.len() >= self.config.max_tasks {
            return Err(SendError::TooManyInFlight { limit: self.config.max_tasks });
        }
        self.tasks.hooks = Some(&HOOKS);
        let key = self.fresh_key();
        let timeout = options.timeout.unwrap_or(self.config.request_timeout);
        let total = now + options.total_timeout.unwrap_or(self.config.total_timeout.max(timeout));
        let task = Following::new(handle.task_id.clone(), self.task_form(), now);
        let method = Cow::Borrowed(CallTool::NAME);
        let (progress, asked, is_ours) = (None, Vec::new(), false);
        let followed = Followed { task, method, progress, asked, is_ours, began: now, timeout, total };
        self.tasks.followed.insert(key, Box::new(followed));
        self.drive_tasks(now, out);
        Ok(Ticket::new(key))
    }

    /// The form in which tasks are spoken of in this session.
    fn task_form(&self) -> TaskForm {
        // Only in the modern era there is something to say in `_meta`.
        if self.meta.is_empty() { TaskForm::Experimental } else { TaskForm::Extension }
    }

    /// What a request that is to be sent has to do with tasks, and what it carries for that besides its parameters.
    fn prepare_task(&mut self, method: &str, options: &RequestOptions) -> (Tasked, Option<Vec<u8>>) {
        let is_declared = options.task != TaskMode::Session || is_about_tasks(method);
        if is_declared {
            self.make_task_meta();
        }
        let param = self.task_param(method, options);
        if self.follows(method, options, param.is_some()) {
            (Tasked::Followed, param)
        } else if is_declared {
            (Tasked::Declared, param)
        } else {
            (Tasked::No, None)
        }
    }

    /// What makes a call of 2025-11-25 ask for a task ("Task Parameters"), where the server takes that: a member for the end
    /// of its parameters.
    fn task_param(&self, method: &str, options: &RequestOptions) -> Option<Vec<u8>> {
        // Without such a word of the server's it is not to be tried ("Tool-Level Negotiation").
        if options.task == TaskMode::Session || !self.tasks.takes_calls || method != CallTool::NAME {
            return None;
        }
        let mut param = Vec::from(&b",\"task\":{"[..]);
        if let Some(ttl) = options.task_ttl {
            param.extend_from_slice(b"\"ttl\":");
            push_number(&mut param, u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        }
        param.push(b'}');
        Some(param)
    }

    /// Makes what is said in `_meta` by requests that have to do with tasks: servers refuse them to clients that have not
    /// declared the extension, which is done in each request.
    fn make_task_meta(&mut self) {
        if !self.meta.is_empty() && !self.config.capabilities.has_tasks() && self.tasks.meta.is_none() {
            // Said in these requests, and in no other.
            let before = self.config.capabilities.extensions.clone();
            self.config.capabilities.declare_tasks();
            let meta = self.tasks.version.map(|version| modern_meta(&self.config, version));
            self.config.capabilities.extensions = before;
            self.tasks.meta = Some(meta.unwrap_or_default());
        }
    }

    /// What is said in `_meta` by requests that have to do with tasks.
    pub(super) fn task_meta(&self) -> &str {
        self.tasks.meta.as_deref().unwrap_or(&self.meta)
    }

    /// Takes in what may be a task, or the answer to a request of our own; gives back what is neither.
    fn task_reply(
        &mut self,
        waiting: Waiting,
        id: u64,
        message: Vec<u8>,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Option<(Waiting, Vec<u8>)> {
        if self.tasks.has_sent(waiting.key) {
            self.task_answered(waiting.key, id, message, now, out);
        } else if waiting.tasks == Tasked::Followed && self.is_task(&message) {
            self.become_task(waiting, id, &message, now, out);
        } else {
            return Some((waiting, message));
        }
        None
    }

    /// Whether the answer to a call is a task, in the form of this session.
    fn is_task(&self, message: &[u8]) -> bool {
        match self.task_form() {
            TaskForm::Extension => result_type(message) == ResultType::Task,
            TaskForm::Experimental => {
                let result = scan::members(message).find(|member| member.is("result"));
                result.and_then(|result| form_of(result.value)) == Some(TaskForm::Experimental)
            }
        }
    }

    /// Takes in that a call, which has left the table, has become a task.
    #[cold]
    fn become_task(&mut self, waiting: Waiting, id: u64, message: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let (created, error) = match decode::answer::<CreateTaskResult>(message, id) {
            Ok(Answer::Result(created)) => (created, None),
            Ok(Answer::Error(error)) => {
                (<_>::default(), Some(CallError::Server { method: waiting.method.clone(), error }))
            }
            Err(error) => (<_>::default(), Some(CallError::Invalid { method: waiting.method.clone(), error })),
        };
        let key = waiting.key;
        if let Some(error) = error {
            self.end_with(key, error);
            return;
        }
        let task = created.task;
        let following = Following::new(task.task_id.clone(), self.task_form(), now);
        let (timeout, total, began) = (waiting.timeout(), waiting.total(), waiting.sent());
        let progress = waiting.wants_progress.then_some(id);
        let (method, asked, is_ours) = (waiting.method, Vec::new(), true);
        let followed = Followed { task: following, method, progress, asked, is_ours, began, timeout, total };
        let is_too_many = self.tasks.followed.len() >= self.config.max_tasks;
        self.tasks.followed.insert(key, Box::new(followed));
        if is_too_many {
            let fault = TaskFault::TooMany { limit: self.config.max_tasks };
            self.end_task(key, End::Fault(fault), now, out);
        } else {
            self.task_told(key, task, Source::Call, now, out);
        }
        self.drive_tasks(now, out);
    }

    /// Takes in the answer to a request of our own, which has left the table.
    #[cold]
    fn task_answered(&mut self, own: RequestKey, id: u64, message: Vec<u8>, now: Timestamp, out: &mut Vec<u8>) {
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
            About::Result => match decode::answer::<IgnoredAny>(&message, id) {
                Ok(Answer::Error(error)) if !followed.task.is_final() => Some(server(error)),
                // It is what the call would have answered, an error as well as a result ("Result Retrieval").
                Ok(_) => {
                    self.reply_to_task(key, message, id);
                    None
                }
                Err(error) => Some(invalid(error)),
            },
            About::Update => match decode::answer::<IgnoredAny>(&message, id) {
                Ok(Answer::Result(_)) => {
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
    fn task_unanswered(&mut self, own: RequestKey, error: CallError, now: Timestamp, out: &mut Vec<u8>) {
        if let Some((key, about)) = self.tasks.own.remove(&own) {
            self.task_refused(key, about, error, now, out);
            self.drive_tasks(now, out);
        }
    }

    /// Tells what the server says of a task that nobody follows.
    pub(super) fn task_news(&mut self, notice: &[u8]) -> Option<()> {
        let task: Task = decode::params(notice)?.ok()?;
        self.events.push_back(Event::Notification(Notification::TaskStatus { key: None, task: task.into() }));
        Some(())
    }

    /// Takes in what the server tells of a task unasked.
    fn task_notice(&mut self, notice: &[u8], now: Timestamp, out: &mut Vec<u8>) -> Option<()> {
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

    /// Gives up a call that has become a task: the server is asked to end it. `false` if it is none.
    fn cancel_task(&mut self, key: RequestKey, now: Timestamp, out: &mut Vec<u8>) -> bool {
        let Some(followed) = self.tasks.followed.get(&key) else { return false };
        let error = CallError::Cancelled { method: followed.method.clone() };
        self.give_up_task(key, error, now, out);
        true
    }

    /// Sends what is due, and ends what has taken too long.
    fn drive_tasks(&mut self, now: Timestamp, out: &mut Vec<u8>) {
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

    /// The connection has ended, and with it all calls that have become tasks. The tasks may go on.
    fn close_tasks(&mut self, reason: &Closed) {
        for (key, followed) in core::mem::take(&mut self.tasks).followed.into_entries() {
            let error = CallError::Closed { method: followed.method, reason: reason.clone() };
            self.end_with(key, error);
        }
    }

    fn task_told(&mut self, key: RequestKey, task: Task, source: Source, now: Timestamp, out: &mut Vec<u8>) {
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

    /// The inputs that a task wants now; `None` where that is not said.
    fn inputs_of(&self, task: &Task) -> Result<Option<Vec<InputRequest>>, String> {
        match (&task.status, &task.input_requests) {
            // In 2025-11-25, servers ask with requests.
            _ if self.task_form() == TaskForm::Experimental => Ok(None),
            (TaskStatus::InputRequired, None) => Ok(None),
            (TaskStatus::InputRequired, Some(inputs)) => InputRequiredResult::inputs(inputs).map(Some),
            _ => Ok(Some(Vec::new())),
        }
    }

    /// Asks for the inputs that a task wants, as far as they have not been asked for ("Task Update Requests"). Whoever is
    /// asked for one that is not wanted any more is told.
    fn ask_for_task(&mut self, key: RequestKey, inputs: Vec<InputRequest>, now: Timestamp, out: &mut Vec<u8>) {
        let Some(followed) = self.tasks.followed.get(&key) else { return };
        let is_wanted = |name: &String| inputs.iter().any(|input| input.name == *name);
        let superseded: Vec<u32> =
            (0..).zip(&followed.asked).filter(|(_, name)| !is_wanted(name)).map(|(at, _)| at).collect();
        for at in superseded {
            self.give_up_inputs(InputOwner::Task(key, at));
        }
        for input in inputs {
            let room = self.has_room_for_asks();
            let Some(followed) = self.tasks.followed.get_mut(&key) else { return };
            // What there is no room for is seen again with the next look at the task.
            if !room || followed.asked.contains(&input.name) {
                continue;
            }
            let at = u32::try_from(followed.asked.len()).unwrap_or(u32::MAX);
            followed.asked.push(input.name.clone());
            let asked = if at < MOST_INPUTS {
                self.ask_inputs(InputOwner::Task(key, at), Some(key), alloc::vec![input])
            } else {
                Err(InputError::TooManyInputs { limit: MOST_INPUTS as usize })
            };
            if let Err(error) = asked {
                return self.task_input_refused(key, error, now, out);
            }
        }
    }

    /// Takes in the answer to an input that a task wants: an object of it by its name, as text.
    fn task_input_answered(&mut self, key: RequestKey, answer: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        if let Some(followed) = self.tasks.followed.get_mut(&key) {
            let members = answer.strip_prefix(b"{").and_then(|answer| answer.strip_suffix(b"}"));
            followed.task.answer(members.unwrap_or_default().to_vec(), now);
            self.drive_tasks(now, out);
        }
    }

    /// Takes in that an input that a task wants is not to be had: the task could wait for it for ever.
    fn task_input_refused(&mut self, key: RequestKey, error: InputError, now: Timestamp, out: &mut Vec<u8>) {
        let Some(followed) = self.tasks.followed.get(&key) else { return };
        let error = CallError::Input { method: followed.method.clone(), error: Arc::new(error) };
        self.give_up_task(key, error, now, out);
    }

    #[inline(never)]
    fn task_refused(&mut self, key: RequestKey, about: About, error: CallError, now: Timestamp, out: &mut Vec<u8>) {
        let Some(followed) = self.tasks.followed.get_mut(&key) else { return };
        if let Some(end) = followed.task.refused(about, error, now) {
            self.end_task(key, end, now, out);
        }
    }

    #[inline(never)]
    fn end_task(&mut self, key: RequestKey, end: End, now: Timestamp, out: &mut Vec<u8>) {
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

    fn reply_to_task(&mut self, key: RequestKey, message: Vec<u8>, id: u64) {
        let Some(followed) = self.forget_task(key) else { return };
        let outcome = Outcome::Answered { message, id };
        self.events.push_back(Event::Reply(Reply { key, method: followed.method, outcome, mirrored: false }));
    }

    #[inline(never)]
    fn give_up_task(&mut self, key: RequestKey, error: CallError, now: Timestamp, out: &mut Vec<u8>) {
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

    fn send_about(&mut self, key: RequestKey, about: About, now: Timestamp, out: &mut Vec<u8>) {
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

    fn fresh_key(&mut self) -> RequestKey {
        let key = RequestKey(self.next_key);
        self.next_key += 1;
        key
    }

    /// Whether the answer of a call may be a task that is to be followed.
    fn follows(&self, method: &str, options: &RequestOptions, asks: bool) -> bool {
        let wanted = match options.task {
            TaskMode::Session => !self.meta.is_empty() && self.config.capabilities.has_tasks(),
            TaskMode::Follow => !self.meta.is_empty() || asks,
            TaskMode::Handle => false,
        };
        wanted && method == CallTool::NAME
    }
}

/// What a request has to do with tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tasked {
    /// Nothing.
    #[default]
    No,
    /// It says that its answer may be a task, which its caller looks at.
    Declared,
    /// A task that it is answered with is followed.
    Followed,
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
