//! [`SpawnError`]: the error of a server's process that could not be started.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpwire_core::printable;

/// The error of a server's process that could not be started.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", message(self))]
pub struct SpawnError {
    /// The command of the server.
    pub command: String,
    /// Working directory in the definition. `None` means the working directory of this process.
    pub cwd: Option<PathBuf>,
    /// Why the process could not be started.
    pub kind: SpawnErrorKind,
    /// The error of the operating system.
    pub error: Arc<io::Error>,
}

/// The reason why a process could not be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnErrorKind {
    /// The program does not exist.
    NotFound,
    /// The program exists, but not its interpreter: the program in the first line of a script, or the dynamic loader.
    InterpreterNotFound,
    /// The working directory does not exist, or is not a directory.
    DirectoryNotFound,
    /// The file is not executable: it lacks the permission, is a directory, or has an unknown format.
    NotExecutable,
    /// The user is not permitted to run the program.
    NotPermitted,
    /// The command is empty, or the definition contains a NUL character.
    Invalid,
    /// Any other reason, such as too many open files.
    Other,
}

fn message(SpawnError { command, cwd, kind, error }: &SpawnError) -> String {
    let command = printable(command);
    match kind {
        SpawnErrorKind::NotFound => {
            format!("command not found: `{command}`. Is it installed, and in a directory of PATH?")
        }
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
