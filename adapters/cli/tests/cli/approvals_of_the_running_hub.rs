//! With a running hub, the approval of a server is for what the hub starts, in the environment of the hub.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;

use crate::support::configured::{MCPWIRE, at};
use crate::support::terminal::Terminal;
use crate::support::{Running, command, wait_for};

const SUM: &str = r#"{"a":2,"b":40}"#;

/// The variable that decides what the imported server starts.
const VARIABLE: &str = "MCPWIRE_TEST_COMMAND";

/// Writes a file to import, with a server whose arguments depend on [`VARIABLE`].
fn file(place: &Path) -> PathBuf {
    let file = place.join("mcp.json");
    let server = json!({ "command": MCPWIRE, "args": [format!("${{{VARIABLE}:-missing}}")] });
    fs::write(&file, json!({ "mcpServers": { "demo": server } }).to_string()).expect("it is written");
    file
}

/// Starts a hub in whose environment the variable has this value, and waits until it listens.
fn hub(place: &Path, value: &str) -> Running {
    let mut hub = command(&["hub", "run", "--config-dir", place.to_str().expect("it is text")]);
    hub.env(VARIABLE, value);
    let (hub, _) = Running::start_command(hub);
    hub.wait_for_stderr("listening at ");
    hub
}

#[test]
fn an_approval_shows_and_allows_what_the_running_hub_starts() {
    let place = tempfile::tempdir().expect("a directory");
    let place = place.path();
    let imported = at(place, &["server", "import", file(place).to_str().expect("it is text")]);
    assert!(imported.code() == 0 && imported.stdout.contains("Review and approve"), "{imported:?}");
    let hub = hub(place, "demo-server");
    // This command has no such variable, and alone it would start something else.
    let shown = at(place, &["server", "show", "demo"]).stdout;
    assert!(shown.contains(&format!("{MCPWIRE} demo-server")), "{shown}");
    let listed = at(place, &["server", "list"]).stdout;
    assert!(listed.contains("demo-server") && listed.contains("not approved yet"), "{listed}");
    let enabled = at(place, &["server", "enable", "demo", "--trust"]);
    assert_eq!(enabled.code(), 0, "{enabled:?}");
    assert_eq!(at(place, &["call", "demo__add", SUM]).stdout, "42\n");
    assert!(!at(place, &["server", "list"]).stdout.contains("not approved yet"));
    hub.signal(Signal::INT);
    assert_eq!(hub.finish().code(), 0);
    // The approval is for the hub's environment only.
    assert!(at(place, &["server", "list"]).stdout.contains("not approved yet"));
}

#[test]
fn the_question_of_an_approval_shows_what_the_running_hub_starts() {
    let place = tempfile::tempdir().expect("a directory");
    let place = place.path();
    let hub = hub(place, "demo-server");
    let terminal = Terminal::open();
    let mut typing = terminal.file.try_clone().expect("it is copied");
    let mut import = command(&["server", "import", "--config-dir", place.to_str().expect("it is text")]);
    import.arg(file(place)).stdin(terminal.other_end()).stderr(terminal.other_end()).stdout(Stdio::null());
    let mut import = import.spawn().expect("it starts");
    let screen = terminal.screen();
    screen.wait_for("Approve? [y/N]");
    assert!(screen.text().contains(" demo-server") && !screen.text().contains("missing"), "{}", screen.text());
    typing.write_all(b"y\n").expect("it is typed");
    assert_eq!(import.wait().expect("it ends").code(), Some(0), "{}", screen.text());
    let sum = || (at(place, &["call", "demo__add", SUM]).stdout == "42\n").then_some(());
    wait_for("the server", sum);
    hub.signal(Signal::INT);
    assert_eq!(hub.finish().code(), 0);
}
