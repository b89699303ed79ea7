//! The socket of `mcpwire hub run`: its path and owner, that only one hub uses it, and its clients that do not wait for answers.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::{sync::mpsc, thread};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::configured::{MCPWIRE, add_demo, at};
use crate::support::{Running, command, wait_for};

const SUM: &str = r#"{"a":2,"b":40}"#;

/// Starts a hub in this directory, and waits until it listens.
fn hub(place: &Path) -> Running {
    let hub = Running::start(&["hub", "run", "--config-dir", place.to_str().unwrap()], "");
    hub.wait_for_stderr("listening at ");
    hub
}

fn end(hub: Running) {
    hub.signal(Signal::INT);
    let ended = hub.finish();
    assert_eq!(ended.code(), 0, "{ended:?}");
}

#[test]
fn a_directory_whose_path_is_too_long_for_a_socket_works_too() {
    let runtime = tempfile::tempdir().unwrap();
    let place = tempfile::tempdir().unwrap();
    let place = place.path().join("x".repeat(150));
    let run = |words: &[&str]| -> Command {
        let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        let mut command = command(&[&words[..end], &["--config-dir", place.to_str().unwrap()], &words[end..]].concat());
        command.env("XDG_RUNTIME_DIR", runtime.path()).stdin(Stdio::null());
        command
    };
    let ok = |output: Output| {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    ok(run(&["server", "add", "demo", "--", MCPWIRE, "demo-server"]).output().unwrap());
    assert_eq!(ok(run(&["call", "demo__add", SUM]).output().unwrap()), "42\n");

    let mut hub = run(&["hub", "run"]).stderr(Stdio::null()).spawn().unwrap();
    let socket = || fs::read_dir(runtime.path().join("mcpwire")).ok()?.next()?.ok();
    let socket = wait_for("the socket", || socket().filter(|socket| socket.path().extension().is_some())).path();
    wait_for("its mode", || (fs::metadata(&socket).ok()?.permissions().mode() & 0o777 == 0o600).then_some(()));
    let pid = || {
        let rows: serde_json::Value =
            serde_json::from_str(&ok(run(&["status", "--json"]).output().unwrap())).expect("JSON");
        rows[0]["pid"].as_u64()
    };
    let first = wait_for("the server", pid);
    assert_eq!(ok(run(&["call", "demo__add", SUM]).output().unwrap()), "42\n");
    assert_eq!(pid(), Some(first), "commands share the server");
    kill_process(Pid::from_child(&hub), Signal::INT).unwrap();
    assert!(hub.wait().unwrap().success());
    assert!(!socket.exists());
}

#[test]
fn of_hubs_that_start_together_one_stays_and_keeps_its_socket() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    add_demo(place, "demo");
    let start = || -> Child {
        let mut hub = command(&["hub", "run", "--config-dir", place.to_str().unwrap()]);
        hub.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut hubs: Vec<Child> = (0..6).map(|_| start()).collect();
    let mut left: Vec<&mut Child> = hubs.iter_mut().collect();
    wait_for("all but one to end", || {
        left.retain_mut(|hub| match hub.try_wait().unwrap() {
            Some(status) => {
                assert_eq!(status.code(), Some(2), "the others say that a hub is running");
                false
            }
            None => true,
        });
        (left.len() == 1).then_some(())
    });
    wait_for("the socket", || place.join("state/hub.sock").exists().then_some(()));
    assert_eq!(at(place, &["call", "demo__add", SUM]).stdout, "42\n");
    kill_process(Pid::from_child(left[0]), Signal::INT).unwrap();
    assert!(left[0].wait().unwrap().success());
    assert!(!place.join("state/hub.sock").exists());
}

#[test]
fn what_a_killed_hub_left_keeps_nobody_from_starting() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let killed = hub(place);
    killed.signal(Signal::KILL);
    wait_for("its end", || UnixStream::connect(place.join("state/hub.sock")).is_err().then_some(()));
    assert_eq!(at(place, &["server", "list"]).code(), 0);
    end(hub(place));
}

