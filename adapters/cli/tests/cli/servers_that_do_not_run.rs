//! Servers that are not running, or still starting: their errors, and the suggestions.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::process::Signal;

use crate::support::configured::{MCPWIRE, add_demo, at, with_input};
use crate::support::{Running, wait_for};

const SUM: &str = r#"{"a":2,"b":40}"#;

/// Starts a hub in this directory, and waits until it listens.
fn hub(place: &Path) -> Running {
    let hub = Running::start(&["hub", "run", "--config-dir", place.to_str().unwrap()], "");
    hub.wait_for_stderr("listening at ");
    hub
}

fn end(hub: Running) {
    hub.signal(Signal::INT);
    let ended = hub.finish();
    assert_eq!(ended.code(), 0, "{ended:?}");
}

fn add_script(place: &Path, name: &str, script: &str) {
    let added = at(place, &["server", "add", name, "--", "sh", "-c", script]);
    assert_eq!(added.code(), 0, "{added:?}");
}

/// A script that becomes the demo server as soon as this file exists.
fn once_there_is(gate: &Path) -> String {
    format!("while [ ! -e '{}' ]; do sleep 0.01; done; exec '{MCPWIRE}' demo-server", gate.display())
}

/// Checks that a call fails with this exit status, and that its error contains all of `says`.
#[track_caller]
fn refused(place: &Path, call: &[&str], status: i32, says: &[&str]) {
    let called = at(place, &[&["call"], call].concat());
    assert_eq!((called.code(), called.stdout.as_str()), (status, ""), "{called:?}");
    assert!(says.iter().all(|says| called.stderr.contains(says)), "{called:?}");
    assert!(!called.stderr.contains("not found"), "{called:?}");
}

#[track_caller]
fn called(place: &Path, tool: &str) {
    let called = at(place, &["call", tool, SUM]);
    assert_eq!((called.code(), called.stdout.as_str()), (0, "42\n"), "{called:?}");
}

#[test]
fn doctor_says_of_one_that_is_still_being_ended_that_it_failed() {
    let place = tempfile::tempdir().unwrap();
    // A child of the server survives the failure for a while, and must be ended first.
    let script = r#"echo "no database" >&2; (trap "" TERM; sleep 3) & exec 1>&-; wait"#;
    add_script(place.path(), "lingers", script);
    let doctor = at(place.path(), &["server", "doctor"]);
    assert_eq!(doctor.code(), 3, "{doctor:?}");
    assert!(doctor.stdout.starts_with("failed lingers: "), "{doctor:?}");
    assert!(doctor.stdout.contains("no database"), "{doctor:?}");
    assert!(doctor.stdout.contains("mcpwire server logs lingers"), "{doctor:?}");
}

#[test]
fn doctor_tries_again_what_the_running_hub_has_given_up_or_let_sleep() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let program = place.join("program");
    at(place, &["server", "add", "given-up", "--", program.to_str().unwrap(), "demo-server"]);
    let sleeper = place.join("sleeper");
    at(place, &["server", "add", "sleeper", "--lazy", "--", sleeper.to_str().unwrap(), "demo-server"]);
    symlink(MCPWIRE, &sleeper).unwrap();
    // From now on its tools are known, so that a hub starts it with the first call.
    called(place, "sleeper__add");
    let hub = hub(place);
    let state = |row: usize| at(place, &["status", "--json"]).json()[row]["state"].clone();
    wait_for("the start", || (state(0) == "failed" && state(1) == "sleeping").then_some(()));

    fs::remove_file(&sleeper).unwrap();
    symlink(MCPWIRE, &program).unwrap();
    let doctor = at(place, &["server", "doctor"]);
    assert_eq!(doctor.code(), 3, "{doctor:?}");
    assert!(doctor.stdout.starts_with("ok given-up: running, "), "{doctor:?}");
    assert!(doctor.stdout.contains("failed sleeper: command not found"), "{doctor:?}");
    symlink(MCPWIRE, &sleeper).unwrap();
    let doctor = at(place, &["server", "doctor"]);
    assert_eq!(doctor.code(), 0, "{doctor:?}");
    end(hub);
}

#[test]
fn the_running_hub_gives_the_advice_for_a_missing_secret_and_not_for_a_wrong_value() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let added = at(place, &["server", "add", "keyless", "--secret", "TOKEN", "--", MCPWIRE, "demo-server"]);
    assert_eq!(added.code(), 0, "{added:?}");
    let hub = hub(place);
    let kind = || at(place, &["status", "--json"]).json()[0]["last_error_kind"].clone();
    wait_for("the start", || (kind() == "missing_value").then_some(()));
    let doctor = at(place, &["server", "doctor"]);
    assert!(doctor.stdout.contains("mcpwire secret set keyless TOKEN"), "{doctor:?}");
    refused(place, &["keyless__add", SUM], 2, &["keyless", "mcpwire secret set keyless TOKEN"]);
    end(hub);
}

