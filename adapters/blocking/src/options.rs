//! What a connection may have of its own.

use std::fmt;

use mcpwire_core::shutdown::Patience;
use mcpwire_core::{Ask, Config, Event, Json, RpcError};

use mcpwire_process::Follower;
use mcpwire_process::Watcher;

/// Called with each event that is no reply: notifications, log messages, and what was left aside.
pub(crate) type Listener = Box<dyn FnMut(&Event) + Send>;

/// Answers a request of the server's.
pub(crate) type Answerer = Box<dyn FnMut(&Ask) -> Result<Json, RpcError> + Send>;

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
    /// Answers what the server asks for, and which methods that is, set by [`ConnectOptions::answer`].
    pub(crate) answer: Option<Answerer>,
    /// Called with each event that is no reply, in order, by the thread that waits for an answer.
    pub on_event: Option<Listener>,
}

impl ConnectOptions {
    /// Options with this configuration, and nothing else.
    pub fn new(config: Config) -> Self {
        ConnectOptions { config, ..ConnectOptions::default() }
    }

    /// Sets who answers what servers ask for while a call waits, and which methods that is: with an object, or a refusal.
    /// What servers may ask is up to [`Config::capabilities`]: declare there what is answered here. The thread that waits
    /// for the server calls it, so the server waits as long as it takes.
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
        answer: impl FnMut(&Ask) -> Result<Json, RpcError> + Send + 'static,
    ) -> Self {
        self.config.answers = methods.into_iter().map(Into::into).collect();
        self.answer = Some(Box::new(answer));
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
