//! Tests of the server over pipes, as its client.

mod asks;
mod messages;
mod opening;
mod prompts_and_resources;
mod schema;
mod simulated_time;
mod subscriptions;
mod tasks;
mod tools;

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::{Log, serve};

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
