//! [`WriteError`]: why a value could not be serialized.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use serde::ser;

/// Why a value could not be serialized to JSON.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WriteError(Box<str>);

impl WriteError {
    /// Returns the reason as text for an error message.
    pub fn into_reason(self) -> String {
        self.0.into()
    }
}

pub(super) type Result<T> = core::result::Result<T, WriteError>;

impl ser::Error for WriteError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        WriteError(alloc::format!("{message}").into())
    }
}

#[cold]
pub(super) fn error(reason: &str) -> WriteError {
    WriteError(reason.into())
}
