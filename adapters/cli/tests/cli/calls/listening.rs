//! `mcpwire listen` prints notifications as they arrive, until Ctrl-C.
#![cfg(target_os = "linux")]

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::servers::{Script, quoted};
use crate::support::{Mark, Running, command};

const LOG: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"disk","data":"full"}}"#;

/// Starts `mcpwire listen` at a modern server that agrees to these notifications, sends these changes on the subscription, and runs
/// this code.
fn listen(words: &[&str], agreed: Option<&str>, changes: &[&str], last: &str) -> Running {
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
    Running::start(&mut command(&[&["listen", "--stderr", "show"], words, &["--", "sh", "-c", &server]].concat()), "")
}

#[test]
fn each_is_a_line_and_an_interrupt_is_success() {
    let mark = Mark::new();
    let agreed = r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#;
    let words = ["--resource", "file:///a", "--resource", "file:///b", "--env", mark.variable()];
    let changes = ["tools/list_changed", "resources/updated", "acme/told"];
    let running = listen(&words, Some(agreed), &changes, &format!("echo {}", quoted(LOG)));
    running.wait_for_stderr("told everything");
    running.wait_for_stderr("listening");
    let finished = running.interrupt().exits(0);
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!(lines[..2], ["tools changed", "updated file:///a"], "{finished:?}");
    assert!(lines[2].starts_with("notifications/acme/told {"), "{finished:?}");
    assert_eq!(lines[3..], ["[warning] disk: full"], "{finished:?}");
    finished
        .says(&["listening: tools, file:///a (Ctrl-C ends it)"])
        .says(&["the server does not report changes of file:///b", "was given up"]);
    mark.assert_nothing_left();
}

#[test]
fn each_is_a_json_document() {
    let changes = ["prompts/list_changed", "resources/updated"];
    let running =
        listen(&["--json", "--resource", "file:///a"], Some("{}"), &changes, &format!("echo {}", quoted(LOG)));
    running.wait_for_stderr("told everything");
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
        listen(&[], agreed, &[], end).finish().exits(code).says(&[says]);
    }
}

#[test]
fn a_server_without_subscriptions_may_still_log() {
    let running = listen(&[], None, &[], r#"say '"error":{"code":-32601,"message":"no"}'"#);
    running.wait_for_stderr("log messages only");
    running.interrupt().gives(0, "");
}
