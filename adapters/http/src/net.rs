//! What a runtime gives: connections, tasks, time.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};

/// A runtime, as far as an HTTP client needs one.
///
/// The functions are called where the client is used, so a runtime that is found through the current thread is found.
pub trait Net: Send + Sync + 'static {
    /// Looks up a host, which may be an address, and connects by TCP to the first of its addresses that answers.
    fn connect(host: String, port: u16) -> Connecting;

    /// Connects to a Unix socket. By default that cannot be done.
    fn connect_unix(socket: PathBuf) -> Connecting {
        let _ = socket;
        Box::pin(async { Err(io::Error::new(io::ErrorKind::Unsupported, "there are no Unix sockets here")) })
    }

    /// Runs a task that nobody waits for.
    fn spawn(task: Task);

    /// Ends once so much time has passed.
    fn sleep(after: Duration) -> Task;
}

/// Something that goes on by itself.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connection that is being made.
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<Socket>> + Send>>;

/// A connection of any runtime.
pub type Socket = Pin<Box<dyn Stream>>;

/// What can be read and written.
pub trait Stream: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}
