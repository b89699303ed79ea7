//! Exit statuses and the error object of each; what a lack of descriptors does; and calls that end early: by a timeout, an interrupt, or
//! the end of the server.
#![cfg(unix)]

use crate::support::servers::{Script, scripted};
use crate::support::{Place, Words as _, mcpwire};

#[test]
fn a_result_is_0_and_an_error_of_the_tool_is_1_and_printed() {
    let call = |tool, arguments| mcpwire(&["call", tool, arguments, "--demo"]);
    call("echo", r#"{"message":"hi"}"#).gives(0, "hi\n").says_only("");
    call("fail", r#"{"message":"the disk is full"}"#).gives(1, "the disk is full\n");
    let finished = mcpwire("call fail --demo --json").exits(1).says_only("");
    finished.json_has("/isError", true).json_has("/content/0/text", "failed, as it was asked to");
}

#[test]
fn wrong_usage_is_2_starts_nothing_and_shows_no_secret() {
    let at_url = ["info", "--json", "--url", "http://localhost/"];
    let headers = ["hunter2", ": hunter2", "Bad Name: hunter2", "Mcp-Session-Id: hunter2", "X: hunter2\u{7}"];
    let of_headers = headers.map(|header| ([&at_url[..], &["--header", header]].concat(), "header"));
    let others = [
        ("call --json echo { --demo", "arguments"),
        ("call --json echo [1] --demo", "arguments"),
        ("call --json echo @/nonexistent/arguments.json --demo", "arguments"),
        ("info --json --timeout 0 --demo", "timeout"),
        ("info --json --trace /nonexistent/trace --demo", "trace"),
        ("info --json --ca /ca.pem --demo", "ca"),
        ("info --json --proxy http://proxy:1 --demo", "proxy"),
        ("info --json --url ftp://localhost/", "url"),
        ("info --json --url http://user:hunter2@localhost/mcp", "url"),
        ("info --json --url http://localhost/ --bearer-env MCPWIRE_SURELY_NOT_SET", "bearer-env"),
        ("info --json --url http://localhost/ --env A=hunter2", "env"),
        ("info --json --url http://localhost/ --cwd /", "cwd"),
        // Tools are not completed.
        ("complete tool t a --json --demo", "kind"),
        ("complete prompt t a --json --context x --demo", "context"),
        ("info --json", "command"),
        ("nonesuch --json", "command"),
    ];
    for (words, field) in others.map(|(line, field)| (line.words(), field)).into_iter().chain(of_headers) {
        let finished = mcpwire(&words).gives(2, "").error_is("VALIDATION_ERROR", field).hides(&["hunter"]);
        assert!(finished.error()["message"].as_str().is_some_and(|message| !message.is_empty()), "{finished:?}");
    }
    let refused = mcpwire("info --url localhost:3911").gives(2, "");
    assert!(refused.stderr.starts_with("error: "), "{refused:?}");
    refused.says(&["Did you mean http://localhost:3911/mcp?"]);
    mcpwire("nonesuch").gives(2, "").says(&["error: unrecognized subcommand"]);
}

#[test]
fn help_and_version_are_0() {
    for words in ["--help", "call --help", "--version", "--json --help"] {
        // The demo server is not for people.
        mcpwire(words).exits(0).shows(&["mcpwire"]).hides(&["demo-server"]);
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
        ("info -- no-such-command".words(), 3, ["no-such-command", "not found"], "NOT_FOUND", "command"),
        (scripted("tools", dying), 3, ["the key is missing", "7"], "SERVICE_UNAVAILABLE", "connection"),
        ("call ehco --demo".words(), 4, ["ehco", "Did you mean echo?"], "NOT_FOUND", "tool"),
        (
            scripted("call greet", &refusing),
            4,
            ["name must not be empty", "name?: string"],
            "VALIDATION_ERROR",
            "arguments",
        ),
        (scripted("call t", &failing), 4, ["the database", "is gone"], "SERVICE_UNAVAILABLE", "server"),
    ] {
        let finished = mcpwire(&words).gives(status, "").says(&says);
        assert!(code == "NOT_FOUND" || !finished.stderr.contains("not found"), "{finished:?}");
        mcpwire(&[&words[..1], &["--json"], &words[1..]].concat()).error_is(code, field);
    }
}

#[test]
fn other_servers_that_cannot_be_used_are_3_or_4() {
    mcpwire("info -- /etc/passwd").exits(3);
    let dying = scripted("tools --stderr hide", "echo the key is missing >&2; exit 7");
    mcpwire(&dying).exits(3).hides(&["the key is missing"]);
    let resources = Script::with_tools("{}").run("resources").exits(4);
    resources.says(&["does not offer resources"]).hides(&["raw request"]);
    // An answer that cannot be read.
    Script::call(r#""result":"none","error":7"#).run("call t").gives(4, "");
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
    use crate::support::{Finished, MCPWIRE, Place, Running, SUM, Words as _};

    /// Starts `mcpwire`, which may open at most `limit` files at the same time.
    fn start(limit: usize, line: &str) -> Running {
        let mut command = Command::new("sh");
        command.args(["-c", r#"ulimit -n "$0" && exec "$@""#, &limit.to_string(), MCPWIRE]).args(line.words());
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
        let [by_command, by_name] = [format!("-- {MCPWIRE} demo-server"), place.option()];
        let commands = [
            format!("call add {SUM} {by_command}"),
            format!("tools {by_command}"),
            format!("call add {SUM} --url {}", web.url),
            format!("call demo__add {SUM} {by_name}"),
            format!("tools {by_name}"),
            format!("status {by_name}"),
        ];
        let hub = format!("hub run {}", of_hub.option());
        // With more descriptors than all have needed several times in a row, nothing changes.
        let mut in_a_row = 0;
        for limit in 3.. {
            let hub = start(limit, &hub);
            let running = commands.each_ref().map(|line| start(limit, line));
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

/// Calls that end early: by a timeout, an interrupt, or the end of the server. The server is told, and no process is left.
#[cfg(target_os = "linux")]
mod early_ends {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use rustix::process::{Signal, kill_process};
    use serde_json::json;

    use crate::support::servers::{DemoServer, scripted};
    use crate::support::{MCPWIRE, Mark, Place, Running, SLOW, SUM, command, each, mcpwire, wait_for, wait_for_text};

    /// Returns a call that takes ten minutes, with these options.
    fn slow(options: &str) -> String {
        format!("{} {options}", SLOW.join(" "))
    }

    /// Starts a call that takes ten minutes, with a trace, and waits for its first progress.
    fn begin_slow(place: &Place, options: &str) -> Running {
        let trace = place.file("trace");
        let running = Running::start(&mut command(&slow(&format!("--trace {trace} {options}"))), "");
        wait_for_text(trace, "\"notifications/progress\"");
        running
    }

    /// Returns a directory in which the demo server is configured as `demo`, and the mark of its process.
    fn marked_demo() -> (Mark, Place) {
        let (mark, place) = (Mark::new(), Place::new());
        place.run(&format!("server add demo --env {mark} -- {MCPWIRE} demo-server")).exits(0);
        (mark, place)
    }

    /// The progress of a call does not stretch its timeout.
    #[test]
    fn a_timeout_cancels_the_call_and_is_5() {
        each(["modern", "legacy", "over HTTP", "by name"], |case| match case {
            "over HTTP" => {
                let server = DemoServer::start();
                // On a busy machine, the connection alone takes a part of this time.
                mcpwire(&slow(&format!("--url {} --timeout 3s", server.url))).gives(5, "");
                server.assert_cancelled();
            }
            "by name" => {
                let (mark, place) = marked_demo();
                place.run(&["call", "demo__slow", SLOW[2], "--timeout", "2s"]).exits(5);
                mark.assert_nothing_left();
            }
            protocol => {
                let mark = Mark::new();
                let options = format!("--demo --timeout 2500ms --protocol {protocol} --stderr show --env {mark}");
                let finished = mcpwire(&slow(&options)).gives(5, "");
                assert!(finished.took >= Duration::from_millis(2_500), "{finished:?}");
                // "was cancelled" are the server's own words.
                finished.says(&["tools/call", "2.5 s", "was cancelled"]);
                mark.assert_nothing_left();
            }
        });
    }

    #[test]
    fn a_server_that_does_not_answer_is_ended_after_the_timeout_and_after_an_interrupt() {
        each(["info", "info --json", "tools", "an interrupt of info"], |case| {
            let (mark, place) = (Mark::new(), Place::new());
            if let Some(words) = case.strip_prefix("an interrupt of ") {
                let trace = place.file("trace");
                let line = format!("{words} --trace {trace} --env {mark} -- sleep 600");
                let running = Running::start(&mut command(&line), "");
                wait_for_text(trace, "\"server/discover\"");
                running.interrupt().gives(130, "");
            } else {
                let finished = mcpwire(&format!("{case} --timeout 300ms --env {mark} -- sleep 600")).gives(5, "");
                if case.ends_with("--json") {
                    finished.error_is("NETWORK_ERROR", "timeout");
                }
            }
            mark.assert_nothing_left();
        });
    }

    #[test]
    fn a_signal_is_130_and_the_server_is_told() {
        each(["interrupt", "terminate", "modern over HTTP", "legacy over HTTP"], |case| {
            let (mark, place) = (Mark::new(), Place::new());
            if let Some(protocol) = case.strip_suffix(" over HTTP") {
                let server = DemoServer::start();
                let call = begin_slow(&place, &format!("--protocol {protocol} --url {}", server.url));
                call.interrupt().exits(130);
                server.assert_cancelled();
            } else {
                let call = begin_slow(&place, &format!("--demo --env {mark}"));
                call.signal(if case == "terminate" { Signal::TERM } else { Signal::INT });
                call.finish().gives(130, "");
                let trace = place.read("trace");
                assert!(trace.contains("notifications/cancelled"), "{trace}");
                mark.assert_nothing_left();
            }
        });
    }

    #[test]
    fn a_second_interrupt_kills_a_server_that_does_not_end() {
        // A shutdown asks the server to terminate after 3 s. The second interrupt may come later than that on a busy machine, but
        // not each time.
        let is_killed_at_once = (0..5).any(|_| {
            let (mark, place) = (Mark::new(), Place::new());
            let (trace, asked) = (place.file("trace"), place.file("asked"));
            let script = format!("trap '' INT; trap 'echo >\"{asked}\"' TERM; while :; do sleep 0.01; done");
            let info = format!("info --env {mark} --trace {trace}");
            let running = Running::start(&mut command(&scripted(&info, &script)), "");
            wait_for_text(&trace, "\"server/discover\"");
            running.signal(Signal::INT);
            running.wait_for_stderr("interrupted");
            running.interrupt().exits(130);
            wait_for("the group to be gone", || mark.processes().is_empty().then_some(()));
            !Path::new(&asked).exists()
        });
        assert!(is_killed_at_once, "each time, the server was asked to terminate first");
    }

    /// The container engine does not respond. The hub would wait five seconds for each container.
    #[test]
    fn an_interrupt_ends_a_command_that_removes_what_a_killed_hub_left() {
        let place = Place::new();
        let log = place.file("log");
        let script = format!("#!/bin/sh\necho \"$@\" >> '{log}'\nwhile [ -e '{log}' ]; do sleep 0.01; done\n");
        let engine = place.write_program("engine", &script);
        let entry = |name: &str| {
            let id = "00000000-0000-4000-8000-000000000000";
            let container = json!({"name": name, "client": engine});
            json!({
                "child": {"id": id, "generation": 1, "pid": 4_000_000, "container": container},
                "host": {"pid": 4_000_000, "started": "other-boot:1"},
            })
        };
        let left = json!({"version": 1, "children": [entry("first"), entry("second")]});
        fs::create_dir(place.path().join("state")).expect("a directory");
        place.write("state/ledger.json", left.to_string());

        let running = place.begin("status");
        wait_for("the first container to be removed", || Path::new(&log).exists().then_some(()));
        running.interrupt().exits(130);
        assert_eq!(place.read("log"), "rm -f first\n", "the rest is left to the next hub");
        let recorded = place.read("state/ledger.json");
        assert!(recorded.contains("first") && recorded.contains("second"), "{recorded}");
    }

    #[test]
    fn an_interrupt_cancels_a_call_by_name_and_servers_of_a_running_hub_go_on() {
        each(["without a hub", "with a hub"], |case| {
            let (mark, place) = marked_demo();
            let hub = (case == "with a hub").then(|| place.hub());
            if let Some(hub) = &hub {
                hub.wait_for_stderr("demo: running");
            }
            let call = place.at_terminal(&["call", "demo__slow", SLOW[2]], &[]);
            call.wait_for_stderr("of 600.0 s");
            call.interrupt().gives(130, "").says(&["interrupted"]);
            wait_for("the server to be told", || {
                let logs = place.run("server logs demo").stdout;
                let mut lines = logs.lines().filter(|line| line.contains("mcpwire demo-server: request "));
                lines.any(|line| line.contains(" was cancelled")).then_some(())
            });
            if let Some(hub) = hub {
                place.adds_up("demo__add");
                hub.interrupt().exits(0);
            }
            mark.assert_nothing_left();
        });
    }

    /// A call that did not notice the end of its server would end with a timeout, which has another exit status.
    #[test]
    fn a_server_that_goes_in_mid_call_is_4_with_its_last_words() {
        each(["killed", "exits", "over HTTP"], |case| match case {
            "killed" => {
                let (mark, place) = (Mark::new(), Place::new());
                place.write("server", format!("echo these are my last words >&2; exec {MCPWIRE} demo-server"));
                let running = begin_slow(&place, &format!("--env {mark} -- sh {}", place.file("server")));
                let server = mark.processes();
                assert_eq!(server.len(), 1, "one server runs");
                kill_process(server[0], Signal::KILL).expect("it runs");
                let finished = running.finish().gives(4, "").says(&["these are my last words"]);
                assert!(finished.stderr.contains("SIGKILL") || finished.stderr.contains("signal: 9"), "{finished:?}");
                mark.assert_nothing_left();
            }
            "exits" => {
                let mark = Mark::new();
                let script = r#"while IFS= read -r line; do
                    case $line in *'"tools/call"'*) echo out of memory >&2; exit 7 ;; esac
                    printf '%s\n' "$line"; done | MCPWIRE demo-server"#;
                let script = script.replace("MCPWIRE", MCPWIRE);
                let line = format!("call echo message=hi --json --env {mark}");
                let finished = mcpwire(&scripted(&line, &script)).exits(4).says(&["out of memory"]);
                finished.error_has("code", "SERVICE_UNAVAILABLE");
                mark.assert_nothing_left();
            }
            _ => {
                let (server, place) = (DemoServer::start(), Place::new());
                let running = begin_slow(&place, &format!("--json --url {}", server.url));
                drop(server);
                running.finish().exits(4).error_is("NETWORK_ERROR", "connection");
            }
        });
    }

    #[test]
    fn a_stopped_tool_goes_on_with_its_server() {
        let (mark, place) = (Mark::new(), Place::new());
        let gate = place.file("gate");
        let script = format!("while [ ! -e '{gate}' ]; do sleep 0.01; done; exec {MCPWIRE} demo-server");
        let line = format!("call add {SUM} --env {mark}");
        let tool = Running::start(&mut command(&scripted(&line, &script)), "");
        wait_for("the server", || (!mark.processes().is_empty()).then_some(()));
        tool.signal(Signal::STOP);
        wait_for("the stop", || tool.is_stopped().then_some(()));
        tool.signal(Signal::CONT);
        place.write("gate", "");
        tool.finish().gives(0, "42\n");
        mark.assert_nothing_left();
    }
}
