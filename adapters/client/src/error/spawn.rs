//! [`SpawnError`]: why the process of a server could not be started.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpwire_core::printable;

/// The error for a server whose process could not be started.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", message(self))]
pub struct SpawnError {
    /// The command of the server.
    pub command: String,
    /// The working directory that the process was to have. `None` means that of this process.
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
    /// The program exists, but not the interpreter that it needs: the one that the first line of a script names, or a loader.
    InterpreterNotFound,
    /// The working directory does not exist, or is not a directory.
    DirectoryNotFound,
    /// The file exists and is not a program: it lacks the permission, is a directory, or has an unknown format.
    NotExecutable,
    /// This user may not run the program.
    NotPermitted,
    /// The definition has an empty command, or contains a NUL character.
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
