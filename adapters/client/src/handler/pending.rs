//! [`PendingAnswers`]: the handlers that have not answered yet.

use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use mcpwire_core::{Calls, Json, ListRootsResult, Root, RpcError, ServerRequest, ServerRequestId, Timestamp};

use super::handlers::{Handlers, RootsAnswer};
use super::{HandlerContext, HandlerFuture};
use crate::{HandlerError, PanicSource, Panics, catch_panic};

const LIST_ROOTS: &str = "roots/list";

/// The handlers of one connection.
pub trait ConnectionHandlers: Send + Sync {
    /// Returns an empty table of pending answers, for one process of the server.
    fn pending(self: Arc<Self>) -> Box<dyn PendingAnswers>;

    /// Changes the roots that `roots/list` is answered with.
    fn set_roots(&self, roots: Vec<Root>);
}

/// The requests of a server whose handlers have not answered yet.
///
/// These methods call the program's code. No lock may be held meanwhile.
pub trait PendingAnswers: Send {
    /// Starts the answer to a request.
    fn start(&mut self, request: ServerRequest);

    /// Drops the answer to a request that needs none any more, after the handler has had the chance to notice.
    fn cancel(&mut self, id: ServerRequestId, cx: &mut Context<'_>);

    /// Polls all pending answers, and returns those that are complete.
    fn poll(&mut self, cx: &mut Context<'_>) -> Vec<Answered>;

    /// Returns whether no answer is pending.
    fn is_empty(&self) -> bool;
}

/// The answer to a request of the server, to be sent.
///
/// A trait object, so that a client without handlers contains only the code that refuses requests.
pub struct Answered(Box<dyn SendAnswer>);

trait SendAnswer: Send {
    fn send(self: Box<Self>, calls: &mut Calls<'_>, now: Timestamp);
}

impl Answered {
    /// Creates the refusal of a request that has no handler.
    pub fn refused(id: ServerRequestId, error: RpcError) -> Self {
        Answered(Box::new(Refusal { id, error }))
    }

    /// Answers or refuses the request of the server. An answer that cannot be sent becomes a refusal.
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

/// The outcome of a handler.
struct Outcome {
    id: ServerRequestId,
    outcome: Result<Json, HandlerError>,
}

impl SendAnswer for Outcome {
    fn send(self: Box<Self>, calls: &mut Calls<'_>, now: Timestamp) {
        let Outcome { id, outcome } = *self;
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

/// The handlers of a connection, with what belongs to that connection alone.
pub(super) struct Connection {
    handlers: Handlers,
    /// The answer to `roots/list`, which may change while the connection is open. `None` if the program has set no roots.
    roots: Mutex<Option<RootsAnswer>>,
    server: Arc<str>,
    panics: Panics,
}

impl Connection {
    pub(super) fn new(mut handlers: Handlers, server: Arc<str>, panics: Panics) -> Self {
        let roots = Mutex::new(handlers.roots.take().map(roots_answer));
        Connection { handlers, roots, server, panics }
    }

    fn start(&self, request: &ServerRequest, context: &HandlerContext) -> Result<HandlerFuture, RpcError> {
        if request.method == LIST_ROOTS
            && let Some(answer) = self.roots.lock().unwrap_or_else(PoisonError::into_inner).clone()
        {
            return Ok(Box::pin(ready(answer)));
        }
        self.handlers.start(request, context)
    }

    /// Reports a handler that did not answer to the program.
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

impl ConnectionHandlers for Connection {
    fn pending(self: Arc<Self>) -> Box<dyn PendingAnswers> {
        Box::new(Pending { connection: self, answers: Vec::new() })
    }

    fn set_roots(&self, roots: Vec<Root>) {
        *self.roots.lock().unwrap_or_else(PoisonError::into_inner) = Some(roots_answer(roots));
    }
}

struct Pending {
    connection: Arc<Connection>,
    /// Oldest first.
    answers: Vec<PendingAnswer>,
}

struct PendingAnswer {
    request: ServerRequest,
    context: HandlerContext,
    answer: HandlerFuture,
}

impl PendingAnswers for Pending {
    fn start(&mut self, mut request: ServerRequest) {
        let context = HandlerContext::new(&self.connection.server, &request);
        let answer = match catch_panic(|| self.connection.start(&request, &context)) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Box::pin(ready(Err(error))),
            // Panics where the others do: when it is polled.
            Err(message) => Box::pin(async move { std::panic::resume_unwind(Box::new(message)) }),
        };
        // The handler has a copy. Only the callback for errors needs another.
        request.params = request.params.filter(|_| self.connection.handlers.on_error.is_some());
        self.answers.push(PendingAnswer { request, context, answer });
    }

    fn cancel(&mut self, id: ServerRequestId, cx: &mut Context<'_>) {
        let Some(at) = self.answers.iter().position(|pending| pending.request.key == id) else { return };
        let mut pending = self.answers.remove(at);
        pending.context.cancel();
        if let Err(message) = catch_panic(move || drop(pending.answer.as_mut().poll(cx))) {
            let method = pending.request.method;
            self.connection.panics.report(PanicSource::Handler { method }, message);
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Vec<Answered> {
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
                self.connection.report(&request, error);
            }
            complete.push(Answered(Box::new(Outcome { id: request.key, outcome })));
        }
        complete
    }

    fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        for pending in &self.answers {
            pending.context.cancel();
        }
    }
}
