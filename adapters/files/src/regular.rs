//! [`open_regular`], [`read_regular`], [`read_file_or_pipe`]: files whose paths come from the user or from a configuration.
//!
//! Opening a named pipe waits for its other end, reading a terminal waits for the user, and `/dev/zero` has no end. A file that
//! takes the place of a configuration file must not stop the program, so only regular files are opened.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Maximum number of symbolic links to follow for one path. Linux has the same limit.
#[cfg(feature = "replace")]
pub(crate) const MAX_LINKS: usize = 40;

/// Whether the last part of a path may be a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// The link is followed. The file that it leads to must be regular.
    Follow,
    /// A link is an error.
    Refuse,
}

/// Opens a regular file without waiting. Custom flags of `options` are replaced.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if the path leads to a directory, pipe, socket or device, or to a link that is refused.
pub fn open_regular(path: &Path, options: OpenOptions, links: Links) -> io::Result<(File, Metadata)> {
    // To open a device can have effects, and to open a socket fails without a useful message.
    let found = match links {
        Links::Follow => fs::metadata(path),
        Links::Refuse => fs::symlink_metadata(path),
    };
    // `options` may create a missing file.
    if let Some(metadata) = if_there(found)? {
        check(metadata.file_type())?;
    }
    let file = without_waiting(options, links).open(path)?;
    // Another file may have taken the place of the one that was checked.
    let metadata = file.metadata()?;
    check(metadata.file_type())?;
    Ok((file, metadata))
}

/// Makes a file that `options` create readable and writable only by this user.
pub(crate) fn make_private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// Adds the flags with which to open a pipe does not wait, and to open a terminal has no effect on this process.
#[cfg(unix)]
fn without_waiting(mut options: OpenOptions, links: Links) -> OpenOptions {
    use rustix::fs::OFlags;
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, links == Links::Refuse);
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn without_waiting(options: OpenOptions, _: Links) -> OpenOptions {
    options
}

/// Reads a whole regular file of at most `max_bytes`, without waiting. Symbolic links are followed.
///
/// # Errors
/// Those of [`open_regular`], and [`io::ErrorKind::FileTooLarge`].
pub fn read_regular(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    let (file, metadata) = open_regular(path, options, Links::Follow)?;
    read_open_file(file, &metadata, max_bytes)
}

/// Reads a whole regular file, or a pipe to its end, of at most `max_bytes`. Symbolic links are followed.
///
/// Shells name the output of a command as a pipe: `<(command)`. A pipe may never be opened at its other end, or stay open, so only
/// call this where the user can end the wait.
///
/// # Errors
/// Those of [`read_regular`].
pub fn read_file_or_pipe(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    // To open a device can have effects, so the kind is checked first.
    if !is_pipe(fs::metadata(path)?.file_type()) {
        return read_regular(path, max_bytes);
    }
    let file = File::open(path)?;
    // Another file may have taken the place of the pipe.
    let metadata = file.metadata()?;
    if !is_pipe(metadata.file_type()) {
        check(metadata.file_type())?;
    }
    read_open_file(file, &metadata, max_bytes)
}

/// Reads the rest of a file that [`open_regular`] has opened.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] if the file has more than `max_bytes`, also if it grows meanwhile.
pub fn read_open_file(file: File, metadata: &Metadata, max_bytes: u64) -> io::Result<Vec<u8>> {
    // One byte more shows whether the limit is exceeded. The buffer does not grow, so no copies of a secret stay in memory.
    let capacity = metadata.len().min(max_bytes).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(capacity).unwrap_or(0));
    read_to_end(file, &mut bytes, max_bytes)?;
    Ok(bytes)
}

/// Appends the rest of an input to `bytes`.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] if the input has more than `max_bytes`.
pub fn read_to_end(input: impl Read, bytes: &mut Vec<u8>, max_bytes: u64) -> io::Result<()> {
    let read = input.take(max_bytes.saturating_add(1)).read_to_end(bytes)?;
    if read as u64 > max_bytes {
        let message = format!("the file is larger than {} MiB", max_bytes >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(())
}

/// Returns `None` in place of the error for a missing file.
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

#[cfg(unix)]
pub(crate) fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
pub(crate) fn is_pipe(_: FileType) -> bool {
    false
}

fn describe(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() {
        "a directory"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else {
        "special"
    }
}
