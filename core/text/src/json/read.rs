//! The reader: builds values from JSON text in memory, in one pass.
//!
//! The reader examines strings eight or more bytes at a time, and unescapes each string directly into its final
//! buffer. Values that remain JSON text are returned as slices of the input. The reader also checks the syntax of
//! values that it skips, so every [`Json`](super::Json) contains valid JSON. The depth of nesting is limited.
//!
//! For comparison, `serde_json` reads byte by byte and copies strings with escapes twice. That costs ten instructions
//! per byte, and tools return megabytes of source code in one string.

use alloc::borrow::Cow;
use alloc::string::String;

pub use super::error::{ReadError, Result};
use super::{lex, string};

/// Maximum depth of nested values: 128. `serde_json` reads 127 levels, so it can read every value within a message.
pub(super) const MAX_DEPTH: u32 = 128;

/// Reads values from JSON text, from front to back.
pub struct Reader<'de> {
    pub(super) text: &'de str,
    pub(super) at: usize,
    pub(super) depth: u32,
}

impl<'de> Reader<'de> {
    /// Creates a reader at the start of a JSON text.
    pub fn new(text: &'de str) -> Self {
        Reader { text, at: 0, depth: 0 }
    }

    /// Creates a reader that starts inside the outermost object of `text`: at the byte offset `at`, which must be
    /// between two tokens.
    pub fn within_object(text: &'de str, at: usize) -> Self {
        Reader { text, at, depth: 1 }
    }

    /// Returns the byte offset of the reader in its text.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Reads the closing brace of the outermost object, and returns whether only white space follows. Returns `false`
    /// if the brace is not next.
    pub fn ends_object(&mut self) -> bool {
        if self.next_byte() != Some(b'}') {
            return false;
        }
        self.at += 1;
        self.next_byte().is_none()
    }

    /// Returns an error if the rest of the text contains anything but white space.
    pub fn end(&mut self) -> Result<()> {
        match self.next_byte() {
            None => Ok(()),
            Some(_) => Err(self.error("more text after the end of the value")),
        }
    }

    /// Sets the byte offset of `error` to the current position of the reader, unless the error already has an offset.
    pub fn locate(&self, error: ReadError) -> ReadError {
        error.located(self.at)
    }

    /// Reads an object. Calls `each` with the key of each member; `each` must read or skip the member's value.
    pub fn members(&mut self, each: &mut dyn FnMut(&str, &mut Self) -> Result<()>) -> Result<()> {
        self.parts(b'}', |reader| {
            let key = reader.key()?;
            each(&key, reader)
        })
    }

    /// Reads an array. Calls `each` for each element; `each` must read or skip the element.
    pub fn elements(&mut self, each: ReadPart<'_, 'de>) -> Result<()> {
        self.parts(b']', each)
    }

    /// Reads the members of an object or the elements of an array, whose closing bracket is `close`. `each` must read or
    /// skip one of them.
    #[inline]
    fn parts(&mut self, close: u8, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.enter()?;
        let mut first = true;
        while self.has_next(&mut first, close)? {
            each(self)?;
        }
        self.leave(close)
    }

    /// Skips white space, and returns the next byte without reading it. Returns `None` at the end of the text.
    #[inline]
    pub fn next_byte(&mut self) -> Option<u8> {
        self.at = lex::skip_space(self.bytes(), self.at);
        self.bytes().get(self.at).copied()
    }

