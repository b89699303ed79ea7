//! How connections end: by the death of the server, or by a shutdown.

use std::thread;
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_client::{GracePeriods, ShutdownStep};
use mcpwire_tests::{Adapter, Call, WATCHDOG, on_both_clients, on_every_adapter, process_exists, server, timed};
use serde_json::json;

use super::{in_both_eras, open};

// The process ends when nobody waits for it.

/// AC-004: the next call fails, and everything is cleaned up.
fn the_answer_counts_and_the_next_call_fails<A: Adapter>() {
    for end in ["9", "KILL"] {
        let server = server!(&format!("dies-after-call {end}")).patient();
        let mut client = server.open::<A>();
        assert_eq!(client.text("echo", json!({"message": "farewell"})), "farewell");
        wait_for_the_end(&mut client);
        client.failure("echo").assert(ErrorKind::Closed, &["bad-habits", end, "that was my last answer"]);
        let pid = client.pid();
        client.shutdown().expect("there is nothing left to end");
        assert!(!process_exists(pid));
        server.assert_gone();
    }
}

/// It is longer than what a pipe holds, and its end is still on its way when the process has ended.
fn a_long_last_answer_counts<A: Adapter>() {
    const MANY: usize = 4 << 20;
    in_both_eras::<A>("dies-after-call 9", |_, mut client| {
        assert_eq!(client.text("echo", json!({"bytes": MANY})).len(), MANY);
    });
}

fn a_kill_from_outside_is_told_by_the_next_call<A: Adapter>() {
    in_both_eras::<A>("well-behaved", |server, mut client| {
        client.assert_alive();
        server.kill(client.pid());
        wait_for_the_end(&mut client);
        let failure = client.failure("echo");
        failure.assert(ErrorKind::Closed, &["bad-habits", "KILL"]);
    });
}

fn wait_for_the_end<A: Adapter>(client: &mut A) {
    while client.is_running() {
        thread::yield_now();
    }
}

// The process ends while a call waits for its answer. A call that did not notice would end with a timeout.

fn an_exit_is_told_with_its_status_and_last_words<A: Adapter>() {
    for (habit, told) in [("dies-in-call 7", "7"), ("dies-in-call 7 --modern", "7"), ("dies-in-call KILL", "KILL")] {
        println!("{habit}");
        let server = server!(habit).patient();
        let mut client = server.open::<A>();
        let failure = client.failure("echo");
        let words = ["bad-habits", "tools/call", told, "echo was called", "this is more than I can bear"];
        failure.assert(ErrorKind::Closed, &words);
        assert!(!failure.connecting && !client.is_running());
        for _ in 0..2 {
            let next = client.failure("echo");
            next.assert(ErrorKind::Closed, &["bad-habits", told, "this is more than I can bear"]);
        }
        client.shutdown().expect("there is nothing left to end");
    }
}

fn a_kill_from_outside_is_noticed<A: Adapter>() {
    let (server, mut client) = open::<A>("slow 600000");
    let killer = server.kill_once_it_says("this will take its time", client.pid());
    client.failure("echo").assert(ErrorKind::Closed, &["tools/call", "KILL"]);
    killer.join().expect("the kill works");
}

fn half_a_line_is_no_answer<A: Adapter>() {
    let (_server, mut client) = open::<A>("dies-mid-line");
    let failure = client.failure("echo");
    failure.assert(ErrorKind::Closed, &["bad-habits", "tools/call", "exit"]);
}

fn a_call_that_is_being_written_is_given_up<A: Adapter>() {
    let (server, mut client) = open::<A>("stops-reading");
    client.list_tools().expect("this much it reads");
    let killer = server.kill_once_it_says("still they write", client.pid());
    let outcome = client.call(Call::new("echo").with(json!({"message": "x".repeat(4 << 20)})));
    outcome.unwrap_err().assert(ErrorKind::Closed, &["tools/call", "KILL", "I have read enough"]);
    killer.join().expect("the kill works");
}

fn all_calls_fail_that_are_under_way<A: Adapter>() {
    in_both_eras::<A>("gathers", |_, mut client| {
        let mut calls = vec![Call::new("wait"); 1_000];
        calls.push(Call::new("die"));
        let outcomes = client.call_together(calls);
        assert_eq!(outcomes.len(), 1_001);
        for outcome in outcomes {
            let failure = outcome.unwrap_err();
            failure.assert(ErrorKind::Closed, &["bad-habits", "tools/call", "exited with code 7", "they are too many"]);
        }
    });
}

// How a server is ended: its input is closed; after 3 s it is asked to terminate; after 2 s more it is killed.

const AFTER_CLOSE: Duration = Duration::from_millis(200);
const AFTER_TERMINATE: Duration = Duration::from_millis(100);

