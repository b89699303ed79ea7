//! The steps of which writing a file is made. Tests stop at each of them.

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

/// What files in directories can do. Modes are those of Unix, and mean nothing elsewhere.
pub(crate) trait Fs: fmt::Debug + Send + Sync {
    /// All of a file; `None` if there is none.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;

    /// The file that a path leads to, through links, whether or not it is there.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// The permissions of a file; `None` if there is none.
    fn mode(&self, path: &Path) -> io::Result<Option<u32>>;

    /// Makes a directory that only this user may enter, and those above it, where they are missing.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Waits until nobody else holds the lock, but not longer than this. The lock is held until the file is dropped.
    fn lock(&self, path: &Path, at_most: Duration) -> io::Result<File>;

    /// Makes a file that is not there yet.
    fn create(&self, path: &Path, mode: u32) -> io::Result<Box<dyn NewFile>>;

    /// Gives a file a second name.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file another name, which may be that of another file, which is gone then.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes names durable.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// A file that is being written for the first time.
pub(crate) trait NewFile {
    /// Writes all of it.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes what was written durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// The files of the system.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemFs;

/// How many links lead to a file at most, as in Linux.
const LINKS: usize = 40;

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
        for _ in 0..LINKS {
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
        Err(io::Error::other("too many links lead from one to the next"))
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

    fn lock(&self, path: &Path, at_most: Duration) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        #[cfg(unix)]
        check_directory(path)?;
        let (file, _) = open_regular(path, options, Links::Follow)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => wait_for_lock(file, at_most),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn create(&self, path: &Path, mode: u32) -> io::Result<Box<dyn NewFile>> {
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        // Nobody else is to see it, not even for a moment; the mode that was asked for may be wider.
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
        // Elsewhere a directory cannot be opened as a file.
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

/// Stands in the queue for a lock, as long as that is worth it. Whoever tried again and again instead could be passed by for ever.
fn wait_for_lock(file: File, at_most: Duration) -> io::Result<File> {
    let (sender, receiver) = mpsc::sync_channel(0);
    let wait = move || {
        let locked = file.lock().map(|()| file);
        // If nobody waits any more, the file is dropped, and the lock with it.
        let _ = sender.send(locked);
    };
    thread::Builder::new().name("lock".to_owned()).spawn(wait)?;
    receiver.recv_timeout(at_most).unwrap_or_else(|_| Err(io::ErrorKind::WouldBlock.into()))
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
