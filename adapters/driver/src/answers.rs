//! [`Answers`]: calls the handlers for requests of the server, and sends their answers.

use std::sync::Arc;
use std::task::Context;

use mcpwire_client::{OutgoingAnswer, PendingAnswers, method_not_found};

use crate::shared::Shared;
use crate::state::ServerRequestEvent;

/// The requests of the server that handlers are processing. `None` if the program has no handlers.
pub(crate) struct Answers(Option<Box<dyn PendingAnswers>>);

impl Answers {
    pub(crate) fn new(shared: &Shared) -> Self {
        Answers(shared.handlers.as_ref().map(|handlers| Arc::clone(handlers).pending()))
    }

    /// Calls the handlers of new requests, polls all pending handlers, and sends the answers that are complete.
    ///
    /// This calls code of the program: call it without holding a lock.
    pub(crate) fn serve(&mut self, shared: &Shared, events: Vec<ServerRequestEvent>, cx: &mut Context<'_>) {
        if events.is_empty() && self.0.as_ref().is_none_or(|answers| answers.is_empty()) {
            return;
        }
        let mut complete = Vec::new();
        for event in events {
            match (event, &mut self.0) {
                (ServerRequestEvent::Received(request), Some(answers)) => answers.start(request),
                (ServerRequestEvent::Received(request), None) => {
                    complete.push(OutgoingAnswer::refused(request.key, method_not_found()));
                }
                (ServerRequestEvent::Cancelled(id), Some(answers)) => answers.cancel(id, cx),
                (ServerRequestEvent::Cancelled(_), None) => {}
            }
        }
        if let Some(answers) = &mut self.0 {
            complete.extend(answers.poll(cx));
        }
        for answer in complete {
            let now = shared.clock.now();
            shared.with_state(|state| answer.send(&mut state.engine.calls(), now));
        }
    }

    /// Drops all pending handlers.
    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }
}
