//! [`PendingAnswers`]: the requests of a server that handlers are processing.

use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use mcpwire_core::{Calls, Json, ListRootsResult, Root, RpcError, ServerRequest, ServerRequestId, Timestamp};

use super::handlers::{Handlers, RootsAnswer};
use super::{HandlerContext, HandlerFuture};
use crate::{HandlerError, PanicCallbacks, PanicSource, catch_panic};

const LIST_ROOTS: &str = "roots/list";

/// The handlers of one connection.
pub trait ConnectionHandlers: Send + Sync {
    /// Creates an empty table of requests. Each process of a restarted server has its own table.
    fn pending(self: Arc<Self>) -> Box<dyn PendingAnswers>;

    /// Sets the roots in the answer to `roots/list`.
    fn set_roots(&self, roots: Vec<Root>);
}

/// The requests of a server that handlers are processing.
///
/// The methods call the program's code. Call them without holding a lock.
pub trait PendingAnswers: Send {
    /// Calls the handler of a request. [`PendingAnswers::poll`] polls the future that the handler returns.
    fn start(&mut self, request: ServerRequest);

    /// Drops the handler of a request that no longer needs an answer. The handler is polled once before, to clean up.
    fn cancel(&mut self, id: ServerRequestId, cx: &mut Context<'_>);

    /// Polls the handlers of all requests, and returns the answers that are complete.
    fn poll(&mut self, cx: &mut Context<'_>) -> Vec<OutgoingAnswer>;

    /// Returns whether no handler is processing a request.
    fn is_empty(&self) -> bool;
}

/// The answer to a request of the server, or an error response. [`OutgoingAnswer::send`] sends it.
///
/// A trait object, so that a client without handlers contains only the code that refuses requests.
pub struct OutgoingAnswer(Box<dyn SendAnswer>);

trait SendAnswer: Send {
    fn send(self: Box<Self>, calls: &mut Calls<'_>, now: Timestamp);
}

impl OutgoingAnswer {
    /// Creates an error response to a request that has no handler.
    pub fn refused(id: ServerRequestId, error: RpcError) -> Self {
        OutgoingAnswer(Box::new(Refusal { id, error }))
    }

    /// Sends the answer. If the answer is invalid, sends an error response instead.
    pub fn send(self, calls: &mut Calls<'_>, now: Timestamp) {
        self.0.send(calls, now);
    }
}

struct Refusal {
    id: ServerRequestId,
    error: RpcError,
}

impl SendAnswer for Refusal {
    fn send(self: Box<Self>, calls: &mut Calls<'_>, now: Timestamp) {
        calls.refuse(self.id, &self.error, now);
    }
}

/// The answer of a handler, or the reason why there is none.
struct HandlerOutcome {
    id: ServerRequestId,
    outcome: Result<Json, HandlerError>,
}

impl SendAnswer for HandlerOutcome {
    fn send(self: Box<Self>, calls: &mut Calls<'_>, now: Timestamp) {
        let HandlerOutcome { id, outcome } = *self;
        let error = match outcome {
            Ok(answer) => match calls.answer(id, &answer, now) {
                Ok(_) => return,
                Err(error) => RpcError::new(RpcError::INTERNAL_ERROR, format!("{error}")),
            },
            Err(HandlerError::Refused(error)) => error,
            Err(HandlerError::Panicked(message)) => {
                calls.report_handler_panic(id, &message, now);
                return;
            }
        };
        calls.refuse(id, &error, now);
    }
}

/// Calls the handlers of the options for the requests on one connection.
pub(super) struct HandlerDispatcher {
    handlers: Handlers,
    /// The answer to `roots/list`, which `set_roots` changes. `None` if the program has set no roots.
    roots: Mutex<Option<RootsAnswer>>,
    server: Arc<str>,
    panics: PanicCallbacks,
}

impl HandlerDispatcher {
    pub(super) fn new(mut handlers: Handlers, server: Arc<str>, panics: PanicCallbacks) -> Self {
        let roots = Mutex::new(handlers.roots.take().map(roots_answer));
        HandlerDispatcher { handlers, roots, server, panics }
    }

    fn start(&self, request: &ServerRequest, context: &HandlerContext) -> Result<HandlerFuture, RpcError> {
        if request.method == LIST_ROOTS
            && let Some(answer) = self.roots.lock().unwrap_or_else(PoisonError::into_inner).clone()
        {
            return Ok(Box::pin(ready(answer)));
        }
        self.handlers.start(request, context)
    }

    /// Reports to the program that a handler refused or panicked.
    fn report(&self, request: &ServerRequest, error: &HandlerError) {
        if let HandlerError::Panicked(message) = error {
            self.panics.report(PanicSource::Handler { method: request.method.clone() }, message.clone());
        }
        if let Some(on_error) = &self.handlers.on_error {
            self.panics.catch(PanicSource::OnAnswerError, || on_error(request, &error.to_rpc_error(request)));
        }
    }
}

fn roots_answer(roots: Vec<Root>) -> RootsAnswer {
    ListRootsResult::new(roots).answer()
}

impl ConnectionHandlers for HandlerDispatcher {
    fn pending(self: Arc<Self>) -> Box<dyn PendingAnswers> {
        Box::new(PendingAnswerTable { dispatcher: self, answers: Vec::new() })
    }

    fn set_roots(&self, roots: Vec<Root>) {
        *self.roots.lock().unwrap_or_else(PoisonError::into_inner) = Some(roots_answer(roots));
    }
}

struct PendingAnswerTable {
    dispatcher: Arc<HandlerDispatcher>,
    /// In the order in which the requests arrived.
    answers: Vec<PendingAnswer>,
}

struct PendingAnswer {
    request: ServerRequest,
    context: HandlerContext,
    answer: HandlerFuture,
}

impl PendingAnswers for PendingAnswerTable {
    fn start(&mut self, mut request: ServerRequest) {
        let context = HandlerContext::new(&self.dispatcher.server, &request);
        let answer = match catch_panic(|| self.dispatcher.start(&request, &context)) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Box::pin(ready(Err(error))),
            // Panics again when it is polled, where `poll` reports it.
            Err(message) => Box::pin(async move { std::panic::resume_unwind(Box::new(message)) }),
        };
        // The handler has its own copy of the parameters. Only the callback for errors needs another.
        request.params = request.params.filter(|_| self.dispatcher.handlers.on_error.is_some());
        self.answers.push(PendingAnswer { request, context, answer });
    }

    fn cancel(&mut self, id: ServerRequestId, cx: &mut Context<'_>) {
        let Some(at) = self.answers.iter().position(|pending| pending.request.key == id) else { return };
        let mut pending = self.answers.remove(at);
        pending.context.cancel();
        if let Err(message) = catch_panic(move || drop(pending.answer.as_mut().poll(cx))) {
            let method = pending.request.method;
            self.dispatcher.panics.report(PanicSource::Handler { method }, message);
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Vec<OutgoingAnswer> {
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
                self.dispatcher.report(&request, error);
            }
            complete.push(OutgoingAnswer(Box::new(HandlerOutcome { id: request.key, outcome })));
        }
        complete
    }

    fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}

impl Drop for PendingAnswerTable {
    fn drop(&mut self) {
        for pending in &self.answers {
            pending.context.cancel();
        }
    }
}
