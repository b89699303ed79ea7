//! The environment and the working directory of a server.
#![cfg(unix)]

use std::process::Stdio;

use crate::support::{command, mcpwire};
use serde_json::json;

/// A server that writes its environment and directory to standard error, and ends.
const TELL: [&str; 4] = ["--", "sh", "-c", r#"echo "A=$A B=$B C=$C in $(pwd)" >&2; exit 1"#];

#[test]
fn variables_are_set_or_passed_on_by_name_and_no_others() {
    let arguments = [&["info", "--env", "A=set here=so", "--env", "B"][..], &TELL].concat();
    let output = command(&arguments)
        .envs([("A", "ours"), ("B", "passed on"), ("C", "not passed on")])
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("A=set here=so B=passed on C= in "), "{stderr}");
}

#[test]
fn the_directory_is_the_one_that_was_named() {
    let finished = mcpwire(&[&["info", "--cwd", "/"][..], &TELL].concat());
    assert!(finished.stderr.contains("in /\n"), "{finished:?}");

    let error = mcpwire(&[&["info", "--json", "--cwd", "/nonexistent"][..], &TELL].concat()).error();
    assert_eq!((&error["code"], &error["field"]), (&json!("NOT_FOUND"), &json!("cwd")), "{error}");
}
