//! The way out: whole messages, one a line, from any thread.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

/// A shared writer of JSON-RPC messages. A message is written whole, or the connection is over.
#[derive(Clone)]
pub(super) struct Outbox {
    output: Arc<Mutex<dyn Write + Send>>,
}

impl Outbox {
    pub(super) fn new(output: impl Write + Send + 'static) -> Self {
        Self { output: Arc::new(Mutex::new(output)) }
    }

    pub(super) fn result(&self, id: &Value, result: &Value) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    pub(super) fn error(&self, id: &Value, code: i64, message: &str, data: Option<Value>) -> io::Result<()> {
        let mut error = json!({ "code": code, "message": message });
        if let Some(data) = data {
            error["data"] = data;
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
    }

    pub(super) fn request(&self, id: &str, method: &str, params: &Value) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    pub(super) fn notification(&self, method: &str, params: &Value) -> io::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    fn send(&self, message: &Value) -> io::Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write_all(line.as_bytes())?;
        output.flush()
    }
}
