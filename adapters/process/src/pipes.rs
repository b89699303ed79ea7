//! [`Pipes`]: the three standard streams of a server process, as pipes.

#[cfg(unix)]
use std::fs::File;
#[cfg(unix)]
use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};

/// The three standard streams of a server process, as pipes. An adapter converts them to streams of its runtime.
#[derive(Debug)]
pub struct Pipes {
    /// The standard input of the server: the client writes its messages to this pipe.
    pub stdin: ChildStdin,
    /// The standard output of the server: the client reads messages from this pipe.
    pub stdout: ChildStdout,
    /// The standard error of the server, which contains log text.
    pub stderr: ChildStderr,
}

impl Pipes {
    /// Takes the three pipes out of a child process. All three streams must have been set to pipes before its start.
    pub(crate) fn of(child: &mut Child) -> Self {
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Pipes { stdin, stdout, stderr },
            _ => unreachable!("the standard streams are pipes"),
        }
    }
}

#[cfg(unix)]
impl Pipes {
    /// Converts the pipes to non-blocking files, in the order standard input, output and error.
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
