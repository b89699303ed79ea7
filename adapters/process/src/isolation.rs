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

    use crate::program_file::{find_program, has_native_format};

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
