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

fn in_zone(time: Timestamp, zone: &TimeZone) -> String {
    let time = time.round(Unit::Millisecond).unwrap_or(time);
    format!("{:.3}", time.display_with_offset(zone.to_offset(time)))
}

/// Writes the local time at the start of each log line of `tracing_subscriber`.
pub(crate) struct LocalTime;

impl FormatTime for LocalTime {
    fn format_time(&self, out: &mut Writer<'_>) -> fmt::Result {
        out.write_str(&in_zone(Timestamp::now(), &TimeZone::system()))
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::offset;

    use super::*;

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
