//! What a command prints: one JSON document, text, messages of the server, and a trace.
#![cfg(unix)]

use std::fs;

use serde_json::{Value, json};

use crate::support::servers::{Script, quoted, say};
use crate::support::{MCPWIRE, Place, Running, SUM, command, mcpwire, run};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn info_says_who_and_what_was_agreed() {
    let info = mcpwire(&["info", "--demo", "--json"]).json();
    assert_eq!(keys(&info), ["capabilities", "era", "instructions", "protocolVersion", "serverInfo"]);
    assert_eq!((&info["era"], &info["protocolVersion"]), (&json!("modern"), &json!("2026-07-28")));
    let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
    let capabilities = json!({
        "tools": {}, "prompts": {}, "resources": { "subscribe": true }, "completions": {}, "extensions": extensions,
    });
    assert_eq!(info["capabilities"], capabilities);
    assert_eq!(info["serverInfo"]["name"], "mcpwire-demo");
    assert!(info["instructions"].is_string());

    for protocol in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "legacy"] {
        let info = mcpwire(&["info", "--demo", "--json", "--protocol", protocol]).json();
        let revision = if protocol == "legacy" { "2025-11-25" } else { protocol };
        assert_eq!((&info["era"], &info["protocolVersion"]), (&json!("legacy"), &json!(revision)));
        assert_eq!(info["serverInfo"]["name"], "mcpwire-demo");
    }
}

#[test]
fn tools_are_listed_with_what_was_rejected() {
    let tools = mcpwire(&["tools", "--demo", "--json"]).json();
    let names: Vec<_> = tools["tools"].as_array().expect("a list").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["echo", "add", "slow", "fail", "weather", "chart", "greet"]);
    assert_eq!(tools["tools"][1]["outputSchema"]["required"], json!(["sum"]));
    assert_eq!(tools["rejected"], json!([]));

    let good = json!({"name": "good", "inputSchema": {"type": "object"}, "vendor": {"kept": 1}});
    let list = json!({"tools": [good, {"name": 7}, {"name": "bad", "inputSchema": "none"}]});
    let tools = Script::with_tools(&list.to_string()).run(&["tools", "--json"]).exits(0).json();
    assert_eq!(tools["tools"], json!([good]));
    let [unnamed, bad] = [0, 1].map(|at| &tools["rejected"][at]);
    assert_eq!((&unnamed["index"], &unnamed["name"]), (&json!(1), &Value::Null));
    assert_eq!((&bad["index"], &bad["name"]), (&json!(2), &json!("bad")));
    assert!(bad["reason"].is_string(), "{bad}");
}

#[test]
fn a_result_is_as_the_server_sent_it() {
    let result = r#"{"vendor":1.0,"content":[{"type":"hologram","deep":[null]}],"isError":false,"structuredContent":{"b":1,"a":2}}"#;
    Script::call(result).run(&["call", "t", "--json"]).gives(0, &format!("{result}\n"));
}

#[test]
fn structured_content_comes_where_the_revision_has_it() {
    for (protocol, member, value) in [
        ("modern", "structuredContent", json!({"sum": 42})),
        ("2025-06-18", "structuredContent", json!({"sum": 42})),
        ("2024-11-05", "content", json!([{"type": "text", "text": "42"}])),
    ] {
        let called = mcpwire(&["call", "add", SUM, "--demo", "--json", "--protocol", protocol]);
        assert_eq!(called.json()[member], value, "{called:?}");
    }
}

#[test]
fn the_demo_is_one_document_too() {
    let demo = mcpwire(&["demo", "--json"]).exits(0).json();
    assert_eq!(demo["server"]["serverInfo"]["name"], "mcpwire-demo");
    assert_eq!(demo["calls"].as_array().map(Vec::len), Some(3));
    assert_eq!(demo["calls"][0]["result"]["isError"], false);
}

#[cfg(target_os = "linux")]
#[test]
fn the_demo_connects_lists_calls_and_says_what_to_try_next() {
    crate::support::each([("auto", "2026-07-28"), ("legacy", "2025-11-25")], |(protocol, revision)| {
        let mark = crate::support::Mark::new();
        let demo = mcpwire(&["demo", "--protocol", protocol, "--env", mark.variable()]).exits(0).says_only("");
        mark.assert_nothing_left();
        let list = "echo, add, slow, fail, weather";
        demo.shows(&["mcpwire-demo", revision, list, "Hello from the other end of a pipe!", "Porto"])
            .shows(&["Waited 2 s.", "mcpwire tools --demo"]);
    });
}

