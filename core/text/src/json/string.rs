//! JSON strings: finds their ends and replaces their escapes, eight or more bytes at a time.
//!
//! A byte is *special* if it is a quote, a backslash or a control character. All other bytes are *plain*.

use alloc::string::String;
use core::ops::Range;

use super::error::{ReadError, Result};

/// Checks the syntax of the rest of a JSON string, and returns the offset after its closing quote.
///
/// `at` must be the offset of a quote, backslash or control character, as [`plain_run`] returns.
pub(super) fn skip_escaped(bytes: &[u8], at: usize) -> Result<usize> {
    read_escapes(bytes, at, |_, _| {})
}

/// Length in bytes beyond which the buffer of a string is enlarged to hold all remaining input, rather than step by
/// step: 64 KiB.
const LONG: usize = 64 * 1024;

/// Reads a string that contains escapes from a JSON text. Returns its contents with escapes replaced, and the offset after
/// the closing quote.
///
/// `start` is the offset after the opening quote, and `special` is the offset that [`plain_run`] returned for it.
/// Returns an error unless an escape is at this offset.
pub(super) fn read_escaped(json: &str, start: usize, special: usize) -> Result<(String, usize)> {
    let mut out = String::with_capacity((special - start) + 64);
    out.push_str(&json[start..special]);
    let end = read_escapes(json.as_bytes(), special, |c, run| {
        out.push(c);
        if out.capacity() - out.len() < run.len() && out.len() > LONG {
            // Enlarging a long text step by step would copy it and store it in memory twice. Reserved memory that is
            // not used is never touched.
            out.reserve_exact(json.len() - run.start);
        }
        out.push_str(&json[run]);
    })?;
    // The program may keep the string, so unused capacity is freed.
    if out.capacity() - out.len() > out.len() / 4 {
        out.shrink_to_fit();
    }
    Ok((out, end))
}

/// Reads a JSON string from a quote, backslash or control character at `at` on, and returns the offset after the closing quote.
///
/// Calls `each` with the character of each escape, and with the range of the plain text after the escape.
fn read_escapes(bytes: &[u8], mut at: usize, mut each: impl FnMut(char, Range<usize>)) -> Result<usize> {
    loop {
        match bytes.get(at) {
            Some(b'\\') => {}
            Some(b'"') => return Ok(at + 1),
            Some(_) => return Err(ReadError::new("a control character in a string").located(at)),
            None => return Err(ReadError::new("the text ends in the middle of a string").located(at)),
        }
        let escape = match bytes.get(at + 1) {
            Some(b'u') => unicode_escape(bytes, at),
            letter => letter.and_then(|letter| Some((escaped(*letter)?, at + 2))),
        };
        let (c, after) = escape.ok_or_else(|| ReadError::new("no such escape").located(at))?;
        at = plain_run(bytes, after);
        each(c, after..at);
    }
}

/// Returns the character that a backslash and `letter` stand for, or `None` if there is no such escape.
#[inline]
fn escaped(letter: u8) -> Option<char> {
    Some(match letter {
        b'"' | b'\\' | b'/' => char::from(letter),
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        _ => return None,
    })
}

/// Returns the character of the `\u` escape at `at`, and the offset after the escape. Returns `None` if its digits are wrong.
///
/// Replaces a lone surrogate by U+FFFD, so that the rest of the message can still be read.
fn unicode_escape(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let mut code = hex4(bytes, at + 2)?;
    let mut after = at + 6;
    if let (0xD800..=0xDBFF, Some(b"\\u"), Some(low @ 0xDC00..=0xDFFF)) =
        (code, bytes.get(after..after + 2), hex4(bytes, after + 2))
    {
        code = 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        after += 6;
    }
    Some((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), after))
}

/// Parses the four hexadecimal digits at `at`. Returns `None` if the bytes there are not four hexadecimal digits.
fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.iter().try_fold(0, |code, b| Some(code << 4 | char::from(*b).to_digit(16)?))
}

/// Number of bytes that [`long_run`] searches word by word before it changes to blocks of 64 bytes: 64. Most strings
/// are shorter.
const NEAR: usize = 64;

/// Returns the offset of the first quote, backslash or control character at or after `at`. Returns the length of
/// `bytes` if there is none.
#[inline]
pub(super) fn plain_run(bytes: &[u8], at: usize) -> usize {
    // Most keys are shorter than eight bytes.
    match bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|word| first_special(*word)) {
        Some(Some(special)) => at + special,
        Some(None) => long_run(bytes, at + 8),
        None => long_run(bytes, at),
    }
}

/// Returns the same offset as [`plain_run`], which calls this function for strings of eight bytes or more.
fn long_run(bytes: &[u8], mut at: usize) -> usize {
    let far = at + NEAR;
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        if let Some(special) = first_special(*word) {
            return at + special;
        }
        at += 8;
        if at > far {
            break;
        }
    }
    block_run(bytes, at)
}

/// Returns the same offset as [`plain_run`]. Faster for long strings, because it skips plain blocks of 64 bytes.
fn block_run(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let plain = 64 * rest.as_chunks::<64>().0.iter().take_while(|block| is_plain_block(*block)).count();
    start + plain + rest[plain..].iter().position(|b| is_special(*b)).unwrap_or(rest.len() - plain)
}

/// Returns the index of the first quote, backslash or control character in eight bytes, or `None` if there is none.
#[inline]
fn first_special(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    let word = u64::from_le_bytes(word);
    let turned = word ^ (ONES * u64::from(QUOTE_IS_SPACE));
    let low = turned.wrapping_sub(ONES * u64::from(b'!')) & !turned;
    let slashed = word ^ (ONES * u64::from(b'\\'));
    let backslash = slashed.wrapping_sub(ONES) & !slashed;
    // The lowest bit is the high bit of the first special byte. The other bits may be wrong (Mycroft's method).
    let marks = (low | backslash) & (ONES << 7);
    (marks != 0).then_some((marks.trailing_zeros() / 8) as usize)
}

#[inline]
fn is_plain_block(block: &[u8]) -> bool {
    // Has no branches, so that the compiler can vectorize it.
    block.iter().fold(0, |found, b| found | u8::from(is_special(*b))) == 0
}

/// XOR with this bit swaps the quote (0x22) and the space (0x20). Quotes and control characters are then the only bytes
/// less than `!` (0x21), so one comparison finds both.
const QUOTE_IS_SPACE: u8 = 0x02;

/// Returns whether a byte is a quote, a backslash or a control character.
#[inline]
fn is_special(byte: u8) -> bool {
    (byte ^ QUOTE_IS_SPACE) < b'!' || byte == b'\\'
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
            (
                r"ends in many bytes\nthat are more than a word, and then some\t",
                "ends in many bytes\nthat are more than a word, and then some\t",
            ),
            (r"\u12", "\u{fffd}"),
            (r"\", "\u{fffd}"),
        ] {
            assert_eq!(crate::json::read::unescape_lossy(body), text, "{body}");
        }
    }

    #[test]
    fn runs_end_where_they_should_at_every_offset() {
        for special in ["\"", "\\n\"", "\u{1}\""] {
            for before in 0..200 {
                let text = alloc::format!("{}{special}", "ä".repeat(before));
                assert_eq!(plain_run(text.as_bytes(), 0), 2 * before);
                let skipped = skip_escaped(text.as_bytes(), 2 * before);
                assert_eq!(skipped.is_ok(), !special.starts_with('\u{1}'), "{before}");
            }
        }
    }
}
