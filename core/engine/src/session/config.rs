//! [`Config`] and [`RequestOptions`]. Each limit has a default, and a comment gives the reason for the default.

use core::time::Duration;

use alloc::string::String;
use alloc::vec::Vec;

use super::json_objects::merged;
use crate::cache::CacheLimits;
use crate::json::Json;
use crate::types::{ClientCapabilities, Implementation, LoggingLevel, ProtocolVersion, TraceContext};

/// Which protocol versions a client accepts, and how it finds out what the server supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Negotiate {
    /// Accept every version. Probe the server with `server/discover`, and fall back to `initialize`.
    #[default]
    Auto,
    /// Accept modern versions only.
    Modern,
    /// Accept legacy versions only, and send `initialize` without a probe.
    Legacy,
    /// Accept only this version.
    Version(ProtocolVersion),
}

/// The configuration of a session. Create one with [`Config::new`], and change the fields that need another value.
///
/// ```
/// use core::time::Duration;
/// use mcpwire_core::{Config, Negotiate};
///
/// let mut config = Config::new("my-app", "1.0.0");
/// config.negotiate = Negotiate::Legacy;
/// config.request_timeout = Duration::from_secs(120);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Name and version of the client, which servers get.
    pub client_info: Implementation,
    /// Capabilities of the client, which servers get. Empty by default.
    pub capabilities: ClientCapabilities,
    /// See [`Config::answers`].
    pub(super) answers: Vec<String>,
    /// See [`Config::follow_tasks`].
    follows_tasks: bool,
    /// Which protocol versions to accept.
    pub negotiate: Negotiate,
    /// Minimum level of the log messages that modern servers send. `None`, the default, requests no log messages.
    ///
    /// Legacy servers choose a level themselves. [`Calls::set_log_level`](crate::Calls::set_log_level) sets the level later,
    /// in both eras.
    pub log_level: Option<LoggingLevel>,

    /// Maximum time without progress before a request fails. Default: 30 s.
    ///
    /// The time begins with the request, and again with each progress notification. 30 s is usual for tool calls in the
    /// official clients, and short enough to notice a dead server.
    ///
    /// The timeout is paused while the server waits for an answer of the client, and begins again afterwards. A modern server
    /// names the request that needs the answer, so the pause concerns that request. With a legacy server, the pause concerns
    /// all requests.
    pub request_timeout: Duration,
    /// Maximum time for a request in all, with progress and with answers to the server. Default: 1 h.
    ///
    /// The timeout bounds requests whose server reports progress for ever. Tools are not known to take longer than 1 h.
    pub total_timeout: Duration,
    /// Maximum time for the response to the probe, after which the session sends `initialize` too. Default: 5 s.
    ///
    /// A modern server that is running responds much sooner. A server that is still being installed responds to the first
    /// request that it can read.
    pub probe_timeout: Duration,
    /// Maximum time for opening the connection. Default: 60 s, as package runners first download the server.
    pub connect_timeout: Duration,

    /// Limits of the cache for responses of a modern server (2026-07-28, server/utilities/caching).
    ///
    /// Defaults: 4 MiB, ten times the longest list of tools known; 512 responses, more documents than an agent reads in a
    /// session; 1 day, to bound a mistaken lifetime. [`CacheLimits::NONE`] disables the cache.
    pub cache: CacheLimits,
    /// Maximum size of a received message, in bytes. Default: 64 MiB.
    ///
    /// The default is ten times the largest results known, and a small machine can hold two such messages. A larger message
    /// fails only the request that it responds to.
    pub max_message: usize,
    /// Maximum number of bytes that wait to be sent. Default: 64 MiB, the maximum size of one message.
    ///
    /// Above the limit, new requests fail. A single message may exceed the limit if nothing else waits.
    pub max_transmit: usize,
    /// Maximum number of pending requests. Default: 65,536, far more than programs need at a small cost of memory.
    pub max_in_flight: usize,
    /// Maximum number of subscriptions. Default: 256.
    ///
    /// A program needs a few. Each may hold some hundred KiB of events that nobody polls.
    pub max_subscriptions: usize,
    /// Maximum number of pending requests and inputs of the server. Default: 64, as a person answers one at a time.
    ///
    /// Above the limit, the session refuses further requests, and fails a request of the client that needs more inputs.
    pub max_server_requests: usize,
    /// Maximum number of times that a request is sent again because the server requires input. Default: 10.
    ///
    /// Ten rounds suffice for a long dialogue, and stop a server that never has enough.
    pub max_input_rounds: u32,
    /// Maximum number of bytes that the session keeps for sending requests again. Default: 64 MiB.
    ///
    /// With a modern server, the session keeps the parameters of pending requests and the state that the server gets back. A
    /// request above the limit is sent, but fails if the server requires input. The default is the maximum size of one message.
    pub max_retry_bytes: usize,
    /// Maximum number of tasks that the session follows at once. Default: 1,024.
    ///
    /// Each task is polled, so a program with more tasks should keep their handles instead. The session cancels a task above
    /// the limit, and the call fails.
    pub max_tasks: usize,
}

impl Config {
    /// Creates a configuration with the default values, for a client of this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Config {
            client_info: Implementation::new(name, version),
            capabilities: ClientCapabilities::default(),
            answers: Vec::new(),
            follows_tasks: false,
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

