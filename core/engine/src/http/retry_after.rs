//! [`wait_until_retry`]: reads the header `Retry-After`.

use core::time::Duration;

/// Longest wait that is returned: a week. A server that asks for more has most likely sent a wrong value.
const MAX_WAIT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Returns how long the value of a `Retry-After` header asks the client to wait (RFC 9110, section 10.2.3): a number of
/// seconds, or a date.
///
/// `date` is the value of the `Date` header of the same response. A date is compared with it and not with the client's
/// clock, which may differ from the server's. Returns `None` if a value is missing or invalid.
pub(super) fn wait_until_retry(retry_after: &str, date: &str) -> Option<Duration> {
    let seconds = if !retry_after.is_empty() && retry_after.bytes().all(|byte| byte.is_ascii_digit()) {
        // Only a number that is too large for 64 bits cannot be parsed.
        retry_after.parse().unwrap_or(u64::MAX)
    } else {
        unix_time(retry_after)?.saturating_sub(unix_time(date)?)
    };
    Some(Duration::from_secs(seconds).min(MAX_WAIT))
}

/// Parses an HTTP date (RFC 9110, section 5.6.7), and returns the seconds since 1970.
///
/// Accepts the three formats of the specification: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, and
/// `Sun Nov  6 08:49:37 1994`.
fn unix_time(date: &str) -> Option<u64> {
    let mut words = date.split([' ', ',', '-']).filter(|word| !word.is_empty()).skip(1);
    let (first, second, third, fourth) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let (day, month, year, time) = match number(first) {
        Some(day) => (day, second, third, fourth),
        None => (number(second)?, first, fourth, third),
    };
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))?;
    let year = match (year.len(), number(year)?) {
        (4, year) if year >= 1970 => year,
        // A year of two digits, as the oldest format has it.
        (2, year) => year + if year < 70 { 2000 } else { 1900 },
        _ => return None,
    };
    let mut parts = time.split(':');
    let (hour, minute, second) = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    let is_valid = (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    is_valid.then(|| ((days(year, month) + day - 1) * 24 + hour) * 3600 + minute * 60 + second)
}

/// Parses a number of at most four digits.
fn number(text: &str) -> Option<u64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Returns the number of days from 1970-01-01 to the first day of a month. `month` counts from 0.
fn days(year: u64, month: usize) -> u64 {
    const BEFORE_MONTH: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let leap_years = |before: u64| before / 4 - before / 100 + before / 400;
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let leap_day = u64::from(is_leap && month > 1);
    (year - 1970) * 365 + leap_years(year - 1) - leap_years(1969)
        + BEFORE_MONTH.get(month).copied().unwrap_or_default()
        + leap_day
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

    #[test]
    fn dates_of_the_three_formats_are_seconds_since_1970() {
        let dates = [
            (DATE, 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
            ("Thu, 01 Mar 2001 00:00:00 GMT", 983_404_800),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            ("Mon, 23 Nov 2026 10:00:00 GMT", 1_795_428_000),
            ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ];
        for (date, seconds) in dates {
            assert_eq!(unix_time(date), Some(seconds), "{date}");
        }
    }

    #[test]
    fn other_text_is_no_date() {
        for text in [
            "",
            "soon",
            "Sun, 06 Nov 1994",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Now 1994 08:49:37 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 Nov 994 08:49:37 GMT",
            "Sun, 06 Nov 99999 08:49:37 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z",
        ] {
            assert_eq!(unix_time(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_is_a_number_of_seconds() {
        assert_eq!(wait_until_retry("0", ""), Some(Duration::ZERO));
        assert_eq!(wait_until_retry("120", "nonsense"), Some(Duration::from_secs(120)));
        assert_eq!(wait_until_retry("99999999999999999999999", ""), Some(MAX_WAIT), "it is cut, and does not overflow");
        for text in ["", "-1", "+1", "1.5", "1 s", "٣"] {
            assert_eq!(wait_until_retry(text, DATE), None, "{text}");
        }
    }

    #[test]
    fn a_date_is_compared_with_the_date_of_the_response() {
        let wait = |until| wait_until_retry(until, DATE);
        assert_eq!(wait("Sun, 06 Nov 1994 08:51:37 GMT"), Some(Duration::from_secs(120)));
        assert_eq!(wait("Sun Nov  6 08:49:38 1994"), Some(Duration::from_secs(1)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:36 GMT"), Some(Duration::ZERO), "the time has passed");
        assert_eq!(wait("Sun, 06 Nov 2094 08:49:36 GMT"), Some(MAX_WAIT));
        assert_eq!(wait_until_retry("Sun, 06 Nov 1994 08:51:37 GMT", ""), None, "there is nothing to compare it with");
    }
}
