//! Interrupted prompts: the terminal is restored, and the configuration is unchanged.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{LocalModes, tcgetattr};

use crate::support::configured::{MCPWIRE, at};
use crate::support::terminal::Terminal;
use crate::support::{command, wait_for};

fn is_echoing(terminal: &Terminal) -> bool {
    let end = terminal.other_end();
    tcgetattr(end.as_fd()).expect("a terminal").local_modes.contains(LocalModes::ECHO)
}

fn at_terminal(terminal: &Terminal, words: &[&str]) -> Child {
    let mut program = command(words);
    program.stdin(terminal.other_end()).stderr(terminal.other_end()).stdout(Stdio::null());
    program.spawn().expect("it starts")
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it runs");
}

#[test]
fn the_terminal_shows_again_what_is_typed_however_the_secret_prompt_ends() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().to_str().unwrap();
    let added = at(place.path(), &["server", "add", "demo", "--secret", "TOKEN", "--", MCPWIRE, "demo-server"]);
    assert_eq!(added.code(), 0, "{added:?}");
    let set = ["secret", "set", "demo", "TOKEN", "--config-dir", directory];
    for (kind, status) in [(Signal::INT, 130), (Signal::QUIT, 131), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let terminal = Terminal::open();
        let mut prompt = at_terminal(&terminal, &set);
        wait_for("the prompt", || (!is_echoing(&terminal)).then_some(()));
        // A stopped process could not restore the terminal, so Ctrl-Z has no effect.
        signal(&prompt, Signal::TSTP);
        signal(&prompt, kind);
        assert_eq!(prompt.wait().unwrap().code(), Some(status), "{kind:?}");
        assert!(is_echoing(&terminal), "{kind:?}");
    }
    assert!(at(place.path(), &["secret", "list", "demo"]).stdout.contains("TOKEN: missing"));

    let mut terminal = Terminal::open();
    let mut prompt = at_terminal(&terminal, &set);
    wait_for("the prompt", || (!is_echoing(&terminal)).then_some(()));
    terminal.file.write_all(b"hunter22\n").unwrap();
    assert_eq!(prompt.wait().unwrap().code(), Some(0));
    assert!(is_echoing(&terminal));
    assert_eq!(at(place.path(), &["secret", "list", "demo"]).stdout, "TOKEN\n");
}

#[test]
fn an_interrupt_at_the_approval_of_an_import_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("mcp.json");
    fs::write(&file, r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}"#).unwrap();
    let directory = place.path().to_str().unwrap();
    let terminal = Terminal::open();
    let mut import = at_terminal(&terminal, &["server", "import", file.to_str().unwrap(), "--config-dir", directory]);
    let screen = terminal.screen();
    screen.wait_for("Approve? [y/N]");
    signal(&import, Signal::INT);
    assert_eq!(import.wait().unwrap().code(), Some(130));
    screen.wait_for("interrupted");
    assert_eq!(at(place.path(), &["server", "list"]).stdout, "");
}