    /// Lets the session call a tool as a task if the tool requires that (2025-11-25, basic/utilities/tasks, "Tool-Level
    /// Negotiation").
    ///
    /// The call ends with the result of the task. By default, such a call fails before anything is sent, with
    /// [`SendError::TaskRequired`](crate::SendError::TaskRequired), because a task may take longer than its caller expects of a
    /// call. A call that requests a task with [`RequestOptions::task`] does not need this setting.
    pub fn follow_tasks(&mut self) {
        self.follows_tasks = true;
    }

    /// Declares that servers may answer any call with a task, which the session follows. Includes [`Config::follow_tasks`].
    ///
    /// Servers from 2026-07-28 on need the declaration (the extension `io.modelcontextprotocol/tasks`, "Capability
    /// Negotiation"), and decide for each call. Servers of 2025-11-25 do not need it.
    pub fn declare_tasks(&mut self) {
        self.follow_tasks();
        self.capabilities.declare_tasks();
    }

    /// Returns whether [`Config::follow_tasks`] was called.
    pub(crate) fn follows_tasks(&self) -> bool {
        self.follows_tasks
    }

    /// Returns the configuration for a restarted server, after [`Event::Restart`](crate::Event::Restart).
    ///
    /// The new configuration accepts legacy versions only. `spent` is the time since the opening began; it is subtracted from
    /// the connect timeout.
    pub fn for_restart(&self, spent: Duration) -> Self {
        self.clone().after_restart(spent)
    }

    pub(crate) fn after_restart(mut self, spent: Duration) -> Self {
        self.negotiate = Negotiate::Legacy;
        self.connect_timeout = self.connect_timeout.saturating_sub(spent).max(Duration::from_millis(1));
        self
    }
}

impl Default for Config {
    /// Creates a configuration with the name and version of this library.
    fn default() -> Self {
        Config::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }
}

/// The options of one request.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct RequestOptions {
    /// Maximum time without progress, instead of [`Config::request_timeout`].
    pub timeout: Option<Duration>,
    /// Maximum time in all, instead of [`Config::total_timeout`].
    pub total_timeout: Option<Duration>,
    /// Whether the request asks for progress notifications.
    pub(crate) progress: bool,
    /// Members for the `_meta` of the request, as a JSON object.
    pub meta: Option<Json>,
    /// Whether to send the request even if a fresh response is cached.
    pub fresh: bool,
    /// Whether to return a stale cached response if the request fails.
    pub stale_if_error: bool,
    /// Whether the call may become a task. Concerns `tools/call` only.
    pub(crate) task: TaskMode,
    /// How long a server of 2025-11-25 should keep the task after its creation. Later servers ignore this.
    pub task_ttl: Option<Duration>,
    /// Whether the server may carry out the request twice.
    ///
    /// Then the engine sends the request again if the session of the server was lost before the response. Only HTTP has such
    /// sessions.
    pub repeatable: bool,
}

/// Whether a `tools/call` may become a task, and who polls the task.
///
/// | | from 2026-07-28 on, a server may answer with a task | in 2025-11-25, the client requests a task |
/// |---|---|---|
/// | `Session` | if the client declares tasks; the session polls | if the tool requires it and [`Config::follow_tasks`] was called; the session polls |
/// | `Follow` | always; the session polls | if server and tool allow it; the session polls |
/// | `Handle` | always; the caller gets the task | if server and tool allow it; the caller gets the task |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskMode {
    /// The configuration decides: see [`Config::follow_tasks`] and [`Config::declare_tasks`].
    #[default]
    Session,
    /// The session polls the task, and the call ends with the result of the task.
    Follow,
    /// The call ends with the task. For [`CallToolAsTask`](crate::CallToolAsTask).
    Handle,
}

impl RequestOptions {
    /// Creates options with the defaults of the session.
    pub fn new() -> Self {
        RequestOptions::default()
    }

    /// Sets the maximum time without progress.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the maximum time in all.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }

    /// Returns whether the request asks for progress notifications.
    pub fn wants_progress(&self) -> bool {
        self.progress
    }

    /// Asks the server for progress notifications. Each of them restarts the timeout, but not the total timeout.
    pub fn progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Sends the request even if a fresh response is cached.
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Returns a stale cached response if the request fails.
    pub fn stale_if_error(mut self) -> Self {
        self.stale_if_error = true;
        self
    }

    /// Sets whether the call may become a task.
    pub fn task(mut self, mode: TaskMode) -> Self {
        self.task = mode;
        self
    }

    /// Returns whether the call may become a task.
    pub fn task_mode(&self) -> TaskMode {
        self.task
    }

    /// Sets how long a server of 2025-11-25 should keep the task.
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.task_ttl = Some(ttl);
        self
    }

    /// Adds a trace context to `_meta`. Replaces members of the same names.
    pub fn trace_context(mut self, context: &TraceContext) -> Self {
        let context = context.to_json();
        self.meta = Some(match &self.meta {
            // The session refuses a `_meta` that is not an object when the request is sent.
            Some(meta) if !meta.is_object() => return self,
            Some(meta) => merged(&context, meta),
            None => context,
        });
        self
    }

    /// Returns a copy with a trace context, unless `_meta` has one already.
    ///
    /// For adapters, which get the context from the program's tracing library.
    pub fn in_trace(&self, context: &TraceContext) -> Self {
        let named = self.meta.as_ref().is_some_and(|meta| meta.member_text("traceparent").is_some());
        if named { self.clone() } else { self.clone().trace_context(context) }
    }

    /// Allows the server to carry out the request twice.
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Sets the members of `_meta`.
    pub fn meta(mut self, meta: Json) -> Self {
        self.meta = Some(meta);
        self
    }
}
