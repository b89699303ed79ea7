//! Starts servers in a process group of their own.

use std::io;
use std::process::Command;

use mcpwire_client::McpServerDef;

/// Makes the command start in a new process group, on systems that have process groups.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no process groups"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature is the same as with the feature `setsid`")]
pub(crate) fn isolate(command: &mut Command, _def: &McpServerDef) -> io::Result<()> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    Ok(())
}
