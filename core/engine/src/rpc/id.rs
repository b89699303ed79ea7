//! [`WireId`]: the id of a JSON-RPC message, as JSON text. [`last_id`]: finds the id at the end of a message.

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
            [b'"', inner @ .., b'"'] => numeral::parse_whole(key_text(inner).as_bytes()),
            text => numeral::parse_whole(text),
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

/// Returns the `id` of a response if it is one of the last three members, reading backwards from the end of the message.
/// The beginning of the message may be missing. The value may be wrong only if the message is not valid JSON.
///
/// Returns `None` if one of these members is `method`: then the message is a request of the server, with an id of its own.
pub(crate) fn last_id(bytes: &[u8]) -> Option<WireId<'_>> {
    // In valid JSON, the last `}` closes the message, so the members right before it belong to the message itself.
    // Also, a quote before a `:` outside of strings always ends a key.
    let mut rest = bytes.trim_ascii_end().strip_suffix(b"}")?;
    let mut id = None;
    for _ in 0..3 {
        let Some((before, key, value)) = split_last_member(rest) else { break };
        match key {
            b"id" => id = id.or(Some(WireId(value))),
            b"method" => return None,
            _ => {}
        }
        let Some(before) = before.strip_suffix(b",") else { break };
        rest = before;
    }
    id
}

/// Splits off the last member of a JSON object without its closing brace. Returns the bytes before the member, its key and
/// its value. Returns `None` if the value is not a scalar, or if a part of the member is missing.
fn split_last_member(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (before, value) = split_last_scalar(bytes.trim_ascii_end())?;
    let (before, key) = split_last_string(before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end())?;
    let before = before.trim_ascii_end();
    matches!(before.last(), Some(b',' | b'{')).then_some((before, key, value))
}

/// Splits off the JSON scalar at the end of `bytes`. Returns the bytes before it, and the scalar. Returns `None` if
/// `bytes` does not end with a scalar.
fn split_last_scalar(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if bytes.last() == Some(&b'"') {
        let (before, inner) = split_last_string(bytes)?;
        return Some((before, &bytes[bytes.len() - inner.len() - 2..]));
    }
    let start =
        bytes.iter().rposition(|b| !matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b'a'..=b'z'))? + 1;
    (start < bytes.len()).then(|| bytes.split_at(start))
}

/// Splits `bytes` into the text before the JSON string at the end, and the contents of that string.
///
/// Returns `None` if there is no such string, or if the string has escapes or is longer than 63 bytes.
fn split_last_string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = bytes.strip_suffix(b"\"")?;
    let near = &inner[inner.len().saturating_sub(64)..];
    let quote = inner.len() - near.len() + memchr::memrchr(b'"', near)?;
    let (before, text) = (&inner[..quote], &inner[quote + 1..]);
    (before.last() != Some(&b'\\') && !text.contains(&b'\\')).then_some((before, text))
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

    #[test]
    fn the_end_of_an_overlong_response_has_an_id_only_at_the_top() {
        for (tail, id) in [
            (r#"xx"},"id":7}"#, Some(7)),
            (r#"xx"},"jsonrpc":"2.0","id":7}"#, Some(7)),
            (r#"xx"}, "id" : 7 , "jsonrpc":"2.0" } "#, Some(7)),
            (r#"xx"},"id":7,"jsonrpc":"2.0","a":null}"#, Some(7)),
            (r#"xx"},"method":"m","id":7}"#, None),
            (r#"xx"},"id":7,"method":"m","jsonrpc":"2.0"}"#, None),
            (r#"xx"},"method":"m","jsonrpc":"2.0","id":7}"#, None),
            (r#""a":1,"id":8}}"#, None),
            (r#"{"a":1,"id":8}]}"#, None),
            (r#"text, \"id\":8}"}"#, None),
        ] {
            assert_eq!(last_id(tail.as_bytes()).and_then(WireId::number), id, "{tail}");
        }
    }
}
