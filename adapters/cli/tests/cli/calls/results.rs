//! What a command prints: one JSON document, text, messages of the server, and a trace.
#![cfg(unix)]

use serde_json::{Value, json};

use crate::support::servers::{Script, quoted, say, scripted};
use crate::support::{MCPWIRE, Place, Running, command, mcpwire, run};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn info_says_who_and_what_was_agreed() {
    let info = mcpwire("info --demo --json").json();
    assert_eq!(keys(&info), ["capabilities", "era", "instructions", "protocolVersion", "serverInfo"]);
    assert_eq!((&info["era"], &info["protocolVersion"]), (&json!("modern"), &json!("2026-07-28")));
    let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
    let capabilities = json!({
        "tools": {}, "prompts": {}, "resources": { "subscribe": true }, "completions": {}, "extensions": extensions,
    });
    assert_eq!(info["capabilities"], capabilities);
    assert_eq!(info["serverInfo"]["name"], "mcpwire-demo");
    assert!(info["instructions"].is_string());

    for (protocol, revision) in [("2024-11-05", "2024-11-05"), ("legacy", "2025-11-25")] {
        let info = mcpwire(&format!("info --demo --json --protocol {protocol}")).json();
        assert_eq!((&info["era"], &info["protocolVersion"]), (&json!("legacy"), &json!(revision)));
    }
}

#[test]
fn tools_are_listed_with_what_was_rejected() {
    let tools = mcpwire("tools --demo --json").json();
    let names: Vec<_> = tools["tools"].as_array().expect("a list").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["echo", "add", "slow", "fail", "weather", "chart", "greet"]);
    assert_eq!(tools["tools"][1]["outputSchema"]["required"], json!(["sum"]));
    assert_eq!(tools["rejected"], json!([]));

    let good = json!({"name": "good", "inputSchema": {"type": "object"}, "vendor": {"kept": 1}});
    let list = json!({"tools": [good, {"name": 7}, {"name": "bad", "inputSchema": "none"}]});
    let tools = Script::with_tools(&list.to_string()).run("tools --json").exits(0).json();
    assert_eq!(tools["tools"], json!([good]));
    let [unnamed, bad] = [0, 1].map(|at| &tools["rejected"][at]);
    assert_eq!((&unnamed["index"], &unnamed["name"]), (&json!(1), &Value::Null));
    assert_eq!((&bad["index"], &bad["name"]), (&json!(2), &json!("bad")));
    assert!(bad["reason"].is_string(), "{bad}");
}

