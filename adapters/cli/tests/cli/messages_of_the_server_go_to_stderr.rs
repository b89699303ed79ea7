//! Log messages and the server's standard error, and the options that show or hide them.
#![cfg(unix)]

use crate::support::{mcpwire, scripted};

const LOG: &str = concat!(
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"disk","data":"nearly full"}}"#,
    "\n"
);
const RESULT: &str = r#"{"content":[{"type":"text","text":"done"}]}"#;

#[test]
fn log_messages_are_shown_unless_quiet() {
    let finished = mcpwire(&scripted(&["call", "t"], "{}", RESULT, LOG));
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, "done\n"), "{finished:?}");
    assert_eq!(finished.stderr, "[warning] disk: nearly full\n");
    for silent in ["--quiet", "--json"] {
        let finished = mcpwire(&scripted(&["call", "t", silent], "{}", RESULT, LOG));
        assert_eq!((finished.code(), finished.stderr.as_str()), (0, ""), "{finished:?}");
    }
}

#[test]
fn standard_error_is_shown_as_it_comes_only_where_asked() {
    let server = ["--", "sh", "-c", r#"echo starting >&2; exec "$0" demo-server"#, env!("CARGO_BIN_EXE_mcpwire")];
    let call = |how: &[&'static str]| mcpwire(&[&["call", "echo", r#"{"message":"hi"}"#][..], how, &server].concat());
    assert_eq!(call(&["--stderr", "show"]).stderr, "server: starting\n");
    for how in [&["--stderr", "hide"][..], &["--stderr", "tail"], &[]] {
        let finished = call(how);
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("hi\n", ""), "{finished:?}");
    }
}
