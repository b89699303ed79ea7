//! Very many calls at once, whose answers come in disorder: each reaches the caller whose it is.

use mcpwire_tests::{Adapter, Call, on_every_adapter, server};
use serde_json::json;

const MANY: usize = 1_000;

fn a_thousand_answers_reach_their_callers<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("gathers {era}"));
        let mut client = server.open::<A>();
        let messages = (0..MANY).map(|number| json!({"message": number.to_string()}));
        let mut calls: Vec<Call> = messages.map(|message| Call::new("wait").with(message)).collect();
        calls.push(Call::new("answer"));
        let mut outcomes = client.call_together(calls);
        let last = outcomes.pop().expect("it was called").expect("all are there");
        assert_eq!(last.text().to_string(), "all are answered");
        assert_eq!(outcomes.len(), MANY);
        for (number, outcome) in outcomes.into_iter().enumerate() {
            assert_eq!(outcome.expect("it is answered").text().to_string(), number.to_string());
        }
    }
}

on_every_adapter!(a_thousand_answers_reach_their_callers);
