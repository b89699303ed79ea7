//! A server may have started others, which hold its pipes and outlive it.

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, has_ended, on_every_adapter, process_exists, server};
use serde_json::json;

fn shutdown_ends_them<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("grandchild {era}"));
        let mut client = server.open::<A>();
        let grandchild = pid_of_grandchild(&mut client);
        assert!(process_exists(grandchild));
        client.shutdown().expect("it ends");
        server.assert_gone();
        assert!(has_ended(grandchild));
    }
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
    let server = server!("grandchild ignores-term");
    let mut client = server.open::<A>();
    let grandchild = pid_of_grandchild(&mut client);
    client.shutdown().expect("it ends");
    server.assert_gone();
    assert!(has_ended(grandchild));
}

/// The grandchild still holds standard output, so there is no end of file to tell.
fn the_exit_of_the_server_is_noticed_although_they_hold_its_output<A: Adapter>() {
    let server = server!("grandchild");
    let mut client = server.open::<A>();
    let grandchild = pid_of_grandchild(&mut client);
    let failure = client.failure("leave");
    failure.assert(ErrorKind::Closed, &["tools/call", "5", "I leave, my child stays"]);
    drop(client);
    server.assert_gone();
    assert!(has_ended(grandchild));
}

fn shutdown_ends_them_after_the_server_has_left<A: Adapter>() {
    let server = server!("grandchild");
    let mut client = server.open::<A>();
    let grandchild = pid_of_grandchild(&mut client);
    client.failure("leave");
    client.shutdown().expect("it ends");
    server.assert_gone();
    assert!(has_ended(grandchild));
}

/// Only Linux tells which processes a server has started.
fn those_in_a_session_of_their_own_are_ended_too<A: Adapter>() {
    if !cfg!(target_os = "linux") {
        return;
    }
    for ends in [|client: A| drop(client.shutdown()), |client: A| drop(client)] {
        let habit = "own-session";
        let server = server!(&format!("grandchild {habit}"));
        let mut client = server.open::<A>();
        let grandchild = pid_of_grandchild(&mut client);
        while !leads_a_session(grandchild) {
            std::thread::yield_now();
        }
        ends(client);
        server.assert_gone();
        assert!(has_ended(grandchild));
    }
}

on_every_adapter!(
    shutdown_ends_them,
    those_in_a_session_of_their_own_are_ended_too,
    dropping_the_client_ends_them,
    shutdown_ends_those_who_ignore_termination,
    the_exit_of_the_server_is_noticed_although_they_hold_its_output,
    shutdown_ends_them_after_the_server_has_left,
);

fn leads_a_session(pid: u32) -> bool {
    // `getsid` of rustix returns an invalid id for a session whose leader is outside this PID namespace.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process is running");
    let session = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_ascii_whitespace().nth(3));
    session == Some(pid.to_string().as_str())
}

fn pid_of_grandchild<A: Adapter>(client: &mut A) -> u32 {
    client.text("grandchild", json!({})).parse().expect("it says a process id")
}
