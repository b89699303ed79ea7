//! What the embedder decides. Every limit has a default, and each default its reason.

use core::time::Duration;

use alloc::string::String;
use alloc::vec::Vec;

use super::json_objects::merged;
use crate::cache::CacheLimits;
use crate::json::Json;
use crate::types::{ClientCapabilities, Implementation, LoggingLevel, ProtocolVersion, TraceContext};

/// Which era to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Negotiate {
    /// Find out: ask with `server/discover`, and fall back to `initialize`.
    #[default]
    Auto,
    /// Modern only, whatever version the server has.
    Modern,
    /// Legacy only: `initialize` at once. Also the way to hand in an earlier verdict.
    Legacy,
    /// This version and no other.
    Version(ProtocolVersion),
}

/// The configuration of a session. Make one with [`Config::new`] and change what is to be other than the default.
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
    /// Who the client is, as servers are told.
    pub client_info: Implementation,
    /// What the client can do, as servers are told. Empty by default: nothing that servers could ask for.
    pub capabilities: ClientCapabilities,
    /// See [`Config::answers`].
    pub(super) answers: Vec<String>,
    /// See [`Config::follow_tasks`].
    follows_tasks: bool,
    /// Which era to speak.
    pub negotiate: Negotiate,
    /// The lowest level of log messages to ask modern servers for; `None`, the default, asks for none. (Legacy servers
    /// decide for themselves until they are told.) [`Calls::set_log_level`](crate::Calls::set_log_level) changes it
    /// later, in both eras.
    pub log_level: Option<LoggingLevel>,

    /// How long an answer may take, counted from the request or from the last progress of it. 30 s: what the official
    /// clients' users are used to for tools, and short enough to notice a dead server.
    ///
    /// While the server waits for an answer of ours, be it from a person, this time does not run, and it begins anew after
    /// that: for a modern server, for the request that the answer is for; for a legacy one, which does not say that, for all
    /// requests.
    pub request_timeout: Duration,
    /// How long an answer may take at all, progress or not, with all that the server asks for meanwhile. 1 h: a bound for
    /// servers that report progress for ever, above what tools are known to take.
    pub total_timeout: Duration,
    /// How long a silent server is waited for before `initialize` is sent as well. 5 s: a modern server that is running has
    /// answered long before, and one that is still being installed answers whatever came first.
    pub probe_timeout: Duration,
    /// How long the opening may take. 60 s: package runners download the server first.
    pub connect_timeout: Duration,

    /// How much is kept of the answers of a modern server, for as long as it says that they hold
    /// (2026-07-28, server/utilities/caching). 4 MiB: ten times the longest list of tools seen in the field. 512 answers: an agent
    /// reads fewer documents in a sitting. A day at most: what a server says by mistake is not for ever.
    /// [`CacheLimits::NONE`] asks the server each time.
    pub cache: CacheLimits,
    /// The longest message that is taken in, in bytes. 64 MiB: ten times the largest results seen in the field, and what a
    /// small machine can hold twice. A longer one fails its own request only.
    pub max_message: usize,
    /// The most bytes that may wait to be sent before a request is refused. 64 MiB: one message of the greatest length. A
    /// single message may exceed it if nothing else waits.
    pub max_transmit: usize,
    /// The most requests that may wait for an answer. 65 536: beyond any use, below what costs memory that matters.
    pub max_in_flight: usize,
    /// The most subscriptions at a time. 256: a program has a few, and each may hold some hundred KiB of what nobody takes.
    pub max_subscriptions: usize,
    /// The most that the server may ask for at a time: further requests of its are refused, and a request of ours whose
    /// server wants more for it fails. 64: a person is asked one at a time.
    pub max_asks: usize,
    /// How often a request may be sent again because the server wants input, or asks for patience, before it answers. 10: a
    /// dialogue of ten steps, and few enough for a server that never has enough.
    pub max_rounds: u32,
    /// The most bytes that may be kept for sending requests again: the parameters of what is on its way, and what servers
    /// want to have back. Modern servers only. 64 MiB: one message of the greatest length. A request beyond it is sent all
    /// the same, and fails if the server wants input for it.
    pub max_kept: usize,
    /// The most tasks that may be followed at once. 1,024: each is asked for now and then, and a program that has more under
    /// way keeps their handles. One that comes on top is cancelled, and its call fails.
    pub max_tasks: usize,
}

