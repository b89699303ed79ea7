//! [`open_regular`], [`read_regular`], [`read_file_or_pipe`]: open files whose paths come from the user or from a configuration,
//! without blocking.
//!
//! Opening a named pipe waits for its other end, reading a terminal waits for the user, and `/dev/zero` has no end. Such a file
//! in the place of a configuration file must not block the program. For this reason, these functions open only regular files.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::system::{self, is_pipe, without_waiting};

/// Maximum number of symbolic links to follow for one path, so that links that form a loop end. Linux has the same limit.
#[cfg(feature = "replace")]
pub(crate) const MAX_LINKS: usize = 40;

/// Whether [`open_regular`] follows a symbolic link at the last part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Follow the link. It must lead to a regular file.
    Follow,
    /// Return an error if the path is a link.
    Refuse,
}

/// Opens a regular file without waiting. Replaces the custom flags of `options`.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if the path leads to a directory, pipe, socket or device, or to a symbolic link that `links`
/// refuses.
pub fn open_regular(path: &Path, options: OpenOptions, links: Links) -> io::Result<(File, Metadata)> {
    // Opening a device can have effects, and opening a socket fails without a useful message. The kind of the file is therefore
    // checked first.
    let found = match links {
        Links::Follow => fs::metadata(path),
        Links::Refuse => fs::symlink_metadata(path),
    };
    // A missing file is no error here, because `options` may create it.
    if let Some(metadata) = if_there(found)? {
        check(metadata.file_type())?;
    }
    let file = without_waiting(options, links == Links::Refuse).open(path)?;
    // Another file may have replaced the checked file before it was opened.
    let metadata = file.metadata()?;
    check(metadata.file_type())?;
    Ok((file, metadata))
}

/// Reads a whole regular file of at most `max_bytes`, without waiting for a pipe or terminal. Follows symbolic links.
///
/// # Errors
/// The errors of [`open_regular`], and [`io::ErrorKind::FileTooLarge`] if the file has more than `max_bytes`.
pub fn read_regular(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    let (file, metadata) = open_regular(path, options, Links::Follow)?;
    read_open_file(file, &metadata, max_bytes)
}

/// Reads a whole regular file, or a pipe to its end, of at most `max_bytes`. Follows symbolic links.
///
/// A shell passes the output of a command as the path of a pipe: `<(command)`. Opening and reading a pipe can wait forever, so
/// call this only where the user can interrupt the wait.
///
/// # Errors
/// The errors of [`read_regular`].
pub fn read_file_or_pipe(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    // Opening a device can have effects, so the kind of the file is checked first.
    if !is_pipe(fs::metadata(path)?.file_type()) {
        return read_regular(path, max_bytes);
    }
    let file = File::open(path)?;
    // Another file may have replaced the pipe before it was opened.
    let metadata = file.metadata()?;
    if !is_pipe(metadata.file_type()) {
        check(metadata.file_type())?;
    }
    read_open_file(file, &metadata, max_bytes)
}

/// Reads the rest of a file that [`open_regular`] has opened.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] if the file has more than `max_bytes`, also if it grows while it is read.
pub fn read_open_file(file: File, metadata: &Metadata, max_bytes: u64) -> io::Result<Vec<u8>> {
    // One more byte than the file has shows whether the file is larger than the limit. The buffer never grows, so no copies of a
    // secret stay in memory.
    let capacity = metadata.len().min(max_bytes).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(capacity).unwrap_or(0));
    read_to_end(file, &mut bytes, max_bytes)?;
    Ok(bytes)
}

/// Appends all remaining bytes of an input, at most `max_bytes`, to `bytes`.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] if the input has more than `max_bytes` left.
pub fn read_to_end(input: impl Read, bytes: &mut Vec<u8>, max_bytes: u64) -> io::Result<()> {
    let read = input.take(max_bytes.saturating_add(1)).read_to_end(bytes)?;
    if read as u64 > max_bytes {
        let message = format!("the file is larger than {} MiB", max_bytes >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(())
}

/// Converts the error for a missing file to `None`, and returns all other results unchanged.
pub(crate) fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn check(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let message = format!("it is {}, not a regular file", describe(kind));
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

fn describe(kind: FileType) -> &'static str {
    if let Some(special) = system::describe(kind) {
        special
    } else if kind.is_dir() {
        "a directory"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else {
        "special"
    }
}
