//! [`create_output`]: files whose paths come from the user, to write to.
//!
//! In a directory that others can write to, such as `/tmp`, somebody may have put a file or a link there: to read what is written, or
//! to have another file overwritten. The superuser could even write to files of others.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use crate::regular::{Links, is_pipe, make_private, open_regular};

/// Opens the file at `path` to write it anew, and creates it if it is missing. Only this user can read and write it then.
///
/// A regular file must belong to this user, and must not be behind a link. A pipe or device may be, such as `/dev/stderr` or
/// `>(command)`.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] or [`io::ErrorKind::PermissionDenied`] for other files, which stay as they are.
pub fn create_output(path: &Path) -> io::Result<File> {
    check_link(path)?;
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        // Only the superuser creates devices, but everyone creates pipes with names.
        let named = fs::symlink_metadata(path)?;
        if is_pipe(named.file_type()) {
            check_own_file(&named)?;
        }
        let file = OpenOptions::new().write(true).open(path)?;
        // A regular file may have taken the place of the device.
        if !file.metadata()?.is_file() {
            return Ok(file);
        }
    }
    let mut options = OpenOptions::new();
    // The file is emptied only after the check of its owner.
    options.write(true).create(true).truncate(false);
    make_private(&mut options);
    let (file, metadata) = open_regular(path, options, Links::Refuse)?;
    check_own_file(&metadata)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    file.set_len(0)?;
    Ok(file)
}

/// Checks that a file which is open for writing belongs to this user, and has no other name.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] otherwise.
pub fn check_own_file(metadata: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(denied("it belongs to another user. Name another file"));
        }
        if metadata.nlink() > 1 {
            return Err(denied("it is a file with several names (hard links). Name another file"));
        }
    }
    #[cfg(not(unix))]
    let _ = metadata;
    Ok(())
}

/// Checks that a symbolic link at `path` belongs to this user or the superuser. Accepts all other files, also a missing one.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] for a link of another user.
pub fn check_link(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let is_foreign =
            |link: Metadata| link.is_symlink() && link.uid() != 0 && link.uid() != rustix::process::geteuid().as_raw();
        if fs::symlink_metadata(path).is_ok_and(is_foreign) {
            return Err(denied("it is a symbolic link of another user"));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

#[cfg(unix)]
fn denied(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}
