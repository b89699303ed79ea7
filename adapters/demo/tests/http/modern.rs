//! The demo server over HTTP, since 2026-07-28: separate requests, with headers that match their bodies.

use serde_json::{Value, json};

use crate::{Request, Server, get, modern, modern_post, post, request};

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    modern(id, "tools/call", json!({ "name": tool, "arguments": arguments }), &json!({ "elicitation": {} }))
}

#[test]
fn a_call_needs_no_session() {
    let server = Server::start();
    let discovered = server.ask(&modern_post(&modern(1, "server/discover", json!({}), &json!({}))));
    assert_eq!(discovered.status, 200);
    assert_eq!(discovered.header("mcp-session-id"), None);
    assert_eq!(discovered.json()["result"]["supportedVersions"][0], "2026-07-28");
    let added = server.ask(&modern_post(&call(2, "add", &json!({ "a": 2, "b": 40 }))));
    assert_eq!(added.json()["result"]["structuredContent"]["sum"], 42);
    // A session id of the legacy era is ignored.
    let named = modern_post(&call(3, "add", &json!({ "a": 2, "b": 40 }))).header("Mcp-Session-Id", "nonesuch");
    assert_eq!(server.ask(&named).status, 200);
}

#[test]
fn progress_comes_before_the_answer_without_ids() {
    let server = Server::start();
    let mut message = call(7, "slow", &json!({ "seconds": 0.2 }));
    message["params"]["_meta"]["progressToken"] = json!(1);
    let mut connection = server.connect();
    connection.send(&modern_post(&message));
    let head = connection.head();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    let events: Vec<_> = std::iter::from_fn(|| connection.event()).collect();
    assert!(events.iter().all(|event| event.id.is_none()), "a stream of this era is not resumed");
    let methods: Vec<_> = events.iter().map(|event| event.json()["method"].as_str().map(str::to_owned)).collect();
    let progress = Some("notifications/progress".to_owned());
    assert_eq!(methods, [progress.clone(), progress, None]);
    assert_eq!(events[2].json()["result"]["content"][0]["text"], "Waited 0.2 s.");
}

#[test]
fn closing_the_stream_cancels_the_call() {
    let server = Server::start();
    // Two clients use the same request id. Each cancels only its own request.
    let mut others = server.connect();
    others.send(&modern_post(&call(9, "slow", &json!({ "seconds": 1 }))));
    assert_eq!(others.head().status, 200);
    let mut connection = server.connect();
    connection.send(&modern_post(&call(9, "slow", &json!({ "seconds": 3600 }))));
    assert_eq!(connection.head().status, 200);
    connection.close();
    assert_eq!(server.log_line(), "mcpwire-demo: request 9 was cancelled: the client closed the response");
    assert_eq!(others.event().expect("the answer").json()["result"]["content"][0]["text"], "Waited 1 s.");
}

#[test]
fn greet_asks_in_its_result() {
    let server = Server::start();
    let asked = server.ask(&modern_post(&call(1, "greet", &json!({})))).json();
    assert_eq!(asked["result"]["resultType"], "input_required");
    let (key, _) = asked["result"]["inputRequests"].as_object().and_then(|all| all.iter().next()).expect("a question");
    let mut again = call(2, "greet", &json!({}));
    again["params"]["requestState"] = asked["result"]["requestState"].clone();
    again["params"]["inputResponses"] = json!({ key: { "action": "accept", "content": { "first_name": "Ada" } } });
    let greeted = server.ask(&modern_post(&again)).json();
    assert_eq!(greeted["result"]["content"][0]["text"], "Hello, Ada!");
}

#[test]
fn a_task_outlives_the_request_that_made_it() {
    let server = Server::start();
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let params = json!({ "name": "slow", "arguments": { "seconds": 3600 } });
    let created = server.ask(&modern_post(&modern(1, "tools/call", params, &capabilities))).json();
    let task = &created["result"]["taskId"];
    let get = modern(2, "tasks/get", json!({ "taskId": task }), &capabilities);
    assert_eq!(server.ask(&modern_post(&get)).json()["result"]["status"], "working");
    let undeclared = server.ask(&modern_post(&modern(3, "tasks/get", json!({ "taskId": task }), &json!({}))));
    assert_eq!((undeclared.status, undeclared.json()["error"]["code"].as_i64()), (400, Some(-32021)));
}

