//! [`ClientHandler`]: an object of the program that answers the requests of servers.

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
/// Implement the methods for the requests that the program can answer, and list these requests in
/// [`ClientHandler::capabilities`]. The default methods refuse the request. Closures for one kind of request, such as
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
/// * In the async clients, the task that drives the connection polls the future that a method returns. The future may take long
///   and may call the client, but must not block the thread.
/// * In the blocking client, the thread that waits for the server polls the future. The future may block that thread. Meanwhile,
///   the connection is blocked too.
/// * When the answer is no longer needed, [`HandlerContext::cancelled`] resolves. The client polls the future once more, and
///   drops it.
/// * If the method or the future panics, the request is refused with an internal error, and the connection continues. See
///   [`ConnectOptions`](crate::ConnectOptions#panics).
pub trait ClientHandler: Send + Sync + 'static {
    /// Returns which requests this handler answers. The client declares the corresponding capabilities to the server.
    ///
    /// Called once for each connection, before the connection is opened.
    fn capabilities(&self) -> HandlerCapabilities;

    /// Asks the user to fill in a form (`elicitation/create` in form mode).
    ///
    /// Before the client sends the result, it adds the default values of the form, and validates the result.
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

    /// Generates a message with a language model for the server (`sampling/createMessage`).
    fn create_message(
        &self,
        params: CreateMessageParams,
        context: HandlerContext,
    ) -> impl Future<Output = Result<CreateMessageResult, RpcError>> + Send {
        let _ = (params, context);
        ready(Err(method_not_found()))
    }

    /// Returns the root directories that the server may work with (`roots/list`).
    fn list_roots(&self, context: HandlerContext) -> impl Future<Output = Result<Vec<Root>, RpcError>> + Send {
        let _ = context;
        ready(Err(method_not_found()))
    }

    /// Answers a request with a method that [`HandlerCapabilities::method`] has added. The answer must be a JSON object.
    fn request(
        &self,
        request: ServerRequest,
        context: HandlerContext,
    ) -> impl Future<Output = Result<Json, RpcError>> + Send {
        let _ = (request, context);
        ready(Err(method_not_found()))
    }

    /// Receives a notification of the server, such as a log message. The default method ignores the notification.
    ///
    /// `server` is the name of the server, as in errors. The client calls this method for one notification at a time, in order.
    /// The method should return quickly, because it blocks the connection.
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

/// The set of requests that a [`ClientHandler`] answers. Empty by default.
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
    /// Creates an empty set: the handler answers no requests.
    pub fn new() -> Self {
        HandlerCapabilities::default()
    }

    crate::setters! {
        /// Adds the requests that [`ClientHandler::elicit_form`] answers.
        fn form_elicitation() => form = true;

        /// Adds the requests that [`ClientHandler::elicit_url`] answers.
        fn url_elicitation() => url = true;

        /// Adds the requests that [`ClientHandler::create_message`] answers.
        ///
        /// This does not declare that the language model can use tools. To declare that, use
        /// [`ClientCapabilities::with_sampling`](mcpwire_core::ClientCapabilities::with_sampling).
        fn sampling() => sampling = true;

        /// Adds the requests that [`ClientHandler::list_roots`] answers.
        fn roots() => roots = true;
    }

    /// Adds the requests with this method, such as a method of an extension. [`ClientHandler::request`] answers them.
    pub fn method(mut self, method: impl Into<String>) -> Self {
        self.methods.push(method.into());
        self
    }

    /// Declares in the engine's configuration the capabilities that these requests need.
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

/// [`ClientHandler`] with boxed futures, so that it can be used as a trait object.
pub(crate) trait AnyClientHandler: Send + Sync {
    fn capabilities(&self) -> HandlerCapabilities;

    /// Calls the method of the handler for this request, and returns the future of the answer. Returns an error if the parameters
    /// of the request are invalid.
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
