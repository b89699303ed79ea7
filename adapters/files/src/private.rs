//! [`read_private`]: reads files that only this user may read, such as secrets.

use std::fs::{self, FileType, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use crate::FileError;
use crate::regular::{Links, if_there, open_regular, read_open_file};
use crate::trusted::check_trusted;
#[cfg(unix)]
use crate::trusted::quoted;

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Reads a whole file that only this user may read, such as a secret. Returns `None` if the file does not exist.
///
/// Systems without Unix permissions have no check of the owner and the permissions.
///
/// # Errors
/// [`FileError::NotPrivate`] if the file is a symbolic link, if it belongs to another user, if other users can access it, or if
/// other users can change a directory on the path. [`FileError::Failed`] if the file cannot be read, or has more than
/// `max_bytes`.
pub fn read_private(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>, FileError> {
    if !check_private_file(path)? {
        return Ok(None);
    }
    let failed = |error: io::Error| FileError::new("read", path, &error);
    let mut options = OpenOptions::new();
    options.read(true);
    let opened = if_there(open_regular(path, options, Links::Refuse)).map_err(failed)?;
    let Some((file, metadata)) = opened else { return Ok(None) };
    // Another file may have replaced the checked file before it was opened.
    check_owner(path, &metadata, FILE_MODE)?;
    read_open_file(file, &metadata, max_bytes).map(Some).map_err(failed)
}

/// Returns whether the file `path` exists. Returns an error if it is not a regular file, belongs to another user, can be accessed
/// by other users, or is in a directory that other users can change.
pub fn check_private_file(path: &Path) -> Result<bool, FileError> {
    check(path, FileType::is_file, "a file", FILE_MODE)
}

/// Returns whether the directory `path` exists. Returns an error if it is not a directory, belongs to another user, can be
/// accessed by other users, or is in a directory that other users can change.
pub fn check_private_directory(path: &Path) -> Result<bool, FileError> {
    check(path, FileType::is_dir, "a directory", DIRECTORY_MODE)
}

fn check(path: &Path, is: fn(&FileType) -> bool, what: &str, mode: u32) -> Result<bool, FileError> {
    let found = if_there(fs::symlink_metadata(path)).map_err(|error| FileError::new("examined", path, &error))?;
    let Some(metadata) = found else { return Ok(false) };
    if metadata.is_symlink() {
        return Err(not_private(path, "is a link".into()));
    }
    if !is(&metadata.file_type()) {
        return Err(not_private(path, format!("is not {what}")));
    }
    check_owner(path, &metadata, mode)?;
    check_trusted(path).map(|()| true)
}

/// Checks that a file or directory belongs to this user and that other users cannot access it. The error recommends the
/// permissions `mode`.
#[cfg(unix)]
fn check_owner(path: &Path, metadata: &Metadata, mode: u32) -> Result<(), FileError> {
    use std::os::unix::fs::MetadataExt as _;

    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(not_private(path, "belongs to another user".into()));
    }
    if metadata.mode() & 0o077 != 0 {
        let now = metadata.mode() & 0o7777;
        let reason = format!("is open to other users (mode {now:04o}). Run `chmod {mode:o} {}`", quoted(path));
        return Err(not_private(path, reason));
    }
    Ok(())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn check_owner(_: &Path, _: &Metadata, _: u32) -> Result<(), FileError> {
    Ok(())
}

fn not_private(path: &Path, reason: String) -> FileError {
    FileError::NotPrivate { path: path.to_owned(), reason }
}
