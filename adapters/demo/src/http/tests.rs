//! Tests of the endpoint without sockets, in simulated time.

use std::task::Waker;
use std::time::{Duration, SystemTime};

use ::http::{Request, StatusCode};
use bytes::Bytes;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::reply::{Reading, Reply, Response};
use super::sessions::Next;

struct Simulation {
    endpoint: Endpoint,
    now: Duration,
}

impl Simulation {
    fn new() -> Self {
        Self { endpoint: Endpoint::new(SystemTime::UNIX_EPOCH), now: Duration::ZERO }
    }

    fn send(&mut self, request: ::http::request::Builder, message: &Value) -> Reply {
        let builder = request.header("Content-Type", "application/json").header("Accept", "*/*");
        let request = builder.body(Bytes::from(message.to_string())).expect("a request");
        self.endpoint.answer(&request, self.now)
    }

    fn response(&mut self, request: ::http::request::Builder, message: &Value) -> Response {
        match self.send(request, message) {
            Reply::Whole(response) => response,
            Reply::Events(reading) => panic!("{reading:?}"),
        }
    }

    fn events(&mut self, request: ::http::request::Builder, message: &Value) -> Reading {
        match self.send(request, message) {
            Reply::Whole(response) => panic!("{response:?}"),
            Reply::Events(reading) => reading,
        }
    }

    /// Opens a session. Returns its id.
    fn session(&mut self) -> String {
        let params = json!({ "protocolVersion": "2025-11-25" });
        let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let response = self.response(Request::post("/mcp"), &initialize);
        response.headers()["mcp-session-id"].to_str().expect("an id").to_owned()
    }

    fn next(&mut self, reading: &Reading) -> Next {
        self.endpoint.poll(reading, Waker::noop())
    }

    /// Advances the time to the next timeout, and handles it.
    fn pass(&mut self) {
        self.now = self.endpoint.next_timeout().expect("a timeout");
        self.endpoint.handle_timeout(self.now);
    }
}

fn slow(id: u64) -> Value {
    let params = json!({ "name": "slow", "arguments": { "seconds": 3600 } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn ping(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

#[test]
fn an_hour_later_the_answer_ends_the_stream() {
    let mut simulation = Simulation::new();
    let session = simulation.session();
    let reading = simulation.events(Request::post("/mcp").header("Mcp-Session-Id", session), &slow(2));
    assert_eq!(simulation.next(&reading), Next::Pending);
    simulation.pass();
    assert_eq!(simulation.now, Duration::from_secs(3600));
    assert!(matches!(simulation.next(&reading), Next::Event(1, answer) if answer["id"] == 2));
    assert_eq!(simulation.next(&reading), Next::Ended);
}

#[test]
fn the_session_that_was_not_used_for_the_longest_time_ends_for_a_new_one() {
    let mut simulation = Simulation::new();
    let (first, second) = (simulation.session(), simulation.session());
    let waiting = simulation.events(Request::post("/mcp").header("Mcp-Session-Id", &second), &slow(2));
    for _ in 2..256 {
        simulation.session();
    }
    let mut status = |session: &str| {
        let request = Request::post("/mcp").header("Mcp-Session-Id", session);
        simulation.response(request, &ping(3)).status()
    };
    assert_eq!((status(&first), status(&second)), (StatusCode::OK, StatusCode::OK));
    simulation.session();
    simulation.session();
    let mut status = |session: &str| {
        let request = Request::post("/mcp").header("Mcp-Session-Id", session);
        simulation.response(request, &ping(3)).status()
    };
    assert_eq!(status(&first), StatusCode::OK, "it was used since");
    for _ in 0..254 {
        simulation.session();
    }
    assert_eq!(simulation.next(&waiting), Next::Ended, "its streams end with it");
    simulation.endpoint.leave(&waiting);
    assert_eq!(simulation.next(&waiting), Next::Replaced, "and are forgotten");
    assert_eq!(simulation.endpoint.next_timeout(), None, "as are its calls");
}

#[test]
fn a_modern_response_that_is_closed_leaves_nothing_behind() {
    let mut simulation = Simulation::new();
    let mut call = slow(9);
    call["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = Request::post("/mcp").header("MCP-Protocol-Version", "2026-07-28");
    let request = request.header("Mcp-Method", "tools/call").header("Mcp-Name", "slow");
    let reading = simulation.events(request, &call);
    simulation.endpoint.leave(&reading);
    assert_eq!(simulation.endpoint.take_log(), ["request 9 was cancelled: the client closed the response"]);
    assert_eq!((simulation.endpoint.next_timeout(), simulation.next(&reading)), (None, Next::Replaced));
}

#[test]
fn events_are_kept_up_to_a_limit_for_a_client_that_comes_back() {
    let mut simulation = Simulation::new();
    let session = simulation.session();
    let mut call = slow(2);
    call["params"]["_meta"] = json!({ "progressToken": 1 });
    let reading = simulation.events(Request::post("/mcp").header("Mcp-Session-Id", &session), &call);
    for _ in 0..3600 {
        simulation.pass();
    }
    let resume = Request::get("/mcp").header("Mcp-Session-Id", &session);
    let resume = resume.header("Last-Event-ID", format!("{}-0", reading.route.stream));
    let resumed = simulation.events(resume, &Value::Null);
    assert_eq!(simulation.next(&reading), Next::Replaced);
    assert!(matches!(simulation.next(&resumed), Next::Event(2602, _)), "the oldest are dropped");
    let last = (0..1000).map(|_| simulation.next(&resumed)).take_while(|next| *next != Next::Ended).last();
    assert!(matches!(last, Some(Next::Event(3601, answer)) if answer["id"] == 2));
}

/// Returns a POST of a modern message, with its headers and its `_meta`.
fn modern(id: u64, method: &str, mut params: Value) -> (::http::request::Builder, Value) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let builder = Request::post("/mcp").header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", method);
    let builder = match params["name"].as_str() {
        Some(name) => builder.header("Mcp-Name", name),
        None => builder,
    };
    (builder, json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

#[test]
fn subscribers_of_both_eras_are_notified_of_a_call_of_another_client() {
    let mut simulation = Simulation::new();
    let session = simulation.session();
    let general = simulation.events(Request::get("/mcp").header("Mcp-Session-Id", &session), &Value::Null);
    let subscribe =
        json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": { "uri": "demo://calls" } });
    simulation.response(Request::post("/mcp").header("Mcp-Session-Id", &session), &subscribe);
    let filter = json!({ "notifications": { "resourceSubscriptions": ["demo://calls"] } });
    let (request, listen) = modern(7, "subscriptions/listen", filter);
    let listening = simulation.events(request, &listen);
    let acknowledged = "notifications/subscriptions/acknowledged";
    assert!(matches!(simulation.next(&listening), Next::Event(1, message) if message["method"] == acknowledged));

    let (request, call) = modern(1, "tools/call", json!({ "name": "chart" }));
    assert_eq!(simulation.response(request, &call).status(), StatusCode::OK);
    for (reading, subscription, number) in [(&general, Value::Null, 1), (&listening, json!(7), 2)] {
        let Next::Event(at, message) = simulation.next(reading) else { panic!("an event") };
        assert_eq!((at, &message["method"]), (number, &json!("notifications/resources/updated")));
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], subscription);
    }
    assert_eq!(simulation.next(&listening), Next::Pending, "the subscription goes on");
    simulation.endpoint.leave(&listening);
    let (request, call) = modern(1, "tools/call", json!({ "name": "chart" }));
    simulation.response(request, &call);
    assert_eq!(simulation.next(&listening), Next::Replaced, "nothing is kept for a client that has left");
}
