//! A server that is killed during a call: the call fails, and the error says how the process ended. A call that did not notice
//! would end with a timeout, which has another exit status.
#![cfg(target_os = "linux")]

use crate::support::{Mark, Running, mcpwire, scratch, wait_for};
use rustix::process::{Signal, kill_process};

#[test]
fn a_kill_in_mid_call_is_4_and_names_the_signal() {
    let (mark, trace) = (Mark::new(), scratch("killed"));
    let trace = trace.to_str().expect("a path of text");
    let script = r#"echo these are my last words >&2; exec "$0" demo-server"#;
    let running = Running::start(
        &[
            "call",
            "slow",
            r#"{"seconds":600}"#,
            "--env",
            mark.variable(),
            "--trace",
            trace,
            "--",
            "sh",
            "-c",
            script,
            env!("CARGO_BIN_EXE_mcpwire"),
        ],
        "",
    );
    wait_for("the call to be under way", || {
        let trace = std::fs::read_to_string(trace).unwrap_or_default();
        trace.contains("\"notifications/progress\"").then_some(())
    });
    let server = mark.processes();
    assert_eq!(server.len(), 1, "one server runs");
    kill_process(server[0], Signal::KILL).expect("it runs");
    let finished = running.finish();

    assert_eq!((finished.code(), finished.stdout.as_str()), (4, ""), "{finished:?}");
    assert!(finished.stderr.contains("SIGKILL") || finished.stderr.contains("signal: 9"), "{finished:?}");
    assert!(finished.stderr.contains("these are my last words"), "{finished:?}");
    mark.assert_nothing_left();
}

#[test]
fn an_exit_in_mid_call_names_the_status() {
    let mark = Mark::new();
    let script = r#"while IFS= read -r line; do
        case $line in *'"tools/call"'*) echo out of memory >&2; exit 7 ;; esac
        printf '%s\n' "$line"; done | "$0" demo-server"#;
    let finished = mcpwire(&[
        "call",
        "echo",
        "--json",
        "--env",
        mark.variable(),
        "--",
        "sh",
        "-c",
        script,
        env!("CARGO_BIN_EXE_mcpwire"),
    ]);
    assert_eq!(finished.code(), 4, "{finished:?}");
    let error = finished.error();
    assert_eq!(error["code"], "SERVICE_UNAVAILABLE", "{error}");
    assert!(error["message"].as_str().is_some_and(|message| message.contains("out of memory")), "{error}");
    mark.assert_nothing_left();
}
