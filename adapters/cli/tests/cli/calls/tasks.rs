//! `mcpwire call --task` and `mcpwire task`: calls that run as tasks.

use serde_json::json;

use crate::support::{Running, command, each, mcpwire};

#[test]
fn a_task_is_told_on_stderr_and_its_result_printed() {
    each(["2026-07-28", "2025-11-25"], |protocol| {
        let line = ["call", "slow", r#"{"seconds":0.3}"#, "--demo", "--task", "--protocol", protocol];
        let finished = mcpwire(&line).gives(0, "Waited 0.3 s.\n");
        let told: Vec<&str> = finished.stderr.lines().filter(|line| line.starts_with("task ")).collect();
        assert_eq!(told.len(), 2, "{finished:?}");
        assert!(told[0].contains(": working") && told[1].ends_with(": completed"), "{finished:?}");

        let json = mcpwire(&[&line[..], &["--json"]].concat()).exits(0).says_only("");
        json.json_has("/content/0/text", "Waited 0.3 s.");
    });
}

#[test]
fn what_becomes_no_task_is_a_result() {
    for more in [&[][..], &["--detach"], &["--protocol", "2025-06-18"], &["--detach", "--json"]] {
        let line = [&["call", "echo", r#"{"message":"hi"}"#, "--demo", "--task"], more].concat();
        mcpwire(&line).exits(0).shows(&["hi"]).says_only("");
    }
}

#[test]
fn a_detached_task_leaves_its_handle() {
    each([("modern", "extension"), ("legacy", "experimental")], |(protocol, form)| {
        let place = ["--demo", "--protocol", protocol];
        let line = [&["call", "slow", r#"{"seconds":3600}"#, "--task", "--detach"][..], &place].concat();
        let finished = mcpwire(&line).exits(0);
        let handle = finished.json();
        assert_eq!((&handle["form"], &handle["status"]), (&json!(form), &json!("working")), "{handle}");
        assert_eq!(handle["taskId"].as_str().map(str::len), Some(32), "{handle}");

        // The task has ended with the demo server, but the handle is still parsed.
        let stored = finished.stdout.trim();
        for action in ["get", "result", "cancel"] {
            for (task, input) in [(stored, ""), ("-", stored)] {
                let mut command = command(&[&["task", action, task][..], &place].concat());
                Running::start(&mut command, input).finish().gives(4, "").says(&["Task not found"]);
            }
        }
    });
}

#[test]
fn what_is_no_handle_is_refused_before_a_server_is_started() {
    for task in ["{}", "{\"taskId\":7}", "@/nonexistent", "{"] {
        mcpwire(&["task", "get", task, "--json", "--", "/nonexistent"]).exits(2).error_has("code", "VALIDATION_ERROR");
    }
}

#[cfg(unix)]
#[test]
fn a_task_is_looked_after_by_its_id() {
    use crate::support::servers::{Script, quoted, say};

    // The first answer says that the task `t1` is working, and later ones that it is completed.
    let times = r#""createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:01Z","ttlMs":60000"#;
    let result = r#""result":{"content":[{"type":"text","text":"the result"}]}"#;
    let task = |status: &str| {
        let status = format!(r#""status":"{status}","statusMessage":"so\u001b[31m far","pollIntervalMs":1"#);
        quoted(&format!(r#""result":{{"resultType":"complete","taskId":"t1",{status},{times},{result}}}"#))
    };
    let first = format!("task=${{next:-{}}}; next={}; say \"$task\"", task("working"), task("completed"));
    let cancelled = say(r#"{"resultType":"complete"}"#);
    let unknown = say(r#""error":{"code":-32602,"message":"no such task"}"#);
    let only_t1 = |code: &str| format!(r#"case $line in *'"taskId":"t1"'*) {code} ;; *) {unknown} ;; esac"#);
    let server = Script::modern().does("tasks/get", &only_t1(&first)).does("tasks/cancel", &only_t1(&cancelled));

    let shown = server.run(&["task", "get", "t1"]).exits(0).hides(&["\u{1b}"]);
    shown.shows(&["t1 working", "so far", "created 2026-07-2", "kept for 60 s"]);
    assert_eq!(server.run(&["task", "get", "t1", "--json"]).json()["status"], "working");

    server.run(&["task", "result", "t1"]).gives(0, "the result\n").says(&["task t1: completed, so far"]);
    server.run(&["task", "result", "t1", "--json"]).json_has("/content/0/text", "the result");

    server.run(&["task", "cancel", "t1"]).gives(0, "").says(&["t1: the server was asked to cancel the task"]);
    assert_eq!(server.run(&["task", "cancel", "t1", "--json"]).json(), json!({"taskId": "t1"}));
    server.run(&["task", "cancel", "t2"]).exits(4);
}
