//! How servers are started: their environment, their launchers, and the processes that they start themselves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{io, thread};

use mcpwire_blocking::EnvPolicy;
use mcpwire_client::{GracePeriods, ShutdownStep};
use mcpwire_driver::protocol::Config;
use mcpwire_driver::{ConnectOptions, ErrorKind, Exit, McpServerDef, ServerLaunch};
use mcpwire_testkit::{ScriptedServer, duplex};
use mcpwire_tests::{Adapter, has_ended, on_both_clients, on_every_adapter, process_exists, server};
use serde_json::json;

use super::in_both_eras;

pub(super) const SHORT: GracePeriods =
    GracePeriods { after_close: Duration::from_millis(10), after_terminate: Duration::from_millis(10) };

// What a server gets to know of the process that starts it.

/// Cargo sets it for tests; no server has any business with it.
const OURS: &str = "CARGO_MANIFEST_DIR";

fn the_policy_of_the_definition_says_which_variables_are_passed_on<A: Adapter>() {
    let names = names::<A>(|def| def);
    assert!(names.contains(&"PATH".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");

    let lines = lines::<A>(|def| def.env("GIVEN", "a b=\"c\"").inherit(OURS).inherit("MCPWIRE_IS_NOT_SET"));
    assert!(lines.contains(&"GIVEN=a b=\"c\"".to_owned()), "{lines:?}");
    assert!(lines.contains(&format!("{OURS}={}", env!("CARGO_MANIFEST_DIR"))), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("MCPWIRE_IS_NOT_SET")), "{lines:?}");

    let names = self::names::<A>(|def| def.env_policy(EnvPolicy::Inherit).env("GIVEN", "1"));
    assert!(names.contains(&OURS.to_owned()) && names.contains(&"GIVEN".to_owned()), "{names:?}");
    assert_eq!(self::names::<A>(|def| def.env_policy(EnvPolicy::Clear).env("GIVEN", "1")), ["GIVEN"]);
}

fn no_shell_reads_the_arguments<A: Adapter>() {
    let server = server!("well-behaved").defined(|def| def.arg("$(exit 3)").arg("; exit 3").arg("'").arg("*"));
    let mut client = server.open::<A>();
    let arguments = client.text("arguments", json!({}));
    assert!(arguments.ends_with("\n$(exit 3)\n; exit 3\n'\n*"), "{arguments:?}");
}

fn the_working_directory_is_that_of_the_definition<A: Adapter>() {
    let directory = env!("CARGO_TARGET_TMPDIR");
    let server = server!("well-behaved").defined(|def| def.cwd(directory));
    let mut client = server.open::<A>();
    assert_eq!(client.text("directory", json!({})), directory);
}

fn lines<A: Adapter>(change: impl FnOnce(McpServerDef) -> McpServerDef) -> Vec<String> {
    let server = server!("well-behaved").defined(change);
    let mut client = server.open::<A>();
    client.text("environment", json!({})).lines().map(str::to_owned).collect()
}

fn names<A: Adapter>(change: impl FnOnce(McpServerDef) -> McpServerDef) -> Vec<String> {
    let name = |line: String| line.split_once('=').map_or(line.clone(), |(name, _)| name.to_owned());
    lines::<A>(change).into_iter().map(name).collect()
}

// Servers that a launcher starts: in another command, and in this process, on every adapter.

fn a_server_that_dies_on_the_probe_is_launched_again<A: Adapter>() {
    let server = server!("dies-on-probe");
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let options = ConnectOptions::new(server.config.clone()).launcher(move |def: &McpServerDef| {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(ServerLaunch::command(def.clone()))
    });
    let client = A::open(&server.def, options);
    client.shutdown().expect("it ends");
    assert_eq!(started.load(Ordering::SeqCst), 2);
}

fn a_server_runs_in_this_process<A: Adapter>() {
    let options = ConnectOptions::new(Config::default()).launcher(|def: &McpServerDef| {
        assert_eq!(def.command, "in-memory");
        let server = ScriptedServer::new().tool("echo", |arguments| arguments.member::<String>("message").unwrap());
        let (ours, theirs) = duplex(1024);
        let (ended, end) = ::smol::channel::bounded(1);
        thread::spawn(move || {
            ::smol::block_on(server.serve::<mcpwire_smol::Smol>(theirs.reader, theirs.writer));
            ended.send_blocking(Exit::new(Some(7), None))
        });
        let exit = async move { end.recv().await.unwrap_or(Exit::new(None, None)) };
        Ok(ServerLaunch::streams(ours.reader, ours.writer, exit).stderr(&b"let me think\n"[..]))
    });
    let mut client = A::open(&McpServerDef::new("in-memory"), options);
    assert_eq!(client.text("echo", json!({"message": "hi"})), "hi");
    // Another thread may read standard error.
    while client.stderr_tail().is_empty() {
        assert_eq!(client.text("echo", json!({"message": "again"})), "again");
    }
    assert_eq!(client.stderr_tail(), "let me think");
    let report = client.shutdown().expect("it ends");
    assert_eq!((report.exit, report.last_step), (Some(Exit::new(Some(7), None)), ShutdownStep::CloseInput));
}

fn a_server_that_does_not_end_is_killed<A: Adapter>() {
    for is_polite in [true, false] {
        let (killed, was_killed) = channel();
        let options = ConnectOptions::new(Config::default()).grace_periods(SHORT).launcher(move |_: &McpServerDef| {
            let (ours, theirs) = duplex(1024);
            let (end, ended) = ::smol::channel::bounded(1);
            let killed = killed.clone();
            let exit = async move {
                ended.recv().await.expect("it is killed");
                drop(theirs);
                Exit::new(None, Some(9))
            };
            Ok(ServerLaunch::streams(ours.reader, ours.writer, exit).on_kill(move || {
                killed.send(()).expect("the test listens");
                end.try_send(()).expect("there is room");
            }))
        });
        let client = A::connect_with(&McpServerDef::new("in-memory"), options).expect("it starts");
        if is_polite {
            let report = client.shutdown().expect("it ends");
            assert_eq!((report.exit, report.last_step), (Some(Exit::new(None, Some(9))), ShutdownStep::Kill));
        } else {
            drop(client);
        }
        was_killed.recv().expect("it is killed");
    }
}

/// As when another process of the server holds its standard output: the stream does not end with the server.
fn an_exit_ends_the_connection_although_the_output_stays_open<A: Adapter>() {
    let (test_ends, until_test_ends) = channel::<()>();
    let until_test_ends = Arc::new(Mutex::new(until_test_ends));
    let options = ConnectOptions::new(Config::default()).launcher(move |_: &McpServerDef| {
        let (exit_now, exits) = ::smol::channel::bounded(1);
        let until_test_ends = Arc::clone(&until_test_ends);
        let server = ScriptedServer::new().tool("exit", move |_| {
            exit_now.try_send(Exit::new(Some(7), None)).expect("there is room");
            let _ = until_test_ends.lock().unwrap().recv();
            "too late"
        });
        let (ours, theirs) = duplex(1024);
        thread::spawn(move || ::smol::block_on(server.serve::<mcpwire_smol::Smol>(theirs.reader, theirs.writer)));
        let exit = async move { exits.recv().await.expect("the tool is called") };
        Ok(ServerLaunch::streams(ours.reader, ours.writer, exit))
    });
    let mut client = A::open(&McpServerDef::new("in-memory"), options);
    for _ in 0..2 {
        client.failure("exit").assert(ErrorKind::Closed, &["in-memory", "7"]);
    }
    client.shutdown().expect("there is nothing left to end");
    drop(test_ends);
}

fn a_launcher_may_fail<A: Adapter>() {
    let fails: fn(&McpServerDef) -> io::Result<ServerLaunch> = |_| Err(io::Error::other("there is no sandbox"));
    let panics: fn(&McpServerDef) -> io::Result<ServerLaunch> = |_| panic!("on purpose");
    for (launcher, text) in [(fails, "there is no sandbox"), (panics, "the launcher panicked: on purpose")] {
        let options = ConnectOptions::new(Config::default()).launcher(launcher);
        let failure = A::connect_with(&McpServerDef::new("x"), options).err().expect("it does not start");
        failure.assert(ErrorKind::Start, &["server `x`", text]);
    }
}

// A server may have started others, which hold its pipes and outlive it.

fn shutdown_ends_them<A: Adapter>() {
    in_both_eras::<A>("grandchild", |server, mut client| {
        let grandchild = pid_of_grandchild(&mut client);
        assert!(process_exists(grandchild));
        client.shutdown().expect("it ends");
        server.assert_gone();
        assert!(has_ended(grandchild));
    });
}

fn dropping_the_client_ends_them<A: Adapter>() {
    let server = server!("grandchild").patient();
    let mut client = server.open::<A>();
    let grandchild = pid_of_grandchild(&mut client);
    drop(client);
    server.assert_gone();
    assert!(has_ended(grandchild));
}

fn shutdown_ends_those_who_ignore_termination<A: Adapter>() {
    let mut server = server!("grandchild ignores-term");
    server.grace_periods = SHORT;
    let mut client = server.open::<A>();
    let grandchild = pid_of_grandchild(&mut client);
    client.shutdown().expect("it ends");
    server.assert_gone();
    assert!(has_ended(grandchild));
}

/// The grandchild still holds standard output, so there is no end of file to tell.
fn the_exit_of_the_server_is_noticed_although_they_hold_its_output<A: Adapter>() {
    for end in [|client: A| drop(client.shutdown()), |client: A| drop(client)] {
        let mut server = server!("grandchild");
        server.grace_periods = SHORT;
        let mut client = server.open::<A>();
        let grandchild = pid_of_grandchild(&mut client);
        let failure = client.failure("leave");
        failure.assert(ErrorKind::Closed, &["tools/call", "5", "I leave, my child stays"]);
        end(client);
        server.assert_gone();
        assert!(has_ended(grandchild));
    }
}

pub(super) fn pid_of_grandchild<A: Adapter>(client: &mut A) -> u32 {
    client.text("grandchild", json!({})).parse().expect("it says a process id")
}

on_every_adapter!(
    a_server_runs_in_this_process,
    a_server_that_does_not_end_is_killed,
    an_exit_ends_the_connection_although_the_output_stays_open,
    shutdown_ends_them,
    dropping_the_client_ends_them,
    shutdown_ends_those_who_ignore_termination,
    the_exit_of_the_server_is_noticed_although_they_hold_its_output,
);

on_both_clients!(
    the_policy_of_the_definition_says_which_variables_are_passed_on,
    no_shell_reads_the_arguments,
    the_working_directory_is_that_of_the_definition,
    a_server_that_dies_on_the_probe_is_launched_again,
    a_launcher_may_fail,
);
