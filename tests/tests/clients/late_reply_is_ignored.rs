//! A call that was given up is cancelled on the wire, and an answer that comes all the same harms nobody.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Call, on_every_adapter, server};
use serde_json::json;

const SHORT: Duration = Duration::from_millis(200);

fn a_reply_after_the_deadline_is_ignored<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("late-replies {era}"));
        let mut client = server.open::<A>();
        for round in 1..=3 {
            let failure = client.call(Call::new("wait").timeout(SHORT)).unwrap_err();
            failure.assert(ErrorKind::Timeout, &["tools/call", "200 ms"]);
            assert_eq!(client.text("cancelled", json!({})), round.to_string(), "the server was told");
            client.assert_alive();
        }
    }
}

fn a_reply_after_the_cancellation_is_ignored<A: Adapter>() {
    let server = server!("late-replies");
    let mut client = server.open::<A>();
    let failure = client.call_and_cancel(Call::new("wait"), &server.heard.stderr, "I wait");
    failure.assert(ErrorKind::Cancelled, &["tools/call", "cancelled"]);
    assert_eq!(client.text("cancelled", json!({})), "1", "the server was told");
    client.assert_alive();
}

/// Those that are left get their answers.
fn half_of_a_thousand_are_given_up<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("gathers {era}"));
        let mut client = server.open::<A>();
        let calls = (0..1_000).map(|number| {
            let call = Call::new("wait").with(json!({"message": number.to_string()}));
            if number % 2 == 0 { call.given_up() } else { call }
        });
        let answer = Call::new("answer").with(json!({"waits": 1_000, "cancelled": 500}));
        let mut outcomes = client.call_together(calls.chain([answer]).collect());
        outcomes.pop().expect("it was called").expect("the server was told of each");
        assert_eq!(outcomes.len(), 1_000);
        for (number, outcome) in outcomes.into_iter().enumerate() {
            match outcome {
                Ok(result) => assert_eq!(result.text().to_string(), number.to_string()),
                Err(failure) => failure.assert(ErrorKind::Cancelled, &[]),
            }
        }
        assert_eq!(client.text("tally", json!({})), "1000 waits, 500 cancelled");
    }
}

on_every_adapter!(
    a_reply_after_the_deadline_is_ignored,
    a_reply_after_the_cancellation_is_ignored,
    half_of_a_thousand_are_given_up,
);
