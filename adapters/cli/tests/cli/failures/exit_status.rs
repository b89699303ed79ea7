//! Exit statuses, the error object of each, and what a lack of descriptors does.
#![cfg(unix)]

use crate::support::mcpwire;
use crate::support::servers::Script;

#[test]
fn a_result_is_0() {
    mcpwire(&["call", "echo", r#"{"message":"hi"}"#, "--demo"]).gives(0, "hi\n").says_only("");
}

#[test]
fn an_error_of_the_tool_is_1_and_its_result_is_printed() {
    let arguments = r#"{"message":"the disk is full"}"#;
    mcpwire(&["call", "fail", arguments, "--demo"]).gives(1, "the disk is full\n");
    let result = mcpwire(&["call", "fail", "--demo", "--json"]).exits(1).says_only("").json();
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["content"][0]["text"], "failed, as it was asked to", "{result}");
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
        let finished = mcpwire(&arguments).gives(2, "");
        assert!(finished.stderr.starts_with("error: "), "{finished:?}");
        let finished = mcpwire(&[&arguments[..], &["--json"]].concat()).gives(2, "");
        let finished = finished.error_is("VALIDATION_ERROR", field);
        assert!(finished.error()["message"].as_str().is_some_and(|message| !message.is_empty()), "{finished:?}");
    }
    for arguments in [&["tools"][..], &["info", "--demo", "--", "server"], &["nonesuch"], &[]] {
        mcpwire(arguments).gives(2, "");
    }
}

#[test]
fn help_and_version_are_0() {
    for arguments in [&["--help"][..], &["call", "--help"], &["--version"], &["--json", "--help"]] {
        // The demo server is not for people.
        mcpwire(arguments).exits(0).shows(&["mcpwire"]).hides(&["demo-server"]);
    }
}

#[test]
fn a_command_that_cannot_be_started_is_3() {
    let missing = "mcpwire-no-such-command";
    mcpwire(&["info", "--", missing]).gives(3, "").says(&[missing, "not found"]);
    mcpwire(&["info", "--json", "--", missing]).error_is("NOT_FOUND", "command");
    mcpwire(&["info", "--", "/etc/passwd"]).exits(3);
}

#[test]
fn a_server_that_does_not_open_the_connection_is_3_with_its_last_words() {
    let dying = ["--", "sh", "-c", "echo the key is missing >&2; exit 7"];
    mcpwire(&[&["tools"], &dying[..]].concat()).gives(3, "").says(&["the key is missing", "7"]);
    mcpwire(&[&["tools", "--stderr", "hide"], &dying[..]].concat()).exits(3).hides(&["the key is missing"]);
    let error = mcpwire(&["tools", "--json", "--", "sh", "-c", "exit 7"]).error();
    assert_eq!(error["code"], "SERVICE_UNAVAILABLE", "{error}");
}

#[test]
fn errors_name_the_package_and_not_its_launcher() {
    let place = crate::support::Place::new();
    let npx = place.write_program("npx", "#!/bin/sh\nexit 1\n");
    mcpwire(&["info", "--", &npx, "-y", "@acme/server-things"]).says(&["@acme/server-things"]);
}

#[test]
fn an_unknown_tool_or_feature_is_4() {
    mcpwire(&["call", "ehco", "--demo"]).gives(4, "").says(&["ehco", "Did you mean echo?"]);
    mcpwire(&["call", "nonesuch", "--demo", "--json"]).error_is("NOT_FOUND", "tool");
    let resources = Script::with_tools("{}").run(&["resources"]).exits(4);
    resources.says(&["does not offer resources"]).hides(&["raw request"]);
}

