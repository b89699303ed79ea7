//! HTTP+SSE of 2024-11-05: one stream for all messages of the server, and a path for POST requests.

use serde_json::json;

use crate::client::{Connection, Request, Server, get, post, request};

/// Opens the stream. Returns the stream and the path for POST requests.
fn open(server: &Server) -> (Connection, String) {
    let mut stream = server.connect();
    stream.send(&get().path("/sse"));
    let head = stream.head();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    let endpoint = stream.event().expect("the endpoint");
    assert_eq!(endpoint.kind.as_deref(), Some("endpoint"));
    (stream, endpoint.data)
}

#[test]
fn answers_and_questions_come_on_the_stream() {
    let server = Server::start();
    let (mut stream, path) = open(&server);
    let say = |message| assert_eq!(server.ask(&post(&message).path(&path).without("Accept")).status, 202);
    let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {} });
    say(request(1, "initialize", &params));
    assert_eq!(stream.event().expect("an answer").json()["result"]["protocolVersion"], "2024-11-05");
    say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let slow = json!({ "name": "slow", "arguments": { "seconds": 0.2 }, "_meta": { "progressToken": "p" } });
    say(request(2, "tools/call", &slow));
    say(request(3, "ping", &json!({})));
    let mut methods = Vec::new();
    for _ in 0..4 {
        let message = stream.event().expect("a message").json();
        methods.push(message["id"].as_u64().map_or(message["method"].to_string(), |id| id.to_string()));
    }
    methods.sort();
    assert_eq!(methods, ["\"notifications/progress\"", "\"notifications/progress\"", "2", "3"]);
    say(request(4, "resources/subscribe", &json!({ "uri": "demo://calls" })));
    assert_eq!(stream.event().expect("an answer").json()["id"], 4);
    say(request(5, "tools/call", &json!({ "name": "chart" })));
    assert_eq!(stream.event().expect("an answer").json()["id"], 5);
    assert_eq!(stream.event().expect("a change").json()["params"]["uri"], "demo://calls");
}

#[test]
fn a_session_ends_with_its_stream() {
    let server = Server::start();
    let (stream, path) = open(&server);
    let (mut other, other_path) = open(&server);
    let ping = request(1, "ping", &json!({}));
    assert_eq!(server.ask(&post(&ping).path(&path)).status, 202);
    stream.close();
    // The server notices the end of the connection after a while.
    let has_ended = |_| server.ask(&post(&ping).path(&path)).status == 404;
    assert!((0..100_000).any(has_ended));
    assert_eq!(server.ask(&post(&ping).path(&other_path)).status, 202);
    assert_eq!(other.event().expect("an answer").json()["id"], 1);
}

#[test]
fn what_does_not_belong_to_the_transport_is_refused() {
    let server = Server::start();
    let (_stream, path) = open(&server);
    let ping = post(&request(1, "ping", &json!({})));
    assert_eq!(server.ask(&ping.clone().path("/messages?sessionId=nonesuch")).status, 404);
    assert_eq!(server.ask(&ping.clone().path("/messages")).status, 404);
    let session = path.rsplit_once('=').expect("a session").1;
    assert_eq!(server.ask(&ping.clone().header("Mcp-Session-Id", session)).status, 404, "of the other transport");
    assert_eq!(server.ask(&ping.clone().path(&path).body("{")).status, 400);
    assert_eq!(server.ask(&ping.clone().path(&path).without("Content-Type")).status, 415);
    assert_eq!(server.ask(&ping.clone().path(&path).header("Origin", "https://example.com")).status, 403);
    let posted = server.ask(&ping.path("/sse"));
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET")));
    assert_eq!(server.ask(&Request::new("GET").path(&path)).status, 405);
}
