//! A call of a configured server's tool: how far it is, and what an interrupt does to it.
#![cfg(target_os = "linux")]

mod support;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use support::terminal::{Screen, Terminal};
use support::{Mark, command, mcpwire, wait_for};

const SLOW: [&str; 3] = ["call", "demo__slow", r#"{"seconds":600}"#];

/// The demo server, configured below this directory.
fn configured(place: &Path, mark: &Mark) {
    let place = place.to_str().expect("a plain path");
    let line = ["server", "add", "demo", "--config-dir", place, "--env", mark.variable(), "--"];
    let added = mcpwire(&[&line[..], &[env!("CARGO_BIN_EXE_mcpwire"), "demo-server"]].concat());
    assert_eq!(added.code(), 0, "{added:?}");
}

/// A call that takes long, of somebody who sits at a terminal.
fn watched(place: &Path) -> (Child, Screen) {
    let terminal = Terminal::open();
    let mut program = command(&[&SLOW[..], &["--config-dir", place.to_str().expect("a plain path")]].concat());
    program.stdin(Stdio::null()).stderr(terminal.other_end()).stdout(Stdio::piped());
    let child = program.spawn().expect("it starts");
    drop(program);
    (child, terminal.screen())
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).expect("it runs");
}

/// What the demo server says of it. The request's id is in the middle.
fn says_cancelled(line: &str) -> bool {
    line.contains("mcpwire demo-server: request ") && line.contains(" was cancelled")
}

#[test]
fn it_shows_how_far_it_is_and_an_interrupt_cancels_it_in_words() {
    let (place, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    configured(place.path(), &mark);
    let (call, screen) = watched(place.path());
    screen.wait_for("of 600.0 s");
    interrupt(&call);
    let output = call.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b""[..]), "{}", screen.text());
    screen.wait_for("interrupted");
    let logs = mcpwire(&["server", "logs", "demo", "--config-dir", place.path().to_str().unwrap()]);
    assert!(logs.stdout.lines().any(says_cancelled), "the server is told: {logs:?}");
    mark.assert_nothing_left();
}

#[test]
fn of_a_running_hub_as_well_and_its_servers_go_on() {
    let (place, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    configured(place.path(), &mark);
    let directory = place.path().to_str().unwrap();
    let mut hub = command(&["hub", "run", "--config-dir", directory]);
    let mut hub = hub.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(hub.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(told.any(|line| line == "demo: running"), "it starts");

    let (call, screen) = watched(place.path());
    screen.wait_for("of 600.0 s");
    interrupt(&call);
    let output = call.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b""[..]), "{}", screen.text());
    screen.wait_for("interrupted");
    wait_for("the server to be told", || {
        let logs = mcpwire(&["server", "logs", "demo", "--config-dir", directory]);
        logs.stdout.lines().any(says_cancelled).then_some(())
    });
    let called = mcpwire(&["call", "demo__add", r#"{"a":2,"b":40}"#, "--config-dir", directory]);
    assert_eq!((called.code(), called.stdout.as_str()), (0, "42\n"), "{called:?}");
    interrupt(&hub);
    assert!(hub.wait().unwrap().success());
    mark.assert_nothing_left();
}

#[test]
fn progress_does_not_put_off_how_long_somebody_wants_to_wait() {
    let (place, mark) = (tempfile::tempdir().unwrap(), Mark::new());
    configured(place.path(), &mark);
    let options = ["--timeout", "2s", "--config-dir", place.path().to_str().unwrap()];
    let called = mcpwire(&[&SLOW[..], &options].concat());
    assert_eq!(called.code(), 5, "{called:?}");
    mark.assert_nothing_left();
}
