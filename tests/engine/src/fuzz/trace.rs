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
