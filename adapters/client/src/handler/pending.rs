//! [`PendingAnswers`]: the requests of a server that handlers are processing.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use mcpwire_core::{Calls, Json, ListRootsResult, Root, RpcError, ServerRequest, ServerRequestId, Timestamp};

use super::{HandlerContext, HandlerFuture, Handlers};
use crate::{HandlerError, PanicCallbacks, PanicSource, catch_panic, lock};

const LIST_ROOTS: &str = "roots/list";

/// The handlers of one connection, with the roots that the program can replace while the connection is open.
pub struct ConnectionHandlers {
    handlers: Handlers,
    /// The answer to `roots/list`, which `set_roots` replaces. `None` if the program has set no roots.
    roots: Mutex<Option<Result<Json, RpcError>>>,
    server: Arc<str>,
    panics: PanicCallbacks,
}

impl ConnectionHandlers {
    /// Creates the handlers of a connection to the server named `server`.
    pub(crate) fn new(mut handlers: Handlers, server: Arc<str>, panics: PanicCallbacks) -> Self {
        let roots = Mutex::new(handlers.roots.take().map(roots_answer));
        ConnectionHandlers { handlers, roots, server, panics }
    }

    /// Replaces the answer to `roots/list`.
    pub fn set_roots(&self, roots: Vec<Root>) {
        *lock(&self.roots) = Some(roots_answer(roots));
    }

    fn start(&self, request: &ServerRequest, context: &HandlerContext) -> Result<HandlerFuture, RpcError> {
        if request.method == LIST_ROOTS
            && let Some(answer) = lock(&self.roots).clone()
        {
            return Ok(Box::pin(ready(answer)));
        }
        self.handlers.start(request, context)
    }

    /// Reports that a handler has panicked or refused a request: calls the program's `on_panic` and `on_answer_error`.
    fn report(&self, request: &ServerRequest, error: &HandlerError) {
        if let HandlerError::Panicked(message) = error {
            self.panics.report(PanicSource::Handler { method: request.method.clone() }, message.clone());
        }
        if let Some(on_error) = &self.handlers.on_error {
            self.panics.catch(PanicSource::OnAnswerError, || on_error(request, &error.to_rpc_error(request)));
        }
    }
}

fn roots_answer(roots: Vec<Root>) -> Result<Json, RpcError> {
    ListRootsResult::new(roots).answer()
}

/// The requests of a server that handlers are processing. Each process of a restarted server has its own table.
///
/// The methods call the program's code. Call them without holding a lock.
pub struct PendingAnswers {
    handlers: Arc<ConnectionHandlers>,
    /// The requests with the futures of their handlers, in the order in which the requests arrived.
    answers: Vec<PendingAnswer>,
}

struct PendingAnswer {
    request: ServerRequest,
    context: HandlerContext,
    answer: HandlerFuture,
}

impl PendingAnswers {
    /// Creates an empty table for a connection with these handlers.
    pub fn new(handlers: Arc<ConnectionHandlers>) -> Self {
        PendingAnswers { handlers, answers: Vec::new() }
    }

    /// Calls the handler of a request, and stores the future that the handler returns. [`PendingAnswers::poll`] polls the future.
    pub fn start(&mut self, mut request: ServerRequest) {
        let context = HandlerContext::new(&self.handlers.server, &request);
        let answer = match catch_panic(|| self.handlers.start(&request, &context)) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Box::pin(ready(Err(error))),
            // The future panics with the same message, so that `poll` reports the panic like any other.
            Err(message) => Box::pin(async move { std::panic::resume_unwind(Box::new(message)) }),
        };
        // Drops the parameters, because the handler has its own copy. Only the callback `on_answer_error` needs them.
        request.params = request.params.filter(|_| self.handlers.handlers.on_error.is_some());
        self.answers.push(PendingAnswer { request, context, answer });
    }

    /// Drops the handler of a request whose answer is no longer needed. The handler is polled once more before, so that it can
    /// clean up.
    pub fn cancel(&mut self, id: ServerRequestId, cx: &mut Context<'_>) {
        let Some(at) = self.answers.iter().position(|pending| pending.request.key == id) else { return };
        let mut pending = self.answers.remove(at);
        pending.context.cancel();
        if let Err(message) = catch_panic(move || drop(pending.answer.as_mut().poll(cx))) {
            let method = pending.request.method;
            self.handlers.panics.report(PanicSource::Handler { method }, message);
        }
    }

    /// Polls the handlers of all requests. Removes the handlers that have finished, and returns their answers.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Vec<OutgoingAnswer> {
        let mut complete = Vec::new();
        let mut at = 0;
        while let Some(pending) = self.answers.get_mut(at) {
            let outcome = match catch_panic(|| pending.answer.as_mut().poll(cx)) {
                Ok(Poll::Pending) => {
                    at += 1;
                    continue;
                }
                Ok(Poll::Ready(answer)) => answer.map_err(HandlerError::Refused),
                Err(message) => Err(HandlerError::Panicked(message)),
            };
            let PendingAnswer { request, context, .. } = self.answers.remove(at);
            context.cancel();
            if let Err(error) = &outcome {
                self.handlers.report(&request, error);
            }
            complete.push(OutgoingAnswer { id: request.key, outcome });
        }
        complete
    }

    /// Drops the handlers of all requests without polling them, because the connection has ended.
    pub fn clear(&mut self) {
        for pending in self.answers.drain(..) {
            pending.context.cancel();
        }
    }

    /// Returns whether no handler is processing a request at the moment.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}

impl Drop for PendingAnswers {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The answer of a handler to a request of the server, or the error with which the handler ended. It was not sent yet.
pub struct OutgoingAnswer {
    id: ServerRequestId,
    outcome: Result<Json, HandlerError>,
}

impl OutgoingAnswer {
    /// Sends the answer to the server. If the handler has failed or its answer is invalid, sends an error response.
    pub fn send(self, calls: &mut Calls<'_>, now: Timestamp) {
        let error = match self.outcome {
            Ok(answer) => match calls.answer(self.id, &answer, now) {
                Ok(_) => return,
                Err(error) => RpcError::new(RpcError::INTERNAL_ERROR, format!("{error}")),
            },
            Err(HandlerError::Refused(error)) => error,
            Err(HandlerError::Panicked(message)) => {
                calls.report_handler_panic(self.id, &message, now);
                return;
            }
        };
        calls.refuse(self.id, &error, now);
    }
}
