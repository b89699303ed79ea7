//! The Unix socket of the running hub: its path, the checks of its owner, and the file lock that allows only one hub.

use std::fmt::Display;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::future::{Ready, ready};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use mcpwire_hub::HubError;
use mcpwire_hub::files::{Links, check_trusted, open_regular};
use mcpwire_hub::layout::Layout;
use rustix::fs::{FlockOperation, flock};
pub(crate) use tokio::net::UnixStream as Stream;
pub(crate) use tokio::net::unix::OwnedReadHalf as ReadHalf;

use super::{failed, runs_already};

/// Maximum length of the path of a Unix socket, in bytes. Linux allows 107, macOS and the BSDs 103.
const LONGEST_PATH: usize = 103;

/// Returns the path of the hub's Unix socket. The socket is in the state directory or, if that path is too long, in the user's
/// runtime directory or below `/tmp`.
///
/// Returns `None` if all paths are too long. Then commands cannot share a hub.
fn path(layout: &Layout) -> Option<PathBuf> {
    let usual = layout.state().join("hub.sock");
    let name = format!("{:016x}.sock", fnv1a(usual.as_os_str().as_bytes()));
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let temporary = Path::new("/tmp").join(format!("mcpwire-{}", rustix::process::geteuid().as_raw()));
    let short = [runtime.map(|directory| directory.join("mcpwire")), Some(temporary)];
    let paths = std::iter::once(usual).chain(short.into_iter().flatten().map(|directory| directory.join(&name)));
    paths.into_iter().find(|path| path.as_os_str().len() <= LONGEST_PATH)
}

/// Computes the FNV-1a hash of `bytes`. Unlike the hasher of `std`, this hash is the same in all builds of this tool, so that
/// all builds find the same socket.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Connects to the Unix socket of the running hub. Returns `None` if no hub is running.
///
/// # Errors
/// If the socket or its directory belongs to another user, or if other users can write to the directory. The program of another
/// user could listen at the socket, and would receive the arguments of tool calls.
pub(crate) fn connect(layout: &Layout) -> Result<Option<UnixStream>, HubError> {
    let Some(path) = path(layout) else { return Ok(None) };
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("the running hub cannot be reached", &error)),
        Ok(socket) if !socket.file_type().is_socket() => return Err(foreign(&path, "is no socket")),
        Ok(socket) if !is_ours(socket.uid()) => return Err(foreign(&path, "belongs to another user")),
        Ok(_) => check_directory(&path)?,
    }
    match UnixStream::connect(&path) {
        Ok(stream) if peer_is_ours(&stream) => Ok(Some(stream)),
        Ok(_) => Err(foreign(&path, "is served by another user's program")),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => Ok(None),
        Err(error) => Err(failed("the running hub cannot be reached", &error)),
    }
}

/// Checks that the directory of the Unix socket belongs to this user, and that no other user can write to the directory or
/// replace it.
fn check_directory(socket: &Path) -> Result<(), HubError> {
    let directory = socket.parent().unwrap_or(socket);
    let metadata = fs::metadata(directory).map_err(|error| failed("the hub's directory cannot be read", &error))?;
    if !is_ours(metadata.uid()) {
        return Err(foreign(directory, "belongs to another user"));
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o022 != 0 {
        return Err(foreign(
            directory,
            &format!("can be written to by others (mode {mode:04o}; `chmod 700` mends that)"),
        ));
    }
    check_trusted(directory).map_err(|error| HubError::conflict("hub", format!("the hub is not used, because {error}")))
}

/// Returns whether `uid` is the id of the user who runs this process.
fn is_ours(uid: u32) -> bool {
    uid == rustix::process::geteuid().as_raw()
}

/// Returns whether the process at the other end of the Unix socket belongs to this user.
#[cfg(target_os = "linux")]
fn peer_is_ours(stream: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| is_ours(peer.uid.as_raw()))
}

/// Always returns `true`. On systems other than Linux, only the owners of the Unix socket and its directory are checked.
#[cfg(not(target_os = "linux"))]
fn peer_is_ours(_: &UnixStream) -> bool {
    true
}

/// The Unix socket of a running hub, with the file lock that keeps other hubs from starting.
///
/// Dropping this value removes the socket, and then releases the lock.
pub(crate) struct Socket {
    path: PathBuf,
    listener: tokio::net::UnixListener,
    _lock: File,
}

