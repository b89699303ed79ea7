//! [`FileError`]: the error of a file that cannot be used.

use std::io;
use std::path::{Path, PathBuf};

/// The error of a file that cannot be used. The message names the file and the reason, and says how to solve the problem if that
/// is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// An operation on the file failed, such as reading it.
    #[error("{} cannot be {operation}: {reason}{}", path.display(), advice(*kind))]
    #[non_exhaustive]
    Failed {
        /// The operation that failed, as a past participle such as "read". The message says that the file "cannot be read".
        operation: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The kind of the system's error.
        kind: io::ErrorKind,
        /// The text of the system's error. The message of this error contains it.
        reason: String,
    },
    /// Other users can read or change the file, or could replace it.
    #[error("{} {reason}", path.display())]
    #[non_exhaustive]
    NotPrivate {
        /// The path of the file or directory that is not private.
        path: PathBuf,
        /// Why the file is not private, and the command that makes it private if there is one.
        reason: String,
    },
}

impl FileError {
    /// Creates the error for a failed operation on a file. `operation` is a past participle, such as "read".
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
