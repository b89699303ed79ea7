//! Exit statuses, the error object of each, and what a lack of descriptors does.
#![cfg(unix)]

use crate::support::servers::Script;
use crate::support::{Place, mcpwire};

#[test]
fn a_result_is_0_and_an_error_of_the_tool_is_1_and_printed() {
    let call = |tool, arguments| mcpwire(&["call", tool, arguments, "--demo"]);
    call("echo", r#"{"message":"hi"}"#).gives(0, "hi\n").says_only("");
    call("fail", r#"{"message":"the disk is full"}"#).gives(1, "the disk is full\n");
    let finished = mcpwire(&["call", "fail", "--demo", "--json"]).exits(1).says_only("");
    finished.json_has("/isError", true).json_has("/content/0/text", "failed, as it was asked to");
}

#[test]
fn wrong_usage_is_2_starts_nothing_and_shows_no_secret() {
    let at_url = |more: &[&'static str]| [&["info", "--url", "http://localhost/"], more].concat();
    for (arguments, field) in [
        (vec!["call", "echo", "{", "--demo"], "arguments"),
        (vec!["call", "echo", "[1]", "--demo"], "arguments"),
        (vec!["call", "echo", "@/nonexistent/arguments.json", "--demo"], "arguments"),
        (vec!["info", "--timeout", "0", "--demo"], "timeout"),
        (vec!["info", "--trace", "/nonexistent/trace", "--demo"], "trace"),
        (vec!["info", "--ca", "/ca.pem", "--demo"], "ca"),
        (vec!["info", "--proxy", "http://proxy:1", "--demo"], "proxy"),
        (vec!["info", "--url", "ftp://localhost/"], "url"),
        (vec!["info", "--url", "http://user:hunter2@localhost/mcp"], "url"),
        (at_url(&["--header", "hunter2"]), "header"),
        (at_url(&["--header", ": hunter2"]), "header"),
        (at_url(&["--header", "Bad Name: hunter2"]), "header"),
        (at_url(&["--header", "Mcp-Session-Id: hunter2"]), "header"),
        (at_url(&["--header", "X: hunter2\u{7}"]), "header"),
        (at_url(&["--bearer-env", "MCPWIRE_SURELY_NOT_SET"]), "bearer-env"),
        (at_url(&["--env", "A=hunter2"]), "env"),
        (at_url(&["--cwd", "/"]), "cwd"),
    ] {
        let finished = mcpwire(&with_json(&arguments)).gives(2, "").error_is("VALIDATION_ERROR", field);
        let finished = finished.hides(&["hunter"]);
        assert!(finished.error()["message"].as_str().is_some_and(|message| !message.is_empty()), "{finished:?}");
    }
    let refused = mcpwire(&["info", "--url", "localhost:3911"]).gives(2, "");
    assert!(refused.stderr.starts_with("error: "), "{refused:?}");
    refused.says(&["Did you mean http://localhost:3911/mcp?"]);
    // An error of the command line, without and with `--json`.
    mcpwire(&["nonesuch"]).gives(2, "").says(&["error: unrecognized subcommand"]);
    mcpwire(&["nonesuch", "--json"]).gives(2, "").error_is("VALIDATION_ERROR", "command");
}

/// Returns the arguments with `--json` after the first one.
fn with_json<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&arguments[..1], &["--json"], &arguments[1..]].concat()
}

#[test]
fn help_and_version_are_0() {
    for arguments in [&["--help"][..], &["call", "--help"], &["--version"], &["--json", "--help"]] {
        // The demo server is not for people.
        mcpwire(arguments).exits(0).shows(&["mcpwire"]).hides(&["demo-server"]);
    }
}

#[test]
fn each_failure_has_its_status_and_its_error() {
    let list =
        r#"{"tools":[{"name":"greet","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}}]}"#;
    let refusal = r#""error":{"code":-32602,"message":"name must not be empty"}"#;
    let refusing = Script::with_tools(list).answers("tools/call", refusal).text();
    let failing = Script::call(r#""error":{"code":-32603,"message":"the database is gone"}"#).text();
    let dying = "echo the key is missing >&2; exit 7";
    for (words, status, says, code, field) in [
        (&["info", "--", "no-such-command"][..], 3, ["no-such-command", "not found"], "NOT_FOUND", "command"),
        (&["tools", "--", "sh", "-c", dying], 3, ["the key is missing", "7"], "SERVICE_UNAVAILABLE", "connection"),
        (&["call", "ehco", "--demo"], 4, ["ehco", "Did you mean echo?"], "NOT_FOUND", "tool"),
        (
            &["call", "greet", "--", "sh", "-c", &refusing],
            4,
            ["name must not be empty", "name?: string"],
            "VALIDATION_ERROR",
            "arguments",
        ),
        (&["call", "t", "--", "sh", "-c", &failing], 4, ["the database", "is gone"], "SERVICE_UNAVAILABLE", "server"),
    ] {
        let finished = mcpwire(words).gives(status, "").says(&says);
        assert!(code == "NOT_FOUND" || !finished.stderr.contains("not found"), "{finished:?}");
        mcpwire(&with_json(words)).error_is(code, field);
    }
}

#[test]
fn other_servers_that_cannot_be_used_are_3_or_4() {
    mcpwire(&["info", "--", "/etc/passwd"]).exits(3);
    let dying = ["--stderr", "hide", "--", "sh", "-c", "echo the key is missing >&2; exit 7"];
    mcpwire(&[&["tools"], &dying[..]].concat()).exits(3).hides(&["the key is missing"]);
    let resources = Script::with_tools("{}").run(&["resources"]).exits(4);
    resources.says(&["does not offer resources"]).hides(&["raw request"]);
    // An answer that cannot be read.
    Script::call(r#""result":"none","error":7"#).run(&["call", "t"]).gives(4, "");
    // Errors name the package, not its launcher.
    let place = Place::new();
    let npx = place.write_program("npx", "#!/bin/sh\nexit 1\n");
    mcpwire(&["info", "--", &npx, "-y", "@acme/server-things"]).says(&["@acme/server-things"]);
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

    #[test]
    fn commands_and_a_hub_work_or_fail_clearly() {
        let (web, place, of_hub) = (DemoServer::start(), Place::with_demo(), Place::with_demo());
        let demo = ["--", MCPWIRE, "demo-server"];
        let by_name = ["--config-dir", place.path().to_str().expect("a plain path")];
        let by_url = ["--url", &web.url];
        let commands: [(&[&str], &[&str]); 6] = [
            (&["call", "add", SUM], &demo),
            (&["tools"], &demo),
            (&["call", "add", SUM], &by_url),
            (&["call", "demo__add", SUM], &by_name),
            (&["tools"], &by_name),
            (&["status"], &by_name),
        ];
        // With more descriptors than all have needed several times in a row, nothing changes.
        let mut in_a_row = 0;
        for limit in 3.. {
            let hub = start(limit, &["hub", "run", "--config-dir", of_hub.path().to_str().expect("a plain path")]);
            let running = commands.map(|(words, server)| start(limit, &[words, server].concat()));
            let has_worked = running.map(Running::finish).map(|finished| {
                let has_worked = finished.code() == 0 && !finished.stdout.is_empty();
                assert_clear(finished, has_worked);
                has_worked
            });
            let has_listened = hub.wait_for_stderr_or_end("listening at ");
            if has_listened {
                hub.signal(Signal::INT);
            }
            assert_clear(hub.finish(), has_listened);
            in_a_row = if has_listened && !has_worked.contains(&false) { in_a_row + 1 } else { 0 };
            if in_a_row == 5 {
                break;
            }
            assert!(limit < 40, "40 are enough: {has_worked:?}, the hub: {has_listened}");
        }
    }
}
