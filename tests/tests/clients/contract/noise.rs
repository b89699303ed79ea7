//! Noise, and messages that are too many, too deep or too large.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_client::ShutdownStep;
use mcpwire_tests::{Adapter, Call, done_of_total, on_both_clients, on_every_adapter, server, timed};
use serde_json::json;

use super::{in_both_eras, open};

// Lines that are no messages, before and between messages.

/// Garbage; text and JSON that is no message; carriage returns and a byte order mark.
fn what_is_no_message_is_skipped<A: Adapter>() {
    for habit in ["garbage", "noise", "crlf"] {
        in_both_eras::<A>(habit, |_, mut client| {
            assert!(client.list_tools().expect("the list is found").len() > 3);
            for _ in 0..3 {
                client.assert_alive();
                client.failure("refuse").assert(ErrorKind::Server, &["tools/call", "-32050", "not today"]);
            }
            client.shutdown().expect("it ends");
        });
    }
}

// What a server says can be printed: no escape sequences and no control characters get into an error's message.

fn errors_are_printable_and_results_as_the_server_sent_them<A: Adapter>() {
    let (_server, mut client) = open::<A>("terminal-escapes");
    assert_eq!(client.text("echo", json!({})), "\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}\u{8}\u{9b}2J");
    let refused = client.failure("refuse");
    refused.assert(ErrorKind::Server, &["-32000", "red"]);
    let ended = client.failure("die");
    ended.assert(ErrorKind::Closed, &["red on standard error"]);
    for text in [refused.text, ended.text] {
        assert!(!text.chars().any(|character| character.is_control() && character != '\n'), "{text:?}");
    }
}

// JSON that is nested deeper than any stack is high.

/// Deeper than the stack of a thread, were each level a call.
const DEEP: usize = 1_000_000;

const PLACES: &[&str] = &["structured", "unknown-member", "content", "block", "error-data", "result"];

/// Whether it is an answer or an error depends on the place; either way the connection lives.
fn a_deep_result_spoils_only_its_request<A: Adapter>() {
    for era in ["", "--modern"] {
        for depth in [100, 127, 128, 129, 1_000, DEEP] {
            let (_server, mut client) = open::<A>(&format!("deep-nesting {depth} {era}"));
            for place in PLACES {
                if let Err(failure) = client.call(Call::new(place)) {
                    failure.assert_says(&["tools/call"]);
                }
                client.assert_alive();
            }
        }
    }
}

fn a_deep_structured_content_is_kept_as_it_is<A: Adapter>() {
    let (_server, mut client) = open::<A>("deep-nesting 100");
    let result = client.call(Call::new("structured")).expect("a hundred levels are not deep");
    let text = result.structured_content.expect("it is there").get().to_owned();
    assert_eq!(text, format!(r#"{{"deep":{}{}}}"#, "[".repeat(100), "]".repeat(100)));
}

fn a_deep_notification_or_line_is_skipped<A: Adapter>() {
    let (_server, mut client) = open::<A>(&format!("deep-nesting {DEEP}"));
    assert_eq!(client.text("notification", json!({})), "after a deep notification");
    assert_eq!(client.text("unfinished", json!({})), "after an unfinished line");
    client.assert_alive();
}

// Lines over the limit on the size of a message.

const MIB: usize = 1 << 20;

const OVERLONG: &[&str] = &["bad-habits", "1048576"];

/// With the id first, the request is known as soon as the line is too long, and the line need not end for it to fail. With the id last,
/// the request is known when the line ends.
fn a_line_that_is_too_long_fails_its_request<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("endless-line {} {era}", 5 * MIB)).configured(|config| config.max_message = MIB);
        let mut client = server.open::<A>();
        for tool in ["ends", "ends", "id-at-the-end"] {
            client.failure(tool).assert(ErrorKind::Protocol, OVERLONG);
            client.assert_alive();
        }
        // No answer can be told from it, so the deadline has to end the request.
        let failure = client.call(Call::new("no-id").timeout(Duration::from_millis(200))).unwrap_err();
        failure.assert(ErrorKind::Timeout, &["tools/call", "200 ms"]);
        client.assert_alive();
        client.failure("never-ends").assert(ErrorKind::Protocol, OVERLONG);
    }
}

// Results that are much larger than a pipe.

