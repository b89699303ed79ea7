//! Requests: when they may be sent, when one is refused, and what a cancel tells the server.

use core::fmt;
use core::time::Duration;

use mcpwire_core::internal::{GetTaskResult, client_methods};
use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallError, CallTool, CallToolAsTask, CallToolOutcome, CancelTask, Deadline, Era, GetTask, ListTasks,
    ListTasksResult, ListTools, ListToolsResult, LoggingLevel, Phase, Ping, Raw, ReadResource, ReadResourceResult,
    Reply, RequestKey, RequestOptions, Requirement, SendError, SetLevel, Ticket, Timestamp, UpdateTask,
};

use super::tasks::InTask;
use super::{MAX_IN_FLIGHT, MAX_TASKS, MAX_TRANSMIT, Model};
use crate::fuzz::describe;
use crate::fuzz::describe::{json, listed};
use crate::fuzz::operations::wire::Asked;

impl Model {
    pub(in crate::fuzz::operations) fn send(
        &mut self,
        what: String,
        options: &RequestOptions,
        request: impl FnOnce(&mut Engine, &RequestOptions, Timestamp) -> Result<AnyTicket, SendError>,
    ) {
        self.trace.line(format_args!("> {what}"));
        self.look();
        let before = self.engine.transmit().len();
        match request(&mut self.engine, options, self.now) {
            Ok(ticket) => {
                let number = self.names.request(ticket.key());
                assert_eq!(self.engine.session().phase(), Phase::Ready);
                assert!(self.waiting.len() < MAX_IN_FLIGHT, "one too many");
                assert!(before <= MAX_TRANSMIT, "sent although the buffer is full");
                let mut waiting = Waiting::new(ticket, what, options, self);
                self.trace.line(format_args!("request r{number}, {waiting}"));
                let written = self.look();
                let asked = match &*written {
                    [] => return self.answered_at_once(number, waiting, options),
                    [asked] => asked,
                    _ => panic!("more than one message for one request: {written:?}"),
                };
                waiting.id = Some(asked.id.expect("a request has an id"));
                waiting.mark = asked.mark();
                assert!(self.waiting.insert(number, waiting).is_none(), "a key used twice");
            }
            Err(error) => {
                describe::not_sent(&error, &self.trace);
                assert!(self.look().is_empty(), "refused, and bytes left behind");
                assert!(self.may_refuse(&error, before), "refused with {error:?}");
            }
        }
    }

    /// Nothing was sent: there is an earlier answer.
    fn answered_at_once(&mut self, number: usize, mut waiting: Waiting, options: &RequestOptions) {
        assert_eq!(self.wire.era(), Some(Era::Modern), "answers of a legacy server are not kept");
        assert!(!options.fresh, "it was to be asked for anew");
        assert!(self.cached.may_hold(&waiting.what, self.now), "the earlier answer does not hold");
        waiting.is_current = false;
        self.waiting.insert(number, waiting);
        self.drain();
        assert!(!self.waiting.contains_key(&number), "neither sent nor answered");
    }

    /// Sets the level of log messages, with a request if the server is a legacy one.
    pub(in crate::fuzz::operations) fn set_log_level(&mut self, level: &LoggingLevel, options: &RequestOptions) {
        if self.wire.era() != Some(Era::Modern) {
            let what = format!("logging/setLevel {}", level.as_str());
            return self.send(what, options, |engine, options, now| {
                engine.calls().set_log_level(level, options, now).map(|ticket| ticket.expect("a request").into())
            });
        }
        self.trace.line(format_args!("> log level {}", level.as_str()));
        let set = self.engine.calls().set_log_level(level, options, self.now);
        assert!(!matches!(set, Ok(Some(_))), "a modern server is asked with each request");
        if let Err(error) = set {
            describe::not_sent(&error, &self.trace);
            let is_unknown =
                matches!(level, LoggingLevel::Other(_)) && matches!(error, SendError::UnknownLogLevel { .. });
            let before = self.engine.transmit().len();
            assert!(is_unknown || self.may_refuse(&error, before), "refused with {error:?}");
        }
        assert!(self.look().is_empty(), "nothing is to be sent");
    }

