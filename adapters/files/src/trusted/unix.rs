//! [`check_trusted`] on Unix: follows a path, and checks the owner and the mode of each part.

use std::env;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::groups;
use crate::FileError;
use crate::regular::{MAX_LINKS, if_there};

/// Mode bit of directories such as `/tmp`, in which users cannot replace the files of other users.
const STICKY: u32 = 0o1000;

/// Checks that only this user and the superuser can change the file at `path`, or replace it: the owner and the mode of the
/// file, of each directory on the way, and of each link. What is missing is no error.
///
/// As in OpenSSH, a group may write if this user is its only member, and the directories above the user's home are the
/// administrator's: of these, only those are refused that every user can write to.
///
/// # Errors
/// [`FileError::NotPrivate`] with the path, the mode, and the command that mends it.
pub fn check_trusted(path: &Path) -> Result<(), FileError> {
    let failed = |path: &Path, error: &io::Error| FileError::new("examined", path, error);
    let path = std::path::absolute(path).map_err(|error| failed(path, &error))?;
    let home = Home::find();
    let parts =
        |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<OsString>>();
    let (mut at, mut rest, mut links) = (PathBuf::new(), parts(&path), 0);
    while let Some(part) = rest.pop() {
        if part == ".." {
            // The links in `at` were followed.
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

/// The home directory of the user, as it is named and with its links followed.
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

/// Checks one part of a path. `is_above_home` is set for the directories that belong to the administrator.
fn check_part(path: &Path, metadata: &Metadata, is_above_home: bool) -> Result<(), FileError> {
    let refused = |reason| Err(FileError::NotPrivate { path: path.to_owned(), reason });
    let (user, mode) = (rustix::process::geteuid().as_raw(), metadata.mode() & 0o7777);
    if metadata.uid() != 0 && metadata.uid() != user && !is_above_home {
        return refused(format!("belongs to another user. Change its owner with `chown`: it has the mode {mode:04o}"));
    }
    // The mode of a link has no meaning. In a sticky directory, the owners of the entries decide, which are checked, too.
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

/// Quotes a path for a shell.
pub(crate) fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@%,:".contains(&byte);
    if path.bytes().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
