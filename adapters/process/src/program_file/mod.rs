//! Finds the file of the program that the definition of a server names, to start it and to explain why a start failed.

use std::path::{Path, PathBuf};

use mcpwire_client::McpServerDef;

#[cfg(not(windows))]
use other as system;
#[cfg(windows)]
use windows as system;

#[cfg(windows)]
pub(crate) use windows::check_script_arguments;

pub(crate) use system::{is_executable, program};

#[cfg(not(windows))]
mod other;
#[cfg(any(windows, test))]
#[cfg_attr(not(windows), expect(dead_code, reason = "other systems only run its tests"))]
mod windows;

/// Returns the file that the command of the definition refers to, even if the file is not executable. Returns `None` if no such
/// file exists.
pub(crate) fn find_program(def: &McpServerDef) -> Option<PathBuf> {
    let command = Path::new(&def.command);
    if command.components().count() > 1 {
        let in_directory = def.cwd.iter().map(|cwd| cwd.join(command));
        return system::first_file(in_directory.chain([command.to_path_buf()]), Path::exists);
    }
    let in_path = system::directories(def).into_iter().map(|directory| directory.join(command));
    system::first_file(in_path, Path::is_file)
}
