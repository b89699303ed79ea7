//! Exit statuses, and the error object of each.
#![cfg(unix)]

use crate::support::mcpwire;
use serde_json::json;

#[test]
fn a_result_is_0() {
    let finished = mcpwire(&["call", "echo", r#"{"message":"hi"}"#, "--demo"]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, "hi\n"), "{finished:?}");
    assert_eq!(finished.stderr, "");
}

#[test]
fn an_error_of_the_tool_is_1_and_its_result_is_printed() {
    let finished = mcpwire(&["call", "fail", r#"{"message":"the disk is full"}"#, "--demo"]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (1, "the disk is full\n"), "{finished:?}");
    let finished = mcpwire(&["call", "fail", "--demo", "--json"]);
    assert_eq!(finished.code(), 1);
    assert_eq!(finished.json()["isError"], true);
    assert_eq!(finished.stderr, "", "the result says it all");
}

#[test]
fn wrong_usage_is_2_and_starts_nothing() {
    for (arguments, field) in [
        (&["call", "echo", "{"][..], "arguments"),
        (&["call", "echo", "[1]"], "arguments"),
        (&["call", "echo", "\"text\""], "arguments"),
        (&["call", "echo", "@/nonexistent/arguments.json"], "arguments"),
        (&["info", "--timeout", "soon"], "timeout"),
        (&["info", "--timeout", "0"], "timeout"),
        (&["info", "--protocol", "1999-01-01"], "protocol"),
        (&["info", "--max-message", "0"], "max-message"),
        (&["info", "--env", "MCPWIRE_SURELY_NOT_SET"], "env"),
        (&["info", "--stderr", "sometimes"], "stderr"),
        (&["info", "--trace", "/nonexistent/trace"], "trace"),
        (&["call"], "TOOL"),
    ] {
        let arguments = [arguments, &["--demo"]].concat();
        let finished = mcpwire(&arguments);
        assert_eq!((finished.code(), finished.stdout.as_str()), (2, ""), "{arguments:?} {finished:?}");
        assert!(finished.stderr.starts_with("error: "), "{finished:?}");

        let finished = mcpwire(&[&arguments[..], &["--json"]].concat());
        assert_eq!((finished.code(), finished.stdout.as_str()), (2, ""), "{finished:?}");
        let error = finished.error();
        assert_eq!(error["code"], "VALIDATION_ERROR", "{arguments:?}");
        assert_eq!(error["field"], field, "{arguments:?} {error}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()));
    }
    for arguments in [&["tools"][..], &["info", "--demo", "--", "server"], &["nonesuch"], &[]] {
        let finished = mcpwire(arguments);
        assert_eq!((finished.code(), finished.stdout.as_str()), (2, ""), "{arguments:?} {finished:?}");
    }
}

#[test]
fn help_and_version_are_0() {
    for arguments in [&["--help"][..], &["call", "--help"], &["--version"], &["--json", "--help"]] {
        let finished = mcpwire(arguments);
        assert_eq!(finished.code(), 0, "{finished:?}");
        assert!(finished.stdout.contains("mcpwire"), "{finished:?}");
    }
    assert!(!mcpwire(&["--help"]).stdout.contains("demo-server"), "the demo's other half is not for people");
}

#[test]
fn a_command_that_cannot_be_started_is_3() {
    let finished = mcpwire(&["info", "--", "mcpwire-no-such-command"]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (3, ""), "{finished:?}");
    assert!(finished.stderr.contains("mcpwire-no-such-command"), "{finished:?}");
    assert!(finished.stderr.contains("not found"), "{finished:?}");

    let error = mcpwire(&["info", "--json", "--", "mcpwire-no-such-command"]).error();
    assert_eq!((&error["code"], &error["field"]), (&json!("NOT_FOUND"), &json!("command")), "{error}");

    let finished = mcpwire(&["info", "--", "/etc/passwd"]);
    assert_eq!(finished.code(), 3, "{finished:?}");
}

#[test]
fn a_server_that_does_not_open_the_connection_is_3_with_its_last_words() {
    let finished = mcpwire(&["tools", "--", "sh", "-c", "echo the key is missing >&2; exit 7"]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (3, ""), "{finished:?}");
    assert!(finished.stderr.contains("the key is missing"), "{finished:?}");
    assert!(finished.stderr.contains('7'), "the exit status of the server: {finished:?}");

    let hidden = mcpwire(&["tools", "--stderr", "hide", "--", "sh", "-c", "echo the key is missing >&2; exit 7"]);
    assert_eq!(hidden.code(), 3, "{hidden:?}");
    assert!(!hidden.stderr.contains("the key is missing"), "{hidden:?}");

    let error = mcpwire(&["tools", "--json", "--", "sh", "-c", "exit 7"]).error();
    assert_eq!(error["code"], "SERVICE_UNAVAILABLE", "{error}");
}

#[test]
fn an_unknown_tool_is_4() {
    let finished = mcpwire(&["call", "ehco", "--demo"]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (4, ""), "{finished:?}");
    assert!(finished.stderr.contains("ehco"), "{finished:?}");
    assert!(finished.stderr.contains("Did you mean echo?"), "{finished:?}");

    let error = mcpwire(&["call", "nonesuch", "--demo", "--json"]).error();
    assert_eq!((&error["code"], &error["field"]), (&json!("NOT_FOUND"), &json!("tool")), "{error}");
}

#[test]
fn arguments_that_the_server_refuses_are_4_and_the_signature_is_shown() {
    let list =
        r#"{"tools":[{"name":"greet","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}}]}"#;
    let refusal = r#""error":{"code":-32602,"message":"name must not be empty"}"#;
    let finished = mcpwire(&crate::support::scripted(&["call", "greet"], list, refusal, ""));
    assert_eq!((finished.code(), finished.stdout.as_str()), (4, ""), "{finished:?}");
    assert!(finished.stderr.contains("name must not be empty"), "{finished:?}");
    assert!(finished.stderr.contains("name?: string"), "{finished:?}");
    assert!(!finished.stderr.contains("not found"), "{finished:?}");

    let error = mcpwire(&crate::support::scripted(&["call", "greet", "--json"], list, refusal, "")).error();
    assert_eq!((&error["code"], &error["field"]), (&json!("VALIDATION_ERROR"), &json!("arguments")), "{error}");
}

#[test]
fn an_error_of_the_server_is_4() {
    let failure = r#""error":{"code":-32603,"message":"the database is gone"}"#;
    let finished = mcpwire(&crate::support::scripted(&["call", "t"], "{}", failure, ""));
    assert_eq!((finished.code(), finished.stdout.as_str()), (4, ""), "{finished:?}");
    assert!(finished.stderr.contains("the database is gone"), "{finished:?}");
    let error = mcpwire(&crate::support::scripted(&["call", "t", "--json"], "{}", failure, "")).error();
    assert_eq!(error["code"], "SERVICE_UNAVAILABLE", "{error}");
}

#[test]
fn an_answer_that_cannot_be_read_is_4() {
    let finished = mcpwire(&crate::support::scripted(&["call", "t"], "{}", r#""result":"none","error":7"#, ""));
    assert_eq!((finished.code(), finished.stdout.as_str()), (4, ""), "{finished:?}");
}

#[test]
fn no_answer_in_time_is_5_also_while_connecting() {
    let finished = mcpwire(&["info", "--timeout", "300ms", "--", "sleep", "600"]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (5, ""), "{finished:?}");
    let error = mcpwire(&["info", "--timeout", "300ms", "--json", "--", "sleep", "600"]).error();
    assert_eq!((&error["code"], &error["field"]), (&json!("NETWORK_ERROR"), &json!("timeout")), "{error}");
}
