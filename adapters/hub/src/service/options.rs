//! [`HubOptions`]: the options with which a hub is opened.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_client::catch_panic;
use mcpwire_driver::{ConnectOptions, Runtime};
use mcpwire_supervisor::{Policy, SupervisorSettings};

use super::call_hooks::{CallDecision, CallHooks, CallQuestion, ToolCall};
use super::tools::ToolOutcome;
use crate::HubError;
use crate::config::McpConfig;
use crate::layout::Layout;
use crate::logins::Logins;
use crate::process_registry::{Host, ProcessRegistry};
use crate::redact::Redactor;
use crate::secrets::{MemorySecrets, SecretStore, Secrets};
use crate::store::Store;
use crate::tasks::{Tasks, panicked};

type Connect = dyn Fn(&McpConfig) -> ConnectOptions + Send + Sync;
type FindRuntime = dyn FnOnce() -> Arc<dyn Runtime> + Send + Sync;
type AdjustPolicy = dyn Fn(&McpConfig, &mut Policy) + Send + Sync;

/// The name of the program that users see when they log in, if the program has not set [`HubOptions::logins`].
const CLIENT_NAME: &str = "mcpwire";

/// The options with which [`Hub::open`](super::Hub::open) opens a hub: the directories of its files, its callbacks, and its
/// limits.
#[must_use]
pub struct HubOptions {
    layout: Option<Layout>,
    runtime: Box<FindRuntime>,
    secrets: Option<Arc<dyn SecretStore>>,
    logins: Option<Logins>,
    callbacks: Callbacks,
    supervisor: SupervisorSettings,
    shutdown_within: Duration,
}

/// The callbacks of the program that a hub calls.
#[derive(Default)]
pub(super) struct Callbacks {
    connect: Option<Box<Connect>>,
    adjust_policy: Option<Box<AdjustPolicy>>,
    pub(super) calls: CallHooks,
}

impl HubOptions {
    /// Creates the options of a hub that stores its files and secrets in the directories of `layout`. The hub runs on the tokio
    /// runtime in which it is opened.
    #[cfg(feature = "tokio")]
    pub fn new(layout: Layout) -> Self {
        Self::with(Some(layout), Box::new(mcpwire_tokio::Tokio::current))
    }

    /// Creates the options of a hub that keeps configurations, secrets and logs in memory, and writes no files. The hub runs on
    /// the tokio runtime in which it is opened.
    ///
    /// If the program is killed, the next hub does not know the servers that are still running, and does not end them. Servers
    /// usually end when their standard input is closed.
    #[cfg(feature = "tokio")]
    pub fn in_memory() -> Self {
        Self::with(None, Box::new(mcpwire_tokio::Tokio::current))
    }