fn a_result_of_60_mib_arrives<A: Adapter>() {
    let (_server, mut client) = open::<A>(&format!("huge {} --modern", 60 * MIB));
    assert_eq!(client.text("echo", json!({})).len(), 60 * MIB);
    assert_eq!(client.text("echo", json!({"bytes": 3})), "xxx");
}

fn the_limit_is_configurable<A: Adapter>() {
    let server = server!("huge 1000").configured(|config| config.max_message = MIB);
    let mut client = server.open::<A>();
    assert_eq!(client.text("echo", json!({"bytes": MIB - 1000})).len(), MIB - 1000);
    let failure = client.call(Call::new("echo").with(json!({"bytes": MIB}))).unwrap_err();
    failure.assert_says(&["tools/call", "1048576"]);
    assert_eq!(client.text("echo", json!({"bytes": 3})), "xxx");
}

// Client and server write at once, each more than a pipe holds, and neither waits for the other for ever.

fn eight_mebibytes_go_each_way_at_once<A: Adapter>() {
    for (bytes, era) in [(8 * MIB, ""), (MIB, "--modern")] {
        let (_server, mut client) = open::<A>(&format!("both-pipes-full {bytes} {era}"));
        client.list_tools().expect("the list comes before the flood");
        assert_eq!(client.text("measure", json!({"message": "y".repeat(bytes)})), bytes.to_string());
        client.assert_alive();
    }
}

// Very many notifications before an answer.

const MANY: u32 = 20_000;

fn the_answer_is_found_behind_a_flood<A: Adapter>() {
    in_both_eras::<A>(&format!("floods-notifications {MANY}"), |_, mut client| {
        assert_eq!(client.text("echo", json!({"message": "ashore"})), "ashore");
    });
}

/// Some may be dropped when there are too many at once. Those that come are in order.
fn progress_comes_in_order<A: Adapter>() {
    let (_server, mut client) = open::<A>(&format!("floods-notifications {MANY}"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    client.call(Call::new("echo").progress(&seen)).expect("the answer is found");
    let seen = seen.lock().unwrap();
    assert!(!seen.is_empty());
    assert!(seen.windows(2).all(|pair| pair[0].progress.as_f64() < pair[1].progress.as_f64()));
    assert!(seen.iter().all(|progress| done_of_total(progress).1 == Some(f64::from(MANY))));
}

// A server that reads no more: what is written to it goes nowhere, and nothing waits for it. Whatever waited for the server
// would wait for longer than the watchdog.

fn a_call_that_cannot_be_written_ends_in_time<A: Adapter>() {
    let mut server = server!("stops-reading");
    server.grace_periods.after_close = Duration::from_millis(200);
    let mut client = server.open::<A>();
    client.list_tools().expect("this much it reads");

    let call = Call::new("echo").with(json!({"message": "x".repeat(4 << 20)})).timeout(Duration::from_millis(300));
    client.call(call).unwrap_err().assert(ErrorKind::Timeout, &["bad-habits", "tools/call", "300 ms"]);

    assert_eq!(client.shutdown().expect("it ends").last_step, ShutdownStep::Terminate);
}

/// They wait behind it, and each until its own deadline.
fn the_calls_behind_it_end_in_time<A: Adapter>() {
    let (_server, mut client) = open::<A>("stops-reading");
    client.list_tools().expect("this much it reads");

    let call = |timeout| Call::new("echo").timeout(Duration::from_millis(timeout));
    let blocked = call(200).with(json!({"message": "x".repeat(4 << 20)}));
    let (outcomes, took) = timed(|| client.call_together(vec![blocked, call(300), call(100)]));
    assert!(took >= Duration::from_millis(300), "it took {took:?}");
    for (outcome, timeout) in outcomes.into_iter().zip(["200 ms", "300 ms", "100 ms"]) {
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
    a_line_that_is_too_long_fails_its_request,
    eight_mebibytes_go_each_way_at_once,
    a_call_that_cannot_be_written_ends_in_time,
    the_calls_behind_it_end_in_time,
    the_client_can_be_dropped_after_it_was_given_up,
);

on_both_clients!(
    what_is_no_message_is_skipped,
    errors_are_printable_and_results_as_the_server_sent_them,
    a_deep_result_spoils_only_its_request,
    a_deep_structured_content_is_kept_as_it_is,
    a_deep_notification_or_line_is_skipped,
    a_result_of_60_mib_arrives,
    the_answer_is_found_behind_a_flood,
    the_limit_is_configurable,
    progress_comes_in_order,
);
