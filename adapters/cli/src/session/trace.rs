//! `--trace FILE`: each message with its time and direction, a JSON object a line.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::value::RawValue;

/// The file that a connection is traced to. Nothing is buffered: a trace is read when something hung.
pub(crate) struct Trace {
    out: Option<File>,
}

#[derive(Serialize)]
struct Entry<'a> {
    time: String,
    direction: &'static str,
    message: Message<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Message<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

impl Trace {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { out: Some(File::create(path)?) })
    }

    /// Records one message. What is not JSON is recorded as the text that it is. A trace that cannot be written ends
    /// there: what is traced matters more.
    pub(crate) fn record(&mut self, direction: &'static str, message: &[u8]) {
        if let Some(out) = &mut self.out
            && write(out, direction, message).is_err()
        {
            self.out = None;
        }
    }
}

fn write(out: &mut impl Write, direction: &'static str, message: &[u8]) -> io::Result<()> {
    let text = String::from_utf8_lossy(message);
    let text = text.trim_ascii();
    let message = serde_json::from_str(text).map_or(Message::Text(text), Message::Json);
    let entry = Entry { time: rfc3339(SystemTime::now()), direction, message };
    let mut line = serde_json::to_string(&entry)?;
    // The JSON of a server may have line breaks, though only between its tokens.
    line.retain(|c| c != '\n' && c != '\r');
    line.push('\n');
    out.write_all(line.as_bytes())
}

/// A time as RFC 3339 has it, in UTC, to the microsecond.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let micros = since.subsec_micros();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// The date so many days after 1970-01-01, counted in 400-year cycles of years that start in March.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_TO_1970: u64 = 719_468;
    const DAYS_OF_CYCLE: u64 = 146_097;
    let days = days + DAYS_TO_1970;
    let (cycle, day_of_cycle) = (days / DAYS_OF_CYCLE, days % DAYS_OF_CYCLE);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (cycle * 400 + year_of_cycle + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339() {
        for (seconds, shown) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (951_868_800, "2000-03-01T00:00:00.000000Z"),
            (1_709_210_096, "2024-02-29T12:34:56.000000Z"),
            (1_785_196_800, "2026-07-28T00:00:00.000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
        ] {
            assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_secs(seconds)), shown);
        }
        assert!(rfc3339(UNIX_EPOCH + Duration::from_micros(7)).ends_with(":00.000007Z"));
    }
}
