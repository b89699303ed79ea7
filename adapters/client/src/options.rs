//! [`ConnectOptions`]: the options of a connection that do not depend on the server.

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

/// The default name, in messages, of a server that is connected by a pair of streams.
const STREAM: &str = "stream";

type StderrCallback = Arc<dyn Fn(&str) + Send + Sync>;
type TraceCallback = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// Options of a connection: the client's name, timeouts and limits, handlers for requests of the server, and other callbacks.
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
/// The options can be cloned and used for several connections. These connections then share the callbacks.
///
/// # Callbacks
///
/// The task that drives the connection calls the callbacks, in the order of the events and without holding a lock. In the
/// blocking client, the thread that waits for the server calls them. A callback should return quickly, because it blocks the
/// connection.
///
/// A handler may take long, because the driving task polls its future together with the connection. See
/// [`ClientHandler`](ClientHandler#rules).
///
/// # Panics
///
/// The connection catches panics in handlers and callbacks of the program, and continues. It calls the same handler or callback
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
/// [`ConnectOptions::on_panic`] receives all these panics except those in the last two rows, which the caller receives as an
/// error or a panic. The server never receives the message of a panic. The panic hook of the standard library runs as usual. In a
/// program built with `panic = "abort"`, a panic ends the process.
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
    /// `None` if the program has set no observers and no callbacks for events.
    hooks: Option<Hooks>,
    launcher: Option<Arc<dyn Launcher>>,
    output_validator: Option<Arc<dyn Validator + Send + Sync>>,
    panics: PanicCallbacks,
}

