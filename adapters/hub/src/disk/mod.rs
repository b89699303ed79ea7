//! Reads, locks and replaces the files of the hub.

#[cfg(test)]
pub(crate) mod faults;
mod fs;
mod replace;

use std::io;
use std::path::Path;

#[cfg(test)]
pub(crate) use fs::NewFile;
pub(crate) use fs::{Fs, SystemFs};
pub(crate) use replace::{remove_leftovers, replace, replace_for_now};

use crate::HubError;

/// Creates the error for a failed operation on the file `path`. `what` is the participle of the operation, such as "read". The
/// message names the file, and says what to do if that is known.
pub(crate) fn unavailable(what: &str, path: &Path, error: &io::Error) -> HubError {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ". Free space on the disk and try again",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ". Give this user permission to access it"
        }
        io::ErrorKind::InvalidInput => ". Remove it, or put a regular file in its place",
        io::ErrorKind::FileTooLarge => ". Remove what does not belong there",
        io::ErrorKind::WouldBlock => ". Another program has locked it; try again",
        _ => "",
    };
    HubError::unavailable(format!("{} cannot be {what}: {error}{advice}", path.display()))
}
