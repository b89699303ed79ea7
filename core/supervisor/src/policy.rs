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
    /// A server reached over HTTP; no process is started.
    Http,
}

impl PackageKind {
    /// Returns whether the first start may download a package, which can take minutes.
    pub const fn is_fetched(self) -> bool {
        matches!(self, PackageKind::Npm | PackageKind::Pypi | PackageKind::Docker)
    }

    /// Returns the program that runs the package; `None` for local programs and HTTP.
    pub const fn runner(self) -> Option<&'static str> {
        match self {
            PackageKind::Npm => Some("npx"),
            PackageKind::Pypi => Some("uvx"),
            PackageKind::Docker => Some("docker"),
            PackageKind::Binary | PackageKind::Http => None,
        }
    }
}

/// When to restart a server automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Restart {
    /// Restart after a temporary failure, within [`Budget`].
    #[default]
    OnFailure,
    /// Never restart automatically.
    Never,
}

/// Limits the number of automatic restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Number of restarts within [`within`](Self::within) that counts as a crash loop. 5 by default.
    pub restarts: u32,
    /// Length of the sliding window. 120 s by default.
    pub within: Duration,
    /// Maximum number of consecutive attempts that end before [`Policy::stable_after`]. 10 by default.
    ///
    /// It stops a server that fails too slowly for the other limit.
    pub attempts: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { restarts: 5, within: Duration::from_secs(120), attempts: 10 }
    }
}

/// Health probes, which detect a server that no longer responds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// Silence after which a probe is sent; `None`, the default, sends none.
    ///
    /// A process reports its exit. A dead HTTP server shows only by its silence.
    pub every: Option<Duration>,
    /// Timeout of a probe. 10 s by default.
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
    /// Timeout from [`Effect::Launch`](crate::Effect::Launch) until the process runs or the connection is open. Default: 30 s.
    pub launch_timeout: Duration,
    /// Timeout of the version negotiation. Default: 60 s.
    pub negotiate_timeout: Duration,
    /// Timeout of the negotiation until it succeeds once, when the package may have to be downloaded.
    ///
    /// Cutting the first attempt short would discard the download. 180 s for downloaded packages, otherwise 60 s.
    pub first_start_timeout: Duration,
    /// Timeout of loading the complete tool list. Default: 30 s.
    pub list_timeout: Duration,
    /// Time from [`Effect::Stop`](crate::Effect::Stop) to [`Effect::Kill`](crate::Effect::Kill). Default: 7 s, one second more
    /// than [`Ladder`](mcpwire_core::shutdown::Ladder) takes.
    pub stop_timeout: Duration,
    /// When to restart the server automatically.
    pub restart: Restart,
    /// How many automatic restarts are allowed.
    pub budget: Budget,
    /// Delay before the first restart. It doubles with each attempt and varies randomly by 20 %. Default: 1 s.
    pub first_backoff: Duration,
    /// Maximum delay between restarts. Default: 30 s.
    pub longest_backoff: Duration,
    /// Running time after which a server counts as recovered and the attempts start from zero. Default: 60 s.
    pub stable_after: Duration,
    /// Whether the server starts only when one of its tools is called, and stops when idle. Off by default.
    pub lazy: bool,
    /// Time without calls after which a lazy server is stopped. Default: 300 s.
    pub idle_after: Duration,
    /// Maximum time that a call waits for a starting server. 0, the default, fails the call at once.
    ///
    /// Calls to a sleeping lazy server always wait.
    pub call_wait_start: Duration,
    /// Detection of a server that no longer responds.
    pub health: Health,
    /// Delay between the first change notification and the refresh of the tool list, to merge a burst of notifications.
    /// Default: 100 ms.
    pub refresh_delay: Duration,
    /// Minimum time between two requests for the tool list. Default: 1 s.
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
