//! `mcpwire demo-server`: a small MCP server on standard input and output or over HTTP, in both eras of the protocol.
//!
//! It is written by hand on `serde_json`, without the client's own code: the two ends check each other. Everything that
//! it answers at once is answered on the reading thread; each call of `slow` has a thread of its own, so that other
//! requests are served meanwhile. It ends when its input ends, whatever is still running; over HTTP it does not end.

mod asks;
mod base64;
mod http;
mod outbox;
mod revision;
mod slow;
mod tasks;
mod tools;

#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use self::asks::Asks;
use self::outbox::{Log, Outbox};
use self::revision::Revision;
use self::slow::SlowCalls;
use self::tasks::Tasks;
use self::tools::Outcome;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

const INSTRUCTIONS: &str = "A server to try a client on. `echo` and `add` answer at once, `slow` takes its time, \
                            reports progress and can become a task, `fail` reports an error, `weather` invents its data, \
                            `greet` asks the user who they are.";

/// Serves standard input until it ends.
pub(crate) fn run() -> io::Result<()> {
    serve(io::stdin().lock(), io::stdout(), io::stderr())
}

/// Serves HTTP at this address for as long as the process lives. The first line on standard output is the URL.
pub(crate) fn run_http(address: SocketAddr) -> io::Result<()> {
    http::run(address, io::stdout(), Log::new(io::stderr()))
}

/// Serves one client, a JSON-RPC message a line, until `input` ends or `output` is gone.
fn serve(
    mut input: impl BufRead,
    output: impl Write + Send + 'static,
    log: impl Write + Send + 'static,
) -> io::Result<()> {
    let mut server = Server::new(Log::new(log), Arc::default());
    let outbox = Outbox::lines(output);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let received = server.receive(line.trim_ascii(), &outbox);
        line.clear();
        match received {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            other => other?,
        }
    }
    Ok(())
}

/// The server as one client sees it, however its messages are carried.
struct Server {
    slow_calls: SlowCalls,
    asks: Asks,
    /// Over HTTP, all clients of the modern era share them: each of their requests has a server of its own.
    tasks: Arc<Mutex<Tasks>>,
    /// What `initialize` agreed on; `None` until a legacy client has shaken hands.
    negotiated: Option<Revision>,
    /// Whether a legacy client has said that its user can be asked.
    can_be_asked: bool,
}

/// What becomes of a request: an answer now, or one that a thread sends later.
enum Answer {
    Now(Value),
    Later,
}

/// A request that fails as a request: a JSON-RPC error.
#[derive(Debug)]
struct Failure {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Failure {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

impl Server {
    fn new(log: Log, tasks: Arc<Mutex<Tasks>>) -> Self {
        Self { slow_calls: SlowCalls::new(log), asks: Asks::default(), tasks, negotiated: None, can_be_asked: false }
    }

    fn receive(&mut self, line: &[u8], outbox: &Outbox) -> io::Result<()> {
        if line.is_empty() {
            return Ok(());
        }
        match serde_json::from_slice(line) {
            Ok(received) => self.take(&received, outbox),
            Err(error) => refuse(outbox, &Value::Null, Failure::new(PARSE_ERROR, format!("not JSON: {error}"))),
        }
    }

    /// Takes a message or a batch. What comes of it goes out by `outbox`, now or later.
    fn take(&mut self, received: &Value, outbox: &Outbox) -> io::Result<()> {
        match received {
            Value::Array(batch) => self.batch(batch, outbox),
            message => self.message(message, outbox),
        }
    }

    /// Batches exist where the negotiated revision has them. Each entry is answered on its own: a slow call must not
    /// hold up the others.
    fn batch(&mut self, batch: &[Value], outbox: &Outbox) -> io::Result<()> {
        let known = self.negotiated.is_some_and(Revision::has_batches);
        if !known || batch.is_empty() {
            let failure = Failure::new(INVALID_REQUEST, "a message is one JSON object");
            return refuse(outbox, &Value::Null, failure);
        }
        batch.iter().try_for_each(|message| self.message(message, outbox))
    }

    fn message(&mut self, message: &Value, outbox: &Outbox) -> io::Result<()> {
        let no_params = Map::new();
        let method = message.get("method").and_then(Value::as_str);
        let params = match message.get("params") {
            None => Some(&no_params),
            Some(params) => params.as_object(),
        };
        match (method, message.get("id")) {
            (Some(method), None) => self.notification(method, params.unwrap_or(&no_params)),
            (Some(method), Some(id)) if id.is_string() || id.is_i64() || id.is_u64() => {
                outbox.expect();
                let answer = params
                    .ok_or_else(|| Failure::new(INVALID_PARAMS, "params must be an object"))
                    .and_then(|params| self.request(method, params, id, outbox));
                match answer {
                    Ok(Answer::Now(result)) => outbox.result(id, &result),
                    Ok(Answer::Later) => Ok(()),
                    Err(failure) => refuse(outbox, id, failure),
                }
            }
            (None, Some(_)) if message.get("result").is_some() || message.get("error").is_some() => {
                self.asks.answered(message)
            }
            _ => {
                let failure = Failure::new(INVALID_REQUEST, "a request has a method and a string or integer id");
                refuse(outbox, &Value::Null, failure)
            }
        }
    }

