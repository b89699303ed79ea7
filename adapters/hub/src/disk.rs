//! The errors of the hub's files.

use std::io;
use std::path::Path;

use mcpwire_files::FileError;

use crate::HubError;

/// Creates the error for a failed operation on the file `path`. `what` is the participle of the operation, such as "read".
pub(crate) fn unavailable(what: &'static str, path: &Path, error: &io::Error) -> HubError {
    HubError::unavailable(FileError::new(what, path, error).to_string())
}
