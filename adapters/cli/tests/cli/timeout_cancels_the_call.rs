//! After a timeout, the call fails, and the server gets a cancellation.
#![cfg(target_os = "linux")]

use std::time::Duration;

use crate::support::{Mark, mcpwire, scratch};
use serde_json::Value;

#[test]
fn the_server_sees_the_cancel_and_nothing_is_left() {
    for (protocol, name) in [("modern", "timeout-modern"), ("legacy", "timeout-legacy")] {
        let (mark, trace) = (Mark::new(), scratch(name));
        let trace = trace.to_str().expect("a path of text");
        let finished = mcpwire(&[
            "call",
            "slow",
            r#"{"seconds":600}"#,
            "--demo",
            "--timeout",
            "2s",
            "--protocol",
            protocol,
            "--stderr",
            "show",
            "--trace",
            trace,
            "--env",
            mark.variable(),
        ]);
        assert_eq!((finished.code(), finished.stdout.as_str()), (5, ""), "{finished:?}");
        assert!(finished.took >= Duration::from_secs(2), "{finished:?}");
        assert!(finished.stderr.contains("tools/call"), "{finished:?}");
        assert!(finished.stderr.contains("was cancelled"), "the server's own words: {finished:?}");
        mark.assert_nothing_left();

        let trace = std::fs::read_to_string(trace).expect("a trace");
        let sent: Vec<Value> = trace
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("a trace is JSON Lines"))
            .filter(|entry| entry["direction"] == "sent")
            .map(|entry| entry["message"].clone())
            .collect();
        let call = sent.iter().find(|message| message["method"] == "tools/call").expect("the call was sent");
        let cancel =
            sent.iter().find(|message| message["method"] == "notifications/cancelled").expect("so was its cancel");
        assert_eq!(cancel["params"]["requestId"], call["id"]);
    }
}

#[test]
fn progress_does_not_stretch_the_timeout() {
    let finished = mcpwire(&["call", "slow", r#"{"seconds":600}"#, "--demo", "--timeout", "5500ms"]);
    assert_eq!(finished.code(), 5, "{finished:?}");
    assert!(finished.stderr.contains("5.5 s"), "{finished:?}");
}

#[test]
fn a_server_that_never_answers_leaves_nothing() {
    let mark = Mark::new();
    let finished = mcpwire(&["tools", "--timeout", "300ms", "--env", mark.variable(), "--", "sleep", "600"]);
    assert_eq!(finished.code(), 5, "{finished:?}");
    mark.assert_nothing_left();
}
