//! [`Process`]: a real process that uses the stored login, and stops at the places that a test names.

use std::env;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::worker;

/// A process that runs [`worker::run`] with this program's file. It is killed when this value is dropped.
pub(crate) struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStderr>>,
}

impl Process {
    /// Starts a process. `plan` says where it stops, ends or fails.
    pub(crate) fn start(url: &str, directory: &Path, plan: &str) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "worker::process", "--nocapture"])
            .envs([(worker::URL, url), (worker::PLAN, plan)])
            .env(worker::DIRECTORY, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stderr.take().unwrap());
        Process { child, input, output: BufReader::new(output).lines() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the next line that the process prints, or `None` after its end.
    fn line(&mut self) -> Option<String> {
        self.output.next()?.ok()
    }

    /// Waits until the process says `word`.
    pub(crate) fn expect(&mut self, word: &str) {
        assert_eq!(self.line().as_deref(), Some(word));
    }

    /// Lets the process go on from the place where it waits.
    pub(crate) fn go_on(&mut self) {
        // A process that was killed does not read.
        let _ = self.input.as_mut().unwrap().write_all(b"\n");
    }

    /// Waits for the outcome of the process: "ok", an error, or "killed".
    pub(crate) fn outcome(mut self) -> String {
        let line = self.line();
        // A process that waits once more goes on.
        self.input = None;
        let status = self.child.wait().unwrap();
        line.unwrap_or_else(|| if status.success() { "nothing".into() } else { "killed".into() })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Kills a process as `kill -9` does.
pub(crate) fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}
