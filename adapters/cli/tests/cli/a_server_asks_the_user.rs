//! Requests of a server during a call, answered from a file, by the user at the terminal, or by nobody.

use std::fs;

use crate::support::{Finished, mcpwire, scratch};

/// Calls the demo's tool `greet` in the legacy era, with this file of answers.
fn greet(name: &str, answers: &str, more: &[&str]) -> Finished {
    let path = scratch(name);
    fs::write(&path, answers).expect("the file can be written");
    let path = path.to_str().expect("a path of text");
    let line = ["call", "greet", "--demo", "--protocol", "legacy", "--answers", path];
    mcpwire(&[&line[..], more].concat())
}

#[test]
fn a_file_answers_with_its_defaults_filled_in() {
    let answers = r#"{"elicitation":[{"message":"nobody asks this","action":"cancel"},{"action":"accept","content":{"first_name":"Ada","times":2}}]}"#;
    let finished = greet("answers-accept", answers, &[]);
    assert_eq!(
        (finished.code(), finished.stdout.as_str(), finished.stderr.as_str()),
        (0, "Hello, Ada! Hello, Ada!\n", "")
    );
    let finished = greet("answers-json", answers, &["--json"]);
    assert_eq!(finished.json()["content"][0]["text"], "Hello, Ada! Hello, Ada!");
}

#[test]
fn a_server_of_either_era_asks_alike() {
    let path = scratch("answers-eras");
    fs::write(&path, r#"{"elicitation":[{"action":"accept","content":{"first_name":"Ada"}}]}"#)
        .expect("it can be written");
    let path = path.to_str().expect("a path of text");
    for era in ["legacy", "modern", "auto", "2025-06-18"] {
        let finished = mcpwire(&["call", "greet", "--demo", "--protocol", era, "--answers", path]);
        assert_eq!((finished.code(), finished.stdout.as_str()), (0, "Hello, Ada!\n"), "{era}: {finished:?}");
    }
}

#[test]
fn a_file_declines_and_dismisses() {
    for (name, action, text) in
        [("decline", "decline", "No greeting, then.\n"), ("cancel", "cancel", "Nobody was there to be greeted.\n")]
    {
        let finished = greet(name, &format!(r#"{{"elicitation":[{{"action":"{action}","repeat":true}}]}}"#), &[]);
        assert_eq!((finished.code(), finished.stdout.as_str()), (0, text), "{finished:?}");
    }
}

#[test]
fn what_no_entry_answers_is_dismissed_and_told() {
    let finished = greet("answers-none", r#"{"elicitation":[]}"#, &[]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, "Nobody was there to be greeted.\n"));
    assert!(finished.stderr.contains("Who is to be greeted, and how? (dismissed"), "{finished:?}");
}

#[test]
fn an_answer_that_does_not_fit_is_never_sent() {
    let finished = greet(
        "answers-wrong",
        r#"{"elicitation":[{"action":"accept","content":{"first_name":"Ada","times":9}}]}"#,
        &[],
    );
    assert_eq!(finished.code(), 1, "{finished:?}");
    let why = "the client's answer does not fit the form: `times` must be at most 5";
    assert!(finished.stdout.contains(why), "the server is told: {finished:?}");
    assert!(finished.stderr.contains(why), "and so is the person: {finished:?}");
}

#[test]
fn a_file_that_is_none_is_wrong_usage() {
    for answers in ["", "[]", r#"{"elicitation":[{"action":"shrug"}]}"#, r#"{"questions":[]}"#] {
        let finished = greet("answers-bad", answers, &["--json"]);
        assert_eq!((finished.code(), &finished.error()["field"]), (2, &"answers".into()), "{answers}: {finished:?}");
    }
    let finished = mcpwire(&["call", "greet", "--demo", "--answers", "/not/there", "--json"]);
    assert_eq!((finished.code(), &finished.error()["field"]), (2, &"answers".into()));
}

#[test]
fn without_a_terminal_nobody_is_asked_and_nothing_hangs() {
    let finished = mcpwire(&["call", "greet", "--demo", "--protocol", "legacy"]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, "Nobody was there to be greeted.\n"));
    assert!(finished.stderr.contains("answer it at a terminal, or with --answers FILE"), "{finished:?}");
    let finished = mcpwire(&["call", "greet", "--demo", "--protocol", "legacy", "--quiet"]);
    assert_eq!((finished.code(), finished.stderr.as_str()), (0, ""));
}

#[test]
fn a_configured_server_asks_as_any_other() {
    let place = tempfile::tempdir().expect("a directory");
    let config = place.path().to_str().expect("a path of text");
    let demo = ["--", env!("CARGO_BIN_EXE_mcpwire"), "demo-server"];
    let added = mcpwire(&[&["server", "add", "demo", "--config-dir", config][..], &demo].concat());
    assert_eq!(added.code(), 0, "{added:?}");
    let answers = place.path().join("answers.json");
    fs::write(&answers, r#"{"elicitation":[{"action":"accept","content":{"first_name":"Ada"}}]}"#).expect("a file");
    let call = ["call", "demo__greet", "--config-dir", config];
    let finished = mcpwire(&[&call[..], &["--answers", answers.to_str().expect("a path of text")]].concat());
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, "Hello, Ada!\n"), "{finished:?}");
    let finished = mcpwire(&call);
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, "Nobody was there to be greeted.\n"), "{finished:?}");
    assert!(finished.stderr.contains("demo asks: "), "{finished:?}");
    let wrong = mcpwire(&[&call[..], &["--answers", "/not/there"]].concat());
    assert_eq!(wrong.code(), 2, "{wrong:?}");
    let ignored = mcpwire(&[&call[..], &["--trace", "never-written"]].concat());
    assert!(ignored.stderr.contains("--trace has no effect"), "{ignored:?}");
}

