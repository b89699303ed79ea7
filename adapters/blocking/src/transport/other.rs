//! The transport to a child process on systems other than Unix, whose pipes cannot be polled.

use std::io;

use mcpwire_process::{EndOfStream, Pipes, Process};

use super::{Threads, Transport};

/// Starts the transport to a child process.
pub(crate) fn start(pipes: Pipes, _: &Process) -> io::Result<Box<dyn Transport>> {
    let stderr = Some(Box::new(pipes.stderr) as _);
    Ok(Box::new(Threads::start(pipes.stdout, pipes.stdin, stderr, EndOfStream::of_process())?))
}
