//! Parses JSON numbers.

use core::str::FromStr;

/// Returns whether a JSON value is a number. `raw` is the JSON text of the value.
pub fn is_number(raw: &str) -> bool {
    raw.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

/// Parses an integer of the type `T`, written as `1` or, as servers that have only floats write it, as `1.0`. Returns
/// `None` for any other text, and for an integer that is not a `T`.
pub fn parse_whole<T: FromStr>(text: &[u8]) -> Option<T> {
    let text = core::str::from_utf8(text).ok()?;
    if text.starts_with('+') {
        // The standard library accepts it.
        return None;
    }
    text.parse().ok().or_else(|| {
        let (whole, fraction) = text.split_once('.')?;
        let is_whole = !fraction.is_empty() && fraction.bytes().all(|digit| digit == b'0');
        whole.parse().ok().filter(|_| is_whole)
    })
}

/// Splits a JSON number at `e` or `E`. Returns the text before it, and the exponent after it. The exponent is 0 if the
/// number has none.
///
/// An exponent beyond the range of `i64` becomes `i64::MIN` or `i64::MAX`.
pub fn split_exponent(text: &str) -> (&str, i64) {
    let Some((digits, exponent)) = text.split_once(['e', 'E']) else { return (text, 0) };
    let limit = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
    (digits, exponent.parse().unwrap_or(limit))
}

/// Parses a number as the nearest `f64`. Returns `None` if the text is not a number, or if the magnitude of the number
/// exceeds [`f64::MAX`].
pub(crate) fn parse_finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_have_zeros_behind_a_point() {
        for (text, value) in [
            ("0", Some(0)),
            ("17", Some(17)),
            ("1.0", Some(1)),
            ("1.000", Some(1)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("1.5", None),
            ("1.", None),
            (".0", None),
            ("-1", None),
            ("1e3", None),
            ("x", None),
            ("+1", None),
            ("", None),
        ] {
            assert_eq!(parse_whole::<u64>(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn signed_numbers_reach_both_ends() {
        for (text, value) in [
            ("-1", Some(-1)),
            ("-32601.0", Some(-32601)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("-9223372036854775808", Some(i64::MIN)),
            ("-9223372036854775809", None),
            ("-", None),
            ("--1", None),
            ("-+1", None),
        ] {
            assert_eq!(parse_whole::<i64>(text.as_bytes()), value, "{text}");
        }
    }
}
