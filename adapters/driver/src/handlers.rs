//! Who answers what servers ask for.

use std::fmt;
use std::future::{Future, ready};
use std::sync::{Arc, Mutex, PoisonError};

use mcpwire_core::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitParams, ElicitResult, ElicitUrl, Json,
    ListRootsResult, Root, RpcError, ServerRequest, ServerRequestKind,
};

use crate::answers::{Answer, Answering};

const ELICIT: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";
const LIST_ROOTS: &str = "roots/list";

/// Answers the requests of one kind: `None` for a request of any other kind. An error is what the server is refused with.
///
/// What reads the parameters and checks the answer is part of the handler, so a program has it for what it answers only.
pub(crate) type Handler = Box<dyn Fn(&ServerRequest) -> Result<Option<Answering>, RpcError> + Send + Sync>;

type OnError = Box<dyn Fn(&ServerRequest, &RpcError) + Send + Sync>;

/// All who answer. Those that answer one thing go before those that answer anything.
#[derive(Default)]
pub(crate) struct Handlers {
    pub(crate) form: Option<Handler>,
    pub(crate) url: Option<Handler>,
    pub(crate) sampling: Option<Handler>,
    /// The answer to `roots/list`.
    pub(crate) roots: Mutex<Option<Result<Json, RpcError>>>,
    /// Those of [`ConnectOptions::answer`](crate::ConnectOptions::answer), the last of which goes first.
    pub(crate) others: Vec<Handler>,
    /// Told of what could not be answered.
    pub(crate) on_error: Option<OnError>,
}

impl Handlers {
    /// The future of the answer to a request, or of what to refuse it with.
    pub(crate) fn begin(&self, ask: &ServerRequest) -> Answering {
        self.find(ask).unwrap_or_else(|error| Box::pin(ready(Err(error))))
    }

    /// Changes the roots.
    pub(crate) fn set_roots(&self, roots: Vec<Root>) {
        let answer = ListRootsResult::new(roots).answer();
        *self.roots.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }

    fn find(&self, ask: &ServerRequest) -> Result<Answering, RpcError> {
        if ask.method == LIST_ROOTS
            && let Some(answer) = self.roots()
        {
            return Ok(Box::pin(ready(answer)));
        }
        let of_one_kind = [&self.form, &self.url, &self.sampling].into_iter().flatten();
        for handler in of_one_kind.chain(self.others.iter().rev()) {
            if let Some(answering) = handler(ask)? {
                return Ok(answering);
            }
        }
        Err(unknown())
    }

    fn roots(&self) -> Option<Result<Json, RpcError>> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A handler of forms that a person fills in.
pub(crate) fn form<F>(handler: impl Fn(ElicitForm) -> F + Send + Sync + 'static) -> Handler
where
    F: Future<Output = Result<ElicitResult, RpcError>> + Send + 'static,
{
    Box::new(move |ask| {
        if ask.method != ELICIT {
            return Ok(None);
        }
        let ServerRequestKind::Elicit(ElicitParams::Form(form)) = ask.request()? else { return Ok(None) };
        let thinking = handler(form.clone());
        Ok(Some(Box::pin(async move { form.answer(thinking.await?) })))
    })
}

/// A handler of addresses that a person visits.
pub(crate) fn url<F>(handler: impl Fn(ElicitUrl) -> F + Send + Sync + 'static) -> Handler
where
    F: Future<Output = Result<ElicitAction, RpcError>> + Send + 'static,
{
    Box::new(move |ask| {
        if ask.method != ELICIT {
            return Ok(None);
        }
        let ServerRequestKind::Elicit(ElicitParams::Url(url)) = ask.request()? else { return Ok(None) };
        let thinking = handler(url.clone());
        Ok(Some(Box::pin(async move { url.answer(thinking.await?) })))
    })
}

/// A handler of what a language model is asked.
pub(crate) fn sampling<F>(handler: impl Fn(CreateMessageParams) -> F + Send + Sync + 'static) -> Handler
where
    F: Future<Output = Result<CreateMessageResult, RpcError>> + Send + 'static,
{
    Box::new(move |ask| {
        if ask.method != SAMPLE {
            return Ok(None);
        }
        let ServerRequestKind::Sample(params) = ask.request()? else { return Ok(None) };
        let thinking = handler(*params);
        Ok(Some(Box::pin(async move { thinking.await?.answer() })))
    })
}

/// A handler of any methods.
pub(crate) fn other(methods: Vec<String>, answer: impl Answer) -> Handler {
    let answer = Arc::new(answer);
    Box::new(move |ask| {
        if !methods.contains(&ask.method) {
            return Ok(None);
        }
        // Parameters of a method of the protocol are checked here too, so that no handler gets what is none.
        ask.request()?;
        let (answer, ask) = (Arc::clone(&answer), ask.clone());
        // What the future borrows lives in the same future.
        Ok(Some(Box::pin(async move { answer.answer(&ask).await })))
    })
}

/// The refusal of a request that no handler answers.
pub(crate) fn unknown() -> RpcError {
    RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found")
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").field("roots", &self.roots()).finish_non_exhaustive()
    }
}
