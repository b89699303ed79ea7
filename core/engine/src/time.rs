//! Time, as the engine sees it: a number that the adapter hands in.

use core::fmt;
use core::ops::Add;
use core::time::Duration;

/// A moment, counted from an origin that the adapter picks and keeps.
///
/// The engine never reads a clock. An adapter takes some `Instant` when it starts and hands in what has passed since;
/// a test hands in whatever it likes.
///
/// ```
/// use core::time::Duration;
/// use mcpwire_core::Timestamp;
///
/// let start = Timestamp::ORIGIN;
/// let later = start + Duration::from_secs(30);
/// assert_eq!(later.duration_since(start), Duration::from_secs(30));
/// assert_eq!(start.duration_since(later), Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(Duration);

impl Timestamp {
    /// The origin itself.
    pub const ORIGIN: Timestamp = Timestamp(Duration::ZERO);

    /// The moment that lies `elapsed` after the origin.
    pub const fn from_origin(elapsed: Duration) -> Self {
        Timestamp(elapsed)
    }

    /// How far this moment lies from the origin.
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// The time from `earlier` to this moment; zero if `earlier` is the later one.
    pub const fn duration_since(self, earlier: Timestamp) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    /// Saturates: a deadline "for ever" away stays in the future.
    fn add(self, by: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(by))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{:?}", self.0)
    }
}
