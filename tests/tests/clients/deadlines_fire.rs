//! Idle and total deadlines of calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Call, done_of_total, on_every_adapter, server, timed};
use serde_json::json;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn an_answer_in_time_is_an_answer<A: Adapter>() {
    let server = server!("slow 300");
    let mut client = server.open::<A>();
    client.call(Call::new("echo").timeout(ms(5_000))).expect("it is in time");
}

fn the_idle_deadline_ends_a_call<A: Adapter>() {
    let server = server!("slow 2000");
    let mut client = server.open::<A>();
    let (outcome, took) = timed(|| client.call(Call::new("echo").timeout(ms(500))));
    outcome.unwrap_err().assert(ErrorKind::Timeout, &["bad-habits", "tools/call", "500 ms"]);
    assert!(took >= ms(500) && took < ms(1_000), "it took {took:?}");
    assert_eq!(client.text("echo", json!({"message": "the next call"})), "the next call");
}

fn the_deadline_of_the_configuration_holds_for_every_request<A: Adapter>() {
    let server = server!("slow 60000").configured(|config| config.request_timeout = ms(400));
    let mut client = server.open::<A>();
    let (failure, took) = timed(|| client.failure("echo"));
    failure.assert(ErrorKind::Timeout, &["tools/call", "400 ms"]);
    assert!(took < ms(900), "it took {took:?}");
}

fn the_deadline_of_the_definition_holds_for_every_request<A: Adapter>() {
    let server = server!("slow 60000").defined(|def| def.timeout(ms(400)));
    let mut client = server.open::<A>();
    let (failure, took) = timed(|| client.failure("echo"));
    failure.assert(ErrorKind::Timeout, &["tools/call", "400 ms"]);
    assert!(took < ms(900), "it took {took:?}");
}

fn progress_puts_the_idle_deadline_off<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("slow 200 {era}"));
        let mut client = server.open::<A>();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let call = Call::new("echo").with(json!({"message": "at last", "steps": 6})).timeout(ms(700)).progress(&seen);
        let (outcome, took) = timed(|| client.call(call));
        assert_eq!(outcome.expect("progress shows life").text().to_string(), "at last");
        assert!(took >= ms(1_200), "it took {took:?}");

        let steps: Vec<_> = seen.lock().unwrap().iter().map(done_of_total).collect();
        assert_eq!(steps, (1..=6).map(|step| (f64::from(step), Some(6.0))).collect::<Vec<_>>());
        assert_eq!(seen.lock().unwrap()[0].message.as_deref(), Some("step 1 of 6"));
    }
}

fn progress_does_not_put_the_total_deadline_off<A: Adapter>() {
    let server = server!("slow 100");
    let mut client = server.open::<A>();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let call = Call::new("echo").with(json!({"steps": 30})).timeout(ms(600)).total_timeout(ms(1_000)).progress(&seen);
    let (outcome, took) = timed(|| client.call(call));
    outcome.unwrap_err().assert(ErrorKind::Timeout, &["tools/call", "1 s"]);
    assert!(took >= ms(1_000) && took < ms(1_500), "it took {took:?}");
    assert!(!seen.lock().unwrap().is_empty());
}

fn chatter_does_not_put_any_deadline_off<A: Adapter>() {
    let server = server!("chatters");
    let mut client = server.open::<A>();
    let (outcome, took) = timed(|| client.call(Call::new("echo").timeout(ms(500))));
    outcome.unwrap_err().assert(ErrorKind::Timeout, &["tools/call", "500 ms"]);
    assert!(took >= ms(500) && took < ms(1_000), "it took {took:?}");
    assert!(!server.heard.logs.lock().unwrap().is_empty(), "log messages are heard during a call");
}

on_every_adapter!(
    an_answer_in_time_is_an_answer,
    the_idle_deadline_ends_a_call,
    the_deadline_of_the_configuration_holds_for_every_request,
    the_deadline_of_the_definition_holds_for_every_request,
    progress_puts_the_idle_deadline_off,
    progress_does_not_put_the_total_deadline_off,
    chatter_does_not_put_any_deadline_off,
);
