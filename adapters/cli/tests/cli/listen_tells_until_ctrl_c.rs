//! `mcpwire listen` prints notifications as they arrive, until Ctrl-C.
#![cfg(target_os = "linux")]

use crate::support::{Mark, Running, mcpwire};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A modern server as a shell script: agrees to `$1` unless that is `no`, tells `$2` on the subscription, and says `$3` as it is.
const MODERN: &str = r#"
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"method":"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}\n' "$id" ;;
    *'"method":"subscriptions/listen"'*)
      meta='"_meta":{"io.modelcontextprotocol/subscriptionId":'$id'}'
      [ "$1" = no ] || printf '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{%s,"notifications":%s}}\n' "$meta" "$1"
      for change in $2; do
        printf '{"jsonrpc":"2.0","method":"notifications/%s","params":{%s,"uri":"file:///a"}}\n' "$change" "$meta"
      done
      printf "$3" "$id"
      echo 'told everything' >&2 ;;
    *'"method":"notifications/cancelled"'*) echo 'was given up' >&2 ;;
  esac
done
"#;

const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"disk","data":"full"}}\n"#;

fn listen<'a>(words: &[&'a str], agreed: &'a str, changes: &'a str, last: &'a str) -> Vec<&'a str> {
    [&["listen", "--stderr", "show"], words, &["--", "sh", "-c", MODERN, "modern", agreed, changes, last]].concat()
}

#[test]
fn each_is_a_line_and_an_interrupt_is_success() {
    let mark = Mark::new();
    let agreed = r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#;
    let words = ["--resource", "file:///a", "--resource", "file:///b", "--env", mark.variable()];
    let changes = "tools/list_changed resources/updated acme/told";
    let running = Running::start(&listen(&words, agreed, changes, LOG), "");
    running.wait_for_stderr("told everything");
    running.wait_for_stderr("listening");
    running.signal(Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code(), 0, "{finished:?}");
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!(lines[..2], ["tools changed", "updated file:///a"], "{finished:?}");
    assert!(lines[2].starts_with("notifications/acme/told {"), "{finished:?}");
    assert_eq!(lines[3..], ["[warning] disk: full"], "{finished:?}");
    assert!(finished.stderr.contains("listening: tools, file:///a (Ctrl-C ends it)"), "{finished:?}");
    assert!(finished.stderr.contains("the server does not report changes of file:///b"), "{finished:?}");
    assert!(finished.stderr.contains("was given up"), "{finished:?}");
    mark.assert_nothing_left();
}

#[test]
fn each_is_a_json_document() {
    let words = ["--json", "--resource", "file:///a"];
    let running = Running::start(&listen(&words, "{}", "prompts/list_changed resources/updated", LOG), "");
    running.wait_for_stderr("told everything");
    running.signal(Signal::TERM);
    let finished = running.finish();
    assert_eq!(finished.code(), 0, "{finished:?}");
    let told: Vec<Value> = finished.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(told[0], json!({"method": "notifications/prompts/list_changed"}));
    assert_eq!(
        (&told[1]["method"], &told[1]["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!("file:///a"))
    );
    let log = json!({"level": "warning", "logger": "disk", "data": "full"});
    assert_eq!(told[2..], [json!({"method": "notifications/message", "params": log})]);
}

#[test]
fn the_servers_end_is_no_failure_and_its_death_is_one() {
    let graceful = r#"{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete"}}\n"#;
    let finished = mcpwire(&listen(&[], "{}", "", graceful));
    assert_eq!(finished.code(), 0, "{finished:?}");
    assert!(finished.stderr.contains("the server ended the subscription"), "{finished:?}");

    let failed = r#"{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no watcher"}}\n"#;
    let finished = mcpwire(&listen(&[], "no", "", failed));
    assert_eq!(finished.code(), 4, "{finished:?}");
    assert!(finished.stderr.contains("no watcher"), "{finished:?}");

    let dying = MODERN.replace("echo 'told everything' >&2", "exit 3");
    let finished = mcpwire(&["listen", "--", "sh", "-c", &dying, "modern", "{}", "", ""]);
    assert_eq!(finished.code(), 4, "{finished:?}");
    assert!(finished.stderr.contains("exited with code 3"), "{finished:?}");
}

#[test]
fn a_server_without_subscriptions_may_still_log() {
    let unknown = r#"{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n"#;
    let running = Running::start(&listen(&[], "no", "", unknown), "");
    running.wait_for_stderr("log messages only");
    running.signal(Signal::INT);
    let finished = running.finish();
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, ""), "{finished:?}");
}
