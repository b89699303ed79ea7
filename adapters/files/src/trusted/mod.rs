//! [`check_trusted`]: checks that other users cannot change a file or replace it with another file.

#[cfg(unix)]
mod groups;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use std::path::Path;

#[cfg(unix)]
pub use unix::check_trusted;
#[cfg(unix)]
pub(crate) use unix::quoted;

#[cfg(not(unix))]
use crate::FileError;

/// Does nothing. This check is about Unix permissions, which other systems do not have.
///
/// # Errors
/// Never returns an error.
#[cfg(not(unix))]
pub fn check_trusted(_: &Path) -> Result<(), FileError> {
    Ok(())
}
