//! The errors of the files that a hub stores.

use std::io;
use std::path::Path;

use mcpwire_files::FileError;

use crate::HubError;

/// Checks the version of a file before it is used or replaced.
///
/// # Errors
/// If `version` is greater than `known`, the version that this program writes.
pub fn check_version(path: &Path, version: u64, known: u64) -> Result<(), HubError> {
    if version <= known {
        return Ok(());
    }
    Err(HubError::unavailable(format!(
        "{} has version {version}, which this program does not know; use a later version of this program, or remove the file",
        path.display()
    )))
}

/// Creates the error for a failed operation on the file `path`. `what` is the participle of the operation, such as "read".
pub fn unavailable(what: &'static str, path: &Path, error: &io::Error) -> HubError {
    HubError::unavailable(FileError::new(what, path, error).to_string())
}
