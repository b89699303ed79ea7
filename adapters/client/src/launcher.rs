//! [`Launcher`]: code of the program that starts servers, for example in a container.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use crate::{
    Exit, McpServerDef, ReadStream, Reader, SpawnError, SpawnErrorKind, WriteStream, Writer, catch_panic, lock,
};

/// Starts servers in place of the client: in a container, over ssh, in a sandbox, or in this process. Without a launcher, the
/// client starts a local process.
///
/// Set by [`ConnectOptions::launcher`](crate::ConnectOptions::launcher). Closures implement this trait.
///
/// ```
/// # mod mcpwire { pub use mcpwire_client::{ConnectOptions, McpServerDef, ServerLaunch}; }
/// use mcpwire::{ConnectOptions, McpServerDef, ServerLaunch};
///
/// let options = ConnectOptions::default().launcher(|def: &McpServerDef| {
///     let container = McpServerDef::new("docker").args(["run", "--rm", "-i", "my-image"]).arg(&def.command);
///     Ok(ServerLaunch::command(container.args(&def.args)))
/// });
/// ```
pub trait Launcher: Send + Sync + 'static {
    /// Starts the server of a definition, and returns its streams or another command to start.
    ///
    /// The client calls this method a second time if it must restart the server to use a legacy protocol version.
    ///
    /// # Errors
    /// Return an error if the server cannot be started. The client reports it as a [`SpawnError`].
    fn launch(&self, def: &McpServerDef) -> io::Result<ServerLaunch>;
}

impl<F> Launcher for F
where
    F: Fn(&McpServerDef) -> io::Result<ServerLaunch> + Send + Sync + 'static,
{
    fn launch(&self, def: &McpServerDef) -> io::Result<ServerLaunch> {
        self(def)
    }
}

/// The result of a [`Launcher`]: the streams of a running server, or another command for the client to start.
#[must_use = "a launch has no effect until it is returned"]
pub struct ServerLaunch(LaunchKind);

impl ServerLaunch {
    /// Makes the client start this command as a local process, for example `docker run` with the original command as its
    /// arguments.
    pub fn command(def: McpServerDef) -> Self {
        ServerLaunch(LaunchKind::Command(Box::new(def)))
    }

    /// Connects the client to a running server: it reads from `reader` and writes to `writer`. `exit` resolves when the server
    /// has exited.
    ///
    /// The server should exit when the client closes `writer`. The blocking client runs a thread for each stream and for
    /// `exit`.
    pub fn streams(
        reader: impl ReadStream + Send + 'static,
        writer: impl WriteStream + Send + 'static,
        exit: impl Future<Output = Exit> + Send + 'static,
    ) -> Self {
        let status = Arc::<Mutex<Option<Exit>>>::default();
        let slot = Arc::clone(&status);
        ServerLaunch(LaunchKind::Server(Box::new(LaunchedServer {
            reader: Box::pin(reader),
            writer: Box::pin(writer),
            stderr: None,
            exit: Box::pin(async move {
                let exit = exit.await;
                *lock(&slot) = Some(exit);
            }),
            handle: LaunchedServerHandle { status, kill: None },
        })))
    }

    /// Sets the stream from which the client reads the server's standard error. It has no effect on [`ServerLaunch::command`].
    pub fn stderr(mut self, stderr: impl ReadStream + Send + 'static) -> Self {
        if let LaunchKind::Server(server) = &mut self.0 {
            server.stderr = Some(Box::pin(stderr));
        }
        self
    }

    /// Sets the function that kills the server. It has no effect on [`ServerLaunch::command`].
    ///
    /// The client calls the function if the server does not exit after the client has closed its input, and when the client is
    /// dropped. The function must return at once and must not use the client. The future `exit` must resolve afterwards.
    pub fn on_kill(mut self, kill: impl FnOnce() + Send + 'static) -> Self {
        if let LaunchKind::Server(server) = &mut self.0 {
            server.handle.kill = Some(Box::new(kill));
        }
        self
    }
}

impl fmt::Debug for ServerLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            LaunchKind::Command(def) => f.debug_tuple("Command").field(def).finish(),
            LaunchKind::Server(_) => f.debug_struct("Streams").finish_non_exhaustive(),
        }
    }
}

/// A running server that a [`Launcher`] has started.
pub struct LaunchedServer {
    /// The stream that the client reads.
    pub reader: Reader,
    /// The stream that the client writes.
    pub writer: Writer,
    /// The stream of the server's standard error. `None` if the launcher has set none.
    pub stderr: Option<Reader>,
    /// Resolves when the server has exited. Before that, it stores the exit status for `handle`.
    pub exit: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// The handle with which the client kills the server and gets its exit status.
    pub handle: LaunchedServerHandle,
}

/// A handle to a server that a [`Launcher`] has started, to kill the server and to get its exit status.
pub struct LaunchedServerHandle {
    /// The exit status of the server. `None` while the server is running.
    status: Arc<Mutex<Option<Exit>>>,
    kill: Option<Box<dyn FnOnce() + Send>>,
}

impl LaunchedServerHandle {
    /// Returns the exit status of the server, or `None` if it is running.
    pub fn observe(&self) -> Option<Exit> {
        *lock(&self.status)
    }

    /// Kills the server. If the launcher has set no [`ServerLaunch::on_kill`], this only marks the server as exited.
    pub fn kill(&mut self) {
        match self.kill.take() {
            // A panic is ignored, because the connection ends anyway.
            Some(kill) => drop(catch_panic(kill)),
            None => {
                lock(&self.status).get_or_insert(Exit::new(None, None));
            }
        }
    }
}

impl fmt::Debug for LaunchedServerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchedServerHandle").field("exit", &self.observe()).finish_non_exhaustive()
    }
}

/// How the client connects to a server after its launcher was called.
pub enum LaunchKind {
    /// Start the command of this definition as a local process.
    Command(Box<McpServerDef>),
    /// Use the streams of a server that the launcher has started.
    Server(Box<LaunchedServer>),
}

/// Calls a launcher to start the server of a definition. Catches a panic of the launcher.
///
/// # Errors
/// If the launcher fails or panics.
pub fn launch(launcher: &dyn Launcher, def: &McpServerDef) -> Result<LaunchKind, SpawnError> {
    let launch = catch_panic(|| launcher.launch(def))
        .unwrap_or_else(|message| Err(io::Error::other(format!("the launcher panicked: {message}"))));
    match launch {
        Ok(ServerLaunch(kind)) => Ok(kind),
        Err(error) => Err(SpawnError::new(def, SpawnErrorKind::Other, error)),
    }
}
