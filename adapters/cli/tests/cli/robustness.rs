//! `mcpwire test`: what it finds at servers that break, how small the inputs become, and that the printed commands repeat it.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Finished, MCPWIRE, Place, mcpwire, run};

/// Returns the shell script of a server of revision 2025-11-25 with the tool `t`, which only reads and needs a text. `call` is the code
/// that answers its calls with `say`: `$line` is the message. `schemas` are further members of the tool.
///
/// The server answers all other requests as it must, and ignores lines that are no requests.
fn server(schemas: &str, call: &str) -> String {
    format!(
        r#"say() {{ printf '{{"jsonrpc":"2.0","id":%s,%s}}\n' "$id" "$1"; }}
while IFS= read -r line; do
  id=${{line#*\"id\":}}; id=${{id%%[,\}}]*}}
  case $id in [0-9\"-]*) ;; *) continue ;; esac
  case $line in *'"method":"'*) ;; *) continue ;; esac
  case $line in
    *'"method":"initialize"'*) say '"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"odd","version":"1"}}}}' ;;
    *'"method":"ping"'*) say '"result":{{}}' ;;
    *'"cursor"'*) say '"error":{{"code":-32602,"message":"no such page"}}' ;;
    *'"method":"tools/list"'*) say '"result":{{"tools":[{{"name":"t","annotations":{{"readOnlyHint":true}},"inputSchema":{{"type":"object","properties":{{"text":{{"type":"string"}},"count":{{"type":"integer"}}}},"required":["text"]}}{schemas}}}]}}' ;;
    *'"method":"tools/call"'*'"name":"t"'*|*'"name":"t"'*'"method":"tools/call"'*) {call} ;;
    *'"method":"tools/call"'*) say '"error":{{"code":-32602,"message":"no such tool"}}' ;;
    *) say '"error":{{"code":-32601,"message":"no such method"}}' ;;
  esac
done"#
    )
}

const DONE: &str = r#"say '"result":{"content":[]}'"#;

/// Tests a server with few calls.
fn test(options: &[&str], script: &str) -> Finished {
    mcpwire(&[&["test", "--seed", "7", "--calls", "16"], options, &["--", "sh", "-c", script]].concat())
}

