//! [`ConnectOptions`]: the options of a connection.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_core::{
    Config, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl,
    Implementation, LoggingLevel, Negotiate, Notification, Root, RpcError, ServerRequest, Validator,
};

use crate::handler::{
    AnyClientHandler, ClientHandler, ConnectionHandlers, Handler, HandlerContext, Handlers, RequestHandler,
};
use crate::hooks::{ConnectionHooks, Hooks};
use crate::{
    CallbackPanic, Clock, ConnectionContext, Direction, GracePeriods, Launcher, McpServerDef, Observer, PanicCallbacks,
    PanicSource, StderrListener, TraceListener, TraceSource, Transport, lock,
};

/// The default name of a server that is connected by a pair of streams.
const STREAM: &str = "stream";

type StderrCallback = Arc<dyn Fn(&str) + Send + Sync>;
type TraceCallback = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// Options of a connection: the client's name, timeouts and limits, handlers for requests of the server, and callbacks.
///
/// ```
/// # mod mcpwire { pub use mcpwire_client::ConnectOptions; pub mod types { pub use mcpwire_core::ElicitResult; } }
/// use std::time::Duration;
/// use mcpwire::ConnectOptions;
/// use mcpwire::types::ElicitResult;
///
/// let options = ConnectOptions::default()
///     .client_info("my-app", "1.0")
///     .timeout(Duration::from_secs(120))
///     .stderr(|line| eprintln!("server: {line}"))
///     .on_elicitation(async |form, context| {
///         println!("{} asks: {}", context.server(), form.message);
///         Ok(ElicitResult::decline())
///     });
/// ```
///
/// The options can be cloned and used for several connections. The connections then share the callbacks.
///
/// # Callbacks
///
/// The task that drives the connection calls the callbacks, in order and without holding a lock. In the blocking client, the
/// thread that waits for the server does. A callback should return quickly, because it blocks the connection.
///
/// A handler may wait: the driving task polls its future together with the connection. See [`ClientHandler`](ClientHandler#rules).
///
/// # Panics
///
/// The connection catches panics in handlers and callbacks of the program, and continues. It calls the handler or callback
/// again for the next event.
///
/// | code that panics | consequence |
/// |---|---|
/// | a handler of a request of a legacy server | the server receives the error -32603, "Internal error" |
/// | a handler of an input that a request or task requires (from revision 2026-07-28) | the call fails with [`InputError::Panicked`](mcpwire_core::InputError::Panicked), which contains the message |
/// | [`on_answer_error`](Self::on_answer_error), [`on_notification`](Self::on_notification), [`on_invalid_message`](Self::on_invalid_message), [`stderr`](Self::stderr), [`trace`](Self::trace), the [`observer`](Self::observer) | the callback misses this line, message or event |
/// | [`trace_context`](Self::trace_context) | the request is sent without a trace context |
/// | a stream, timer or clock of the program or of its runtime | the connection ends; pending calls fail with [`CloseReason::Failed`](mcpwire_core::CloseReason::Failed), which contains the message |
/// | a token provider, an HTTP client, or `on_request` | the request is not made, and its call fails with the message |
/// | a callback of a call, such as `on_progress` | the panic reaches the caller; the call is cancelled |
///
/// [`ConnectOptions::on_panic`] is called for each of them except the last two, which the caller receives as an error or a
/// panic. The server never receives the message of a panic. The panic hook of the standard library runs as usual. In a program
/// built with `panic = "abort"`, a panic ends the process.
#[derive(Clone, Default)]
#[must_use = "options have no effect until they are used"]
pub struct ConnectOptions {
    config: Config,
    name: Option<Arc<str>>,
    grace_periods: GracePeriods,
    stderr: Option<StderrCallback>,
    trace: Option<TraceCallback>,
    trace_context: Option<TraceSource>,
    #[cfg(feature = "http")]
    http: crate::http::HttpOptions,
    #[cfg(feature = "http")]
    on_request: Option<crate::http::OnRequest>,
    handlers: Handlers,
    /// `None` if there are no callbacks for events.
    hooks: Option<Hooks>,
    launcher: Option<Arc<dyn Launcher>>,
    output_validator: Option<Arc<dyn Validator + Send + Sync>>,
    panics: PanicCallbacks,
}