#[test]
fn a_directory_that_others_can_write_to_is_not_trusted() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    add_demo(place, "demo");
    let hub = hub(place);
    fs::set_permissions(place.join("state"), fs::Permissions::from_mode(0o777)).unwrap();
    let called = at(place, &["call", "demo__add", SUM]);
    assert_eq!((called.code(), called.stdout.as_str()), (2, ""), "{called:?}");
    assert!(called.stderr.contains("can be written to by others"), "{called:?}");
    fs::set_permissions(place.join("state"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(at(place, &["call", "demo__add", SUM]).stdout, "42\n");
    end(hub);
}

#[test]
fn clients_that_ask_without_an_end_and_read_nothing_keep_nobody_from_a_call() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    add_demo(place, "demo");
    let hub = hub(place);
    hub.wait_for_stderr("demo: running");
    let asks = "{\"ask\":\"status\"}\n".repeat(2_000);
    let clients: Vec<UnixStream> = (0..10)
        .map(|_| {
            let mut client = UnixStream::connect(place.join("state/hub.sock")).unwrap();
            client.set_nonblocking(true).unwrap();
            // As many connections as the hub accepts.
            let _ = client.write(asks.as_bytes());
            client
        })
        .collect();
    assert_eq!(at(place, &["call", "demo__add", SUM, "--timeout", "10s"]).stdout, "42\n");
    drop(clients);
    end(hub);
}

#[test]
fn the_call_of_a_client_that_goes_ends_also_if_it_has_sent_more_requests() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    add_demo(place, "demo");
    let hub = hub(place);
    hub.wait_for_stderr("demo: running");
    let slow = "{\"ask\":\"call\",\"tool\":\"slow\",\"server\":\"demo\",\"arguments\":{\"seconds\":600}}\n";
    let status = "{\"ask\":\"status\"}\n";
    // Nothing, bytes that the hub reads with the call, and more than its buffer takes.
    for more in [String::new(), status.to_owned(), status.repeat(2_000)] {
        let mut client = UnixStream::connect(place.join("state/hub.sock")).unwrap();
        client.write_all(format!("{slow}{more}").as_bytes()).unwrap();
        let mut answers = BufReader::new(client.try_clone().unwrap());
        let mut first = String::new();
        answers.read_line(&mut first).unwrap();
        assert!(first.contains("progress"), "{first}");
        client.shutdown(Shutdown::Write).unwrap();
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || {
            let mut rest = String::new();
            let _ = answers.read_to_string(&mut rest);
            let _ = sender.send(rest);
        });
        // Progress may come until the hub has seen the end. Without the end of the call, that is for ten minutes.
        let rest = wait_for("the end of the connection", || ended.try_recv().ok());
        assert!(!rest.contains("done") && !rest.contains("error"), "{rest}");
    }
    assert_eq!(at(place, &["call", "demo__add", SUM]).stdout, "42\n");
    end(hub);
}

#[test]
fn requests_that_are_sent_together_are_answered_in_order() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    add_demo(place, "demo");
    let hub = hub(place);
    hub.wait_for_stderr("demo: running");
    let call = format!("{{\"ask\":\"call\",\"tool\":\"add\",\"server\":\"demo\",\"arguments\":{SUM}}}\n");
    let mut client = UnixStream::connect(place.join("state/hub.sock")).unwrap();
    client.write_all(format!("{call}{{\"ask\":\"status\"}}\n{call}").as_bytes()).unwrap();
    let answers: Vec<String> = BufReader::new(client).lines().take(3).map(Result::unwrap).collect();
    let is_sum = |answer: &String| answer.contains("done") && answer.contains("42");
    assert!(is_sum(&answers[0]) && answers[1].contains("demo") && is_sum(&answers[2]), "{answers:?}");
    end(hub);
}
