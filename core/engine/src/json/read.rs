//! The reader: builds values from JSON text in memory, in one pass.
//!
//! `serde_json` reads a byte at a time and collects a string with escapes in a second buffer: ten instructions a byte, where
//! tools return megabytes of source code in one string. This reader looks at eight bytes and more at a time, returns opaque
//! parts as slices of the text, and unescapes a string into its final place. It checks everything that it skips, so text
//! that is kept as [`Json`](super::Json) is JSON. The depth of nesting is limited.

use alloc::string::String;
use core::ops::Deref;

pub(crate) use super::error::{ReadError, Result};
use super::{lex, string};

/// Maximum depth of nested values. `serde_json` has the same limit, so whatever is read here can be parsed there.
pub(super) const MAX_DEPTH: u32 = 128;

/// The text of a string, unescaped.
pub enum Text<'de> {
    /// The string had no escapes: a slice of the input.
    Borrowed(&'de str),
    /// The string had escapes.
    Unescaped(String),
}

impl Deref for Text<'_> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Unescaped(text) => text,
        }
    }
}

impl From<Text<'_>> for String {
    #[inline]
    fn from(text: Text<'_>) -> String {
        match text {
            Text::Borrowed(text) => text.into(),
            Text::Unescaped(text) => text,
        }
    }
}

/// Reads JSON text from front to back. It is at the first byte of a value, or in the white space before one, whenever a value
/// can be read.
pub struct Reader<'de> {
    pub(super) text: &'de str,
    pub(super) at: usize,
    pub(super) depth: u32,
}

impl<'de> Reader<'de> {
    /// A reader at the start of a text.
    pub fn new(text: &'de str) -> Self {
        Reader { text, at: 0, depth: 0 }
    }

    /// A reader at byte `at`, within the outermost object of a text.
    pub(crate) fn within_object(text: &'de str, at: usize) -> Self {
        Reader { text, at, depth: 1 }
    }

    /// The number of bytes read so far.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Reads the end of the outermost object, and returns whether the text ends there too.
    pub(crate) fn ends_object(&mut self) -> bool {
        if self.next_byte() != Some(b'}') {
            return false;
        }
        self.at += 1;
        self.next_byte().is_none()
    }

