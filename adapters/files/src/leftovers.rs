//! [`remove_leftovers`]: removes the temporary files of programs that were killed while they replaced a file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::regular::{Links, open_regular};

/// Age from which a temporary file is considered abandoned on a file system without locks. Writing a file takes only seconds.
const LEFTOVER_AGE: Duration = Duration::from_secs(60 * 60);

/// Removes temporary files that killed programs have left in the directory of `path`: those of `path`, and of all files whose
/// names start with the name of `path`. A program that is writing holds a lock of its temporary file, which stays.
///
/// Such a temporary file may still contain a secret that the user has removed. Errors are ignored, because the next change of
/// the file tries again.
pub fn remove_leftovers(path: &Path) {
    let Some(name) = path.file_name() else { return };
    let prefix = format!(".{}", name.to_string_lossy());
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
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
