//! Files that the command line names, and standard input: a pipe is read until Ctrl-C, and nothing is read without a limit.
#![cfg(target_os = "linux")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Command;

use crate::support::{MCPWIRE, Place, Running, command, each, run, wait_for};

/// The commands that read a file, each with the field of its errors. `FILE` stands for the file.
const COMMANDS: [(&str, &str); 6] = [
    ("call echo @FILE --demo", "arguments"),
    ("prompt review @FILE --demo", "arguments"),
    ("task get @FILE --demo", "arguments"),
    ("tools --demo --answers FILE", "answers"),
    ("tools --answers FILE", "answers"),
    ("server import FILE", "file"),
];

/// Returns the command with this file, and with a configuration in this directory where it has no other server.
fn reading(place: &Place, line: &str, file: &str) -> Command {
    let line = line.replace("FILE", file);
    if line.contains("--demo") { command(&line) } else { place.command(&line) }
}

#[test]
fn arguments_come_from_a_file_or_standard_input() {
    let place = Place::new();
    let file = place.write("arguments.json", "{\n  \"message\": \"from a file\"\n}\n");
    for (arguments, input, output) in [
        (&*format!("@{file}"), "", "from a file\n"),
        ("-", r#"{"message":"from standard input"}"#, "from standard input\n"),
    ] {
        Running::start(&mut command(&format!("call echo {arguments} --demo")), input).finish().gives(0, output);
    }
}

#[test]
fn a_device_a_directory_and_a_huge_file_are_refused_with_their_names() {
    let place = Place::new();
    let huge = place.file("huge.json");
    File::create(&huge).unwrap().set_len((64 << 20) + 1).unwrap();
    let device = ("/dev/zero", "it is a device, not a regular file");
    let others = [("/usr", "it is a directory, not a regular file"), (&huge, "the file is larger than 64 MiB")];
    let of_others = others.map(|file| (COMMANDS[0], file));
    for ((line, field), (file, what)) in COMMANDS.map(|command| (command, device)).into_iter().chain(of_others) {
        let error = run(reading(&place, line, file).arg("--json")).gives(2, "").error_is("VALIDATION_ERROR", field);
        let named = if field == "answers" { "the file of --answers, " } else { "" };
        error.error_has("message", &format!("could not read {named}{file}: {what}"));
    }
}

#[test]
fn standard_input_has_a_limit() {
    let place = Place::new();
    place.add("notes", &["true"]);
    for line in ["call echo - --demo", "prompt review - --demo", "task get - --demo", "secret set notes TOKEN"] {
        let output = reading(&place, line, "").stdin(File::open("/dev/zero").unwrap()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {error}");
        assert_eq!(error, "error: could not read standard input: the file is larger than 64 MiB\n", "{line}");
    }
}

#[test]
fn the_output_of_a_command_can_be_an_input() {
    let script = r#"
        "$0" call greet @<(printf '{"times":1}') --no-check --demo --protocol legacy \
            --answers <(printf '{"elicitation":[{"action":"accept","content":{"first_name":"Ada"}}]}') &&
        "$0" server import <(printf '{"mcpServers":{"notes":{"command":"true"}}}') --trust --config-dir "$1"
    "#;
    let place = Place::new();
    run(Command::new("bash").args(["-c", script, MCPWIRE]).arg(place.path())).gives(0, "Hello, Ada!\nadded notes\n");
}

#[test]
fn ctrl_c_ends_the_wait_for_a_pipe() {
    each(COMMANDS, |(line, _)| {
        let place = Place::new();
        let pipe = place.file("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let running = Running::start_open(&mut reading(&place, line, &pipe));
        // Until the program reads the pipe, this fails.
        let open = || {
            OpenOptions::new().write(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed()).open(&pipe)
        };
        let _writer = wait_for("the reader of the pipe", || open().ok());
        running.interrupt().exits(130).says_only("error: interrupted\n");
    });
}
