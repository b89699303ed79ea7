//! Replaces files atomically: readers see the old content or the new one, even after a crash. Removes the temporary files of
//! programs that were killed while they replaced a file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::fs::directory_of;
use crate::regular::{Links, open_regular};
use crate::{Fs, NewFile};

/// Age from which a temporary file is considered abandoned on a file system without locks. Writing a file takes only seconds.
const LEFTOVER_AGE: Duration = Duration::from_secs(60 * 60);

/// Replaces the content of the file `path` atomically, by writing a temporary file and renaming it. The new content survives a
/// loss of power. If `backup` is given, the old file stays under that name.
///
/// If `path` is a symbolic link, the file that it leads to is replaced. An existing file keeps its permissions. A new file can
/// be read and written only by this user.
pub fn replace(fs: &dyn Fs, path: &Path, bytes: &[u8], backup: Option<&Path>) -> io::Result<()> {
    let target = fs.resolve(path)?;
    let mode = fs.mode(&target)?;
    if let (Some(backup), Some(mode)) = (backup, mode) {
        back_up(fs, &target, mode, backup)?;
    }
    put(fs, &target, bytes, mode.unwrap_or(0o600), true)
}

/// Replaces the content of the file `path` atomically, but much faster than [`replace`], because it does not sync the disk. Use
/// this for content that is worthless after the machine has stopped.
pub fn replace_for_now(fs: &dyn Fs, path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(fs, &fs.resolve(path)?, bytes, 0o600, false)
}

/// Checks that [`replace`] can write a file of this size in the place of `path` now, and leaves `path` as it is. Use this before
/// an action whose result must not be lost.
pub fn check_replace(fs: &dyn Fs, path: &Path, size: usize) -> io::Result<()> {
    let (new, file) = create_beside(fs, &fs.resolve(path)?, 0o600)?;
    let written = write(file, &vec![0; size], true);
    let _ = fs.remove(&new);
    written.map(drop)
}

fn put(fs: &dyn Fs, target: &Path, bytes: &[u8], mode: u32, durable: bool) -> io::Result<()> {
    let (new, file) = create_beside(fs, target, mode)?;
    // The file stays open, and locked, until it has its final name: nobody then takes it for a leftover.
    let written = write(file, bytes, durable).and_then(|file| fs.rename(&new, target).map(|()| file));
    if let Err(error) = written {
        // The temporary file may be incomplete.
        let _ = fs.remove(&new);
        return Err(error);
    }
    // The file is replaced already, and some file systems cannot sync directories, so errors are ignored.
    if durable {
        let _ = fs.sync_directory(target.parent().unwrap_or(Path::new(".")));
    }
    Ok(())
}

/// Creates a temporary file in the directory of `target`. Returns its path and the file.
fn create_beside(fs: &dyn Fs, target: &Path, mode: u32) -> io::Result<(PathBuf, Box<dyn NewFile>)> {
    loop {
        let path = beside(target);
        match fs.create(&path, mode) {
            Ok(file) => return Ok((path, file)),
            // Another program took the file for a leftover. It, or a third one, may still remove a file of this name.
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

/// Keeps the file `target` under the name `backup`, by a second hard link. Copies the file if the file system has no hard
/// links.
fn back_up(fs: &dyn Fs, target: &Path, mode: u32, backup: &Path) -> io::Result<()> {
    let second = beside(backup);
    if fs.link(target, &second).is_ok() {
        let renamed = fs.rename(&second, backup);
        // If both names belong to one file already, `rename` does nothing, and the second name stays.
        let _ = fs.remove(&second);
        return renamed;
    }
    match fs.read(target)? {
        Some(bytes) => put(fs, backup, &bytes, mode, true),
        None => Ok(()),
    }
}

/// Returns the path for a new temporary file in the directory of `path`. The path contains a random number.
fn beside(path: &Path) -> PathBuf {
    // Each `RandomState` has other keys. The process id tells forked processes apart.
    let random = RandomState::new().hash_one((std::process::id(), SystemTime::now()));
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{random:016x}.tmp"));
    path.with_file_name(name)
}

/// Removes temporary files that killed programs have left in the directory of `path`: those of `path`, and of all files whose
/// names start with the name of `path`. A program that is writing holds a lock of its temporary file, which stays.
///
/// Such a temporary file may still contain a secret that the user has removed. Errors are ignored, because the next change of
/// the file tries again.
pub fn remove_leftovers(path: &Path) {
    let Some(name) = path.file_name() else { return };
    let prefix = format!(".{}", name.to_string_lossy());
    for entry in fs::read_dir(directory_of(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_temporary =
            name.to_str().and_then(|name| name.strip_suffix(".tmp")).is_some_and(|name| name.starts_with(&prefix));
        // The lock is held until the file is removed, so that its writer cannot begin in between.
        if is_temporary && let Some(_lock) = lock_abandoned(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Locks a temporary file. Returns `None` if a program is writing it.
fn lock_abandoned(path: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    options.write(true);
    let (file, metadata) = open_regular(path, options, Links::Refuse).ok()?;
    let is_abandoned = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        // The file system has no locks.
        Err(TryLockError::Error(_)) => {
            metadata.modified().is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > LEFTOVER_AGE))
        }
    };
    is_abandoned.then_some(file)
}