#[test]
fn logs_have_the_local_time() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    add_script(place, "talks", "echo 'no database' >&2; exit 7");
    assert_eq!(at(place, &["server", "doctor"]).code(), 3);
    let logs = at(place, &["server", "logs", "talks"]);
    let (time, line) = logs.stdout.lines().next().and_then(|line| line.split_once(' ')).expect("a line");
    assert_eq!(line, "no database", "{logs:?}");
    // Date, `T`, time with milliseconds, offset.
    assert_eq!(time.len(), "2026-11-23T23:40:23.000+02:00".len(), "{logs:?}");
}

#[test]
fn doctor_does_not_start_what_somebody_has_stopped_and_says_what_a_hub_does_not_know() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    add_demo(place, "demo");
    let hub = hub(place);
    assert_eq!(at(place, &["server", "stop", "demo"]).code(), 0);
    let doctor = at(place, &["server", "doctor"]);
    assert_eq!(doctor.code(), 3, "{doctor:?}");
    assert!(doctor.stdout.starts_with("failed demo: it is stopped, so it was not tried"), "{doctor:?}");
    assert!(doctor.stdout.contains("mcpwire server start demo"), "{doctor:?}");
    let file = place.join("mcp/servers.json");
    let edited = fs::read_to_string(&file)
        .unwrap()
        .replace(r#""id": ""#, r#""id": "00000000-0000-4000-8000-000000000000", "was": ""#);
    fs::write(&file, edited).unwrap();
    let doctor = at(place, &["server", "doctor"]);
    assert_eq!(doctor.code(), 3, "{doctor:?}");
    assert!(doctor.stdout.contains("does not know it") && doctor.stdout.contains("mcpwire hub reload"), "{doctor:?}");
    end(hub);
}

#[test]
fn a_server_that_is_added_while_a_hub_runs_is_started_or_it_is_said_why_not() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let hub = hub(place);
    let added = at(place, &["server", "add", "demo", "--", MCPWIRE, "demo-server"]);
    assert_eq!((added.code(), added.stdout.as_str()), (0, ""), "{added:?}");
    assert_eq!(added.stderr, "demo: started in the running hub\n");
    called(place, "demo__add");

    let added = at(place, &["server", "add", "my bad", "--", "/no/such/program"]);
    assert_eq!(added.code(), 0, "it is configured: {added:?}");
    assert!(added.stderr.starts_with("my bad: added, but not started: command not found"), "{added:?}");
    assert!(added.stderr.ends_with("mcpwire server show 'my bad'\n"), "{added:?}");

    // A server that needs a secret, which the test then sets as suggested.
    let added = at(place, &["server", "add", "secretive", "--secret", "TOKEN", "--", MCPWIRE, "demo-server"]);
    assert!(added.stderr.contains("mcpwire secret set secretive TOKEN"), "{added:?}");
    refused(place, &["secretive__add", SUM], 2, &["mcpwire secret set secretive TOKEN", "server start secretive"]);
    let set = with_input(place, &["secret", "set", "secretive", "TOKEN"], "hunter22\n");
    assert!(set.code() == 0 && set.stderr.contains("mcpwire server restart secretive"), "{set:?}");
    assert_eq!(at(place, &["server", "restart", "secretive"]).code(), 0);
    called(place, "secretive__add");
    end(hub);
}

#[test]
fn imported_servers_are_started_by_a_running_hub_once_they_are_agreed_to() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let hub = hub(place);
    let import = |name: &str, more: &[&str]| {
        let file = place.join("claude_desktop_config.json");
        let servers = serde_json::json!({"mcpServers": {name: {"command": MCPWIRE, "args": ["demo-server"]}}});
        fs::write(&file, servers.to_string()).unwrap();
        at(place, &[&["server", "import", file.to_str().unwrap()], more].concat())
    };
    let imported = import("asks", &[]);
    assert!(imported.stdout.contains("mcpwire server enable asks"), "{imported:?}");
    refused(place, &["asks__add", SUM], 2, &["Review and approve it: mcpwire server enable asks"]);
    // Without a terminal, the user cannot be asked.
    let enabled = at(place, &["server", "enable", "asks"]);
    assert!(enabled.code() == 2 && enabled.stderr.contains("was imported and needs your approval"), "{enabled:?}");
    assert_eq!(at(place, &["server", "enable", "asks", "--trust"]).code(), 0);
    called(place, "asks__add");

    let imported = import("trusted", &["--trust"]);
    assert!(imported.stderr.contains("the running hub starts them"), "{imported:?}");
    called(place, "trusted__add");
    end(hub);
}

