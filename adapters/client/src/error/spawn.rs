//! [`SpawnError`]: says why the process of a server could not be started.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpwire_core::printable;

use crate::McpServerDef;

/// An error that says why the process of a server could not be started.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", message(self))]
pub struct SpawnError {
    command: String,
    cwd: Option<PathBuf>,
    kind: SpawnErrorKind,
    error: Arc<io::Error>,
}

impl SpawnError {
    /// Creates the error of a server whose process could not be started. `error` is the error of the system or of the launcher.
    pub fn new(def: &McpServerDef, kind: SpawnErrorKind, error: impl Into<Arc<io::Error>>) -> Self {
        SpawnError { command: def.command.clone(), cwd: def.cwd.clone(), kind, error: error.into() }
    }

    /// Returns the command that could not be started, without its arguments.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Returns the working directory that the server's definition sets, or `None` if it sets none. The server then uses the
    /// working directory of this process.
    pub fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// Returns the reason why the process could not be started, for programs that act on it.
    pub fn kind(&self) -> SpawnErrorKind {
        self.kind
    }

    /// Returns the error of the operating system, or of the program's launcher.
    pub fn io_error(&self) -> &io::Error {
        &self.error
    }
}

/// The reason why a process could not be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnErrorKind {
    /// The program does not exist.
    NotFound,
    /// The program exists, but its interpreter does not. The first line of a script names the interpreter; for a binary, it is
    /// the dynamic loader.
    InterpreterNotFound,
    /// The working directory does not exist, or is not a directory.
    DirectoryNotFound,
    /// The file is not executable: it lacks the executable permission, is a directory, or has an unknown format.
    NotExecutable,
    /// The user is not permitted to run the program.
    NotPermitted,
    /// The command is empty, or the definition contains a NUL character.
    Invalid,
    /// Any other reason, such as too many open files.
    Other,
}

fn message(SpawnError { command, cwd, kind, error }: &SpawnError) -> String {
    let is_path = command.contains(['/', '\\']);
    let missing = if is_path { " does not exist" } else { ". Is it installed, and in a directory of PATH?" };
    let command = printable(command);
    match kind {
        SpawnErrorKind::NotFound => format!("command not found: `{command}`{missing}"),
        SpawnErrorKind::InterpreterNotFound => {
            format!("`{command}` exists, but not the interpreter that its first line names. Is that installed?")
        }
        SpawnErrorKind::DirectoryNotFound => {
            let cwd = cwd.as_deref().unwrap_or(Path::new("."));
            format!("the working directory for `{command}` does not exist: {}", cwd.display())
        }
        SpawnErrorKind::NotExecutable => format!("`{command}` is not executable: {error}"),
        SpawnErrorKind::NotPermitted => format!("not permitted to run `{command}`: {error}"),
        SpawnErrorKind::Invalid => format!("`{command}` cannot be run: {error}"),
        SpawnErrorKind::Other => format!("`{command}` could not be started: {error}"),
    }
}
