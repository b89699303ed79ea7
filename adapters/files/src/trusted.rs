//! [`check_trusted`]: checks that other users cannot change or replace a file. [`read_private`]: reads files that only this user may
//! read, such as secrets.

use std::fs::{self, FileType, OpenOptions};
use std::io;
use std::path::Path;

#[cfg(not(unix))]
use self::other::check_owner;
#[cfg(not(unix))]
pub use self::other::check_trusted;
#[cfg(unix)]
use self::unix::check_owner;
#[cfg(unix)]
pub use self::unix::check_trusted;
use crate::FileError;
use crate::regular::{Links, if_there, open_regular, read_open_file};

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Reads a whole file that only this user may read, such as a secret. Returns `None` if the file does not exist.
///
/// Systems without Unix permissions have no check of the owner and the permissions.
///
/// # Errors
/// [`FileError::NotPrivate`] if the file is a symbolic link, if it belongs to another user, if other users can access it, or if
/// other users can change a directory on the path. [`FileError::Failed`] if the file cannot be read, or has more than
/// `max_bytes`.
pub fn read_private(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>, FileError> {
    if !check_private_file(path)? {
        return Ok(None);
    }
    let failed = |error: io::Error| FileError::new("read", path, &error);
    let mut options = OpenOptions::new();
    options.read(true);
    let opened = if_there(open_regular(path, options, Links::Refuse)).map_err(failed)?;
    let Some((file, metadata)) = opened else { return Ok(None) };
    // Another file may have replaced the checked file before it was opened.
    check_owner(path, &metadata, FILE_MODE)?;
    read_open_file(file, &metadata, max_bytes).map(Some).map_err(failed)
}

/// Returns whether the file `path` exists. Returns an error if it is not a regular file, belongs to another user, can be accessed
/// by other users, or is in a directory that other users can change.
pub fn check_private_file(path: &Path) -> Result<bool, FileError> {
    check(path, FileType::is_file, "a file", FILE_MODE)
}

/// Returns whether the directory `path` exists. Returns an error if it is not a directory, belongs to another user, can be
/// accessed by other users, or is in a directory that other users can change.
pub fn check_private_directory(path: &Path) -> Result<bool, FileError> {
    check(path, FileType::is_dir, "a directory", DIRECTORY_MODE)
}

fn check(path: &Path, is: fn(&FileType) -> bool, what: &str, mode: u32) -> Result<bool, FileError> {
    let found = if_there(fs::symlink_metadata(path)).map_err(|error| FileError::new("examined", path, &error))?;
    let Some(metadata) = found else { return Ok(false) };
    if metadata.is_symlink() {
        return Err(not_private(path, "is a link".into()));
    }
    if !is(&metadata.file_type()) {
        return Err(not_private(path, format!("is not {what}")));
    }
    check_owner(path, &metadata, mode)?;
    check_trusted(path).map(|()| true)
}

fn not_private(path: &Path, reason: String) -> FileError {
    FileError::NotPrivate { path: path.to_owned(), reason }
}

#[cfg(unix)]
mod unix {
    use std::env;
    use std::ffi::OsString;
    use std::fs::{self, Metadata};
    use std::io;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::{Path, PathBuf};

    use super::not_private;
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
            return refused(format!(
                "belongs to another user. Change its owner with `chown`: it has the mode {mode:04o}"
            ));
        }
        // The mode of a link has no meaning. In a sticky directory, only the owner of an entry can replace it, and that owner is
        // checked too.
        if metadata.is_symlink() || metadata.is_dir() && mode & STICKY != 0 {
            return Ok(());
        }
        let by_group = mode & 0o020 != 0 && !is_above_home && !is_private(metadata.gid(), user);
        let (writers, classes) = match (mode & 0o002 != 0, by_group) {
            (false, false) => return Ok(()),
            (false, true) => ("other users of its group", "g"),
            (true, false) => ("every user", "o"),
            (true, true) => ("every user", "go"),
        };
        refused(format!("can be changed by {writers} (mode {mode:04o}). Run `chmod {classes}-w {}`", quoted(path)))
    }

    /// Quotes a path for a shell, so that the user can copy a command from an error message.
    pub(super) fn quoted(path: &Path) -> String {
        let path = path.display().to_string();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+@%,:".contains(&byte);
        if path.bytes().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
    }

    /// Checks that a file or directory belongs to this user and that other users cannot access it. The error recommends the
    /// permissions `mode`.
    pub(super) fn check_owner(path: &Path, metadata: &Metadata, mode: u32) -> Result<(), FileError> {
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(not_private(path, "belongs to another user".into()));
        }
        if metadata.mode() & 0o077 != 0 {
            let now = metadata.mode() & 0o7777;
            let reason = format!("is open to other users (mode {now:04o}). Run `chmod {mode:o} {}`", quoted(path));
            return Err(not_private(path, reason));
        }
        Ok(())
    }

    /// Returns whether only the user `uid` and the superuser are members of the group `gid`, according to `/etc/passwd` and
    /// `/etc/group`.
    ///
    /// Returns `false` for a group that these files do not contain, because it may have any members. Always returns `false` on Apple
    /// systems, whose files do not contain the users.
    fn is_private(gid: u32, uid: u32) -> bool {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        !cfg!(target_vendor = "apple") && is_private_in(&read("/etc/passwd"), &read("/etc/group"), gid, uid)
    }

    /// Does the same as [`is_private`] with the given contents of `/etc/passwd` and `/etc/group`, so that tests can choose them.
    fn is_private_in(passwd: &str, group: &str, gid: u32, uid: u32) -> bool {
        // The format of a line of `/etc/passwd`: `name:password:uid:gid:...`
        let users = || {
            passwd.lines().filter_map(|line| {
                let mut fields = line.split(':');
                Some((fields.next()?, fields.nth(1)?.parse::<u32>().ok()?, fields.next()?.parse::<u32>().ok()?))
            })
        };
        // The format of a line of `/etc/group`: `name:password:gid:member,member`
        let mut listed = group.lines().filter_map(|line| {
            let mut fields = line.split(':').skip(2);
            let is_wanted = fields.next()?.parse() == Ok(gid);
            is_wanted.then(|| fields.next().unwrap_or_default())
        });
        let Some(listed) = listed.next() else { return false };
        let is_trusted = |member: u32| member == uid || member == 0;
        let mut has_members = false;
        for (_, member, primary) in users() {
            if primary == gid {
                has_members = true;
                if !is_trusted(member) {
                    return false;
                }
            }
        }
        for name in listed.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            has_members = true;
            // `/etc/passwd` may have several lines with the same user name.
            let mut ids = users().filter(|(user, ..)| *user == name).peekable();
            if ids.peek().is_none() || ids.any(|(_, member, _)| !is_trusted(member)) {
                return false;
            }
        }
        // If the files list no members, the members are defined elsewhere, for example in a directory service.
        has_members
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:100::/home/bob:/bin/sh\n\
                              # a comment\neve:x:1002:1002::/home/eve:/bin/sh\n";
        const GROUP: &str = "root:x:0:\nusers:x:100:\nann:x:1000:\neve:x:1002:bob\nmine:x:1003:ann\nours:x:1004:ann,eve\n\
                             empty:x:1005:\nthings:x:1006:ann,root\nstrangers:x:1007:ann,nobody-knows\n";

        #[test]
        fn a_group_is_private_if_all_its_members_are_known_and_trusted() {
            let is_private = |gid, uid| is_private_in(PASSWD, GROUP, gid, uid);
            assert!(is_private(1000, 1000), "the group of a user");
            assert!(is_private(1003, 1000), "a group with one listed member");
            assert!(is_private(1006, 1000), "a group with the superuser");
            assert!(is_private(0, 1000), "the group of the superuser");
            assert!(!is_private(1000, 1001), "the group of another user");
            assert!(!is_private(100, 1000), "a primary group of another user");
            assert!(!is_private(1002, 1002), "the group of a user with a second member");
            assert!(!is_private(1004, 1000), "a group with two members");
            assert!(!is_private(1005, 1000), "a group without known members");
            assert!(!is_private(1007, 1000), "a group with an unknown member");
            assert!(!is_private(7, 1000), "an unknown group");
            assert!(!is_private_in("", "", 0, 0));
        }
    }
}

/// Systems other than Unix do not have the permissions that these checks are about.
#[cfg(not(unix))]
mod other {
    use std::fs::Metadata;
    use std::path::Path;

    use crate::FileError;

    /// Does nothing.
    ///
    /// # Errors
    /// Never returns an error.
    pub fn check_trusted(_: &Path) -> Result<(), FileError> {
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
    pub(super) fn check_owner(_: &Path, _: &Metadata, _: u32) -> Result<(), FileError> {
        Ok(())
    }
}