/// Returns the only finding of this kind in the report of `--json`, for the tool `t` or a check.
#[track_caller]
fn finding(report: &Value, kind: &str, place: &str) -> Value {
    let findings = report["findings"].as_array().expect("findings");
    let is_it = |finding: &&Value| finding["kind"] == kind && (finding["tool"] == place || finding["check"] == place);
    let found: Vec<&Value> = findings.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{kind}: {findings:#?}");
    found[0].clone()
}

/// Runs the command that a finding is repeated with.
#[track_caller]
fn repeat(finding: &Value) -> Finished {
    let directory = Path::new(MCPWIRE).parent().and_then(Path::to_str).expect("a plain path");
    let path = format!("{directory}:{}", std::env::var("PATH").expect("a path"));
    run(Command::new("sh").args(["-c", finding["command"].as_str().expect("a command")]).env("PATH", path))
}

#[test]
fn a_crash_is_found_with_the_shortest_text_and_the_server_is_started_again() {
    let crash = format!(
        r#"case $line in *'"text":"'*) text=${{line#*\"text\":\"}}; text=${{text%%\"*}}
        [ ${{#text}} -gt 1000 ] && {{ echo out of memory >&2; exit 3; }} ;; esac; {DONE}"#
    );
    let finished = test(&["--json"], &server("", &crash)).exits(1).says_only("");
    let report = finished.json();
    let crash = finding(&report, "crash", "t");
    assert_eq!(crash["repeat"], json!({"call": {"tool": "t", "arguments": {"text": "0".repeat(1_001)}}}));
    assert_eq!(
        [&crash["severity"], &crash["tool"], &crash["is_repeatable"]],
        [&json!("failure"), &json!("t"), &json!(true)]
    );
    assert!(crash["what"].as_str().expect("a text").contains("exited with code 3"), "{crash}");
    assert_eq!(crash["stderr"], json!(["out of memory"]));
    assert_eq!(report["tools"][0]["calls"], 16, "the test goes on after the crash: {report}");
    // With the text that is one character shorter, the server lives.
    repeat(&crash).exits(4).says(&["out of memory"]);
}

#[test]
fn a_call_without_an_answer_is_found_with_the_argument_that_is_missing() {
    let hang = format!(r#"case $line in *'"text":'*) {DONE} ;; esac"#);
    let report = test(&["--json", "--timeout", "1s"], &server("", &hang)).exits(1).json();
    let hang = finding(&report, "hang", "t");
    assert_eq!(hang["repeat"], json!({"call": {"tool": "t", "arguments": {}}}));
    assert!(hang["what"].as_str().expect("a text").contains("still answers other requests"), "{hang}");
    repeat(&hang).exits(5);
}

#[test]
fn results_that_break_the_output_schema_and_invalid_answers_are_found() {
    let schema = r#","outputSchema":{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]}"#;
    let result = r#"say '"result":{"content":[],"structuredContent":{"sum":"three"}}'"#;
    let report = test(&["--json"], &server(schema, result)).exits(1).json();
    let output = finding(&report, "output-schema", "t");
    assert_eq!(output["repeat"], json!({"call": {"tool": "t", "arguments": {}}}));
    assert!(output["what"].as_str().expect("a text").contains("/sum"), "{output}");
    // The server takes everything, although its schema requires a text.
    assert_eq!(finding(&report, "accepted-invalid", "t")["severity"], "remark");
    repeat(&output).exits(0).shows(&["three"]);

    let both = r#"say '"result":{"content":[]},"error":{"code":1,"message":"no"}'"#;
    let report = test(&["--json"], &server("", both)).exits(1).json();
    assert!(finding(&report, "invalid-answer", "t")["what"].as_str().expect("a text").contains("both"), "{report}");
}

#[test]
fn noise_and_traces_are_found() {
    let noise = format!("echo starting the work; echo 'Traceback (most recent call last):' >&2; {DONE}");
    let report = test(&["--json", "--tool", "t"], &server("", &noise)).exits(1).json();
    let noise = finding(&report, "noise", "t");
    assert_eq!(noise["severity"], "failure");
    assert!(noise["what"].as_str().expect("a text").contains("starting the work"), "{noise}");
    assert_eq!(finding(&report, "trace", "t")["severity"], "remark");
}

#[test]
fn bytes_that_are_no_message_are_repeated_by_a_pipe() {
    let script = server("", DONE).replace("  case $id in", "  [ \"$line\" = mcpwire ] && exit 9\n  case $id in");
    let report = mcpwire(&["test", "--json", "--calls", "0", "--", "sh", "-c", &script]).exits(1).json();
    let crash = finding(&report, "crash", "a line that is not JSON");
    assert_eq!(crash["repeat"], json!({"lines": ["mcpwire"]}));
    repeat(&crash).exits(9).shows(&["\"protocolVersion\":\"2025-11-25\""]);
}

#[test]
fn a_server_without_faults_is_0_and_the_report_says_what_was_tried() {
    let careful = format!(
        r#"case $line in *'"arguments":{{"text":"'[!\"]*) {DONE} ;; *) say '"result":{{"content":[],"isError":true}}' ;; esac"#
    );
    let script = server("", &careful);
    let finished = test(&["--timeout", "60s"], &script).exits(0);
    finished.shows(&["odd 1 (2025-11-25): ", " protocol checks, 16 calls of 1 tool, seed 7"]).hides(&["FAILURE"]);
    // The tools of the demo do not say that they only read.
    let finished = mcpwire(&["test", "--demo"]).exits(0).says_only("");
    finished.shows(&[
        "0 calls of 0 tools",
        "Left out, without `readOnlyHint: true`: 7 tools",
        "--all",
        "Nothing found.",
    ]);
    mcpwire(&["test", "--demo", "--tool", "echo", "--calls", "8"]).exits(0).shows(&["8 calls of 1 tool"]);
}

#[test]
fn the_same_seed_sends_the_same_lines() {
    let place = Place::new();
    let calls = |name: &str, seed: &str| {
        let log = place.file(name);
        let script = server("", &format!("printf '%s\\n' \"$line\" >> '{log}'; {DONE}"));
        mcpwire(&["test", "--calls", "8", "--seed", seed, "--", "sh", "-c", &script]).exits(0);
        place.read(name)
    };
    let first = calls("first", "5");
    assert!(first.lines().count() >= 8, "{first}");
    assert_eq!(first, calls("second", "5"));
    assert_ne!(first, calls("third", "6"));
}

#[test]
fn the_json_report_has_its_members_and_hides_secrets() {
    let place = Place::new();
    let script = place.write("server.sh", server("", "exit 3"));
    let secret = "hunter2hunter2";
    let variable = format!("API_TOKEN={secret}");
    let finished = mcpwire(&["test", "--calls", "1", "--json", "--env", &variable, "--", "sh", &script]).exits(1);
    let report = finished.hides(&[secret]).json();
    let members: Vec<&String> = report.as_object().expect("an object").keys().collect();
    assert_eq!(members, ["checks", "end", "findings", "left_out", "seed", "server", "tools"], "{report}");
    let finding = &report["findings"][0];
    let members: Vec<&String> = finding.as_object().expect("an object").keys().collect();
    let expected =
        ["check", "command", "is_repeatable", "kind", "more", "repeat", "severity", "stderr", "tool", "what", "why"];
    assert_eq!(members, expected, "{finding}");
    assert!(report["seed"].is_u64() && report["end"] == "complete", "{report}");
}

#[test]
fn wrong_usage_and_servers_that_do_not_start_are_told() {
    for (arguments, status, code, field) in [
        (&["test", "--url", "http://localhost/mcp"][..], 2, "VALIDATION_ERROR", "url"),
        (&["test", "--trace", "file", "--demo"], 2, "VALIDATION_ERROR", "trace"),
        (&["test", "--all", "--tool", "echo", "--demo"], 2, "VALIDATION_ERROR", "all"),
        (&["test", "--time", "soon", "--demo"], 2, "VALIDATION_ERROR", "time"),
        (&["test", "--tool", "nonesuch", "--demo"], 4, "NOT_FOUND", "tool"),
        (&["test", "--", "no-such-command"], 3, "NOT_FOUND", "command"),
        (&["test", "--", "sh", "-c", "exit 7"], 3, "SERVICE_UNAVAILABLE", "connection"),
    ] {
        mcpwire(&[&arguments[..1], &["--json"], &arguments[1..]].concat()).gives(status, "").error_is(code, field);
    }
}
