//! [`Policy`]: the timeouts, restarts and health checks of a server.

use core::time::Duration;

/// How a server is packaged, which determines the program that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PackageKind {
    /// An npm package, started by `npx`.
    Npm,
    /// A package of the Python Package Index, started by `uvx`.
    Pypi,
    /// A container image, started by `docker run`.
    Docker,
    /// A program on the local machine.
    Binary,
    /// A server reached over HTTP. No process is started.
    Http,
}

impl PackageKind {
    /// Returns whether a server of this kind may have to download its package at the first start, which can take
    /// minutes.
    pub const fn is_fetched(self) -> bool {
        matches!(self, PackageKind::Npm | PackageKind::Pypi | PackageKind::Docker)
    }
}

/// Whether the supervisor restarts a server automatically after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Restart {
    /// The server is restarted after a temporary failure, as often as the [`Budget`] allows.
    #[default]
    OnFailure,
    /// The server is never restarted automatically.
    Never,
}

/// Limits the number of automatic restarts of a server that fails repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of automatic restarts within the time window [`within`](Self::within). 5 by default; values above
    /// 1,000 count as 1,000.
    ///
    /// If the server fails again after that many restarts in the window, it enters
    /// [`State::Failed`](crate::State::Failed) and is not restarted.
    pub restarts: u32,
    /// Length of the sliding time window in which [`restarts`](Self::restarts) are counted. 120 s by default.
    pub within: Duration,
    /// Number of attempts to run the server that may fail in a row. After that many failures, the server is not
    /// restarted automatically, however long the time between them. 10 by default.
    ///
    /// A failure after a run of at least [`Policy::stable_after`] counts as the first again.
    pub attempts: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { restarts: 5, within: Duration::from_secs(120), attempts: 10 }
    }
}

/// Settings of health probes, which detect that a server no longer responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// Time without messages from the server after which a probe is sent. `None` disables probes. [`Policy::new`] sets
    /// 60 s for HTTP servers, and `None` for local servers.
    ///
    /// The operating system reports when a local server exits, so local servers need no probes.
    pub every: Option<Duration>,
    /// Maximum time to wait for the response to a health probe. 10 s by default.
    pub answer_within: Duration,
    /// Number of consecutive unanswered health probes after which the server counts as failed. 3 by default; 0 counts
    /// as 1.
    pub misses: u32,
}

impl Default for Health {
    fn default() -> Self {
        Health { every: None, answer_within: Duration::from_secs(10), misses: 3 }
    }
}

/// The timeouts, restarts, health probes and idle behaviour of a server.
///
/// ```
/// # mod mcpwire { pub mod hub { pub mod supervisor { pub use mcpwire_supervisor::{PackageKind, Policy}; } } }
/// use core::time::Duration;
/// use mcpwire::hub::supervisor::{PackageKind, Policy};
///
/// let mut policy = Policy::new(PackageKind::Npm);
/// assert_eq!(policy.first_start_timeout, Duration::from_secs(180));
/// policy.lazy = true;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// How the server is packaged, which determines the program that starts it.
    pub kind: PackageKind,
    /// Maximum time from [`Effect::Launch`](crate::Effect::Launch) until the process runs or the connection is open. 30
    /// s by default.
    pub launch_timeout: Duration,
    /// Maximum duration of the version negotiation, if an earlier negotiation with this server has succeeded. 60 s by
    /// default.
    pub negotiate_timeout: Duration,
    /// Maximum duration of the version negotiation before any negotiation with this server has succeeded. 180 s by
    /// default for downloaded packages, otherwise 60 s.
    ///
    /// The first start may have to download the package. If `negotiate_timeout` is longer than this timeout,
    /// `negotiate_timeout` applies.
    pub first_start_timeout: Duration,
    /// Maximum time to load the complete tool list. 30 s by default.
    pub list_timeout: Duration,
    /// Maximum time from [`Effect::Stop`](crate::Effect::Stop) until the server is killed
    /// ([`Effect::Kill`](crate::Effect::Kill)). 7 s by default, which is one second longer than the default duration of
    /// the graceful shutdown.
    pub stop_timeout: Duration,
    /// Whether the server is restarted automatically after a failure.
    pub restart: Restart,
    /// Limits the number of automatic restarts of the server.
    pub budget: Budget,
    /// Delay before the first automatic restart. 1 s by default. The delay doubles with each further failure, and
    /// varies randomly by up to 20 %.
    pub first_backoff: Duration,
    /// Maximum delay before an automatic restart, without the random variation. 30 s by default. The server can request
    /// a longer delay with `Retry-After`.
    pub longest_backoff: Duration,
    /// Time after which a running server counts as stable. If it fails later, its earlier failures no longer count
    /// towards [`Budget::attempts`]. 60 s by default.
    pub stable_after: Duration,
    /// Whether the server starts only when one of its tools is called, and stops when it is idle. `false` by default.
    pub lazy: bool,
    /// Time without tool calls after which a [`lazy`](Self::lazy) server is stopped. 300 s by default.
    pub idle_after: Duration,
    /// Maximum time that a tool call waits for a server that is already starting. 0, the default, means that the call
    /// fails immediately.
    ///
    /// A call of a [`lazy`](Self::lazy) server that is sleeping starts the server instead, and waits for as long as the
    /// timeout of the call allows.
    pub call_wait_start: Duration,
    /// Settings of health probes, which detect that the server no longer responds.
    pub health: Health,
    /// Delay from a notification that the tools have changed to the request for the new tool list. 100 ms by default,
    /// so that one request covers several notifications in quick succession.
    pub refresh_delay: Duration,
    /// Minimum time between two requests for the tool list of the server. 1 s by default.
    pub refresh_interval: Duration,
}

impl Policy {
    /// Creates the default policy for a server of this package kind.
    pub fn new(kind: PackageKind) -> Self {
        let secs = Duration::from_secs;
        let every = (kind == PackageKind::Http).then(|| secs(60));
        Policy {
            kind,
            launch_timeout: secs(30),
            negotiate_timeout: secs(60),
            first_start_timeout: if kind.is_fetched() { secs(180) } else { secs(60) },
            list_timeout: secs(30),
            stop_timeout: secs(7),
            restart: Restart::OnFailure,
            budget: Budget::default(),
            first_backoff: secs(1),
            longest_backoff: secs(30),
            stable_after: secs(60),
            lazy: false,
            idle_after: secs(300),
            call_wait_start: Duration::ZERO,
            health: Health { every, ..Health::default() },
            refresh_delay: Duration::from_millis(100),
            refresh_interval: secs(1),
        }
    }
}
