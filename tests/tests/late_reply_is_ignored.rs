//! A call that was given up is cancelled on the wire, and an answer that comes all the same harms nobody.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Call, on_every_adapter, server, timed};
use serde_json::json;

const SHORT: Duration = Duration::from_millis(200);

fn a_reply_after_the_deadline_is_ignored<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("late-replies {era}"));
        let mut client = server.open::<A>();
        for round in 1..=3 {
            let failure = client.call(Call::new("wait").timeout(SHORT)).unwrap_err();
            failure.assert(ErrorKind::Timeout, &["tools/call", "200ms"]);
            assert_eq!(client.text("cancelled", json!({})), round.to_string(), "the server was told");
            client.assert_alive();
        }
    }
}

fn a_reply_after_the_cancellation_is_ignored<A: Adapter>() {
    let server = server!("late-replies");
    let mut client = server.open::<A>();
    let (failure, took) = timed(|| client.call_and_cancel(Call::new("wait"), SHORT));
    failure.assert(ErrorKind::Cancelled, &["tools/call", "cancelled"]);
    assert!(took >= SHORT && took < Duration::from_secs(1), "it took {took:?}");
    assert_eq!(client.text("cancelled", json!({})), "1", "the server was told");
    client.assert_alive();
}

on_every_adapter!(a_reply_after_the_deadline_is_ignored, a_reply_after_the_cancellation_is_ignored);
