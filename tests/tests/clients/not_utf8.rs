//! Bytes that are no UTF-8, and escapes that are half a character.

use mcpwire_blocking::ErrorKind;
use mcpwire_tests::{Adapter, on_every_adapter, server};
use serde_json::json;

fn bytes_that_are_no_text_fail_their_request<A: Adapter>() {
    let server = server!("not-utf8");
    let mut client = server.open::<A>();
    client.failure("bytes").assert(ErrorKind::Protocol, &["tools/call", "UTF-8"]);
    client.assert_alive();
}

fn half_a_character_is_replaced<A: Adapter>() {
    let server = server!("not-utf8");
    let mut client = server.open::<A>();
    assert_eq!(client.text("surrogate", json!({})), "half a pair: \u{fffd}");
    assert_eq!(client.text("surrogate-in-unknown", json!({})), "good");
}

fn a_notification_that_is_no_text_is_skipped<A: Adapter>() {
    let server = server!("not-utf8");
    let mut client = server.open::<A>();
    assert_eq!(client.text("notification", json!({})), "after bytes that are no text");
    client.assert_alive();
}

on_every_adapter!(
    bytes_that_are_no_text_fail_their_request,
    half_a_character_is_replaced,
    a_notification_that_is_no_text_is_skipped,
);
