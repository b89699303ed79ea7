//! [`FileError`]: why a file cannot be used.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file cannot be used. The message names the file, and says what to do if that is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// An operation on the file failed.
    #[error("{} cannot be {operation}: {reason}{}", path.display(), advice(*kind))]
    #[non_exhaustive]
    Failed {
        /// The participle of the operation, such as "read".
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// The kind of the system's error.
        kind: io::ErrorKind,
        /// The text of the system's error.
        reason: String,
    },
    /// The file is not private to this user.
    #[error("{} {reason}", path.display())]
    #[non_exhaustive]
    NotPrivate {
        /// The file or directory.
        path: PathBuf,
        /// The reason, with the command that mends it if there is one.
        reason: String,
    },
}

impl FileError {
    /// Creates the error for a failed operation on a file. `operation` is a participle, such as "read".
    pub fn new(operation: &'static str, path: &Path, error: &io::Error) -> Self {
        FileError::Failed { operation, path: path.to_owned(), kind: error.kind(), reason: error.to_string() }
    }
}

fn advice(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ". Free space on the disk and try again",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ". Give this user permission to access it"
        }
        io::ErrorKind::InvalidInput => ". Remove it, or put a regular file in its place",
        io::ErrorKind::FileTooLarge => ". Remove what does not belong there",
        io::ErrorKind::WouldBlock => ". Another program has locked it; try again",
        _ => "",
    }
}
