//! Files that the command line names, and standard input: a pipe is read until Ctrl-C, and nothing is read without a limit.
#![cfg(target_os = "linux")]

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::json;

use crate::support::configured::MCPWIRE;
use crate::support::{Finished, Running, command, mcpwire, scratch, wait_for};

/// The commands that read this file, each with the field of its errors.
fn commands(file: &str) -> [(Vec<String>, &'static str); 6] {
    let at = format!("@{file}");
    let words = |line: &[&str]| line.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let place = scratch("inputs-configuration").display().to_string();
    [
        (words(&["call", "echo", &at, "--demo"]), "arguments"),
        (words(&["prompt", "review", &at, "--demo"]), "arguments"),
        (words(&["task", "get", &at, "--demo"]), "arguments"),
        (words(&["tools", "--demo", "--answers", file]), "answers"),
        (words(&["tools", "--config-dir", &place, "--answers", file]), "answers"),
        (words(&["server", "import", file, "--config-dir", &place]), "file"),
    ]
}

fn run(words: &[String]) -> Finished {
    mcpwire(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_device_a_directory_and_a_huge_file_are_refused_with_their_names() {
    let huge = scratch("huge.json");
    File::create(&huge).unwrap().set_len((64 << 20) + 1).unwrap();
    for (file, what) in [
        ("/dev/zero", "it is a device, not a regular file"),
        ("/usr", "it is a directory, not a regular file"),
        (huge.to_str().unwrap(), "the file is larger than 64 MiB"),
    ] {
        for (words, field) in commands(file) {
            let finished = run(&words);
            assert_eq!((finished.code(), finished.stdout.as_str()), (2, ""), "{words:?}: {finished:?}");
            let message = format!("error: could not read {file}: {what}\n");
            assert_eq!(finished.stderr, message, "{words:?}: {finished:?}");
            let error = run(&[words, vec!["--json".to_owned()]].concat());
            assert_eq!(error.error()["field"], json!(field), "{error:?}");
        }
    }
    fs::remove_file(huge).unwrap();
}

#[test]
fn standard_input_has_a_limit() {
    let place = scratch("inputs-secrets");
    let place = place.to_str().unwrap();
    let added = mcpwire(&["server", "add", "notes", "--config-dir", place, "--", "true"]);
    assert_eq!(added.code(), 0, "{added:?}");
    for words in [
        &["call", "echo", "-", "--demo"][..],
        &["prompt", "review", "-", "--demo"],
        &["task", "get", "-", "--demo"],
        &["secret", "set", "notes", "TOKEN", "--config-dir", place],
    ] {
        let output = command(words).stdin(File::open("/dev/zero").unwrap()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert_eq!(error, "error: could not read standard input: the file is larger than 64 MiB\n", "{words:?}");
    }
}

#[test]
fn the_output_of_a_command_can_be_an_input() {
    let script = r#"
        "$0" call greet @<(printf '{"times":1}') --demo --protocol legacy \
            --answers <(printf '{"elicitation":[{"action":"accept","content":{"first_name":"Ada"}}]}') &&
        "$0" server import <(printf '{"mcpServers":{"notes":{"command":"true"}}}') --trust --config-dir "$1"
    "#;
    let place = scratch("inputs-of-commands");
    let mut bash = Command::new("bash");
    let output = bash.args(["-c", script, MCPWIRE]).arg(place).stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown == "Hello, Ada!\nadded notes\n", "{output:?}");
}

#[test]
fn ctrl_c_ends_the_wait_for_a_pipe() {
    for (at, (words, _)) in commands("").into_iter().enumerate() {
        let pipe = scratch(&format!("pipe-{at}"));
        let _ = fs::remove_file(&pipe);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let pipe = pipe.to_str().unwrap();
        let place = |word: &String| match word.as_str() {
            "" => pipe.to_owned(),
            "@" => format!("@{pipe}"),
            other => other.to_owned(),
        };
        let words: Vec<String> = words.iter().map(place).collect();
        let (running, _stdin) = Running::start_and_write(&words.iter().map(String::as_str).collect::<Vec<_>>());
        // Until the program reads the pipe, this fails.
        let open = || {
            OpenOptions::new().write(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed()).open(pipe)
        };
        let _writer = wait_for("the reader of the pipe", || open().ok());
        running.signal(Signal::INT);
        let finished = running.finish();
        assert_eq!((finished.code(), finished.stderr.as_str()), (130, "error: interrupted\n"), "{words:?}");
    }
}
