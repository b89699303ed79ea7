//! What servers of earlier revisions do over HTTP, through the adapters: HTTP+SSE (2024-11-05, basic/transports), which is found
//! when nothing else answers, and the stream on which legacy servers say what belongs to no request (2025-11-25,
//! basic/transports, "Listening for Messages from the Server").

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use mcpwire_driver::protocol::{SubscribeOptions, SubscriptionEvent, SubscriptionFilter};
use mcpwire_driver::{ErrorKind, McpServerDef};
use mcpwire_tests::asynchronous::Lines;
use mcpwire_tests::web::{Reply, Request, Web, said, tools};
use mcpwire_tests::{Adapter, Call, OverHttp, on_every_adapter};
use serde_json::{Value, json};

fn open<A: Adapter>(def: &McpServerDef) -> A {
    let mut client = A::over_http(def, OverHttp::default()).expect("it can be asked");
    client.initialize().expect("it answers");
    client
}

fn initialized(request: &Request, version: &str) -> Value {
    let info = json!({"name": "old", "version": "1"});
    let capabilities = json!({"tools": {"listChanged": true}});
    request.answer(json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}))
}

/// A server of 2024-11-05: a stream at `/sse`, and an endpoint for messages that it names there. What `call` answers nothing to
/// stays open.
fn sse(call: impl Fn(&Request) -> Option<Value> + Send + Sync + 'static) -> Web {
    let stream: Mutex<Option<Sender<Value>>> = Mutex::default();
    Web::start(move |request, reply: &mut Reply<'_>| match (request.verb.as_str(), request.path.as_str()) {
        ("GET", "/sse") => {
            let (sender, messages) = channel();
            *stream.lock().unwrap() = Some(sender);
            reply.stream();
            reply.chunk("event: endpoint\ndata: /message?session=7\n\n");
            while messages.recv().is_ok_and(|message| reply.event(&message)) {}
        }
        ("POST", "/message?session=7") => {
            reply.full(202, "", "Accepted");
            let answer = match request.method() {
                "initialize" => Some(initialized(request, "2024-11-05")),
                "tools/list" => Some(request.answer(tools())),
                _ => call(request),
            };
            if let Some(answer) = answer {
                stream.lock().unwrap().as_ref().expect("it is open").send(answer).expect("it is read");
            }
        }
        _ => reply.full(405, "", "not here"),
    })
}

fn the_oldest_transport_is_found_when_nothing_else_answers<A: Adapter>() {
    let web = sse(|request| Some(request.answer(said(request.body["params"]["arguments"]["message"].as_str()?))));
    let mut client = open::<A>(&McpServerDef::http(web.url().replace("/mcp", "/sse")));
    assert_eq!(client.server_info().unwrap().protocol_version.as_str(), "2024-11-05");
    client.list_tools().expect("it has tools");
    let calls = (0..20).map(|n| Call::new("echo").with(json!({"message": n.to_string()}))).collect();
    for (n, result) in client.call_together(calls).into_iter().enumerate() {
        assert_eq!(result.unwrap().text().into_string(), n.to_string());
    }
    client.shutdown().unwrap();
    let all: Vec<String> = web.requests().iter().take(4).map(|request| request.method().to_owned()).collect();
    assert_eq!(all, ["server/discover", "initialize", "GET", "initialize"]);
}

fn a_call_that_is_given_up_there_is_cancelled_in_words<A: Adapter>() {
    let lines = Lines::default();
    let told = lines.clone();
    let web = sse(move |request| {
        told.push(request.method());
        None
    });
    let mut client = open::<A>(&McpServerDef::http(web.url().replace("/mcp", "/sse")));
    let failure = client.call_and_cancel(Call::new("echo"), &lines, "tools/call");
    assert_eq!(failure.kind, ErrorKind::Cancelled, "{failure}");
    while web.count("notifications/cancelled") == 0 {
        client.list_tools().expect("the connection goes on");
    }
}

fn what_belongs_to_no_request_comes_by_a_stream_of_its_own<A: Adapter>() {
    let go = Lines::default();
    let (may_go, left) = (go.clone(), Arc::new(Lines::default()));
    let gone = Arc::clone(&left);
    let web = Web::start(move |request, reply| match request.method() {
        "initialize" => reply.json(200, &initialized(request, "2025-11-25")),
        "notifications/initialized" => reply.full(202, "", ""),
        "tools/list" => reply.json(200, &request.answer(tools())),
        "GET" => {
            may_go.wait_for("go");
            reply.stream();
            reply.event(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
            reply.until_closed();
            gone.push("gone");
        }
        _ => reply.full(400, "", "no session"),
    });
    let mut client = open::<A>(&web.def());
    client.subscribe(&SubscriptionFilter::new().tools(), SubscribeOptions::new()).expect("the server tells that");
    go.push("go");
    assert_eq!(client.next_change(), Some(SubscriptionEvent::ToolsChanged));
    client.list_tools().expect("requests go on beside it");
    client.shutdown().unwrap();
    left.wait_for("gone");
}

on_every_adapter!(
    the_oldest_transport_is_found_when_nothing_else_answers,
    a_call_that_is_given_up_there_is_cancelled_in_words,
    what_belongs_to_no_request_comes_by_a_stream_of_its_own,
);
