//! A request of the caller's: how long it may wait, and how it may end.

use core::fmt;
use core::time::Duration;

use mcpwire_core::{CallError, Deadline, Era, Phase, Reply, RequestKey, RequestOptions, Timestamp};

use super::tasks::InTask;
use super::{AnyTicket, MAX_TASKS, Model};
use crate::fuzz::describe;

/// A request that waits, as its caller knows it.
pub(super) struct Waiting {
    pub(super) ticket: AnyTicket,
    /// What was asked for, in words that no other request has.
    pub(super) what: String,
    /// The id on the wire. `None` for a task that is followed by its handle.
    pub(super) id: Option<u64>,
    pub(super) progress: bool,
    pub(super) timeout: Duration,
    pub(super) idle: Timestamp,
    pub(super) total: Timestamp,
    pub(super) cancelled: bool,
    /// What names it in its parameters, whatever id it has.
    pub(super) mark: Option<u64>,
    pub(super) rounds: u32,
    /// Nothing has changed since it was sent that its answer depends on.
    pub(super) is_current: bool,
    pub(super) task: InTask,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "times out at {:?} or {:?}", self.idle, self.total)
    }
}

impl Waiting {
    pub(super) fn new(ticket: AnyTicket, what: String, options: &RequestOptions, model: &Model) -> Self {
        let config = model.engine.session().config();
        let timeout = options.timeout.unwrap_or(config.request_timeout);
        let total = options.total_timeout.unwrap_or(config.total_timeout.max(timeout));
        Waiting {
            ticket,
            what,
            id: None,
            progress: options.wants_progress(),
            timeout,
            idle: model.now + timeout,
            total: model.now + total,
            cancelled: false,
            mark: None,
            rounds: 0,
            is_current: true,
            task: InTask::No,
        }
    }
}

impl Model {
    /// When a request times out at the latest.
    pub(super) fn deadline(&self, waiting: &Waiting) -> Timestamp {
        let only_total = self.holds_up_the_server() || waiting.task != InTask::No;
        // One that has no time at all is looked at now and then while the server waits for an answer.
        let soon = if waiting.timeout.is_zero() { Duration::from_millis(1) } else { Duration::ZERO };
        if only_total { waiting.total } else { (waiting.idle + soon).min(waiting.total) }
    }

    /// The request of a key, which must wait.
    pub(super) fn waiting(&mut self, key: RequestKey) -> Option<&mut Waiting> {
        self.waiting.get_mut(&self.names.request(key))
    }

    pub(super) fn reply(&mut self, mut reply: Reply) {
        let key = reply.key();
        let number = self.names.request(key);
        let waiting = self.waiting.remove(&number).expect("a second reply, or one to nobody");
        assert!(self.asks.iter().all(|(_, during)| *during != Some(number)), "a question for what has ended");
        self.ended.extend(waiting.id);
        self.wire.dead_key = Some(key);
        assert!(!self.engine.session().is_waiting(key));
        self.check_end(&waiting, &reply);
        self.cached.note(&waiting, &reply, self.now);
        let read = waiting.ticket.decode(&mut reply);
        describe::result(&read, &self.trace);
        if let Err(error) = read {
            assert!(error.to_string().len() < 3000, "errors are short");
            assert!(!matches!(error, CallError::WrongTicket { .. }));
        }
    }

    /// Whether a request may end so.
    fn check_end(&self, waiting: &Waiting, reply: &Reply) {
        let is_task = waiting.task != InTask::No;
        match reply.error() {
            None => assert!(reply.message().is_some()),
            Some(CallError::Timeout { deadline, after, .. }) => {
                let (at, due) = match deadline {
                    Deadline::Idle => (waiting.timeout, waiting.idle),
                    Deadline::Total => (Duration::MAX, waiting.total),
                };
                assert!(due <= self.now, "timed out before its time");
                assert!(*deadline == Deadline::Total || *after == at, "another time than was asked for");
                let is_followed = matches!(waiting.task, InTask::Followed { .. });
                assert!(*deadline == Deadline::Total || !is_followed, "a task may take all of its time");
            }
            Some(CallError::Cancelled { .. }) => assert!(waiting.cancelled, "cancelled by nobody"),
            Some(CallError::Closed { .. }) => assert_eq!(self.engine.session().phase(), Phase::Closed),
            Some(CallError::Invalid { .. }) => {}
            Some(CallError::Input { .. }) => {
                assert_eq!(self.wire.era(), Some(Era::Modern), "a legacy server wants no input");
            }
            Some(CallError::Task { .. }) => {
                let others = self.waiting.values().filter(|other| other.task != InTask::No).count();
                assert!(is_task || others >= MAX_TASKS, "it is no task");
            }
            Some(error) => panic!("{error:?}"),
        }
    }
}
