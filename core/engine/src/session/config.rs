//! [`Config`]. The comment of each limit states the default and the reason for it.

use core::time::Duration;

use alloc::string::String;
use alloc::vec::Vec;

use crate::cache::CacheLimits;
use mcpwire_text::json::{Json, JsonText};
use mcpwire_types::{ClientCapabilities, Implementation, LoggingLevel, ProtocolVersion, TASKS_EXTENSION};

/// Which protocol versions a client accepts, and how it determines which versions the server supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "ProtocolMode")]
pub enum Negotiate {
    /// The client accepts every version. It sends `server/discover` first, and `initialize` if the server does not
    /// support `server/discover`.
    #[default]
    Auto,
    /// The client accepts only modern versions (from revision 2026-07-28).
    Modern,
    /// The client accepts only legacy versions (up to revision 2025-11-25). It sends `initialize` without trying
    /// `server/discover` first.
    Legacy,
    /// The client accepts only this version. It first sends `server/discover` for a modern version, or `initialize` for
    /// a legacy version.
    Version(ProtocolVersion),
}

/// The configuration of a session. Create one with [`Config::new`], and change the fields that need another value.
///
/// ```
/// use core::time::Duration;
/// # mod mcpwire { pub use mcpwire_core::{Config, Negotiate}; }
/// use mcpwire::{Config, Negotiate};
///
/// let mut config = Config::new("my-app", "1.0.0");
/// config.negotiate = Negotiate::Legacy;
/// config.request_timeout = Duration::from_secs(120);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Name and version of the client, which are sent to the server.
    pub client_info: Implementation,
    /// Capabilities of the client, which are sent to the server. Empty by default.
    pub capabilities: ClientCapabilities,
    /// Methods of server requests that the embedder answers. See [`Config::answers`].
    pub(super) answers: Vec<String>,
    pub(crate) follows_tasks: bool,
    pub(super) reports_requests: bool,
    /// Which protocol versions the client accepts. Default: [`Negotiate::Auto`].
    pub negotiate: Negotiate,
    /// Minimum level of the log messages that a modern server (from revision 2026-07-28) sends. `None`, the default,
    /// requests no log messages.
    ///
    /// This field has no effect on legacy servers, which choose a level themselves. To change the level on an open
    /// connection to any server, call [`Calls::set_log_level`](crate::Calls::set_log_level).
    pub log_level: Option<LoggingLevel>,

    /// Maximum time a request waits for a response or a progress notification. Default: 30 s.
    ///
    /// The timeout starts when the request is sent, and restarts with each progress notification. 30 s is usual for
    /// tool calls in the official clients, and short enough to detect a dead server.
    ///
    /// While the server waits for an answer from the client, the timeout is paused. It restarts when the client has
    /// answered. A modern server names the request for which it needs the answer, so only that request is paused. With
    /// a legacy server, all requests are paused.
    pub request_timeout: Duration,
    /// Maximum total duration of a request. Default: 1 h, because no tool is known to run longer.
    ///
    /// Progress notifications do not extend the limit, so it ends requests whose server reports progress forever. The
    /// time in which the client answers requests of the server counts too.
    pub total_timeout: Duration,
    /// Maximum time to wait for the response to `server/discover` before the session also sends `initialize`. Default:
    /// 5 s.
    ///
    /// A modern server that is running responds much sooner. If the server is still starting, it receives both requests
    /// once it runs, and the first usable response opens the connection.
    pub probe_timeout: Duration,
    /// Maximum time for opening the connection. Default: 60 s, because a command such as `npx` may first download the
    /// server.
    pub connect_timeout: Duration,

    /// Limits of the response cache. [`CacheLimits::NONE`] disables the cache.
    ///
    /// Default: at most 512 responses and 4 MiB, ten times the size of the longest known list of tools. A response is
    /// fresh for at most 1 day, even if the server declares a longer lifetime. Only responses of modern servers are
    /// cached (from revision 2026-07-28, specification: server/utilities/caching).
    pub cache: CacheLimits,
    /// Maximum size of a received message, in bytes. Default: 64 MiB, ten times the size of the largest known response.
    ///
    /// The session discards a larger message. If the message is a response, the request that it belongs to fails.
    pub max_message: usize,
    /// Maximum number of bytes that may wait to be sent. Default: 64 MiB, the same as [`Config::max_message`].
    ///
    /// While more bytes are waiting, new requests fail. A single message may be larger than the limit if no other bytes
    /// are waiting.
    pub max_transmit: usize,
    /// Maximum number of requests of the client without a reply. Default: 65,536.
    ///
    /// A program needs far fewer, and each request occupies little memory. At the limit, new requests fail with
    /// [`SendError::TooManyInFlight`](crate::SendError::TooManyInFlight).
    pub max_in_flight: usize,
    /// Maximum number of subscriptions at the same time. Default: 256.
    ///
    /// A program usually needs only a few. The limit bounds the memory for subscription events that the embedder has
    /// not polled, which can reach several hundred KiB for each subscription.
    pub max_subscriptions: usize,
    /// Maximum number of server requests, such as `elicitation/create`, that wait for an answer from the embedder.
    /// Default: 64.
    ///
    /// At the limit, the session refuses further requests of a legacy server (up to revision 2025-11-25). The inputs
    /// that a modern server requires count too: if they would exceed the limit, the client's request that needs them
    /// fails.
    pub max_server_requests: usize,
    /// Maximum number of times that the session sends one request again because the server requires further input.
    /// Default: 10, which is enough for a long dialogue.
    ///
    /// If the server requires input once more, the request fails.
    pub max_input_rounds: u32,
    /// Maximum number of bytes that the session stores, for all pending requests together, to send them again with
    /// input. Default: 64 MiB, the same as [`Config::max_message`].
    ///
    /// Modern servers (from revision 2026-07-28) may require input. The session therefore stores the parameters of each
    /// request, and the server's `requestState`. A request whose parameters exceed the limit is sent, but fails if the
    /// server requires input.
    pub max_retry_bytes: usize,
    /// Maximum number of tasks that the session polls at the same time. Default: 1,024.
    ///
    /// If a tool call becomes a task when the limit is reached, the session cancels the task, and the tool call fails.
    /// A program with more tasks can receive and poll them itself, with [`TaskMode::Handle`](super::TaskMode::Handle).
    pub max_tasks: usize,
}

