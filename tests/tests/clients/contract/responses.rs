//! Responses in any order and shape: each reaches its request, and a bad one spoils only that.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{ContentBlock, Json, ToolText};
use mcpwire_tests::{Adapter, Call, on_both_clients, on_every_adapter};
use serde_json::json;

use super::Outcome::{Fails, Text};
use super::{assert_outcomes, in_both_eras, open};

// Very many calls at once, whose answers come in disorder: each reaches the caller whose it is.

const MANY: usize = 1_000;

fn a_thousand_answers_reach_their_callers<A: Adapter>() {
    in_both_eras::<A>("gathers", |_, mut client| {
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
    });
}

// Answers that nobody asked for, or whose id is written another way; and sound answers in unusual shapes. The engine's tests have more.

fn foreign_answers_are_skipped_and_ids_as_floats_or_strings_are_ours<A: Adapter>() {
    assert_outcomes::<A>("foreign-ids", &[("float", Text("found")), ("string", Text("found"))]);
}

fn an_answer_may_come_in_a_batch<A: Adapter>() {
    let (server, mut client) = open::<A>("batch");
    assert_eq!(client.text("echo", json!({})), "from a batch");
    // The notifications of the batch are heard.
    while server.heard.logs.lock().unwrap().is_empty() {
        assert_eq!(client.text("echo", json!({})), "from a batch");
    }
}

fn a_server_that_answers_anything_with_nothing_answers_unknown_methods<A: Adapter>() {
    let (_server, mut client) = open::<A>("echo-unknown");
    assert_eq!(client.request_raw("vendor/anything", None).expect("it answers"), "{}");
}

/// Nobody can tell which call it means.
fn an_error_without_an_id_answers_no_call<A: Adapter>() {
    let (_server, mut client) = open::<A>("nameless-errors");
    let failure = client.call(Call::new("vague").timeout(Duration::from_millis(100))).unwrap_err();
    failure.assert(ErrorKind::Timeout, &["tools/call"]);
    client.assert_alive();
}

// A call that was given up is cancelled on the wire, and an answer that comes all the same harms nobody.

const SHORT: Duration = Duration::from_millis(50);

fn a_reply_after_the_deadline_is_ignored<A: Adapter>() {
    in_both_eras::<A>("late-replies", |_server, mut client| {
        for round in 1..=2 {
            let failure = client.call(Call::new("wait").timeout(SHORT)).unwrap_err();
            failure.assert(ErrorKind::Timeout, &["tools/call", "50 ms"]);
            assert_eq!(client.text("cancelled", json!({})), round.to_string(), "the server was told");
            client.assert_alive();
        }
    });
}

fn a_reply_after_the_cancellation_is_ignored<A: Adapter>() {
    let (server, mut client) = open::<A>("late-replies");
    let failure = client.call_and_cancel(Call::new("wait"), &server.heard.stderr, "I wait");
    failure.assert(ErrorKind::Cancelled, &["tools/call", "cancelled"]);
    assert_eq!(client.text("cancelled", json!({})), "1", "the server was told");
    client.assert_alive();
}

/// Those that are left get their answers.
fn half_of_a_thousand_are_given_up<A: Adapter>() {
    in_both_eras::<A>("gathers", |_server, mut client| {
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
    });
}

// What no revision of the protocol knows is kept as it came, and spoils nothing around it.

