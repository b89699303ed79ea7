//! The running hub on Windows: a port of the loopback interface, a token that only this user can read, and the file that has both.
//!
//! Every user of the machine can connect to the port, and to the port of a hub that has ended, another program may listen. For this
//! reason, each side checks the other. A command sends the token first, and the hub closes connections without it. The hub keeps the
//! file open for writing, which nobody else can do meanwhile, and the system removes the file when the hub ends, even if it is
//! killed. So if the file is held by somebody and has the same content before and after a command has connected, the hub was there in
//! between.

use std::fmt::Display;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use filedescriptor::{FileDescriptor, StdioDescriptor};
use mcpwire_hub::files::{Fs as _, SystemFs};
use mcpwire_hub::layout::Layout;
use mcpwire_hub::{HubError, Uuid};
use tokio::io::AsyncReadExt as _;
pub(crate) use tokio::net::TcpStream as Stream;
pub(crate) use tokio::net::tcp::OwnedReadHalf as ReadHalf;
use tokio::time::timeout;

use super::{failed, runs_already};

/// Number of bytes of the token: two random UUIDs in hexadecimal.
const TOKEN_LENGTH: usize = 64;
/// Maximum time between the connection of a command and its token, which the command sends at once.
const GREETING: Duration = Duration::from_secs(30);

/// The error of Windows for a file that another process has open in a way that excludes this one.
const ERROR_SHARING_VIOLATION: i32 = 32;
const FILE_SHARE_READ: u32 = 0x0000_0001;
const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;

/// Flags of a process that gets a console of its own without a window. Without a console, each of its servers would show a window.
/// Ctrl-C in the console of the command does not reach the process.
const IN_BACKGROUND: u32 = CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP;
const CREATE_NO_WINDOW: u32 = 0x0800_0000;
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// Returns the path of the file that has the port and the token of the running hub.
fn path(layout: &Layout) -> PathBuf {
    layout.state().join("hub.port")
}

/// Returns the port and the token of the running hub, as they are in its file. Returns `None` if no hub has the file open.
fn held_by_hub(path: &Path) -> Option<String> {
    let error = File::options().write(true).open(path).err()?;
    (error.raw_os_error() == Some(ERROR_SHARING_VIOLATION)).then(|| fs::read_to_string(path).ok()).flatten()
}

/// Connects to the running hub. Returns `None` if no hub is running.
pub(crate) fn connect(layout: &Layout) -> Result<Option<TcpStream>, HubError> {
    let path = path(layout);
    let Some(held) = held_by_hub(&path) else { return Ok(None) };
    // A hub that has just started may not have written the file yet.
    let parts = held.split_once(' ').and_then(|(port, token)| Some((port.parse::<u16>().ok()?, token)));
    let Some((port, token)) = parts.filter(|(_, token)| token.len() == TOKEN_LENGTH) else { return Ok(None) };
    let unreachable = |error: io::Error| failed("the running hub cannot be reached", &error);
    let mut stream = match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
        Ok(stream) => stream,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => return Ok(None),
        Err(error) => return Err(unreachable(error)),
    };
    if held_by_hub(&path).as_ref() != Some(&held) {
        return Ok(None);
    }
    stream.set_nodelay(true).and_then(|()| stream.write_all(token.as_bytes())).map_err(unreachable)?;
    Ok(Some(stream))
}

/// The port of a running hub, and its file, which keeps other hubs from starting.
///
/// Dropping this value removes the file.
pub(crate) struct Socket {
    port: u16,
    listener: tokio::net::TcpListener,
    token: Arc<str>,
    _file: File,
}

impl Socket {
    /// Opens a port of the loopback interface, and creates the file that has it. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// `CONFLICT` if another hub is running.
    pub(crate) fn bind(layout: &Layout) -> Result<Self, HubError> {
        let path = path(layout);
        let cannot = |error: io::Error| match error.raw_os_error() {
            Some(ERROR_SHARING_VIOLATION) => runs_already(),
            _ if error.kind() == io::ErrorKind::AlreadyExists => runs_already(),
            _ => failed(&format!("the file {} cannot be created", path.display()), &error),
        };
        SystemFs.create_directory(layout.state()).map_err(cannot)?;
        // Only a machine that has lost its power leaves the file. It cannot be removed while a hub has it open.
        fs::remove_file(&path).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(cannot(error)),
        })?;
        let mut options = File::options();
        options.write(true).create_new(true).share_mode(FILE_SHARE_READ).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
        let mut file = options.open(&path).map_err(cannot)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        listener.set_nonblocking(true).map_err(cannot)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(cannot)?;
        let token: Arc<str> = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()).into();
        file.write_all(format!("{port} {token}").as_bytes()).map_err(cannot)?;
        Ok(Socket { port, listener, token, _file: file })
    }

    /// Returns what commands connect to, for the log of the hub.
    pub(crate) fn place(&self) -> impl Display {
        format!("{}:{}", Ipv4Addr::LOCALHOST, self.port)
    }

    /// Waits for the next connection.
    pub(crate) async fn accept(&self) -> io::Result<Visitor> {
        let (stream, _) = self.listener.accept().await?;
        Ok(Visitor { stream, token: Arc::clone(&self.token) })
    }
}

/// A connection that the hub has accepted, whose token is not checked yet.
pub(crate) struct Visitor {
    stream: Stream,
    token: Arc<str>,
}

impl Visitor {
    /// Returns the connection if the process at its other end sends the token.
    pub(crate) async fn admitted(mut self) -> Option<Stream> {
        let mut token = [0; TOKEN_LENGTH];
        timeout(GREETING, self.stream.read_exact(&mut token)).await.ok()?.ok()?;
        self.stream.set_nodelay(true).ok()?;
        // All bytes are compared, so that the time says nothing of the token.
        let differences = token.iter().zip(self.token.as_bytes()).fold(0, |all, (one, other)| all | (one ^ other));
        (black_box(differences) == 0).then_some(self.stream)
    }
}

/// Prepares the command of a hub in the background.
pub(crate) fn detach(command: &mut Command) {
    command.creation_flags(IN_BACKGROUND);
    // The system passes all inheritable handles to the process, and those of the standard streams are. Whoever reads the output
    // of this program to its end would wait for the end of the hub. So copies replace them, which cannot be inherited. Two streams
    // may have the same handle, so the originals are closed when all are copied.
    drop([
        FileDescriptor::redirect_stdio(&io::stdin(), StdioDescriptor::Stdin),
        FileDescriptor::redirect_stdio(&io::stdout(), StdioDescriptor::Stdout),
        FileDescriptor::redirect_stdio(&io::stderr(), StdioDescriptor::Stderr),
    ]);
}

/// Does nothing: [`detach`] gives the hub a console of its own.
pub(crate) fn leave_session() {}
