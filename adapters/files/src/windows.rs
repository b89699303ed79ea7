//! Files on Windows, whose access is decided by their directory: a new file inherits it. What a user has below the profile
//! directory, only this user, the administrators and the system can access.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Does nothing: the file inherits the access of its directory.
pub fn make_private(_: &mut OpenOptions) {}

pub(crate) fn without_waiting(options: OpenOptions, _: bool) -> OpenOptions {
    options
}

pub(crate) fn is_pipe(_: FileType) -> bool {
    false
}

pub(crate) fn describe(_: FileType) -> Option<&'static str> {
    None
}

#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
pub(crate) fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Does nothing.
///
/// # Errors
/// Never returns an error.
pub fn check_own_file(_: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Does nothing.
///
/// # Errors
/// Never returns an error.
pub fn check_link(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(feature = "replace")]
pub(crate) use self::private::{create_directory, create_held, rename};

#[cfg(feature = "replace")]
pub(crate) fn mode(metadata: &Metadata) -> u32 {
    if metadata.permissions().readonly() { 0o400 } else { 0o600 }
}

/// Does nothing: a directory cannot be opened as a file.
#[cfg(feature = "replace")]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
pub(crate) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(feature = "replace")]
mod private {
    use std::fs::{self, File, OpenOptions};
    use std::os::windows::fs::OpenOptionsExt as _;
    use std::path::{Path, PathBuf, absolute};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    use std::{env, io, thread};

    const FILE_SHARE_READ: u32 = 0x0000_0001;
    const FILE_SHARE_DELETE: u32 = 0x0000_0004;

    /// Maximum time to repeat the replacement of a file that another program has open, such as a virus scanner.
    const PATIENCE: Duration = Duration::from_secs(1);
    /// Interval at which the replacement is repeated.
    const RETRY: Duration = Duration::from_millis(10);

    /// Creates a file that nobody else can open for writing while it is open. A lock would also keep others from reading it.
    pub(crate) fn create_held(options: &OpenOptions, path: &Path) -> io::Result<File> {
        options.clone().share_mode(FILE_SHARE_READ | FILE_SHARE_DELETE).open(path)
    }

    /// Returns whether this error of Windows may mean that a file is open in another program, which does not let it be removed:
    /// `ERROR_ACCESS_DENIED` for the old file, `ERROR_SHARING_VIOLATION` for the new one.
    fn is_open(code: i32) -> bool {
        matches!(code, 5 | 32)
    }

    /// Renames the file `from` to `to`. Waits a little while another program has the file at `to` open.
    pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
        let started = Instant::now();
        loop {
            match fs::rename(from, to) {
                Err(error) if error.raw_os_error().is_some_and(is_open) && started.elapsed() < PATIENCE => {
                    thread::sleep(RETRY);
                }
                result => return result,
            }
        }
    }

    /// Creates a directory that only this user can enter, and its missing parent directories.
    ///
    /// All users can read directories below `C:\`. So outside of the user's profile directory, the outermost of the new
    /// directories is closed to other users, and the directories in it inherit that. A directory that exists already is not
    /// changed.
    pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
        let path = absolute(path)?;
        let missing = path.ancestors().take_while(|directory| !directory.exists());
        let is_private = env::home_dir().is_some_and(|profile| path.starts_with(profile));
        if let Some(first) = missing.last().filter(|_| !is_private) {
            fs::create_dir(first)?;
            if let Err(error) = close(first) {
                let _ = fs::remove_dir(first);
                return Err(error);
            }
        }
        fs::create_dir_all(path)
    }

    /// Takes all access to a new directory from other users, with the programs of Windows for that. Only this user is left, and
    /// also the system, which backs up and scans files.
    fn close(directory: &Path) -> io::Result<()> {
        let user = run("whoami", &["/user", "/fo", "csv", "/nh"])?;
        // The answer is `"machine\name","S-1-5-21-..."`. The name is not always ASCII, and the number is.
        let user = user.trim().rsplit(',').next().unwrap_or_default().trim_matches('"');
        let user = format!("{}{user}:(OI)(CI)F", if user.starts_with("S-1-") { "*" } else { "" });
        let directory = directory.to_string_lossy();
        let directory = directory.strip_prefix(r"\\?\").filter(|path| !path.starts_with("UNC")).unwrap_or(&directory);
        run("icacls", &[directory, "/inheritance:r", "/grant:r", &*user, "*S-1-5-18:(OI)(CI)F"]).map(drop)
    }

    /// Runs a program of the system, and returns what it prints.
    fn run(program: &str, arguments: &[&str]) -> io::Result<String> {
        // By its path, so that no program of that name elsewhere is run.
        let system = env::var_os("SystemRoot").map_or_else(|| r"C:\Windows".into(), PathBuf::from);
        let mut command = Command::new(system.join("System32").join(program).with_extension("exe"));
        let output = command.args(arguments).stdin(Stdio::null()).output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!(
                "other users cannot be kept out, because {program} failed: {}",
                why.trim()
            )));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
