//! `mcpwire call --task` and `mcpwire task`: calls that run as tasks.

use crate::support::{mcpwire, mcpwire_with_input};
use serde_json::json;

#[test]
fn a_task_is_told_on_stderr_and_its_result_printed() {
    for protocol in ["2026-07-28", "2025-11-25"] {
        let line = ["call", "slow", r#"{"seconds":0.3}"#, "--demo", "--task", "--protocol", protocol];
        let finished = mcpwire(&line);
        assert_eq!((finished.code(), finished.stdout.trim()), (0, "Waited 0.3 s."), "{finished:?}");
        let told: Vec<&str> = finished.stderr.lines().filter(|line| line.starts_with("task ")).collect();
        assert_eq!(told.len(), 2, "{finished:?}");
        assert!(told[0].contains(": working") && told[1].ends_with(": completed"), "{finished:?}");

        let json = mcpwire(&[&line[..], &["--json"]].concat());
        assert_eq!((json.code(), json.stderr.as_str()), (0, ""), "{json:?}");
        assert_eq!(json.json()["content"][0]["text"], "Waited 0.3 s.");
    }
}

#[test]
fn what_becomes_no_task_is_a_result() {
    for more in [&[][..], &["--detach"], &["--protocol", "2025-06-18"], &["--detach", "--json"]] {
        let line = [&["call", "echo", r#"{"message":"hi"}"#, "--demo", "--task"][..], more].concat();
        let finished = mcpwire(&line);
        assert_eq!(finished.code(), 0, "{finished:?}");
        assert!(finished.stdout.contains("hi") && finished.stderr.is_empty(), "{finished:?}");
    }
}

#[test]
fn a_detached_task_leaves_its_handle() {
    for (protocol, form) in [("modern", "extension"), ("legacy", "experimental")] {
        let line = ["call", "slow", r#"{"seconds":3600}"#, "--demo", "--task", "--detach", "--protocol", protocol];
        let finished = mcpwire(&line);
        let handle = finished.json();
        assert_eq!((finished.code(), &handle["form"], &handle["status"]), (0, &json!(form), &json!("working")));
        assert_eq!(handle["taskId"].as_str().map(str::len), Some(32), "{handle}");

        // The task has ended with the demo server, but the handle is still parsed.
        let stored = finished.stdout.trim();
        for action in ["get", "result", "cancel"] {
            let (by_json, by_input) = (
                mcpwire(&["task", action, stored, "--demo", "--protocol", protocol]),
                mcpwire_with_input(&["task", action, "-", "--demo", "--protocol", protocol], stored),
            );
            for finished in [by_json, by_input] {
                assert_eq!((finished.code(), finished.stdout.as_str()), (4, ""), "{finished:?}");
                assert!(finished.stderr.contains("Task not found"), "{finished:?}");
            }
        }
    }
}

#[test]
fn what_is_no_handle_is_refused_before_a_server_is_started() {
    for task in ["{}", "{\"taskId\":7}", "@/nonexistent", "{"] {
        let finished = mcpwire(&["task", "get", task, "--json", "--", "/nonexistent"]);
        assert_eq!(finished.code(), 2, "{finished:?}");
        assert_eq!(finished.error()["code"], "VALIDATION_ERROR");
    }
}

/// A server of 2026-07-28 as a shell script that knows the task `t1`. The first `tasks/get` returns the status `$1`, and later
/// ones `completed`.
#[cfg(unix)]
const KNOWS_ONE: &str = r#"
status=$1
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
    *'"method":"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}\n' "$id" ;;
    *'"method":"tasks/get"'*'"taskId":"t1"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","taskId":"t1","status":"%s","statusMessage":"so\\u001b[31m far","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:01Z","ttlMs":60000,"pollIntervalMs":1,"result":{"content":[{"type":"text","text":"the result"}]}}}\n' "$id" "$status"
      status=completed ;;
    *'"method":"tasks/cancel"'*'"taskId":"t1"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete"}}\n' "$id" ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such task"}}\n' "$id" ;;
  esac
done
"#;

#[cfg(unix)]
#[test]
fn a_task_is_looked_after_by_its_id() {
    let task = |words: &[&str]| mcpwire(&[words, &["--", "sh", "-c", KNOWS_ONE, "tasks", "working"]].concat());
    let shown = task(&["task", "get", "t1"]);
    assert_eq!(shown.code(), 0, "{shown:?}");
    for word in ["t1 working", "so far", "created 2026-07-2", "kept for 60 s"] {
        assert!(shown.stdout.contains(word), "{word}: {shown:?}");
    }
    assert!(!shown.stdout.contains('\u{1b}'), "{shown:?}");
    assert_eq!(task(&["task", "get", "t1", "--json"]).json()["status"], "working");

    let result = task(&["task", "result", "t1"]);
    assert_eq!((result.code(), result.stdout.trim()), (0, "the result"), "{result:?}");
    assert!(result.stderr.contains("task t1: completed, so far"), "{result:?}");
    assert_eq!(task(&["task", "result", "t1", "--json"]).json()["content"][0]["text"], "the result");

    let cancelled = task(&["task", "cancel", "t1"]);
    assert_eq!((cancelled.code(), cancelled.stdout.as_str()), (0, ""), "{cancelled:?}");
    assert!(cancelled.stderr.contains("t1: the server was asked to cancel the task"), "{cancelled:?}");
    assert_eq!(task(&["task", "cancel", "t1", "--json"]).json(), json!({"taskId": "t1"}));
    assert_eq!(task(&["task", "cancel", "t2"]).code(), 4);
}
