//! The process ends while a call waits for its answer.

use std::thread;
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, Call, on_every_adapter, server, timed};
use rustix::process::{Pid, Signal, kill_process};

const SOON: Duration = Duration::from_secs(1);

fn an_exit_is_told_with_its_status_and_last_words<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("dies-in-call 7 {era}"));
        let mut client = server.open::<A>();
        let (failure, took) = timed(|| client.failure("echo"));
        let words = ["bad-habits", "tools/call", "7", "echo was called", "this is more than I can bear"];
        failure.assert(ErrorKind::Closed, &words);
        assert!(!failure.connecting);
        assert!(took < SOON, "it took {took:?}");
    }
}

fn a_signal_is_told_by_its_name<A: Adapter>() {
    let server = server!("dies-in-call KILL");
    let mut client = server.open::<A>();
    let (failure, took) = timed(|| client.failure("echo"));
    failure.assert(ErrorKind::Closed, &["tools/call", "KILL", "this is more than I can bear"]);
    assert!(took < SOON, "it took {took:?}");
}

fn a_kill_from_outside_is_noticed<A: Adapter>() {
    let server = server!("slow 60000");
    let mut client = server.open::<A>();
    let pid = client.pid();
    let killer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        kill(pid);
    });
    let (failure, took) = timed(|| client.failure("echo"));
    failure.assert(ErrorKind::Closed, &["tools/call", "KILL"]);
    assert!(took < SOON, "it took {took:?}");
    killer.join().expect("the kill works");
}

fn the_next_call_says_it_again<A: Adapter>() {
    let server = server!("dies-in-call 7");
    let mut client = server.open::<A>();
    client.failure("echo");
    assert!(!client.is_running());
    for _ in 0..2 {
        let (failure, took) = timed(|| client.failure("echo"));
        failure.assert(ErrorKind::Closed, &["bad-habits", "7", "this is more than I can bear"]);
        assert!(took < SOON, "it took {took:?}");
    }
    let (outcome, took) = timed(|| client.shutdown());
    outcome.expect("there is nothing left to end");
    assert!(took < SOON, "it took {took:?}");
}

fn half_a_line_is_no_answer<A: Adapter>() {
    let server = server!("dies-mid-line");
    let mut client = server.open::<A>();
    let (failure, took) = timed(|| client.failure("echo"));
    failure.assert(ErrorKind::Closed, &["tools/call", "exit"]);
    assert!(took < SOON, "it took {took:?}");
}

fn a_call_that_is_being_written_is_given_up<A: Adapter>() {
    let server = server!("stops-reading");
    let mut client = server.open::<A>();
    client.list_tools().expect("this much it reads");
    let pid = client.pid();
    let killer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        kill(pid);
    });
    let message = "x".repeat(4 << 20);
    let (outcome, took) = timed(|| client.call(Call::new("echo").with(serde_json::json!({ "message": message }))));
    outcome.unwrap_err().assert(ErrorKind::Closed, &["tools/call", "KILL", "I have read enough"]);
    assert!(took < SOON, "it took {took:?}");
    killer.join().expect("the kill works");
}

on_every_adapter!(
    an_exit_is_told_with_its_status_and_last_words,
    a_signal_is_told_by_its_name,
    a_kill_from_outside_is_noticed,
    the_next_call_says_it_again,
    half_a_line_is_no_answer,
    a_call_that_is_being_written_is_given_up,
);

fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("it is a process id");
    kill_process(pid, Signal::KILL).expect("the process is ours");
}
