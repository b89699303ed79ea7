//! [`check_trusted`] on Unix: checks the owner and the mode of each directory and link on the path, and of the file.

use std::env;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::groups;
use crate::FileError;
use crate::regular::{MAX_LINKS, if_there};

/// The mode bit of directories such as `/tmp`. Users cannot replace the files of other users in such a directory.
const STICKY: u32 = 0o1000;

/// Checks that only this user and the superuser can change or replace the file at `path`. Checks the owner and the mode of the
/// file, of each directory on the path, and of each link. A missing file or directory is no error.
///
/// The rules are those of OpenSSH. A group may have write permission if this user is its only member. The directories above the
/// user's home belong to the administrator: they are refused only if every user can write to them.
///
/// # Errors
/// [`FileError::NotPrivate`] with the path, the mode, and the command that removes the permission. [`FileError::Failed`] if a
/// part of the path cannot be examined.
pub fn check_trusted(path: &Path) -> Result<(), FileError> {
    let failed = |path: &Path, error: &io::Error| FileError::new("examined", path, error);
    let path = std::path::absolute(path).map_err(|error| failed(path, &error))?;
    let home = Home::find();
    let parts =
        |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<OsString>>();
    let (mut at, mut rest, mut links) = (PathBuf::new(), parts(&path), 0);
    while let Some(part) = rest.pop() {
        if part == ".." {
            // The links in `at` were already followed, so its parent is the real one.
            at.pop();
            continue;
        }
        at.push(part);
        let found = if_there(fs::symlink_metadata(&at)).map_err(|error| failed(&at, &error))?;
        let Some(metadata) = found else { return Ok(()) };
        check_part(&at, &metadata, home.is_below(&at))?;
        if metadata.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(failed(&path, &io::Error::other("too many symbolic links")));
            }
            rest.extend(parts(&fs::read_link(&at).map_err(|error| failed(&at, &error))?));
            at.pop();
        }
    }
    Ok(())
}

/// The home directory of the user: the path that the system reports, and the same path with its links followed. Empty if it is
/// unknown.
struct Home(Vec<PathBuf>);

impl Home {
    fn find() -> Self {
        let named = env::home_dir().filter(|home| home.is_absolute());
        let real = named.as_ref().and_then(|home| home.canonicalize().ok());
        Home(named.into_iter().chain(real).collect())
    }

    /// Returns whether the home directory is below `directory`.
    fn is_below(&self, directory: &Path) -> bool {
        self.0.iter().any(|home| home != directory && home.starts_with(directory))
    }
}

/// Checks the owner and the mode of one part of a path. `is_above_home` is set for the directories above the user's home, which
/// belong to the administrator.
fn check_part(path: &Path, metadata: &Metadata, is_above_home: bool) -> Result<(), FileError> {
    let refused = |reason| Err(FileError::NotPrivate { path: path.to_owned(), reason });
    let (user, mode) = (rustix::process::geteuid().as_raw(), metadata.mode() & 0o7777);
    if metadata.uid() != 0 && metadata.uid() != user && !is_above_home {
        return refused(format!("belongs to another user. Change its owner with `chown`: it has the mode {mode:04o}"));
    }
    // The mode of a link has no meaning. In a sticky directory, only the owner of an entry can replace it, and that owner is
    // checked too.
    if metadata.is_symlink() || metadata.is_dir() && mode & STICKY != 0 {
        return Ok(());
    }
    let by_group = mode & 0o020 != 0 && !is_above_home && !groups::is_private(metadata.gid(), user);
    let (writers, classes) = match (mode & 0o002 != 0, by_group) {
        (false, false) => return Ok(()),
        (false, true) => ("other users of its group", "g"),
        (true, false) => ("every user", "o"),
        (true, true) => ("every user", "go"),
    };
    refused(format!("can be changed by {writers} (mode {mode:04o}). Run `chmod {classes}-w {}`", quoted(path)))
}

/// Quotes a path for a shell, so that the user can copy a command from an error message.
pub(crate) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@%,:".contains(&byte);
    if path.bytes().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
