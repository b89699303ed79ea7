//! Tests a small server with generated clients, and shows how a planted bug is found and shrunk.
//!
//! ```text
//! cargo run -p mcpwire --example simulate_server
//! cargo run -p mcpwire --example simulate_server -- planted
//! ```
//!
//! The server adds numbers, one line of JSON a message, as over standard input and output. In a real project, [`Server`] would be in
//! `src`, and [`check`] a `#[test]`.

use mcpwire::testkit::simulation::{
    ClientScript, Exchange, Failure, Simulation, Transcript, client_script, serve_lines,
};
use mcpwire::{Json, Tool};
use serde_json::{Value, json};

/// A server with the tools `add`, which adds to a total, and `total`, which returns it.
#[derive(Default)]
struct Server {
    total: i64,
    /// Whether the server has the planted bug: a cancellation that comes too late cancels the next request.
    has_bug: bool,
    is_cancelled: bool,
}

fn tools() -> [Tool; 2] {
    let schema = json!({ "type": "object", "properties": { "number": { "type": "integer" } }, "required": ["number"] });
    [Tool::new("add", schema), Tool::new("total", json!({ "type": "object" }))]
}

impl Server {
    /// Returns the response to a message, or `None` if it needs none.
    fn answer(&mut self, line: &str) -> Option<String> {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            return Some(error(&Value::Null, -32700, "the message is not JSON"));
        };
        let (method, params) = (message["method"].as_str(), &message["params"]);
        let Some(id) = message.get("id") else {
            self.is_cancelled |= method == Some("notifications/cancelled");
            return None;
        };
        if self.has_bug && std::mem::take(&mut self.is_cancelled) {
            return None;
        }
        let result = match method {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "adds", "version": "1.0" },
            }),
            Some("ping") => json!({}),
            Some("tools/list") => json!({ "tools": tools() }),
            Some("tools/call") => match params["name"].as_str() {
                Some("add") => self.add(&params["arguments"]),
                Some("total") => text(&self.total.to_string(), false),
                _ => return Some(error(id, -32602, "no such tool")),
            },
            _ => return Some(error(id, -32601, "no such method")),
        };
        Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
    }

    fn add(&mut self, arguments: &Value) -> Value {
        let sum = arguments["number"].as_i64().and_then(|number| self.total.checked_add(number));
        match sum {
            Some(sum) => {
                self.total = sum;
                text("added", false)
            }
            None => text("`number` is missing, no integer, or too large", true),
        }
    }
}

fn text(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}

fn error(id: &Value, code: i32, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
}

/// Checks that the totals that the server returns are the sums of what was added. That each request is answered is checked by the
/// simulation.
fn totals_are_sums(transcript: &Transcript) -> Result<(), String> {
    let mut sum = 0_i64;
    for exchange in &transcript.exchanges {
        let Some(answer) = exchange.result().as_ref().and_then(text_of) else { continue };
        match exchange.tool().as_deref() {
            Some("add") if answer == "added" => sum += number(exchange),
            Some("total") if answer != sum.to_string() => {
                return Err(format!("the total is {answer} instead of {sum}"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn text_of(result: &Json) -> Option<String> {
    result.decode::<Value>().ok()?["content"][0]["text"].as_str().map(str::to_owned)
}

fn number(exchange: &Exchange) -> i64 {
    exchange.argument("number").and_then(|number| number.decode().ok()).unwrap_or_default()
}

fn check(has_bug: bool) -> Result<(), Failure<ClientScript>> {
    Simulation::new().find_server_fault(
        client_script(tools()),
        |reader, writer| {
            let mut server = Server { has_bug, ..Server::default() };
            serve_lines(reader, writer, move |line| server.answer(line))
        },
        totals_are_sums,
    )
}

fn main() {
    let has_bug = std::env::args().nth(1).is_some_and(|argument| argument == "planted");
    match check(has_bug) {
        Ok(()) => println!("no fault was found"),
        Err(failure) => println!("{failure}"),
    }
}

#[test]
fn the_server_passes() {
    check(false).unwrap();
}

#[test]
fn the_planted_bug_is_found_and_shrunk() {
    let failure = check(true).unwrap_err();
    println!("{failure}");
    // A request, its late cancellation, and the request that is not answered.
    assert_eq!(failure.script.steps.len(), 3, "{failure}");
    assert!(failure.reason.contains("has 0 responses"), "{failure}");
}
