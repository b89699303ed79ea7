//! Starting a server: the environment it gets, and why it could not be started.

use std::env;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::definition::{EnvPolicy, McpServerDef, inherited_names};

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

pub(crate) fn spawn(def: &McpServerDef) -> Result<Child, SpawnError> {
    let fail = |kind, source| SpawnError { command: def.command.clone(), cwd: def.cwd.clone(), kind, source };
    if def.command.is_empty() {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "the command is empty");
        return Err(fail(SpawnErrorKind::Invalid, source));
    }
    command(def).spawn().map_err(|error| fail(kind_of(def, &error), error))
}

fn command(def: &McpServerDef) -> Command {
    let mut command = Command::new(&def.command);
    command.args(&def.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if def.env_policy != EnvPolicy::Inherit {
        command.env_clear();
    }
    let allowed = match def.env_policy {
        EnvPolicy::AllowList => inherited_names(),
        EnvPolicy::Inherit | EnvPolicy::Clear => &[],
    };
    for name in allowed.iter().copied().chain(def.inherit_env.iter().map(String::as_str)) {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs(&def.env);
    if let Some(cwd) = &def.cwd {
        command.current_dir(cwd);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

fn kind_of(def: &McpServerDef, error: &io::Error) -> SpawnErrorKind {
    if def.cwd.as_ref().is_some_and(|cwd| !cwd.is_dir()) {
        return SpawnErrorKind::DirectoryNotFound;
    }
    match error.kind() {
        io::ErrorKind::NotFound if find(def).is_some() => SpawnErrorKind::InterpreterNotFound,
        io::ErrorKind::NotFound => SpawnErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => match find(def) {
            Some(file) if !may_be_run(&file) => SpawnErrorKind::NotExecutable,
            _ => SpawnErrorKind::NotPermitted,
        },
        io::ErrorKind::InvalidInput => SpawnErrorKind::Invalid,
        io::ErrorKind::IsADirectory => SpawnErrorKind::NotExecutable,
        // The file has a format that the system does not know.
        #[cfg(unix)]
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => SpawnErrorKind::NotExecutable,
        _ => SpawnErrorKind::Other,
    }
}

/// The file that the command stands for, whether or not it can be run.
fn find(def: &McpServerDef) -> Option<PathBuf> {
    let command = Path::new(&def.command);
    if command.components().count() > 1 {
        let file = def.cwd.as_ref().map(|cwd| cwd.join(command)).filter(|file| file.exists());
        return file.or_else(|| command.exists().then(|| command.to_path_buf()));
    }
    let path = def.env.get("PATH").map(Into::into).or_else(|| env::var_os("PATH"))?;
    env::split_paths(&path).map(|directory| directory.join(command)).find(|file| file.is_file())
}

#[cfg(unix)]
fn may_be_run(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn may_be_run(file: &Path) -> bool {
    file.is_file()
}
