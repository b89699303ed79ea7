//! What a connection may have of its own.

use std::fmt;

use mcpwire_core::shutdown::Patience;
use mcpwire_core::{Config, Event};

use mcpwire_process::Follower;
use mcpwire_process::Watcher;

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
    /// Called with each event that is no reply, in order, by the thread that waits for an answer.
    pub on_event: Option<Listener>,
}

impl ConnectOptions {
    /// Options with this configuration, and nothing else.
    pub fn new(config: Config) -> Self {
        ConnectOptions { config, ..ConnectOptions::default() }
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
