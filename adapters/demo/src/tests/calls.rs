//! Calls of tools: results, questions to the user, tasks, and slow calls in simulated time.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::{Client, modern};
use crate::pending::Route;
use crate::server::{Output, Server};

#[test]
fn tools_do_what_they_say() {
    let mut client = Client::start();
    assert_eq!(client.call("echo", &json!({ "message": "hi" }))["result"]["content"][0]["text"], "hi");
    assert_eq!(client.call("add", &json!({ "a": 0.5, "b": 1 }))["result"]["structuredContent"], json!({ "sum": 1.5 }));
    let sum = client.call("add", &json!({ "a": i64::MAX, "b": 1 }));
    assert_eq!(sum["result"]["structuredContent"]["sum"], json!(9_223_372_036_854_775_808_f64));
    assert_eq!(client.call("add", &json!({ "a": 1e308, "b": 1e308 }))["result"]["isError"], true);
    assert_eq!(client.call("fail", &json!({ "message": "no" }))["result"]["isError"], true);
    let weather = client.call("weather", &json!({ "city": "Lisbon" }))["result"].clone();
    assert_eq!(weather["structuredContent"]["demo"], true);
    assert_eq!(weather, client.call("weather", &json!({ "city": "Lisbon" }))["result"]);
}

#[test]
fn an_image_follows_its_text() {
    let result = Client::start().call("chart", &json!({}))["result"].clone();
    assert_eq!(result["content"][0]["type"], "text");
    let image = &result["content"][1];
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")));
    // The first bytes of a PNG file.
    assert!(image["data"].as_str().is_some_and(|data| data.starts_with("iVBORw0KGgo")), "{image}");
}

#[test]
fn structured_output_is_left_out_where_the_revision_has_none() {
    for (version, expected) in [("2025-03-26", false), ("2025-06-18", true)] {
        let mut client = Client::legacy(version);
        let listed = client.request("tools/list", &json!({}));
        let add = &listed["result"]["tools"][1];
        assert_eq!(add["name"], "add");
        assert_eq!(add.get("outputSchema").is_some(), expected, "{version}");
        let called = client.request("tools/call", &json!({ "name": "add", "arguments": { "a": 2, "b": 40 } }));
        assert_eq!(called["result"]["content"][0]["text"], "42");
        assert_eq!(called["result"].get("structuredContent").is_some(), expected, "{version}");
    }
}

#[test]
fn wrong_arguments_are_the_tools_own_error() {
    let mut client = Client::start();
    for (name, arguments) in [
        ("echo", json!({})),
        ("echo", json!({ "message": 1 })),
        ("add", json!({ "a": "2", "b": 40 })),
        ("slow", json!({ "seconds": -1 })),
        ("slow", json!({ "seconds": 1e300 })),
        ("weather", json!({ "city": null })),
        ("fail", json!({ "message": {} })),
    ] {
        let result = client.call(name, &arguments)["result"].clone();
        assert_eq!(result["isError"], true, "{name} {arguments}");
        assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.starts_with(name)));
    }
}

#[test]
fn a_malformed_call_fails_as_a_request() {
    let mut client = Client::start();
    for params in
        [json!({ "name": "nonesuch" }), json!({ "name": 1 }), json!({}), json!({ "name": "echo", "arguments": ["hi"] })]
    {
        let answer = client.request("tools/call", &modern(params));
        assert_eq!(answer["error"]["code"], -32602);
    }
    assert_eq!(client.request("tools/unheard_of", &modern(json!({})))["error"]["code"], -32601);
}

#[test]
fn a_slow_call_reports_progress_that_grows() {
    let mut client = Client::start();
    let mut params = modern(json!({ "name": "slow", "arguments": { "seconds": 0.25 } }));
    params["_meta"]["progressToken"] = json!("p");
    let id = client.send("tools/call", &params);
    let mut last = 0.0;
    let answer = loop {
        let message = client.receive();
        if message["method"] != "notifications/progress" {
            break message;
        }
        assert_eq!(message["params"]["progressToken"], "p");
        let progress = message["params"]["progress"].as_f64().expect("progress is a number");
        assert!(progress > last);
        last = progress;
    };
    assert!((last - 0.25).abs() < 1e-9, "the last report is the whole");
    assert_eq!(answer["id"], id);
    assert_eq!(answer["result"]["content"][0]["text"], "Waited 0.25 s.");
}

// Questions of the server in the middle of a call.

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

// Tasks.