    /// The client has gone for good.
    fn end(&mut self) {
        self.slow_calls.cancel_all();
        self.asks = Asks::default();
    }

    fn notification(&mut self, method: &str, params: &Map<String, Value>) -> io::Result<()> {
        if method == "notifications/cancelled"
            && let Some(id) = params.get("requestId")
        {
            self.slow_calls.cancel(id, params.get("reason").and_then(Value::as_str));
            return self.asks.cancel(id);
        }
        Ok(())
    }

    fn request(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
        id: &Value,
        outbox: &Outbox,
    ) -> Result<Answer, Failure> {
        if method == "initialize" {
            return self.initialize(params).map(Answer::Now);
        }
        let revision = revision::of_request(self.negotiated, method, params)?;
        match method {
            "ping" if !revision.is_modern() => Ok(Answer::Now(json!({}))),
            "server/discover" if revision.is_modern() => {
                let discovered = json!({
                    "supportedVersions": Revision::ALL.map(Revision::as_str),
                    "capabilities": capabilities(revision),
                    "instructions": INSTRUCTIONS,
                });
                Ok(Answer::Now(revision.cacheable(discovered)))
            }
            "tools/list" => {
                if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
                    return Err(Failure::new(INVALID_PARAMS, "unknown cursor: the tools fit on one page"));
                }
                Ok(Answer::Now(revision.cacheable(json!({ "tools": tools::list(revision) }))))
            }
            "tools/call" => self.call(revision, params, id, outbox),
            "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/update" => {
                lock(&self.tasks).request(method, revision, params, id, outbox)
            }
            _ => Err(Failure::new(METHOD_NOT_FOUND, format!("method not found: {method}"))),
        }
    }

    fn initialize(&mut self, params: &Map<String, Value>) -> Result<Value, Failure> {
        if self.negotiated.is_some() {
            return Err(Failure::new(INVALID_REQUEST, "already initialized"));
        }
        let requested = params
            .get("protocolVersion")
            .and_then(Value::as_str)
            .ok_or_else(|| Failure::new(INVALID_PARAMS, "protocolVersion must be a string"))?;
        let revision = Revision::negotiate(requested);
        self.negotiated = Some(revision);
        self.can_be_asked = asks::can_be_asked(params.get("capabilities"));
        Ok(json!({
            "protocolVersion": revision.as_str(),
            "capabilities": capabilities(revision),
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        }))
    }

    fn call(
        &mut self,
        revision: Revision,
        params: &Map<String, Value>,
        id: &Value,
        outbox: &Outbox,
    ) -> Result<Answer, Failure> {
        let name = params
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| Failure::new(INVALID_PARAMS, "name must be a string"))?;
        let no_arguments = Map::new();
        let arguments = match params.get("arguments") {
            None => &no_arguments,
            Some(arguments) => {
                arguments.as_object().ok_or_else(|| Failure::new(INVALID_PARAMS, "arguments must be an object"))?
            }
        };
        match tools::call(name, arguments)? {
            Outcome::Done(output) => Ok(Answer::Now(output.into_result(revision))),
            Outcome::Greet if revision.is_modern() => {
                if asks::can_be_asked(revision::client_capabilities(params)) {
                    return asks::modern(params, revision).map(Answer::Now);
                }
                Ok(Answer::Now(asks::cannot_be_asked().into_result(revision)))
            }
            Outcome::Greet if !self.can_be_asked => Ok(Answer::Now(asks::cannot_be_asked().into_result(revision))),
            Outcome::Greet => {
                // A client that is gone ends the server through its input.
                let _ = self.asks.ask(outbox, id, revision);
                Ok(Answer::Later)
            }
            Outcome::Slow(length) if tasks::is_wanted(revision, params) => {
                Ok(Answer::Now(lock(&self.tasks).create(revision, length)))
            }
            Outcome::Slow(length) => {
                let token = params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned();
                self.slow_calls.start(outbox.clone(), revision, id.clone(), token, length);
                Ok(Answer::Later)
            }
        }
    }
}

fn refuse(outbox: &Outbox, id: &Value, failure: Failure) -> io::Result<()> {
    outbox.error(id, failure.code, &failure.message, failure.data)
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn capabilities(revision: Revision) -> Value {
    match revision {
        Revision::V2026_07_28 => json!({ "tools": {}, "extensions": { tasks::EXTENSION: {} } }),
        Revision::V2025_11_25 => {
            json!({ "tools": {}, "tasks": { "cancel": {}, "requests": { "tools": { "call": {} } } } })
        }
        _ => json!({ "tools": {} }),
    }
}

fn server_info() -> Value {
    json!({ "name": "mcpwire-demo", "title": "mcpwire demo server", "version": env!("CARGO_PKG_VERSION") })
}
