//! What only servers on Unix do: permissions of programs, shells, sessions, and standard streams that a server closes.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_driver::{ConnectOptions, Exit, McpServerDef, ServerLaunch};
use mcpwire_tests::{Adapter, Call, has_ended, on_both_clients, on_every_adapter, server};
use serde_json::json;

use super::open;
use super::processes::{SHORT, pid_of_grandchild};

// Programs that cannot be started, each in its own words.

fn programs_that_cannot_be_started_are_told_apart<A: Adapter>() {
    let not_permitted = a_file("not-permitted", b"#!/bin/sh\n", 0o644);
    let no_program = a_file("no-program", b"\x7fELF but not really", 0o755);
    let (folder, server) = (env!("CARGO_TARGET_TMPDIR"), env!("CARGO_BIN_EXE_bad-habits"));
    for (def, words) in [
        (McpServerDef::new("mcpwire-no-such-program"), ["mcpwire-no-such-program", "not found"]),
        (McpServerDef::new("/no/such/folder/server"), ["/no/such/folder/server", "not found"]),
        (McpServerDef::new(not_permitted), ["not-permitted", "not executable"]),
        (McpServerDef::new(no_program), ["no-program", "not executable"]),
        (McpServerDef::new(folder), [folder, "not executable"]),
        (McpServerDef::new(server).cwd("/no/such/folder"), ["/no/such/folder", ""]),
    ] {
        let server = server!("well-behaved").defined(|_| def);
        server.fail_to_open::<A>().assert(ErrorKind::Start, &words);
    }
}

fn a_file(name: &str, content: &[u8], mode: u32) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut file = File::create(&path).expect("the folder of the tests is writable");
    file.write_all(content).expect("there is space");
    drop(file);
    fs::set_permissions(&path, Permissions::from_mode(mode)).expect("the file is ours");
    path.to_str().expect("the path is UTF-8").to_owned()
}

// A server that a launcher starts in another command.

fn a_server_runs_in_a_shell<A: Adapter>() {
    let server = server!("well-behaved");
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let options = ConnectOptions::new(server.config.clone()).launcher(move |def: &McpServerDef| {
        count.fetch_add(1, Ordering::SeqCst);
        let shell = McpServerDef::new("/bin/sh").args(["-c", r#"exec "$0" "$@""#]);
        Ok(ServerLaunch::command(shell.arg(&def.command).args(&def.args)))
    });
    let mut client = A::open(&server.def, options);
    client.assert_alive();
    assert!(client.is_running() && client.pid() > 0);
    assert_eq!(client.shutdown().expect("it ends").exit, Some(Exit::new(Some(0), None)));
    assert_eq!(started.load(Ordering::SeqCst), 1);
}

/// Only Linux tells which processes a server has started.
fn those_in_a_session_of_their_own_are_ended_too<A: Adapter>() {
    if !cfg!(target_os = "linux") {
        return;
    }
    for end in [|client: A| drop(client.shutdown()), |client: A| drop(client)] {
        let habit = "own-session";
        let mut server = server!(&format!("grandchild {habit}"));
        server.grace_periods = SHORT;
        let mut client = server.open::<A>();
        let grandchild = pid_of_grandchild(&mut client);
        while !leads_a_session(grandchild) {
            thread::yield_now();
        }
        end(client);
        server.assert_gone();
        assert!(has_ended(grandchild));
    }
}

fn leads_a_session(pid: u32) -> bool {
    // `getsid` of rustix returns an invalid id for a session whose leader is outside this PID namespace.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process is running");
    let session = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_ascii_whitespace().nth(3));
    session == Some(pid.to_string().as_str())
}

fn a_closed_standard_output_ends_the_call_at_once<A: Adapter>() {
    let (_server, mut client) = open::<A>("closes-stdout");
    let failure = client.failure("echo");
    failure.assert(ErrorKind::Closed, &["bad-habits", "tools/call", "I shall say no more"]);
    client.shutdown().expect("it ends");
}

fn a_closed_standard_input_ends_the_next_call_at_once<A: Adapter>() {
    let (_server, mut client) = open::<A>("closes-stdin");
    assert_eq!(client.text("echo", json!({"message": "the last"})), "the last");
    // A process that another test is just starting has, until it runs its program, all pipes of this one: what is written
    // then is lost, and nothing tells.
    let failure = loop {
        let result = client.call(Call::new("echo").timeout(Duration::from_secs(1)));
        let failure = result.expect_err("nobody listens");
        if failure.kind != ErrorKind::Timeout {
            break failure;
        }
    };
    failure.assert(ErrorKind::Closed, &["bad-habits", "tools/call", "I shall listen no more"]);
}

on_every_adapter!(
    a_server_runs_in_a_shell,
    those_in_a_session_of_their_own_are_ended_too,
    a_closed_standard_output_ends_the_call_at_once,
    a_closed_standard_input_ends_the_next_call_at_once,
);

on_both_clients!(programs_that_cannot_be_started_are_told_apart);
