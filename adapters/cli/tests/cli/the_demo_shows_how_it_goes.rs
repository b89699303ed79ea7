//! `mcpwire demo`, the first command that a new user runs.
#![cfg(target_os = "linux")]

use crate::support::{Mark, mcpwire};

#[test]
fn it_connects_lists_calls_and_says_what_to_try_next() {
    for protocol in ["auto", "legacy"] {
        let mark = Mark::new();
        let finished = mcpwire(&["demo", "--protocol", protocol, "--env", mark.variable()]);
        assert_eq!(finished.code(), 0, "{finished:?}");
        for expected in [
            "mcpwire-demo",
            if protocol == "auto" { "2026-07-28" } else { "2025-11-25" },
            "echo, add, slow, fail, weather",
            "Hello from the other end of a pipe!",
            "Porto",
            "Waited 2 s.",
            "mcpwire tools --demo",
        ] {
            assert!(finished.stdout.contains(expected), "{expected}: {finished:?}");
        }
        assert_eq!(finished.stderr, "");
        mark.assert_nothing_left();
    }
}
