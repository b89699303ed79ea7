//! With few descriptors, each command works or says that there are too many open files. It neither panics nor waits.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use crate::support::configured::{MCPWIRE, add_demo};
use crate::support::{Finished, Running};

const SUM: &str = r#"{"a":2,"b":40}"#;

/// The demo server over HTTP.
struct Web {
    server: Child,
    url: String,
}

impl Web {
    fn start() -> Self {
        let mut command = Command::new(MCPWIRE);
        let mut server =
            command.args(["demo-server", "--http", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(server.stdout.take().expect("it is piped")).lines();
        let mut words =
            lines.map_while(Result::ok).flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let url = words.find(|word| word.starts_with("http://")).expect("it says where it listens");
        Web { server, url }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.server.kill().and_then(|()| self.server.wait());
    }
}

/// Starts `mcpwire` with a limit of open files.
fn start(limit: usize, arguments: &[&str]) -> Running {
    let mut command = Command::new("sh");
    command.args(["-c", r#"ulimit -n "$0" && exec "$@""#, &limit.to_string(), MCPWIRE]).args(arguments);
    Running::start_command(command).0
}

/// Asserts that the command did its work, or that its error is that of the limit. Returns whether it did its work.
#[track_caller]
fn assert_clear(limit: usize, finished: &Finished) -> bool {
    assert!(!finished.stderr.contains("panicked"), "{limit}: {finished:?}");
    let is_done = finished.code() == 0 && !finished.stdout.is_empty();
    // Without descriptors, the system cannot even load the program.
    let is_named = finished.stderr.contains("Too many open files") || finished.stderr.contains("Error 24");
    assert!(is_done || is_named && finished.code() != 101, "{limit}: {finished:?}");
    is_done
}

/// Runs the commands with each limit, and asserts that they work with the largest one.
fn with_each_limit(commands: &[&[&str]]) {
    for limit in 3..=40 {
        let running: Vec<Running> = commands.iter().map(|arguments| start(limit, arguments)).collect();
        for running in running {
            let is_done = assert_clear(limit, &running.finish());
            assert!(is_done || limit < 40, "so many are enough");
        }
    }
}

#[test]
fn commands_with_few_descriptors_fail_clearly() {
    let web = Web::start();
    let server = ["--", MCPWIRE, "demo-server"];
    with_each_limit(&[
        &[&["call", "add", SUM], &server[..]].concat(),
        &[&["tools"], &server[..]].concat(),
        &["call", "add", SUM, "--url", &web.url],
    ]);
}

#[test]
fn commands_of_configured_servers_with_few_descriptors_fail_clearly() {
    let place = tempfile::tempdir().expect("a directory");
    add_demo(place.path(), "demo");
    let at = ["--config-dir", place.path().to_str().expect("it is text")];
    with_each_limit(&[
        &[&["call", "demo__add", SUM], &at[..]].concat(),
        &[&["tools"], &at[..]].concat(),
        &[&["status"], &at[..]].concat(),
    ]);
}

#[test]
fn a_hub_with_few_descriptors_runs_or_fails_clearly() {
    let place = tempfile::tempdir().expect("a directory");
    add_demo(place.path(), "demo");
    let mut has_listened = false;
    for limit in 3..=40 {
        has_listened = hub_has_listened(limit, place.path());
    }
    assert!(has_listened, "so many are enough");
}

/// Runs a hub until it listens, and ends it. Returns whether it has listened.
fn hub_has_listened(limit: usize, place: &Path) -> bool {
    let hub = start(limit, &["hub", "run", "--config-dir", place.to_str().expect("it is text")]);
    let has_listened = hub.wait_for_stderr_or_end("listening at ");
    if has_listened {
        hub.signal(Signal::INT);
    }
    let ended = hub.finish();
    assert!(!ended.stderr.contains("panicked") && ended.status.code() != Some(101), "{limit}: {ended:?}");
    let is_named = ended.stderr.contains("Too many open files") || ended.stderr.contains("Error 24");
    assert!(has_listened || is_named, "{limit}: {ended:?}");
    has_listened
}
