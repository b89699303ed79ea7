//! Responses in any order and shape: each reaches its request, and a bad one spoils only that.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{ContentBlock, Era, Json, Negotiate, ToolText};
use mcpwire_tests::{Adapter, Call, Failure, done_of_total, on_every_adapter, server};
use serde_json::json;

use super::{in_both_eras, open};

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

// Answers that come twice, that nobody asked for, or whose id is written another way.

fn the_first_of_two_answers_counts<A: Adapter>() {
    in_both_eras::<A>("duplicate-ids", |_, mut client| {
        client.list_tools().expect("the list comes twice");
        for message in ["one", "two", "three"] {
            assert_eq!(client.text("echo", json!({"message": message})), message);
        }
    });
}

fn answers_that_nobody_asked_for_are_skipped<A: Adapter>() {
    in_both_eras::<A>("foreign-ids", |_, mut client| {
        client.list_tools().expect("the list is ours");
        client.assert_alive();
        client.assert_alive();
    });
}

fn an_id_that_comes_back_as_a_float_or_a_string_is_ours<A: Adapter>() {
    in_both_eras::<A>("foreign-ids", |_, mut client| {
        assert_eq!(client.text("float", json!({})), "found");
        assert_eq!(client.text("string", json!({})), "found");
    });
}

// A call that was given up is cancelled on the wire, and an answer that comes all the same harms nobody.

const SHORT: Duration = Duration::from_millis(200);

