//! A lexical scanner: finds members of an object in a message's bytes, building nothing.
//!
//! It trusts no one: on bytes that are not JSON it stops or gives a wrong answer, never panics, and does at most one pass.
//! Whatever it finds is verified when the message is decoded.

use alloc::borrow::Cow;
use alloc::string::String;
use core::ops::Range;

use memchr::memchr2;

use super::string::{plain_end, unescape_lossy};

/// One member of an object, as bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    /// Between the quotes, escapes included.
    key: &'a [u8],
    pub(crate) value: &'a [u8],
}

impl<'a> Member<'a> {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.key == name.as_bytes() || (self.key.contains(&b'\\') && self.key() == name)
    }

    pub(crate) fn key(&self) -> Cow<'a, str> {
        key_text(self.key)
    }
}

/// The members of the object that `bytes` hold; ends early where the text is no longer an object.
pub(crate) fn members(bytes: &[u8]) -> Members<'_> {
    let at = skip_space(bytes, 0);
    let open = bytes.get(at) == Some(&b'{');
    Members { bytes, at: if open { skip_space(bytes, at + 1) } else { bytes.len() } }
}

#[derive(Clone, Debug)]
pub(crate) struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Members<'a> {
    /// The next key, with the position moved to its value, which [`Members::value`] reads or passes over.
    pub(crate) fn next_key(&mut self) -> Option<&'a [u8]> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return None;
        }
        let end = skip_string(self.bytes, self.at)?;
        let key = &self.bytes[self.at + 1..end - 1];
        let colon = skip_space(self.bytes, end);
        if self.bytes.get(colon) != Some(&b':') {
            return None;
        }
        self.at = skip_space(self.bytes, colon + 1);
        Some(key)
    }

    /// The value at the position, with the position moved to the next key. `None` if it does not end within the bytes.
    pub(crate) fn value(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let end = skip_value(self.bytes, start)?;
        let after = skip_space(self.bytes, end);
        self.at = match self.bytes.get(after) {
            Some(b',') => skip_space(self.bytes, after + 1),
            _ => self.bytes.len(),
        };
        Some(&self.bytes[start..end])
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

/// Whether `bytes` look like an array.
#[inline]
pub(crate) fn is_array(bytes: &[u8]) -> bool {
    bytes.get(skip_space(bytes, 0)) == Some(&b'[')
}

/// The next element of the array that `bytes` hold, with the position moved behind it; ends early where the text is no
/// longer an array. The position starts as 0.
pub(crate) fn next_element(bytes: &[u8], at: &mut usize) -> Option<Range<usize>> {
    if *at == 0 {
        *at = if is_array(bytes) { skip_space(bytes, skip_space(bytes, 0) + 1) } else { bytes.len() };
    }
    if matches!(bytes.get(*at), None | Some(b']')) {
        return None;
    }
    let start = *at;
    let end = skip_value(bytes, start)?;
    let after = skip_space(bytes, end);
    *at = match bytes.get(after) {
        Some(b',') => skip_space(bytes, after + 1),
        _ => bytes.len(),
    };
    Some(start..end)
}

/// The value of an object's member of this name.
pub(crate) fn member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).find(|member| member.is(name)).map(|member| member.value)
}

/// The same where the object may have several of that name: the last counts for whoever reads the whole.
pub(crate) fn last_member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(object).filter(|member| member.is(name)).last().map(|member| member.value)
}

/// The text of a string, its escapes undone; `None` for any other value.
pub(crate) fn text(value: &[u8]) -> Option<String> {
    match value {
        [b'"', inner @ .., b'"'] => core::str::from_utf8(inner).ok().map(unescape_lossy),
        _ => None,
    }
}

/// A key's text, its escapes undone.
pub(crate) fn key_text(key: &[u8]) -> Cow<'_, str> {
    match core::str::from_utf8(key) {
        Ok(text) if key.contains(&b'\\') => Cow::Owned(unescape_lossy(text)),
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(key),
    }
}

pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The position after the string that starts at `at`, quotes included.
fn skip_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = match plain_end(bytes, at + 1) {
        Ok(end) => return Some(end + 1),
        Err(special) => special,
    };
    loop {
        let rest = bytes.get(at..)?;
        let found = at + memchr2(b'"', b'\\', rest)?;
        if bytes[found] == b'"' {
            return Some(found + 1);
        }
        at = found + 2;
    }
}

/// The position after the value that starts at `at`; does not recurse, whatever the depth.
fn skip_value(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => skip_string(bytes, at),
        b'{' | b'[' => skip_nested(bytes, at),
        _ => {
            let rest = &bytes[at..];
            let len = rest.iter().position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n'));
            match len.unwrap_or(rest.len()) {
                0 => None,
                len => Some(at + len),
            }
        }
    }
}

fn skip_nested(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = skip_string(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
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
