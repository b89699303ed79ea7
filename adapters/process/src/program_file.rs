//! Finds the file of the program that the definition of a server names, to start it and to explain why a start failed.

use std::env;
use std::path::{Path, PathBuf};

use mcpwire_client::McpServerDef;

#[cfg(all(unix, feature = "setsid"))]
pub(crate) use native_format::has_native_format;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

#[cfg(not(any(unix, windows)))]
use other as system;

pub(crate) use system::{is_executable, program};

/// Returns the file that the command of the definition refers to, even if the file is not executable. Returns `None` if no such
/// file exists.
pub(crate) fn find_program(def: &McpServerDef) -> Option<PathBuf> {
    let command = Path::new(&def.command);
    if command.components().count() > 1 {
        let existing = |path: PathBuf| system::files(path).find(|file| file.exists());
        let in_directory = def.cwd.as_ref().and_then(|cwd| existing(cwd.join(command)));
        return in_directory.or_else(|| existing(command.to_path_buf()));
    }
    let path = system::path_variable(def).or_else(|| env::var_os("PATH"))?;
    env::split_paths(&path).flat_map(|directory| system::files(directory.join(command))).find(|file| file.is_file())
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsString;
    use std::iter;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};

    use mcpwire_client::McpServerDef;

    /// Returns the program to pass to [`Command`](std::process::Command). On Unix, this is the command itself, and the system
    /// searches `PATH` for it.
    pub(crate) fn program(def: &McpServerDef) -> &str {
        &def.command
    }

    pub(crate) fn is_executable(file: &Path) -> bool {
        file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    }

    /// Returns the files that `path` may refer to. On Unix, this is only `path` itself.
    pub(super) fn files(path: PathBuf) -> impl Iterator<Item = PathBuf> {
        iter::once(path)
    }

    /// Returns the value of `PATH` that the definition sets, or `None` if it sets none.
    pub(super) fn path_variable(def: &McpServerDef) -> Option<OsString> {
        def.env.get("PATH").map(Into::into)
    }
}

/// Finds programs as a shell of Windows does. The system itself finds only `.exe` files, but `npx`, for example, is the script
/// `npx.cmd`.
#[cfg(windows)]
mod windows {
    use std::env;
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use mcpwire_client::McpServerDef;

    /// The file extensions of programs. Used if the environment variable `PATHEXT` is not set.
    const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

    /// Returns the file that the command refers to, as the program to start. If it is a script (`.cmd`, `.bat`), std starts
    /// `cmd.exe`, quotes the arguments, and refuses arguments that `cmd.exe` would change.
    pub(crate) fn program(def: &McpServerDef) -> OsString {
        super::find_program(def).map_or_else(|| def.command.clone().into(), PathBuf::into_os_string)
    }

    pub(crate) fn is_executable(file: &Path) -> bool {
        file.is_file()
    }

    /// Returns the files that `path` may refer to: `path` with each extension of a program. If `path` has an extension, `path`
    /// itself comes first. A file without an extension is not a program on Windows: npm puts a script for other systems beside
    /// `npx.cmd`.
    pub(super) fn files(path: PathBuf) -> impl Iterator<Item = PathBuf> {
        let extensions = env::var("PATHEXT").unwrap_or_else(|_| EXTENSIONS.to_owned());
        let with_extension: Vec<PathBuf> = extensions
            .split(';')
            .filter(|extension| !extension.is_empty())
            .map(|extension| {
                let mut file = path.clone().into_os_string();
                file.push(extension);
                file.into()
            })
            .collect();
        path.extension().is_some().then_some(path).into_iter().chain(with_extension)
    }

    /// Returns the value of `PATH` that the definition sets, or `None` if it sets none. On Windows, the case of variable names
    /// does not matter.
    pub(super) fn path_variable(def: &McpServerDef) -> Option<OsString> {
        def.env.iter().find(|(name, _)| name.eq_ignore_ascii_case("PATH")).map(|(_, value)| value.into())
    }
}

#[cfg(not(any(unix, windows)))]
mod other {
    use std::ffi::OsString;
    use std::iter;
    use std::path::{Path, PathBuf};

    use mcpwire_client::McpServerDef;

    pub(crate) fn program(def: &McpServerDef) -> &str {
        &def.command
    }

    pub(crate) fn is_executable(file: &Path) -> bool {
        file.is_file()
    }

    pub(super) fn files(path: PathBuf) -> impl Iterator<Item = PathBuf> {
        iter::once(path)
    }

    pub(super) fn path_variable(def: &McpServerDef) -> Option<OsString> {
        def.env.get("PATH").map(Into::into)
    }
}

/// Finds out whether the system can execute a file directly, without running a shell for it.
#[cfg(all(unix, feature = "setsid"))]
mod native_format {
    use std::env;
    use std::fs::File;
    use std::io::{self, Read as _};
    use std::ops::Range;
    use std::path::Path;

    /// The length of the header of an ELF file, in bytes. A Mach-O file is at least as long.
    const HEADER: usize = 64;
    /// The position of the processor type in the header of a Mach-O file (Apple systems) or an ELF file.
    const PROCESSOR: Range<usize> = if cfg!(target_vendor = "apple") { 4..8 } else { 18..20 };

    /// The first bytes of a Mach-O file that contains programs for several processors.
    const UNIVERSAL: &[u8] = &[0xca, 0xfe, 0xba, 0xbe];

    /// Returns whether the system can execute the file directly: a script that begins with `#!`, or a program for the processor
    /// of this program.
    pub(crate) fn has_native_format(file: &Path) -> bool {
        // A file that this user cannot read may still be executable, so it counts as native.
        let Ok(program) = header(file) else { return true };
        let own = env::current_exe().and_then(|own| header(&own)).unwrap_or_default();
        let is_native =
            program.len() == HEADER && program.get(..4) == own.get(..4) && program.get(PROCESSOR) == own.get(PROCESSOR);
        program.starts_with(b"#!") || is_native || cfg!(target_vendor = "apple") && program.starts_with(UNIVERSAL)
    }

    fn header(file: &Path) -> io::Result<Vec<u8>> {
        let mut header = Vec::new();
        File::open(file)?.take(HEADER as u64).read_to_end(&mut header)?;
        Ok(header)
    }
}
