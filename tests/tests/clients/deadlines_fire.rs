//! Idle and total deadlines of calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Call, WATCHDOG, done_of_total, on_every_adapter, server, timed};
use serde_json::json;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn an_answer_in_time_is_an_answer<A: Adapter>() {
    let server = server!("slow 30");
    let mut client = server.open::<A>();
    client.call(Call::new("echo").timeout(WATCHDOG)).expect("it is in time");
}

fn the_idle_deadline_ends_a_call<A: Adapter>() {
    let server = server!("slow 2000");
    let mut client = server.open::<A>();
    let (outcome, took) = timed(|| client.call(Call::new("echo").timeout(ms(500))));
    outcome.unwrap_err().assert(ErrorKind::Timeout, &["bad-habits", "tools/call", "500 ms"]);
    assert!(took >= ms(500), "it took {took:?}");
    assert_eq!(client.text("echo", json!({"message": "the next call"})), "the next call");
}

fn the_deadline_of_the_configuration_holds_for_every_request<A: Adapter>() {
    let server = server!("slow 600000").configured(|config| config.request_timeout = ms(400));
    let mut client = server.open::<A>();
    client.failure("echo").assert(ErrorKind::Timeout, &["tools/call", "400 ms"]);
}

fn the_deadline_of_the_definition_holds_for_every_request<A: Adapter>() {
    let server = server!("slow 600000").defined(|def| def.timeout(ms(400)));
    let mut client = server.open::<A>();
    client.failure("echo").assert(ErrorKind::Timeout, &["tools/call", "400 ms"]);
}

/// How much slower the server and the deadline are at each try. A busy machine may delay a step beyond a short deadline, but
/// not beyond every one; a deadline that is not put off passes at each pace.
const PACES: [u32; 3] = [1, 8, 64];

fn progress_puts_the_idle_deadline_off<A: Adapter>() {
    for era in ["", "--modern"] {
        let called = PACES.into_iter().find_map(|pace| {
            let server = server!(&format!("slow {} {era}", 200 * pace));
            let mut client = server.open::<A>();
            let seen = Arc::new(Mutex::new(Vec::new()));
            let call = Call::new("echo").with(json!({"message": "at last", "steps": 6}));
            let call = call.timeout(ms(700) * pace).progress(&seen);
            let (outcome, took) = timed(|| client.call(call));
            let result = outcome.ok()?;
            assert!(took >= ms(1_200) * pace, "it took {took:?}");
            Some((result, seen))
        });
        let (result, seen) = called.expect("progress shows life");
        assert_eq!(result.text().to_string(), "at last");

        let steps: Vec<_> = seen.lock().unwrap().iter().map(done_of_total).collect();
        assert_eq!(steps, (1..=6).map(|step| (f64::from(step), Some(6.0))).collect::<Vec<_>>());
        assert_eq!(seen.lock().unwrap()[0].message.as_deref(), Some("step 1 of 6"));
    }
}

fn progress_does_not_put_the_total_deadline_off<A: Adapter>() {
    let has_progress =
        [(ms(500), "500 ms"), (ms(4_000), "4 s"), (ms(32_000), "32 s")].into_iter().any(|(total, words)| {
            let server = server!("slow 100");
            let mut client = server.open::<A>();
            let seen = Arc::new(Mutex::new(Vec::new()));
            let call = Call::new("echo").with(json!({"steps": 6_000})).total_timeout(total).progress(&seen);
            let (outcome, took) = timed(|| client.call(call));
            outcome.unwrap_err().assert(ErrorKind::Timeout, &["tools/call", words]);
            assert!(took >= total, "it took {took:?}");
            !seen.lock().unwrap().is_empty()
        });
    assert!(has_progress);
}

fn chatter_does_not_put_any_deadline_off<A: Adapter>() {
    let server = server!("chatters");
    let mut client = server.open::<A>();
    // The first call may end before a busy machine has run the server.
    while server.heard.logs.lock().unwrap().is_empty() {
        let (outcome, took) = timed(|| client.call(Call::new("echo").timeout(ms(500))));
        outcome.unwrap_err().assert(ErrorKind::Timeout, &["tools/call", "500 ms"]);
        assert!(took >= ms(500), "it took {took:?}");
    }
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
