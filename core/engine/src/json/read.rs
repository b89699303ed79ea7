//! The reader: JSON text in memory to any type that serde knows, in one pass.
//!
//! `serde_json` reads a byte at a time and collects a string with escapes in a second buffer: ten instructions a byte, where
//! tools answer with megabytes of source code in one string. This reader looks at eight bytes at a time, gives out opaque
//! parts as the text that they are, undoes escapes into the string's final place, and checks all that it passes over, so
//! that what is kept as [`Json`](super::Json) is JSON. Nesting is limited, and nothing in here recurses by itself.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use core::ops::Deref;

use serde::de;

use super::string::{self, Fault};

/// How deep values may be nested: as deep as `serde_json` reads, so that what passes here can be parsed there.
pub(super) const MAX_DEPTH: u32 = 128;

/// The name by which [`Json`](super::Json) asks for raw text.
pub(crate) const RAW: &str = "$mcpwire::Json";

/// The name by which a type that reads itself asks for the reader.
pub(super) const HAND_OVER: &str = "$mcpwire::HandOver";

/// The name by which `serde_json::value::RawValue` asks for it and gives it. It is theirs; a test notices if it changes.
pub(crate) const SERDE_RAW: &str = "$serde_json::private::RawValue";

/// Why a text could not be read, and at which byte.
#[derive(Debug)]
pub struct ReadError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    what: String,
    at: Option<usize>,
}

impl ReadError {
    pub(super) fn at(what: &str, at: usize) -> Self {
        ReadError(Box::new(Inner { what: what.into(), at: Some(at) }))
    }

    pub(crate) fn new(what: impl Into<String>) -> Self {
        ReadError(Box::new(Inner { what: what.into(), at: None }))
    }

    pub(crate) fn what(&self) -> &str {
        &self.0.what
    }

    pub(crate) fn offset(&self) -> usize {
        self.0.at.unwrap_or(0)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}

impl core::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        // Not `to_string`, whose machinery is compiled for each that calls it.
        ReadError::new(alloc::format!("{message}"))
    }

    /// As serde says it, but for the value of a fraction: to write one takes much code that nothing else needs.
    #[cold]
    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        ReadError::new(alloc::format!("invalid type: {}, expected {expected}", Found(found)))
    }

    #[cold]
    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        ReadError::new(alloc::format!("invalid value: {}, expected {expected}", Found(found)))
    }
}

struct Found<'a>(de::Unexpected<'a>);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use de::Unexpected;
        match self.0 {
            Unexpected::Bool(value) => write!(f, "boolean `{value}`"),
            Unexpected::Unsigned(value) => write!(f, "integer `{value}`"),
            Unexpected::Signed(value) => write!(f, "integer `{value}`"),
            Unexpected::Float(_) => f.write_str("floating point number"),
            Unexpected::Str(value) => write!(f, "string {value:?}"),
            Unexpected::Unit => f.write_str("unit value"),
            Unexpected::Seq => f.write_str("sequence"),
            Unexpected::Map => f.write_str("map"),
            Unexpected::Other(what) => f.write_str(what),
            _ => f.write_str("another value"),
        }
    }
}

#[cold]
pub(super) fn fault((what, at): Fault) -> ReadError {
    ReadError::at(what, at)
}

/// What stands between the quotes of a string.
pub enum Body<'de> {
    /// The text as it is.
    Plain(&'de str),
    /// A text that had escapes.
    Unescaped(String),
}

impl Deref for Body<'_> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        match self {
            Body::Plain(text) => text,
            Body::Unescaped(text) => text,
        }
    }
}

impl From<Body<'_>> for String {
    #[inline]
    fn from(body: Body<'_>) -> String {
        match body {
            Body::Plain(text) => text.into(),
            Body::Unescaped(text) => text,
        }
    }
}

/// What the reader gives, or where and why the text is not what is wanted.
pub type Result<T> = core::result::Result<T, ReadError>;

/// Reads a whole text.
pub(crate) fn from_str<'de, T: de::Deserialize<'de>>(text: &'de str) -> Result<T> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(&mut reader).map_err(|error| reader.locate(error))?;
    reader.end()?;
    Ok(value)
}

/// Reads JSON text from its start to its end, without building a tree.
pub struct Reader<'de> {
    pub(super) text: &'de str,
    pub(crate) at: usize,
    pub(super) depth: u32,
}

/// Reads the value of a member, or passes over it.
///
/// It stands for the closures that do so, as [`Part`] does: behind a pointer of `dyn FnMut`, each would come in two more forms
/// that nobody calls.
trait EachMember<'de> {
    fn member(&mut self, name: &str, reader: &mut Reader<'de>) -> Result<()>;
}

