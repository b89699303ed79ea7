//! Starts the process of a server, and finds out why a start failed.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::isolation::isolate;
use mcpwire_client::{EnvPolicy, McpServerDef, SpawnError, SpawnErrorKind, inherited_env_names};

pub(crate) fn spawn(def: &McpServerDef) -> Result<Child, SpawnError> {
    let fail = |kind, error: io::Error| SpawnError::new(def, kind, error);
    if def.command.is_empty() {
        let empty = io::Error::new(io::ErrorKind::InvalidInput, "the command is empty");
        return Err(fail(SpawnErrorKind::Invalid, empty));
    }
    let mut command = command(def);
    let spawned = isolate(&mut command, def).and_then(|()| command.spawn());
    spawned.map_err(|error| fail(spawn_error_kind(def, &error), error))
}

fn command(def: &McpServerDef) -> Command {
    let mut command = Command::new(&def.command);
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
        io::ErrorKind::IsADirectory => SpawnErrorKind::NotExecutable,
        // The system does not know the format of the file.
        #[cfg(unix)]
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => SpawnErrorKind::NotExecutable,
        _ => SpawnErrorKind::Other,
    }
}

/// Returns the file that the command refers to, even if it is not executable.
pub(crate) fn find_program(def: &McpServerDef) -> Option<PathBuf> {
    let command = Path::new(&def.command);
    if command.components().count() > 1 {
        let file = def.cwd.as_ref().map(|cwd| cwd.join(command)).filter(|file| file.exists());
        return file.or_else(|| command.exists().then(|| command.to_path_buf()));
    }
    let path = def.env.get("PATH").map(Into::into).or_else(|| env::var_os("PATH"))?;
    env::split_paths(&path).map(|directory| directory.join(command)).find(|file| file.is_file())
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}
