//! [`create_output`]: opens files to write to, whose paths come from the user.
//!
//! In a directory that other users can write to, such as `/tmp`, another user may have put a file or a link at the path. This
//! user could then read the output, or have another file overwritten. A program of the superuser could even overwrite files of
//! any user.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use crate::regular::{Links, open_regular};
use crate::system::{check_link, check_own_file, is_pipe, make_private, set_mode};

/// Opens the file at `path` to replace its content, and creates the file if it is missing. Afterwards, only this user can read
/// and write a regular file.
///
/// A regular file must belong to this user, and `path` must not be a symbolic link to it. A link to a pipe or device is accepted,
/// such as `/dev/stderr` or `>(command)`.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] or [`io::ErrorKind::PermissionDenied`] for a file that is not accepted. Its content is not
/// changed.
pub fn create_output(path: &Path) -> io::Result<File> {
    check_link(path)?;
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        // Only the superuser can create devices, but every user can create named pipes.
        let named = fs::symlink_metadata(path)?;
        if is_pipe(named.file_type()) {
            check_own_file(&named)?;
        }
        let file = OpenOptions::new().write(true).open(path)?;
        // A regular file may have replaced the device since the check.
        if !file.metadata()?.is_file() {
            return Ok(file);
        }
    }
    let mut options = OpenOptions::new();
    // The file is truncated only after the check of its owner.
    options.write(true).create(true).truncate(false);
    make_private(&mut options);
    let (file, metadata) = open_regular(path, options, Links::Refuse)?;
    check_own_file(&metadata)?;
    set_mode(&file, 0o600)?;
    file.set_len(0)?;
    Ok(file)
}
