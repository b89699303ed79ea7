//! Servers that a launcher starts: in another command, and in this process, on every adapter.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcpwire_client::{GracePeriods, ShutdownStep};
use mcpwire_driver::protocol::Config;
use mcpwire_driver::{ConnectOptions, ErrorKind, Exit, McpServerDef, ServerLaunch};
use mcpwire_testkit::{ScriptedServer, duplex};
use mcpwire_tests::{Adapter, on_every_adapter, server};
use serde_json::json;

fn a_server_runs_in_a_shell<A: Adapter>() {
    let server = server!("well-behaved");
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let options = ConnectOptions::new(server.config.clone()).launcher(move |def: &McpServerDef| {
        count.fetch_add(1, Ordering::SeqCst);
        let shell = McpServerDef::new("/bin/sh").args(["-c", r#"exec "$0" "$@""#]);
        Ok(ServerLaunch::command(shell.arg(&def.command).args(&def.args)))
    });
    let mut client = A::connect_with(&server.def, options).expect("it starts");
    client.initialize().expect("it answers");
    client.assert_alive();
    assert!(client.is_running() && client.pid() > 0);
    assert_eq!(client.shutdown().expect("it ends").exit, Some(Exit::new(Some(0), None)));
    assert_eq!(started.load(Ordering::SeqCst), 1);
}

fn a_server_that_dies_on_the_probe_is_launched_again<A: Adapter>() {
    let server = server!("dies-on-probe");
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let options = ConnectOptions::new(server.config.clone()).launcher(move |def: &McpServerDef| {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(ServerLaunch::command(def.clone()))
    });
    let mut client = A::connect_with(&server.def, options).expect("it starts");
    client.initialize().expect("the second process answers");
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
    let mut client = A::connect_with(&McpServerDef::new("in-memory"), options).expect("it starts");
    client.initialize().expect("it answers");
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
        let options = ConnectOptions::new(Config::default())
            .grace_periods(GracePeriods {
                after_close: Duration::from_millis(10),
                after_terminate: Duration::from_millis(10),
            })
            .launcher(move |_: &McpServerDef| {
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
    let mut client = A::connect_with(&McpServerDef::new("in-memory"), options).expect("it starts");
    client.initialize().expect("it answers");
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

on_every_adapter!(
    a_server_runs_in_a_shell,
    a_server_that_dies_on_the_probe_is_launched_again,
    a_server_runs_in_this_process,
    a_server_that_does_not_end_is_killed,
    an_exit_ends_the_connection_although_the_output_stays_open,
    a_launcher_may_fail,
);
