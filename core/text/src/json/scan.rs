//! The scanner: finds members and elements in a message without building values and without checking syntax.
//!
//! So the scanner finds the id of a message even if another part of the message is malformed. On bytes that are not
//! JSON, the scanner may stop early or return a wrong value, but never panics. It examines each byte at most twice.
//! The syntax is checked later, when the message is decoded.

use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Range;

pub use super::lex::skip_space;
use super::lex::{lossy_scalar, lossy_string, walk};
use super::numeral::parse_whole;
use super::read::unescape_lossy;

/// A member of a JSON object: its key and its value, as JSON text.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The text between the quotes of the key. Its escapes are not replaced.
    key: &'a [u8],
    /// The JSON text of the member's value.
    pub value: &'a [u8],
}

impl<'a> Member<'a> {
    /// Returns whether the key of the member, with its escapes replaced, is `name`.
    pub fn is(&self, name: &str) -> bool {
        self.key == name.as_bytes() || (self.key.contains(&b'\\') && self.key() == name)
    }

    /// Returns the key of the member, with escapes replaced.
    pub fn key(&self) -> Cow<'a, str> {
        key_text(self.key)
    }
}

/// Returns an iterator over the members of a JSON object. The iterator stops at the first malformed member.
pub fn members(bytes: &[u8]) -> Members<'_> {
    Members { bytes, at: inside(bytes, b'{') }
}

/// An iterator over the members of a JSON object; created by [`members`].
#[derive(Clone, Debug)]
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Members<'a> {
    /// Returns the next key of the JSON object: the text between the quotes, with escapes not replaced. Returns `None`
    /// at the end of the object, and if the key is malformed.
    ///
    /// After each key, the caller must call [`Members::value`] to read its value.
    pub fn next_key(&mut self) -> Option<&'a [u8]> {
        let start = after(self.bytes, self.at, b'"')?;
        let end = lossy_string(self.bytes, start - 1)?;
        self.at = after(self.bytes, end, b':')?;
        self.bytes.get(start..end - 1)
    }

    /// Returns the text from the value on that belongs to the key from [`Members::next_key`], up to the end of the message.
    /// White space may precede the value. The end of the value is not looked for.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at.min(self.bytes.len())..]
    }

    /// Returns the JSON text of the value that belongs to the key from [`Members::next_key`]. Returns `None` if the
    /// value is malformed or truncated.
    pub fn value(&mut self) -> Option<&'a [u8]> {
        let value = value_range(self.bytes, self.at)?;
        self.at = after(self.bytes, value.end, b',').unwrap_or(self.bytes.len());
        self.bytes.get(value)
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        let key = self.next_key()?;
        let value = self.value()?;
        Some(Member { key, value })
    }
}

/// Returns whether the first byte of a JSON text after any white space is `[`. The rest of the text is not checked.
#[inline]
pub fn is_array(bytes: &[u8]) -> bool {
    after(bytes, 0, b'[').is_some()
}

/// Returns the byte range of the next element of the JSON array `bytes`, and sets `at` to the offset of the element
/// after it. The caller sets `at` to 0 before the first call.
///
/// Returns `None` at the end of the array, and if the next element is malformed.
pub fn next_element(bytes: &[u8], at: &mut usize) -> Option<Range<usize>> {
    if *at == 0 {
        *at = inside(bytes, b'[');
    }
    let element = value_range(bytes, *at)?;
    *at = after(bytes, element.end, b',').unwrap_or(bytes.len());
    Some(element)
}

/// Returns the JSON text of the first member of `object` with the key `name`, or `None` if there is none.
pub fn member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).find(|member| member.is(name)).map(|member| member.value)
}

/// Returns the JSON text of the last member of `object` with the key `name`, or `None` if there is none.
///
/// [`Reader`](super::read::Reader) also prefers the last of several members with the same key.
pub fn last_member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).filter(|member| member.is(name)).last().map(|member| member.value)
}

/// Returns the contents of a JSON string with escapes replaced, or `None` if `value` is not a string.
pub fn text(value: &[u8]) -> Option<String> {
    match value {
        [b'"', inner @ .., b'"'] => core::str::from_utf8(inner).ok().map(unescape_lossy),
        _ => None,
    }
}

/// Returns whether `value` is a JSON string with these contents, which may be written with escapes.
pub fn is_text(value: &[u8], text: &str) -> bool {
    matches!(value, [b'"', inner @ .., b'"'] if key_text(inner) == text)
}

