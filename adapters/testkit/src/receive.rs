//! Handles the messages that a scripted server receives.

use std::sync::PoisonError;

use mcpwire_driver::protocol::{Json, Timestamp};

use crate::ScriptedResponse;
use crate::outbox::RequestInfo;
use crate::protocol::{Plan, VERSION};
use crate::recorded::{Cancellation, RecordedMessage};
use crate::server::ScriptedServer;

impl ScriptedServer {
    /// Handles a message that arrived over a connection, and plans the answer.
    pub(crate) fn receive(&self, connection: usize, now: Timestamp, line: &str) {
        let message = RecordedMessage::new(now.since_origin(), connection, line);
        let mut state = self.lock();
        state.recorded.push(message.clone());
        if message.method.is_empty() {
            drop(state);
            return self.answered(connection, &message);
        }
        let params = message.params.clone().unwrap_or_default();
        let meta: Json = message.param("_meta").unwrap_or_default();
        let version: Option<String> = meta.member(VERSION);
        let plan = match &message.id {
            Some(_) => state.plan(&message.method, &params, version.as_deref()),
            // A notification gets no answer, but its handler may send messages.
            None => match state.methods.get(&message.method) {
                Some(handler) => Plan::Call(handler.clone(), params),
                None => Plan::ScriptedResponse(ScriptedResponse::new()),
            },
        };
        let cancelled = Cancellation::of(&message).filter(|_| !state.ignores_cancellations);
        drop(state);
        // The lock is not held while a handler runs, because the handler may use the server.
        let answer = match plan {
            Plan::ScriptedResponse(answer) => answer,
            Plan::Call(handler, params) => handler.lock().unwrap_or_else(PoisonError::into_inner)(&params),
        };
        let mut state = self.lock();
        let state = &mut *state;
        let Some(client) = state.outboxes.get(&connection).map(|outbox| outbox.client) else { return };
        if let Some(cancelled) = cancelled {
            let of_client = state.outboxes.values_mut().filter(|outbox| outbox.client == client);
            of_client.for_each(|outbox| outbox.forget(&cancelled.id));
        }
        let Some(outbox) = state.outboxes.get_mut(&connection) else { return };
        let progress_token = meta.member("progressToken");
        let info = RequestInfo { id: message.id, modern: version.is_some(), progress_token };
        outbox.answer(&info, answer.steps, state.latency, &mut state.last_request_id);
    }

    /// Continues the answer that waits for this response of the client. The response may arrive over any connection of the
    /// client.
    fn answered(&self, connection: usize, message: &RecordedMessage) {
        let Some(id) = &message.id else { return };
        let mut state = self.lock();
        let Some(client) = state.outboxes.get(&connection).map(|outbox| outbox.client) else { return };
        let mut of_client = state.outboxes.iter_mut().filter(|(_, outbox)| outbox.client == client);
        let question = of_client.find_map(|(at, outbox)| Some((*at, outbox.take_question(id)?)));
        drop(state);
        let Some((asked_over, question)) = question else { return };
        let answer = (question.then.0)(message.answer());
        let waker = {
            let mut state = self.lock();
            let state = &mut *state;
            let Some(outbox) = state.outboxes.get_mut(&asked_over) else { return };
            outbox.go_on(question, answer, &mut state.last_request_id);
            outbox.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
