//! Requests of the server to its client during a call.

use serde_json::{Value, json};

use super::{Client, modern};

/// Returns a legacy client that has declared elicitation.
fn asked() -> Client {
    let mut client = Client::start();
    client.request("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} } }));
    client.notify("notifications/initialized", &json!({}));
    client
}

#[test]
fn a_legacy_client_is_asked_in_the_middle_of_a_call() {
    for (answer, text) in [
        (
            json!({ "action": "accept", "content": { "first_name": "Ada", "times": 2, "language": "pt", "loud": false } }),
            "Olá, Ada! Olá, Ada!",
        ),
        (json!({ "action": "accept", "content": { "first_name": "Ada", "loud": true } }), "HELLO, ADA!"),
        (json!({ "action": "decline" }), "No greeting, then."),
        (json!({ "action": "cancel" }), "Nobody was there to be greeted."),
        (json!({ "action": "accept" }), "greet: the answer has no first_name"),
    ] {
        let mut client = asked();
        let call = client.send("tools/call", &json!({ "name": "greet", "arguments": {} }));
        let question = client.receive();
        assert_eq!(question["method"], "elicitation/create");
        client.line(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }).to_string());
        let answered = client.receive();
        assert_eq!((&answered["id"], &answered["result"]["content"][0]["text"]), (&json!(call), &json!(text)));
        // A second answer to the same request is ignored.
        client.line(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }).to_string());
        assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    }
}

#[test]
fn a_question_of_a_call_that_was_cancelled_is_taken_back() {
    let mut client = asked();
    let call = client.send("tools/call", &json!({ "name": "greet" }));
    let question = client.receive()["id"].take();
    client.notify("notifications/cancelled", &json!({ "requestId": call }));
    let taken_back = client.receive();
    assert_eq!(
        (&taken_back["method"], &taken_back["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question)
    );
    client.line(&json!({ "jsonrpc": "2.0", "id": question, "result": { "action": "cancel" } }).to_string());
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_refused_question_is_an_error_of_the_tool() {
    let mut client = asked();
    client.send("tools/call", &json!({ "name": "greet" }));
    let question = client.receive();
    client
        .line(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": { "code": -1, "message": "no" } }).to_string());
    let result = client.receive()["result"].take();
    assert_eq!(
        (&result["isError"], &result["content"][0]["text"]),
        (&json!(true), &json!("greet: the client did not ask: no"))
    );
}

#[test]
fn a_client_that_cannot_be_asked_is_not() {
    let mut client = Client::legacy("2025-11-25");
    let legacy = client.request("tools/call", &json!({ "name": "greet" }))["result"].take();
    let modern = Client::start().call("greet", &json!({}))["result"].take();
    for result in [legacy, modern] {
        assert_eq!(result["isError"], true, "{result}");
    }
}

#[test]
fn a_modern_client_calls_once_more_with_the_answer() {
    let call = |more: Value| {
        let mut params = modern(json!({ "name": "greet", "arguments": {} }));
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": { "form": {} } });
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        params
    };
    let mut client = Client::start();
    let needed = client.request("tools/call", &call(json!({})))["result"].take();
    assert_eq!(needed["resultType"], "input_required");
    let question = &needed["inputRequests"]["person"];
    assert_eq!(
        (&question["method"], &question["params"]["requestedSchema"]["required"]),
        (&json!("elicitation/create"), &json!(["first_name"]))
    );
    let answer = json!({ "person": { "action": "accept", "content": { "first_name": "Ada" } } });
    let with_state = json!({ "inputResponses": answer, "requestState": needed["requestState"] });
    let result = client.request("tools/call", &call(with_state))["result"].take();
    assert_eq!((&result["resultType"], &result["content"][0]["text"]), (&json!("complete"), &json!("Hello, Ada!")));
    for wrong in
        [json!({ "inputResponses": answer }), json!({ "inputResponses": {}, "requestState": needed["requestState"] })]
    {
        assert_eq!(client.request("tools/call", &call(wrong))["error"]["code"], -32602);
    }
}
