//! [`ReadError`]: why a text could not be read. [`WriteError`]: why a value could not be serialized.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use serde::ser;

/// A syntax error in JSON text: the reason, and the byte offset of the error.
pub(crate) type TokenError = (&'static str, usize);

/// Why a JSON text could not be read, and at which byte offset.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.reason())]
pub struct ReadError(Box<ReadErrorDetail>);

#[derive(Debug)]
struct ReadErrorDetail {
    reason: String,
    offset: Option<usize>,
}

/// The result of reading JSON text: a value or a [`ReadError`].
pub type Result<T> = core::result::Result<T, ReadError>;

impl ReadError {
    /// Creates an error whose byte offset in the JSON text is not known. [`ReadError::located`] can set the offset
    /// later.
    pub fn new(reason: impl Into<String>) -> Self {
        ReadError(Box::new(ReadErrorDetail { reason: reason.into(), offset: None }))
    }

    #[cold]
    pub(super) fn at(reason: &str, offset: usize) -> Self {
        ReadError(Box::new(ReadErrorDetail { reason: reason.into(), offset: Some(offset) }))
    }

    /// Sets the byte offset at which the JSON text is invalid, unless the error already has an offset.
    pub fn located(mut self, offset: usize) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Adds the position of the text within a larger one to the byte offset of the error. `start` is this position.
    pub fn moved(mut self, start: usize) -> Self {
        self.0.offset = Some(self.offset().saturating_add(start));
        self
    }

    /// Returns the reason of the error, without the byte offset.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Returns the byte offset of the error, or 0 if it is unknown.
    pub fn offset(&self) -> usize {
        self.0.offset.unwrap_or(0)
    }
}

impl From<TokenError> for ReadError {
    #[cold]
    fn from((reason, offset): TokenError) -> Self {
        ReadError::at(reason, offset)
    }
}

/// Why a value could not be serialized to JSON.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WriteError(Box<str>);

/// The result of serializing a value: nothing, because its text is in a buffer, or a [`WriteError`].
pub type WriteResult<T> = core::result::Result<T, WriteError>;

impl WriteError {
    #[cold]
    pub(super) fn new(reason: &str) -> Self {
        WriteError(reason.into())
    }

    /// Returns the reason as text for an error message.
    pub fn into_reason(self) -> String {
        self.0.into()
    }
}

impl ser::Error for WriteError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        WriteError(alloc::format!("{message}").into())
    }
}
