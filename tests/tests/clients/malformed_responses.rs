//! A response that is broken, but has a usable id, fails its request at once and says what is wrong with it.

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::{Json, ToolText};
use mcpwire_tests::{Adapter, Call, Failure, on_every_adapter, server};
use serde_json::json;

/// What is wrong, and a word that the message must have about it.
const BROKEN: &[(&str, &str)] = &[
    ("neither", "neither"),
    ("result-is-null", "null"),
    ("result-twice", "result"),
    ("unfinished", "result.content"),
    ("extra-brace", "cannot be read"),
];

fn a_broken_response_fails_its_request_at_once<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("malformed-responses {era}"));
        let mut client = server.open::<A>();
        for (defect, word) in BROKEN {
            let failure = fail(&mut client, defect);
            assert_eq!(failure.kind, ErrorKind::Protocol, "{defect}: {failure}");
            assert!(failure.text.contains("tools/call"), "{defect}: {failure}");
            assert!(failure.text.contains(word), "{defect} does not say {word:?}: {failure}");
            client.assert_alive();
        }
    }
}

/// The server wanted to report an error, so an error it is, as far as it can be understood.
fn a_broken_error_is_an_error_at_once<A: Adapter>() {
    let server = server!("malformed-responses");
    let mut client = server.open::<A>();
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
    let server = server!("malformed-responses");
    let mut client = server.open::<A>();
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
    let server = server!("malformed-responses");
    let mut client = server.open::<A>();
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
    let server = server!("malformed-responses");
    let mut client = server.open::<A>();
    let result = client.call(Call::new("no-content")).expect("it is a result");
    assert!(result.content.is_empty());
    assert_eq!(result.structured_content.as_ref().map(Json::get), Some(r#"{"n":1}"#));
}

fn a_broken_block_spoils_only_itself<A: Adapter>() {
    let server = server!("malformed-responses");
    let mut client = server.open::<A>();
    let result = client.call(Call::new("block-without-text")).expect("one block is good");
    assert_eq!(result.text().to_string(), "good");
}

on_every_adapter!(
    a_broken_response_fails_its_request_at_once,
    a_broken_error_is_an_error_at_once,
    a_harmless_defect_is_overlooked,
    a_result_without_blocks_is_the_json_that_it_is,
    structured_content_without_content_is_a_result,
    a_broken_block_spoils_only_itself,
);

/// The failure is that of the response, and not of a timeout, which also ends a request that was not failed.
fn fail<A: Adapter>(client: &mut A, defect: &str) -> Failure {
    let failure = client.failure(defect);
    assert_ne!(failure.kind, ErrorKind::Timeout, "{defect}: {failure}");
    failure
}
