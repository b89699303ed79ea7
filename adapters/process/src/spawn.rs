//! Starts the process of a server. If the start fails, finds out why.

use std::env;
use std::io;
use std::process::{Command, Stdio};

use crate::local::LocalProcess;
use crate::pipes::Pipes;
use crate::program_file::{find_program, is_executable, program};
use mcpwire_client::{EnvPolicy, McpServerDef, SpawnError, SpawnErrorKind, inherited_env_names};

pub(crate) fn spawn(def: &McpServerDef) -> Result<(LocalProcess, Pipes), SpawnError> {
    let fail = |kind, error: io::Error| SpawnError::new(def, kind, error);
    if def.command.is_empty() {
        let empty = io::Error::new(io::ErrorKind::InvalidInput, "the command is empty");
        return Err(fail(SpawnErrorKind::Invalid, empty));
    }
    LocalProcess::start(command(def), def).map_err(|error| fail(spawn_error_kind(def, &error), error))
}

fn command(def: &McpServerDef) -> Command {
    let mut command = Command::new(program(def));
    command.args(&def.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if def.env_policy != EnvPolicy::Inherit {
        command.env_clear();
    }
    let allowed = if def.env_policy == EnvPolicy::AllowList { inherited_env_names() } else { &[] };
    for name in allowed.iter().copied().chain(def.inherit_env.iter().map(String::as_str)) {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs(&def.env);
    if let Some(cwd) = &def.cwd {
        command.current_dir(cwd);
    }
    command
}

fn spawn_error_kind(def: &McpServerDef, error: &io::Error) -> SpawnErrorKind {
    if def.cwd.as_ref().is_some_and(|cwd| !cwd.is_dir()) {
        return SpawnErrorKind::DirectoryNotFound;
    }
    match error.kind() {
        io::ErrorKind::NotFound if find_program(def).is_some() => SpawnErrorKind::InterpreterNotFound,
        io::ErrorKind::NotFound => SpawnErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => match find_program(def) {
            Some(file) if !is_executable(&file) => SpawnErrorKind::NotExecutable,
            _ => SpawnErrorKind::NotPermitted,
        },
        io::ErrorKind::InvalidInput => SpawnErrorKind::Invalid,
        io::ErrorKind::IsADirectory | io::ErrorKind::Unsupported => SpawnErrorKind::NotExecutable,
        // The system does not recognize the format of the file as a program.
        #[cfg(unix)]
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => SpawnErrorKind::NotExecutable,
        _ => SpawnErrorKind::Other,
    }
}

/// Checks that this process can open `count` more file descriptors now, for example for files and sockets.
///
/// Call this before code that panics if it gets no descriptor, such as the first use of an async runtime. Other threads may use
/// up the descriptors between this check and that code.
///
/// # Errors
/// If the limit of open files is reached. The message says what to do.
pub fn check_descriptors(count: usize) -> io::Result<()> {
    // A pipe takes two descriptors.
    let opened: io::Result<Vec<_>> = (0..count.div_ceil(2)).map(|_| io::pipe()).collect();
    // Creating a pipe fails only if no descriptors are left.
    opened.map(drop).map_err(|error| {
        io::Error::new(error.kind(), format!("{error}. Close files, or raise the limit of open files"))
    })
}
