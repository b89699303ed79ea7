//! Servers cannot use the terminal of the tool, and end when the keys of the terminal end the tool.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::configured::{MCPWIRE, at};
use crate::support::terminal::Terminal;
use crate::support::{Mark, wait_for};

/// Starts the tool with this terminal as its controlling terminal.
fn in_terminal(terminal: &Terminal, words: &[&str]) -> Child {
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait", MCPWIRE]).args(words);
    command.stdin(terminal.other_end()).stdout(terminal.other_end()).stderr(terminal.other_end());
    command.spawn().expect("it starts")
}

/// Returns a script that writes to `file` whether it can write to the terminal, and then runs the demo server.
fn writes_to_the_terminal(file: &str) -> String {
    format!(
        "if (echo hello >/dev/tty) 2>/dev/null; then echo yes; else echo no; fi >{file}; exec {MCPWIRE} demo-server"
    )
}

#[test]
fn a_server_cannot_open_the_terminal() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("wrote");
    let script = writes_to_the_terminal(file.to_str().unwrap());
    let terminal = Terminal::open();
    // The terminal can be opened by programs that are not servers.
    let probe = format!("(echo hello >/dev/tty) 2>/dev/null && echo yes >{}", file.display());
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait", "sh", "-c", &probe]).stdin(terminal.other_end());
    assert!(command.status().unwrap().success());
    assert_eq!(fs::read_to_string(&file).unwrap(), "yes\n");

    let mut tool = in_terminal(&terminal, &["ping", "--", "sh", "-c", &script]);
    let screen = terminal.screen();
    assert!(tool.wait().unwrap().success(), "{}", screen.text());
    assert_eq!(fs::read_to_string(&file).unwrap(), "no\n");

    fs::remove_file(&file).unwrap();
    let added = at(place.path(), &["server", "add", "demo", "--", "sh", "-c", &script]);
    assert_eq!(added.code(), 0, "{added:?}");
    let terminal = Terminal::open();
    let directory = place.path().to_str().unwrap();
    let mut tool =
        in_terminal(&terminal, &["call", "echo", r#"{"message":"a"}"#, "--server", "demo", "--config-dir", directory]);
    let screen = terminal.screen();
    assert!(tool.wait().unwrap().success(), "{}", screen.text());
    assert_eq!(fs::read_to_string(&file).unwrap(), "no\n");
}

/// A server that ends only with its input.
const POLITE: &str = "trap '' TERM INT QUIT HUP; cat >/dev/null; exit";

/// A server that nothing ends but a kill.
const STUBBORN: &str = "trap '' TERM INT QUIT HUP; cat >/dev/null; while :; do sleep 1; done";

#[test]
fn the_keys_and_the_end_of_the_terminal_end_the_server_with_the_tool() {
    // Ctrl-C, Ctrl-\, and none: the terminal is closed.
    for (keys, server) in [(b"\x03".as_slice(), POLITE), (b"\x1c", STUBBORN), (b"", POLITE)] {
        let mark = Mark::new();
        let mut terminal = Terminal::open();
        let words = ["info", "--timeout", "600s", "--env", mark.variable(), "--", "sh", "-c", server];
        let mut tool = in_terminal(&terminal, &words);
        wait_for("the server", || (mark.processes().len() >= 2).then_some(()));
        let screen = if keys.is_empty() {
            drop(terminal);
            None
        } else {
            terminal.file.write_all(keys).unwrap();
            Some(terminal.screen())
        };
        let status = wait_for("the end of the tool", || tool.try_wait().unwrap());
        assert_eq!(status.code(), Some(130), "{keys:?}");
        wait_for("the end of the server", || mark.processes().is_empty().then_some(()));
        drop(screen);
    }
}

#[test]
fn a_stopped_tool_goes_on_with_its_server() {
    let mark = Mark::new();
    let words = ["call", "slow", r#"{"seconds":1}"#, "--demo", "--env", mark.variable()];
    let mut tool = Command::new(MCPWIRE).args(words).stdout(Stdio::piped()).spawn().unwrap();
    wait_for("the server", || (!mark.processes().is_empty()).then_some(()));
    let pid = Pid::from_child(&tool);
    kill_process(pid, Signal::STOP).unwrap();
    wait_for("the stop", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", tool.id())).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('T').then_some(())
    });
    kill_process(pid, Signal::CONT).unwrap();
    assert!(tool.wait().unwrap().success());
    mark.assert_nothing_left();
}
