//! Calls that run as tasks (`mcpwire call --task` and `mcpwire task`), and calls during which the server asks something: the answers come
//! from a file, from the user at the terminal, or from nobody.

use serde_json::json;

use crate::support::{Finished, Place, Running, command, each, mcpwire};

#[test]
fn a_task_is_told_on_stderr_and_its_result_printed() {
    each(["2026-07-28", "2025-11-25", "2026-07-28 --json", "2025-11-25 --json"], |options| {
        let finished = mcpwire(&format!("call slow seconds=0.3 --demo --task --protocol {options}"));
        if options.ends_with("--json") {
            finished.exits(0).says_only("").json_has("/content/0/text", "Waited 0.3 s.");
        } else {
            let finished = finished.gives(0, "Waited 0.3 s.\n");
            let told: Vec<&str> = finished.stderr.lines().filter(|line| line.starts_with("task ")).collect();
            assert_eq!(told.len(), 2, "{finished:?}");
            assert!(told[0].contains(": working") && told[1].ends_with(": completed"), "{finished:?}");
        }
    });
}

#[test]
fn what_becomes_no_task_is_a_result() {
    for more in ["", "--detach", "--protocol 2025-06-18", "--detach --json"] {
        mcpwire(&format!("call echo message=hi --demo --task {more}")).exits(0).shows(&["hi"]).says_only("");
    }
}

#[test]
fn a_detached_task_leaves_its_handle() {
    each([("modern", "extension"), ("legacy", "experimental")], |(protocol, form)| {
        let place = format!("--demo --protocol {protocol}");
        let finished = mcpwire(&format!("call slow seconds=3600 --task --detach {place}")).exits(0);
        let handle = finished.json();
        assert_eq!((&handle["form"], &handle["status"]), (&json!(form), &json!("working")), "{handle}");
        assert_eq!(handle["taskId"].as_str().map(str::len), Some(32), "{handle}");

        // The task has ended with the demo server, but the handle is still parsed.
        let stored = finished.stdout.trim();
        for action in ["get", "result", "cancel"] {
            for (task, input) in [(stored, ""), ("-", stored)] {
                let line = format!("task {action} {task} {place}");
                Running::start(&mut command(&line), input).finish().gives(4, "").says(&["Task not found"]);
            }
        }
    });
}

