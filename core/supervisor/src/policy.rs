//! Policies: timeouts, restarts and health checks of a server.

use core::time::Duration;

/// The kind of package that a server runs from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PackageKind {
    /// An npm package, started by `npx`.
    Npm,
    /// A package of the Python Package Index, started by `uvx`.
    Pypi,
    /// A container image, started by `docker run`.
    Docker,
    /// A local program.
    Binary,
    /// A server reached over HTTP. No process is started.
    Http,
}

impl PackageKind {
    /// Returns whether the first start may download a package, which can take minutes.
    pub const fn is_fetched(self) -> bool {
        matches!(self, PackageKind::Npm | PackageKind::Pypi | PackageKind::Docker)
    }

    /// Returns the program that runs the package, such as `npx`. `None` for local programs and HTTP.
    pub const fn runner(self) -> Option<&'static str> {
        match self {
            PackageKind::Npm => Some("npx"),
            PackageKind::Pypi => Some("uvx"),
            PackageKind::Docker => Some("docker"),
            PackageKind::Binary | PackageKind::Http => None,
        }
    }
}

/// When to restart a failed server automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Restart {
    /// Restart after a temporary failure, within the [`Budget`].
    #[default]
    OnFailure,
    /// Never restart automatically.
    Never,
}

/// Limits the number of automatic restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Number of restarts within the time [`within`](Self::within) that counts as a crash loop. 5 by default.
    pub restarts: u32,
    /// Length of the sliding time window for `restarts`. 120 s by default.
    pub within: Duration,
    /// Maximum number of consecutive attempts that end before [`Policy::stable_after`]. 10 by default.
    ///
    /// This limit stops a server whose failures are too slow for `restarts`.
    pub attempts: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { restarts: 5, within: Duration::from_secs(120), attempts: 10 }
    }
}

/// Settings of health probes, which detect a server that no longer responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// Time without messages after which a probe is sent. `None`, the default, sends no probes.
    ///
    /// Local servers need no probes, because the exit of their process is reported. A dead HTTP server only stops
    /// answering.
    pub every: Option<Duration>,
    /// Time to wait for the answer to a probe. 10 s by default.
    pub answer_within: Duration,
    /// Number of consecutive unanswered probes after which the connection is closed. 3 by default.
    pub misses: u32,
}

impl Default for Health {
    fn default() -> Self {
        Health { every: None, answer_within: Duration::from_secs(10), misses: 3 }
    }
}

/// Timeouts, restarts, health checks and idle behaviour of a server.
///
/// ```
/// use core::time::Duration;
/// use mcpwire_supervisor::{PackageKind, Policy};
///
/// let mut policy = Policy::new(PackageKind::Npm);
/// assert_eq!(policy.first_start_timeout, Duration::from_secs(180));
/// policy.lazy = true;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// The kind of package that the server runs from.
    pub kind: PackageKind,
    /// Timeout from [`Effect::Launch`](crate::Effect::Launch) until the process runs or the connection is open. 30 s by
    /// default.
    pub launch_timeout: Duration,
    /// Timeout of the version negotiation, once it has succeeded before. 60 s by default.
    pub negotiate_timeout: Duration,
    /// Timeout of the version negotiation until it succeeds for the first time. By default 180 s for downloaded
    /// packages, otherwise 60 s.
    ///
    /// The first attempt may have to download the package. A shorter timeout would discard the partial download.
    pub first_start_timeout: Duration,
    /// Timeout of loading the complete tool list. 30 s by default.
    pub list_timeout: Duration,
    /// Time from [`Effect::Stop`](crate::Effect::Stop) to [`Effect::Kill`](crate::Effect::Kill). 7 s by default, one
    /// second more than the [shutdown sequence](mcpwire_core::shutdown::ShutdownSequence) takes.
    pub stop_timeout: Duration,
    /// When to restart the server automatically.
    pub restart: Restart,
    /// Maximum number of automatic restarts.
    pub budget: Budget,
    /// Delay before the first restart. 1 s by default. The delay doubles with each attempt and varies randomly by 20 %.
    pub first_backoff: Duration,
    /// Maximum delay before a restart. 30 s by default.
    pub longest_backoff: Duration,
    /// Time that a server must run before its failed attempts are forgotten. 60 s by default.
    pub stable_after: Duration,
    /// Whether the server starts only when one of its tools is called, and stops when idle. Off by default.
    pub lazy: bool,
    /// Time without calls after which a lazy server is stopped. 300 s by default.
    pub idle_after: Duration,
    /// Maximum time that a call waits for a server that is starting. 0, the default, fails such a call at once.
    ///
    /// A call to a sleeping lazy server always waits.
    pub call_wait_start: Duration,
    /// Health probes: detection of a server that no longer responds.
    pub health: Health,
    /// Delay between a change notification and the refresh of the tool list, so that one refresh covers a burst of
    /// notifications. 100 ms by default.
    pub refresh_delay: Duration,
    /// Minimum time between two requests for the tool list. 1 s by default.
    pub refresh_interval: Duration,
}

impl Policy {
    /// Returns the default policy for a kind of package.
    pub fn new(kind: PackageKind) -> Self {
        let secs = Duration::from_secs;
        let mut health = Health::default();
        if kind == PackageKind::Http {
            health.every = Some(secs(60));
        }
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
            health,
            refresh_delay: Duration::from_millis(100),
            refresh_interval: secs(1),
        }
    }
}
