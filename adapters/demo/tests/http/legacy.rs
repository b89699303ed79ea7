//! The demo server over HTTP, from 2025-03-26 to 2025-11-25: sessions, streams, and requests to the client.

use serde_json::{Value, json};

use crate::{Connection, Request, Server, get, post, request};

/// Returns a POST within a session.
fn within(session: &str, message: &Value) -> Request {
    post(message).header("Mcp-Session-Id", session).header("MCP-Protocol-Version", "2025-11-25")
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    request(id, "tools/call", &json!({ "name": tool, "arguments": arguments }))
}

/// Opens the GET stream, for messages of the server that belong to no request.
fn listen(server: &Server, session: &str) -> Connection {
    let mut stream = server.connect();
    stream.send(&get().header("Mcp-Session-Id", session));
    let head = stream.head();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    let primed = stream.event().expect("an event to come back with");
    assert_eq!((primed.id.as_deref(), primed.data.as_str()), (Some("0-0"), ""));
    stream
}

#[test]
fn answers_at_hand_are_json_on_one_connection() {
    let server = Server::start();
    let session = server.session("2025-11-25");
    let mut connection = server.connect();
    for id in 2..5 {
        connection.send(&within(&session, &call(id, "add", &json!({ "a": id, "b": 40 }))));
        let answer = connection.answer();
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["id"], id);
        assert_eq!(answer.json()["result"]["structuredContent"]["sum"], id + 40);
    }
}

#[test]
fn each_session_has_the_revision_that_it_agreed_on() {
    let server = Server::start();
    for (version, expected) in [("2025-03-26", false), ("2025-06-18", true)] {
        let session = server.session(version);
        let listed = server.ask(&post(&request(2, "tools/list", &json!({}))).header("Mcp-Session-Id", &session)).json();
        assert_eq!(listed["result"]["tools"][1].get("outputSchema").is_some(), expected, "{version}");
    }
}

#[test]
fn a_session_must_be_named_and_known_and_ends_with_delete() {
    let server = Server::start();
    let session = server.session("2025-11-25");
    let ping = request(2, "ping", &json!({}));
    assert_eq!(server.ask(&post(&ping)).status, 400);
    assert_eq!(server.ask(&post(&ping).header("Mcp-Session-Id", "nonesuch")).status, 404);
    assert_eq!(server.ask(&get()).status, 400);
    assert_eq!(server.ask(&get().header("Mcp-Session-Id", "nonesuch")).status, 404);
    let unknown = post(&ping).header("Mcp-Session-Id", &session).header("MCP-Protocol-Version", "1999-01-01");
    assert_eq!(server.ask(&unknown).status, 400);
    assert_eq!(server.ask(&within(&session, &ping)).json()["result"], json!({}));

    let mut listening = listen(&server, &session);
    let mut waiting = server.connect();
    waiting.send(&within(&session, &call(3, "slow", &json!({ "seconds": 3600 }))));
    assert_eq!(waiting.head().status, 200);
    waiting.event().expect("an event to come back with");

    let delete = Request::new("DELETE").header("Mcp-Session-Id", &session);
    assert_eq!(server.ask(&delete).status, 204);
    assert_eq!(listening.event(), None, "the streams of a session end with it");
    assert_eq!(waiting.event(), None, "a call is not answered after the end of its session");
    assert_eq!(server.ask(&delete).status, 404);
    assert_eq!(server.ask(&within(&session, &ping)).status, 404);
}

#[test]
fn progress_and_the_answer_come_on_the_stream_of_the_call() {
    let server = Server::start();
    let session = server.session("2025-11-25");
    let mut message = call(2, "slow", &json!({ "seconds": 0.3 }));
    message["params"]["_meta"] = json!({ "progressToken": "p" });
    let mut connection = server.connect();
    connection.send(&within(&session, &message));
    let head = connection.head();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    let mut events: Vec<_> = std::iter::from_fn(|| connection.event()).collect();
    assert_eq!(events.remove(0).data, "", "an event to come back with");
    let answer = events.pop().expect("an answer").json();
    assert_eq!(answer["result"]["content"][0]["text"], "Waited 0.3 s.");
    assert_eq!(events.len(), 3);
    for event in events {
        assert_eq!(event.json()["params"]["progressToken"], "p");
    }
    // The connection stays open for the next request.
    connection.send(&within(&session, &request(3, "ping", &json!({}))));
    assert_eq!(connection.answer().json()["id"], 3);
}

#[test]
fn earlier_revisions_get_no_event_without_data() {
    let server = Server::start();
    let session = server.session("2025-06-18");
    let mut connection = server.connect();
    connection.send(&post(&call(2, "slow", &json!({ "seconds": 0.1 }))).header("Mcp-Session-Id", &session));
    assert_eq!(connection.head().status, 200);
    assert_eq!(connection.event().expect("the answer").json()["id"], 2);
    assert_eq!(connection.event(), None);
}

#[test]
fn a_broken_stream_is_read_on_from_the_last_event() {
    let server = Server::start();
    let session = server.session("2025-11-25");
    let mut message = call(2, "slow", &json!({ "seconds": 0.5 }));
    message["params"]["_meta"] = json!({ "progressToken": 1 });
    let mut broken = server.connect();
    broken.send(&within(&session, &message));
    assert_eq!(broken.head().status, 200);
    let primed = broken.event().expect("an event to come back with");
    let first = broken.event().expect("progress");
    broken.close();

    let resume = |id: &str| {
        let mut resumed = server.connect();
        resumed.send(&get().header("Mcp-Session-Id", &session).header("Last-Event-ID", id));
        assert_eq!(resumed.head().status, 200);
        std::iter::from_fn(|| resumed.event()).collect::<Vec<_>>()
    };
    let rest = resume(first.id.as_deref().expect("an id"));
    assert_ne!(rest[0], first, "what was read is not sent again");
    assert_eq!(rest.last().expect("the answer").json()["id"], 2);
    let whole = resume(primed.id.as_deref().expect("an id"));
    assert_eq!(whole[0], first, "what came after the event that was named is sent again");
    assert_eq!(whole[1..], rest);
    let unknown = get().header("Mcp-Session-Id", &session).header("Last-Event-ID", "99-1");
    assert_eq!(server.ask(&unknown).status, 400);
}

