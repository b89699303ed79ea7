//! How long a server is waited for, and how often it is started again.

use core::time::Duration;

/// What a server is started from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PackageKind {
    /// A package of npm, started by `npx`.
    Npm,
    /// A package of the Python index, started by `uvx`.
    Pypi,
    /// An image, started by `docker run`.
    Docker,
    /// A program on this machine.
    Binary,
    /// An address: nothing is started.
    Http,
}

impl PackageKind {
    /// Whether a first start may have to fetch things from a registry, which can take minutes.
    pub const fn is_fetched(self) -> bool {
        matches!(self, PackageKind::Npm | PackageKind::Pypi | PackageKind::Docker)
    }

    /// The program that starts it; `None` where it is the package itself, or where nothing is started.
    pub const fn runner(self) -> Option<&'static str> {
        match self {
            PackageKind::Npm => Some("npx"),
            PackageKind::Pypi => Some("uvx"),
            PackageKind::Docker => Some("docker"),
            PackageKind::Binary | PackageKind::Http => None,
        }
    }
}

/// When a server is started again without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Restart {
    /// After a failure that another attempt may mend, within [`Budget`].
    #[default]
    OnFailure,
    /// Never.
    Never,
}

/// How often a server is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// So many restarts within [`within`](Self::within) are a crash loop. 5 by default.
    pub restarts: u32,
    /// 120 s by default.
    pub within: Duration,
    /// So many attempts in a row none of which ran for [`Policy::stable_after`]: a server that fails slowly stays within the
    /// other limit for ever. 10 by default.
    pub attempts: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { restarts: 5, within: Duration::from_secs(120), attempts: 10 }
    }
}

/// How it is found out that a server does not answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Health {
    /// How long a server may be silent before it is asked; `None`, the default, never asks. A process tells its end; of a
    /// server behind HTTP only silence can be seen.
    pub every: Option<Duration>,
    /// How long the answer is waited for. 10 s by default.
    pub answer_within: Duration,
    /// So many answers in a row that do not come end the connection. 3 by default.
    pub misses: u32,
}

impl Default for Health {
    fn default() -> Self {
        Health { every: None, answer_within: Duration::from_secs(10), misses: 3 }
    }
}

/// Everything about a server's life that can be chosen.
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
    /// What it is started from.
    pub kind: PackageKind,
    /// From the order to start a process until it runs, or until a connection is open. 30 s.
    pub launch_timeout: Duration,
    /// From there until the two sides have agreed on a version. 60 s.
    pub negotiate_timeout: Duration,
    /// The same where this configuration has never yet come so far, for then its package may have to be fetched: an attempt
    /// that is cut short throws away what it fetched, and the next one begins anew. 180 s for what is fetched, else as
    /// [`negotiate_timeout`](Self::negotiate_timeout).
    pub first_start_timeout: Duration,
    /// For the whole list of tools. 30 s.
    pub list_timeout: Duration,
    /// From asking a server to end to ending it by force: one second more than [`Ladder`](mcpwire_core::shutdown::Ladder) takes. 7 s.
    pub stop_timeout: Duration,
    /// When it is started again without being asked.
    pub restart: Restart,
    /// How often.
    pub budget: Budget,
    /// The wait before the first restart; it doubles each time, and is a fifth longer or shorter by chance. 1 s.
    pub first_backoff: Duration,
    /// The longest wait. 30 s.
    pub longest_backoff: Duration,
    /// A server that has run for so long has recovered: attempts are counted from zero again. 60 s.
    pub stable_after: Duration,
    /// Whether it is started only when a tool of it is called, and sleeps when none has been for a while. Off by default.
    pub lazy: bool,
    /// After how long without a call a lazy server is put to sleep. 300 s.
    pub idle_after: Duration,
    /// How long a call waits for a server that is being started for another reason. 0: it fails at once.
    pub call_wait_start: Duration,
    /// How it is found out that the server does not answer any more.
    pub health: Health,
    /// From the first word that the list of tools has changed until it is asked for: more such words come at once. 100 ms.
    pub refresh_delay: Duration,
    /// The shortest time between two requests for the list, however often it changes. 1 s.
    pub refresh_interval: Duration,
}

impl Policy {
    /// The defaults for such a package.
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
