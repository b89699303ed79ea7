//! [`Error`]: why no module can be generated or compared.

use std::path::Path;
use std::{fmt, io};

/// Why no module can be generated or compared, for people. Schemas without a type in Rust are no errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Error { message: message.into() }
    }

    pub(crate) fn of_file(operation: &str, path: &Path, error: &io::Error) -> Self {
        Error::new(format!("could not {operation} {}: {error}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
