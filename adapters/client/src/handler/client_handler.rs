//! [`ClientHandler`]: an object that answers the requests of servers.

use std::future::{Future, ready};
use std::sync::Arc;

use mcpwire_core::{
    Config, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitParams, ElicitResult, ElicitUrl,
    Json, ListRootsResult, Notification, Root, RpcError, ServerRequest, ServerRequestKind,
};

use super::{HandlerContext, HandlerFuture, method_not_found};

/// Answers the requests of servers, and receives their notifications. Set by
/// [`ConnectOptions::handler`](crate::ConnectOptions::handler).
///
/// Implement the methods for the requests that the program can answer, and return these in [`ClientHandler::capabilities`].
/// The default methods refuse the request. Closures for one kind of request, such as
/// [`ConnectOptions::on_elicitation`](crate::ConnectOptions::on_elicitation), take precedence over this object.
///
/// `Arc<T>` and `Box<T>` implement this trait if `T` does, so a program can share its handler.
///
/// ```
/// # mod mcpwire { pub use mcpwire_client::{ClientHandler, ConnectOptions, HandlerCapabilities, HandlerContext}; pub mod
/// # types { pub use mcpwire_core::{ElicitForm, ElicitResult, Root, RpcError}; } }
/// use mcpwire::{ClientHandler, ConnectOptions, HandlerCapabilities, HandlerContext};
/// use mcpwire::types::{ElicitForm, ElicitResult, Root, RpcError};
///
/// struct Assistant {
///     folder: String,
/// }
///
/// impl ClientHandler for Assistant {
///     fn capabilities(&self) -> HandlerCapabilities {
///         HandlerCapabilities::new().form_elicitation().roots()
///     }
///
///     async fn elicit_form(&self, form: ElicitForm, context: HandlerContext) -> Result<ElicitResult, RpcError> {
///         println!("{} asks: {}", context.server(), form.message);
///         Ok(ElicitResult::decline())
///     }
///
///     async fn list_roots(&self, _: HandlerContext) -> Result<Vec<Root>, RpcError> {
///         Ok(vec![Root::new(&self.folder)])
///     }
/// }
///
/// let options = ConnectOptions::default().handler(Assistant { folder: "file:///home/me/project".into() });
/// ```
///
/// # Rules
///
/// * The task that drives the connection polls the returned future. The future may wait for long and may call the client, but
///   must not block the thread.
/// * In the blocking client, the thread that waits for the server polls the future. The future may block that thread, which
///   blocks the connection.
/// * When the answer is no longer needed, [`HandlerContext::cancelled`] resolves. Then the future is polled once more and dropped.
/// * If the method or the future panics, the request is refused with an internal error, and the connection continues. See
///   [`ConnectOptions`](crate::ConnectOptions#panics).
pub trait ClientHandler: Send + Sync + 'static {
    /// Returns the requests that this handler answers. The client declares the capabilities for them to the server.
    ///
    /// Called once for each connection, before the connection is opened.
    fn capabilities(&self) -> HandlerCapabilities;

    /// Asks the user to fill in a form (`elicitation/create` in form mode).
    ///
    /// The client adds the defaults of the form to the result, and validates the result, before it sends the result.
    fn elicit_form(
        &self,
        form: ElicitForm,
        context: HandlerContext,
    ) -> impl Future<Output = Result<ElicitResult, RpcError>> + Send {
        let _ = (form, context);
        ready(Err(method_not_found()))
    }

    /// Asks the user to visit a URL (`elicitation/create` in URL mode).
    ///
    /// Show the whole URL. [`ElicitAction::Accept`] means that the user consents, not that the interaction is complete.
    fn elicit_url(
        &self,
        url: ElicitUrl,
        context: HandlerContext,
    ) -> impl Future<Output = Result<ElicitAction, RpcError>> + Send {
        let _ = (url, context);
        ready(Err(method_not_found()))
    }

    /// Requests a message from a language model (`sampling/createMessage`).
    fn create_message(
        &self,
        params: CreateMessageParams,
        context: HandlerContext,
    ) -> impl Future<Output = Result<CreateMessageResult, RpcError>> + Send {
        let _ = (params, context);
        ready(Err(method_not_found()))
    }

    /// Returns the root directories (`roots/list`).
    fn list_roots(&self, context: HandlerContext) -> impl Future<Output = Result<Vec<Root>, RpcError>> + Send {
        let _ = context;
        ready(Err(method_not_found()))
    }

    /// Answers a request of a method that [`HandlerCapabilities::method`] has added. The answer is a JSON object.
    fn request(
        &self,
        request: ServerRequest,
        context: HandlerContext,
    ) -> impl Future<Output = Result<Json, RpcError>> + Send {
        let _ = (request, context);
        ready(Err(method_not_found()))
    }

    /// Receives a notification of the server.
    ///
    /// The client calls this method for one notification at a time, in order. The method should return quickly, because it
    /// blocks the connection.
    fn notification(&self, server: &str, notification: &Notification) {
        let _ = (server, notification);
    }
}

