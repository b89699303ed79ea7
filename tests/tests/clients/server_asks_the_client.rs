//! Requests in the other direction, in the middle of a call, with ids that the client itself uses.

use mcpwire_tests::{Adapter, on_every_adapter, server};
use serde_json::json;

fn a_ping_is_answered_and_the_rest_is_refused<A: Adapter>() {
    let server = server!("asks");
    let mut client = server.open::<A>();
    for _ in 0..3 {
        assert_eq!(
            client.text("ask", json!({})),
            "ping: result; roots/list: error -32601; vendor/never-heard-of: error -32601"
        );
        client.assert_alive();
        assert_eq!(client.text("answered", json!({})), "0", "one answer for each is enough");
    }
}

/// Servers of that era may not ask, and clients may not answer.
fn a_modern_server_is_not_answered<A: Adapter>() {
    let server = server!("asks --modern");
    let mut client = server.open::<A>();
    assert_eq!(client.text("ask", json!({})), "asked");
    client.assert_alive();
    assert_eq!(client.text("answered", json!({})), "0");
}

on_every_adapter!(a_ping_is_answered_and_the_rest_is_refused, a_modern_server_is_not_answered);