    /// Fails if anything but white space follows.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.next_byte() {
            None => Ok(()),
            Some(_) => Err(self.error("more text after the end of the value")),
        }
    }

    /// Adds the current position to an error that has no place.
    pub(crate) fn locate(&self, error: ReadError) -> ReadError {
        error.located(self.at)
    }

    /// Reads an object. Calls `each` for each member, with its key and with the reader at its value, which `each` must read or
    /// skip.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a level of nesting must not take more of the stack in a build without optimisation"
    )]
    pub fn members(&mut self, each: &mut impl FnMut(&str, &mut Self) -> Result<()>) -> Result<()> {
        self.each_member(each)
    }

    /// Compiled once: what differs between types is behind a pointer.
    fn each_member(&mut self, each: &mut dyn ReadMember<'de>) -> Result<()> {
        self.enter()?;
        let mut first = true;
        while self.has_next(&mut first, b'}')? {
            self.key()?;
            let key = self.string()?;
            self.colon()?;
            each.read(&key, self)?;
        }
        self.leave(b'}')
    }

    /// Reads an array. Calls `each` with the reader at each element, which `each` must read or skip.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a level of nesting must not take more of the stack in a build without optimisation"
    )]
    pub fn elements(&mut self, each: &mut impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.each_element(each)
    }

    fn each_element(&mut self, each: &mut dyn ReadElement<'de>) -> Result<()> {
        self.enter()?;
        let mut first = true;
        while self.has_next(&mut first, b']')? {
            each.read(self)?;
        }
        self.leave(b']')
    }

    /// Skips white space. Returns the byte behind it without moving past that byte: it tells the type of the next value.
    #[inline]
    pub fn next_byte(&mut self) -> Option<u8> {
        self.at = lex::skip_space(self.bytes(), self.at);
        self.bytes().get(self.at).copied()
    }

    /// Reads a string, whose opening quote is next.
    #[inline]
    pub fn string(&mut self) -> Result<Text<'de>> {
        let start = self.at + 1;
        match string::plain_end(self.bytes(), start) {
            Ok(end) => {
                self.at = end + 1;
                Ok(Text::Borrowed(&self.text[start..end]))
            }
            Err(special) => self.escaped_string(start, special),
        }
    }

    #[inline(never)]
    fn escaped_string(&mut self, start: usize, special: usize) -> Result<Text<'de>> {
        let (text, after) = string::read_escaped(self.bytes(), start, special)?;
        self.at = after;
        Ok(Text::Unescaped(text))
    }

    /// Reads a number, whose first byte is next. Returns its text, and whether it has neither point nor exponent.
    pub(super) fn number(&mut self) -> Result<(&'de str, bool)> {
        let start = self.at;
        let (end, is_whole) = lex::number(self.bytes(), start)?;
        self.at = end;
        Ok((&self.text[start..end], is_whole))
    }

    /// Reads `true`, `false` or `null`, as named by `word`.
    pub(crate) fn literal(&mut self, word: &str) -> Result<()> {
        self.at = lex::literal(self.bytes(), self.at, word)?;
        Ok(())
    }

    /// Skips one value of any type and returns its text.
    pub fn raw(&mut self) -> Result<&'de str> {
        self.next_byte();
        let start = self.at;
        self.skip()?;
        Ok(self.since(start))
    }

    /// Returns the text from byte `start` to the current position.
    pub(crate) fn since(&self, start: usize) -> &'de str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    #[inline]
    pub(super) fn bytes(&self) -> &'de [u8] {
        self.text.as_bytes()
    }

    #[cold]
    pub(super) fn error(&self, reason: &str) -> ReadError {
        ReadError::at(reason, self.at)
    }

    /// Moves to a key. Fails if none is next.
    #[inline]
    pub(super) fn key(&mut self) -> Result<()> {
        match self.next_byte() {
            Some(b'"') => Ok(()),
            Some(_) => Err(self.error("not a key")),
            None => Err(self.error("the text ends where a key should be")),
        }
    }

    #[inline]
    pub(super) fn colon(&mut self) -> Result<()> {
        if self.next_byte() != Some(b':') {
            return Err(self.error("no `:` after a key"));
        }
        self.at += 1;
        Ok(())
    }

    /// Enters an object or array, whose opening bracket is next.
    pub(super) fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested deeper than 128 levels"));
        }
        self.at += 1;
        Ok(())
    }

    /// Leaves an object or array that ends with `close`. Fails if elements are left.
    pub(super) fn leave(&mut self, close: u8) -> Result<()> {
        if self.next_byte() != Some(close) {
            return Err(self.error("more elements than were expected"));
        }
        self.depth -= 1;
        self.at += 1;
        Ok(())
    }

    /// Returns whether another element follows in an object or array that ends with `close`, and moves to it. Set `first` to
    /// `true` before the first call.
    #[inline]
    pub(super) fn has_next(&mut self, first: &mut bool, close: u8) -> Result<bool> {
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

/// Reads one member of an object.
///
/// A closure becomes a `dyn ReadMember` and not a `dyn FnMut`, which would need a function more for each closure: `call_once`,
/// which nobody calls. Together these take 5 KiB.
trait ReadMember<'de> {
    fn read(&mut self, key: &str, reader: &mut Reader<'de>) -> Result<()>;
}

impl<'de, F: FnMut(&str, &mut Reader<'de>) -> Result<()>> ReadMember<'de> for F {
    fn read(&mut self, key: &str, reader: &mut Reader<'de>) -> Result<()> {
        self(key, reader)
    }
}

/// Reads one element of an array. Like [`ReadMember`].
trait ReadElement<'de> {
    fn read(&mut self, reader: &mut Reader<'de>) -> Result<()>;
}

impl<'de, F: FnMut(&mut Reader<'de>) -> Result<()>> ReadElement<'de> for F {
    fn read(&mut self, reader: &mut Reader<'de>) -> Result<()> {
        self(reader)
    }
}

/// Returns whether `bytes` are one JSON value and nothing else.
pub(crate) fn is_json(bytes: &[u8]) -> bool {
    let Ok(text) = core::str::from_utf8(bytes) else { return false };
    let mut reader = Reader::new(text);
    reader.raw().is_ok() && reader.end().is_ok()
}
