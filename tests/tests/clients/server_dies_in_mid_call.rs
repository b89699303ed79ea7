//! The process ends while a call waits for its answer. A call that did not notice would end with a timeout.

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Call, on_every_adapter, server};
use serde_json::json;

fn an_exit_is_told_with_its_status_and_last_words<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("dies-in-call 7 {era}"));
        let mut client = server.open::<A>();
        let failure = client.failure("echo");
        let words = ["bad-habits", "tools/call", "7", "echo was called", "this is more than I can bear"];
        failure.assert(ErrorKind::Closed, &words);
        assert!(!failure.connecting);
    }
}

fn a_signal_is_told_by_its_name<A: Adapter>() {
    let server = server!("dies-in-call KILL");
    let mut client = server.open::<A>();
    let failure = client.failure("echo");
    failure.assert(ErrorKind::Closed, &["tools/call", "KILL", "this is more than I can bear"]);
}

fn a_kill_from_outside_is_noticed<A: Adapter>() {
    let server = server!("slow 600000");
    let mut client = server.open::<A>();
    let killer = server.kill_once_it_says("this will take its time", client.pid());
    client.failure("echo").assert(ErrorKind::Closed, &["tools/call", "KILL"]);
    killer.join().expect("the kill works");
}

fn the_next_call_says_it_again<A: Adapter>() {
    let server = server!("dies-in-call 7").patient();
    let mut client = server.open::<A>();
    client.failure("echo");
    assert!(!client.is_running());
    for _ in 0..2 {
        let failure = client.failure("echo");
        failure.assert(ErrorKind::Closed, &["bad-habits", "7", "this is more than I can bear"]);
    }
    client.shutdown().expect("there is nothing left to end");
}

fn half_a_line_is_no_answer<A: Adapter>() {
    let server = server!("dies-mid-line");
    let mut client = server.open::<A>();
    let failure = client.failure("echo");
    failure.assert(ErrorKind::Closed, &["tools/call", "exit"]);
}

fn a_call_that_is_being_written_is_given_up<A: Adapter>() {
    let server = server!("stops-reading");
    let mut client = server.open::<A>();
    client.list_tools().expect("this much it reads");
    let killer = server.kill_once_it_says("still they write", client.pid());
    let outcome = client.call(Call::new("echo").with(json!({"message": "x".repeat(4 << 20)})));
    outcome.unwrap_err().assert(ErrorKind::Closed, &["tools/call", "KILL", "I have read enough"]);
    killer.join().expect("the kill works");
}

fn all_calls_fail_that_are_under_way<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("gathers {era}"));
        let mut client = server.open::<A>();
        let mut calls = vec![Call::new("wait"); 1_000];
        calls.push(Call::new("die"));
        let outcomes = client.call_together(calls);
        assert_eq!(outcomes.len(), 1_001);
        for outcome in outcomes {
            let failure = outcome.unwrap_err();
            failure.assert(ErrorKind::Closed, &["bad-habits", "tools/call", "exited with code 7", "they are too many"]);
        }
    }
}

on_every_adapter!(
    an_exit_is_told_with_its_status_and_last_words,
    a_signal_is_told_by_its_name,
    a_kill_from_outside_is_noticed,
    the_next_call_says_it_again,
    half_a_line_is_no_answer,
    a_call_that_is_being_written_is_given_up,
    all_calls_fail_that_are_under_way,
);
