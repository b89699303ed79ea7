//! The server from its client's side: lines in, lines out.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::serve;

/// Far longer than anything here takes; only a test that fails waits so long.
const WATCHDOG: Duration = Duration::from_secs(20);

#[test]
fn initialize_agrees_on_each_legacy_revision() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start();
        let answer = client.request("initialize", &json!({ "protocolVersion": version, "capabilities": {} }));
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "mcpwire-demo");
        assert!(answer["result"].get("resultType").is_none(), "no modern words in a legacy answer");
    }
}

#[test]
fn initialize_offers_its_newest_handshake_for_any_other_version() {
    for version in ["1999-01-01", "2026-07-28", "2099-01-01"] {
        let mut client = Client::start();
        let answer = client.request("initialize", &json!({ "protocolVersion": version }));
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    }
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
fn ping_is_answered_before_and_after_the_handshake() {
    let mut client = Client::start();
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
    client.request("initialize", &json!({ "protocolVersion": "2025-11-25" }));
    assert_eq!(client.request("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_second_initialize_is_refused() {
    let mut client = Client::legacy("2025-11-25");
    let answer = client.request("initialize", &json!({ "protocolVersion": "2025-11-25" }));
    assert_eq!(answer["error"]["code"], -32600);
}

#[test]
fn discover_says_who_and_what() {
    let mut client = Client::start();
    let result = &client.request("server/discover", &modern(json!({})))["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
    assert_eq!(result["capabilities"], json!({ "tools": {}, "extensions": tasks }));
    assert_eq!(result["cacheScope"], "public");
    assert!(result["ttlMs"].is_u64());
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "mcpwire-demo");
}

#[test]
fn modern_requests_must_have_their_meta() {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let info = "io.modelcontextprotocol/clientInfo";
    let mut client = Client::start();
    for params in [
        json!({}),
        json!({ "_meta": {} }),
        json!({ "_meta": [] }),
        json!({ "_meta": { version: "2026-07-28" } }),
        json!({ "_meta": { capabilities: {} } }),
        json!({ "_meta": { version: 1, capabilities: {} } }),
        json!({ "_meta": { version: "2026-07-28", capabilities: null } }),
        json!({ "_meta": { version: "2026-07-28", capabilities: {}, info: "me" } }),
    ] {
        for method in ["server/discover", "tools/list"] {
            assert_eq!(client.request(method, &params)["error"]["code"], -32602, "{method} {params}");
        }
    }
}

#[test]
fn an_unknown_version_is_refused_with_those_that_are_known() {
    let mut params = modern(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    let error = &Client::start().request("server/discover", &params)["error"];
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"]["requested"], "1900-01-01");
    assert_eq!(error["data"]["supported"][0], "2026-07-28");
}

#[test]
fn both_eras_are_served_in_one_process() {
    let mut client = Client::legacy("2025-11-25");
    let modern = client.request("tools/list", &modern(json!({})));
    assert_eq!(modern["result"]["resultType"], "complete");
    let legacy = client.request("tools/list", &json!({ "_meta": { "progressToken": 1 } }));
    assert!(legacy["result"].get("resultType").is_none());
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
    assert_eq!(client.request("resources/list", &modern(json!({})))["error"]["code"], -32601);
}

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

#[test]
fn others_are_answered_while_a_slow_call_runs_and_a_cancelled_one_never_is() {
    let mut client = Client::start();
    let id = client.send("tools/call", &modern(json!({ "name": "slow", "arguments": { "seconds": 3600 } })));
    assert_eq!(client.call("echo", &json!({ "message": "still here" }))["result"]["isError"], false);
    client.notify("notifications/cancelled", &json!({ "requestId": id, "reason": "enough" }));
    client.notify("notifications/cancelled", &json!({ "requestId": "never sent" }));
    assert_eq!(client.log_line(), format!("mcpwire demo-server: request {id} was cancelled: enough\n"));
    // Answers are in order on one pipe: what follows is not the answer of the cancelled call.
    assert_eq!(client.call("echo", &json!({ "message": "" }))["result"]["isError"], false);
}

#[test]
fn the_end_of_input_ends_the_server_in_mid_call() {
    let mut client = Client::start();
    client.send("tools/call", &modern(json!({ "name": "slow", "arguments": { "seconds": 3600 } })));
    client.finish();
}

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

/// A legacy client whose user can be asked.
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
        // The same answer again belongs to nothing.
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

    // Who waits for the result is told of the end.
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

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
    });
    params
}

/// A client by hand, with the server on a thread at the other end of pipes.
struct Client {
    input: Option<PipeWriter>,
    messages: mpsc::Receiver<Value>,
    log: BufReader<PipeReader>,
    server: Option<JoinHandle<()>>,
    last_id: u64,
}

impl Client {
    fn start() -> Self {
        let (server_input, input) = pipe().expect("a pipe");
        let (output, server_output) = pipe().expect("a pipe");
        let (log, server_log) = pipe().expect("a pipe");
        let server = thread::spawn(move || {
            serve(BufReader::new(server_input), server_output, server_log).expect("the server serves");
        });
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let message = serde_json::from_str(&line.expect("the output is text")).expect("a line is JSON");
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self { input: Some(input), messages, log: BufReader::new(log), server: Some(server), last_id: 0 }
    }

    fn legacy(version: &str) -> Self {
        let mut client = Self::start();
        client.request("initialize", &json!({ "protocolVersion": version }));
        client.notify("notifications/initialized", &json!({}));
        client
    }

    fn line(&mut self, line: &str) {
        writeln!(self.input.as_ref().expect("the input is open"), "{line}").expect("the server reads");
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    fn receive(&mut self) -> Value {
        self.messages.recv_timeout(WATCHDOG).expect("a message in time")
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id);
        answer
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.request("tools/call", &modern(json!({ "name": name, "arguments": arguments })))
    }

    fn log_line(&mut self) -> String {
        let mut line = String::new();
        self.log.read_line(&mut line).expect("the log is text");
        line
    }

    /// Ends the input and waits for the server to end.
    fn finish(&mut self) {
        self.input = None;
        let server = self.server.take().expect("not finished before");
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || sender.send(server.join().is_ok()));
        assert!(ended.recv_timeout(WATCHDOG).expect("the server ends in time"));
    }
}
