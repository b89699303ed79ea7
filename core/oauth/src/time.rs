//! [`UnixTime`]: points in time of the wall clock. Expiry times of tokens are stored, so they must keep their meaning
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

    /// Returns the time from `earlier` to this point in time, or zero if `earlier` is later.
    pub const fn duration_since(self, earlier: UnixTime) -> Duration {
        Duration::from_secs(self.0.saturating_sub(earlier.0))
    }

    /// Parses the value of a `Date` header, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7). Returns
    /// `None` for invalid dates and for obsolete formats, which servers must not send.
    pub(crate) fn from_http_date(date: &str) -> Option<Self> {
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let (_, rest) = date.trim().split_once(", ")?;
        let mut words = rest.strip_suffix(" GMT")?.split(' ');
        let (day, month, year, clock) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let number = |text: &str, digits: usize, max: u64| -> Option<u64> {
            let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse().ok()).flatten().filter(|number| *number <= max)
        };
        let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
        let (day, year) = (number(day, 2, 31)?.checked_sub(1)?, number(year, 4, 9999)?);
        let mut parts = clock.split(':');
        // The second 60 is a leap second.
        let (hour, minute, second) =
            (number(parts.next()?, 2, 23)?, number(parts.next()?, 2, 59)?, number(parts.next()?, 2, 60)?);
        if words.next().is_some() || parts.next().is_some() || year < 1970 {
            return None;
        }
        // The year starts in March here, so that a leap day is its last day. There are 719,468 days from 0000-03-01 to
        // 1970-01-01.
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 719_468;
        Some(UnixTime(days * 86_400 + hour * 3600 + minute * 60 + second))
    }
}

impl Add<Duration> for UnixTime {
    type Output = UnixTime;

    fn add(self, by: Duration) -> UnixTime {
        UnixTime(self.0.saturating_add(by.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_http_are_read() {
        for (date, seconds) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200)),
            ("Wed, 25 Nov 2026 06:00:00 GMT", Some(1_795_586_400)),
            ("Fri, 31 Dec 9999 23:59:60 GMT", Some(253_402_300_800)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun Nov  6 08:49:37 1994", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 00 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1969 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 24:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("Sun, +6 Nov 1994 08:49:37 GMT", None),
            ("", None),
        ] {
            assert_eq!(UnixTime::from_http_date(date).map(UnixTime::as_secs), seconds, "{date}");
        }
    }
}