fn a_reply_after_the_deadline_is_ignored<A: Adapter>() {
    in_both_eras::<A>("late-replies", |_server, mut client| {
        for round in 1..=3 {
            let failure = client.call(Call::new("wait").timeout(SHORT)).unwrap_err();
            failure.assert(ErrorKind::Timeout, &["tools/call", "200 ms"]);
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

// Sound answers in unusual shapes.

fn the_id_may_come_last<A: Adapter>() {
    in_both_eras::<A>("id-last", |_, mut client| {
        assert_eq!(client.text("echo", json!({})), "the id is last");
    });
}

fn an_answer_may_come_in_a_batch<A: Adapter>() {
    let (server, mut client) = open::<A>("batch");
    for _ in 0..2 {
        assert_eq!(client.text("echo", json!({})), "from a batch");
    }
    assert!(!server.heard.logs.lock().unwrap().is_empty(), "the notifications of the batch are heard");
}

/// An empty object is no answer to `server/discover`.
fn a_server_that_answers_anything_with_nothing_is_legacy<A: Adapter>() {
    let (_server, mut client) = open::<A>("echo-unknown");
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
    client.assert_alive();
    assert_eq!(client.request_raw("vendor/anything", None).expect("it answers"), "{}");
}

/// Some servers answer what they do not expect without an id.
fn an_error_without_an_id_answers_the_probe<A: Adapter>() {
    let (_server, mut client) = open::<A>("nameless-errors");
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
    client.assert_alive();
}

/// To a call it is no answer: nobody can tell which one it means.
fn an_error_without_an_id_answers_no_call<A: Adapter>() {
    let (_server, mut client) = open::<A>("nameless-errors");
    let failure = client.call(Call::new("vague").timeout(Duration::from_millis(300))).unwrap_err();
    failure.assert(ErrorKind::Timeout, &["tools/call"]);
    client.assert_alive();
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

/// This client has not said that it can do anything with such results.
fn a_result_of_another_type_is_no_result<A: Adapter>() {
    let (_server, mut client) = open::<A>("result-types --modern");
    client.call(Call::new("complete")).expect("it is complete");
    for kind in ["task", "vendor/type"] {
        client.failure(kind).assert(ErrorKind::Protocol, &["tools/call", kind]);
        client.assert_alive();
    }
    client.failure("input_required").assert(ErrorKind::Input, &["tools/call"]);
    client.assert_alive();
}

// Null where a field may be absent means that it is absent.

fn null_means_absent<A: Adapter>() {
    let server = server!("null-fields").configured(|config| config.negotiate = Negotiate::Legacy);
    let mut client = server.open::<A>();
    let info = client.server_info().expect("it said who it is");
    assert_eq!((info.name(), info.instructions.as_deref()), ("bad-habits", None));

    let tools = client.list_tools().expect("it has tools");
    assert!(client.rejected_tools().is_empty());
    assert_eq!(tools.len(), 2);
    assert_eq!((&tools[0].title, &tools[0].description, &tools[0].output_schema), (&None, &None, &None));

    let seen = Arc::new(Mutex::new(Vec::new()));
    let result = client.call(Call::new("echo").progress(&seen)).expect("it is a result");
    assert_eq!(result.text().to_string(), "not null");
    assert!(!result.is_error);
    assert!(result.structured_content.is_none() && result.meta.is_none());
    assert!(matches!(
        result.content.as_slice(),
        [ContentBlock::Text(_), ContentBlock::ResourceLink(_), ContentBlock::Resource(_)]
    ));
    let seen = seen.lock().unwrap();
    assert_eq!((done_of_total(&seen[0]), &seen[0].message), ((1.0, None), &None));
}

// A response that is broken, but has a usable id, fails its request at once and says what is wrong with it.

/// What is wrong, and a word that the message must have about it.
const BROKEN: &[(&str, &str)] = &[
    ("neither", "neither"),
    ("result-is-null", "null"),
    ("result-twice", "result"),
    ("unfinished", "result.content"),
    ("extra-brace", "cannot be read"),
];

fn a_broken_response_fails_its_request_at_once<A: Adapter>() {
    in_both_eras::<A>("malformed-responses", |_, mut client| {
        for (defect, word) in BROKEN {
            let failure = fail(&mut client, defect);
            assert_eq!(failure.kind, ErrorKind::Protocol, "{defect}: {failure}");
            assert!(failure.text.contains("tools/call"), "{defect}: {failure}");
            assert!(failure.text.contains(word), "{defect} does not say {word:?}: {failure}");
            client.assert_alive();
        }
    });
}

/// The server wanted to report an error, so an error it is, as far as it can be understood.
fn a_broken_error_is_an_error_at_once<A: Adapter>() {
    let (_server, mut client) = open::<A>("malformed-responses");
    for defect in ["error-without-code", "error-is-a-string", "code-is-a-string", "result-and-error"] {
        let failure = fail(&mut client, defect);
        assert!(failure.text.contains("tools/call"), "{defect}: {failure}");
        assert!(failure.text.contains("it broke"), "{defect} does not say what the server said: {failure}");
        client.assert_alive();
    }
    fail(&mut client, "error-without-message").assert_says(&["tools/call", "-32050"]);
    client.assert_alive();
}

/// What can be understood is understood.
fn a_harmless_defect_is_overlooked<A: Adapter>() {
    let (_server, mut client) = open::<A>("malformed-responses");
    for defect in ["error-is-null", "no-jsonrpc", "old-jsonrpc", "id-twice"] {
        match client.call(Call::new(defect)) {
            Ok(result) => assert_eq!(result.text().to_string(), "good", "{defect}"),
            Err(failure) => failure.assert(ErrorKind::Protocol, &["tools/call"]),
        }
        client.assert_alive();
    }
    assert_eq!(client.text("error-is-null", json!({})), "good");
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
        assert!(!result.is_error);
    }
    assert_eq!(client.text("is-error-is-a-string", json!({})), "good");
}

fn structured_content_without_content_is_a_result<A: Adapter>() {
    let (_server, mut client) = open::<A>("malformed-responses");
    let result = client.call(Call::new("no-content")).expect("it is a result");
    assert!(result.content.is_empty());
    assert_eq!(result.structured_content.as_ref().map(Json::get), Some(r#"{"n":1}"#));
}

fn a_broken_block_spoils_only_itself<A: Adapter>() {
    let (_server, mut client) = open::<A>("malformed-responses");
    let result = client.call(Call::new("block-without-text")).expect("one block is good");
    assert_eq!(result.text().to_string(), "good");
}

/// The failure is that of the response, and not of a timeout, which also ends a request that was not failed.
fn fail<A: Adapter>(client: &mut A, defect: &str) -> Failure {
    let failure = client.failure(defect);
    assert_ne!(failure.kind, ErrorKind::Timeout, "{defect}: {failure}");
    failure
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
            let tools = client.list_tools().expect("there are tools");
            let names: Vec<String> = tools.into_iter().map(|tool| tool.name).collect();
            assert_eq!(names, (1..=25).map(|number| format!("tool-{number}")).collect::<Vec<_>>());
        }
    });
}

/// A limit ends the list. What came up to it is there.
fn pages_without_end_come_to_an_end<A: Adapter>() {
    let (_server, mut client) = open::<A>("endless-pages");
    let tools = client.list_tools().expect("there are tools");
    assert_eq!((tools.len(), tools[0].name.as_str()), (1_000, "tool-1"));
    client.request_raw("ping", None).expect("it still answers");
}

fn pages_that_lead_in_a_circle_come_to_an_end<A: Adapter>() {
    let (_server, mut client) = open::<A>("circular-pages 3");
    let names: Vec<String> = client.list_tools().expect("there are tools").into_iter().map(|tool| tool.name).collect();
    assert_eq!(names[..3], ["tool-1", "tool-2", "tool-3"]);
    assert!(names.len() <= 4, "{names:?}");
    client.request_raw("ping", None).expect("it still answers");
}

// A list of tools that does not hold any more is not believed.

/// The client's list has `tool-0` only. It was told that there is another now, so it asks the server.
fn a_tool_that_came_after_the_list_can_be_called<A: Adapter>() {
    let (_server, mut client) = open::<A>("changing-tools");
    assert_eq!(names(&mut client), ["tool-0"]);
    assert_eq!(client.text("tool-0", json!({})), "now there is tool-1");
    assert_eq!(client.text("tool-1", json!({})), "now there is tool-2");
    assert_eq!(names(&mut client), ["tool-2"]);
}

fn a_tool_that_has_gone_is_not_found<A: Adapter>() {
    let (_server, mut client) = open::<A>("changing-tools");
    assert_eq!(names(&mut client), ["tool-0"]);
    assert_eq!(client.text("tool-0", json!({})), "now there is tool-1");
    client.failure("tool-0").assert(ErrorKind::ToolNotFound, &["tool-0"]);
}

fn names<A: Adapter>(client: &mut A) -> Vec<String> {
    client.list_tools().expect("there is a list").into_iter().map(|tool| tool.name).collect()
}

on_every_adapter!(
    a_thousand_answers_reach_their_callers,
    the_first_of_two_answers_counts,
    answers_that_nobody_asked_for_are_skipped,
    an_id_that_comes_back_as_a_float_or_a_string_is_ours,
    a_reply_after_the_deadline_is_ignored,
    a_reply_after_the_cancellation_is_ignored,
    half_of_a_thousand_are_given_up,
    the_id_may_come_last,
    an_answer_may_come_in_a_batch,
    a_server_that_answers_anything_with_nothing_is_legacy,
    an_error_without_an_id_answers_the_probe,
    an_error_without_an_id_answers_no_call,
    unknown_blocks_keep_their_json,
    a_result_of_another_type_is_no_result,
    null_means_absent,
    a_broken_response_fails_its_request_at_once,
    a_broken_error_is_an_error_at_once,
    a_harmless_defect_is_overlooked,
    a_result_without_blocks_is_the_json_that_it_is,
    structured_content_without_content_is_a_result,
    a_broken_block_spoils_only_itself,
    good_tools_are_listed_and_bad_ones_reported,
    all_pages_are_read,
    pages_without_end_come_to_an_end,
    pages_that_lead_in_a_circle_come_to_an_end,
    a_tool_that_came_after_the_list_can_be_called,
    a_tool_that_has_gone_is_not_found,
);
