//! [`Handlers`]: the handlers that the program has set in the options of a connection.

use std::future::ready;
use std::sync::Arc;

use mcpwire_core::{
    Config, CreateMessageParams, ElicitForm, ElicitParams, ElicitUrl, Root, RpcError, ServerRequest, ServerRequestKind,
};

use super::{AnyClientHandler, HandlerCapabilities, HandlerContext, HandlerFuture, method_not_found};

/// A handler that takes the parameters `P` of a request, and returns the future of the answer.
pub(crate) type Handler<P> = Arc<dyn Fn(P, HandlerContext) -> HandlerFuture + Send + Sync>;

type OnAnswerError = Arc<dyn Fn(&ServerRequest, &RpcError) + Send + Sync>;

/// The handlers that the program has set in the options of a connection.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) form: Option<Handler<ElicitForm>>,
    pub(crate) url: Option<Handler<ElicitUrl>>,
    pub(crate) sampling: Option<Handler<CreateMessageParams>>,
    pub(crate) roots: Option<Vec<Root>>,
    /// Handlers of `ConnectOptions::answer`, each with its methods. Later handlers take precedence.
    pub(crate) methods: Vec<(Vec<String>, Handler<ServerRequest>)>,
    /// The object of `ConnectOptions::handler`, which answers requests for which there is no other handler.
    pub(crate) object: Option<Arc<dyn AnyClientHandler>>,
    pub(crate) on_error: Option<OnAnswerError>,
}

impl Handlers {
    /// Declares in the engine's configuration the capabilities that the handlers need.
    pub(crate) fn declare(&self, config: &mut Config) {
        let capabilities = HandlerCapabilities {
            form: self.form.is_some(),
            url: self.url.is_some(),
            sampling: self.sampling.is_some(),
            roots: self.roots.is_some(),
            methods: self.methods.iter().flat_map(|(methods, _)| methods.clone()).collect(),
        };
        capabilities.declare(config);
        if let Some(object) = &self.object {
            object.capabilities().declare(config);
        }
    }

    /// Selects the handler of a request, calls it, and returns the future of its answer.
    ///
    /// Handlers for one kind of request, such as forms, take precedence over handlers for named methods. The handler object is
    /// last.
    pub(super) fn start(&self, request: &ServerRequest, context: &HandlerContext) -> Result<HandlerFuture, RpcError> {
        // `request()` also validates the parameters of the specification's methods, so that no handler receives invalid
        // parameters.
        match (request.request()?, self) {
            (ServerRequestKind::Elicit(ElicitParams::Form(form)), Handlers { form: Some(handler), .. }) => {
                return Ok(handler(form, context.clone()));
            }
            (ServerRequestKind::Elicit(ElicitParams::Url(url)), Handlers { url: Some(handler), .. }) => {
                return Ok(handler(url, context.clone()));
            }
            (ServerRequestKind::Sample(params), Handlers { sampling: Some(handler), .. }) => {
                return Ok(handler(*params, context.clone()));
            }
            _ => {}
        }
        let by_name = self.methods.iter().rev().find(|(methods, _)| methods.contains(&request.method));
        if let Some((_, handler)) = by_name {
            return Ok(handler(request.clone(), context.clone()));
        }
        match &self.object {
            Some(object) => Arc::clone(object).start(request, context.clone()),
            None => Ok(Box::pin(ready(Err(method_not_found())))),
        }
    }
}
