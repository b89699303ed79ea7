//! What a connection may have of its own.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcpwire_client::{CallbackPanic, Follower, Panics, TraceSource, Watcher};
use mcpwire_core::shutdown::GracePeriods;
use mcpwire_core::{
    Config, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl, Root,
    RpcError, ServerRequest,
};

use crate::answers::Answer;
use crate::handlers::{self, Handlers};

/// Options of [`McpClient::connect_with`](crate::McpClient::connect_with) and [`McpClient::over`](crate::McpClient::over).
///
/// What is called here is called by the task that drives the connection, in order, with no lock held. It should be quick:
/// nothing of the connection moves meanwhile.
///
/// # Panics
///
/// A panic in a handler or callback of the program is caught, and the connection goes on for everybody. The handler or
/// callback is called again the next time.
///
/// | what panics | what follows |
/// |---|---|
/// | a handler of a server's request (legacy) | the server is answered with the error -32603, "Internal error" |
/// | a handler of an input that a server wants for a request or a task (2026-07-28) | that call fails with [`InputError::Panicked`](mcpwire_core::InputError::Panicked), which has the message |
/// | [`ConnectOptions::on_answer_error`], `stderr`, `trace` | the one line or message is left out |
/// | `trace_context` | the request is sent outside of any trace |
/// | a stream, a timer or a clock of the program or its runtime | the connection ends; calls in flight fail with [`CloseReason::Failed`](mcpwire_core::CloseReason::Failed), which has the message |
/// | a token provider or an HTTP client | the calls whose requests it was to make fail with the message |
/// | a callback of a call, such as [`Call::on_progress`](crate::Call::on_progress) | the panic reaches the task that awaits the call; the call is cancelled when that task drops it |
///
/// [`ConnectOptions::on_panic`] is called for each of them except the last two, which the caller learns of anyway. The
/// server never sees the message of a panic. The panic hook of the standard library runs as ever. A program that is built
/// with `panic = "abort"` ends at a panic: nothing can be caught there.
#[derive(Default)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// Who the client is, what it speaks, and its limits. Timeouts of the server's definition go before those in here.
    pub config: Config,
    /// How long each step of the shutdown is given.
    pub grace_periods: GracePeriods,
    /// Called with each line that the server writes on standard error. The text is the server's: see
    /// [`printable`](mcpwire_core::printable).
    pub stderr: Option<Follower>,
    /// Called with each message as it goes over the wire.
    pub trace: Option<Watcher>,
    /// Asked at each request, by whoever sends it, where it belongs in a trace: what the program's own tracing knows of the
    /// span that it is in. `mcpwire-opentelemetry` has one. Options of a request that name a trace themselves are left alone.
    pub trace_context: Option<TraceSource>,
    /// What a connection by HTTP may have of its own.
    #[cfg(feature = "http")]
    pub http: crate::http::HttpOptions,
    /// Who answers what the server asks for.
    pub(crate) handlers: Option<Arc<Handlers>>,
    /// The callbacks of [`ConnectOptions::on_panic`].
    pub(crate) panics: Panics,
}

impl ConnectOptions {
    /// Options with this configuration, and nothing else.
    pub fn new(config: Config) -> Self {
        ConnectOptions { config, ..ConnectOptions::default() }
    }

    /// Lets a call of a tool that can be called as a task only become one, and end with the task's result. Without it, such a
    /// call fails at once, unless it asks for a task itself ([`Call::follow_task`](crate::Call::follow_task),
    /// [`Call::as_task`](crate::Call::as_task)). [`Config::declare_tasks`] lets any call become a task, where the server
    /// wants that.
    pub fn follow_tasks(mut self) -> Self {
        self.config.follow_tasks();
        self
    }

