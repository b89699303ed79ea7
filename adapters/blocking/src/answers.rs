//! Who answers what servers ask for.

use std::fmt;

use mcpwire_client::{HandlerError, PanicSource, Panics, catch_panic};
use mcpwire_core::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitParams, ElicitResult, ElicitUrl, Json,
    ListRootsResult, Root, RpcError, ServerRequest, ServerRequestKind,
};

/// Answers any request of the server's.
type Answerer = Box<dyn FnMut(&ServerRequest) -> Result<Json, RpcError> + Send>;

type OnForm = Box<dyn FnMut(&ElicitForm) -> Result<ElicitResult, RpcError> + Send>;
type OnUrl = Box<dyn FnMut(&ElicitUrl) -> Result<ElicitAction, RpcError> + Send>;
type OnSampling = Box<dyn FnMut(&CreateMessageParams) -> Result<CreateMessageResult, RpcError> + Send>;
type OnError = Box<dyn FnMut(&ServerRequest, &RpcError) + Send>;

/// All who answer. Those that answer one thing go before those that answer anything.
#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) form: Option<OnForm>,
    pub(crate) url: Option<OnUrl>,
    pub(crate) sampling: Option<OnSampling>,
    pub(crate) roots: Option<Vec<Root>>,
    /// By the methods that they answer.
    pub(crate) others: Vec<(Vec<String>, Answerer)>,
    /// Told of what could not be answered.
    pub(crate) on_error: Option<OnError>,
}

impl Answers {
    /// The answer to a request, or why there is none.
    pub(crate) fn answer(&mut self, ask: &ServerRequest, panics: &Panics) -> Result<Json, HandlerError> {
        let answer = match catch_panic(|| self.find(ask)) {
            Ok(answer) => answer.map_err(HandlerError::Refused),
            Err(message) => {
                panics.report(PanicSource::Handler { method: ask.method.clone() }, message.clone());
                Err(HandlerError::Panicked(message))
            }
        };
        if let (Err(error), Some(on_error)) = (&answer, &mut self.on_error) {
            panics.catch(PanicSource::OnAnswerError, || on_error(ask, &error.to_rpc_error(ask)));
        }
        answer
    }

    fn find(&mut self, ask: &ServerRequest) -> Result<Json, RpcError> {
        match (ask.request()?, self) {
            (ServerRequestKind::Elicit(ElicitParams::Form(form)), Answers { form: Some(handler), .. }) => {
                form.answer(handler(&form)?)
            }
            (ServerRequestKind::Elicit(ElicitParams::Url(url)), Answers { url: Some(handler), .. }) => {
                url.answer(handler(&url)?)
            }
            (ServerRequestKind::Sample(params), Answers { sampling: Some(handler), .. }) => handler(&params)?.answer(),
            (ServerRequestKind::ListRoots, Answers { roots: Some(roots), .. }) => {
                ListRootsResult::new(roots.iter().cloned()).answer()
            }
            (_, Answers { others, .. }) => {
                let answerer = others.iter_mut().rev().find(|(methods, _)| methods.contains(&ask.method));
                match answerer {
                    Some((_, answerer)) => answerer(ask),
                    None => Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found")),
                }
            }
        }
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").field("roots", &self.roots).finish_non_exhaustive()
    }
}
