//! Systems on which a program has the name of its file: all but Windows.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mcpwire_client::McpServerDef;

/// Returns the program to pass to [`Command`](std::process::Command): the command itself, because the system searches `PATH` for
/// it.
pub(crate) fn program(def: &McpServerDef) -> &str {
    &def.command
}

#[cfg(unix)]
pub(crate) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// Returns the directories of `PATH`, as the definition sets it, or else of this program.
pub(super) fn directories(def: &McpServerDef) -> Vec<PathBuf> {
    let path = def.env.get("PATH").map(OsString::from).or_else(|| env::var_os("PATH"));
    path.map(|path| env::split_paths(&path).collect()).unwrap_or_default()
}

/// Returns the first of `paths` that exists.
pub(super) fn first_file(mut paths: impl Iterator<Item = PathBuf>, exists: fn(&Path) -> bool) -> Option<PathBuf> {
    paths.find(|path| exists(path))
}