fn unknown_blocks_keep_their_json<A: Adapter>() {
    in_both_eras::<A>("unknown-blocks", |_, mut client| {
        let result = client.call(Call::new("blocks")).expect("it is a result");
        assert_eq!(result.text().to_string(), "first\nlast");
        let [ContentBlock::Text(_), ContentBlock::Unknown(unknown), ContentBlock::Image(image), ContentBlock::Text(_)] =
            result.content.as_slice()
        else {
            panic!("four blocks, the second unknown: {:?}", result.content);
        };
        assert_eq!(unknown.kind, "hologram");
        assert_eq!(unknown.raw.get(), r#"{"type":"hologram","depth":3,"data":{"text":"inside"}}"#);
        assert_eq!(image.mime_type, "image/never-seen");
        assert!(result.meta.expect("it is there").get().contains("com.example/trace"));
        client.assert_alive();
    });
}

// A response that is broken, but has a usable id, fails its request at once and says what is wrong with it. What can be understood is
// understood.

fn a_broken_response_spoils_only_its_request<A: Adapter>() {
    let fails = |words| Fails(ErrorKind::Protocol, words);
    let refused = |words| Fails(ErrorKind::Server, words);
    assert_outcomes::<A>(
        "malformed-responses",
        &[
            ("neither", fails(&["bad-habits", "neither"])),
            ("result-is-null", fails(&["null"])),
            ("result-twice", fails(&["result"])),
            ("unfinished", fails(&["result.content"])),
            ("extra-brace", fails(&["cannot be read"])),
            // The server wanted to report an error, so an error it is, as far as it can be understood.
            ("error-without-code", refused(&["it broke"])),
            ("error-is-a-string", refused(&["it broke"])),
            ("code-is-a-string", refused(&["it broke"])),
            ("result-and-error", fails(&["it broke"])),
            ("error-without-message", refused(&["-32050"])),
            ("error-is-null", Text("good")),
            ("no-jsonrpc", Text("good")),
            ("old-jsonrpc", Text("good")),
            ("id-twice", fails(&[])),
            ("is-error-is-a-string", Text("good")),
            ("block-without-text", Text("good")),
        ],
    );
}

/// What the tool answered is there, whatever it is.
fn a_result_without_blocks_is_the_json_that_it_is<A: Adapter>() {
    let (_server, mut client) = open::<A>("malformed-responses");
    for (defect, json) in [
        ("result-is-a-string", r#""done""#),
        ("result-is-an-array", "[]"),
        ("content-is-a-string", r#"{"content":"done"}"#),
        ("no-content", r#"{"structuredContent":{"n":1}}"#),
    ] {
        let result = client.call(Call::new(defect)).unwrap_or_else(|failure| panic!("{defect} fails: {failure}"));
        assert_eq!(result.text(), ToolText::RawJson(json), "{defect}");
        assert!(!result.is_error && result.content.is_empty());
        let structured = result.structured_content.as_ref().map(Json::get);
        assert_eq!(structured, (defect == "no-content").then_some(r#"{"n":1}"#));
    }
}

fn text_that_is_not_unicode_spoils_only_its_request<A: Adapter>() {
    assert_outcomes::<A>(
        "not-utf8",
        &[
            ("bytes", Fails(ErrorKind::Protocol, &["UTF-8"])),
            ("surrogate", Text("half a pair: \u{fffd}")),
            ("surrogate-in-unknown", Text("good")),
            ("notification", Text("after bytes that are no text")),
        ],
    );
}

// Lists of tools: malformed entries among good ones, and pages.

fn good_tools_are_listed_and_bad_ones_reported<A: Adapter>() {
    in_both_eras::<A>("bad-tools", |_, mut client| {
        let tools = client.list_tools().expect("there are good ones");
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["first", "second", "third"]);
        assert_eq!(tools[2].title.as_deref(), Some("Third"));

        let rejected = client.rejected_tools();
        let places: Vec<usize> = rejected.iter().map(|rejected| rejected.index).collect();
        assert_eq!(places, [1, 2, 3, 4, 5, 7, 8]);
        assert!(rejected.iter().all(|rejected| !rejected.reason.is_empty()));
        assert_eq!(rejected[3].name.as_deref(), Some("schema-is-a-string"));
        assert!(rejected[3].reason.contains("inputSchema"), "{}", rejected[3].reason);
        assert!(rejected[1].reason.contains("name"), "{}", rejected[1].reason);

        assert_eq!(client.text("second", json!({})), "second was called");
    });
}

fn all_pages_are_read<A: Adapter>() {
    in_both_eras::<A>("pages 25", |_, mut client| {
        for _ in 0..2 {
            assert_eq!(names(&mut client), (1..=25).map(|number| format!("tool-{number}")).collect::<Vec<_>>());
        }
    });
}

/// A limit ends the list. What came up to it is there.
fn pages_that_do_not_end_come_to_an_end<A: Adapter>() {
    let (_server, mut client) = open::<A>("endless-pages");
    let listed = names(&mut client);
    assert_eq!((listed.len(), listed[0].as_str()), (1_000, "tool-1"));
    client.request_raw("ping", None).expect("it still answers");

    let (_server, mut client) = open::<A>("circular-pages 3");
    let listed = names(&mut client);
    assert_eq!(listed[..3], ["tool-1", "tool-2", "tool-3"]);
    assert!(listed.len() <= 4, "{listed:?}");
    client.request_raw("ping", None).expect("it still answers");
}

/// The client's list has `tool-0` only. It was told that there is another now, so it asks the server.
fn a_list_of_tools_that_does_not_hold_any_more_is_not_believed<A: Adapter>() {
    let (_server, mut client) = open::<A>("changing-tools");
    assert_eq!(names(&mut client), ["tool-0"]);
    assert_eq!(client.text("tool-0", json!({})), "now there is tool-1");
    client.failure("tool-0").assert(ErrorKind::ToolNotFound, &["tool-0"]);
    assert_eq!(client.text("tool-1", json!({})), "now there is tool-2");
    assert_eq!(names(&mut client), ["tool-2"]);
}

fn names<A: Adapter>(client: &mut A) -> Vec<String> {
    client.list_tools().expect("there is a list").into_iter().map(|tool| tool.name).collect()
}

on_every_adapter!(
    a_thousand_answers_reach_their_callers,
    a_reply_after_the_deadline_is_ignored,
    a_reply_after_the_cancellation_is_ignored,
    half_of_a_thousand_are_given_up,
);

on_both_clients!(
    foreign_answers_are_skipped_and_ids_as_floats_or_strings_are_ours,
    an_answer_may_come_in_a_batch,
    a_server_that_answers_anything_with_nothing_answers_unknown_methods,
    an_error_without_an_id_answers_no_call,
    unknown_blocks_keep_their_json,
    a_broken_response_spoils_only_its_request,
    a_result_without_blocks_is_the_json_that_it_is,
    text_that_is_not_unicode_spoils_only_its_request,
    good_tools_are_listed_and_bad_ones_reported,
    all_pages_are_read,
    pages_that_do_not_end_come_to_an_end,
    a_list_of_tools_that_does_not_hold_any_more_is_not_believed,
);
