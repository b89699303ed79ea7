//! JSON that is nested deeper than any stack is high.

use mcpwire_tests::{Adapter, Call, on_every_adapter, server};
use serde_json::json;

/// Deeper than the stack of a thread, were each level a call.
const DEEP: usize = 1_000_000;

const PLACES: &[&str] = &["structured", "unknown-member", "content", "block", "error-data", "result"];

/// Whether it is an answer or an error depends on the place; either way the connection lives.
fn a_deep_result_spoils_only_its_request<A: Adapter>() {
    for era in ["", "--modern"] {
        for depth in [100, 127, 128, 129, 1_000, DEEP] {
            let server = server!(&format!("deep-nesting {depth} {era}"));
            let mut client = server.open::<A>();
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
    let server = server!("deep-nesting 100");
    let mut client = server.open::<A>();
    let result = client.call(Call::new("structured")).expect("a hundred levels are not deep");
    let text = result.structured_content.expect("it is there").get().to_owned();
    assert_eq!(text, format!(r#"{{"deep":{}{}}}"#, "[".repeat(100), "]".repeat(100)));
}

fn a_deep_notification_or_line_is_skipped<A: Adapter>() {
    let server = server!(&format!("deep-nesting {DEEP}"));
    let mut client = server.open::<A>();
    assert_eq!(client.text("notification", json!({})), "after a deep notification");
    assert_eq!(client.text("unfinished", json!({})), "after an unfinished line");
    client.assert_alive();
}

on_every_adapter!(
    a_deep_result_spoils_only_its_request,
    a_deep_structured_content_is_kept_as_it_is,
    a_deep_notification_or_line_is_skipped,
);
