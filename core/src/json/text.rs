//! JSON strings, read into their final place in one go.
//!
//! `serde_json` collects a string with escapes in a scratch buffer and copies it out, at ten instructions a byte. A tool's
//! answer is often megabytes of source code in one string, so the long strings of the protocol are taken as raw text and
//! undone here: one search for backslashes, one copy of each run between them, no second buffer.

use alloc::borrow::ToOwned;
use alloc::string::String;

use memchr::memchr;

/// Undoes the escapes of what stands between the quotes of a JSON string.
///
/// An escape that makes no character (half of a surrogate pair, or no escape at all) becomes U+FFFD, so that one bad
/// character costs that character and not the message.
pub(crate) fn unescape(body: &str) -> String {
    let Some(first) = memchr(b'\\', body.as_bytes()) else {
        return body.to_owned();
    };
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        rest = push_escaped(&rest[at + 1..], &mut out);
        // Escapes come in runs ("\"\n"): look at the next byte before setting up a search.
        next = if rest.as_bytes().first() == Some(&b'\\') { Some(0) } else { memchr(b'\\', rest.as_bytes()) };
    }
    out.push_str(rest);
    if out.capacity() - out.len() > out.len() / 4 {
        out.shrink_to_fit();
    }
    out
}

/// Appends the character whose escape starts `rest` (without the backslash), and returns what follows.
fn push_escaped<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let plain = match rest.as_bytes().first() {
        Some(b'n') => '\n',
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b't') => '\t',
        Some(b'/') => '/',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return push_unicode(&rest[1..], out),
        _ => {
            out.push(char::REPLACEMENT_CHARACTER);
            return rest;
        }
    };
    out.push(plain);
    &rest[1..]
}

fn push_unicode<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let Some(high) = hex4(rest.as_bytes()) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return rest;
    };
    let after = &rest[4..];
    if let Some(c) = char::from_u32(high) {
        out.push(c);
        return after;
    }
    if let (0xD800..=0xDBFF, Some(second)) = (high, after.strip_prefix("\\u"))
        && let Some(low @ 0xDC00..=0xDFFF) = hex4(second.as_bytes())
    {
        let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return &second[4..];
    }
    out.push(char::REPLACEMENT_CHARACTER);
    after
}

fn hex4(bytes: &[u8]) -> Option<u32> {
    bytes.get(..4)?.iter().try_fold(0, |code, b| Some(code << 4 | char::from(*b).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        for (body, text) in [
            ("", ""),
            ("plain ä", "plain ä"),
            (r#"a\nb\t\"c\"\\\/\b\f\r"#, "a\nb\t\"c\"\\/\u{8}\u{c}\r"),
            (r"\u00e4\u0000", "ä\0"),
            (r"\ud83d\ude00!", "😀!"),
            (r"\ud83d", "\u{fffd}"),
            (r"\ud83dx", "\u{fffd}x"),
            (r"\ude00x", "\u{fffd}x"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
            (r"\u12", "\u{fffd}12"),
            (r"\", "\u{fffd}"),
            (r"\ä", "\u{fffd}ä"),
        ] {
            assert_eq!(unescape(body), text, "{body}");
        }
    }
}
