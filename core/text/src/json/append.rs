//! The writer: appends numbers, strings, raw JSON and serialized values to a buffer.

use alloc::vec::Vec;

use serde::Serialize;

use super::string::plain_run;

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

/// Appends bytes to a buffer.
pub fn push(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(text);
}

/// Appends a number in decimal digits.
pub fn push_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a string as a JSON string: in quotes, with escapes where necessary.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    if plain_run(text.as_bytes(), 0) < text.len() {
        // Serializing a string to memory cannot fail.
        return drop(push_value(out, text));
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Appends a value as JSON text without line breaks. After an error, `out` is unchanged.
pub fn push_value<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> serde_json::Result<()> {
    // Without std, `serde_json` can only write to a buffer of its own.
    let mut json = serde_json::to_vec(value)?;
    replace_line_breaks(&mut json);
    if out.is_empty() {
        *out = json;
    } else {
        out.extend_from_slice(&json);
    }
    Ok(())
}

/// Appends JSON text without line breaks.
pub fn push_raw(out: &mut Vec<u8>, json: impl AsRef<[u8]>) {
    let start = out.len();
    out.extend_from_slice(json.as_ref());
    replace_line_breaks(&mut out[start..]);
}

/// Replaces each line break in JSON text by a space, because a message must be a single line.
///
/// This does not change the value, because valid JSON has line breaks only between tokens. `serde_json` writes none, except in raw
/// JSON: [`Json`](super::Json) and `serde_json::value::RawValue`.
fn replace_line_breaks(json: &mut [u8]) {
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', &json[from..]) {
        from += at;
        json[from] = b' ';
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
        for number in [0, 10, u64::MAX] {
            push_number(&mut out, number);
            out.push(b' ');
        }
        assert_eq!(out, b"0 10 18446744073709551615 ");
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