#[test]
fn arguments_that_the_server_refuses_are_4_and_the_signature_is_shown() {
    let list =
        r#"{"tools":[{"name":"greet","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}}]}"#;
    let refusal = r#""error":{"code":-32602,"message":"name must not be empty"}"#;
    let server = Script::with_tools(list).answers("tools/call", refusal);
    let finished = server.run(&["call", "greet"]).gives(4, "");
    finished.says(&["name must not be empty", "name?: string"]).hides(&["not found"]);
    server.run(&["call", "greet", "--json"]).error_is("VALIDATION_ERROR", "arguments");
}

#[test]
fn an_error_of_the_server_is_4() {
    let server = Script::call(r#""error":{"code":-32603,"message":"the database is gone"}"#);
    server.run(&["call", "t"]).gives(4, "").says(&["the database is gone"]);
    let error = server.run(&["call", "t", "--json"]).error();
    assert_eq!(error["code"], "SERVICE_UNAVAILABLE", "{error}");
}

#[test]
fn an_answer_that_cannot_be_read_is_4() {
    Script::call(r#""result":"none","error":7"#).run(&["call", "t"]).gives(4, "");
}

/// With few descriptors, each command works or says that there are too many open files. It neither panics nor waits.
#[cfg(target_os = "linux")]
mod few_descriptors {
    use std::process::Command;

    use rustix::process::Signal;

    use crate::support::servers::DemoServer;
    use crate::support::{Finished, MCPWIRE, Place, Running, SUM};

    /// Starts `mcpwire` with a limit of open files.
    fn start(limit: usize, arguments: &[&str]) -> Running {
        let mut command = Command::new("sh");
        command.args(["-c", r#"ulimit -n "$0" && exec "$@""#, &limit.to_string(), MCPWIRE]).args(arguments);
        Running::start(&mut command, "")
    }

    /// Asserts that the command has worked, or that its error names the limit.
    #[track_caller]
    fn assert_clear(finished: Finished, has_worked: bool) {
        let finished = finished.hides(&["panicked"]);
        // Without descriptors, the system cannot even load the program.
        let is_named = finished.stderr.contains("Too many open files") || finished.stderr.contains("Error 24");
        assert!(has_worked || is_named, "{finished:?}");
        assert_ne!(finished.status.code(), Some(101), "{finished:?}");
    }

    /// Runs the commands with each limit, and asserts that they work with the largest one.
    fn with_each_limit(commands: &[&[&str]]) {
        for limit in 3..=40 {
            let running: Vec<Running> = commands.iter().map(|arguments| start(limit, arguments)).collect();
            for finished in running.into_iter().map(Running::finish) {
                let has_worked = finished.code() == 0 && !finished.stdout.is_empty();
                assert!(has_worked || limit < 40, "40 are enough: {finished:?}");
                assert_clear(finished, has_worked);
            }
        }
    }

    #[test]
    fn commands_fail_clearly() {
        let web = DemoServer::start();
        let server = ["--", MCPWIRE, "demo-server"];
        with_each_limit(&[
            &[&["call", "add", SUM], &server[..]].concat(),
            &[&["tools"], &server[..]].concat(),
            &["call", "add", SUM, "--url", &web.url],
        ]);
    }

    #[test]
    fn commands_of_configured_servers_fail_clearly() {
        let place = Place::with_demo();
        let at = ["--config-dir", place.path().to_str().expect("a plain path")];
        let commands = [&["call", "demo__add", SUM][..], &["tools"], &["status"]];
        let [call, tools, status] = commands.map(|words| [words, &at].concat());
        with_each_limit(&[&call, &tools, &status]);
    }

    #[test]
    fn a_hub_runs_or_fails_clearly() {
        let place = Place::with_demo();
        for limit in 3..=40 {
            let hub = start(limit, &["hub", "run", "--config-dir", place.path().to_str().expect("a plain path")]);
            let has_listened = hub.wait_for_stderr_or_end("listening at ");
            if has_listened {
                hub.signal(Signal::INT);
            }
            assert!(has_listened || limit < 40, "40 are enough: {}", hub.stderr_so_far());
            assert_clear(hub.finish(), has_listened);
        }
    }
}
