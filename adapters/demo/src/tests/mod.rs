//! Tests of the server over pipes, as its client: how connections open, and what becomes of messages.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Log, serve};

mod calls;
mod resources_and_prompts;
mod schema;

/// Maximum time to wait in a test. It is far longer than anything here takes, so only a failing test waits so long.
const WATCHDOG: Duration = Duration::from_secs(60);

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
    });
    params
}

/// A simple client, connected by pipes to the server on another thread.
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
            serve(BufReader::new(server_input), server_output, Log::new("demo", server_log))
                .expect("the server serves");
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

    /// Closes the input, and waits until the server has ended.
    fn finish(&mut self) {
        self.input = None;
        let server = self.server.take().expect("not finished before");
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || sender.send(server.join().is_ok()));
        assert!(ended.recv_timeout(WATCHDOG).expect("the server ends in time"));
    }
}

// Opening.

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
    let features = json!({
        "tools": {}, "prompts": {}, "resources": { "subscribe": true }, "completions": {}, "extensions": tasks,
    });
    assert_eq!(result["capabilities"], features);
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

// Messages.

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