#[test]
fn roots_are_declared_and_must_be_there() {
    let trace = scratch("roots-trace");
    let path = trace.to_str().expect("a path of text");
    let finished =
        mcpwire(&["info", "--demo", "--protocol", "legacy", "--root", ".", "--root", "file:///else", "--trace", path]);
    assert_eq!(finished.code(), 0, "{finished:?}");
    let trace = fs::read_to_string(trace).expect("a trace");
    assert!(trace.contains(r#""roots":{"listChanged":true}"#), "{trace}");
    let finished = mcpwire(&["info", "--demo", "--root", "/not/there", "--json"]);
    assert_eq!((finished.code(), &finished.error()["field"]), (2, &"root".into()), "{finished:?}");
}

#[cfg(target_os = "linux")]
mod at_a_terminal {
    use std::io::{Read, Write};
    use std::process::Stdio;
    use std::thread;

    use crate::support::command;
    use crate::support::terminal::Terminal;

    /// Runs the program with a terminal as standard input and standard error, and types these lines.
    ///
    /// Returns the exit status, standard output, and the output on the terminal.
    fn typed(arguments: &[&str], lines: &str) -> (Option<i32>, String, String) {
        let terminal = Terminal::open();
        let mut program = command(arguments);
        program.stdin(terminal.other_end()).stderr(terminal.other_end()).stdout(Stdio::piped());
        let child = program.spawn().expect("it starts");
        // The `Command` keeps the other side of the terminal open. Without this, reading would never end.
        drop(program);
        let mut terminal = terminal.file;
        // An unexpected further question gets the end of the input.
        terminal.write_all(format!("{lines}\u{4}\u{4}").as_bytes()).expect("it can be typed on");
        let mut screen = terminal.try_clone().expect("it can be read");
        let shown = thread::spawn(move || {
            let mut shown = Vec::new();
            // A closed terminal is read as an error.
            let _ = screen.read_to_end(&mut shown);
            String::from_utf8_lossy(&shown).into_owned()
        });
        let output = child.wait_with_output().expect("it ends");
        let shown = shown.join().expect("it is read");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), shown)
    }

    const GREET: [&str; 5] = ["call", "greet", "--demo", "--protocol", "legacy"];

    #[test]
    fn a_form_is_filled_in_field_by_field() {
        let (code, stdout, shown) = typed(&GREET, "Ada\nDeutsch\ny\n9\n2\n\n");
        assert_eq!((code, stdout.as_str()), (Some(0), "HALLO, ADA! HALLO, ADA!\n"), "{shown}");
        for part in [
            "asks:",
            "Who is to be greeted, and how?",
            "Your name",
            "How many greetings you want.",
            "must be at most 5",
            "1. English",
            "To be sent:",
        ] {
            assert!(shown.contains(part), "{part:?} in {shown}");
        }
    }

    #[test]
    fn a_form_can_be_declined_and_dismissed() {
        assert_eq!(typed(&GREET, "!decline\n").1, "No greeting, then.\n");
        assert_eq!(typed(&GREET, "Ada\n!cancel\n").1, "Nobody was there to be greeted.\n");
        // Ctrl-D, the end of the input.
        assert_eq!(typed(&GREET, "").1, "Nobody was there to be greeted.\n");
    }
}