macro_rules! handler_behind_pointer {
    ($Pointer:ident) => {
        impl<T: ClientHandler> ClientHandler for $Pointer<T> {
            fn capabilities(&self) -> HandlerCapabilities {
                T::capabilities(self)
            }

            fn elicit_form(
                &self,
                form: ElicitForm,
                context: HandlerContext,
            ) -> impl Future<Output = Result<ElicitResult, RpcError>> + Send {
                T::elicit_form(self, form, context)
            }

            fn elicit_url(
                &self,
                url: ElicitUrl,
                context: HandlerContext,
            ) -> impl Future<Output = Result<ElicitAction, RpcError>> + Send {
                T::elicit_url(self, url, context)
            }

            fn create_message(
                &self,
                params: CreateMessageParams,
                context: HandlerContext,
            ) -> impl Future<Output = Result<CreateMessageResult, RpcError>> + Send {
                T::create_message(self, params, context)
            }

            fn list_roots(&self, context: HandlerContext) -> impl Future<Output = Result<Vec<Root>, RpcError>> + Send {
                T::list_roots(self, context)
            }

            fn request(
                &self,
                request: ServerRequest,
                context: HandlerContext,
            ) -> impl Future<Output = Result<Json, RpcError>> + Send {
                T::request(self, request, context)
            }

            fn notification(&self, server: &str, notification: &Notification) {
                T::notification(self, server, notification);
            }
        }
    };
}

handler_behind_pointer!(Arc);
handler_behind_pointer!(Box);

/// The requests that a [`ClientHandler`] answers. Empty by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each method of the handler, all independent")]
#[must_use = "capabilities have no effect until they are returned"]
pub struct HandlerCapabilities {
    pub(super) form: bool,
    pub(super) url: bool,
    pub(super) sampling: bool,
    pub(super) roots: bool,
    pub(super) methods: Vec<String>,
}

impl HandlerCapabilities {
    /// Creates an empty set.
    pub fn new() -> Self {
        HandlerCapabilities::default()
    }

    crate::setters! {
        /// Adds [`ClientHandler::elicit_form`].
        fn form_elicitation() => form = true;

        /// Adds [`ClientHandler::elicit_url`].
        fn url_elicitation() => url = true;

        /// Adds [`ClientHandler::create_message`], for requests without tools.
        ///
        /// To declare support for tools, use
        /// [`ClientCapabilities::with_sampling`](mcpwire_core::ClientCapabilities::with_sampling).
        fn sampling() => sampling = true;

        /// Adds [`ClientHandler::list_roots`].
        fn roots() => roots = true;
    }

    /// Adds a method that [`ClientHandler::request`] answers.
    pub fn method(mut self, method: impl Into<String>) -> Self {
        self.methods.push(method.into());
        self
    }

    /// Declares the capabilities for these requests in the configuration.
    pub(super) fn declare(&self, config: &mut Config) {
        if self.form || self.url {
            config.answer_elicitation(self.form, self.url);
        }
        if self.sampling {
            config.answer_sampling();
        }
        if self.roots {
            config.answer_roots();
        }
        for method in &self.methods {
            config.answer(method);
        }
    }
}

/// A [`ClientHandler`] as a trait object.
pub(crate) trait AnyClientHandler: Send + Sync {
    fn capabilities(&self) -> HandlerCapabilities;

    /// Returns the future of the answer, or an error for a request with invalid parameters.
    fn start(self: Arc<Self>, request: &ServerRequest, context: HandlerContext) -> Result<HandlerFuture, RpcError>;

    fn notification(&self, server: &str, notification: &Notification);
}

impl<T: ClientHandler> AnyClientHandler for T {
    fn capabilities(&self) -> HandlerCapabilities {
        ClientHandler::capabilities(self)
    }

    fn start(self: Arc<Self>, request: &ServerRequest, context: HandlerContext) -> Result<HandlerFuture, RpcError> {
        Ok(match request.request()? {
            ServerRequestKind::Elicit(ElicitParams::Form(form)) => {
                Box::pin(async move { form.answer(self.elicit_form(form.clone(), context).await?) })
            }
            ServerRequestKind::Elicit(ElicitParams::Url(url)) => {
                Box::pin(async move { url.answer(self.elicit_url(url.clone(), context).await?) })
            }
            ServerRequestKind::Sample(params) => {
                Box::pin(async move { self.create_message(*params, context).await?.answer() })
            }
            ServerRequestKind::ListRoots => {
                Box::pin(async move { ListRootsResult::new(self.list_roots(context).await?).answer() })
            }
            _ => {
                let request = request.clone();
                Box::pin(async move { ClientHandler::request(&*self, request, context).await })
            }
        })
    }

    fn notification(&self, server: &str, notification: &Notification) {
        ClientHandler::notification(self, server, notification);
    }
}
