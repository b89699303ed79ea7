//! What a target does and sees, line by line: to look into one input, and to compare two builds of the engine.

use std::cell::RefCell;
use std::fmt::{self, Write};
use std::rc::Rc;

/// Collects lines of text, or nothing at all. Its clones write to the same text.
#[derive(Clone, Default)]
pub struct Trace(Option<Rc<RefCell<String>>>);

impl Trace {
    /// A trace that collects lines.
    pub fn on() -> Self {
        Trace(Some(Rc::default()))
    }

    /// Whether lines are collected.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Adds a line. Control characters are escaped, so that it stays one line.
    pub fn line(&self, line: fmt::Arguments<'_>) {
        if let Some(text) = &self.0 {
            let mut text = text.borrow_mut();
            // Writing to a string does not fail.
            let _ = Escaped(&mut text).write_fmt(line);
            text.push('\n');
        }
    }

    /// Takes out the lines so far.
    pub fn take(&self) -> String {
        self.0.as_ref().map(|text| text.take()).unwrap_or_default()
    }
}

/// Text whose control characters are escaped.
struct Escaped<'t>(&'t mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if c.is_control() { self.0.extend(c.escape_default()) } else { self.0.push(c) }
        }
        Ok(())
    }
}

/// Bytes as text; those that are not UTF-8 as `\xff`.
pub(crate) struct Shown<'b>(pub(crate) &'b [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Bytes that are used up; once they are, every decision is 0.
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Bytes(data)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// One of a list.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.byte()) % from.len()]
    }

    /// Up to 255 bytes, their number first.
    pub(crate) fn piece(&mut self) -> &'a [u8] {
        let len = usize::from(self.byte()).min(self.0.len());
        let (piece, rest) = self.0.split_at(len);
        self.0 = rest;
        piece
    }

    /// All that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.0)
    }
}
