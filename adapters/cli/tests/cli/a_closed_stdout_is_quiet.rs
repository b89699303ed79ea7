//! A reader may close the pipe before the output ends, as `head` does.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::support::{Mark, command, scratch};

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mark = Mark::new();
    let arguments = scratch("long.json");
    std::fs::write(&arguments, format!(r#"{{"message":"{}"}}"#, "line\\n".repeat(100_000))).expect("a file");
    let arguments = format!("@{}", arguments.display());
    for json in [&[][..], &["--json"]] {
        let line = [&["call", "echo", &arguments, "--demo", "--env", mark.variable()], json].concat();
        let mut child = command(&line)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut first = [0];
        child.stdout.take().expect("it is piped").read_exact(&mut first).expect("a byte");
        let stderr = BufReader::new(child.stderr.take().expect("it is piped")).lines().next();
        assert!(stderr.is_none(), "{stderr:?}");
        assert_eq!(child.wait().expect("it ends").code(), Some(0));
        mark.assert_nothing_left();
    }
}