#[test]
fn headers_must_say_what_the_body_says() {
    let server = Server::start();
    let add = call(1, "add", &json!({ "a": 2, "b": 40 }));
    let good = modern_post(&add);
    assert_eq!(server.ask(&good).status, 200);
    for (name, value) in [
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Method", "Tools/Call"),
        ("Mcp-Name", "echo"),
    ] {
        for (what, wrong) in [
            ("another", good.clone().without(name).header(name, value)),
            ("none", good.clone().without(name)),
            ("two", good.clone().header(name, value)),
        ] {
            let answer = server.ask(&wrong);
            let code = answer.json()["error"]["code"].as_i64();
            assert_eq!((answer.status, code), (400, Some(-32020)), "{name}: {what}");
            assert_eq!(answer.json()["id"], 1);
        }
    }
    let spaced = good.clone().without("Mcp-Name").header("mcp-name", "  add ");
    assert_eq!(server.ask(&spaced).status, 200, "spaces around a value are not of it");
    let encoded = good.clone().without("Mcp-Name").header("Mcp-Name", "=?base64?YWRk?=");
    assert_eq!(server.ask(&encoded).status, 200, "base64 is decoded before it is compared");
    let spoiled = good.without("Mcp-Name").header("Mcp-Name", "=?base64?!?=");
    assert_eq!(server.ask(&spoiled).json()["error"]["code"], -32020);
}

#[test]
fn an_annotated_argument_must_be_in_its_header() {
    let server = Server::start();
    let listed = server.ask(&modern_post(&modern(1, "tools/list", json!({}), &json!({})))).json();
    let weather =
        listed["result"]["tools"].as_array().and_then(|all| all.iter().find(|tool| tool["name"] == "weather"));
    let city = &weather.expect("a tool named weather")["inputSchema"]["properties"]["city"];
    assert_eq!(city["x-mcp-header"], "City");

    let porto = modern_post(&call(2, "weather", &json!({ "city": "Porto" })));
    assert_eq!(server.ask(&porto.clone().header("Mcp-Param-City", "Porto")).status, 200);
    let encoded = modern_post(&call(3, "weather", &json!({ "city": "São Paulo" })));
    assert_eq!(server.ask(&encoded.header("Mcp-Param-City", "=?base64?U8OjbyBQYXVsbw==?=")).status, 200);
    for wrong in [porto.clone(), porto.header("Mcp-Param-City", "Braga")] {
        let answer = server.ask(&wrong);
        assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (400, Some(-32020)));
    }
    let nothing = modern_post(&call(4, "weather", &json!({})));
    assert_eq!(server.ask(&nothing.clone().header("Mcp-Param-City", "Porto")).json()["error"]["code"], -32020);
    assert_eq!(server.ask(&nothing).json()["result"]["isError"], true);
}

#[test]
fn a_version_that_nobody_knows_is_told_which_there_are() {
    let server = Server::start();
    let mut message = modern(1, "server/discover", json!({}), &json!({}));
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let unknown = modern_post(&message).without("MCP-Protocol-Version").header("MCP-Protocol-Version", "2099-01-01");
    let without_meta = post(&request(1, "tools/list", &json!({}))).header("MCP-Protocol-Version", "2099-01-01");
    for request in [unknown, without_meta] {
        let answer = server.ask(&request);
        assert_eq!(answer.status, 400);
        assert_eq!(answer.json()["error"]["code"], -32022);
        assert_eq!(answer.json()["error"]["data"]["requested"], "2099-01-01");
        assert_eq!(answer.json()["error"]["data"]["supported"][0], "2026-07-28");
    }
}

#[test]
fn each_error_has_its_status() {
    let server = Server::start();
    let unheard = server.ask(&modern_post(&modern(1, "unheard/of", json!({}), &json!({}))));
    assert_eq!((unheard.status, unheard.json()["error"]["code"].as_i64()), (404, Some(-32601)));
    let unknown = server.ask(&modern_post(&call(2, "nonesuch", &json!({}))));
    assert_eq!((unknown.status, unknown.json()["error"]["code"].as_i64()), (200, Some(-32602)));
    let notification = modern(0, "notifications/unheard-of", json!({}), &json!({}));
    let mut notification = notification;
    notification.as_object_mut().expect("an object").remove("id");
    assert_eq!(server.ask(&modern_post(&notification)).status, 202);
    let response =
        post(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} })).header("MCP-Protocol-Version", "2026-07-28");
    assert_eq!(server.ask(&response).status, 400);
}

#[test]
fn there_is_nothing_to_get_or_delete() {
    let server = Server::start();
    for request in [get(), Request::new("DELETE")] {
        let answer = server.ask(&request.header("MCP-Protocol-Version", "2026-07-28"));
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    }
}