fn a_server_is_ended_step_by_step<A: Adapter>() {
    let (three, two) = (Duration::from_secs(3), Duration::from_secs(2));
    assert_eq!(GracePeriods::default(), GracePeriods { after_close: three, after_terminate: two });
    for (habit, step, least) in [
        ("well-behaved", ShutdownStep::CloseInput, Duration::ZERO),
        ("well-behaved --modern", ShutdownStep::CloseInput, Duration::ZERO),
        ("ignores-eof", ShutdownStep::Terminate, AFTER_CLOSE),
        ("ignores-term", ShutdownStep::Kill, AFTER_CLOSE + AFTER_TERMINATE),
    ] {
        println!("{habit}");
        // A polite server may take its time.
        let mut server = server!(habit).patient();
        if step != ShutdownStep::CloseInput {
            server.grace_periods = GracePeriods { after_close: AFTER_CLOSE, after_terminate: WATCHDOG };
        }
        if step == ShutdownStep::Kill {
            server.grace_periods.after_terminate = AFTER_TERMINATE;
        }
        let mut client = server.open::<A>();
        client.assert_alive();
        let pid = client.pid();
        let (outcome, took) = timed(|| client.shutdown());
        assert_eq!(outcome.expect("it ends").last_step, step);
        assert!(!process_exists(pid), "it has ended when shutdown returns");
        assert!(took >= least, "it took {took:?}");
    }
}

fn dropping_the_client_ends_any_server_at_once<A: Adapter>() {
    for habit in ["well-behaved", "ignores-eof", "ignores-term --modern"] {
        let server = server!(habit).patient();
        let client = server.open::<A>();
        let pid = client.pid();
        assert!(process_exists(pid));
        drop(client);
        server.assert_gone();
    }
}

fn a_panic_ends_the_server<A: Adapter>() {
    let server = server!("ignores-term");
    let outcome = std::panic::catch_unwind(|| {
        let mut client = server.open::<A>();
        client.assert_alive();
        std::panic::resume_unwind(Box::new("on purpose"));
    });
    assert!(outcome.is_err());
    server.assert_gone();
}

fn a_client_that_never_got_ready_ends_its_server<A: Adapter>() {
    let server = server!("ignores-term").patient();
    let client = A::start(&server).expect("it starts");
    assert!(process_exists(client.pid()));
    drop(client);
    server.assert_gone();
}

// Standard error: never in the way, its end kept, its lines there to follow.

const MANY: usize = 8 << 20;

fn a_flood_blocks_nothing_and_its_end_is_kept<A: Adapter>() {
    let (_server, mut client) = open::<A>(&format!("floods-stderr {MANY}"));
    client.assert_alive();
    let tail = client.stderr_tail();
    assert!(tail.len() <= 64 << 10, "the tail has {} bytes", tail.len());
    client.assert_alive();
}

fn every_line_can_be_followed<A: Adapter>() {
    let (server, mut client) = open::<A>("floods-stderr 1000000");
    client.assert_alive();
    client.shutdown().expect("it ends");
    let lines = server.heard.stderr.all();
    assert_eq!(lines.len(), 1_000_000 / 69 + 1);
    assert_eq!(lines.last().map(String::as_str), Some("the last of them"));
}

fn the_last_words_are_heard<A: Adapter>() {
    let (server, client) = open::<A>("last-words 2000");
    client.shutdown().expect("it ends");
    let lines = server.heard.stderr.all();
    assert_eq!(lines.len(), 2_000);
    assert_eq!(lines.last().map(String::as_str), Some("last words, line 2000"));
}

fn an_error_of_the_protocol_comes_without_it<A: Adapter>() {
    let (_server, mut client) = open::<A>("floods-stderr 1000");
    client.failure("refuse").assert(ErrorKind::Server, &["-32050", "not today"]);
}

on_every_adapter!(
    the_answer_counts_and_the_next_call_fails,
    a_long_last_answer_counts,
    a_kill_from_outside_is_told_by_the_next_call,
    an_exit_is_told_with_its_status_and_last_words,
    a_kill_from_outside_is_noticed,
    half_a_line_is_no_answer,
    a_call_that_is_being_written_is_given_up,
    a_server_is_ended_step_by_step,
    dropping_the_client_ends_any_server_at_once,
    a_panic_ends_the_server,
    a_client_that_never_got_ready_ends_its_server,
    a_flood_blocks_nothing_and_its_end_is_kept,
    every_line_can_be_followed,
    the_last_words_are_heard,
);

on_both_clients!(all_calls_fail_that_are_under_way, an_error_of_the_protocol_comes_without_it);
