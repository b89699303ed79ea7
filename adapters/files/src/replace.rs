//! Replaces files atomically: readers see either the old or the new content, even after a crash. Also removes the temporary files
//! of programs that were killed while they replaced a file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::fs::directory_of;
use crate::regular::{Links, open_regular};
use crate::{Fs, NewFile};

/// Minimum age of an abandoned temporary file, on a file system without locks: 1 h. Writing a file takes only seconds.
const LEFTOVER_AGE: Duration = Duration::from_secs(60 * 60);

/// Replaces the content of the file `path` atomically: writes a temporary file, and renames it. The new content survives a loss
/// of power. If `backup` is given, the old content is kept in a file of that name.
///
/// If `path` is a symbolic link, the function replaces the file to which it leads. An existing file keeps its permissions. A new
/// file can be read and written only by this user.
pub fn replace(fs: &dyn Fs, path: &Path, bytes: &[u8], backup: Option<&Path>) -> io::Result<()> {
    let target = fs.resolve(path)?;
    let mode = fs.mode(&target)?;
    if let (Some(backup), Some(mode)) = (backup, mode) {
        back_up(fs, &target, mode, backup)?;
    }
    put(fs, &target, bytes, mode.unwrap_or(0o600), true)
}

/// Replaces the content of the file `path` atomically, but much faster than [`replace`], because it does not sync the disk. Use
/// this for content that is useless after the machine has restarted.
pub fn replace_for_now(fs: &dyn Fs, path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(fs, &fs.resolve(path)?, bytes, 0o600, false)
}

/// Checks that [`replace`] could now write `size` bytes in place of the file `path`, without changing that file. Call this before
/// an action whose result must not be lost.
pub fn check_replace(fs: &dyn Fs, path: &Path, size: usize) -> io::Result<()> {
    let (new, file) = create_beside(fs, &fs.resolve(path)?, 0o600)?;
    let written = write(file, &vec![0; size], true);
    let _ = fs.remove(&new);
    written.map(drop)
}

fn put(fs: &dyn Fs, target: &Path, bytes: &[u8], mode: u32, durable: bool) -> io::Result<()> {
    let (new, file) = create_beside(fs, target, mode)?;
    // The temporary file stays open and locked until it has its final name, so that no other program removes it as abandoned.
    let written = write(file, bytes, durable).and_then(|file| fs.rename(&new, target).map(|()| file));
    if let Err(error) = written {
        // The temporary file may be incomplete.
        let _ = fs.remove(&new);
        return Err(error);
    }
    // Errors are ignored here: the file is already replaced, and some file systems cannot sync directories.
    if durable {
        let _ = fs.sync_directory(target.parent().unwrap_or(Path::new(".")));
    }
    Ok(())
}

/// Creates a temporary file in the directory of `target`, so that it can be renamed to `target`. Returns the path and the file.
fn create_beside(fs: &dyn Fs, target: &Path, mode: u32) -> io::Result<(PathBuf, Box<dyn NewFile>)> {
    loop {
        let path = beside(target);
        match fs.create(&path, mode) {
            Ok(file) => return Ok((path, file)),
            // Another program removed the new file as abandoned before it was locked. That program may still remove a file of
            // this name, so the next attempt uses another name.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let _ = fs.remove(&path);
                return Err(error);
            }
        }
    }
}

fn write(mut file: Box<dyn NewFile>, bytes: &[u8], durable: bool) -> io::Result<Box<dyn NewFile>> {
    file.write(bytes)?;
    if durable {
        file.sync()?;
    }
    Ok(file)
}

/// Keeps the old content of the file `target` under the name `backup`. Creates a second hard link to the file, or a copy if the
/// file system has no hard links.
fn back_up(fs: &dyn Fs, target: &Path, mode: u32, backup: &Path) -> io::Result<()> {
    let second = beside(backup);
    if fs.link(target, &second).is_ok() {
        let renamed = fs.rename(&second, backup);
        // If `second` and `backup` are already links to the same file, `rename` does nothing and `second` remains.
        let _ = fs.remove(&second);
        return renamed;
    }
    match fs.read(target)? {
        Some(bytes) => put(fs, backup, &bytes, mode, true),
        None => Ok(()),
    }
}

/// Returns the path for a new temporary file in the directory of `path`. Its name contains a random number, so that two programs
/// do not choose the same.
fn beside(path: &Path) -> PathBuf {
    // Each `RandomState` has different keys. A forked process may inherit the keys, but has a different process id.
    let random = RandomState::new().hash_one((std::process::id(), SystemTime::now()));
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{random:016x}.tmp"));
    path.with_file_name(name)
}

/// Removes the temporary files that killed programs have left in the directory of `path`, for `path` and for all files whose
/// names start with the name of `path`. Keeps a temporary file that a running program is writing, because that program holds its
/// lock.
///
/// A leftover file may still contain a secret that the user has removed. Errors are ignored, because the next change of the file
/// tries again.
pub fn remove_leftovers(path: &Path) {
    let Some(name) = path.file_name() else { return };
    let prefix = format!(".{}", name.to_string_lossy());
    for entry in fs::read_dir(directory_of(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_temporary =
            name.to_str().and_then(|name| name.strip_suffix(".tmp")).is_some_and(|name| name.starts_with(&prefix));
        // The lock is held until the file is removed, so that no other program can start to write the file in between.
        if is_temporary && let Some(_lock) = lock_abandoned(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Locks a temporary file that nobody writes any more. Returns `None` if a program is still writing it, or if the file cannot be
/// opened.
fn lock_abandoned(path: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    let (file, metadata) = open_regular(path, options, Links::Refuse).ok()?;
    let is_abandoned = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        // The file system has no locks, so the age of the file decides.
        Err(TryLockError::Error(_)) => {
            metadata.modified().is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > LEFTOVER_AGE))
        }
    };
    is_abandoned.then_some(file)
}