/// Returns the integer of a JSON number such as `-5` or `-5.0`, or of a string that contains such a number. Returns `None`
/// for any other value.
pub fn integer(value: &[u8]) -> Option<i64> {
    match value {
        [b'"', inner @ .., b'"'] => parse_whole(key_text(inner).as_bytes()),
        _ => parse_whole(value),
    }
}

/// Returns a key with its escapes replaced. `key` is the text between the quotes.
pub fn key_text(key: &[u8]) -> Cow<'_, str> {
    match core::str::from_utf8(key) {
        Ok(text) if key.contains(&b'\\') => Cow::Owned(unescape_lossy(text)),
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(key),
    }
}

/// Returns the offset after the opening bracket `open` at the start of `bytes`. Returns the length of `bytes` if it
/// starts with anything else.
fn inside(bytes: &[u8], open: u8) -> usize {
    after(bytes, 0, open).unwrap_or(bytes.len())
}

/// Skips white space from the offset `at` on. Returns the offset after `byte` if this byte is next, and `None`
/// otherwise.
#[inline]
fn after(bytes: &[u8], at: usize, byte: u8) -> Option<usize> {
    let at = skip_space(bytes, at);
    (bytes.get(at) == Some(&byte)).then_some(at + 1)
}

/// Returns the byte range of the JSON value that follows the offset `at` after any white space. Returns `None` if there
/// is no value, or if the value is truncated.
pub fn value_range(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let start = skip_space(bytes, at);
    let end = match bytes.get(start)? {
        b'"' => lossy_string(bytes, start)?,
        b'{' | b'[' => nested_end(bytes, start)?,
        _ => lossy_scalar(bytes, start)?,
    };
    Some(start..end)
}

/// Returns the offset after the array or object that starts at `at`, or `None` if its closing bracket is missing. Does
/// not check that brackets match: `]` also closes `{`.
fn nested_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    walk(bytes, at, |first, _, _| {
        match first {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        depth > 0
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn list(text: &str) -> Vec<(&str, &str)> {
        members(text.as_bytes())
            .map(|m| (core::str::from_utf8(m.key).unwrap(), core::str::from_utf8(m.value).unwrap()))
            .collect()
    }

    #[test]
    fn members_are_found_in_any_dress() {
        assert_eq!(list(r#"{"a":1,"b":"x"}"#), [("a", "1"), ("b", "\"x\"")]);
        assert_eq!(
            list(" { \"a\" : [ {\"b\": \"]}\"} ] , \"c\":null } "),
            [("a", r#"[ {"b": "]}"} ]"#), ("c", "null")]
        );
        assert_eq!(list(r#"{"a\"b":"\\"}"#), [(r#"a\"b"#, r#""\\""#)]);
        assert_eq!(list("{}"), []);
        assert!(members(br#"{"\u0069d":1}"#).next().unwrap().is("id"));
    }

    #[test]
    fn what_is_not_json_ends_the_list() {
        for text in [
            "",
            "[",
            "{",
            "{\"",
            "{\"a",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":\"",
            "{\"a\":{",
            "{\"a\":\"\\",
            "{a:1}",
            "nonsense",
            "{\"a\":}",
        ] {
            assert_eq!(list(text), [], "{text}");
        }
        assert_eq!(list(r#"{"a":1,,"b":2}"#), [("a", "1")]);
    }

    #[test]
    fn elements_of_an_array() {
        let elements = |bytes: &'static [u8]| {
            let mut at = 0;
            core::iter::from_fn(move || next_element(bytes, &mut at).map(|range| &bytes[range])).collect::<Vec<_>>()
        };
        assert_eq!(elements(br#" [1, {"a":[2]} ,"x"] "#), [&b"1"[..], br#"{"a":[2]}"#, br#""x""#]);
        assert_eq!(elements(b"[]").len(), 0);
        assert_eq!(elements(b"{}").len(), 0);
        assert_eq!(elements(b"[1").len(), 1);
    }

    #[test]
    fn a_million_levels_do_not_recurse() {
        let mut text = Vec::from(&br#"{"a":"#[..]);
        text.extend(core::iter::repeat_n(b'[', 1_000_000));
        text.extend(core::iter::repeat_n(b']', 1_000_000));
        text.extend_from_slice(br#","b":1}"#);
        assert!(members(&text).nth(1).unwrap().is("b"));
    }
}
