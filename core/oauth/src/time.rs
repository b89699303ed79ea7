//! Points in time of the wall clock. Tokens are stored with the time at which they expire, so the time must mean the same
//! after a restart.

use core::ops::Add;
use core::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time, in whole seconds since 1970-01-01 00:00:00 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixTime(u64);

impl UnixTime {
    /// Creates a point in time from the seconds since 1970-01-01 00:00:00 UTC.
    pub const fn from_secs(seconds: u64) -> Self {
        UnixTime(seconds)
    }

    /// Returns the seconds since 1970-01-01 00:00:00 UTC.
    pub const fn as_secs(self) -> u64 {
        self.0
    }

    /// Returns the time from `earlier` until this point, or zero if `earlier` is later.
    pub const fn duration_since(self, earlier: UnixTime) -> Duration {
        Duration::from_secs(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for UnixTime {
    type Output = UnixTime;

    fn add(self, by: Duration) -> UnixTime {
        UnixTime(self.0.saturating_add(by.as_secs()))
    }
}
