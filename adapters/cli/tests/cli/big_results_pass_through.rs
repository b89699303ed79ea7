//! Large arguments and results, and the limit of `--max-message`.
#![cfg(unix)]

use crate::support::{mcpwire_with_input, scratch};

#[test]
fn eight_mebibytes_go_there_and_back() {
    let message = "0123456789abcdef".repeat((8 << 20) / 16);
    let finished = mcpwire_with_input(&["call", "echo", "-", "--demo"], &format!(r#"{{"message":"{message}"}}"#));
    assert_eq!(finished.code(), 0, "{}", finished.stderr);
    assert!(finished.stdout.trim_end() == message, "{} bytes came back", finished.stdout.len());
}

#[test]
fn a_longer_message_than_allowed_is_refused() {
    let arguments = scratch("long-message.json");
    std::fs::write(&arguments, format!(r#"{{"message":"{}"}}"#, "x".repeat(100_000))).expect("a file");
    let arguments = format!("@{}", arguments.display());
    let finished = mcpwire_with_input(&["call", "echo", &arguments, "--demo", "--max-message", "64KiB"], "");
    assert_eq!((finished.code(), finished.stdout.as_str()), (4, ""), "{finished:?}");
    assert!(finished.stderr.contains("65536"), "the limit: {finished:?}");
}