impl Config {
    /// The defaults, for a client of this name and version.
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
            max_asks: 64,
            max_rounds: 10,
            max_kept: 64 << 20,
            max_tasks: 1_024,
        }
    }

    /// Calls a tool as a task where the tool can be called in no other way (2025-11-25, basic/utilities/tasks, "Tool-Level
    /// Negotiation"). The call ends with the task's result. Without this, such a call is refused before anything is sent
    /// ([`SendError::TaskRequired`](crate::SendError::TaskRequired)), unless it asks for a task itself
    /// ([`RequestOptions::task`]): a task may run for longer than its caller expects of a call.
    pub fn follow_tasks(&mut self) {
        self.follows_tasks = true;
    }

    /// The same, and declares that any call may be answered with a task, which the session follows: servers from 2026-07-28
    /// on decide for each call (the extension `io.modelcontextprotocol/tasks`, "Capability Negotiation"). Those of
    /// 2025-11-25 need no such word.
    pub fn declare_tasks(&mut self) {
        self.follow_tasks();
        self.capabilities.declare_tasks();
    }

    /// Whether tasks are followed unasked.
    pub(crate) fn follows_tasks(&self) -> bool {
        self.follows_tasks
    }

    /// What is left of it for a server that is started once more after [`Event::Restart`](crate::Event::Restart), when
    /// `spent` has passed since the opening began.
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
    /// A client that gives the library's name as its own.
    fn default() -> Self {
        Config::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }
}

/// What one request may have of its own.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct RequestOptions {
    /// In place of [`Config::request_timeout`].
    pub timeout: Option<Duration>,
    /// In place of [`Config::total_timeout`].
    pub total_timeout: Option<Duration>,
    /// Whether the server is asked to report progress.
    pub(crate) progress: bool,
    /// Members to put into the request's `_meta`: an object.
    pub meta: Option<Json>,
    /// Ask the server, also if an earlier answer still holds.
    pub fresh: bool,
    /// If no answer comes, or an error does, take an earlier answer that holds no more, where there is one.
    pub stale_if_error: bool,
    /// Whether the request may become a task, and what of it then. Calls of tools only.
    pub(crate) task: TaskMode,
    /// For how long from its creation on a server of 2025-11-25 is to keep such a task. Later ones decide for themselves.
    pub task_ttl: Option<Duration>,
    /// It does no harm if the server carries the request out twice: it may be sent again when the session was lost before the
    /// answer came. Only HTTP knows of such sessions.
    pub repeatable: bool,
}

/// What is to become of a call of a tool that the server answers with a task.
///
/// | | servers from 2026-07-28 on decide for each call | servers of 2025-11-25 are asked for a task |
/// |---|---|---|
/// | `Session` | if the client's capabilities declare tasks, they may, and the task is followed | where a tool can be called in no other way and the session is to follow tasks |
/// | `Follow` | they may, and the task is followed | where they take such requests, and the task is followed |
/// | `Handle` | they may, and the caller gets the task | where they take such requests, and the caller gets the task |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskMode {
    /// As the session is configured: see [`Config::follow_tasks`] and [`Config::declare_tasks`].
    #[default]
    Session,
    /// The call ends with the result of the task, which the session asks for in the meantime.
    Follow,
    /// The call ends with the task: for [`CallToolAsTask`](crate::CallToolAsTask).
    Handle,
}

impl RequestOptions {
    /// The defaults of the session.
    pub fn new() -> Self {
        RequestOptions::default()
    }

    /// Sets how long the answer may take, counted from the request or from its last progress.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets how long the answer may take at all.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }

    /// Whether the server is asked to report progress.
    pub fn wants_progress(&self) -> bool {
        self.progress
    }

    /// Asks the server to report progress. Its reports put off the timeout, not the total one.
    pub fn progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Asks the server, also if an earlier answer still holds.
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Takes an earlier answer that holds no more, rather than an error.
    pub fn stale_if_error(mut self) -> Self {
        self.stale_if_error = true;
        self
    }

    /// Sets whether the call may become a task, and what of it then.
    pub fn task(mut self, mode: TaskMode) -> Self {
        self.task = mode;
        self
    }

    /// Whether the call may become a task, and what of it then.
    pub fn task_mode(&self) -> TaskMode {
        self.task
    }

    /// Sets for how long a server of 2025-11-25 is to keep a task.
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.task_ttl = Some(ttl);
        self
    }

    /// Says where the request belongs in a trace: adds to `_meta`, in place of what stands there under the same names.
    pub fn trace_context(mut self, context: &TraceContext) -> Self {
        let context = context.to_json();
        self.meta = Some(match &self.meta {
            // What is no object stays what it is, and is refused when it is sent.
            Some(meta) if !meta.is_object() => return self,
            Some(meta) => merged(&context, meta),
            None => context,
        });
        self
    }

    /// The same options within a trace, unless they name one themselves: for adapters, which ask the program's own tracing.
    pub fn in_trace(&self, context: &TraceContext) -> Self {
        let named = self.meta.as_ref().is_some_and(|meta| meta.member::<Json>("traceparent").is_some());
        if named { self.clone() } else { self.clone().trace_context(context) }
    }

    /// Says that it does no harm if the server carries the request out twice.
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Sets members of `_meta`.
    pub fn meta(mut self, meta: Json) -> Self {
        self.meta = Some(meta);
        self
    }
}