    /// Reads a JSON string, and returns its contents with escapes replaced: a slice of the input if the string has
    /// none. The reader must be at the opening quote.
    #[inline]
    pub fn string(&mut self) -> Result<Cow<'de, str>> {
        let start = self.at + 1;
        let special = string::plain_run(self.bytes(), start);
        if self.bytes().get(special) == Some(&b'"') {
            self.at = special + 1;
            return Ok(Cow::Borrowed(&self.text[start..special]));
        }
        let (text, after) = string::read_escaped(self.text, start, special)?;
        self.at = after;
        Ok(Cow::Owned(text))
    }

    /// Reads the literal `word` (`true`, `false` or `null`). Returns an error if something else is next.
    pub fn literal(&mut self, word: &str) -> Result<()> {
        if !self.rest().starts_with(word) {
            return Err(self.error("neither a value nor the end of one"));
        }
        self.at += word.len();
        Ok(())
    }

    /// Skips one value of any type, and checks its syntax.
    pub fn skip(&mut self) -> Result<()> {
        match self.next_byte() {
            Some(b'"') => self.at = lex::string(self.bytes(), self.at)?,
            // In a text that ends after the brace, a key is missing.
            Some(b'{') if lex::skip_space(self.bytes(), self.at + 1) == self.text.len() => {
                self.enter()?;
                return self.key().map(drop);
            }
            Some(b'{') => {
                return self.parts(b'}', |reader| {
                    reader.start_key()?;
                    reader.at = lex::string(reader.bytes(), reader.at)?;
                    reader.end_key()?;
                    reader.skip()
                });
            }
            Some(b'[') => return self.parts(b']', Reader::skip),
            Some(b'-' | b'0'..=b'9') => self.at = lex::number(self.bytes(), self.at)?,
            Some(b't') => self.literal("true")?,
            Some(b'f') => self.literal("false")?,
            Some(b'n') => self.literal("null")?,
            Some(_) => return Err(self.error("not a value")),
            None => return Err(self.error("the text ends in the middle of a value")),
        }
        Ok(())
    }

    /// Reads one value of any type, checks its syntax, and returns its JSON text.
    pub fn raw(&mut self) -> Result<&'de str> {
        self.next_byte();
        let start = self.at;
        self.skip()?;
        Ok(self.since(start))
    }

    /// Returns the text from the byte offset `start` to the position of the reader.
    pub fn since(&self, start: usize) -> &'de str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Returns the text from the position of the reader on.
    pub fn rest(&self) -> &'de str {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn bytes(&self) -> &'de [u8] {
        self.text.as_bytes()
    }

    /// Creates an error at the position of the reader.
    #[cold]
    fn error(&self, reason: &'static str) -> ReadError {
        ReadError::new(reason).located(self.at)
    }

    /// Reads an object key and the colon after it.
    #[inline]
    fn key(&mut self) -> Result<Cow<'de, str>> {
        self.start_key()?;
        let key = self.string()?;
        self.end_key()?;
        Ok(key)
    }

    /// Skips white space up to the opening quote of an object key.
    #[inline]
    fn start_key(&mut self) -> Result<()> {
        match self.next_byte() {
            Some(b'"') => Ok(()),
            Some(_) => Err(self.error("not a key")),
            None => Err(self.error("the text ends where a key should be")),
        }
    }

    /// Reads the colon after an object key.
    #[inline]
    fn end_key(&mut self) -> Result<()> {
        if self.next_byte() != Some(b':') {
            return Err(self.error("no `:` after a key"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the opening bracket of an object or array. Returns an error if values are nested deeper than
    /// [`MAX_DEPTH`].
    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested deeper than 128 levels"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads the closing bracket `close` of an array or object. Returns an error if another byte is next.
    fn leave(&mut self, close: u8) -> Result<()> {
        if self.next_byte() != Some(close) {
            return Err(self.error("more elements than were expected"));
        }
        self.depth -= 1;
        self.at += 1;
        Ok(())
    }

    /// Returns whether another element or member follows before the closing bracket `close`. Reads the comma that
    /// separates it from the one before.
    ///
    /// `first` must be `true` before the first element or member; this function then sets it to `false`.
    #[inline]
    fn has_next(&mut self, first: &mut bool, close: u8) -> Result<bool> {
        match self.next_byte() {
            Some(byte) if byte == close => Ok(false),
            Some(_) if core::mem::take(first) => Ok(true),
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Err(self.error("neither `,` nor the end of what it stands in")),
            None => Err(self.error("the text ends in the middle of a value")),
        }
    }
}

/// A function that reads one JSON value, such as an array element, from a [`Reader`].
pub type ReadPart<'a, 'de> = &'a mut dyn FnMut(&mut Reader<'de>) -> Result<()>;

/// Returns whether `bytes` are exactly one valid JSON value, with or without white space around it.
pub fn is_json(bytes: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(bytes) else { return false };
    let mut reader = Reader::new(text);
    reader.raw().is_ok() && reader.end().is_ok()
}

/// Replaces the escapes in `body`, the text between the quotes of a JSON string. Returns a single U+FFFD if `body` is
/// invalid, for example because of an unknown escape.
pub fn unescape_lossy(body: &str) -> String {
    let quoted = alloc::format!("\"{body}\"");
    let mut reader = Reader::new(&quoted);
    match reader.string() {
        Ok(text) if reader.end().is_ok() => text.into_owned(),
        _ => String::from("\u{fffd}"),
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use serde_json::value::RawValue;

    use super::*;

    fn is_skipped(text: &str) -> bool {
        let is_skipped = Reader::new(text).raw().is_ok_and(|raw| raw == text.trim());
        assert_eq!(is_skipped, serde_json::from_str::<&RawValue>(text).is_ok(), "{text}");
        is_skipped
    }

    #[test]
    fn json_is_skipped() {
        for text in [
            "null",
            "true",
            " false ",
            "0",
            "-0",
            "-1",
            "1.5",
            "1e3",
            "1E+3",
            "-1.5e-3",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "\"\"",
            "\"a\"",
            "\"a long string without an escape in it\"",
            "\"a\\nb\\u00e4\\\\ and a long string with escapes\\t\"",
            "\"ä€😀\"",
            "[]",
            "[ ]",
            "{}",
            "{ }",
            "[1,2]",
            "[1 , [2, {\"a\" : [] }]]",
            "{\"a\":1,\"b\":{\"c\":[null]}}",
            "{\"a\":1,\"a\":2}",
            "\"\u{7f}\"",
            "\"\\ud83d\"",
        ] {
            assert!(is_skipped(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            " ",
            "nul",
            "nulls",
            "tru",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "1x",
            "\"",
            "\"a",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"a\tb\"",
            "\"eight by\u{1}tes and more\"",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1}",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "{1:1}",
            "{\"a\":1]",
            "1 1",
            "[]]",
        ] {
            assert!(!is_skipped(text), "{text}");
        }
    }

    #[test]
    fn depth_is_limited() {
        for depth in [126, 127, 128, 129, 130, 1_000_000] {
            let text = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(Reader::new(&text).raw().is_ok(), depth <= 128, "{depth}");
        }
        let mixed = format!("{}1{}", "[{\"a\":".repeat(64), "}]".repeat(64));
        assert!(Reader::new(&mixed).raw().is_ok());
    }
}
