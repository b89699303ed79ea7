//! [`WireId`]: the id of a JSON-RPC message, as JSON text.

use mcpwire_text::json::scan::key_text;
use mcpwire_text::json::{is_json, numeral};

/// The JSON text of a JSON-RPC id, as sent by the server: a number, a string, or an invalid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WireId<'a>(pub(crate) &'a [u8]);

impl<'a> WireId<'a> {
    /// Returns the id as a number. Returns `None` if the id is not an unsigned integer, and so cannot belong to a
    /// request of this client.
    ///
    /// Also accepts `1.0` and `"1"` for `1`, because some servers return the ids of requests in these forms.
    pub(crate) fn number(self) -> Option<u64> {
        match self.0 {
            [b'"', inner @ .., b'"'] => numeral::parse_unsigned(key_text(inner).as_bytes()),
            text => numeral::parse_unsigned(text),
        }
    }

    /// Returns the id as JSON text for the response to a request of the server. Returns `None` if the id is neither a
    /// string nor a number, or is a number too large for some JSON parsers.
    pub(crate) fn echo(self) -> Option<&'a str> {
        let text = core::str::from_utf8(self.0).ok()?;
        let good = match text.as_bytes().first()? {
            b'"' => is_json(self.0),
            // A server might be unable to parse its own id in the response if the number is out of range.
            b'-' | b'0'..=b'9' => is_json(self.0) && is_in_range(text),
            _ => false,
        };
        good.then_some(text)
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == b"null"
    }
}

/// Returns whether a number is small enough for any JSON parser: with its exponent applied, it has at most 300 digits
/// before the decimal point.
fn is_in_range(number: &str) -> bool {
    let (digits, exponent) = numeral::split_exponent(number);
    let whole_digits = digits.bytes().take_while(|byte| *byte != b'.').count();
    exponent.saturating_add_unsigned(whole_digits as u64) <= 300
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_floats_and_strings_are_matched() {
        for (text, id) in [
            ("1", Some(1)),
            ("1.0", Some(1)),
            ("1.000", Some(1)),
            ("\"1\"", Some(1)),
            ("\"1.0\"", Some(1)),
            (r#""\u0031""#, Some(1)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("1.5", None),
            ("1.", None),
            ("-1", None),
            ("\"\"", None),
            ("\"a1\"", None),
            ("null", None),
            ("{}", None),
            ("", None),
        ] {
            assert_eq!(WireId(text.as_bytes()).number(), id, "{text}");
        }
    }

    #[test]
    fn only_numbers_and_strings_are_echoed() {
        for (text, echoed) in [
            ("1", true),
            ("-2.5", true),
            ("\"a\\n\"", true),
            ("null", false),
            ("[1]", false),
            ("1x", false),
            ("1e300", false),
            ("1e299", true),
            ("10e+298", true),
            ("1e-400", true),
            ("1e99999999999", false),
            ("1e-99999999999", true),
            ("\"", false),
        ] {
            assert_eq!(WireId(text.as_bytes()).echo().is_some(), echoed, "{text}");
        }
    }
}
