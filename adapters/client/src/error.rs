//! What can go wrong, with all that is known about why.

use std::fmt;
use std::io;

use mcpwire_core::{CallError, ConnectError, SendError, TaskError};

use crate::{Exit, SpawnError};

/// Why a call to this crate failed. It names the server, and says what the process did if that has to do with it.
///
/// `{:?}` shows what `{}` does: it is what a program prints whose `main` fails with it.
#[non_exhaustive]
pub enum Error {
    /// The server could not be started.
    Spawn {
        /// What the server is called.
        server: String,
        /// What is wrong.
        error: SpawnError,
    },
    /// The server is spoken to by HTTP, and that cannot be begun.
    Http {
        /// What the server is called.
        server: String,
        /// What is wrong.
        error: HttpSetupError,
    },
    /// The server was started, and the connection could not be opened.
    Connect {
        /// What the server is called.
        server: String,
        /// What is wrong.
        error: ConnectError,
        /// What its process did.
        process: Option<Box<ProcessReport>>,
    },
    /// A request was not sent.
    Send {
        /// What the server is called.
        server: String,
        /// Why.
        error: SendError,
        /// What its process did, if that is why.
        process: Option<Box<ProcessReport>>,
    },
    /// A request was sent and has no result.
    Call {
        /// What the server is called.
        server: String,
        /// Why.
        error: CallError,
        /// What its process did, if that is why.
        process: Option<Box<ProcessReport>>,
    },
    /// The operating system failed this side, or a stream of the program's own did.
    Io {
        /// What the server is called.
        server: String,
        /// What is wrong.
        error: io::Error,
    },
}

/// Why a server cannot even be asked by HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpSetupError {
    /// This client knows no HTTP.
    Missing,
    /// The address, or a header, is none that requests can be made with; which, in words.
    Settings(String),
    /// The HTTP client cannot be made; why, in words.
    Client(String),
}

impl fmt::Display for HttpSetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpSetupError::Missing => f.write_str(
                "it is spoken to by HTTP, which this client was built without; enable the feature `http` of \
                 `mcpwire-blocking`, `mcpwire-tokio`, `mcpwire-smol` or `mcpwire-async-std`, or bring an HTTP client of your own",
            ),
            HttpSetupError::Settings(what) => f.write_str(what),
            HttpSetupError::Client(what) => write!(f, "the HTTP client cannot be set up: {what}"),
        }
    }
}

impl std::error::Error for HttpSetupError {}

/// What is known of a server's process when something went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessReport {
    /// How it ended; `None` if it is still running.
    pub exit: Option<Exit>,
    /// The last lines that it wrote on standard error: bounded, and fit for a terminal.
    pub stderr_tail: String,
}

/// The kinds of errors, for programs that act on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server could not be started.
    Start,
    /// The connection could not be opened.
    Connect,
    /// No answer came in time. [`Error::is_connecting`] tells whether that was while the connection was opened.
    Timeout,
    /// The caller gave up.
    Cancelled,
    /// The server has no such tool.
    ToolNotFound,
    /// The server answered with an error.
    Server,
    /// The server wanted input before it answers, and did not get it.
    Input,
    /// The server's answer cannot be read.
    Protocol,
    /// The connection has ended.
    Closed,
    /// The request's HTTP exchange did not come about, or broke off. Others may go through.
    Network,
    /// The call itself is wrong: not initialised, parameters that are no object, a tool that is called as a task only, a limit; or an address that cannot be spoken to.
    Usage,
}

impl Error {
    /// The same with more said about why a request ended without a result.
    pub fn explained(mut self, explain: impl FnOnce(&mut CallError)) -> Self {
        if let Error::Call { error, .. } = &mut self {
            explain(error);
        }
        self
    }

    /// Which kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Spawn { .. } => ErrorKind::Start,
            Error::Http { .. } => ErrorKind::Usage,
            Error::Connect { error: ConnectError::Timeout { .. }, .. } => ErrorKind::Timeout,
            Error::Connect { error: ConnectError::Cancelled, .. } => ErrorKind::Cancelled,
            Error::Connect { .. } => ErrorKind::Connect,
            Error::Send { error: SendError::Closed, .. } | Error::Io { .. } => ErrorKind::Closed,
            Error::Send { .. } => ErrorKind::Usage,
            Error::Call { error, .. } => kind_of_call(error),
        }
    }

    /// Whether it happened while the connection was being opened.
    pub fn is_connecting(&self) -> bool {
        matches!(self, Error::Spawn { .. } | Error::Http { .. } | Error::Connect { .. })
    }

    /// What the server is called.
    pub fn server(&self) -> &str {
        match self {
            Error::Spawn { server, .. }
            | Error::Http { server, .. }
            | Error::Connect { server, .. }
            | Error::Send { server, .. }
            | Error::Call { server, .. }
            | Error::Io { server, .. } => server,
        }
    }

    /// What the server's process did, where it has to do with the error.
    pub fn process(&self) -> Option<&ProcessReport> {
        match self {
            Error::Connect { process, .. } | Error::Send { process, .. } | Error::Call { process, .. } => {
                process.as_deref()
            }
            Error::Spawn { .. } | Error::Http { .. } | Error::Io { .. } => None,
        }
    }
}

pub(crate) fn kind_of_call(error: &CallError) -> ErrorKind {
    match error {
        CallError::Server { .. } => ErrorKind::Server,
        CallError::ToolNotFound { .. } => ErrorKind::ToolNotFound,
        CallError::Timeout { .. } => ErrorKind::Timeout,
        CallError::Cancelled { .. } => ErrorKind::Cancelled,
        CallError::Closed { .. } => ErrorKind::Closed,
        CallError::Input { .. } => ErrorKind::Input,
        CallError::WrongTicket { .. } | CallError::Task { fault: TaskError::TooMany { .. }, .. } => ErrorKind::Usage,
        CallError::Task { fault: TaskError::Lost { error }, .. } => kind_of_call(error),
        CallError::Task { fault: TaskError::NoResult { .. }, .. } => ErrorKind::Protocol,
        CallError::Task { .. } => ErrorKind::Server,
        error if error.is_network_error() => ErrorKind::Network,
        _ => ErrorKind::Protocol,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "server `{}`: ", mcpwire_core::printable(self.server()))?;
        match self {
            Error::Spawn { error, .. } => error.fmt(f)?,
            Error::Http { error, .. } => error.fmt(f)?,
            Error::Connect { error, .. } => error.fmt(f)?,
            Error::Send { error, .. } => error.fmt(f)?,
            Error::Call { error, .. } => error.fmt(f)?,
            Error::Io { error, .. } => {
                write!(f, "this side failed: {}", mcpwire_core::printable(&format!("{error}")))?;
            }
        }
        match self.process() {
            Some(process) => process.fmt(f),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ProcessReport {
    /// As the end of an error's sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.exit {
            Some(exit) => write!(f, "; its process {exit}")?,
            None => f.write_str("; its process is still running")?,
        }
        if self.stderr_tail.is_empty() {
            return f.write_str(", and wrote nothing on standard error");
        }
        f.write_str("; its last lines on standard error:")?;
        for line in self.stderr_tail.lines() {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Spawn { error, .. } => Some(error),
            Error::Http { error, .. } => Some(error),
            Error::Connect { error, .. } => Some(error),
            Error::Send { error, .. } => Some(error),
            Error::Call { error, .. } => Some(error),
            Error::Io { error, .. } => Some(error),
        }
    }
}