#[test]
fn a_question_comes_on_the_stream_of_its_call() {
    let server = Server::start();
    let session = server.session("2025-11-25");
    let mut connection = server.connect();
    connection.send(&within(&session, &call(2, "greet", &json!({}))));
    assert_eq!(connection.head().status, 200);
    connection.event().expect("an event to come back with");
    let question = connection.event().expect("a question").json();
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({
        "jsonrpc": "2.0", "id": question["id"],
        "result": { "action": "accept", "content": { "first_name": "Zoë", "language": "pt" } },
    });
    assert_eq!(server.ask(&within(&session, &answer)).status, 202);
    assert_eq!(connection.event().expect("the answer").json()["result"]["content"][0]["text"], "Olá, Zoë!");
    assert_eq!(connection.event(), None);
}

#[test]
fn a_question_comes_on_the_stream_for_the_servers_messages_if_there_is_one() {
    let server = Server::start();
    let session = server.session("2025-11-25");
    let mut listening = listen(&server, &session);
    for (id, action, expected) in
        [(2, "decline", "No greeting, then."), (3, "cancel", "Nobody was there to be greeted.")]
    {
        let mut connection = server.connect();
        connection.send(&within(&session, &call(id, "greet", &json!({}))));
        let question = listening.event().expect("a question").json();
        assert_eq!(question["method"], "elicitation/create");
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": action } });
        assert_eq!(server.ask(&within(&session, &answer)).status, 202);
        assert_eq!(connection.head().status, 200);
        connection.event().expect("an event to come back with");
        assert_eq!(connection.event().expect("the answer").json()["result"]["content"][0]["text"], expected);
        assert_eq!(connection.event(), None);
    }
}

#[test]
fn a_new_listener_takes_over_from_the_one_before() {
    let server = Server::start();
    let session = server.session("2025-11-25");
    let mut before = listen(&server, &session);
    let mut after = listen(&server, &session);
    assert!(before.has_ended());
    let mut connection = server.connect();
    connection.send(&within(&session, &call(2, "greet", &json!({}))));
    assert_eq!(after.event().expect("a question").json()["method"], "elicitation/create");
}

#[test]
fn a_cancelled_call_ends_without_an_answer() {
    let server = Server::start();
    let session = server.session("2025-11-25");
    let cancel = |id: u64| {
        let params = json!({ "requestId": id, "reason": "enough" });
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        assert_eq!(server.ask(&within(&session, &cancelled)).status, 202);
    };
    let mut slow = server.connect();
    slow.send(&within(&session, &call(2, "slow", &json!({ "seconds": 3600 }))));
    assert_eq!(slow.head().status, 200);
    slow.event().expect("an event to come back with");
    cancel(2);
    assert_eq!(slow.event(), None);
    assert_eq!(server.log_line(), "mcpwire-demo: request 2 was cancelled: enough");

    let mut asking = server.connect();
    asking.send(&within(&session, &call(3, "greet", &json!({}))));
    assert_eq!(asking.head().status, 200);
    asking.event().expect("an event to come back with");
    let question = asking.event().expect("a question").json();
    cancel(3);
    let told = asking.event().expect("the question is taken back").json();
    assert_eq!(told["method"], "notifications/cancelled");
    assert_eq!(told["params"]["requestId"], question["id"]);
    assert_eq!(asking.event(), None);
}

#[test]
fn a_batch_is_answered_where_the_revision_has_them() {
    let server = Server::start();
    let batch = json!([
        call(2, "slow", &json!({ "seconds": 0.1 })),
        { "jsonrpc": "2.0", "method": "notifications/unheard-of" },
        request(3, "ping", &json!({})),
    ]);
    let session = server.session("2025-03-26");
    let mut connection = server.connect();
    connection.send(&post(&batch).header("Mcp-Session-Id", &session));
    assert_eq!(connection.head().status, 200);
    let mut ids: Vec<_> = std::iter::from_fn(|| connection.event()).map(|event| event.json()["id"].as_u64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [Some(2), Some(3)]);
    let session = server.session("2025-06-18");
    assert_eq!(server.ask(&post(&batch).header("Mcp-Session-Id", &session)).status, 400);
}

#[test]
fn what_is_no_message_is_refused() {
    let server = Server::start();
    let session = server.session("2025-11-25");
    for (message, code) in [(json!({}), -32600), (json!({ "id": [], "method": "ping" }), -32600), (json!([]), -32600)] {
        let answer = server.ask(&within(&session, &message));
        assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (400, Some(code)), "{message}");
    }
    let answer = server.ask(&within(&session, &json!(null)).body("{"));
    assert_eq!((answer.status, answer.json()["error"]["code"].as_i64()), (400, Some(-32700)));
    let unheard = server.ask(&within(&session, &request(2, "unheard/of", &json!({}))));
    assert_eq!((unheard.status, unheard.json()["error"]["code"].as_i64()), (200, Some(-32601)));
    let wrong = server.ask(&post(&request(1, "initialize", &json!({}))));
    assert_eq!((wrong.status, wrong.header("mcp-session-id")), (200, None));
    assert_eq!(wrong.json()["error"]["code"], -32602);
}

// HTTP+SSE of 2024-11-05.

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