    /// Creates the options of a hub that runs on `runtime`, and stores its files and secrets in the directories of `layout`.
    ///
    /// ```no_run
    /// # #[cfg(feature = "smol")]
    /// # mod mcpwire { pub mod hub { pub use mcpwire_hub::{Hub, HubOptions}; pub mod runtime { pub use
    /// # mcpwire_hub::runtime::Smol; } } }
    /// # #[cfg(feature = "smol")]
    /// # async fn run(layout: mcpwire_hub::layout::Layout) -> Result<(), mcpwire_hub::HubError> {
    /// use mcpwire::hub::{Hub, HubOptions};
    /// use mcpwire::hub::runtime::Smol;
    ///
    /// let hub = Hub::open(HubOptions::on(Smol, layout)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on(runtime: impl Runtime, layout: Layout) -> Self {
        Self::with(Some(layout), Box::new(move || Arc::new(runtime)))
    }

    /// Creates the options of a hub that runs on `runtime`, keeps configurations, secrets and logs in memory, and writes no
    /// files.
    pub fn in_memory_on(runtime: impl Runtime) -> Self {
        Self::with(None, Box::new(move || Arc::new(runtime)))
    }

    fn with(layout: Option<Layout>, runtime: Box<FindRuntime>) -> Self {
        HubOptions {
            layout,
            runtime,
            secrets: None,
            logins: None,
            callbacks: Callbacks::default(),
            supervisor: SupervisorSettings::default(),
            shutdown_within: Duration::from_secs(6),
        }
    }

    mcpwire_client::setters! {
        /// Sets the store of the servers' secrets. If the store panics, the operation that needed a secret fails with the message
        /// of the panic.
        fn secrets(secrets: impl SecretStore + 'static) => secrets = Some(Arc::new(secrets));

        /// Sets where the logins of HTTP servers are stored, and which name of the program users see when they log in. By
        /// default, the name is `mcpwire`, and the logins are in the directory [`Layout::logins`].
        ///
        /// Other connections of the program can share the logins. If the options of a connection ([`connect`](Self::connect))
        /// contain an authorizer or a provider of tokens, the hub uses that instead of the login.
        fn logins(logins: Logins) => logins = Some(logins);

        /// Sets the callback that returns the options of the connection to one server, so that servers can have different
        /// options. The hub calls it for each attempt to start a server. If the callback panics, that attempt fails with the
        /// message of the panic.
        ///
        /// A panic in a handler or callback of these options does not end the connection: see
        /// [`ConnectOptions`](mcpwire_driver::ConnectOptions#panics). The hub writes such a panic to the logs of the server.
        fn connect(connect: impl Fn(&McpConfig) -> ConnectOptions + Send + Sync + 'static)
            => callbacks.connect = Some(Box::new(connect));

        /// Sets the callback that changes the policy of a server, for example its timeouts and automatic restarts. The policy
        /// that it gets is that of the configuration.
        ///
        /// If the callback panics, the change of the configuration that caused its call fails with the message of the panic. If
        /// it panics while the hub is opened, the entry of the server counts as broken ([`Hub::broken`](super::Hub::broken)).
        fn policy(adjust: impl Fn(&McpConfig, &mut Policy) + Send + Sync + 'static)
            => callbacks.adjust_policy = Some(Box::new(adjust));

        /// Sets the callback that decides whether a tool call may be made. The hub calls it when the server runs, before the call
        /// counts towards a rate limit. If the callback panics, the call is denied.
        ///
        /// ```no_run
        /// # mod mcpwire { pub mod hub { pub use mcpwire_hub::HubOptions; pub mod service { pub use
        /// # mcpwire_hub::service::CallDecision; } } }
        /// # #[cfg(feature = "tokio")]
        /// # fn run() {
        /// use mcpwire::hub::HubOptions;
        /// use mcpwire::hub::service::CallDecision;
        ///
        /// let options = HubOptions::in_memory()
        ///     .before_call(|call| match call.tool.as_str() {
        ///         "delete_repository" => CallDecision::Deny("repositories are never deleted".into()),
        ///         "merge" => CallDecision::Ask,
        ///         _ => CallDecision::Allow,
        ///     })
        ///     .on_ask(async |question| question.call.server_name == "github");
        /// # }
        /// ```
        fn before_call(f: impl Fn(&ToolCall) -> CallDecision + Send + Sync + 'static)
            => callbacks.calls.before = Some(Box::new(f));

        /// Sets the callback that receives the outcome of each allowed tool call, and decides whether the caller gets the result.
        /// If the call has failed, the decision has no effect. If the callback panics, the caller does not get the result.
        fn after_call(f: impl Fn(&ToolCall, Result<&ToolOutcome, &HubError>) -> CallDecision + Send + Sync + 'static)
            => callbacks.calls.after = Some(Box::new(f));

        /// Sets the limits of the supervisor, such as the number of servers that may start at the same time and the length of
        /// exposed tool names.
        fn supervisor(settings: SupervisorSettings) => supervisor = settings;

        /// Sets the maximum duration of [`shutdown_all`](super::McpService::shutdown_all). The default is 6 s. Servers that are
        /// still running one second before the end of this time are killed.
        fn shutdown_within(time: Duration) => shutdown_within = time;
    }

    /// Sets the options of the connections to all servers: the name and version of the program, the launcher, the observer, and
    /// the handlers that answer requests of servers (elicitation, sampling, roots). Without a name, servers see the name
    /// `mcpwire`.
    ///
    /// All connections share the handlers. In a handler, [`HandlerContext::server`](mcpwire_driver::HandlerContext::server)
    /// returns the configured name of the server that sent the request. This function replaces the callback that an earlier call
    /// of [`connect`](Self::connect) has set.
    ///
    /// ```no_run
    /// # mod mcpwire { pub mod types { pub use mcpwire_hub::protocol::ElicitResult; } pub mod hub { pub use
    /// # mcpwire_hub::{ConnectOptions, HubOptions}; } }
    /// # #[cfg(feature = "tokio")]
    /// # fn run() {
    /// use mcpwire::hub::{ConnectOptions, HubOptions};
    /// use mcpwire::types::ElicitResult;
    ///
    /// let connections = ConnectOptions::default().client_info("my-app", "1.0").on_elicitation(async |form, context| {
    ///     println!("{} asks: {}", context.server(), form.message);
    ///     Ok(ElicitResult::decline())
    /// });
    /// let options = HubOptions::in_memory().connections(connections);
    /// # }
    /// ```
    pub fn connections(self, options: ConnectOptions) -> Self {
        self.connect(move |_| options.clone())
    }

    /// Sets the callback that decides about a tool call for which another callback has returned [`CallDecision::Ask`], for
    /// example by asking a person. It returns `true` to allow the call. If the callback panics, the call is denied.
    ///
    /// The call waits for the decision without a time limit. The caller may cancel the call meanwhile.
    pub fn on_ask<F>(mut self, f: impl Fn(CallQuestion) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = bool> + Send + 'static,
    {
        self.callbacks.calls.on_ask = Some(Box::new(move |question| Box::pin(f(question))));
        self
    }
}

impl fmt::Debug for HubOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubOptions").field("layout", &self.layout).finish_non_exhaustive()
    }
}

/// The options of an open hub, with the runtime already found. If the hub keeps no files, `layout`, `store` and
/// `process_registry` are `None`.
pub(super) struct Settings {
    pub(super) layout: Option<Layout>,
    pub(super) tasks: Tasks,
    pub(super) store: Option<Arc<Store>>,
    pub(super) process_registry: Option<Arc<ProcessRegistry>>,
    pub(super) secrets: Arc<dyn SecretStore>,
    pub(super) logins: Logins,
    pub(super) callbacks: Callbacks,
    pub(super) supervisor: SupervisorSettings,
    pub(super) shutdown_within: Duration,
    /// A text that identifies this process on this machine. It distinguishes the servers and containers of this hub from those of
    /// other hubs.
    pub(super) host: String,
}

impl Settings {
    /// Returns the policy of a server (its timeouts and restarts), after the program's callback has changed it.
    ///
    /// # Errors
    /// If the callback of [`HubOptions::policy`] panics.
    pub(super) fn policy(&self, config: &McpConfig) -> Result<Policy, HubError> {
        let mut policy = config.policy();
        if let Some(adjust) = &self.callbacks.adjust_policy {
            catch_panic(|| adjust(config, &mut policy))
                .map_err(|message| panicked("`HubOptions::policy`", &message))?;
        }
        Ok(policy)
    }

    /// Returns the options that the program has set for the connection to a server, or the default options.
    ///
    /// # Errors
    /// If the callback of [`HubOptions::connect`] panics. `redactor` removes secrets from the message.
    pub(super) fn connect_options(&self, config: &McpConfig, redactor: &Redactor) -> Result<ConnectOptions, HubError> {
        let Some(connect) = &self.callbacks.connect else { return Ok(ConnectOptions::default()) };
        catch_panic(|| connect(config)).map_err(|message| panicked("`HubOptions::connect`", &redactor.redact(&message)))
    }
}

impl From<HubOptions> for Settings {
    fn from(options: HubOptions) -> Self {
        let HubOptions { layout, runtime, secrets, logins, callbacks, supervisor, shutdown_within } = options;
        let secrets = match (secrets, &layout) {
            (Some(secrets), _) => secrets,
            (None, Some(layout)) => Arc::new(Secrets::in_directory(layout.secrets())) as Arc<dyn SecretStore>,
            (None, None) => Arc::new(Secrets::new(MemorySecrets::default())),
        };
        let logins = logins.unwrap_or_else(|| match &layout {
            Some(layout) => Logins::new(layout, CLIENT_NAME),
            None => Logins::in_memory(CLIENT_NAME),
        });
        Settings {
            store: layout.as_ref().map(|layout| Arc::new(Store::new(layout.servers()))),
            process_registry: layout.as_ref().map(|layout| Arc::new(ProcessRegistry::new(layout.process_registry()))),
            layout,
            tasks: Tasks::new(runtime()),
            secrets,
            logins,
            callbacks,
            supervisor,
            shutdown_within,
            host: Host::current().token(),
        }
    }
}
