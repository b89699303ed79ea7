//! [`isolate`]: separates a server from the process group of this program, and with the feature `setsid` from its terminal.

#[cfg(feature = "setsid")]
pub(crate) use session::isolate;

/// Makes the command start in a new process group, so that signals from the terminal of this program do not reach the server.
#[cfg(not(feature = "setsid"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature is the same as with the feature `setsid`")]
pub(crate) fn isolate(command: &mut std::process::Command, _def: &mcpwire_client::McpServerDef) -> std::io::Result<()> {
    std::os::unix::process::CommandExt::process_group(command, 0);
    Ok(())
}

/// Starts each server in a new session, which has no controlling terminal.
#[cfg(feature = "setsid")]
mod session {
    use std::io;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use mcpwire_client::McpServerDef;
    use process_wrap::std::{CommandWrap, CommandWrapper as _, ProcessSession};

    use super::native_format::has_native_format;
    use crate::program_file::find_program;

    /// Makes the command start in a new session. The server leads the only process group of that session.
    ///
    /// A program in a format that the system cannot execute, such as one for another processor, gets only a new process group.
    /// For a new session, std uses `execvp`, which would run such a file as a shell script.
    pub(crate) fn isolate(command: &mut Command, def: &McpServerDef) -> io::Result<()> {
        if find_program(def).is_some_and(|program| program.is_file() && !has_native_format(&program)) {
            command.process_group(0);
            return Ok(());
        }
        // `CommandWrap` could start the command itself. But its child process cannot be converted to a `Child` of std without
        // unsafe code. `ProcessSession` does not use its second argument.
        ProcessSession.pre_spawn(command, &CommandWrap::from(Command::new("")))
    }
}

/// Finds out whether the system can execute a file directly, without running a shell for it.
#[cfg(feature = "setsid")]
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
