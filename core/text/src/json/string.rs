//! JSON strings: finds their ends and replaces their escapes, eight or more bytes at a time.
//!
//! A byte is *special* if it is a quote, a backslash or a control character. All other bytes are *plain*.

use alloc::string::String;
use alloc::vec::Vec;

use super::error::TokenError;

const UNENDED: &str = "the text ends in the middle of a string";
const CONTROL: &str = "a control character in a string";
const ESCAPE: &str = "no such escape";

/// Returns the offset of the closing quote of a JSON string without escapes. `start` is the offset after the opening
/// quote.
///
/// Returns `Err` with the offset of the first escape or control character, or with the length of `bytes` if the closing
/// quote is missing.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], start: usize) -> Result<usize, usize> {
    // Most keys are shorter than eight bytes.
    let end = match bytes.get(start..).and_then(|rest| rest.first_chunk().copied()).and_then(first_special) {
        Some(special) => start + special,
        None => long_run(bytes, start),
    };
    if bytes.get(end) == Some(&b'"') { Ok(end) } else { Err(end) }
}

#[inline(never)]
fn long_run(bytes: &[u8], at: usize) -> usize {
    plain_run(bytes, at)
}

/// Reads a JSON string that contains escapes. Returns its contents with escapes replaced, and the offset after the
/// closing quote.
///
/// `start` is the offset after the opening quote, and `special` is the offset that [`plain_end`] returned as `Err`.
/// Returns an error unless an escape is at this offset.
#[inline(never)]
pub(crate) fn read_escaped(bytes: &[u8], start: usize, special: usize) -> Result<(String, usize), TokenError> {
    match bytes.get(special) {
        Some(b'\\') => unescape(bytes, start, special),
        Some(_) => Err((CONTROL, special)),
        None => Err((UNENDED, special)),
    }
}

/// Checks the syntax of the rest of a JSON string, and returns the offset after its closing quote.
///
/// `at` must be the offset of a quote, backslash or control character, as [`plain_run`] returns.
#[inline(never)]
pub(crate) fn skip_escaped(bytes: &[u8], mut at: usize) -> Result<usize, TokenError> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => match bytes.get(at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                Some(b'u') if hex4(bytes, at + 2).is_some() => at += 6,
                _ => return Err((ESCAPE, at)),
            },
            Some(_) => return Err((CONTROL, at)),
            None => return Err((UNENDED, at)),
        }
        at = plain_run(bytes, at);
    }
}

/// Replaces the escapes in `body`, the text between the quotes of a JSON string. Returns a single U+FFFD if `body` is
/// invalid, for example because of an unknown escape.
pub fn unescape_lossy(body: &str) -> String {
    let mut quoted = String::with_capacity(body.len() + 1);
    quoted.push_str(body);
    quoted.push('"');
    let read = match plain_end(quoted.as_bytes(), 0) {
        Ok(end) => Ok((body[..end.min(body.len())].into(), end + 1)),
        Err(special) => read_escaped(quoted.as_bytes(), 0, special),
    };
    match read {
        Ok((text, after)) if after == quoted.len() => text,
        _ => String::from("\u{fffd}"),
    }
}

/// Length in bytes beyond which the buffer of a string is enlarged to hold all remaining input, rather than step by
/// step: 64 KiB.
const LONG: usize = 64 * 1024;

fn unescape(bytes: &[u8], start: usize, first_escape: usize) -> Result<(String, usize), TokenError> {
    let mut out = Vec::with_capacity((first_escape - start) + 64);
    let mut from = start;
    let mut at = first_escape;
    loop {
        let run = &bytes[from..at];
        if out.capacity() - out.len() < run.len() && out.len() > LONG {
            // Enlarging a long text step by step would copy it and store it in memory twice. Reserved memory that is
            // not used is never touched.
            out.reserve_exact(bytes.len() - from);
        }
        out.extend_from_slice(run);
        match bytes.get(at) {
            Some(b'\\') => {}
            Some(b'"') => break,
            Some(_) => return Err((CONTROL, at)),
            None => return Err((UNENDED, at)),
        }
        from = match PLAIN_ESCAPES[usize::from(bytes.get(at + 1).copied().unwrap_or(0))] {
            0 if bytes.get(at + 1) == Some(&b'u') => push_unicode(bytes, at, &mut out)?,
            0 => return Err((ESCAPE, at)),
            byte => {
                out.push(byte);
                at + 2
            }
        };
        at = plain_run(bytes, from);
    }
    // The program may keep the string, so unused capacity is freed.
    if out.capacity() - out.len() > out.len() / 4 {
        out.shrink_to_fit();
    }
    // Each copied range ends at an ASCII byte, and each escape becomes a whole character. So the result is UTF-8 if
    // the input was.
    String::from_utf8(out).map(|text| (text, at + 1)).map_err(|_| ("not UTF-8", start))
}

