//! [`Launcher`]: starts servers in another way than as a process of this machine.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Exit, McpServerDef, ReadStream, Reader, SpawnError, SpawnErrorKind, WriteStream, Writer, catch_panic};

/// Starts the servers of definitions: in a container, over ssh, in a sandbox, or in this process. Set by
/// [`ConnectOptions::launcher`](crate::ConnectOptions::launcher).
///
/// Closures are launchers too.
///
/// ```
/// use mcpwire_client::{ConnectOptions, Launched, McpServerDef};
///
/// let options = ConnectOptions::default().launcher(|def: &McpServerDef| {
///     let container = McpServerDef::new("docker").args(["run", "--rm", "-i", "my-image"]).arg(&def.command);
///     Ok(Launched::command(container.args(&def.args)))
/// });
/// ```
pub trait Launcher: Send + Sync + 'static {
    /// Starts a server. Called again if the server must be started again as a legacy server.
    ///
    /// # Errors
    /// The client fails with the error, as if the process could not be started.
    fn launch(&self, def: &McpServerDef) -> io::Result<Launched>;
}

impl<F> Launcher for F
where
    F: Fn(&McpServerDef) -> io::Result<Launched> + Send + Sync + 'static,
{
    fn launch(&self, def: &McpServerDef) -> io::Result<Launched> {
        self(def)
    }
}

/// A server that a [`Launcher`] has started, or the command to start.
pub struct Launched(Kind);

enum Kind {
    Command(Box<McpServerDef>),
    Streams(Box<LaunchedServer>),
}

impl Launched {
    /// Makes the client start the process of this definition instead.
    pub fn command(def: McpServerDef) -> Self {
        Launched(Kind::Command(Box::new(def)))
    }

    /// Creates a server that runs elsewhere: the stream that the client reads, the stream that it writes, and a future that
    /// ends when the server has ended.
    ///
    /// When the client closes the stream that it writes, the server should end. The blocking client has a thread for each
    /// stream and for the future.
    pub fn streams(
        reader: impl ReadStream + Send + 'static,
        writer: impl WriteStream + Send + 'static,
        exit: impl Future<Output = Exit> + Send + 'static,
    ) -> Self {
        let status = Arc::<Mutex<Option<Exit>>>::default();
        let slot = Arc::clone(&status);
        Launched(Kind::Streams(Box::new(LaunchedServer {
            reader: Box::pin(reader),
            writer: Box::pin(writer),
            stderr: None,
            exit: Box::pin(async move {
                let exit = exit.await;
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(exit);
            }),
            control: LaunchedServerHandle { status, kill: None },
        })))
    }

    /// Sets the stream of the server's standard error. Has no effect on a command.
    pub fn stderr(mut self, stderr: impl ReadStream + Send + 'static) -> Self {
        if let Kind::Streams(server) = &mut self.0 {
            server.stderr = Some(Box::pin(stderr));
        }
        self
    }

    /// Sets the function that ends the server at once. Has no effect on a command.
    ///
    /// The client calls it if the server does not end by itself, and when the client is dropped. The function must return
    /// at once, and must not use the client. Afterwards, the future of the exit must end.
    pub fn on_kill(mut self, kill: impl FnOnce() + Send + 'static) -> Self {
        if let Kind::Streams(server) = &mut self.0 {
            server.control.kill = Some(Box::new(kill));
        }
        self
    }
}

impl fmt::Debug for Launched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Command(def) => f.debug_tuple("Command").field(def).finish(),
            Kind::Streams(_) => f.debug_struct("Streams").finish_non_exhaustive(),
        }
    }
}

/// A server that runs elsewhere.
pub struct LaunchedServer {
    /// The stream that the client reads.
    pub reader: Reader,
    /// The stream that the client writes.
    pub writer: Writer,
    /// The standard error of the server.
    pub stderr: Option<Reader>,
    /// Ends when the server has ended, and stores its exit status for `control`.
    pub exit: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// Ends the server, and knows its exit status.
    pub control: LaunchedServerHandle,
}

/// Ends a server that runs elsewhere, and knows its exit status.
pub struct LaunchedServerHandle {
    status: Arc<Mutex<Option<Exit>>>,
    kill: Option<Box<dyn FnOnce() + Send>>,
}

impl LaunchedServerHandle {
    /// Returns how the server has ended, or `None` if it is running.
    pub fn observe(&self) -> Option<Exit> {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the server at once. Without a function for that, the server counts as ended.
    pub fn kill(&mut self) {
        match self.kill.take() {
            // Its panic is of no use to anybody: the connection ends.
            Some(kill) => drop(catch_panic(kill)),
            None => {
                self.status.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(Exit::new(None, None));
            }
        }
    }
}

impl fmt::Debug for LaunchedServerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchedServerHandle").field("exit", &self.observe()).finish_non_exhaustive()
    }
}

/// What a client does for the server of a definition.
pub enum Launch {
    /// It starts the process of this definition.
    Command(Box<McpServerDef>),
    /// It uses the streams of a server that runs elsewhere.
    Server(Box<LaunchedServer>),
}

/// Any [`Launcher`].
pub trait AnyLauncher: Send + Sync {
    /// Starts a server.
    ///
    /// # Errors
    /// The launcher failed or panicked.
    fn start(&self, def: &McpServerDef) -> Result<Launch, SpawnError>;
}

impl<T: Launcher> AnyLauncher for T {
    fn start(&self, def: &McpServerDef) -> Result<Launch, SpawnError> {
        let launched = catch_panic(|| self.launch(def))
            .unwrap_or_else(|message| Err(io::Error::other(format!("the launcher panicked: {message}"))));
        match launched {
            Ok(Launched(Kind::Command(def))) => Ok(Launch::Command(def)),
            Ok(Launched(Kind::Streams(server))) => Ok(Launch::Server(server)),
            Err(error) => Err(SpawnError {
                command: def.command.clone(),
                cwd: def.cwd.clone(),
                kind: SpawnErrorKind::Other,
                error: Arc::new(error),
            }),
        }
    }
}
