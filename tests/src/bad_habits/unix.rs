//! What a process does to itself on Unix.

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{env, io, process};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, getpid, kill_process};

use crate::{Arguments, sleep_for_ever};

const TERM_IS_IGNORED: &str = "BAD_HABITS_TERM_IS_IGNORED";

/// Returns a second handle of standard output.
pub(crate) fn output() -> File {
    let output = io::stdout().as_fd().try_clone_to_owned().expect("standard output is open");
    File::from(output)
}

pub(crate) fn kill_this_process() {
    kill_process(getpid(), Signal::KILL).expect("a process may signal itself");
    sleep_for_ever();
}

/// A signal that is ignored stays so in the programs that the process becomes: the shell ignores it and becomes this
/// program once more, which finds the variable and begins to serve.
pub(crate) fn ignore_term(arguments: &Arguments) {
    if env::var_os(TERM_IS_IGNORED).is_none() {
        let failure = Command::new("/bin/sh")
            .args(["-c", r#"trap "" TERM; exec "$0" "$@""#])
            .arg(env::current_exe().expect("the program has a path"))
            .args(["ignores-term"])
            .args(arguments.modern.then_some("--modern"))
            .args(&arguments.mark)
            .env(TERM_IS_IGNORED, "1")
            .exec();
        eprintln!("bad-habits: {failure}");
        process::exit(1);
    }
}

pub(crate) fn leave_session() {
    rustix::process::setsid().expect("it leads no group");
}

/// Waits until there is something to read on standard input, and does not read it.
pub(crate) fn wait_for_input() {
    let stdin = io::stdin();
    poll(&mut [PollFd::new(&stdin, PollFlags::IN)], None).expect("standard input is open");
}

pub(crate) fn close_input() {
    let nothing = File::open("/dev/null").expect("/dev/null opens");
    rustix::stdio::dup2_stdin(&nothing).expect("standard input can be replaced");
}

/// Returns where output goes from now on.
pub(crate) fn close_output() -> File {
    let nowhere = OpenOptions::new().write(true).open("/dev/null").expect("/dev/null opens");
    rustix::stdio::dup2_stdout(&nowhere).expect("standard output can be replaced");
    nowhere
}
