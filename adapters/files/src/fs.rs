//! [`Fs`]: the operations on files that this crate uses. Tests replace them, to let each step fail or crash.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::regular::{Links, MAX_LINKS, if_there, open_regular, read_open_file};
use crate::system::{self, make_private};
use crate::trusted::check_trusted;

/// Maximum size of a file that [`SystemFs`] reads, in bytes. A hub's configuration of 1,000 servers takes 1 MiB, and 10,000
/// cached tools take 10 MiB.
const MAX_BYTES: u64 = 64 << 20;

/// The operations on files. [`SystemFs`] implements them for real files, and tests replace them. The `mode` parameters are Unix
/// permissions, and have no effect on other systems.
pub trait Fs: fmt::Debug + Send + Sync {
    /// Reads the whole file at `path`. Returns `None` if the file does not exist.
    ///
    /// # Errors
    /// If the file cannot be read, if it is not a regular file, or if other users can change it.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Follows the symbolic links at `path`, and returns the path to which they lead. No file needs to exist at the returned
    /// path.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns the Unix permissions of the file at `path`, or `None` if the file does not exist.
    fn mode(&self, path: &Path) -> io::Result<Option<u32>>;

    /// Creates a directory that only this user can enter. Also creates its missing parent directories.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Locks the file at `path`, and creates it if it is missing. Waits up to `timeout` while another program holds the lock.
    /// Dropping the returned file releases the lock.
    fn lock(&self, path: &Path, timeout: Duration) -> io::Result<File>;

    /// Creates a new file with the permissions `mode`. If the file system has locks, the file is locked while it is open.
    ///
    /// # Errors
    /// If `path` exists already. [`io::ErrorKind::Interrupted`] if another program removed the file before it was locked. Try
    /// another path then, because that program may remove this path again.
    fn create(&self, path: &Path, mode: u32) -> io::Result<Box<dyn NewFile>>;

    /// Creates a hard link `to` that refers to the same file as `from`.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames the file `from` to `to`. Replaces the file at `to` if it exists.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Syncs the directory at `path` to the disk, so that new and renamed files in it survive a loss of power.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes the file at `path`.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// A new file that [`Fs::create`] has created. It is open for writing.
pub trait NewFile {
    /// Writes all of `bytes` to the end of the file.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Syncs the content of the file to the disk, so that it survives a loss of power.
    fn sync(&mut self) -> io::Result<()>;
}

/// The real file system of the machine, for all uses outside of tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemFs;

impl Fs for SystemFs {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let mut options = OpenOptions::new();
        options.read(true);
        let Some((file, metadata)) = if_there(open_regular(path, options, Links::Follow))? else { return Ok(None) };
        // No other user can replace a file that passes this check. The file that was opened is therefore the checked one.
        check_writers(path)?;
        read_open_file(file, &metadata, MAX_BYTES).map(Some)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let mut path = path.to_path_buf();
        for _ in 0..MAX_LINKS {
            if !if_there(fs::symlink_metadata(&path))?.is_some_and(|metadata| metadata.is_symlink()) {
                return Ok(path);
            }
            let to = fs::read_link(&path)?;
            path = path.parent().map_or_else(|| to.clone(), |directory| directory.join(&to));
        }
        Err(io::Error::other("too many symbolic links"))
    }

    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        let Some(meta) = if_there(fs::metadata(path))? else { return Ok(None) };
        Ok(Some(system::mode(&meta)))
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        system::create_directory(path)
    }

    fn lock(&self, path: &Path, timeout: Duration) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        make_private(&mut options);
        check_writers(directory_of(path))?;
        let (file, _) = open_regular(path, options, Links::Follow)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => wait_for_lock(file, timeout),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<Box<dyn NewFile>> {
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        // The file is created private, and its mode is set afterwards, because the umask would restrict a mode that is given at
        // creation.
        make_private(&mut options);
        let file = system::create_held(&options, path)?;
        if mode != 0o600 {
            system::set_mode(&file, mode)?;
        }
        Ok(Box::new(file))
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        system::rename(from, to)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        system::sync_directory(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

impl NewFile for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// Waits up to `timeout` until `file` is locked. A separate thread calls `File::lock`, which has no timeout. Repeated attempts
/// without waiting could all fail while other programs take the lock in between.
fn wait_for_lock(file: File, timeout: Duration) -> io::Result<File> {
    let (sender, receiver) = mpsc::sync_channel(0);
    let wait = move || {
        let locked = file.lock().map(|()| file);
        // If the timeout has passed, nobody receives the file. It is dropped, which releases the lock.
        let _ = sender.send(locked);
    };
    thread::Builder::new().name("lock".to_owned()).spawn(wait)?;
    receiver.recv_timeout(timeout).unwrap_or_else(|_| Err(io::ErrorKind::WouldBlock.into()))
}

/// Returns the directory that contains the file at `path`. For a path without a directory, this is `.`.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns an error if other users could change or replace the file at `path`. A configuration file says which programs to start,
/// so other users must not control it.
fn check_writers(path: &Path) -> io::Result<()> {
    check_trusted(path).map_err(io::Error::other)
}
