//! [`Fs`]: the file operations of the hub. Tests replace them, to fail or to crash at each step.

use std::fmt;
#[cfg(unix)]
use std::fs::Metadata;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mcpwire_client::regular_file::{Links, open_regular, read_open_file};

/// Maximum size of a file of the hub, in bytes: 1,000 servers take 1 MiB, and 10,000 cached tools 10 MiB.
const MAX_BYTES: u64 = 64 << 20;

/// The operations on files. Modes are those of Unix, and are ignored on other systems.
pub(crate) trait Fs: fmt::Debug + Send + Sync {
    /// Reads a whole file. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Also if the path does not lead to a regular file, or if other users can change it.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// Follows symbolic links, and returns the path of the last file, which need not exist.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns the permissions of a file, or `None` if it does not exist.
    fn mode(&self, path: &Path) -> io::Result<Option<u32>>;

    /// Creates a directory that only this user can enter, and its missing parents.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Locks a file, which is created if it is missing. Waits for other programs up to `timeout`. Dropping the file unlocks it.
    fn lock(&self, path: &Path, timeout: Duration) -> io::Result<File>;

    /// Creates a new file. It is an error if the path exists.
    fn create(&self, path: &Path, mode: u32) -> io::Result<Box<dyn NewFile>>;

    /// Creates a second hard link to a file.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames a file. A file with the new name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes the names of the files in a directory durable.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// A file that [`Fs::create`] has created.
pub(crate) trait NewFile {
    /// Writes all bytes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes the content durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// The file system of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemFs;

/// Maximum number of symbolic links to follow. It is that of Linux.
const MAX_LINKS: usize = 40;

impl Fs for SystemFs {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let mut options = OpenOptions::new();
        options.read(true);
        let Some((file, metadata)) = if_there(open_regular(path, options, Links::Follow))? else { return Ok(None) };
        #[cfg(unix)]
        {
            check_owner(&metadata, "it")?;
            check_directory(path)?;
            // The file itself is elsewhere if the path is a link.
            check_directory(&self.resolve(path)?)?;
        }
        read_open_file(file, &metadata, MAX_BYTES).map(Some)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let mut path = path.to_path_buf();
        for _ in 0..MAX_LINKS {
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_symlink() => {
                    let to = fs::read_link(&path)?;
                    path = path.parent().map_or_else(|| to.clone(), |directory| directory.join(&to));
                }
                Ok(_) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path),
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("too many symbolic links"))
    }

    fn mode(&self, path: &Path) -> io::Result<Option<u32>> {
        let Some(meta) = if_there(fs::metadata(path))? else { return Ok(None) };
        #[cfg(unix)]
        let mode = std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o777;
        #[cfg(not(unix))]
        let mode = if meta.permissions().readonly() { 0o400 } else { 0o600 };
        Ok(Some(mode))
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn lock(&self, path: &Path, timeout: Duration) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        #[cfg(unix)]
        check_directory(path)?;
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
        // Created private, and opened to others afterwards if `mode` allows that: the umask does not apply then.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        #[cfg(unix)]
        if mode != 0o600 {
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        }
        #[cfg(not(unix))]
        let _ = mode;
        Ok(Box::new(file))
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        #[cfg(unix)]
        return File::open(path)?.sync_all();
        // Other systems cannot open directories as files.
        #[cfg(not(unix))]
        {
            let _ = path;
            Ok(())
        }
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

/// Waits for a lock on a thread of its own, because `File::lock` has no timeout. Programs that poll instead could starve.
fn wait_for_lock(file: File, timeout: Duration) -> io::Result<File> {
    let (sender, receiver) = mpsc::sync_channel(0);
    let wait = move || {
        let locked = file.lock().map(|()| file);
        // After the timeout, sending fails and drops the file, which releases the lock.
        let _ = sender.send(locked);
    };
    thread::Builder::new().name("lock".to_owned()).spawn(wait)?;
    receiver.recv_timeout(timeout).unwrap_or_else(|_| Err(io::ErrorKind::WouldBlock.into()))
}

/// Checks the owner and the mode of the directory of a file: who can write to a directory can replace the files in it.
#[cfg(unix)]
fn check_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    check_owner(&fs::metadata(directory.unwrap_or(Path::new(".")))?, "its directory")
}

/// Checks that a file or directory belongs to this user or to the superuser, and that not every user can write to it.
///
/// The configuration file says which programs to start, so a user who can write it can run programs as this user.
#[cfg(unix)]
fn check_owner(metadata: &Metadata, what: &str) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    /// In a directory with this bit, such as `/tmp`, users cannot replace the files of others.
    const STICKY: u32 = 0o1000;
    if metadata.uid() != 0 && metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("{what} belongs to another user. Change its owner with `chown`")));
    }
    let is_sticky = metadata.is_dir() && metadata.mode() & STICKY != 0;
    if metadata.mode() & 0o002 != 0 && !is_sticky {
        return Err(io::Error::other(format!("every user can write to {what}. Change its mode with `chmod o-w`")));
    }
    Ok(())
}

fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
