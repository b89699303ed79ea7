//! Points in time, which the adapter passes to the engine.

use core::fmt;
use core::ops::Add;
use core::time::Duration;

/// A point in time, as the time elapsed since an origin that the adapter chooses.
///
/// The engine never reads a clock. An adapter stores an `Instant` at its start, and passes the time elapsed since
/// then to the engine. Tests pass simulated times.
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
    /// The origin of the adapter's clock, at which no time has elapsed.
    pub const ORIGIN: Timestamp = Timestamp(Duration::ZERO);

    /// Creates the timestamp that is `elapsed` after the origin.
    pub const fn from_origin(elapsed: Duration) -> Self {
        Timestamp(elapsed)
    }

    /// Returns the time elapsed since the origin.
    pub const fn since_origin(self) -> Duration {
        self.0
    }

    /// Returns the time elapsed since `earlier`, or zero if `earlier` is later.
    pub const fn duration_since(self, earlier: Timestamp) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    /// Returns the timestamp that is `by` later, or the latest possible timestamp on overflow.
    fn add(self, by: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(by))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{:?}", self.0)
    }
}
