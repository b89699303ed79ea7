//! Requests: when they may be sent, and when one is refused.

use mcpwire_core::revisions;
use mcpwire_core::stdio::Engine;
use mcpwire_core::{Phase, RequestOptions, SendError, Timestamp};

use super::{AnyTicket, MAX_IN_FLIGHT, MAX_TRANSMIT, Model, Waiting};
use crate::fuzz::operations::wire;

impl Model {
    pub(in crate::fuzz::operations) fn send(
        &mut self,
        options: &RequestOptions,
        request: impl FnOnce(&mut Engine, &RequestOptions, Timestamp) -> Result<AnyTicket, SendError>,
    ) {
        let before = self.engine.transmit().len();
        match request(&mut self.engine, options, self.now) {
            Ok(ticket) => {
                assert_eq!(self.engine.session().phase(), Phase::Ready);
                assert!(self.waiting.len() < MAX_IN_FLIGHT, "one too many");
                assert!(before <= MAX_TRANSMIT, "sent although the buffer is full");
                let sent = &self.engine.transmit()[before..];
                let id = self.wire.id_of_last_request(sent);
                let mark = wire::marked(sent).map(|(_, mark)| mark);
                let config = self.engine.session().config();
                let timeout = options.timeout.unwrap_or(config.request_timeout);
                let total = options.total_timeout.unwrap_or(config.total_timeout.max(timeout));
                let waiting = Waiting {
                    ticket,
                    id,
                    progress: options.wants_progress(),
                    timeout,
                    idle: self.now + timeout,
                    total: self.now + total,
                    cancelled: false,
                    mark,
                    rounds: 0,
                    refused: false,
                };
                assert!(self.waiting.insert(ticket.key(), waiting).is_none(), "a key used twice");
            }
            Err(error) => {
                assert_eq!(self.engine.transmit().len(), before, "refused, and bytes left behind");
                assert!(self.may_refuse(&error, before), "refused with {error:?}");
            }
        }
    }

    /// Whether this is a reason not to send a request, with so many bytes that are to be sent already.
    fn may_refuse(&self, error: &SendError, before: usize) -> bool {
        let server = self.engine.session().server();
        match error {
            SendError::NotInitialized => matches!(self.engine.session().phase(), Phase::New | Phase::Connecting),
            SendError::Closed => self.engine.session().phase() == Phase::Closed,
            SendError::TooManyInFlight { .. } => self.waiting.len() == MAX_IN_FLIGHT,
            // What was sent already may count until the buffer is moved up.
            SendError::TransmitFull { .. } => before > MAX_TRANSMIT / 2,
            SendError::NotAnObject { .. } => true,
            SendError::NotInRevision { method, version, .. } => {
                let entry = revisions::find(revisions::Kind::Request, method);
                let spoken = server.map(|server| server.protocol_version);
                spoken == Some(*version) && entry.is_some_and(|entry| !entry.is_in(*version))
            }
            SendError::NotOffered { needs, .. } => {
                server.is_some_and(|server| !needs.is_met(server.capabilities.as_ref(), server.protocol_version))
            }
            _ => false,
        }
    }

    /// Cancels one of those that wait, or one that does not any more.
    pub(in crate::fuzz::operations) fn cancel(&mut self, which: usize) {
        if let Some(key) = self.waiting.keys().nth(which % 16).copied() {
            assert!(self.engine.calls().cancel(key, (which & 16 != 0).then_some("\"why\"\n"), self.now), "it waits");
            self.waiting.get_mut(&key).expect("it waits").cancelled = true;
            assert!(!self.engine.calls().cancel(key, None, self.now), "cancelled twice");
        } else if let Some(dead) = self.wire.dead_key {
            assert!(!self.engine.calls().cancel(dead, None, self.now), "it has ended");
        }
    }
}
