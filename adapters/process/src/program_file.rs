//! The file of the program that a definition names.

use std::env;
use std::path::{Path, PathBuf};

use mcpwire_client::McpServerDef;

#[cfg(all(unix, feature = "setsid"))]
pub(crate) use native_format::has_native_format;

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
pub(crate) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// Finds out whether the system can execute a file without a shell.
#[cfg(all(unix, feature = "setsid"))]
mod native_format {
    use std::env;
    use std::fs::File;
    use std::io::{self, Read as _};
    use std::ops::Range;
    use std::path::Path;

    /// The length of the header of an ELF file, and the position of the processor type. A Mach-O file is longer than that too.
    const HEADER: usize = 64;
    const PROCESSOR: Range<usize> = if cfg!(target_vendor = "apple") { 4..8 } else { 18..20 };

    /// The first bytes of a Mach-O file with programs for several processors.
    const UNIVERSAL: &[u8] = &[0xca, 0xfe, 0xba, 0xbe];

    /// Returns whether the file is a script with an interpreter, or a program for the processor of this program.
    pub(crate) fn has_native_format(file: &Path) -> bool {
        // The system executes some files that this user cannot read.
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
