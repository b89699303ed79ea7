//! [`check_trusted`]: whether other users could change a file, or put another file in its place.

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

/// Does nothing. Systems other than Unix have other permissions.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn check_trusted(_: &Path) -> Result<(), FileError> {
    Ok(())
}
