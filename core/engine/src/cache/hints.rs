//! Parses the cache hints of a response: its lifetime and scope (server/utilities/caching, "Cacheable Model").

use core::time::Duration;

use mcpwire_text::json::{numeral, scan};

/// The cache hints of a response: whether, for how long and for whom the result may be cached.
#[derive(Debug, PartialEq)]
pub(super) struct Hints {
    /// Time for which the result may be cached after receipt (`ttlMs`). Zero if `ttlMs` is absent or invalid: then the
    /// result must not be cached.
    pub(super) ttl: Duration,
    /// Whether requests with any authorization may receive the cached result (`cacheScope` is `public`).
    pub(super) public: bool,
    /// Whether the response has a result, and this result is complete (`resultType` is `complete` or absent). No other
    /// response may be cached.
    pub(super) complete: bool,
}

impl Hints {
    pub(super) fn parse(message: &[u8]) -> Hints {
        let mut hints = Hints { ttl: Duration::ZERO, public: false, complete: false };
        let Some(result) = scan::members(message).find(|member| member.is("result")) else { return hints };
        hints.complete = true;
        for member in scan::members(result.value) {
            if member.is("ttlMs") {
                hints.ttl = parse_ttl(member.value);
            } else if member.is("cacheScope") {
                hints.public = scan::text(member.value).as_deref() == Some("public");
            } else if member.is("resultType") {
                hints.complete = scan::text(member.value).as_deref() == Some("complete");
            }
        }
        hints
    }
}

/// Parses the value of `ttlMs`, rounded down to whole milliseconds. Returns zero if the value is negative or not a
/// number.
fn parse_ttl(number: &[u8]) -> Duration {
    Duration::from_millis(integer_part(number).unwrap_or(0))
}

/// Returns the integer part of a JSON number, or `u64::MAX` if the integer part is greater. Returns `None` if the
/// number is negative, or if the text is not a number.
fn integer_part(number: &[u8]) -> Option<u64> {
    let (mantissa, exponent) = numeral::split_exponent(core::str::from_utf8(number).ok()?);
    let point = mantissa.bytes().position(|byte| byte == b'.').unwrap_or(mantissa.len());
    let mut places = exponent.saturating_add_unsigned(point as u64);
    let mut digits = mantissa.bytes().filter(|byte| *byte != b'.');
    let mut whole = 0u64;
    while places > 0 {
        let digit = match digits.next() {
            Some(digit) => digit.checked_sub(b'0').filter(|digit| *digit < 10)?,
            // Only zeros can follow.
            None if whole == 0 => break,
            None => 0,
        };
        whole = whole.saturating_mul(10).saturating_add(digit.into());
        if whole == u64::MAX {
            break;
        }
        places -= 1;
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_shapes_have_a_whole_part() {
        for (text, whole) in [
            ("0", Some(0)),
            ("1500", Some(1_500)),
            ("1500.9", Some(1_500)),
            ("1.5e3", Some(1_500)),
            ("15000E-1", Some(1_500)),
            ("0.0015e+6", Some(1_500)),
            ("0e99999999999999999999", Some(0)),
            ("1e-99999999999999999999", Some(0)),
            ("1e99999999999999999999", Some(u64::MAX)),
            ("1e300", Some(u64::MAX)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", Some(u64::MAX)),
            ("9007199254740993.0", Some(9_007_199_254_740_993)),
            ("-1", None),
            ("\"7\"", None),
            ("null", None),
        ] {
            assert_eq!(integer_part(text.as_bytes()), whole, "{text}");
        }
    }
}
