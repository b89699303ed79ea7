//! Who answers what servers ask for.

use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Context;

use mcpwire_core::{
    Ask, AskRequest, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitParams, ElicitResult,
    ElicitUrl, ListRootsResult, Root, RpcError,
};

use crate::answers::{Answering, Answers, AnyAnswer};
use crate::shared::Shared;
use crate::state::Asked;

/// What a handler is thinking about.
pub(crate) type Thinking<T> = Pin<Box<dyn Future<Output = Result<T, RpcError>> + Send>>;

/// A handler that answers one thing.
pub(crate) type Handler<Q, A> = Box<dyn Fn(Q) -> Thinking<A> + Send + Sync>;

type OnError = Box<dyn Fn(&Ask, &RpcError) + Send + Sync>;

/// All who answer. Those that answer one thing go before those that answer anything.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) form: Option<Handler<ElicitForm, ElicitResult>>,
    pub(crate) url: Option<Handler<ElicitUrl, ElicitAction>>,
    pub(crate) sampling: Option<Handler<CreateMessageParams, CreateMessageResult>>,
    pub(crate) roots: Mutex<Option<Vec<Root>>>,
    /// By the methods that they answer.
    pub(crate) others: Vec<(Vec<String>, Arc<dyn AnyAnswer>)>,
    /// Told of what could not be answered.
    pub(crate) on_error: Option<OnError>,
    /// What lets them answer. Set where there is one of them, so that no other program has to carry what it takes.
    serve: OnceLock<Serve>,
}

type Serve = fn(&mut Answers, &Shared, Vec<Asked>, &mut Context<'_>);

impl Handlers {
    /// There is somebody who answers.
    pub(crate) fn exist(&self) {
        let _ = self.serve.set(Answers::serve);
    }

    /// The future of the answer to a request, or of what to refuse it with.
    pub(crate) fn begin(&self, ask: &Ask) -> Answering {
        self.find(ask).unwrap_or_else(|error| Box::pin(ready(Err(error))))
    }

    /// Changes the roots.
    pub(crate) fn set_roots(&self, roots: Vec<Root>) {
        self.exist();
        *self.roots.lock().unwrap_or_else(PoisonError::into_inner) = Some(roots);
    }

    fn find(&self, ask: &Ask) -> Result<Answering, RpcError> {
        Ok(match (ask.request()?, self) {
            (AskRequest::Elicit(ElicitParams::Form(form)), Handlers { form: Some(handler), .. }) => {
                let thinking = handler(form.clone());
                Box::pin(async move { form.answer(thinking.await?) })
            }
            (AskRequest::Elicit(ElicitParams::Url(url)), Handlers { url: Some(handler), .. }) => {
                let thinking = handler(url.clone());
                Box::pin(async move { url.answer(thinking.await?) })
            }
            (AskRequest::Sample(params), Handlers { sampling: Some(handler), .. }) => {
                let thinking = handler(*params);
                Box::pin(async move { thinking.await?.answer() })
            }
            (AskRequest::ListRoots, _) if self.roots().is_some() => {
                Box::pin(ready(ListRootsResult::new(self.roots().unwrap_or_default()).answer()))
            }
            _ => {
                let answerer = self.others.iter().rev().find(|(methods, _)| methods.contains(&ask.method));
                match answerer {
                    Some((_, answerer)) => Arc::clone(answerer).begin(ask.clone()),
                    None => return Err(unknown()),
                }
            }
        })
    }

    fn roots(&self) -> Option<Vec<Root>> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Lets all who answer go on, and sends what they have come to. Not under the lock.
pub(crate) fn serve(answers: &mut Answers, shared: &Shared, asks: Vec<Asked>, cx: &mut Context<'_>) {
    match shared.handlers.as_ref().and_then(|handlers| handlers.serve.get()) {
        Some(serve) => serve(answers, shared, asks, cx),
        None if asks.is_empty() => {}
        None => refuse(shared, &asks),
    }
}

/// Refuses what nobody answers.
fn refuse(shared: &Shared, asks: &[Asked]) {
    for asked in asks {
        if let Asked::Asks(ask) = asked {
            let now = shared.clock.now();
            shared.tell(|state| state.engine.refuse(ask.key, &unknown(), now));
        }
    }
}

fn unknown() -> RpcError {
    RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found")
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").field("roots", &self.roots()).finish_non_exhaustive()
    }
}
