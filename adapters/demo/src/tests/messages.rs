//! Notifications, batches, invalid messages, and the end of the input.

use serde_json::json;

use super::{Client, modern};

#[test]
fn what_is_no_request_is_refused_or_ignored() {
    let mut client = Client::start();
    for (line, code) in [
        ("{", -32700),
        ("\"text\"", -32600),
        ("[]", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32602),
    ] {
        client.line(line);
        assert_eq!(client.receive()["error"]["code"], code, "{line}");
    }
    client.line("");
    client.line("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    client.line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\",\"params\":[]}");
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
}

#[test]
fn batches_are_served_where_the_revision_has_them() {
    let batch = r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]"#;
    let mut client = Client::legacy("2025-03-26");
    client.line(batch);
    assert_eq!([client.receive()["id"].take(), client.receive()["id"].take()], ["a", "b"]);
    let mut client = Client::legacy("2025-06-18");
    client.line(batch);
    assert_eq!(client.receive()["error"]["code"], -32600);
}

#[test]
fn others_are_answered_while_a_slow_call_runs_and_a_cancelled_one_never_is() {
    let mut client = Client::start();
    let id = client.send("tools/call", &modern(json!({ "name": "slow", "arguments": { "seconds": 3600 } })));
    assert_eq!(client.call("echo", &json!({ "message": "still here" }))["result"]["isError"], false);
    client.notify("notifications/cancelled", &json!({ "requestId": id, "reason": "enough" }));
    client.notify("notifications/cancelled", &json!({ "requestId": "never sent" }));
    assert_eq!(client.log_line(), format!("demo: request {id} was cancelled: enough\n"));
    // Answers are in order on one pipe, so the cancelled call was not answered.
    assert_eq!(client.call("echo", &json!({ "message": "" }))["result"]["isError"], false);
}

#[test]
fn the_end_of_input_ends_the_server_in_mid_call() {
    let mut client = Client::start();
    client.send("tools/call", &modern(json!({ "name": "slow", "arguments": { "seconds": 3600 } })));
    client.finish();
}
