//! Files that are replaced as a whole, and locked while that is done.

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

/// What could not be done with a file. The message names it, and says what to do where that is known.
pub(crate) fn unavailable(what: &str, path: &Path, error: &io::Error) -> HubError {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ". Make room on the disk, and try again",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ". This user has to be allowed to write there"
        }
        io::ErrorKind::WouldBlock => ". Another program holds it; try again",
        _ => "",
    };
    HubError::unavailable(format!("{} could not be {what}: {error}{advice}", path.display()))
}