/// The options of one connection in the form that the clients need. Created by [`ConnectOptions::into_parts`].
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
    /// Creates options with this configuration of the protocol engine, such as its limits.
    pub fn new(config: Config) -> Self {
        ConnectOptions { config, ..ConnectOptions::default() }
    }

    /// Returns the configuration of the protocol engine. The timeouts of a server's definition take precedence over those in the
    /// configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the configuration of the protocol engine, to change settings for which [`ConnectOptions`] has no method.
    pub fn config_mut(&mut self) -> &mut Config {
        &mut self.config
    }

    /// Returns the HTTP options, which have an effect on connections over HTTP only.
    #[cfg(feature = "http")]
    #[doc(hidden)]
    pub fn http_options(&self) -> &crate::http::HttpOptions {
        &self.http
    }

    crate::setters! {
        /// Sets the name and version with which this program introduces itself to the server.
        fn client_info(name: impl Into<String>, version: impl Into<String>)
            => config.client_info = Implementation::new(name, version);

        /// Sets the protocol versions that the client accepts. Default: all versions.
        fn negotiate(negotiate: Negotiate) => config.negotiate = negotiate;

        /// Sets the maximum time that a request waits for a response or for the next progress notification
        /// ([`Config::request_timeout`]). Default: 30 s.
        fn timeout(timeout: Duration) => config.request_timeout = timeout;

        /// Sets the maximum total duration of a request, even if the server reports progress ([`Config::total_timeout`]).
        /// Default: 1 h.
        fn total_timeout(timeout: Duration) => config.total_timeout = timeout;

        /// Sets the maximum time to start the server and to open the connection ([`Config::connect_timeout`]). Default: 60 s.
        fn connect_timeout(timeout: Duration) => config.connect_timeout = timeout;

        /// Sets the maximum size of a received message, in bytes ([`Config::max_message`]). Default: 64 MiB. Larger messages are
        /// discarded.
        fn max_message_bytes(bytes: usize) => config.max_message = bytes;

        /// Sets the minimum level of the log messages that a modern server (from revision 2026-07-28) sends
        /// ([`Config::log_level`]). By default, such a server sends none.
        fn log_level(level: LoggingLevel) => config.log_level = Some(level);
    }

    /// Allows calls of tools that the server executes only as tasks. Such a call waits for the result of its task
    /// ([`Config::follow_tasks`]).
    ///
    /// Without this option, such a call fails at once, unless the call itself requests a task. To allow the server to turn any
    /// call into a task, use [`Config::declare_tasks`].
    pub fn follow_tasks(mut self) -> Self {
        self.config.follow_tasks();
        self
    }

    crate::setters! {
        /// Sets the name of a server that is connected by a pair of streams, for errors and handlers. Default: `stream`.
        ///
        /// For a server with a definition, set [`McpServerDef::name`] instead.
        fn name(name: impl Into<String>) => name = Some(name.into().into());

        /// Sets how long the server's process may continue to run after each step of its shutdown.
        fn grace_periods(grace_periods: GracePeriods) => grace_periods = grace_periods;

        /// Sets the options of a connection over HTTP, such as the HTTP client and the access token. They have no effect on other
        /// connections.
        #[cfg(feature = "http")]
        fn http(http: crate::http::HttpOptions) => http = http;

        /// Sets the callback that adds headers to each HTTP request, right before the request is sent.
        ///
        /// [`HttpOptions::token`](crate::http::HttpOptions::token) replaces an `Authorization` header that the callback sets.
        /// When the callback sets another value of that header, the client no longer uses the private responses that it has
        /// cached. If the callback panics, the request is not sent and fails with the message of the panic.
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

        /// Sets the object or closure that starts the server, for example in a container or over ssh. Default: the client starts
        /// a local process.
        ///
        /// It has no effect on connections over HTTP or over a pair of streams.
        fn launcher(launcher: impl Launcher) => launcher = Some(Arc::new(launcher));

        /// Sets the validator that checks the structured content of tool results against the tool's output schema, such as
        /// `mcpwire::jsonschema::JsonSchema`. Default: none, and results are not checked.
        ///
        /// The specification recommends to validate results (2026-07-28, server/tools, "Output Schema"). The client has no
        /// validator by default, because validation takes time for each result and adds dependencies.
        ///
        /// With a validator, the client checks the result of each tool that has an output schema in the loaded tool list. The
        /// call fails with [`CallError::Structured`](mcpwire_core::CallError::Structured) if the structured content is missing or
        /// does not match, or if the schema cannot be used. The client does not check results of tools that failed, results that
        /// the program requests unchanged (`raw`), and results of tasks that the program requests by the task's id.
        ///
        /// The error contains neither the text nor the content of the result. A program that needs an invalid result, for example
        /// to show it to a model, should set no validator, and call [`Tool::check_output`](mcpwire_core::Tool::check_output)
        /// itself.
        ///
        /// The task that waits for the call runs the validator, without holding a lock. A panic in the validator reaches that
        /// task.
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

    /// Sets the callback that receives each line that the server writes to standard error, without its line break.
    ///
    /// A line may contain control characters. To show it in a terminal, use [`printable`](mcpwire_core::printable).
    #[doc(alias = "StderrHandler")]
    pub fn stderr(mut self, f: impl FnMut(&str) + Send + 'static) -> Self {
        let f = Mutex::new(f);
        self.stderr = Some(Arc::new(move |line| lock(&f)(line)));
        self
    }

    /// Sets the callback that receives each sent and received message, for debugging. Messages have no line break, and may
    /// contain secrets.
    #[doc(alias = "MessageObserver")]
    pub fn trace(mut self, f: impl FnMut(Direction, &[u8]) + Send + 'static) -> Self {
        let f = Mutex::new(f);
        self.trace = Some(Arc::new(move |direction, message| {
            lock(&f)(direction, message);
        }));
        self
    }

    /// Sets the function that returns the current trace context (W3C `traceparent`), which requests then carry in `_meta`.
    /// `mcpwire::opentelemetry` has such a function.
    ///
    /// The task that sends a request calls the function. A `traceparent` that the `_meta` of the request already contains takes
    /// precedence.
    pub fn trace_context(mut self, source: TraceSource) -> Self {
        self.trace_context = Some(source);
        self
    }

    /// Sets the object that answers requests of the server and receives its notifications. Replaces an earlier object.
    ///
    /// Closures for one kind of request, such as [`ConnectOptions::on_elicitation`], and handlers that [`ConnectOptions::answer`]
    /// has added take precedence over this object.
    pub fn handler(mut self, handler: impl ClientHandler) -> Self {
        let handler: Arc<dyn AnyClientHandler> = Arc::new(handler);
        self.handlers.object = Some(Arc::clone(&handler));
        self.hooks().handler = Some(handler);
        self
    }

    /// Sets the handler that asks the user to fill in a form, and declares the capability `elicitation.form` (2026-07-28,
    /// client/elicitation).
    ///
    /// The client adds the default values of the form to the answer, and validates the answer. If the answer is invalid, the
    /// client reports this to [`ConnectOptions::on_answer_error`] and refuses the request. The handler should show the user which
    /// server asks, and allow the user to decline.
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
    /// The handler should show the whole URL, and open it only if the user consents. [`ElicitAction::Accept`] means that the user
    /// consents, not that the interaction is complete.
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

    /// Sets the handler that generates a message with a language model for the server, and declares the capability `sampling`
    /// (2026-07-28, client/sampling, deprecated).
    ///
    /// This does not declare that the language model can use tools. To declare that, use
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

    /// Sets the root directories that the server may request, and declares the capability `roots` (2026-07-28, client/roots,
    /// deprecated). To replace the directories later, use the client's method `set_roots`.
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.handlers.roots = Some(roots.into_iter().collect());
        self
    }

    /// Adds a handler that answers the server's requests with these methods. It replaces earlier handlers of the same methods.
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
            // The future must own the handler, because `handle` borrows it.
            Box::pin(async move { handler.handle(request, context).await })
        });
        self.handlers.methods.push((methods, handler));
        self
    }

    /// Sets the callback that is told when a handler refuses a request of the server, panics, or returns an invalid answer.
    ///
    /// The callback receives the same error as the server. Only the callback receives the message of a panic.
    pub fn on_answer_error(mut self, f: impl Fn(&ServerRequest, &RpcError) + Send + Sync + 'static) -> Self {
        self.handlers.on_error = Some(Arc::new(f));
        self
    }

    /// Sets the callback that receives the notifications of the server.
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

    /// Sets the callback that receives the beginning of each invalid message of the server, without control characters.
    pub fn on_invalid_message(mut self, f: impl FnMut(&str) + Send + 'static) -> Self {
        let f = Mutex::new(f);
        self.hooks().on_invalid_message = Some(Arc::new(move |excerpt| lock(&f)(excerpt)));
        self
    }

    /// Adds an object that observes the connection and its requests, for logs, metrics and spans. Observers are called in the
    /// order in which they were added.
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.hooks().observers.push(Arc::new(observer));
        self
    }

    /// Adds a callback that receives each panic in the program's handlers and callbacks: see [Panics](ConnectOptions#panics).
    ///
    /// Any thread may run the callback. A panic in the callback itself is ignored.
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

    /// Returns the callback that [`ConnectOptions::stderr`] has set, so that a program can call it too. `None` if there is none.
    pub fn stderr_callback(&self) -> Option<impl Fn(&str) + Send + Sync + 'static> {
        let f = self.stderr.clone()?;
        Some(move |line: &str| f(line))
    }

    fn hooks(&mut self) -> &mut Hooks {
        self.hooks.get_or_insert_default()
    }

    /// Converts the options to the form that the clients need for one connection. `definition` is `None` for a pair of streams.
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
        // A connection needs hooks for a subscriber of `tracing`, even if the program has set no callbacks.
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
    /// Returns the HTTP client to use for the connection. It adds the credentials of the authorizer, and calls `on_request` and
    /// the observers. If the program has set no HTTP client, `default` creates one.
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