impl<'de, F: FnMut(&str, &mut Reader<'de>) -> Result<()>> EachMember<'de> for F {
    #[inline]
    fn member(&mut self, name: &str, reader: &mut Reader<'de>) -> Result<()> {
        self(name, reader)
    }
}

/// Reads what is at the reader's place.
pub(crate) trait Part<'de> {
    fn read(&mut self, reader: &mut Reader<'de>) -> Result<()>;
}

impl<'de, F: FnMut(&mut Reader<'de>) -> Result<()>> Part<'de> for F {
    fn read(&mut self, reader: &mut Reader<'de>) -> Result<()> {
        self(reader)
    }
}

impl<'de> Reader<'de> {
    /// Reads from the start of `text`.
    pub fn new(text: &'de str) -> Self {
        Reader { text, at: 0, depth: 0 }
    }

    /// Reads from the inside of an object on.
    pub(crate) fn within(text: &'de str, at: usize) -> Self {
        Reader { text, at, depth: 1 }
    }

    /// Whether everything before this place has been read, and nothing of what follows.
    pub(crate) fn is_at(&self, at: usize) -> bool {
        self.at == at
    }

    /// Whether the object that this is within ends here, and the text with it.
    pub(crate) fn closes(&mut self) -> bool {
        if self.next_byte() != Some(b'}') {
            return false;
        }
        self.at += 1;
        self.next_byte().is_none()
    }

    /// Makes sure that nothing follows.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.next_byte() {
            None => Ok(()),
            Some(_) => Err(self.error("more text after the end of the value")),
        }
    }

    /// An error of a visitor's does not know where it happened: where the reader is.
    pub(crate) fn locate(&self, mut error: ReadError) -> ReadError {
        error.0.at.get_or_insert(self.at);
        error
    }

    /// The members of an object: its keys, each with the reader at its value.
    ///
    /// What it and [`Reader::elements`] do is compiled once, not for each type that is read: what differs is behind the pointer.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a level of nesting is not to take more of the stack, however it is compiled"
    )]
    pub fn members(&mut self, each: &mut impl FnMut(&str, &mut Self) -> Result<()>) -> Result<()> {
        self.each_member(each)
    }

    fn each_member(&mut self, each: &mut dyn EachMember<'de>) -> Result<()> {
        self.enter()?;
        let mut first = true;
        while self.another(&mut first, b'}')? {
            self.key()?;
            let key = self.string()?;
            self.colon()?;
            each.member(&key, self)?;
        }
        self.leave(b'}')
    }

    /// The elements of an array, with the reader at each.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a level of nesting is not to take more of the stack, however it is compiled"
    )]
    pub fn elements(&mut self, each: &mut impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.each_element(each)
    }

    fn each_element(&mut self, each: &mut dyn Part<'de>) -> Result<()> {
        self.enter()?;
        let mut first = true;
        while self.another(&mut first, b']')? {
            each.read(self)?;
        }
        self.leave(b']')
    }

    /// The text from `start` to where the reader is.
    pub(crate) fn since(&self, start: usize) -> &'de str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// One value, whatever it is, as its text.
    pub fn raw(&mut self) -> Result<&'de str> {
        self.next_byte();
        let start = self.at;
        self.skip()?;
        Ok(self.since(start))
    }

    #[cold]
    pub(super) fn error(&self, what: &str) -> ReadError {
        ReadError::at(what, self.at)
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes over space; gives the byte after it, and stays there.
    #[inline]
    pub fn next_byte(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                other => return other,
            }
        }
    }

    /// Reads a string.
    #[inline]
    pub fn string(&mut self) -> Result<Body<'de>> {
        let start = self.at + 1;
        match string::plain_end(self.text.as_bytes(), start) {
            Ok(end) => {
                self.at = end + 1;
                Ok(Body::Plain(&self.text[start..end]))
            }
            Err(special) => self.escaped_string(start, special),
        }
    }

    #[inline(never)]
    fn escaped_string(&mut self, start: usize, special: usize) -> Result<Body<'de>> {
        let (text, after) = string::read_escaped(self.text.as_bytes(), start, special).map_err(fault)?;
        self.at = after;
        Ok(Body::Unescaped(text))
    }

    pub(crate) fn literal(&mut self, word: &str) -> Result<()> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.error("neither a value nor the end of one"))
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

    pub(super) fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested deeper than 128 levels"));
        }
        self.at += 1;
        Ok(())
    }

    /// Leaves an array or object that its visitor has read to the end.
    pub(super) fn leave(&mut self, close: u8) -> Result<()> {
        if self.next_byte() != Some(close) {
            return Err(self.error("more elements than were expected"));
        }
        self.depth -= 1;
        self.at += 1;
        Ok(())
    }

    /// Whether another element follows in what ends with `close`.
    #[inline]
    pub(super) fn another(&mut self, first: &mut bool, close: u8) -> Result<bool> {
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
