//! The socket of `mcpwire hub run`: its path and owner, that only one hub uses it, and its clients that do not wait for answers.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;

use rustix::process::Signal;

use crate::support::{MCPWIRE, Place, Running, SUM, WATCHDOG, each, wait_for};

const STATUS: &str = "{\"ask\":\"status\"}\n";

/// Returns the request that calls a tool of `demo`.
fn call(tool: &str, arguments: &str) -> String {
    format!("{{\"ask\":\"call\",\"tool\":\"{tool}\",\"server\":\"demo\",\"arguments\":{arguments}}}\n")
}

fn connect(place: &Place) -> UnixStream {
    UnixStream::connect(place.path().join("state/hub.sock")).expect("the hub listens")
}

#[test]
fn a_directory_whose_path_is_too_long_for_a_socket_works_too() {
    let (runtime, place) = (Place::new(), Place::below(&"x".repeat(150)));
    let begin =
        |arguments: &[&str]| Running::start(place.command(arguments).env("XDG_RUNTIME_DIR", runtime.path()), "");
    begin(&["server", "add", "demo", "--", MCPWIRE, "demo-server"]).finish().exits(0);
    begin(&["call", "demo__add", SUM]).finish().gives(0, "42\n");

    let hub = begin(&["hub", "run"]);
    let socket = || fs::read_dir(runtime.path().join("mcpwire")).ok()?.next()?.ok();
    let socket = wait_for("the socket", || socket().filter(|socket| socket.path().extension().is_some())).path();
    wait_for("its mode", || (fs::metadata(&socket).ok()?.permissions().mode() & 0o777 == 0o600).then_some(()));
    let pid = || begin(&["status", "--json"]).finish().exits(0).json()[0]["pid"].as_u64();
    let first = wait_for("the server", pid);
    begin(&["call", "demo__add", SUM]).finish().gives(0, "42\n");
    assert_eq!(pid(), Some(first), "commands share the server");
    hub.interrupt().exits(0);
    assert!(!socket.exists());
}

#[test]
fn of_hubs_that_start_together_one_stays_and_keeps_its_socket() {
    let place = Place::with_demo();
    let mut hubs: Vec<Running> = (0..6).map(|_| place.begin(&["hub", "run"])).collect();
    wait_for("all but one to end", || {
        while let Some(at) = (0..hubs.len()).find(|at| hubs[*at].status().is_some()) {
            // The others say that a hub is running.
            hubs.swap_remove(at).finish().exits(2);
        }
        (hubs.len() == 1).then_some(())
    });
    let socket = place.path().join("state/hub.sock");
    wait_for("the socket", || socket.exists().then_some(()));
    place.adds_up("demo__add");
    hubs.remove(0).interrupt().exits(0);
    assert!(!socket.exists());
}

#[test]
fn what_a_killed_hub_left_keeps_nobody_from_starting() {
    let place = Place::new();
    let killed = place.hub();
    killed.signal(Signal::KILL);
    assert_eq!(killed.finish().status.code(), None);
    place.run(&["server", "list"]).exits(0);
    place.hub().interrupt().exits(0);
}

#[test]
fn a_directory_that_others_can_write_to_is_not_trusted() {
    let place = Place::with_demo();
    let hub = place.hub();
    let set_mode = |mode| fs::set_permissions(place.path().join("state"), fs::Permissions::from_mode(mode)).unwrap();
    set_mode(0o777);
    place.run(&["call", "demo__add", SUM]).gives(2, "").says(&["can be written to by others"]);
    set_mode(0o700);
    place.adds_up("demo__add");
    hub.interrupt().exits(0);
}

#[test]
fn clients_that_ask_without_an_end_and_read_nothing_keep_nobody_from_a_call() {
    let (place, hub) = Place::with_running_demo();
    let begin = |_| {
        let mut client = connect(&place);
        client.set_nonblocking(true).unwrap();
        let _ = client.write(STATUS.repeat(2_000).as_bytes());
        client
    };
    // As many connections as the hub accepts.
    let clients: Vec<UnixStream> = (0..10).map(begin).collect();
    place.run(&["call", "demo__add", SUM, "--timeout", "10s"]).gives(0, "42\n");
    drop(clients);
    hub.interrupt().exits(0);
}

#[test]
fn the_call_of_a_client_that_goes_ends_also_if_it_has_sent_more_requests() {
    let (place, hub) = Place::with_running_demo();
    // Nothing, bytes that the hub reads with the call, and more than its buffer takes.
    each([0, 1, 2_000], |more| {
        let mut client = connect(&place);
        client.write_all((call("slow", r#"{"seconds":600}"#) + &STATUS.repeat(more)).as_bytes()).unwrap();
        let mut answers = BufReader::new(client.try_clone().unwrap());
        let mut first = String::new();
        answers.read_line(&mut first).unwrap();
        assert!(first.contains("progress"), "{first}");
        client.shutdown(Shutdown::Write).unwrap();
        // Progress may come until the hub has seen the end. Without the end of the call, that is for ten minutes.
        client.set_read_timeout(Some(WATCHDOG)).unwrap();
        let mut rest = String::new();
        let end = answers.read_to_string(&mut rest).map_err(|error| error.kind());
        assert_ne!(end, Err(ErrorKind::WouldBlock), "{rest}");
        assert!(!rest.contains("done") && !rest.contains("error"), "{rest}");
    });
    place.adds_up("demo__add");
    hub.interrupt().exits(0);
}

#[test]
fn requests_that_are_sent_together_are_answered_in_order() {
    let (place, hub) = Place::with_running_demo();
    let mut client = connect(&place);
    client.write_all([call("add", SUM), STATUS.to_owned(), call("add", SUM)].concat().as_bytes()).unwrap();
    let answers: Vec<String> = BufReader::new(client).lines().take(3).map(Result::unwrap).collect();
    let is_sum = |answer: &String| answer.contains("done") && answer.contains("42");
    assert!(is_sum(&answers[0]) && answers[1].contains("demo") && is_sum(&answers[2]), "{answers:?}");
    hub.interrupt().exits(0);
}