    /// Whether this is a reason not to send a request, with so many bytes that are to be sent already.
    pub(super) fn may_refuse(&self, error: &SendError, before: usize) -> bool {
        let server = self.engine.session().server();
        match error {
            SendError::NotInitialized => matches!(self.engine.session().phase(), Phase::New | Phase::Connecting),
            SendError::Closed => self.engine.session().phase() == Phase::Closed,
            SendError::TooManyInFlight { .. } => self.waiting.len() >= MAX_IN_FLIGHT,
            // What was sent already may count until the buffer is moved up.
            SendError::TransmitFull { .. } => before > MAX_TRANSMIT / 2,
            SendError::NotAnObject { .. } => true,
            SendError::NotInRevision { method, version, .. } => {
                let entry = client_methods().iter().find(|entry| entry.name == *method);
                let spoken = server.map(|server| server.protocol_version);
                spoken == Some(*version) && entry.is_some_and(|entry| !entry.is_in(*version))
            }
            SendError::NoLogging => server.is_some_and(|server| {
                !Requirement::Logging.is_met(server.capabilities.as_ref(), server.protocol_version)
            }),
            SendError::NotOffered { requires, .. } => {
                server.is_some_and(|server| !requires.is_met(server.capabilities.as_ref(), server.protocol_version))
            }
            _ => false,
        }
    }

    /// Cancels one of those that wait, or one that does not any more.
    pub(in crate::fuzz::operations) fn cancel(&mut self, which: usize, reason: Option<&str>) {
        let Some((number, waiting)) = self.waiting.iter_mut().nth(which % 16) else {
            if let Some(dead) = self.wire.dead_key {
                assert!(!self.engine.calls().cancel(dead, None, self.now), "it has ended");
            }
            return;
        };
        let (number, key) = (*number, waiting.ticket.key());
        waiting.cancelled = true;
        self.trace.line(format_args!("> cancel r{number}"));
        self.look();
        let has_room = self.engine.transmit().len() <= MAX_TRANSMIT / 2;
        assert!(self.engine.calls().cancel(key, reason, self.now), "it waits");
        let written = self.look();
        if has_room {
            self.check_cancel(number, reason, &written);
        }
        assert!(!self.engine.calls().cancel(key, None, self.now), "cancelled twice");
        self.drain();
        assert!(!self.waiting.contains_key(&number), "cancelled, and it waits");
    }

    /// What the server is told of a cancel: that nobody waits for the request, or that the task is to end.
    fn check_cancel(&self, number: usize, reason: Option<&str>, written: &[Asked]) {
        let waiting = &self.waiting[&number];
        // Between two rounds the server does not know of the request.
        let is_paused = self.asks.iter().any(|(_, during)| *during == Some(number));
        match &waiting.task {
            InTask::Followed { id, ours } => {
                let ends: Vec<_> = written.iter().map(|asked| asked.is_about("tasks/cancel", id)).collect();
                assert_eq!(ends, if self.is_to_be_ended(*ours) { vec![true] } else { vec![] }, "{written:?}");
            }
            InTask::No if is_paused => assert!(written.is_empty(), "{written:?}"),
            InTask::No => {
                let [told] = written else { panic!("the server is not told: {written:?}") };
                assert_eq!(told.method, "notifications/cancelled");
                assert_eq!(told.params["requestId"].as_u64(), waiting.id);
                assert!(reason.is_none_or(|reason| told.params["reason"] == reason), "{told:?}");
            }
            InTask::Perhaps => {}
        }
    }
}

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

macro_rules! any_ticket {
    ($($Method:ident: $show:ident),* $(,)?) => {
        /// A ticket of any of the methods that are used here.
        #[derive(Clone, Copy)]
        pub(in crate::fuzz::operations) enum AnyTicket {
            $( $Method(Ticket<$Method>), )*
        }

        impl AnyTicket {
            pub(super) fn key(&self) -> RequestKey {
                match self {
                    $( AnyTicket::$Method(ticket) => ticket.key(), )*
                }
            }

            /// Reads a reply. What was read is given as text.
            pub(super) fn decode(self, reply: &mut Reply) -> Result<String, CallError> {
                match self {
                    $( AnyTicket::$Method(ticket) => ticket.decode_mut(reply).map(|result| $show(&result)), )*
                }
            }
        }

        $(
            impl From<Ticket<$Method>> for AnyTicket {
                fn from(ticket: Ticket<$Method>) -> Self {
                    AnyTicket::$Method(ticket)
                }
            }
        )*
    };
}

any_ticket! {
    CallTool: json,
    CallToolAsTask: outcome,
    CancelTask: json,
    GetTask: json,
    GetTaskResult: json,
    ListTasks: tasks,
    ListTools: tools,
    Ping: json,
    Raw: json,
    ReadResource: contents,
    SetLevel: json,
    UpdateTask: json,
}

fn tasks(result: &ListTasksResult) -> String {
    listed(result, &result.tasks)
}

fn tools(result: &ListToolsResult) -> String {
    listed(result, &result.tools)
}

fn contents(result: &ReadResourceResult) -> String {
    listed(result, &result.contents)
}

fn outcome(outcome: &CallToolOutcome) -> String {
    match outcome {
        CallToolOutcome::Done(result) => json(result),
        CallToolOutcome::Task(task) => json(&**task),
    }
}
