//! The process ends when nobody waits for it.

use std::thread;
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Call, on_every_adapter, server};
use serde_json::json;

fn the_answer_counts_and_the_next_call_fails<A: Adapter>() {
    for (end, told) in [("9", "9"), ("KILL", "KILL")] {
        let server = server!(&format!("dies-after-call {end}"));
        let mut client = server.open::<A>();
        assert_eq!(client.text("echo", json!({"message": "farewell"})), "farewell");
        wait_for_the_end(&mut client);

        let failure = client.failure("echo");
        failure.assert(ErrorKind::Closed, &["bad-habits", told, "that was my last answer"]);
    }
}

/// It is longer than what a pipe holds, and its end is still on its way when the process has ended.
fn a_long_last_answer_counts<A: Adapter>() {
    const MANY: usize = 4 << 20;
    for era in ["", "--modern"] {
        let server = server!(&format!("dies-after-call 9 {era}"));
        let mut client = server.open::<A>();
        assert_eq!(client.text("echo", json!({"bytes": MANY})).len(), MANY);
    }
}

fn a_kill_from_outside_is_told_by_the_next_call<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("well-behaved {era}"));
        let mut client = server.open::<A>();
        client.assert_alive();
        server.kill(client.pid());
        wait_for_the_end(&mut client);
        let failure = client.failure("echo");
        failure.assert(ErrorKind::Closed, &["bad-habits", "KILL"]);
    }
}

fn shutdown_has_nothing_to_complain_about<A: Adapter>() {
    let server = server!("dies-after-call 9").patient();
    let mut client = server.open::<A>();
    client.text("echo", json!({}));
    client.shutdown().expect("it has ended");
}

fn a_closed_standard_output_ends_the_call_at_once<A: Adapter>() {
    let server = server!("closes-stdout");
    let mut client = server.open::<A>();
    let failure = client.failure("echo");
    failure.assert(ErrorKind::Closed, &["bad-habits", "tools/call", "I shall say no more"]);
    client.shutdown().expect("it ends");
}

fn a_closed_standard_input_ends_the_next_call_at_once<A: Adapter>() {
    let server = server!("closes-stdin");
    let mut client = server.open::<A>();
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
    the_answer_counts_and_the_next_call_fails,
    a_long_last_answer_counts,
    a_kill_from_outside_is_told_by_the_next_call,
    shutdown_has_nothing_to_complain_about,
    a_closed_standard_output_ends_the_call_at_once,
    a_closed_standard_input_ends_the_next_call_at_once,
);

fn wait_for_the_end<A: Adapter>(client: &mut A) {
    while client.is_running() {
        thread::yield_now();
    }
}
