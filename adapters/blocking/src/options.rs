//! What a connection may have of its own.

use std::fmt;

use mcpwire_core::shutdown::GracePeriods;
use mcpwire_core::{
    Config, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl, Event, Json,
    Root, RpcError, ServerRequest,
};

use mcpwire_client::{CallbackPanic, Follower, Panics, TraceSource, Watcher};

use crate::answers::Answers;

/// Called with each event that is no reply: notifications, log messages, and what was left aside.
pub(crate) type Listener = Box<dyn FnMut(&Event) + Send>;

/// Options of [`McpClient::connect_with`](crate::McpClient::connect_with).
///
/// ```
/// use mcpwire_blocking::ConnectOptions;
/// use mcpwire_blocking::core::{Config, Event, Notification};
///
/// let mut options = ConnectOptions::new(Config::new("my-app", "1.0"));
/// options.stderr = Some(Box::new(|line| eprintln!("server: {line}")));
/// options.on_event = Some(Box::new(|event| {
///     if let Event::Notification(Notification::Log(message)) = event {
///         eprintln!("{}: {}", message.level, message.text());
///     }
/// }));
/// ```
///
/// # Panics
///
/// A panic in a handler or callback of the program is caught, and the call that waits goes on. The handler or callback is
/// called again the next time.
///
/// | what panics | what follows |
/// |---|---|
/// | a handler of a server's request (legacy) | the server is answered with the error -32603, "Internal error" |
/// | a handler of an input that a server wants for a request or a task (2026-07-28) | that call fails with [`InputError::Panicked`](mcpwire_core::InputError::Panicked), which has the message |
/// | [`ConnectOptions::on_answer_error`], `on_event`, `stderr`, `trace` | the one event, line or message is left out |
/// | `trace_context` | the request is sent outside of any trace |
/// | a stream of [`McpClient::over`](crate::McpClient::over) | the connection ends; calls in flight fail with [`CloseReason::Failed`](mcpwire_core::CloseReason::Failed), which has the message |
/// | a token provider or an HTTP client | the calls whose requests it was to make fail with the message |
/// | a callback of a call, such as [`Call::on_progress`](crate::Call::on_progress) | the call is cancelled, and the panic reaches its caller; the client can be used as before |
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
    pub(crate) answers: Answers,
    /// Called with each event that is no reply, in order, by the thread that waits for an answer.
    pub on_event: Option<Listener>,
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
    /// ```
    /// use mcpwire_blocking::ConnectOptions;
    /// use mcpwire_blocking::core::ElicitResult;
    ///
    /// let options = ConnectOptions::default().on_elicitation(|form| {
    ///     println!("{}", form.message);
    ///     Ok(ElicitResult::accept(&[("name", "Ada")])?)
    /// });
    /// ```
    pub fn on_elicitation(
        mut self,
        handler: impl FnMut(&ElicitForm) -> Result<ElicitResult, RpcError> + Send + 'static,
    ) -> Self {
        self.config.answer_elicitation(true, self.answers.url.is_some());
        self.answers.form = Some(Box::new(handler));
        self
    }

    /// Says who asks the person that uses the program, where a server wants an address visited (from 2025-11-25). The server
    /// is told that it may ask for that.
    ///
    /// The whole address is to be shown, and visited only if the person agrees; to accept says that, not that the visit is
    /// over.
    pub fn on_url_elicitation(
        mut self,
        handler: impl FnMut(&ElicitUrl) -> Result<ElicitAction, RpcError> + Send + 'static,
    ) -> Self {
        self.config.answer_elicitation(self.answers.form.is_some(), true);
        self.answers.url = Some(Box::new(handler));
        self
    }

    /// Says who asks a language model where a server wants that (2026-07-28, client/sampling; deprecated from there on). The
    /// server is told that it may ask for that, without tools; where they may be used as well, declare it before by
    /// [`ClientCapabilities::with_sampling`](mcpwire_core::ClientCapabilities::with_sampling).
    pub fn on_sampling(
        mut self,
        handler: impl FnMut(&CreateMessageParams) -> Result<CreateMessageResult, RpcError> + Send + 'static,
    ) -> Self {
        self.config.answer_sampling();
        self.answers.sampling = Some(Box::new(handler));
        self
    }

    /// Tells servers which folders matter (2026-07-28, client/roots; deprecated from there on).
    /// [`McpClient::set_roots`](crate::McpClient::set_roots) changes them later.
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.config.answer_roots();
        self.answers.roots = Some(roots.into_iter().collect());
        self
    }

    /// Sets who answers other requests of servers', or these in another way, and which methods that is: with an object, or
    /// a refusal. May be called several times; for a method that is named twice, the last counts, and what answers that
    /// alone goes before. The capability of a method of the protocol is declared with it, unless
    /// [`Config::capabilities`] say more. The thread that waits for the server calls it, so the server waits as long as it
    /// takes.
    ///
    /// ```
    /// use mcpwire_blocking::ConnectOptions;
    /// use mcpwire_blocking::core::Json;
    ///
    /// let roots = Json::parse(r#"{"roots": [{"uri": "file:///home/me/project"}]}"#).unwrap();
    /// let options = ConnectOptions::default().answer(["roots/list"], move |_| Ok(roots.clone()));
    /// ```
    pub fn answer<S: Into<String>>(
        mut self,
        methods: impl IntoIterator<Item = S>,
        answer: impl FnMut(&ServerRequest) -> Result<Json, RpcError> + Send + 'static,
    ) -> Self {
        let methods: Vec<String> = methods.into_iter().map(Into::into).collect();
        for method in &methods {
            self.config.answer(method);
        }
        self.answers.others.push((methods, Box::new(answer)));
        self
    }

    /// Says who is told of requests that could not be answered: what a handler answered did not fit, it refused, or it
    /// panicked. The server is told the same, but nothing of a panic's message.
    pub fn on_answer_error(mut self, f: impl FnMut(&ServerRequest, &RpcError) + Send + 'static) -> Self {
        self.answers.on_error = Some(Box::new(f));
        self
    }

    /// Adds a callback for panics in the program's own handlers and callbacks: see [above](ConnectOptions#panics). It may
    /// be called by any thread. A panic in it is ignored.
    ///
    /// ```
    /// use mcpwire_blocking::ConnectOptions;
    ///
    /// let options = ConnectOptions::default().on_panic(|panic| eprintln!("{panic}"));
    /// ```
    pub fn on_panic(mut self, f: impl Fn(&CallbackPanic) + Send + Sync + 'static) -> Self {
        self.panics.add(f);
        self
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
