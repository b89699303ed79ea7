//! The process group or session in which a server is started.

use std::io;
use std::process::Command;

/// Makes the command start in a new session, of which it leads the only process group.
#[cfg(all(unix, feature = "setsid"))]
pub(crate) fn isolate(command: &mut Command) -> io::Result<()> {
    use process_wrap::std::{CommandWrap, CommandWrapper as _, ProcessSession};

    // `ProcessSession` is meant for commands that `CommandWrap` starts, whose child cannot be converted to one of std. It does not use
    // its second argument.
    ProcessSession.pre_spawn(command, &CommandWrap::from(Command::new("")))
}

/// Makes the command start in a new process group, on systems that have process groups.
#[cfg(not(all(unix, feature = "setsid")))]
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no process groups"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature is the same as with the feature `setsid`")]
pub(crate) fn isolate(command: &mut Command) -> io::Result<()> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    Ok(())
}
