//! A server that reads no more: what is written to it goes nowhere, and nothing waits for it.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Call, on_every_adapter, server, timed};
use serde_json::json;

fn a_call_that_cannot_be_written_ends_in_time<A: Adapter>() {
    let server = server!("stops-reading");
    let mut client = server.open::<A>();
    client.list_tools().expect("this much it reads");

    let call = Call::new("echo").with(json!({"message": "x".repeat(4 << 20)})).timeout(Duration::from_secs(1));
    let (outcome, took) = timed(|| client.call(call));
    outcome.unwrap_err().assert(ErrorKind::Timeout, &["bad-habits", "tools/call", "1s"]);
    assert!(took < Duration::from_millis(1_500), "it took {took:?}");

    let (outcome, took) = timed(|| client.shutdown());
    outcome.expect("it ends");
    assert!(took < Duration::from_secs(6), "it took {took:?}");
}

on_every_adapter!(a_call_that_cannot_be_written_ends_in_time);