    /// Says who asks the person that uses the program, where a server wants a form filled in (2026-07-28,
    /// client/elicitation). The server is told that it may ask for that.
    ///
    /// What was accepted has the form's defaults filled in, and is checked against the form, before it is sent: the server
    /// never gets an answer that does not fit. One that does not is told to [`ConnectOptions::on_answer_error`], and the
    /// server is refused. The person must see which server asks, and be able to decline.
    ///
    /// The future is polled by the task that drives the connection, as that of an [`Answer`] is: it may take its time, and
    /// must not block the thread.
    ///
    /// ```
    /// use mcpwire_driver::ConnectOptions;
    /// use mcpwire_driver::core::ElicitResult;
    ///
    /// let options = ConnectOptions::default().on_elicitation(|form| async move {
    ///     println!("{}", form.message);
    ///     Ok(ElicitResult::accept(&[("name", "Ada")])?)
    /// });
    /// ```
    pub fn on_elicitation<F>(mut self, handler: impl Fn(ElicitForm) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ElicitResult, RpcError>> + Send + 'static,
    {
        self.config.answer_elicitation(true, self.handlers.as_ref().is_some_and(|handlers| handlers.url.is_some()));
        self.add(|handlers| handlers.form = Some(handlers::form(handler)));
        self
    }

    /// Says who asks the person that uses the program, where a server wants an address visited (from 2025-11-25). The server
    /// is told that it may ask for that.
    ///
    /// The whole address is to be shown, and visited only if the person agrees; to accept says that, not that the visit is
    /// over.
    pub fn on_url_elicitation<F>(mut self, handler: impl Fn(ElicitUrl) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ElicitAction, RpcError>> + Send + 'static,
    {
        self.config.answer_elicitation(self.handlers.as_ref().is_some_and(|handlers| handlers.form.is_some()), true);
        self.add(|handlers| handlers.url = Some(handlers::url(handler)));
        self
    }

    /// Says who asks a language model where a server wants that (2026-07-28, client/sampling; deprecated from there on). The
    /// server is told that it may ask for that, without tools; where they may be used as well, declare it before by
    /// [`ClientCapabilities::with_sampling`](mcpwire_core::ClientCapabilities::with_sampling).
    pub fn on_sampling<F>(mut self, handler: impl Fn(CreateMessageParams) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<CreateMessageResult, RpcError>> + Send + 'static,
    {
        self.config.answer_sampling();
        self.add(|handlers| handlers.sampling = Some(handlers::sampling(handler)));
        self
    }

    /// Tells servers which folders matter (2026-07-28, client/roots; deprecated from there on).
    /// [`McpClient::set_roots`](crate::McpClient::set_roots) changes them later.
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.config.answer_roots();
        self.add(|handlers| handlers.set_roots(roots.into_iter().collect()));
        self
    }

    /// Sets who answers other requests of servers', or these in another way, and which methods that is. May be called
    /// several times; for a method that is named twice, the last counts, and what answers that alone goes before. The
    /// capability of a method of the protocol is declared with it, unless [`Config::capabilities`] say more.
    pub fn answer<S: Into<String>>(mut self, methods: impl IntoIterator<Item = S>, answer: impl Answer) -> Self {
        let methods: Vec<String> = methods.into_iter().map(Into::into).collect();
        for method in &methods {
            self.config.answer(method);
        }
        self.add(|handlers| handlers.others.push(handlers::other(methods, answer)));
        self
    }

    /// Says who is told of requests that could not be answered: what a handler answered did not fit, it refused, or it
    /// panicked. The server is told the same, but nothing of a panic's message.
    pub fn on_answer_error(mut self, f: impl Fn(&ServerRequest, &RpcError) + Send + Sync + 'static) -> Self {
        self.add(|handlers| handlers.on_error = Some(Box::new(f)));
        self
    }

    /// Adds a callback for panics in the program's own handlers and callbacks: see [above](ConnectOptions#panics). It may
    /// be called by any thread. A panic in it is ignored.
    ///
    /// ```
    /// use mcpwire_driver::ConnectOptions;
    ///
    /// let options = ConnectOptions::default().on_panic(|panic| eprintln!("{panic}"));
    /// ```
    pub fn on_panic(mut self, f: impl Fn(&CallbackPanic) + Send + Sync + 'static) -> Self {
        self.panics.add(f);
        self
    }

    fn add(&mut self, add: impl FnOnce(&mut Handlers)) {
        // Nobody else has them before there is a connection.
        if let Some(handlers) = Arc::get_mut(self.handlers.get_or_insert_default()) {
            add(handlers);
        }
    }
}

impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("config", &self.config)
            .field("patience", &self.grace_periods)
            .finish_non_exhaustive()
    }
}
