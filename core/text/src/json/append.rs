//! Functions that append numbers, strings and raw JSON to a buffer.

use alloc::vec::Vec;

use super::string::{is_plain, plain_run};

/// A message that is being written to the end of a buffer of outgoing messages.
///
/// [`Draft::finish`] keeps the message. Dropping the draft instead, for example because serialization failed, removes
/// the incomplete message from the buffer.
pub struct Draft<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

/// Capacity in bytes that a buffer may keep after an incomplete message was removed from it: 8 KiB.
const SMALL: usize = 8 * 1024;

impl<'a> Draft<'a> {
    /// Begins a message at the end of `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Draft { out, start }
    }

    /// Returns the buffer of outgoing messages. The caller appends the text of the new message to it.
    pub fn text(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Keeps the message in the buffer of outgoing messages. Without this call, dropping the [`Draft`] removes it.
    pub fn finish(self) {
        core::mem::forget(self);
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        self.out.truncate(self.start);
        self.out.shrink_to(SMALL);
    }
}

/// Appends bytes to a buffer. Never inlined: for callers that need small code rather than speed.
#[inline(never)]
pub fn push(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(text);
}

/// Appends a number in decimal digits.
pub fn push_number(out: &mut Vec<u8>, mut number: u64) {
    // Without `core::fmt`, which takes more instructions than everything else that is written for a message's envelope
    // (`jsonrpc`, `id` and `method`).
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        // The remainder is less than ten, so the conversion cannot fail.
        digits[at] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends an integer in decimal digits, with a minus sign if it is negative.
pub fn push_signed(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    push_number(out, number.unsigned_abs());
}

/// Appends a string as a JSON string: in quotes, with escapes where necessary.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    if is_plain(bytes) {
        out.extend_from_slice(bytes);
    } else {
        push_escaped(out, bytes);
    }
    out.push(b'"');
}

/// Appends `bytes` as the contents of a JSON string: escapes each quote, backslash and control character.
#[inline(never)]
fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut from = 0;
    loop {
        let end = plain_run(bytes, from);
        out.extend_from_slice(&bytes[from..end]);
        let Some(special) = bytes.get(end) else { break };
        push_escape(out, *special);
        from = end + 1;
    }
}

/// Appends the JSON escape sequence of one byte, such as `\n` or `\u0001`.
fn push_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let letter = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

/// Appends JSON text with a space in place of each line break, because a message must be a single line.
///
/// This does not change the value, because valid JSON has line breaks only between tokens.
pub fn push_raw(out: &mut Vec<u8>, json: impl AsRef<[u8]>) {
    let mut from = out.len();
    out.extend_from_slice(json.as_ref());
    while let Some(at) = memchr::memchr2(b'\n', b'\r', &out[from..]) {
        from += at;
        out[from] = b' ';
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    #[test]
    fn strings_are_written_as_serde_json_writes_them() {
        let mut texts: Vec<String> = (0..300).map(|n| "ä".repeat(n)).collect();
        for special in (0..0x80u8).map(char::from) {
            for before in [0, 1, 6, 7, 8, 9, 63, 64, 65, 127, 128, 200] {
                texts.push(alloc::format!("{}{special}ends", "x".repeat(before)));
                texts.push(alloc::format!("{}{special}{special}", "é".repeat(before)));
            }
        }
        for text in texts {
            let mut out = Vec::new();
            push_string(&mut out, &text);
            assert_eq!(out, serde_json::to_vec(&text).unwrap(), "{text:?}");
        }
    }

    #[test]
    fn numbers() {
        let mut out = Vec::new();
        for number in [0, -1, i64::MIN, i64::MAX] {
            push_signed(&mut out, number);
            out.push(b' ');
        }
        push_number(&mut out, u64::MAX);
        assert_eq!(out, b"0 -1 -9223372036854775808 9223372036854775807 18446744073709551615");
    }

    #[test]
    fn a_draft_that_is_not_finished_leaves_nothing() {
        let mut out = Vec::from(&b"before"[..]);
        Draft::new(&mut out).text().resize(1 << 20, 0);
        assert_eq!(out, b"before");
        assert!(out.capacity() <= SMALL);
        let mut draft = Draft::new(&mut out);
        draft.text().push(b'!');
        draft.finish();
        assert_eq!(out, b"before!");
    }
}
