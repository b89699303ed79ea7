//! Requests of a server during a call, answered from a file, by the user at the terminal, or by nobody.

use crate::support::{Finished, Place, mcpwire};

const GREET: [&str; 5] = ["call", "greet", "--demo", "--protocol", "legacy"];

const NOBODY: &str = "Nobody was there to be greeted.\n";

/// An answer for which the demo's tool `greet` says "Hello, Ada!".
const ADA: &str = r#"{"elicitation":[{"action":"accept","content":{"first_name":"Ada"}}]}"#;

/// Calls the demo's tool `greet` with this file of answers.
fn greet(answers: &str, more: &[&str]) -> Finished {
    let file = Place::new();
    mcpwire(&[&GREET[..], &["--answers", &file.write("answers", answers)], more].concat())
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
        (r#"{"elicitation":[{"action":"cancel","repeat":true}]}"#, 0, NOBODY, ""),
        (r#"{"elicitation":[]}"#, 0, NOBODY, dismissed),
        // Not sent. Both the server and the user are told.
        (wrong, 1, why, why),
    ] {
        let finished = greet(answers, &[]).exits(status).shows(&[result]).says(&[says]);
        assert_eq!(finished.stderr.is_empty(), says.is_empty(), "{finished:?}");
        assert!(status == 1 || finished.stdout == result, "{finished:?}");
    }
    assert_eq!(greet(filled_in, &["--json"]).json()["content"][0]["text"], "Hello, Ada! Hello, Ada!");
    let place = Place::new();
    let answers = place.write("answers", ADA);
    for era in ["legacy", "modern", "auto", "2025-06-18"] {
        mcpwire(&["call", "greet", "--demo", "--protocol", era, "--answers", &answers]).gives(0, "Hello, Ada!\n");
    }
}

#[test]
fn a_file_without_answers_is_wrong_usage() {
    for answers in ["", "[]", r#"{"elicitation":[{"action":"shrug"}]}"#, r#"{"questions":[]}"#] {
        let refused = greet(answers, &["--json"]).exits(2);
        assert_eq!(refused.error()["field"], "answers", "{answers}: {refused:?}");
    }
    mcpwire(&["call", "greet", "--demo", "--answers", "/not/there", "--json"]).exits(2).error_has("field", "answers");
}

#[test]
fn without_a_terminal_nobody_is_asked_and_nothing_hangs() {
    mcpwire(&GREET).gives(0, NOBODY).says(&["answer it at a terminal, or with --answers FILE"]);
    mcpwire(&[&GREET[..], &["--quiet"]].concat()).exits(0).says_only("");
}

#[test]
fn a_configured_server_asks_as_any_other() {
    let place = Place::with_demo();
    let answers = place.write("answers.json", ADA);
    let call = |more: &[&str]| place.run(&[&["call", "demo__greet"], more].concat());
    call(&["--answers", &answers]).gives(0, "Hello, Ada!\n");
    call(&[]).gives(0, NOBODY).says(&["demo asks: "]);
    call(&["--answers", "/not/there"]).exits(2);
    call(&["--trace", "never-written"]).says(&["--trace has no effect"]);
}

#[test]
fn roots_are_declared_and_must_be_there() {
    let place = Place::new();
    let info = ["info", "--demo", "--protocol", "legacy", "--root", ".", "--root", "file:///else"];
    mcpwire(&[&info[..], &["--trace", &place.file("trace")]].concat()).exits(0);
    let trace = place.read("trace");
    assert!(trace.contains(r#""roots":{"listChanged":true}"#), "{trace}");
    mcpwire(&["info", "--demo", "--root", "/not/there", "--json"]).exits(2).error_has("field", "root");
}

#[cfg(target_os = "linux")]
#[test]
fn a_form_at_a_terminal_is_filled_in_declined_and_dismissed() {
    use crate::support::{Running, Terminal, command, each};

    let shown = ["asks:", "Who is to be greeted, and how?", "Your name", "How many greetings you want.", "1. English"];
    let shown = [&shown[..], &["must be at most 5", "To be sent:"]].concat();
    each(
        [
            ("filled in", "Ada\nDeutsch\ny\n9\n2\n\n", "HALLO, ADA! HALLO, ADA!\n", &shown[..]),
            ("declined", "!decline\n", "No greeting, then.\n", &[]),
            ("dismissed", "Ada\n!cancel\n", NOBODY, &[]),
            ("the end of the input", "", NOBODY, &[]),
        ],
        |(_, typed, result, shown)| {
            let mut call = Running::at_terminal(&mut command(&GREET), &Terminal::open());
            // An unexpected further question gets Ctrl-D, the end of the input.
            call.types(&format!("{typed}\u{4}\u{4}"));
            call.finish().gives(0, result).says(shown);
        },
    );
}