/// The options of one connection, for the adapters.
#[doc(hidden)]
pub struct OptionParts {
    pub config: Config,
    pub context: ConnectionContext,
    pub stderr: Option<StderrListener>,
    pub trace: Option<TraceListener>,
    #[cfg(feature = "http")]
    pub http: crate::http::HttpOptions,
    #[cfg(feature = "http")]
    on_request: Option<crate::http::OnRequest>,
    pub handlers: Arc<ConnectionHandlers>,
    pub clock: Clock,
}

impl ConnectOptions {
    /// Creates options with a configuration of the protocol engine.
    pub fn new(config: Config) -> Self {
        ConnectOptions { config, ..ConnectOptions::default() }
    }

    /// Returns the configuration of the protocol engine. The timeouts of a server's definition take precedence over its timeouts.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the configuration of the protocol engine, to change settings that have no method here.
    pub fn config_mut(&mut self) -> &mut Config {
        &mut self.config
    }

    /// Returns the options of a connection over HTTP.
    #[cfg(feature = "http")]
    #[doc(hidden)]
    pub fn http_options(&self) -> &crate::http::HttpOptions {
        &self.http
    }

    crate::setters! {
        /// Sets the client's name and version, which are sent to the server.
        fn client_info(name: impl Into<String>, version: impl Into<String>)
            => config.client_info = Implementation::new(name, version);

        /// Sets the protocol versions that the client accepts.
        fn negotiate(negotiate: Negotiate) => config.negotiate = negotiate;

        /// Sets the maximum time that a request waits for a response or a progress notification ([`Config::request_timeout`]).
        fn timeout(timeout: Duration) => config.request_timeout = timeout;

        /// Sets the maximum total duration of a request, regardless of progress ([`Config::total_timeout`]).
        fn total_timeout(timeout: Duration) => config.total_timeout = timeout;

        /// Sets the maximum time for opening the connection ([`Config::connect_timeout`]).
        fn connect_timeout(timeout: Duration) => config.connect_timeout = timeout;

        /// Sets the maximum size of a received message, in bytes ([`Config::max_message`]).
        fn max_message_bytes(bytes: usize) => config.max_message = bytes;

        /// Sets the minimum level of the log messages that a modern server sends ([`Config::log_level`]).
        fn log_level(level: LoggingLevel) => config.log_level = Some(level);
    }

    /// Allows calls of tools that require a task. The call waits for the result of the task ([`Config::follow_tasks`]).
    ///
    /// Without this option, a call of a tool that requires a task fails at once, unless the call itself requests a task.
    /// [`Config::declare_tasks`] allows the server to turn any call into a task.
    pub fn follow_tasks(mut self) -> Self {
        self.config.follow_tasks();
        self
    }

