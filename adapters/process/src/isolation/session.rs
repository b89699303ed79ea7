//! Starts servers in a session of their own, without a terminal.

use std::env;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use mcpwire_client::McpServerDef;
use process_wrap::std::{CommandWrap, CommandWrapper as _, ProcessSession};

use crate::spawn::find_program;

/// The length of the header of an ELF file, and the position of the processor type. A Mach-O file is longer than that too.
const HEADER: usize = 64;
const PROCESSOR: Range<usize> = if cfg!(target_vendor = "apple") { 4..8 } else { 18..20 };

/// The first bytes of a Mach-O file with programs for several processors.
const UNIVERSAL: &[u8] = &[0xca, 0xfe, 0xba, 0xbe];

/// Makes the command start in a new session, of which it leads the only process group.
///
/// A program of a foreign format gets only a new process group. For a new session, std uses `execvp`, which runs a shell for a file
/// that the system cannot execute.
pub(crate) fn isolate(command: &mut Command, def: &McpServerDef) -> io::Result<()> {
    if find_program(def).is_some_and(|program| program.is_file() && !has_native_format(&program)) {
        command.process_group(0);
        return Ok(());
    }
    // `CommandWrap` could start the command itself, but its child cannot be converted to one of std without unsafe code.
    // `ProcessSession` does not use its second argument.
    ProcessSession.pre_spawn(command, &CommandWrap::from(Command::new("")))
}

/// Returns whether the file is a script with an interpreter, or a program for the processor of this program.
fn has_native_format(file: &Path) -> bool {
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
