//! What commands say of a server in each of its states, with and without a running hub: a table of states and commands, and the
//! hub that commands start themselves.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::Mutex;

use serde_json::json;

use crate::support::servers::Script;
use crate::support::{Finished, MCPWIRE, Place, each, wait_for};

/// What the commands say: server, command, exit status, standard output, and standard error after `!`. A run with
/// `MCPWIRE_WRITE_STATES` set writes the table, to be read as a whole when it changes.
const TABLE: &str = include_str!("states.txt");

/// The configured servers. Each is named after its state.
const SERVERS: [&str; 8] = ["runs", "disabled", "exits", "absent", "noise", "unset", "lazy", "hangs"];

/// The commands that name one server.
const COMMANDS: [&str; 8] = ["ping", "info", "tools", "call", "resources", "request", "task", "listen"];

fn configure(place: &Place) {
    place.add_demo("runs");
    place.add_demo("disabled");
    place.run(&["server", "disable", "disabled"]).exits(0);
    place.add_script("exits", "echo 'no license found' >&2; exit 3");
    place.add("absent", &["/nowhere/no-such-program"]);
    place.add_script("noise", "echo 'Listening on port 8080'; cat >/dev/null");
    place.run(&["server", "add", "unset", "--secret", "TOKEN", "--", "sh", "-c", "exec sleep 600"]).exits(0);
    place.run(&["server", "add", "lazy", "--lazy", "--", MCPWIRE, "demo-server"]).exits(0);
    // It opens and lists its tools, and then answers nothing more.
    place.add_script("hangs", &Script::tools().text());
}

/// Returns the exit status of a command, and the first and last line of what it has written, without what differs from run to run.
fn cell(place: &Place, finished: &Finished) -> String {
    let line = |text: &str| {
        let text = text.replace(&place.file(""), "DIR/").replace(MCPWIRE, "mcpwire");
        let text = text.find(" answered in").map_or(&*text, |at| &text[..at]);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match lines.as_slice() {
            [first, _, .., last] => format!("{first} ... {last}"),
            few => few.join(" / "),
        }
    };
    let (out, err) = (line(&finished.stdout), line(&finished.stderr));
    format!("{} {out}{}{err}", finished.code(), if err.is_empty() { "" } else { " ! " })
}

/// Runs each command for each server, and returns the lines of the table.
fn table(place: &Place, servers: &[&str]) -> String {
    let cells = Mutex::new(BTreeMap::new());
    each(0..servers.len(), |at| {
        for command in COMMANDS {
            let server = servers[at];
            let mut line = vec![command, server];
            match command {
                // It would not end.
                "listen" if ["runs", "lazy", "hangs"].contains(&server) => continue,
                "task" => line.extend(["get", "no-such-task"]),
                "call" if server == "hangs" => line.push("t"),
                "call" => line.extend(["add", "a=2", "b=40"]),
                "request" => line.extend(["tools/list", r#"{"cursor":"x"}"#]),
                _ => {}
            }
            // Only servers that never answer need a limit, and then it is the command's that ends the wait.
            if ["noise", "hangs"].contains(&server) {
                line.extend(["--timeout", "1s"]);
            }
            cells.lock().expect("no test has failed").insert((at, command), cell(place, &place.run(&line)));
        }
    });
    let cells = cells.into_inner().expect("no test has failed");
    let mut table = String::new();
    for (at, server) in servers.iter().enumerate() {
        for command in COMMANDS {
            if let Some(cell) = cells.get(&(at, command)) {
                let _ = writeln!(table, "{server:9}{command:10}{cell}");
            }
        }
    }
    table
}

/// Returns what `status --json` says of each server, and what `doctor` and `tools` say of all.
fn overview(place: &Place) -> String {
    let mut text = String::new();
    for row in place.run(&["status", "--json", "--timeout", "3s"]).json().as_array().expect("rows") {
        // A server that has failed is started again now and then, so it may be in any state of a start.
        let state = row["state"].as_str().expect("a state");
        let state = if row["last_error"].is_object() && state != "needs-input" { "failed" } else { state };
        let error = row["last_error"]["message"].as_str().or(row["invalid_messages"].as_str()).unwrap_or("no error");
        let error = error.split_once("; it failed too often").map_or(error, |(error, _)| error);
        let _ = writeln!(text, "status {}: {state}, {} tools, {error}", row["name"], row["tools"]);
    }
    for command in [&["server", "doctor"][..], &["tools"]] {
        let finished = place.run(&[command, &["--timeout", "3s"]].concat());
        // Servers are shown as they finish.
        let mut lines: Vec<&str> = finished.stdout.lines().chain(finished.stderr.lines()).collect();
        lines.sort_unstable();
        let _ = writeln!(text, "{}: {}\n{}", command.join(" "), finished.code(), lines.join("\n"));
    }
    text
}

#[test]
fn what_commands_say_is_true_in_every_state() {
    let place = Place::new();
    configure(&place);
    let without = table(&place, &SERVERS) + &overview(&place);
    // In a running hub, it is started again and again, and fails in ways that depend on the time.
    place.run(&["server", "remove", "exits"]).exits(0);
    place.edit_servers(|servers| {
        for server in servers["servers"].as_array_mut().expect("servers") {
            server["timeouts"] = json!({"start_ms": 3_600_000});
        }
    });
    let hub = place.hub();
    for (server, state) in [
        ("runs", "running"),
        ("hangs", "running"),
        ("absent", "failed"),
        ("unset", "needs-input"),
        ("lazy", "sleeping"),
    ] {
        wait_for(server, || {
            let status = place.status();
            let row = status.as_array()?.iter().find(|row| row["name"] == server)?;
            (row["state"] == state).then_some(())
        });
    }
    let others: Vec<&str> = SERVERS.into_iter().filter(|server| *server != "exits").collect();
    let with = table(&place, &others) + &overview(&place);
    hub.interrupt().exits(0);
    let said = format!("Without a running hub\n{without}\nWith a running hub\n{with}");
    if std::env::var_os("MCPWIRE_WRITE_STATES").is_some() {
        fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/states.txt"), &said).expect("it can be written");
    }
    assert_eq!(said, TABLE);
}

#[test]
fn the_first_command_starts_the_hub_where_the_user_wants_that() {
    let place = Place::with_demo();
    place.run(&["hub", "auto", "on"]).exits(0).says(&["start the hub in the background from now on"]);
    place.run(&["hub", "status"]).gives(3, "No hub is running. The next command that needs one starts it\n");
    let called = place.run(&["call", "demo", "add", "a=2", "b=40"]).gives(0, "42\n");
    called.says(&["the hub runs in the background now (mcpwire hub auto off)"]);
    place.run(&["ping", "demo"]).exits(0).hides(&["background"]);
    place.run(&["hub", "status"]).exits(0).shows(&["The hub is running: 1 of 1 servers run"]);
    place.run(&["hub", "stop"]).exits(0).says(&["the next command that needs it starts it again"]);
    place.run(&["hub", "auto", "off"]).exits(0);
    place.run(&["ping", "demo"]).exits(0);
    place.run(&["hub", "status"]).exits(3).shows(&["Start one: mcpwire hub start"]);
}