impl Config {
    /// Creates a configuration with default values, for a client with this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Config {
            client_info: Implementation::new(name, version),
            capabilities: ClientCapabilities::default(),
            answers: Vec::new(),
            follows_tasks: false,
            reports_requests: false,
            negotiate: Negotiate::Auto,
            log_level: None,
            request_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(3600),
            probe_timeout: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(60),
            cache: CacheLimits::new(4 << 20, 512, Duration::from_secs(24 * 3600)),
            max_message: 64 << 20,
            max_transmit: 64 << 20,
            max_in_flight: 65_536,
            max_subscriptions: 256,
            max_server_requests: 64,
            max_input_rounds: 10,
            max_retry_bytes: 64 << 20,
            max_tasks: 1_024,
        }
    }

    /// Allows the session to call a tool as a task if the tool requires a task (revision 2025-11-25,
    /// basic/utilities/tasks, "Tool-Level Negotiation").
    ///
    /// The call ends with the result of the task. By default, calling a tool that requires a task fails with
    /// [`SendError::TaskRequired`](crate::SendError::TaskRequired) before anything is sent, because a task may take
    /// longer than the caller of a tool expects. A call that sets [`RequestOptions::task`](super::RequestOptions::task) does not need this setting.
    pub fn follow_tasks(&mut self) {
        self.follows_tasks = true;
    }

    /// Declares that the server may respond to any tool call with a task, which the session polls until the task ends.
    /// Also enables [`Config::follow_tasks`].
    ///
    /// Servers from revision 2026-07-28 on create tasks only if the client declares the extension
    /// `io.modelcontextprotocol/tasks` ("Capability Negotiation"). The server decides for each call whether to create a
    /// task. Servers of revision 2025-11-25 do not need the declaration.
    pub fn declare_tasks(&mut self) {
        self.follow_tasks();
        declare_tasks(&mut self.capabilities);
    }

    /// Makes the session report each request that it sends for the embedder, with
    /// [`Event::RequestSent`](crate::Event::RequestSent). By default, it reports only the replies.
    pub fn report_requests(&mut self) {
        self.reports_requests = true;
    }

    /// Returns a copy of this configuration for connecting to a restarted server, after
    /// [`Event::Restart`](crate::Event::Restart).
    ///
    /// The copy accepts legacy versions only (up to revision 2025-11-25). Its connect timeout is shorter by `spent`,
    /// the time since the first attempt to connect began.
    pub fn for_restart(&self, spent: Duration) -> Self {
        let mut config = self.clone();
        config.negotiate = Negotiate::Legacy;
        config.connect_timeout = self.connect_timeout.saturating_sub(spent).max(Duration::from_millis(1));
        config
    }
}

impl Default for Config {
    /// Creates a configuration with default values, and with the name and version of this library for the client.
    fn default() -> Self {
        Config::new("mcpwire", env!("CARGO_PKG_VERSION"))
    }
}

/// Declares the tasks extension, so that the server may respond to `tools/call` with a task (extension
/// `io.modelcontextprotocol/tasks`, "Capability Negotiation").
pub(super) fn declare_tasks(capabilities: &mut ClientCapabilities) {
    capabilities.declare_extension(TASKS_EXTENSION, Json::trusted("{}"));
}
