//! What a connection may have of its own.

use std::fmt;
use std::sync::Arc;

use mcpwire_core::Config;
use mcpwire_core::shutdown::Patience;
use mcpwire_process::{Follower, Watcher};

use crate::answers::{Answer, AnyAnswer};

/// Options of [`McpClient::connect_with`](crate::McpClient::connect_with) and [`McpClient::over`](crate::McpClient::over).
///
/// What is called here is called by the task that drives the connection, in order, with no lock held. It should be quick:
/// nothing of the connection moves meanwhile.
#[derive(Default)]
#[non_exhaustive]
pub struct ConnectOptions {
    /// Who the client is, what it speaks, and its limits. Timeouts of the server's definition go before those in here.
    pub config: Config,
    /// How long each step of the shutdown is given.
    pub patience: Patience,
    /// Called with each line that the server writes on standard error. The text is the server's: see
    /// [`printable`](mcpwire_core::printable).
    pub stderr: Option<Follower>,
    /// Called with each message as it goes over the wire.
    pub trace: Option<Watcher>,
    pub(crate) answer: Option<Arc<dyn AnyAnswer>>,
}

impl ConnectOptions {
    /// Options with this configuration, and nothing else.
    pub fn new(config: Config) -> Self {
        ConnectOptions { config, ..ConnectOptions::default() }
    }

    /// Sets who answers what servers ask for, and which methods that is. What servers may ask is up to
    /// [`Config::capabilities`]: declare there what is answered here.
    pub fn answer<S: Into<String>>(mut self, methods: impl IntoIterator<Item = S>, answer: impl Answer) -> Self {
        self.config.answers = methods.into_iter().map(Into::into).collect();
        self.answer = Some(Arc::new(answer));
        self
    }
}

impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("config", &self.config)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
