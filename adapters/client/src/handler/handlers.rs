//! [`Handlers`]: the handlers in the options of a connection.

use std::future::{Future, ready};
use std::sync::Arc;

use mcpwire_core::{
    Config, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitParams, ElicitResult, ElicitUrl,
    Json, Root, RpcError, ServerRequest, ServerRequestKind,
};

use super::{AnyClientHandler, HandlerContext, HandlerFuture, RequestHandler, method_not_found};

const ELICIT: &str = "elicitation/create";
const SAMPLE: &str = "sampling/createMessage";

/// Returns the future of the answer to a request, `None` for a kind of request that it does not answer, or an error.
///
/// The function also decodes the parameters and validates the answer.
type Handler = Arc<dyn Fn(&ServerRequest, &HandlerContext) -> Result<Option<HandlerFuture>, RpcError> + Send + Sync>;

type OnAnswerError = Arc<dyn Fn(&ServerRequest, &RpcError) + Send + Sync>;

/// The handlers in the options of a connection.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) form: Option<Handler>,
    pub(crate) url: Option<Handler>,
    pub(crate) sampling: Option<Handler>,
    pub(crate) roots: Option<Vec<Root>>,
    /// Handlers with the names of their methods. Later handlers take precedence.
    pub(crate) methods: Vec<(Vec<String>, Handler)>,
    /// Answers requests for which there is no other handler.
    pub(crate) object: Option<Arc<dyn AnyClientHandler>>,
    pub(crate) on_error: Option<OnAnswerError>,
}

impl Handlers {
    /// Declares the capabilities of the handlers in the configuration.
    pub(crate) fn declare(&self, config: &mut Config) {
        if self.form.is_some() || self.url.is_some() {
            config.answer_elicitation(self.form.is_some(), self.url.is_some());
        }
        if self.sampling.is_some() {
            config.answer_sampling();
        }
        if self.roots.is_some() {
            config.answer_roots();
        }
        for method in self.methods.iter().flat_map(|(methods, _)| methods) {
            config.answer(method);
        }
        if let Some(object) = &self.object {
            object.capabilities().declare(config);
        }
    }

    /// Returns the future of the answer to a request.
    ///
    /// Handlers of one kind of request take precedence over handlers of named methods, and these over the handler object.
    pub(super) fn start(&self, request: &ServerRequest, context: &HandlerContext) -> Result<HandlerFuture, RpcError> {
        for handler in [&self.form, &self.url, &self.sampling].into_iter().flatten() {
            if let Some(answer) = handler(request, context)? {
                return Ok(answer);
            }
        }
        let by_name = self.methods.iter().rev().find(|(methods, _)| methods.contains(&request.method));
        if let Some((_, handler)) = by_name
            && let Some(answer) = handler(request, context)?
        {
            return Ok(answer);
        }
        match &self.object {
            Some(object) => Arc::clone(object).start(request, context.clone()),
            None => Ok(Box::pin(ready(Err(method_not_found())))),
        }
    }
}

/// Creates a handler of `elicitation/create` in form mode.
pub(crate) fn form<F>(handler: impl Fn(ElicitForm, HandlerContext) -> F + Send + Sync + 'static) -> Handler
where
    F: Future<Output = Result<ElicitResult, RpcError>> + Send + 'static,
{
    Arc::new(move |request, context| {
        if request.method != ELICIT {
            return Ok(None);
        }
        let ServerRequestKind::Elicit(ElicitParams::Form(form)) = request.request()? else { return Ok(None) };
        let answer = handler(form.clone(), context.clone());
        Ok(Some(Box::pin(async move { form.answer(answer.await?) })))
    })
}

/// Creates a handler of `elicitation/create` in URL mode.
pub(crate) fn url<F>(handler: impl Fn(ElicitUrl, HandlerContext) -> F + Send + Sync + 'static) -> Handler
where
    F: Future<Output = Result<ElicitAction, RpcError>> + Send + 'static,
{
    Arc::new(move |request, context| {
        if request.method != ELICIT {
            return Ok(None);
        }
        let ServerRequestKind::Elicit(ElicitParams::Url(url)) = request.request()? else { return Ok(None) };
        let answer = handler(url.clone(), context.clone());
        Ok(Some(Box::pin(async move { url.answer(answer.await?) })))
    })
}

/// Creates a handler of `sampling/createMessage`.
pub(crate) fn sampling<F>(handler: impl Fn(CreateMessageParams, HandlerContext) -> F + Send + Sync + 'static) -> Handler
where
    F: Future<Output = Result<CreateMessageResult, RpcError>> + Send + 'static,
{
    Arc::new(move |request, context| {
        if request.method != SAMPLE {
            return Ok(None);
        }
        let ServerRequestKind::Sample(params) = request.request()? else { return Ok(None) };
        let answer = handler(*params, context.clone());
        Ok(Some(Box::pin(async move { answer.await?.answer() })))
    })
}

/// Creates a handler of any method.
pub(crate) fn named(handler: impl RequestHandler) -> Handler {
    let handler = Arc::new(handler);
    Arc::new(move |request, context| {
        // Validates the parameters of methods of the specification, so that no handler receives invalid ones.
        request.request()?;
        let (handler, request, context) = (Arc::clone(&handler), request.clone(), context.clone());
        // The future owns the handler, from which `handle` borrows.
        Ok(Some(Box::pin(async move { handler.handle(request, context).await }) as HandlerFuture))
    })
}

/// The answer to `roots/list`, or the error that refuses it.
pub(super) type RootsAnswer = Result<Json, RpcError>;
