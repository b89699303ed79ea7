//! Sound answers in unusual shapes.

use std::time::Duration;

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::Era;
use mcpwire_tests::{Adapter, Call, on_every_adapter, server};
use serde_json::json;

fn the_id_may_come_last<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("id-last {era}"));
        let mut client = server.open::<A>();
        assert_eq!(client.text("echo", json!({})), "the id is last");
    }
}

fn an_answer_may_come_in_a_batch<A: Adapter>() {
    let server = server!("batch");
    let mut client = server.open::<A>();
    for _ in 0..2 {
        assert_eq!(client.text("echo", json!({})), "from a batch");
    }
    assert!(!server.heard.logs.lock().unwrap().is_empty(), "the notifications of the batch are heard");
}

/// An empty object is no answer to `server/discover`.
fn a_server_that_answers_anything_with_nothing_is_legacy<A: Adapter>() {
    let server = server!("echo-unknown");
    let mut client = server.open::<A>();
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
    client.assert_alive();
    assert_eq!(client.request_raw("vendor/anything", None).expect("it answers"), "{}");
}

/// Some servers answer what they do not expect without an id.
fn an_error_without_an_id_answers_the_probe<A: Adapter>() {
    let server = server!("nameless-errors");
    let mut client = server.open::<A>();
    assert_eq!(client.server_info().map(|info| info.era), Some(Era::Legacy));
    client.assert_alive();
}

/// To a call it is no answer: nobody can tell which one it means.
fn an_error_without_an_id_answers_no_call<A: Adapter>() {
    let server = server!("nameless-errors");
    let mut client = server.open::<A>();
    let failure = client.call(Call::new("vague").timeout(Duration::from_millis(300))).unwrap_err();
    failure.assert(ErrorKind::Timeout, &["tools/call"]);
    client.assert_alive();
}

on_every_adapter!(
    the_id_may_come_last,
    an_answer_may_come_in_a_batch,
    a_server_that_answers_anything_with_nothing_is_legacy,
    an_error_without_an_id_answers_the_probe,
    an_error_without_an_id_answers_no_call,
);
