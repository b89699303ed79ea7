//! Permissions, owners and kinds of files on Unix systems.

use std::fs::{self, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// Sets the permissions of a file that `options` will create: only this user can read and write it.
pub fn make_private(options: &mut OpenOptions) {
    options.mode(0o600);
}

/// Adds the flags `O_NONBLOCK` and `O_NOCTTY`: opening a pipe does not wait, and opening a terminal does not make it the
/// controlling terminal.
pub(crate) fn without_waiting(mut options: OpenOptions, refuse_links: bool) -> OpenOptions {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, refuse_links);
    options.custom_flags(flags.bits().cast_signed());
    options
}

pub(crate) fn is_pipe(kind: FileType) -> bool {
    kind.is_fifo()
}

/// Describes a file that only Unix systems have.
pub(crate) fn describe(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        Some("a named pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else {
        (kind.is_char_device() || kind.is_block_device()).then_some("a device")
    }
}

pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Checks that an open file belongs to this user and has no second hard link, so that writing to it changes no file of another
/// user.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] if the file belongs to another user or has several hard links.
pub fn check_own_file(metadata: &Metadata) -> io::Result<()> {
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(denied("it belongs to another user. Name another file"));
    }
    if metadata.nlink() > 1 {
        return Err(denied("it is a file with several names (hard links). Name another file"));
    }
    Ok(())
}

/// Checks that a symbolic link at `path` belongs to this user or the superuser. Accepts every path that is not a symbolic link,
/// also a missing file.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`] if the link belongs to another user.
pub fn check_link(path: &Path) -> io::Result<()> {
    let is_foreign =
        |link: Metadata| link.is_symlink() && link.uid() != 0 && link.uid() != rustix::process::geteuid().as_raw();
    if fs::symlink_metadata(path).is_ok_and(is_foreign) {
        return Err(denied("it is a symbolic link of another user"));
    }
    Ok(())
}

fn denied(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

#[cfg(feature = "replace")]
pub(crate) fn mode(metadata: &Metadata) -> u32 {
    metadata.mode() & 0o777
}

/// Creates a directory that only this user can enter, and its missing parent directories.
#[cfg(feature = "replace")]
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a file and locks it.
///
/// # Errors
/// [`io::ErrorKind::Interrupted`] if another program removed the file before it was locked.
#[cfg(feature = "replace")]
#[clippy::msrv = "1.89"]
pub(crate) fn create_held(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.open(path)?;
    if file.lock().is_ok() && path.symlink_metadata().is_err() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    Ok(file)
}

#[cfg(feature = "replace")]
pub(crate) use fs::rename;

#[cfg(feature = "replace")]
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
