//! Encodes and checks header values.
//!
//! Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Request Metadata".

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The names and values of the headers of an HTTP request.
pub(super) type Headers = Vec<(Cow<'static, str>, String)>;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// Encodes `text` as the value of an `Mcp-Name` or `Mcp-Param-*` header.
///
/// Returns text that a header can contain unchanged. Other text becomes base64 between `=?base64?` and `?=`
/// (specification: basic/transports/streamable-http, "Value Encoding").
pub(super) fn encode_value(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let visible = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    let edges = bytes.first() == Some(&b' ') || bytes.last() == Some(&b' ');
    let looks_encoded = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    if visible && !edges && !looks_encoded {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(PREFIX.len() + bytes.len().div_ceil(3) * 4 + SUFFIX.len());
    out.push_str(PREFIX);
    push_base64(&mut out, bytes);
    out.push_str(SUFFIX);
    Cow::Owned(out)
}

/// Appends the base64 of `bytes` to `out`, with padding (RFC 4648, section 4).
fn push_base64(out: &mut String, bytes: &[u8]) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            if place <= group.len() {
                let sextet = bits >> (18 - 6 * place) & 63;
                out.push(char::from(ALPHABET[sextet as usize]));
            } else {
                out.push('=');
            }
        }
    }
}

/// Returns whether a header can contain `value` without encoding (RFC 9110, section 5.5, restricted to ASCII).
pub(super) fn is_value(value: &str) -> bool {
    let bytes = value.as_bytes();
    let inner = bytes.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    inner && !blank(bytes.first()) && !blank(bytes.last())
}

/// Returns the media type in the value of a `Content-Type` header, without parameters such as `charset`.
pub(super) fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_encoded_as_in_the_examples_of_the_specification() {
        for (text, encoded) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encode_value(text), encoded);
        }
    }

    #[test]
    fn only_unsafe_texts_are_encoded() {
        for text in ["", "a b", "=?base64?x", "x?=", "file:///a%20b?q=1", "~!\"#"] {
            assert_eq!(encode_value(text), text);
        }
        for text in ["\tx", "x\t", "a\tb", "a\r\nb", "\u{7f}", "ä", " ", "\0"] {
            assert!(encode_value(text).starts_with(PREFIX), "{text:?}");
        }
    }

    #[test]
    fn header_values_are_checked_and_media_types_extracted() {
        assert!(is_value("") && is_value("a\tb c") && !is_value(" a") && !is_value("a\r\nb") && !is_value("ä"));
        assert_eq!(media_type("application/json; charset=utf-8"), "application/json");
    }
}