#[test]
fn a_tool_of_a_server_that_does_not_run_is_not_said_to_be_missing() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    for name in ["stopped", "disabled", "Two words"] {
        add_demo(place, name);
    }
    at(place, &["server", "add", "failed", "--", "/no/such/program"]);
    add_script(place, "crashes", "echo no database >&2; exit 7");
    assert_eq!(at(place, &["server", "disable", "disabled"]).code(), 0);
    // Without a hub, each command starts the servers that it needs, except disabled ones.
    refused(place, &["disabled__add", SUM], 2, &["server `disabled`: it is disabled", "server enable disabled"]);
    refused(place, &["add", SUM, "--server", "Disabled"], 2, &["mcpwire server enable disabled"]);

    let hub = hub(place);
    hub.wait_for_stderr("crashes: backoff");
    hub.wait_for_stderr("failed: failed");
    for name in ["stopped", "two words"] {
        assert_eq!(at(place, &["server", "stop", name]).code(), 0);
    }
    refused(place, &["stopped__add", SUM], 3, &["server `stopped` is stopped", "mcpwire server start stopped"]);
    refused(place, &["two_words__add", SUM], 3, &["`Two words` is stopped", "mcpwire server start 'Two words'"]);
    refused(place, &["add", SUM, "--server", "stopped"], 3, &["mcpwire server start stopped"]);
    refused(place, &["disabled__add", SUM], 2, &["server `disabled` is disabled", "server enable disabled"]);
    let failed = ["server `failed` has failed: command not found", "server show failed", "server start failed"];
    let call = at(place, &["call", "failed__add", SUM]);
    assert!(call.code() == 3 && failed.iter().all(|says| call.stderr.contains(says)), "{call:?}");
    // The server may be restarting at this moment. Then the call waits, and fails with the error of the start.
    let call = at(place, &["call", "crashes__add", SUM, "--json"]);
    assert_eq!(call.error()["code"], "SERVICE_UNAVAILABLE", "{call:?}");
    assert!(call.stderr.contains("no database"), "{call:?}");

    let missing = at(place, &["call", "add", SUM]);
    assert_eq!(missing.code(), 4, "{missing:?}");
    let says = ["tool not found: `add`", "stopped (stopped)", "Two words (stopped)", "mcpwire status"];
    assert!(says.iter().all(|says| missing.stderr.contains(says)), "{missing:?}");
    let tools = at(place, &["tools", "--server", "stopped"]);
    assert_eq!(tools.stderr, "stopped: stopped; its tools are not listed\n", "{tools:?}");
    assert_eq!(at(place, &["server", "start", "stopped"]).code(), 0);
    called(place, "stopped__add");
    let missing = at(place, &["call", "stopped__nothing"]);
    assert!(missing.code() == 4 && missing.stderr.contains("tool not found: `stopped__nothing`"), "{missing:?}");
    end(hub);
}

#[test]
fn a_call_waits_for_a_server_that_the_hub_is_still_starting() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let gate = place.join("gate");
    add_script(place, "slow", &once_there_is(&gate));
    let hub = hub(place);
    hub.wait_for_stderr("slow: negotiating");
    let directory = place.to_str().unwrap();
    let waiting = Running::start(&["call", "slow__add", SUM, "--config-dir", directory], "");
    refused(place, &["slow__add", SUM, "--timeout", "100ms"], 3, &["did not start in time for the call"]);
    // Without the prefix of its server, a tool is found only after the server has listed it.
    let bare = Running::start(&["call", "add", SUM, "--config-dir", directory], "");
    refused(place, &["add", SUM, "--timeout", "100ms"], 3, &["still starting", "slow"]);
    fs::write(&gate, "").unwrap();
    for waited in [waiting.finish(), bare.finish()] {
        assert_eq!((waited.code(), waited.stdout.as_str()), (0, "42\n"), "{waited:?}");
    }
    end(hub);
}

#[test]
fn a_call_that_waited_for_a_start_that_fails_is_refused_as_a_later_one() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let gate = place.join("gate");
    let script = format!("while [ ! -e '{}' ]; do sleep 0.01; done; echo 'no database' >&2; exit 7", gate.display());
    add_script(place, "slow", &script);
    let hub = hub(place);
    hub.wait_for_stderr("slow: negotiating");
    let directory = place.to_str().unwrap();
    let waiting = Running::start(&["call", "slow__add", SUM, "--config-dir", directory], "");
    // A second call fails at its time limit, so the first one waits by then.
    refused(place, &["slow__add", SUM, "--timeout", "1s"], 3, &["did not start in time for the call"]);
    fs::write(&gate, "").unwrap();
    let waited = waiting.finish();
    assert_eq!((waited.code(), waited.stdout.as_str()), (3, ""), "{waited:?}");
    for says in ["slow__add", "has failed", "no database", "mcpwire server logs slow"] {
        assert!(waited.stderr.contains(says), "{waited:?}");
    }
    end(hub);
}