#[test]
fn eight_mebibytes_go_there_and_back() {
    let message = "0123456789abcdef".repeat((8 << 20) / 16);
    let input = format!(r#"{{"message":"{message}"}}"#);
    let finished = Running::start(&mut command(&["call", "echo", "-", "--demo"]), &input).finish().exits(0);
    assert!(finished.stdout.trim_end() == message, "{} bytes came back", finished.stdout.len());
}

#[test]
fn a_longer_message_than_allowed_is_refused() {
    let place = Place::new();
    let arguments = place.write("long.json", format!(r#"{{"message":"{}"}}"#, "x".repeat(100_000)));
    mcpwire(&["call", "echo", &format!("@{arguments}"), "--demo", "--max-message", "64KiB"])
        .gives(4, "")
        .says(&["65536"]);
}

/// As `head` does.
#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_closes_the_pipe_early_is_no_error() {
    use std::io::Read as _;
    use std::process::Stdio;

    let place = Place::new();
    let arguments = place.write("long.json", format!(r#"{{"message":"{}"}}"#, "line\\n".repeat(100_000)));
    let arguments = format!("@{arguments}");
    for format in [&[][..], &["--json"]] {
        let mark = crate::support::Mark::new();
        let line = [&["call", "echo", &arguments, "--demo", "--env", mark.variable()], format].concat();
        let mut command = command(&line);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        child.stdout.take().expect("it is piped").read_exact(&mut [0]).expect("a byte");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{format:?} {output:?}");
        mark.assert_nothing_left();
    }
}

#[test]
fn log_messages_are_shown_unless_quiet() {
    let params = r#"{"level":"warning","logger":"disk","data":"nearly full"}"#;
    let log = format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{params}}}"#);
    let result = say(r#"{"content":[{"type":"text","text":"done"}]}"#);
    let code = format!("printf '%s\\n' {}; {result}", quoted(&log));
    let server = Script::with_tools("{}").does("tools/call", &code);
    server.run(&["call", "t"]).gives(0, "done\n").says_only("[warning] disk: nearly full\n");
    for silent in ["--quiet", "--json"] {
        server.run(&["call", "t", silent]).exits(0).says_only("");
    }
}

#[test]
fn standard_error_is_shown_as_it_comes_only_where_asked() {
    let server = ["--", "sh", "-c", r#"echo starting >&2; exec "$0" demo-server"#, MCPWIRE];
    for (how, shown) in [
        (&["--stderr", "show"][..], "server: starting\n"),
        (&["--stderr", "hide"], ""),
        (&["--stderr", "tail"], ""),
        (&[], ""),
    ] {
        let line = [&["call", "echo", r#"{"message":"hi"}"#], how, &server].concat();
        mcpwire(&line).gives(0, "hi\n").says_only(shown);
    }
}

#[test]
fn messages_are_traced_in_order_with_time_and_direction() {
    let place = Place::new();
    let trace = place.file("trace");
    let code = format!("echo this is no JSON; {}", say(r#"{"content":[]}"#));
    Script::with_tools("{}").does("tools/call", &code).run(&["call", "t", "--trace", &trace]).exits(0);
    let trace = fs::read_to_string(trace).expect("a trace");
    let entries: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).expect("JSON Lines")).collect();
    let shown: Vec<(&str, &str)> = entries
        .iter()
        .map(|entry| {
            let time = entry["time"].as_str().expect("a time");
            assert!(time.ends_with('Z') && time.contains('T'), "{time}");
            let message = &entry["message"];
            let what = message.as_str().or(message["method"].as_str()).unwrap_or("an answer");
            (entry["direction"].as_str().expect("a direction"), what)
        })
        .filter(|(_, what)| *what != "logging/setLevel")
        .collect();
    let call = shown.iter().position(|entry| *entry == ("sent", "tools/call")).expect("the call");
    assert_eq!(shown[0], ("sent", "server/discover"));
    assert!(shown.contains(&("sent", "initialize")) && shown.contains(&("sent", "notifications/initialized")));
    assert_eq!(shown[call + 1..], [("received", "this is no JSON"), ("received", "an answer")]);
}

#[test]
fn a_server_gets_the_variables_and_the_directory_that_were_named_and_no_others() {
    let server = ["--", "sh", "-c", r#"echo "A=$A B=$B C=$C in $(pwd)" >&2; exit 1"#];
    let options = ["info", "--env", "A=set here=so", "--env", "B", "--cwd", "/"];
    let mut command = command(&[&options[..], &server].concat());
    command.envs([("A", "ours"), ("B", "passed on"), ("C", "not passed on")]);
    run(&mut command).says(&["A=set here=so B=passed on C= in /\n"]);
    mcpwire(&[&["info", "--json", "--cwd", "/nonexistent"], &server[..]].concat()).error_is("NOT_FOUND", "cwd");
}
