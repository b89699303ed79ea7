//! Validates the text formats of form fields. The formats are those of JSON Schema.

use crate::StringFormat;

impl StringFormat {
    /// Returns whether `text` has this format.
    ///
    /// Returns `true` for [`StringFormat::Other`], because the library cannot check a format that it does not define.
    pub fn matches(&self, text: &str) -> bool {
        match self {
            StringFormat::Email => is_email(text),
            StringFormat::Uri => is_uri(text),
            StringFormat::Date => is_date(text),
            StringFormat::DateTime => is_date_time(text),
            StringFormat::Other(_) => true,
        }
    }
}

/// Returns whether `text` is an email address of the form `name@host`. Rejects quoted names and comments, although RFC
/// 5322 allows them.
fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let is_atom = |part: &str| {
        !part.is_empty() && part.chars().all(|c| !c.is_whitespace() && !c.is_control() && !"()<>[]:;@\\,\"".contains(c))
    };
    let is_label = |part: &str| {
        (1..=63).contains(&part.len())
            && part.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    name.len() <= 64 && name.split('.').all(is_atom) && host.len() <= 255 && host.split('.').all(is_label)
}

/// Returns whether `text` starts with a URI scheme and a colon, and continues with characters that URIs may contain
/// (RFC 3986).
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut letters = scheme.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        && rest.len() > if rest.starts_with("//") { 2 } else { 0 }
        && rest.chars().all(|c| c.is_ascii_graphic() && !"\"<>\\^`{|}".contains(c))
        && has_complete_escapes(rest.as_bytes())
}

fn has_complete_escapes(text: &[u8]) -> bool {
    let is_hex = |at: usize| text.get(at).is_some_and(u8::is_ascii_hexdigit);
    text.iter().enumerate().all(|(at, byte)| *byte != b'%' || is_hex(at + 1) && is_hex(at + 2))
}

/// Returns whether `text` is a `full-date` of RFC 3339, such as `2026-07-28`.
fn is_date(text: &str) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text.as_bytes() else { return false };
    let (Some(year), Some(month), Some(day)) = (number(&[y1, y2, y3, y4]), number(&[m1, m2]), number(&[d1, d2])) else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Returns whether a text is a `date-time` of RFC 3339, such as `2026-07-28T12:00:00Z`.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let zone = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(zone);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    is_date(date) && is_time(time) && is_fraction && is_zone(zone)
}

/// Returns whether `text` is a time of the form `hh:mm:ss`. Seconds may be 60, because of leap seconds.
fn is_time(text: &str) -> bool {
    let [h1, h2, b':', m1, m2, b':', s1, s2] = *text.as_bytes() else { return false };
    is_below(24, [h1, h2]) && is_below(60, [m1, m2]) && is_below(61, [s1, s2])
}

fn is_zone(text: &str) -> bool {
    match *text.as_bytes() {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => is_below(24, [h1, h2]) && is_below(60, [m1, m2]),
        _ => false,
    }
}

fn is_below(limit: u32, digits: [u8; 2]) -> bool {
    number(&digits).is_some_and(|number| number < limit)
}

fn number(digits: &[u8]) -> Option<u32> {
    let is_number = digits.iter().all(u8::is_ascii_digit);
    core::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &StringFormat, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(format.matches(text), "{format}: {text:?} is one");
        }
        for text in bad {
            assert!(!format.matches(text), "{format}: {text:?} is none");
        }
    }

    #[test]
    fn email_addresses() {
        let good = ["a@b", "user@example.com", "first.last+tag@sub.example.co", "jörg@münchen.de", "o'hara@x-y.org"];
        let bad = [
            "", "@", "a@", "@b", "a b@c", "a@b c", "a@@b", "a.@b", ".a@b", "a..b@c", "a@b.", "a@-b", "a@b-", "a@.b",
            "x", "<a@b>", "a@b\n",
        ];
        check(&StringFormat::Email, &good, &bad);
    }

    #[test]
    fn uris() {
        let good = [
            "https://example.com",
            "http://localhost:3000/a?b=c#d",
            "mailto:a@b",
            "urn:isbn:1",
            "file:///tmp",
            "x:%20",
        ];
        let bad = [
            "",
            "example.com",
            "//example.com",
            "/a",
            "http://",
            "http:",
            "1http://a",
            "http://a b",
            "http://ä.de",
            "x:%2",
            "x:%zz",
            ":a",
            "http://a/<b>",
        ];
        check(&StringFormat::Uri, &good, &bad);
    }

    #[test]
    fn dates() {
        let good = ["2026-07-28", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"];
        let bad = [
            "",
            "2026-7-28",
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-01",
            "2026-01-00",
            "2026-04-31",
            "28.07.2026",
            "2026-07-28T00:00:00Z",
            "２０２６-07-28",
            "2026-07-2x",
        ];
        check(&StringFormat::Date, &good, &bad);
    }

    #[test]
    fn date_times() {
        let good = [
            "2026-07-28T12:00:00Z",
            "2026-07-28t12:00:00.125z",
            "2026-07-28T23:59:60+02:00",
            "2026-07-28T00:00:00-11:30",
        ];
        let bad = [
            "2026-07-28",
            "2026-07-28 12:00:00Z",
            "2026-07-28T12:00:00",
            "2026-07-28T24:00:00Z",
            "2026-07-28T12:60:00Z",
            "2026-07-28T12:00:61Z",
            "2026-07-28T12:00Z",
            "2026-07-28T12:00:00.Z",
            "2026-07-28T12:00:00+0200",
            "2026-07-28T12:00:00+24:00",
            "2026-02-30T12:00:00Z",
            "T",
            "",
        ];
        check(&StringFormat::DateTime, &good, &bad);
    }

    #[test]
    fn an_undefined_format_accepts_every_text() {
        assert!(StringFormat::from("ipv6").matches("no"));
    }
}