    crate::setters! {
        /// Sets the name, in errors and for handlers, of a server that is connected by a pair of streams. Default: `stream`.
        ///
        /// For a server with a definition, set [`McpServerDef::name`] instead.
        fn name(name: impl Into<String>) => name = Some(name.into().into());

        /// Sets the durations of the steps of the shutdown.
        fn grace_periods(grace_periods: GracePeriods) => grace_periods = grace_periods;

        /// Sets the options of a connection over HTTP. They have no effect on other connections.
        #[cfg(feature = "http")]
        fn http(http: crate::http::HttpOptions) => http = http;

        /// Sets the callback that adds headers to each HTTP request, right before the request is sent.
        ///
        /// [`HttpOptions::token`](crate::http::HttpOptions::token) replaces an `Authorization` header of the callback. When the callback
        /// sets another value of that header, cached responses that are not public are no longer used. If the callback panics, the request is not sent and fails with the message of the panic.
        ///
        /// ```
        /// # mod mcpwire { pub use mcpwire_client::ConnectOptions; }
        /// use mcpwire::ConnectOptions;
        ///
        /// let options = ConnectOptions::default().on_request(|call, head| {
        ///     if let Some(tool) = call.tool() {
        ///         let _ = head.header("X-Audit", format!("{tool}, attempt {}", call.attempt));
        ///     }
        /// });
        /// ```
        #[cfg(feature = "http")]
        fn on_request(f: impl Fn(&crate::http::CallInfo, &mut crate::http::RequestHead<'_>) + Send + Sync + 'static)
            => on_request = Some(Arc::new(f));

        /// Sets the object or closure that starts servers in another way than as a local process.
        ///
        /// It has no effect on connections over HTTP or over a pair of streams.
        fn launcher(launcher: impl Launcher) => launcher = Some(Arc::new(launcher));

        /// Sets the validator of the structured content of tool results. `mcpwire::jsonschema::JsonSchema` is one. Default: none.
        ///
        /// The specification recommends to validate results (2026-07-28, server/tools, "Output Schema"); a client does it only with a
        /// validator, because that costs time for each result and adds dependencies. Each call of a tool that has an output schema in
        /// the loaded list then fails with [`CallError::Structured`](mcpwire_core::CallError::Structured) if the structured content is
        /// missing or does not match, or if the schema cannot be used. Results of tools that failed are not checked. Neither are calls
        /// that ask for the unchanged result (`raw`), and results of tasks that are taken by the task's id.
        ///
        /// The error contains neither the text nor the content of the result. A program that wants them in spite of a mismatch, for
        /// example to show them to a model, sets no validator, and calls [`Tool::check_output`](mcpwire_core::Tool::check_output) on
        /// the result.
        ///
        /// The task that waits for the call validates, without holding a lock. A panic of the validator reaches it.
        ///
        /// ```
        /// # mod mcpwire { pub use mcpwire_client::ConnectOptions; pub mod types { pub use mcpwire_core::{Json, ValidationError,
        /// # Validator}; } }
        /// use mcpwire::ConnectOptions;
        /// use mcpwire::types::{Json, ValidationError, Validator};
        ///
        /// /// Accepts objects only.
        /// struct Objects;
        ///
        /// impl Validator for Objects {
        ///     fn validate(&self, _schema: &Json, value: &Json) -> Result<(), ValidationError> {
        ///         if value.is_object() { Ok(()) } else { Err(ValidationError::value("", "it is no object")) }
        ///     }
        /// }
        ///
        /// let options = ConnectOptions::default().output_validator(Objects);
        /// ```
        #[doc(alias = "outputSchema")]
        fn output_validator(validator: impl Validator + Send + Sync + 'static)
            => output_validator = Some(Arc::new(validator));
    }

    /// Sets the callback for lines that the server writes to standard error. It receives each line without its line break.
    ///
    /// The line may contain control characters: use [`printable`](mcpwire_core::printable) to show it in a terminal.
    #[doc(alias = "StderrHandler")]
    pub fn stderr(mut self, f: impl FnMut(&str) + Send + 'static) -> Self {
        let f = Mutex::new(f);
        self.stderr = Some(Arc::new(move |line| lock(&f)(line)));
        self
    }

    /// Sets the callback for messages on the wire. It receives each message without its line break.
    #[doc(alias = "MessageObserver")]
    pub fn trace(mut self, f: impl FnMut(Direction, &[u8]) + Send + 'static) -> Self {
        let f = Mutex::new(f);
        self.trace = Some(Arc::new(move |direction, message| {
            lock(&f)(direction, message);
        }));
        self
    }

    /// Sets the source of the trace contexts that requests carry in `_meta`. `mcpwire::opentelemetry` has a source.
    ///
    /// The task that sends a request calls the source, unless the `_meta` of the request already contains `traceparent`.
    pub fn trace_context(mut self, source: TraceSource) -> Self {
        self.trace_context = Some(source);
        self
    }

    /// Sets the object that answers requests of the server and receives its notifications. Replaces an earlier object.
    ///
    /// Handlers that are set with [`ConnectOptions::on_elicitation`] and the other methods take precedence over it.
    pub fn handler(mut self, handler: impl ClientHandler) -> Self {
        let handler: Arc<dyn AnyClientHandler> = Arc::new(handler);
        self.handlers.object = Some(Arc::clone(&handler));
        self.hooks().handler = Some(handler);
        self
    }

    /// Sets the handler that asks the user to fill in a form, and declares the capability `elicitation.form` (2026-07-28,
    /// client/elicitation).
    ///
    /// The client adds the defaults of the form to the answer, and validates the answer. It reports an invalid answer to
    /// [`ConnectOptions::on_answer_error`], and refuses the request. Show the user which server asks, and allow the user to
    /// decline.
    ///
    /// ```
    /// # mod mcpwire { pub use mcpwire_client::ConnectOptions; pub mod types { pub use mcpwire_core::ElicitResult; } }
    /// use mcpwire::ConnectOptions;
    /// use mcpwire::types::ElicitResult;
    ///
    /// let options = ConnectOptions::default().on_elicitation(|form, context| async move {
    ///     println!("{} asks: {}", context.server(), form.message);
    ///     Ok(ElicitResult::accept(&[("name", "Ada")])?)
    /// });
    /// ```
    pub fn on_elicitation<F>(
        mut self,
        handler: impl Fn(ElicitForm, HandlerContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ElicitResult, RpcError>> + Send + 'static,
    {
        self.handlers.form = Some(Arc::new(move |form, context| {
            let answer = handler(form.clone(), context);
            Box::pin(async move { form.answer(answer.await?) })
        }));
        self
    }

    /// Sets the handler that asks the user to visit a URL, and declares the capability `elicitation.url` (from revision
    /// 2025-11-25).
    ///
    /// Show the whole URL, and open it only if the user consents. [`ElicitAction::Accept`] means that the user consents, not
    /// that the interaction is complete.
    pub fn on_url_elicitation<F>(
        mut self,
        handler: impl Fn(ElicitUrl, HandlerContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ElicitAction, RpcError>> + Send + 'static,
    {
        self.handlers.url = Some(Arc::new(move |url, context| {
            let answer = handler(url.clone(), context);
            Box::pin(async move { url.answer(answer.await?) })
        }));
        self
    }

    /// Sets the handler that requests a message from a language model, and declares the capability `sampling` (2026-07-28,
    /// client/sampling, deprecated).
    ///
    /// This declares no support for tools. To declare it, use
    /// [`ClientCapabilities::with_sampling`](mcpwire_core::ClientCapabilities::with_sampling).
    pub fn on_sampling<F>(
        mut self,
        handler: impl Fn(CreateMessageParams, HandlerContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<CreateMessageResult, RpcError>> + Send + 'static,
    {
        self.handlers.sampling = Some(Arc::new(move |params, context| {
            let answer = handler(params, context);
            Box::pin(async move { answer.await?.answer() })
        }));
        self
    }

    /// Sets the root directories that the server may list, and declares the capability `roots` (2026-07-28, client/roots,
    /// deprecated). The client's `set_roots` changes them later.
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.handlers.roots = Some(roots.into_iter().collect());
        self
    }

    /// Adds a handler for requests with these methods. It replaces earlier handlers of the same methods.
    ///
    /// Handlers for one kind of request, such as [`ConnectOptions::on_elicitation`], take precedence. For a method of the
    /// specification, this declares the capability that the method requires, unless [`Config::capabilities`] contain it.
    ///
    /// ```
    /// # mod mcpwire { pub use mcpwire_client::ConnectOptions; pub mod types { pub use mcpwire_core::Json; } }
    /// use mcpwire::ConnectOptions;
    /// use mcpwire::types::Json;
    ///
    /// let roots = Json::parse(r#"{"roots": [{"uri": "file:///home/me/project"}]}"#).unwrap();
    /// let options = ConnectOptions::default().answer(["roots/list"], move |_, _| {
    ///     let roots = roots.clone();
    ///     async move { Ok(roots) }
    /// });
    /// ```
    pub fn answer<S: Into<String>>(
        mut self,
        methods: impl IntoIterator<Item = S>,
        handler: impl RequestHandler,
    ) -> Self {
        let methods = methods.into_iter().map(Into::into).collect();
        let handler = Arc::new(handler);
        let handler: Handler<ServerRequest> = Arc::new(move |request, context| {
            let handler = Arc::clone(&handler);
            // The future owns the handler, from which `handle` borrows.
            Box::pin(async move { handler.handle(request, context).await })
        });
        self.handlers.methods.push((methods, handler));
        self
    }

    /// Sets the callback for requests of the server that failed: the handler refused or panicked, or its answer was invalid.
    ///
    /// The server receives the same error, without the message of a panic.
    pub fn on_answer_error(mut self, f: impl Fn(&ServerRequest, &RpcError) + Send + Sync + 'static) -> Self {
        self.handlers.on_error = Some(Arc::new(f));
        self
    }

    /// Sets the callback for the notifications of the server.
    ///
    /// ```
    /// # mod mcpwire { pub use mcpwire_client::ConnectOptions; pub use mcpwire_core::Notification; }
    /// use mcpwire::{ConnectOptions, Notification};
    ///
    /// let options = ConnectOptions::default().on_notification(|notification| {
    ///     if let Notification::Log(message) = notification {
    ///         eprintln!("{}: {}", message.level, message.text());
    ///     }
    /// });
    /// ```
    pub fn on_notification(mut self, f: impl FnMut(&Notification) + Send + 'static) -> Self {
        let f = Mutex::new(f);
        self.hooks().on_notification = Some(Arc::new(move |notification| {
            lock(&f)(notification);
        }));
        self
    }

    /// Sets the callback for invalid messages of the server. It receives the beginning of each message, without control
    /// characters.
    pub fn on_invalid_message(mut self, f: impl FnMut(&str) + Send + 'static) -> Self {
        let f = Mutex::new(f);
        self.hooks().on_invalid_message = Some(Arc::new(move |excerpt| lock(&f)(excerpt)));
        self
    }

    /// Adds an object that observes the connection and its requests. Observers are called in the order in which they were
    /// added.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.hooks().observers.push(Arc::new(observer));
        self
    }

    /// Adds a callback for panics in the program's handlers and callbacks: see [Panics](ConnectOptions#panics).
    ///
    /// Any thread may call it. A panic in the callback itself is ignored.
    ///
    /// ```
    /// # mod mcpwire { pub use mcpwire_client::ConnectOptions; }
    /// use mcpwire::ConnectOptions;
    ///
    /// let options = ConnectOptions::default().on_panic(|panic| eprintln!("{panic}"));
    /// ```
    pub fn on_panic(mut self, f: impl Fn(&CallbackPanic) + Send + Sync + 'static) -> Self {
        self.panics.add(f);
        self
    }

    /// Returns the callback that [`ConnectOptions::stderr`] has set.
    pub fn stderr_callback(&self) -> Option<impl Fn(&str) + Send + Sync + 'static> {
        let f = self.stderr.clone()?;
        Some(move |line: &str| f(line))
    }

    fn hooks(&mut self) -> &mut Hooks {
        self.hooks.get_or_insert_default()
    }

    /// Converts the options for one connection. `definition` is `None` for a pair of streams.
    #[doc(hidden)]
    pub fn into_parts(self, definition: Option<Arc<McpServerDef>>, transport: Transport, clock: Clock) -> OptionParts {
        let ConnectOptions {
            mut config,
            name,
            grace_periods,
            stderr,
            trace,
            trace_context,
            handlers,
            hooks,
            launcher,
            output_validator,
            panics,
            ..
        } = self;
        let name = match &definition {
            Some(definition) => {
                config = definition.configure(config);
                definition.display_name().into()
            }
            None => name.unwrap_or_else(|| STREAM.into()),
        };
        handlers.declare(&mut config);
        let handlers = Arc::new(ConnectionHandlers::new(handlers, Arc::clone(&name), panics.clone()));
        // A subscriber of `tracing` needs hooks even if the program has set no callbacks.
        #[cfg(feature = "tracing")]
        let hooks = hooks.or_else(|| crate::tracing::has_subscriber().then(Hooks::default));
        let hooks =
            hooks.map(|hooks| ConnectionHooks::new(hooks, Arc::clone(&name), panics.clone(), transport, clock.clone()));
        if hooks.as_ref().is_some_and(ConnectionHooks::has_observer) {
            config.report_requests();
        }
        OptionParts {
            config,
            stderr: stderr.map(|f| {
                let panics = panics.clone();
                Box::new(move |line: &str| panics.catch(PanicSource::Stderr, || f(line)).unwrap_or_default()) as _
            }),
            trace: trace.map(|f| {
                let panics = panics.clone();
                Box::new(move |direction, message: &[u8]| {
                    panics.catch(PanicSource::Trace, || f(direction, message)).unwrap_or_default();
                }) as _
            }),
            #[cfg(feature = "http")]
            http: self.http,
            #[cfg(feature = "http")]
            on_request: self.on_request,
            handlers,
            clock,
            context: ConnectionContext {
                name,
                definition,
                grace_periods,
                trace_context,
                panics,
                hooks: hooks.map(Arc::new),
                launcher,
                output_validator,
                #[cfg(feature = "http")]
                authorizer: None,
                #[cfg(feature = "http")]
                authorization: None,
            },
        }
    }
}

impl OptionParts {
    /// Returns the HTTP client of the connection, which calls the program's callbacks. If the options contain no HTTP client,
    /// `default` creates it.
    ///
    /// # Errors
    /// If `default` fails, or if the client does not apply a setting of the definition.
    #[cfg(feature = "http")]
    pub fn http_client(
        &mut self,
        def: &McpServerDef,
        default: impl FnOnce() -> Result<Arc<dyn crate::http::HttpClient>, crate::HttpSetupError>,
    ) -> Result<Arc<dyn crate::http::HttpClient>, crate::Error> {
        self.context.authorizer = self.http.shared_authorizer();
        self.context.authorization = self.http.authorization_context();
        let client = std::mem::take(&mut self.http)
            .into_client(default)
            .and_then(|client| crate::http::check_applied(def, &*client).map(|()| client))
            .map_err(|error| crate::Error::new(&self.context.name, error))?;
        let (on_request, hooks) = (self.on_request.take(), self.context.hooks.clone());
        if on_request.is_none() && hooks.is_none() {
            return Ok(client);
        }
        let server = Arc::clone(&self.context.name);
        let mut last_sent = None;
        if on_request.is_some() && self.context.authorization.is_none() {
            let last = Arc::<crate::http::LastAuthorization>::default();
            self.context.authorization = Some(last.context.clone());
            last_sent = Some(last);
        }
        Ok(Arc::new(crate::http::HookedClient { server, on_request, last_sent, hooks, client }))
    }
}

impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("config", &self.config)
            .field("name", &self.name)
            .field("grace_periods", &self.grace_periods)
            .finish_non_exhaustive()
    }
}