#[test]
fn slow_calls_become_tasks_of_the_extension_where_it_is_declared() {
    let mut client = Client::start();
    let with_tasks = |params: Value| {
        let mut params = modern(params);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        params
    };
    let slow = |seconds: f64| json!({ "name": "slow", "arguments": { "seconds": seconds } });
    let created = client.request("tools/call", &with_tasks(slow(3600.0)))["result"].clone();
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")));
    let id = json!({ "taskId": created["taskId"] });
    let task = client.request("tasks/get", &with_tasks(id.clone()))["result"].clone();
    assert_eq!((&task["resultType"], &task["status"]), (&json!("complete"), &json!("working")));
    assert!(task["ttlMs"].is_u64() && task["pollIntervalMs"].is_u64() && task.get("result").is_none());
    assert_eq!(client.request("tasks/get", &modern(id.clone()))["error"]["code"], -32021, "not declared");
    assert_eq!(client.request("tasks/result", &with_tasks(id.clone()))["error"]["code"], -32601);
    for _ in 0..2 {
        assert_eq!(client.request("tasks/cancel", &with_tasks(id.clone()))["result"]["resultType"], "complete");
    }
    assert_eq!(client.request("tasks/get", &with_tasks(id))["result"]["status"], "cancelled");

    let created = client.request("tools/call", &with_tasks(slow(0.0)))["result"].clone();
    let done = client.request("tasks/get", &with_tasks(json!({ "taskId": created["taskId"] })))["result"].clone();
    assert_eq!((&done["status"], &done["result"]["content"][0]["text"]), (&json!("completed"), &json!("Waited 0 s.")));
    let unknown = client.request("tasks/get", &with_tasks(json!({ "taskId": "nobody" })));
    assert_eq!(unknown["error"]["code"], -32602);
}

#[test]
fn slow_calls_become_tasks_of_2025_11_25_where_they_are_asked_for() {
    let mut client = Client::legacy("2025-11-25");
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].clone();
    let support: Vec<&Value> = (0..5).map(|at| &tools[at]["execution"]["taskSupport"]).collect();
    assert_eq!(support, [&Value::Null, &Value::Null, &json!("optional"), &Value::Null, &Value::Null]);
    let slow = |seconds: f64| json!({ "name": "slow", "arguments": { "seconds": seconds }, "task": { "ttl": 1000 } });
    let created = client.request("tools/call", &slow(3600.0))["result"]["task"].clone();
    assert_eq!(created["status"], "working");
    assert!(created["ttl"].is_u64() && created["pollInterval"].is_u64());
    let id = json!({ "taskId": created["taskId"] });

    // A request that waits for the result fails when the task is cancelled.
    let waiting = client.send("tasks/result", &id);
    assert_eq!(client.request("tasks/get", &id)["result"]["status"], "working", "it holds up nobody");
    let cancel = client.send("tasks/cancel", &id);
    let answers = [client.receive(), client.receive()];
    let of = |id: u64| answers.iter().find(|answer| answer["id"] == id).expect("it is answered");
    assert_eq!((&of(cancel)["result"]["status"], &of(waiting)["error"]["code"]), (&json!("cancelled"), &json!(-32602)));
    assert_eq!(client.request("tasks/cancel", &id)["error"]["code"], -32602, "it is over already");

    let created = client.request("tools/call", &slow(0.05))["result"]["task"].clone();
    let result = client.request("tasks/result", &json!({ "taskId": created["taskId"] }))["result"].clone();
    assert_eq!(result["content"][0]["text"], "Waited 0.05 s.");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], created["taskId"]);
    assert_eq!(client.request("tasks/update", &id)["error"]["code"], -32601);
}

#[test]
fn earlier_revisions_have_no_tasks() {
    let mut client = Client::legacy("2025-06-18");
    let call = json!({ "name": "slow", "arguments": { "seconds": 0 }, "task": {} });
    assert_eq!(client.request("tools/call", &call)["result"]["content"][0]["text"], "Waited 0 s.");
    assert_eq!(client.request("tasks/get", &json!({ "taskId": "a" }))["error"]["code"], -32601);
}

// Slow calls and tasks in simulated time.

pub(super) struct Simulation {
    server: Server,
    route: Route,
    now: Duration,
}

impl Simulation {
    pub(super) fn new() -> Self {
        let mut server = Server::new(SystemTime::UNIX_EPOCH);
        let route = Route::general(server.connect());
        Self { server, route, now: Duration::ZERO }
    }

    pub(super) fn send(&mut self, id: u64, method: &str, params: &Value) -> Vec<Value> {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.server.receive(self.route, &message, self.now);
        self.messages()
    }

