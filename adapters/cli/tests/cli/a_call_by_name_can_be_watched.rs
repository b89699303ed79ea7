//! Progress and interrupts of a call to a configured server.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::terminal::Terminal;
use crate::support::{Finished, Mark, command, mcpwire, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const SLOW: [&str; 3] = ["call", "demo__slow", r#"{"seconds":600}"#];

/// A directory in which the demo server is configured.
struct Place {
    mark: Mark,
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place { mark: Mark::new(), directory: tempfile::tempdir().unwrap() };
        let line = ["server", "add", "demo", "--config-dir", place.path(), "--env", place.mark.variable(), "--"];
        let added = mcpwire(&[&line[..], &[env!("CARGO_BIN_EXE_mcpwire"), "demo-server"]].concat());
        assert_eq!(added.code(), 0, "{added:?}");
        place
    }

    fn path(&self) -> &str {
        self.directory.path().to_str().expect("a plain path")
    }

    /// Starts `mcpwire` with these arguments, for this directory.
    fn command(&self, words: &[&str]) -> Command {
        command(&[words, &["--config-dir", self.path()]].concat())
    }

    /// Runs `mcpwire` with these arguments to its end, for this directory.
    fn run(&self, words: &[&str]) -> Finished {
        mcpwire(&[words, &["--config-dir", self.path()]].concat())
    }

    /// Starts a long call at a terminal, interrupts it after the first progress, and checks that it ends with an error message.
    fn interrupt_a_call(&self) {
        let terminal = Terminal::open();
        let mut program = self.command(&SLOW);
        program.stdin(Stdio::null()).stderr(terminal.other_end()).stdout(Stdio::piped());
        let call = program.spawn().expect("it starts");
        drop(program);
        let screen = terminal.screen();
        screen.wait_for("of 600.0 s");
        interrupt(&call);
        let output = call.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b""[..]), "{}", screen.text());
        screen.wait_for("interrupted");
    }

    /// Returns the log of the demo server.
    fn logs(&self) -> String {
        self.run(&["server", "logs", "demo"]).stdout
    }
}

/// Returns whether the demo server has logged that a request was cancelled.
fn says_cancelled(logs: &str) -> bool {
    logs.lines().any(|line| line.contains("mcpwire demo-server: request ") && line.contains(" was cancelled"))
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).expect("it runs");
}

#[test]
fn it_shows_how_far_it_is_and_an_interrupt_cancels_it_in_words() {
    let place = Place::new();
    place.interrupt_a_call();
    let logs = place.logs();
    assert!(says_cancelled(&logs), "the server is told: {logs}");
    place.mark.assert_nothing_left();
}

#[test]
fn of_a_running_hub_as_well_and_its_servers_go_on() {
    let place = Place::new();
    let mut hub = place.command(&["hub", "run"]);
    let mut hub = hub.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(hub.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(told.any(|line| line == "demo: running"), "it starts");

    place.interrupt_a_call();
    wait_for("the server to be told", || says_cancelled(&place.logs()).then_some(()));
    let called = place.run(&["call", "demo__add", r#"{"a":2,"b":40}"#]);
    assert_eq!((called.code(), called.stdout.as_str()), (0, "42\n"), "{called:?}");
    interrupt(&hub);
    assert!(hub.wait().unwrap().success());
    place.mark.assert_nothing_left();
}

#[test]
fn progress_does_not_put_off_how_long_somebody_wants_to_wait() {
    let place = Place::new();
    let called = place.run(&[&SLOW[..], &["--timeout", "2s"]].concat());
    assert_eq!(called.code(), 5, "{called:?}");
    place.mark.assert_nothing_left();
}
