//! Ctrl-C cancels the call and ends the server. A second Ctrl-C kills the server.
#![cfg(target_os = "linux")]

use crate::support::{Mark, Running, scratch, wait_for};
use rustix::process::Signal;

#[test]
fn an_interrupt_in_mid_call_is_130_and_the_server_is_told() {
    let (mark, trace) = (Mark::new(), scratch("interrupted"));
    let trace = trace.to_str().expect("a path of text");
    let running = Running::start(
        &["call", "slow", r#"{"seconds":600}"#, "--demo", "--env", mark.variable(), "--trace", trace],
        "",
    );
    wait_until_traced(trace, "\"notifications/progress\"");
    running.signal(Signal::INT);
    let finished = running.finish();
    assert_eq!((finished.code(), finished.stdout.as_str()), (130, ""), "{finished:?}");
    let trace = std::fs::read_to_string(trace).expect("a trace");
    assert!(trace.contains("notifications/cancelled"), "{trace}");
    mark.assert_nothing_left();
}

#[test]
fn an_interrupt_while_connecting_is_130() {
    let (mark, trace) = (Mark::new(), scratch("interrupted-connecting"));
    let trace = trace.to_str().expect("a path of text");
    let running = Running::start(&["info", "--env", mark.variable(), "--trace", trace, "--", "sleep", "600"], "");
    wait_until_traced(trace, "\"server/discover\"");
    running.signal(Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code(), 130, "{finished:?}");
    mark.assert_nothing_left();
}

#[test]
fn a_second_interrupt_kills_a_server_that_does_not_end() {
    // A shutdown asks the server to terminate after 3 s. The second interrupt may come later than that on a busy machine, but
    // not each time.
    let is_killed_at_once = (0..5).any(|number| {
        let (mark, place) = (Mark::new(), scratch(&format!("interrupted-twice-{number}")));
        let (trace, asked) = (place.with_extension("trace"), place.with_extension("asked"));
        let trace = trace.to_str().expect("a path of text");
        let script = format!("trap '' INT; trap 'echo >\"{}\"' TERM; while :; do sleep 0.01; done", asked.display());
        let arguments = ["info", "--env", mark.variable(), "--trace", trace, "--", "sh", "-c", &script];
        let running = Running::start(&arguments, "");
        wait_until_traced(trace, "\"server/discover\"");
        running.signal(Signal::INT);
        running.wait_for_stderr("interrupted");
        running.signal(Signal::INT);
        let finished = running.finish();
        assert_eq!(finished.code(), 130, "{finished:?}");
        wait_for("the group to be gone", || mark.processes().is_empty().then_some(()));
        !asked.exists()
    });
    assert!(is_killed_at_once, "each time, the server was asked to terminate first");
}

/// The engine does not respond. The hub would wait five seconds for each container.
#[test]
fn an_interrupt_ends_a_command_that_removes_what_a_killed_hub_left() {
    let place = tempfile::tempdir().expect("a directory");
    let (engine, log) = (place.path().join("engine"), place.path().join("log"));
    let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\nwhile [ -e '{0}' ]; do sleep 0.01; done\n", log.display());
    std::fs::write(&engine, script).expect("a script");
    std::fs::set_permissions(&engine, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a program");
    let entry = |name: &str| {
        let id = "00000000-0000-4000-8000-000000000000";
        let container = serde_json::json!({"name": name, "client": engine});
        serde_json::json!({
            "child": {"id": id, "generation": 1, "pid": 4_000_000, "container": container},
            "host": {"pid": 4_000_000, "started": "other-boot:1"},
        })
    };
    let left = serde_json::json!({"version": 1, "children": [entry("first"), entry("second")]}).to_string();
    let registry = place.path().join("state/ledger.json");
    std::fs::create_dir(place.path().join("state")).expect("a directory");
    std::fs::write(&registry, &left).expect("a file");

    let running = Running::start(&["status", "--config-dir", place.path().to_str().expect("a path of text")], "");
    wait_for("the first container to be removed", || log.exists().then_some(()));
    running.signal(Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code(), 130, "{finished:?}");
    let calls = std::fs::read_to_string(&log).expect("a log");
    assert_eq!(calls, "rm -f first\n", "the rest is left to the next hub");
    let recorded = std::fs::read_to_string(&registry).expect("the registry");
    assert!(recorded.contains("first") && recorded.contains("second"), "{recorded}");
}

#[test]
fn a_termination_ends_the_server_too() {
    let (mark, trace) = (Mark::new(), scratch("terminated"));
    let trace = trace.to_str().expect("a path of text");
    let running = Running::start(
        &["call", "slow", r#"{"seconds":600}"#, "--demo", "--env", mark.variable(), "--trace", trace],
        "",
    );
    wait_until_traced(trace, "\"notifications/progress\"");
    running.signal(Signal::TERM);
    let finished = running.finish();
    assert_eq!(finished.code(), 130, "{finished:?}");
    mark.assert_nothing_left();
}

/// A server that ignores the end of its input.
#[test]
fn an_interrupt_ends_servers_that_are_called_by_name() {
    let (mark, place) = (Mark::new(), scratch("interrupted-by-name"));
    let place = place.to_str().expect("a path of text");
    let script = format!("trap '' TERM INT; {} demo-server; sleep 600", env!("CARGO_BIN_EXE_mcpwire"));
    let added = crate::support::mcpwire(&[
        "server",
        "add",
        "stubborn",
        "--config-dir",
        place,
        "--env",
        mark.variable(),
        "--",
        "sh",
        "-c",
        &script,
    ]);
    assert_eq!(added.code(), 0, "{added:?}");
    let running =
        Running::start(&["call", "stubborn__slow", r#"{"seconds":600}"#, "--config-dir", place, "--json"], "");
    // The shell, and the server, which is busy with a call.
    wait_for("the server", || (mark.processes().len() >= 2).then_some(()));
    running.signal(Signal::INT);
    let finished = running.finish();
    assert_eq!((finished.code(), finished.stdout.as_str()), (130, ""), "{finished:?}");
    mark.assert_nothing_left();
}

fn wait_until_traced(trace: &str, what: &str) {
    wait_for(what, || std::fs::read_to_string(trace).is_ok_and(|trace| trace.contains(what)).then_some(()));
}
