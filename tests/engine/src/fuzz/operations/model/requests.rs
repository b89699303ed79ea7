//! Requests: when they may be sent, when one is refused, and what a cancel tells the server.

use mcpwire_core::internal::client_methods;
use mcpwire_core::stdio::Engine;
use mcpwire_core::{Era, LoggingLevel, Phase, RequestOptions, Requirement, SendError, Timestamp};

use super::tasks::InTask;
use super::waiting::Waiting;
use super::{AnyTicket, MAX_IN_FLIGHT, MAX_TRANSMIT, Model};
use crate::fuzz::describe;
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
