//! [`ReadError`]: why a text could not be read.

use alloc::borrow::Cow;

/// Why a JSON text could not be read, and at which byte offset.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct ReadError {
    reason: Cow<'static, str>,
    offset: Option<usize>,
}

/// The result of reading JSON text: a value or a [`ReadError`].
pub type Result<T> = core::result::Result<T, ReadError>;

impl ReadError {
    /// Creates an error whose byte offset in the JSON text is not known. [`ReadError::located`] can set the offset
    /// later.
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        ReadError { reason: reason.into(), offset: None }
    }

    /// Sets the byte offset at which the JSON text is invalid, unless the error already has an offset.
    pub fn located(mut self, offset: usize) -> Self {
        self.offset.get_or_insert(offset);
        self
    }

    /// Adds the position of the text within a larger one to the byte offset of the error. `start` is this position.
    pub fn moved(mut self, start: usize) -> Self {
        self.offset = Some(self.offset().saturating_add(start));
        self
    }

    /// Returns the reason of the error, without the byte offset.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the byte offset of the error, or 0 if it is unknown.
    pub fn offset(&self) -> usize {
        self.offset.unwrap_or(0)
    }
}
