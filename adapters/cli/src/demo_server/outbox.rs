//! The way out: whole messages, from any thread, to wherever they are carried.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::lock;

/// What brings messages to the client.
pub(super) trait Carrier: Send + Sync {
    /// Carries one whole message, or the connection is over.
    fn send(&self, message: &Value) -> io::Result<()>;

    /// A request has come in whose answer goes this way.
    fn expect(&self) {}

    /// One of those requests was given up: it is never answered.
    fn give_up(&self) {}
}

/// Where the answers to a request go, and what is said on the way to them.
#[derive(Clone)]
pub(super) struct Outbox {
    carrier: Arc<dyn Carrier>,
}

impl Outbox {
    pub(super) fn new(carrier: impl Carrier + 'static) -> Self {
        Self { carrier: Arc::new(carrier) }
    }

    /// A message a line.
    pub(super) fn lines(output: impl Write + Send + 'static) -> Self {
        Self::new(Lines(Mutex::new(output)))
    }

    pub(super) fn result(&self, id: &Value, result: &Value) -> io::Result<()> {
        self.carrier.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    pub(super) fn error(&self, id: &Value, code: i64, message: &str, data: Option<Value>) -> io::Result<()> {
        self.carrier.send(&error(id, code, message, data))
    }

    pub(super) fn request(&self, id: &str, method: &str, params: &Value) -> io::Result<()> {
        self.carrier.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    pub(super) fn notification(&self, method: &str, params: &Value) -> io::Result<()> {
        self.carrier.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    pub(super) fn expect(&self) {
        self.carrier.expect();
    }

    pub(super) fn give_up(&self) {
        self.carrier.give_up();
    }
}

/// A JSON-RPC error.
pub(super) fn error(id: &Value, code: i64, message: &str, data: Option<Value>) -> Value {
    let mut error = json!({ "code": code, "message": message });
    if let Some(data) = data {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

struct Lines<W>(Mutex<W>);

impl<W: Write + Send> Carrier for Lines<W> {
    fn send(&self, message: &Value) -> io::Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        let mut output = lock(&self.0);
        output.write_all(line.as_bytes())?;
        output.flush()
    }
}

/// What the server tells whoever runs it, a line at a time.
#[derive(Clone)]
pub(super) struct Log(Arc<Mutex<dyn Write + Send>>);

impl Log {
    pub(super) fn new(log: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(log)))
    }

    pub(super) fn line(&self, line: &str) {
        // Nobody is helped by a server that ends because nobody reads what it says.
        let _ = writeln!(lock(&self.0), "mcpwire demo-server: {line}");
    }
}
