//! The lexer: finds where the tokens of JSON text (RFC 8259) end.
//!
//! All code that scans JSON text uses this module, so white space, strings, numbers and literals are defined once:

use super::error::{ReadError, Result};
use super::string;

/// Returns the offset of the first byte at or after `at` that is not white space.
#[inline]
pub fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Returns the offset after the JSON string whose opening quote is at `at`.
#[inline]
pub(super) fn string(bytes: &[u8], at: usize) -> Result<usize> {
    let special = string::plain_run(bytes, at + 1);
    if bytes.get(special) == Some(&b'"') { Ok(special + 1) } else { string::skip_escaped(bytes, special) }
}

/// Returns the offset after the number that starts at `at`.
pub(super) fn number(bytes: &[u8], at: usize) -> Result<usize> {
    let digits = |from: usize| {
        let count = bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
        (from + count, count > 0)
    };
    let start = at + usize::from(bytes.get(at) == Some(&b'-'));
    let (mut end, mut is_good) = digits(start);
    is_good &= !(bytes.get(start) == Some(&b'0') && end > start + 1);
    if bytes.get(end) == Some(&b'.') {
        let (after, some) = digits(end + 1);
        (end, is_good) = (after, is_good && some);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let (after, some) = digits(end + 1 + sign);
        (end, is_good) = (after, is_good && some);
    }
    if is_good { Ok(end) } else { Err(ReadError::new("not a number").located(at)) }
}

/// Calls `visit` for each part of a JSON text from the offset `at` on: a whole string, or a single byte outside
/// strings. The arguments are the first byte, the start offset and the end offset of the part.
///
/// Stops when `visit` returns `false`, and returns the end offset of that part. Returns `None` at the end of the text,
/// which may be malformed.
#[inline]
pub(super) fn walk(bytes: &[u8], mut at: usize, mut visit: impl FnMut(u8, usize, usize) -> bool) -> Option<usize> {
    loop {
        let first = *bytes.get(at)?;
        let end = if first == b'"' { lossy_string(bytes, at)? } else { at + 1 };
        if !visit(first, at, end) {
            return Some(end);
        }
        at = end;
    }
}

/// Returns the end offset of the number or literal at `at`: that of the next comma, closing bracket, white space or end
/// of the text. Returns `None` if the end is at `at` itself. Does not check the syntax.
pub(super) fn lossy_scalar(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\t' | b'\r');
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    (length > 0).then_some(at + length)
}

/// Returns the offset after the string that starts at `at`, or `None` if the string has no closing quote. Accepts
/// invalid escapes and control characters in the string.
pub(super) fn lossy_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut next = at + 1;
    loop {
        let special = next + memchr::memchr2(b'"', b'\\', bytes.get(next..)?)?;
        if bytes[special] == b'"' {
            return Some(special + 1);
        }
        // A backslash and the byte after it belong together, even in an invalid escape.
        next = special + 2;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn numbers_are_those_of_the_grammar() {
        for (text, length) in [("0", 1), ("-0", 2), ("10,", 2), ("1.50 ", 4), ("-1e+3]", 5), ("0E0", 3)] {
            assert_eq!(number(text.as_bytes(), 0), Ok(length), "{text}");
        }
        for text in ["", "-", "01", "-00", "1.", ".5", "1e", "1e+", "-x"] {
            assert!(number(text.as_bytes(), 0).is_err(), "{text}");
        }
    }

    #[test]
    fn a_walk_sees_strings_as_a_whole() {
        let visited = |text: &'static str| {
            let mut seen = Vec::new();
            let end = walk(text.as_bytes(), 0, |first, start, end| {
                seen.push(&text[start..end]);
                first != b'!'
            });
            (seen, end)
        };
        assert_eq!(visited(r#"{"a\"":1!2"#), (Vec::from(["{", r#""a\"""#, ":", "1", "!"]), Some(9)));
        assert_eq!(visited("\"a\tb\\x!\"!"), (Vec::from(["\"a\tb\\x!\"", "!"]), Some(9)));
        assert_eq!(visited(r#""\x\u12"2"#), (Vec::from([r#""\x\u12""#, "2"]), None));
        let faults = "\"\\x and a long text behind it\u{1}\\\" \"";
        assert_eq!(visited(faults), (Vec::from([faults]), None));
        assert_eq!(visited(r#"1"\"#), (Vec::from(["1"]), None));
    }
}