#[test]
fn a_result_is_as_the_server_sent_it() {
    let result = r#"{"vendor":1.0,"content":[{"type":"hologram","deep":[null]}],"isError":false,"structuredContent":{"b":1,"a":2}}"#;
    Script::call(result).run("call t --json").gives(0, &format!("{result}\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_demo_connects_lists_calls_and_says_what_to_try_next_or_is_one_document() {
    crate::support::each(["2026-07-28", "2025-11-25", "--json"], |case| {
        let mark = crate::support::Mark::new();
        let option = if case == "--json" { case.to_owned() } else { format!("--protocol {case}") };
        let demo = mcpwire(&format!("demo --env {mark} {option}")).exits(0).says_only("");
        mark.assert_nothing_left();
        if case == "--json" {
            demo.json_has("/server/serverInfo/name", "mcpwire-demo").json_has("/calls/2/result/isError", false);
        } else {
            let list = "echo, add, slow, fail, weather";
            let texts = ["mcpwire-demo", case, list, "Hello from the other end of a pipe!", "Porto", "Waited 2 s."];
            demo.shows(&texts).shows(&["mcpwire tools --demo"]);
        }
    });
}

#[test]
fn a_mebibyte_goes_there_and_back() {
    let message = "0123456789abcdef".repeat((1 << 20) / 16);
    let input = format!(r#"{{"message":"{message}"}}"#);
    let finished = Running::start(&mut command("call echo - --demo"), &input).finish().exits(0);
    assert!(finished.stdout.trim_end() == message, "{} bytes came back", finished.stdout.len());
}

#[test]
fn a_longer_message_than_allowed_is_refused() {
    let place = Place::new();
    let arguments = place.write("long.json", format!(r#"{{"message":"{}"}}"#, "x".repeat(100_000)));
    mcpwire(&format!("call echo @{arguments} --demo --max-message 64KiB")).gives(4, "").says(&["65536"]);
}

/// As `head` does.
#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_closes_the_pipe_early_is_no_error() {
    use std::io::Read as _;
    use std::process::Stdio;

    let place = Place::new();
    let arguments = place.write("long.json", format!(r#"{{"message":"{}"}}"#, "line\\n".repeat(100_000)));
    for format in ["", "--json"] {
        let mark = crate::support::Mark::new();
        let mut command = command(&format!("call echo @{arguments} --demo --env {mark} {format}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        child.stdout.take().expect("it is piped").read_exact(&mut [0]).expect("a byte");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{format} {output:?}");
        mark.assert_nothing_left();
    }
}

#[test]
fn log_messages_are_shown_unless_quiet() {
    let params = r#"{"level":"warning","logger":"disk","data":"nearly full"}"#;
    let log = format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{params}}}"#);
    let result = say(r#"{"content":[{"type":"text","text":"done"}]}"#);
    let code = format!("printf '%s\\n' {}; {result}", quoted(&log));
    let server = Script::tools().does("tools/call", &code);
    server.run("call t").gives(0, "done\n").says_only("[warning] disk: nearly full\n");
    for silent in ["--quiet", "--json"] {
        server.run(&format!("call t {silent}")).exits(0).says_only("");
    }
}

#[test]
fn standard_error_is_shown_as_it_comes_only_where_asked() {
    let script = format!("echo starting >&2; exec {MCPWIRE} demo-server");
    for (how, shown) in
        [("--stderr show", "server: starting\n"), ("--stderr hide", ""), ("--stderr tail", ""), ("", "")]
    {
        let call = format!("call echo message=hi {how}");
        mcpwire(&scripted(&call, &script)).gives(0, "hi\n").says_only(shown);
    }
}

#[test]
fn messages_are_traced_in_order_with_time_and_direction() {
    let place = Place::new();
    let trace = place.file("trace");
    let code = format!("echo this is no JSON; {}", say(r#"{"content":[]}"#));
    Script::tools().does("tools/call", &code).run(&format!("call t --trace {trace}")).exits(0);
    let trace = place.read("trace");
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
    let script = r#"echo "A=$A B=$B C=$C in $(pwd)" >&2; exit 1"#;
    let mut command = command(&scripted(&["info", "--env", "A=set here=so", "--env", "B", "--cwd", "/"], script));
    command.envs([("A", "ours"), ("B", "passed on"), ("C", "not passed on")]);
    run(&mut command).says(&["A=set here=so B=passed on C= in /\n"]);
    mcpwire(&scripted("info --json --cwd /nonexistent", script)).error_is("NOT_FOUND", "cwd");
}

/// `mcpwire listen` prints notifications as they arrive, until Ctrl-C.
#[cfg(target_os = "linux")]
mod listening {
    use rustix::process::Signal;
    use serde_json::{Value, json};

    use crate::support::servers::{Script, quoted, scripted};
    use crate::support::{Mark, Running, command, wait_for};

    const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"disk","data":"full"}}"#;

    /// Starts `mcpwire listen` at a modern server that agrees to these notifications, sends these changes on the subscription, and runs
    /// this code.
    fn listen(options: &str, agreed: Option<&str>, changes: &[&str], last: &str) -> Running {
        let notify = |method: &str, params: &str| {
            let meta = r#""_meta":{"io.modelcontextprotocol/subscriptionId":%s}"#;
            let message =
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{{meta},{params}}}}}\n"#);
            format!("printf {} \"$id\"; ", quoted(&message))
        };
        let agree = |agreed: &str| notify("subscriptions/acknowledged", &format!(r#""notifications":{agreed}"#));
        let changes = changes.iter().map(|change| notify(change, r#""uri":"file:///a""#)).collect::<String>();
        let code = format!("{}{changes}{last}", agreed.map(agree).unwrap_or_default());
        let server = Script::modern()
            .does("subscriptions/listen", &format!("{code}; echo 'told everything' >&2"))
            .does("notifications/cancelled", "echo 'was given up' >&2")
            .text();
        Running::start(&mut command(&scripted(&format!("listen --stderr show {options}"), &server)), "")
    }

    #[test]
    fn each_is_a_line_and_an_interrupt_is_success() {
        let mark = Mark::new();
        let agreed = r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#;
        let options = format!("--resource file:///a --resource file:///b --env {mark}");
        let changes = ["tools/list_changed", "resources/updated", "acme/told"];
        let running = listen(&options, Some(agreed), &changes, &format!("echo {}", quoted(LOG)));
        running.wait_for_stderr("told everything");
        running.wait_for_stderr("listening");
        let finished = running.interrupt().exits(0);
        let lines: Vec<&str> = finished.stdout.lines().collect();
        assert_eq!(lines[..2], ["tools changed", "updated file:///a"], "{finished:?}");
        assert!(lines[2].starts_with("notifications/acme/told {"), "{finished:?}");
        assert_eq!(lines[3..], ["[warning] disk: full"], "{finished:?}");
        let given_up = ["the server does not report changes of file:///b", "was given up"];
        finished.says(&["listening: tools, file:///a (Ctrl-C ends it)"]).says(&given_up);
        mark.assert_nothing_left();
    }

    #[test]
    fn each_is_a_json_document() {
        let changes = ["prompts/list_changed", "resources/updated"];
        let log = format!("echo {}", quoted(LOG));
        let running = listen("--json --resource file:///a", Some("{}"), &changes, &log);
        // The acknowledgement of the subscription came before the log message.
        wait_for("the log message", || running.stdout_so_far().contains("full").then_some(()));
        running.signal(Signal::TERM);
        let finished = running.finish().exits(0);
        let told: Vec<Value> = finished.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
        assert_eq!(told[0], json!({"method": "notifications/prompts/list_changed"}));
        let (method, uri) = (&told[1]["method"], &told[1]["params"]["uri"]);
        assert_eq!((method, uri), (&json!("notifications/resources/updated"), &json!("file:///a")));
        let log = json!({"level": "warning", "logger": "disk", "data": "full"});
        assert_eq!(told[2..], [json!({"method": "notifications/message", "params": log})]);
    }

    #[test]
    fn the_servers_end_is_no_failure_and_its_death_is_one() {
        for (agreed, end, code, says) in [
            (Some("{}"), r#"say '"result":{"resultType":"complete"}'"#, 0, "the server ended the subscription"),
            (None, r#"say '"error":{"code":-32603,"message":"no watcher"}'"#, 4, "no watcher"),
            (Some("{}"), "exit 3", 4, "exited with code 3"),
        ] {
            listen("", agreed, &[], end).finish().exits(code).says(&[says]);
        }
    }

    #[test]
    fn a_server_without_subscriptions_may_still_log() {
        let running = listen("", None, &[], r#"say '"error":{"code":-32601,"message":"no"}'"#);
        running.wait_for_stderr("log messages only");
        running.interrupt().gives(0, "");
    }
}
