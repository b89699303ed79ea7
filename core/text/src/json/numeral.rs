//! Parses JSON numbers.

/// Returns whether a JSON value is a number. `raw` is the JSON text of the value.
pub fn is_number(raw: &str) -> bool {
    raw.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

/// Parses an integer from 0 to [`u64::MAX`], written as `1` or, as servers that have only floats write it, as `1.0`.
/// Returns `None` for any other text.
pub fn parse_unsigned(text: &[u8]) -> Option<u64> {
    let mut value = text.first().map(|_| 0u64)?;
    for (at, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let fraction = text.get(at + 1..).unwrap_or_default();
            let is_whole = *byte == b'.' && at > 0 && !fraction.is_empty() && fraction.iter().all(|b| *b == b'0');
            return is_whole.then_some(value);
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// Parses an integer from [`i64::MIN`] to [`i64::MAX`], written as `-1` or, as servers that have only floats write it,
/// as `-1.0`. Returns `None` for any other text.
pub fn parse_signed(text: &[u8]) -> Option<i64> {
    match text.strip_prefix(b"-") {
        Some(magnitude) => 0i64.checked_sub_unsigned(parse_unsigned(magnitude)?),
        None => i64::try_from(parse_unsigned(text)?).ok(),
    }
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
            ("", None),
        ] {
            assert_eq!(parse_unsigned(text.as_bytes()), value, "{text}");
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
        ] {
            assert_eq!(parse_signed(text.as_bytes()), value, "{text}");
        }
    }
}
