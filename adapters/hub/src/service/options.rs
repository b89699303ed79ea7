//! [`HubOptions`]: what a hub may have of its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcpwire_driver::{ConnectOptions, Runtime};
use mcpwire_supervisor::{Policy, SupervisorSettings};

use crate::config::McpConfig;
use crate::layout::Layout;
use crate::ledger::{Host, Ledger};
use crate::secrets::{SecretStore, Secrets};
use crate::store::Store;
use crate::tasks::Tasks;

type Connect = dyn Fn(&McpConfig) -> ConnectOptions + Send + Sync;
type FindRuntime = dyn FnOnce() -> Arc<dyn Runtime> + Send + Sync;
type Tune = dyn Fn(&McpConfig, &mut Policy) + Send + Sync;

/// What a hub may have of its own.
#[must_use]
pub struct HubOptions {
    layout: Layout,
    runtime: Box<FindRuntime>,
    secrets: Option<Box<dyn SecretStore>>,
    connect: Option<Box<Connect>>,
    tune: Option<Box<Tune>>,
    supervisor: SupervisorSettings,
    shutdown_within: Duration,
}

impl HubOptions {
    /// Creates the options of a hub that keeps its files in `layout`, and secrets in files, too. The hub runs on the tokio
    /// runtime in which it is opened.
    #[cfg(feature = "tokio")]
    pub fn new(layout: Layout) -> Self {
        Self::with(layout, Box::new(<mcpwire_tokio::Tokio as mcpwire_driver::CurrentRuntime>::current))
    }

    /// Creates the options of a hub on another runtime.
    ///
    /// ```no_run
    /// # #[cfg(feature = "smol")]
    /// # async fn run(layout: mcpwire_hub::layout::Layout) -> Result<(), mcpwire_hub::HubError> {
    /// use mcpwire_hub::{Hub, HubOptions, runtime::Smol};
    ///
    /// let hub = Hub::open(HubOptions::on(Smol, layout)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on(runtime: impl Runtime, layout: Layout) -> Self {
        Self::with(layout, Box::new(move || Arc::new(runtime)))
    }

    fn with(layout: Layout, runtime: Box<FindRuntime>) -> Self {
        HubOptions {
            layout,
            runtime,
            secrets: None,
            connect: None,
            tune: None,
            supervisor: SupervisorSettings::default(),
            shutdown_within: Duration::from_secs(6),
        }
    }

    /// Keeps secrets elsewhere. If the store panics, what it was asked for fails with the message.
    pub fn secrets(mut self, secrets: impl SecretStore + 'static) -> Self {
        self.secrets = Some(Box::new(secrets));
        self
    }

    /// Says how connections are opened: who the client is, and who answers what a server asks for. Called for each attempt to
    /// start a server. If it panics, that attempt fails with the message.
    ///
    /// A panic in a handler or callback of the options ends no connection
    /// ([`ConnectOptions`](mcpwire_driver::ConnectOptions#panics)), and is a line of the server's logs.
    pub fn connect(mut self, connect: impl Fn(&McpConfig) -> ConnectOptions + Send + Sync + 'static) -> Self {
        self.connect = Some(Box::new(connect));
        self
    }

    /// Changes the rules that servers live by, such as how often they are started again. If it panics, the change of the
    /// configuration that it was called for fails with the message; when the hub is opened, the entry is a broken one.
    pub fn policy(mut self, tune: impl Fn(&McpConfig, &mut Policy) + Send + Sync + 'static) -> Self {
        self.tune = Some(Box::new(tune));
        self
    }

    /// Sets how many servers start at the same time, and how long names of tools may be.
    pub fn supervisor(mut self, settings: SupervisorSettings) -> Self {
        self.supervisor = settings;
        self
    }

    /// Sets how long the end of everything may take. 6 s by default: a second before, what is left is ended by force.
    pub fn shutdown_within(mut self, time: Duration) -> Self {
        self.shutdown_within = time;
        self
    }
}

impl fmt::Debug for HubOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubOptions").field("layout", &self.layout).finish_non_exhaustive()
    }
}

/// The options of a hub that runs.
pub(super) struct Settings {
    pub(super) layout: Layout,
    pub(super) tasks: Tasks,
    pub(super) store: Arc<Store>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) secrets: Arc<dyn SecretStore>,
    pub(super) connect: Option<Box<Connect>>,
    pub(super) tune: Option<Box<Tune>>,
    pub(super) supervisor: SupervisorSettings,
    pub(super) shutdown_within: Duration,
    /// Which process this is, for what it leaves behind to be told from what others do.
    pub(super) host: String,
}

impl Settings {
    pub(super) fn of(options: HubOptions) -> Self {
        let HubOptions { layout, runtime, secrets, connect, tune, supervisor, shutdown_within } = options;
        let store = Arc::new(Store::new(layout.servers()));
        let ledger = Arc::new(Ledger::new(layout.ledger()));
        let secrets = match secrets {
            Some(secrets) => Arc::from(secrets),
            None => Arc::new(Secrets::in_directory(layout.secrets())) as Arc<dyn SecretStore>,
        };
        let host = Host::current().token();
        let tasks = Tasks::new(runtime());
        Settings { layout, tasks, store, ledger, secrets, connect, tune, supervisor, shutdown_within, host }
    }
}
