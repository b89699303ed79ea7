//! [`Pipes`]: the standard streams of a process.

#[cfg(unix)]
use std::fs::File;
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};

/// The standard streams of a process. An adapter converts them to streams of its runtime.
#[derive(Debug)]
pub struct Pipes {
    /// Standard input of the server.
    pub stdin: ChildStdin,
    /// Standard output of the server.
    pub stdout: ChildStdout,
    /// Standard error of the server.
    pub stderr: ChildStderr,
}

impl Pipes {
    /// Takes the streams of a child that was started with three pipes.
    pub(crate) fn of(child: &mut Child) -> Self {
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Pipes { stdin, stdout, stderr },
            _ => unreachable!("the standard streams are pipes"),
        }
    }
}

#[cfg(unix)]
impl Pipes {
    /// Converts the pipes to non-blocking files: standard input, output and error.
    ///
    /// # Errors
    /// If the system cannot make a pipe non-blocking.
    pub fn into_files(self) -> io::Result<[File; 3]> {
        let files = [OwnedFd::from(self.stdin), self.stdout.into(), self.stderr.into()].map(File::from);
        for file in &files {
            rustix::io::ioctl_fionbio(file, true)?;
        }
        Ok(files)
    }
}