impl Socket {
    /// Takes the file lock of the hub and creates its Unix socket. Replaces the socket of a hub that was killed. Must be called
    /// within a tokio runtime.
    ///
    /// # Errors
    /// `CONFLICT` if another hub is running.
    pub(crate) fn bind(layout: &Layout) -> Result<Self, HubError> {
        let path = path(layout).ok_or_else(|| {
            HubError::unavailable("the path of the hub's socket would be too long: choose a shorter --config-dir")
        })?;
        let cannot = |error: io::Error| failed(&format!("the socket {} cannot be created", path.display()), &error);
        create_directory(layout.state()).map_err(cannot)?;
        let lock = lock(&layout.state().join("hub.lock"))?;
        let directory = path.parent().unwrap_or(&path);
        create_directory(directory).map_err(cannot)?;
        check_directory(&path)?;
        // Hubs of earlier versions take no lock. If the socket accepts a connection, such a hub is running.
        if connect(layout)?.is_some() {
            return Err(runs_already());
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(cannot)?;
        // Before this, the mode of the directory keeps other users from connecting.
        fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let listener = tokio::net::UnixListener::from_std(listener).map_err(cannot)?;
        Ok(Socket { path, listener, _lock: lock })
    }

    /// Returns what commands connect to, for the log of the hub.
    pub(crate) fn place(&self) -> impl Display {
        self.path.display()
    }

    /// Waits for the next connection.
    pub(crate) async fn accept(&self) -> io::Result<Visitor> {
        self.listener.accept().await.map(|(stream, _)| Visitor(stream))
    }
}

/// A connection that the hub has accepted, whose user is not checked yet.
pub(crate) struct Visitor(Stream);

impl Visitor {
    /// Returns the connection if the process at its other end belongs to this user.
    pub(crate) fn admitted(self) -> Ready<Option<Stream>> {
        let is_ours = self.0.peer_cred().is_ok_and(|peer| is_ours(peer.uid()));
        ready(is_ours.then_some(self.0))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Prepares the command of a hub in the background.
pub(crate) fn detach(command: &mut Command) {
    command.arg("--own-session");
}

/// Leaves the session of the terminal, so that the hub goes on when the terminal is closed.
pub(crate) fn leave_session() {
    // This fails if the process leads a group already, and then nothing is lost.
    let _ = rustix::process::setsid();
}

/// Locks the file at `path`, so that only one hub can run. The system releases the lock when the file is closed, even if the
/// process is killed.
fn lock(path: &Path) -> Result<File, HubError> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    let (file, _) = open_regular(path, options, Links::Refuse)
        .map_err(|error| failed(&format!("the hub's lock {} cannot be opened", path.display()), &error))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(runs_already()),
        Err(error) => Err(failed("the hub's lock cannot be taken", &error.into())),
    }
}

fn foreign(path: &Path, what: &str) -> HubError {
    let message = format!("the hub is not used, because {} {what}; remove it if you do not know it", path.display());
    HubError::conflict("hub", message)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Returns a new directory, and the layout of a hub in it, whose state directory exists.
    fn place() -> (tempfile::TempDir, Layout) {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::below(directory.path());
        create_directory(layout.state()).unwrap();
        (directory, layout)
    }

    #[test]
    fn a_long_path_is_replaced_by_a_short_one() {
        let short = Layout::below("/x");
        assert_eq!(path(&short), Some("/x/state/hub.sock".into()));
        let [long, other] = ["x", "y"].map(|name| path(&Layout::below(format!("/{}", name.repeat(200)))));
        assert!(long.as_ref().is_some_and(|path| path.as_os_str().len() <= LONGEST_PATH), "{long:?}");
        assert_ne!(long, other);
    }

    #[tokio::test]
    async fn only_one_hub_has_the_socket_and_takes_it_away_at_its_end() {
        let (_directory, layout) = place();
        // A socket that a killed hub left is replaced.
        drop(UnixListener::bind(path(&layout).unwrap()).unwrap());
        assert!(connect(&layout).unwrap().is_none());
        let first = Socket::bind(&layout).unwrap();
        assert_eq!(Socket::bind(&layout).err().map(|error| error.field().to_owned()), Some("hub".into()));
        assert!(connect(&layout).unwrap().is_some(), "the second has left it alone");
        drop(first);
        assert!(connect(&layout).unwrap().is_none());
        // A hub that has not made its socket yet has the lock already.
        let _held = lock(&layout.state().join("hub.lock")).unwrap();
        assert!(Socket::bind(&layout).is_err());
    }

    #[test]
    fn a_lock_that_is_not_a_regular_file_is_refused() {
        let (_directory, layout) = place();
        let lock = layout.state().join("hub.lock");
        assert!(Command::new("mkfifo").arg(&lock).status().unwrap().success());
        let error = Socket::bind(&layout).err().unwrap();
        assert!(error.message().contains("it is a named pipe"), "{error}");
    }

    #[test]
    fn what_others_could_have_put_there_is_not_used() {
        let (directory, layout) = place();
        let path = path(&layout).unwrap();
        let elsewhere = directory.path().join("elsewhere.sock");
        let _listener = UnixListener::bind(&elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        assert!(connect(&layout).unwrap_err().message().contains("is no socket"));
        fs::rename(&elsewhere, &path).unwrap();
        assert!(connect(&layout).unwrap().is_some());
        fs::set_permissions(layout.state(), Permissions::from_mode(0o777)).unwrap();
        assert!(connect(&layout).unwrap_err().message().contains("written to by others"));
    }
}
