//! Formats times for users: RFC 3339 in the local time zone, with milliseconds.

use std::fmt;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

/// Converts an RFC 3339 time to the local time zone. Returns `None` if `time` is not in the format of RFC 3339.
pub(crate) fn local(time: &str) -> Option<String> {
    let time: Timestamp = time.parse().ok()?;
    Some(in_zone(time, &TimeZone::system()))
}

/// Formats a number of seconds since 1970 as an RFC 3339 time in UTC, for JSON. Returns `None` for years beyond 9999.
pub(crate) fn utc_of_unix(seconds: u64) -> Option<String> {
    Some(Timestamp::from_second(seconds.try_into().ok()?).ok()?.to_string())
}

/// Formats a number of seconds since 1970 in the local time zone, with the distance from now, as in `2026-11-23T21:40:23+01:00
/// (in 59 minutes)`.
pub(crate) fn local_of_unix(seconds: u64) -> String {
    local_from(seconds, Timestamp::now(), &TimeZone::system())
}

fn local_from(seconds: u64, now: Timestamp, zone: &TimeZone) -> String {
    let time = seconds.try_into().ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    // The time may come from a server, so it may be out of range.
    let Some(time) = time else { return "in the distant future".to_owned() };
    let away = time.as_second() - now.as_second();
    let shown = time.display_with_offset(zone.to_offset(time));
    let span = rough(away.unsigned_abs());
    if away >= 0 { format!("{shown} (in {span})") } else { format!("{shown} ({span} ago)") }
}

/// Formats a duration roughly, such as `59 minutes`. The unit is the largest one that the duration contains at least twice.
fn rough(seconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "days"), (3_600, "hours"), (60, "minutes")];
    match UNITS.into_iter().find(|(unit, _)| seconds >= 2 * unit) {
        Some((unit, name)) => format!("{} {name}", seconds / unit),
        None if seconds == 1 => "1 second".to_owned(),
        None => format!("{seconds} seconds"),
    }
}

/// Returns the current time in the local time zone.
pub(crate) fn now() -> String {
    in_zone(Timestamp::now(), &TimeZone::system())
}

fn in_zone(time: Timestamp, zone: &TimeZone) -> String {
    let time = time.round(Unit::Millisecond).unwrap_or(time);
    format!("{:.3}", time.display_with_offset(zone.to_offset(time)))
}

/// Writes the local time at the start of each log line of `tracing_subscriber`.
pub(crate) struct LocalTime;

impl FormatTime for LocalTime {
    fn format_time(&self, out: &mut Writer<'_>) -> fmt::Result {
        out.write_str(&now())
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::offset;

    use super::*;

    #[test]
    fn a_time_says_how_far_away_it_is() {
        let (now, zone) = (Timestamp::from_second(1_000_000_000).expect("a time"), TimeZone::fixed(offset(2)));
        for (away, shown) in [
            (3_599, "2001-09-09T04:46:39+02:00 (in 59 minutes)"),
            (0, "2001-09-09T03:46:40+02:00 (in 0 seconds)"),
            (-1, "2001-09-09T03:46:39+02:00 (1 second ago)"),
            (-90_000, "2001-09-08T02:46:40+02:00 (25 hours ago)"),
            (200_000, "2001-09-11T11:20:00+02:00 (in 2 days)"),
        ] {
            assert_eq!(local_from(1_000_000_000_u64.saturating_add_signed(away), now, &zone), shown);
        }
        assert_eq!(local_from(u64::MAX, now, &zone), "in the distant future");
        assert_eq!(utc_of_unix(1_000_000_000).as_deref(), Some("2001-09-09T01:46:40Z"));
        assert_eq!(utc_of_unix(u64::MAX), None);
    }

    #[test]
    fn times_are_local_with_milliseconds_and_offset() {
        let zone = TimeZone::fixed(offset(2));
        for (time, shown) in [
            ("2026-11-23T21:40:23Z", "2026-11-23T23:40:23.000+02:00"),
            ("2026-11-23T21:40:23.123456789Z", "2026-11-23T23:40:23.123+02:00"),
            ("2026-11-23T21:40:23-01:00", "2026-11-24T00:40:23.000+02:00"),
        ] {
            assert_eq!(in_zone(time.parse().expect("a time"), &zone), shown);
        }
        assert!(local("2026-11-23T21:40:23Z").is_some());
        for text in ["", "yesterday", "2026-11-23"] {
            assert_eq!(local(text), None, "{text}");
        }
    }
}