    /// Cancels a request. Returns the messages that the server then sends.
    pub(super) fn cancel(&mut self, id: u64) -> Vec<Value> {
        let params = json!({ "requestId": id });
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.server.receive(self.route, &message, self.now);
        self.messages()
    }

    fn messages(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.server.poll_output())
            .filter_map(|output| match output {
                Output::Message(_, message) => Some(message),
                Output::Ended(_) | Output::Log(_) => None,
            })
            .collect()
    }

    /// Advances the time over all timeouts. Returns each message with its time.
    pub(super) fn pass(&mut self) -> Vec<(Duration, Value)> {
        let mut all = Vec::new();
        while let Some(at) = self.server.next_timeout() {
            self.now = at;
            self.server.handle_timeout(at);
            all.extend(self.messages().into_iter().map(|message| (at, message)));
        }
        all
    }
}

fn slow(seconds: f64, meta: &Value) -> Value {
    let mut params = modern(json!({ "name": "slow", "arguments": { "seconds": seconds } }));
    let members = meta.as_object().expect("an object").clone();
    params["_meta"].as_object_mut().expect("an object").extend(members);
    params
}

#[test]
fn an_hour_is_reported_each_second_up_to_its_end() {
    let mut simulation = Simulation::new();
    assert!(simulation.send(1, "tools/call", &slow(3600.0, &json!({ "progressToken": 7 }))).is_empty());
    let messages = simulation.pass();
    assert_eq!(messages.len(), 3601);
    for (index, (at, message)) in messages[..3600].iter().enumerate() {
        assert_eq!(*at, Duration::from_secs(index as u64 + 1));
        assert_eq!((&message["params"]["progressToken"], &message["params"]["total"]), (&json!(7), &json!(3600.0)));
    }
    let (at, answer) = &messages[3600];
    assert_eq!((*at, &answer["id"]), (Duration::from_secs(3600), &json!(1)));
}

#[test]
fn without_a_token_a_slow_call_sends_nothing_before_its_end() {
    let mut simulation = Simulation::new();
    simulation.send(1, "tools/call", &slow(5.0, &json!({})));
    simulation.send(2, "tools/call", &slow(3.0, &json!({})));
    let ends: Vec<_> =
        simulation.pass().into_iter().map(|(at, message)| (at.as_secs(), message["id"].clone())).collect();
    assert_eq!(ends, [(3, json!(2)), (5, json!(1))]);
}

#[test]
fn the_id_of_a_pending_request_is_not_taken_twice() {
    let mut simulation = Simulation::new();
    simulation.send(1, "tools/call", &slow(5.0, &json!({})));
    assert_eq!(simulation.send(1, "tools/call", &slow(1.0, &json!({})))[0]["error"]["code"], -32600);
    let answers = simulation.pass();
    assert_eq!((answers.len(), answers[0].0), (1, Duration::from_secs(5)));
}

#[test]
fn a_task_has_the_dates_of_its_life() {
    let mut simulation = Simulation::new();
    simulation.send(1, "initialize", &json!({ "protocolVersion": "2025-11-25" }));
    let call = json!({ "name": "slow", "arguments": { "seconds": 60 }, "task": {} });
    let task = simulation.send(2, "tools/call", &call)[0]["result"]["task"].clone();
    let id = json!({ "taskId": task["taskId"] });
    assert_eq!((&task["createdAt"], &task["status"]), (&json!("1970-01-01T00:00:00Z"), &json!("working")));
    assert!(simulation.send(3, "tasks/result", &id).is_empty(), "it is answered at the end of the task");
    let answers = simulation.pass();
    assert_eq!((answers[0].0, &answers[0].1["id"]), (Duration::from_secs(60), &json!(3)));
    let task = simulation.send(4, "tasks/get", &id)[0]["result"].clone();
    assert_eq!((&task["lastUpdatedAt"], &task["status"]), (&json!("1970-01-01T00:01:00Z"), &json!("completed")));
    simulation.now = Duration::from_secs(3 * 3600);
    assert_eq!(simulation.send(5, "tasks/get", &id)[0]["error"]["code"], -32602, "it is forgotten");
}

#[test]
fn pending_requests_have_a_limit() {
    let mut simulation = Simulation::new();
    for id in 0..4096 {
        assert!(simulation.send(id, "tools/call", &slow(3600.0, &json!({}))).is_empty());
    }
    assert_eq!(simulation.send(4096, "tools/call", &slow(3600.0, &json!({})))[0]["error"]["code"], -32603);
    assert_eq!(simulation.send(4097, "tools/call", &modern(json!({ "name": "chart" })))[0]["id"], 4097);
}