#[test]
fn what_is_no_handle_no_file_of_answers_or_no_root_is_refused_before_a_server_is_started() {
    for (line, field) in [
        ("task get {} --json -- /nonexistent", "TASK"),
        (r#"task get {"taskId":7} --json -- /nonexistent"#, "TASK"),
        ("task get @/nonexistent --json -- /nonexistent", "arguments"),
        ("task get { --json -- /nonexistent", "arguments"),
        ("call greet --json --answers /not/there -- /nonexistent", "answers"),
        ("info --json --root /not/there -- /nonexistent", "root"),
    ] {
        mcpwire(line).exits(2).error_is("VALIDATION_ERROR", field);
    }
    for answers in ["", "[]", r#"{"elicitation":[{"action":"shrug"}]}"#, r#"{"questions":[]}"#] {
        greet(answers, "--json").exits(2).error_is("VALIDATION_ERROR", "answers");
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

    let shown = server.run("task get t1").exits(0).hides(&["\u{1b}"]);
    shown.shows(&["t1 working", "so far", "created 2026-07-2", "kept for 60 s"]);
    assert_eq!(server.run("task get t1 --json").json()["status"], "working");

    server.run("task result t1").gives(0, "the result\n").says(&["task t1: completed, so far"]);
    server.run("task result t1 --json").json_has("/content/0/text", "the result");

    server.run("task cancel t1").gives(0, "").says(&["t1: the server was asked to cancel the task"]);
    assert_eq!(server.run("task cancel t1 --json").json(), json!({"taskId": "t1"}));
    server.run("task cancel t2").exits(4);
}

const GREET: &str = "call greet --demo --protocol legacy";

const NOBODY: &str = "Nobody was there to be greeted.\n";

/// An answer for which the demo's tool `greet` says "Hello, Ada!".
const ADA: &str = r#"{"elicitation":[{"action":"accept","content":{"first_name":"Ada"}}]}"#;

/// Calls the demo's tool `greet` with this file of answers.
fn greet(answers: &str, more: &str) -> Finished {
    let place = Place::new();
    mcpwire(&format!("{GREET} --answers {} {more}", place.write("answers", answers)))
}

#[test]
fn a_file_answers_in_place_of_the_user() {
    let filled_in = r#"{"elicitation":[{"message":"nobody asks this","action":"cancel"},{"action":"accept","content":{"first_name":"Ada","times":2}}]}"#;
    let wrong = r#"{"elicitation":[{"action":"accept","content":{"first_name":"Ada","times":9}}]}"#;
    let why = "the client's answer does not fit the form: `times` must be at most 5";
    let dismissed = "Who is to be greeted, and how? (dismissed";
    for (answers, status, result, says) in [
        (filled_in, 0, "Hello, Ada! Hello, Ada!\n", ""),
        (r#"{"elicitation":[{"action":"decline","repeat":true}]}"#, 0, "No greeting, then.\n", ""),
        (r#"{"elicitation":[]}"#, 0, NOBODY, dismissed),
        // Not sent. Both the server and the user are told.
        (wrong, 1, why, why),
    ] {
        let finished = greet(answers, "").exits(status).shows(&[result]).says(&[says]);
        assert_eq!(finished.stderr.is_empty(), says.is_empty(), "{finished:?}");
        assert!(status == 1 || finished.stdout == result, "{finished:?}");
    }
    assert_eq!(greet(filled_in, "--json").json()["content"][0]["text"], "Hello, Ada! Hello, Ada!");
    let place = Place::new();
    let answers = place.write("answers", ADA);
    for era in ["modern", "2025-06-18"] {
        mcpwire(&format!("call greet --demo --protocol {era} --answers {answers}")).gives(0, "Hello, Ada!\n");
    }
}

#[test]
fn without_a_terminal_nobody_is_asked_and_nothing_hangs() {
    mcpwire(GREET).gives(0, NOBODY).says(&["answer it at a terminal, or with --answers FILE"]);
    mcpwire(&format!("{GREET} --quiet")).exits(0).says_only("");
}

#[test]
fn a_configured_server_asks_as_any_other() {
    let place = Place::with_demo();
    let answers = place.write("answers.json", ADA);
    place.run(&format!("call demo__greet --answers {answers}")).gives(0, "Hello, Ada!\n");
    place.run("call demo__greet").gives(0, NOBODY).says(&["demo asks: "]);
    place.run("call demo__greet --answers /not/there").exits(2);
    place.run("call demo__greet --trace never-written").says(&["--trace has no effect"]);
}

#[test]
fn roots_are_declared() {
    let place = Place::new();
    let trace = place.file("trace");
    mcpwire(&format!("info --demo --protocol legacy --root . --root file:///else --trace {trace}")).exits(0);
    let trace = place.read("trace");
    assert!(trace.contains(r#""roots":{"listChanged":true}"#), "{trace}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_form_at_a_terminal_is_filled_in_or_dismissed() {
    use crate::support::Terminal;

    let shown = ["asks:", "Who is to be greeted, and how?", "Your name", "How many greetings you want.", "1. English"];
    let shown = [&shown[..], &["must be at most 5", "To be sent:"]].concat();
    let cases = [("Ada\nDeutsch\ny\n9\n2\n\n", "HALLO, ADA! HALLO, ADA!\n", &shown[..]), ("", NOBODY, &[])];
    each(cases, |(typed, result, shown)| {
        let mut call = Running::at_terminal(&mut command(GREET), &Terminal::open());
        // An unexpected further question gets Ctrl-D, the end of the input.
        call.types(&format!("{typed}\u{4}\u{4}"));
        call.finish().gives(0, result).says(shown);
    });
}
