//! A server that reads no more: what is written to it goes nowhere, and nothing waits for it. Whatever waited for the server
//! would wait for longer than the watchdog.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_client::ShutdownStep;
use mcpwire_tests::{Adapter, Call, on_every_adapter, server, timed};
use serde_json::json;

fn a_call_that_cannot_be_written_ends_in_time<A: Adapter>() {
    let server = server!("stops-reading");
    let mut client = server.open::<A>();
    client.list_tools().expect("this much it reads");

    let call = Call::new("echo").with(json!({"message": "x".repeat(4 << 20)})).timeout(Duration::from_secs(1));
    client.call(call).unwrap_err().assert(ErrorKind::Timeout, &["bad-habits", "tools/call", "1 s"]);

    assert_eq!(client.shutdown().expect("it ends").last_step, ShutdownStep::Terminate);
}

/// They wait behind it, and each until its own deadline.
fn the_calls_behind_it_end_in_time<A: Adapter>() {
    let server = server!("stops-reading");
    let mut client = server.open::<A>();
    client.list_tools().expect("this much it reads");

    let call = |timeout| Call::new("echo").timeout(Duration::from_millis(timeout));
    let blocked = call(600).with(json!({"message": "x".repeat(4 << 20)}));
    let (outcomes, took) = timed(|| client.call_together(vec![blocked, call(900), call(300)]));
    assert!(took >= Duration::from_millis(900), "it took {took:?}");
    for (outcome, timeout) in outcomes.into_iter().zip(["600 ms", "900 ms", "300 ms"]) {
        outcome.unwrap_err().assert(ErrorKind::Timeout, &["bad-habits", "tools/call", timeout]);
    }
}

fn the_client_can_be_dropped_after_it_was_given_up<A: Adapter>() {
    let server = server!("stops-reading").patient();
    let mut client = server.open::<A>();
    client.list_tools().expect("this much it reads");

    let blocked = Call::new("echo").with(json!({"message": "x".repeat(4 << 20)}));
    let failure = client.call_and_cancel(blocked, &server.heard.stderr, "still they write");
    failure.assert(ErrorKind::Cancelled, &["tools/call"]);
    let failure = client.call(Call::new("echo").timeout(Duration::from_millis(200))).unwrap_err();
    failure.assert(ErrorKind::Timeout, &["tools/call", "200 ms"]);

    drop(client);
    server.assert_gone();
}

on_every_adapter!(
    a_call_that_cannot_be_written_ends_in_time,
    the_calls_behind_it_end_in_time,
    the_client_can_be_dropped_after_it_was_given_up,
);
