//! [`SpawnError`]: why the process of a server could not be started.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a server could not be started.
#[derive(Debug)]
pub struct SpawnError {
    /// The command.
    pub command: String,
    /// The working directory that it was to have, if not that of this process.
    pub cwd: Option<PathBuf>,
    /// What is wrong with it.
    pub kind: SpawnErrorKind,
    /// What the system says.
    pub source: io::Error,
}

/// What can be wrong with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnErrorKind {
    /// There is no such program.
    NotFound,
    /// The program is there, but what it wants to be run by is not (the first line of a script, or a loader).
    InterpreterNotFound,
    /// The working directory is not there, or is none.
    DirectoryNotFound,
    /// The file is there and is not a program: it lacks the permission to be run, is a directory, or has an unknown format.
    NotExecutable,
    /// This user may not run it.
    NotPermitted,
    /// The definition holds something that no system takes: an empty command, or a NUL character.
    Invalid,
    /// Anything else, such as too many open files.
    Other,
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = mcpwire_core::printable(&self.command);
        match self.kind {
            SpawnErrorKind::NotFound => {
                write!(f, "command not found: `{command}`. Is it installed, and in a directory of PATH?")
            }
            SpawnErrorKind::InterpreterNotFound => {
                write!(f, "`{command}` is there, but the interpreter that its first line names is not")
            }
            SpawnErrorKind::DirectoryNotFound => {
                let cwd = self.cwd.as_deref().unwrap_or(Path::new("."));
                write!(f, "the working directory for `{command}` does not exist: {}", cwd.display())
            }
            SpawnErrorKind::NotExecutable => write!(f, "`{command}` is not executable: {}", self.source),
            SpawnErrorKind::NotPermitted => write!(f, "not permitted to run `{command}`: {}", self.source),
            SpawnErrorKind::Invalid => write!(f, "`{command}` cannot be run: {}", self.source),
            SpawnErrorKind::Other => write!(f, "`{command}` could not be started: {}", self.source),
        }
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
