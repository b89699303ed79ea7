//! What a process does to itself on Windows, as far as it goes there.

use std::fs::File;
use std::io::{self, BufRead as _};
use std::os::windows::io::AsHandle as _;
use std::process;

use filedescriptor::{FileDescriptor, StdioDescriptor};

use crate::Arguments;

/// Returns a second handle of standard output.
pub(crate) fn output() -> File {
    let output = io::stdout().as_handle().try_clone_to_owned().expect("standard output is open");
    File::from(output)
}

pub(crate) fn kill_this_process() {
    process::abort();
}

/// There is no such signal.
pub(crate) fn ignore_term(_: &Arguments) {}

/// There are no sessions.
pub(crate) fn leave_session() {}

/// Waits until there is something to read on standard input.
pub(crate) fn wait_for_input() {
    let _ = io::stdin().lock().fill_buf();
}

pub(crate) fn close_input() {
    replace(StdioDescriptor::Stdin);
}

/// Returns where output goes from now on.
pub(crate) fn close_output() -> File {
    replace(StdioDescriptor::Stdout)
}

/// Closes a standard stream, and puts the device that is always empty in its place. Returns that device.
fn replace(stream: StdioDescriptor) -> File {
    let nothing = File::options().read(true).write(true).open("NUL").expect("NUL opens");
    drop(FileDescriptor::redirect_stdio(&nothing, stream).expect("a standard stream can be replaced"));
    nothing
}