/// Maps the letter after a backslash to the character that the escape stands for, such as `n` to a line feed. All other
/// bytes, including `u`, map to 0.
const PLAIN_ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    table[b'n' as usize] = b'\n';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b't' as usize] = b'\t';
    table[b'r' as usize] = b'\r';
    table[b'b' as usize] = 0x08;
    table[b'f' as usize] = 0x0c;
    table
};

/// Appends the character of the `\u` escape at `at`, and returns the offset after the escape.
///
/// Replaces a lone surrogate by U+FFFD, so that the rest of the message can still be read.
fn push_unicode(bytes: &[u8], at: usize, out: &mut Vec<u8>) -> Result<usize, TokenError> {
    let code = hex4(bytes, at + 2).ok_or((ESCAPE, at))?;
    let mut after = at + 6;
    let mut found = char::from_u32(code);
    if let (0xD800..=0xDBFF, Some(b"\\u"), Some(low @ 0xDC00..=0xDFFF)) =
        (code, bytes.get(after..after + 2), hex4(bytes, after + 2))
    {
        found = char::from_u32(0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00));
        after += 6;
    }
    let c = found.unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(after)
}

/// Parses the four hexadecimal digits at `at`. Returns `None` if the bytes there are not four hexadecimal digits.
fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.iter().try_fold(0, |code, b| Some(code << 4 | char::from(*b).to_digit(16)?))
}

/// Number of bytes that [`plain_run`] searches word by word before it changes to blocks of 64 bytes: 64. Most strings
/// are shorter.
const NEAR: usize = 64;

/// Returns the offset of the first quote, backslash or control character at or after `at`. Returns the length of
/// `bytes` if there is none.
#[inline]
pub(super) fn plain_run(bytes: &[u8], mut at: usize) -> usize {
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
#[inline(never)]
fn block_run(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let plain = 64 * rest.as_chunks::<64>().0.iter().take_while(|block| is_plain_block(*block)).count();
    start + plain + rest[plain..].iter().position(|b| is_special(*b)).unwrap_or(rest.len() - plain)
}

/// Returns whether `bytes` contains no quote, backslash or control character.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    // The last block or word may overlap the one before it, so that no shorter rest is left over.
    if let (blocks @ [_, ..], Some(last)) = (bytes.as_chunks::<16>().0, bytes.last_chunk::<16>()) {
        return blocks.iter().all(|block| is_plain_block(block)) && is_plain_block(last);
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return first_special(*first).is_none() && first_special(*last).is_none();
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return specials(u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))) == 0;
    }
    !bytes.iter().any(|b| is_special(*b))
}

/// Returns the index of the first quote, backslash or control character in eight bytes, or `None` if there is none.
#[inline]
fn first_special(word: [u8; 8]) -> Option<usize> {
    let marks = specials(u64::from_le_bytes(word));
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

/// Returns a mask whose lowest set bit is the high bit of the first quote, backslash or control character in the
/// little-endian `word`, or 0 if `word` contains none.
///
/// The other bits of the mask may be wrong (Mycroft's method).
#[inline]
fn specials(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let turned = word ^ (ONES * u64::from(QUOTE_IS_SPACE));
    let low = turned.wrapping_sub(ONES * u64::from(b'!')) & !turned;
    let slashed = word ^ (ONES * u64::from(b'\\'));
    let backslash = slashed.wrapping_sub(ONES) & !slashed;
    (low | backslash) & (ONES << 7)
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
            assert_eq!(unescape_lossy(body), text, "{body}");
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
