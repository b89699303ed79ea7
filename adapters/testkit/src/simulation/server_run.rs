//! [`Transcript`]: what a server under test has answered to a script.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;

use futures_io::{AsyncRead, AsyncWrite};
use mcpwire_driver::memory::{PipeReader, PipeWriter, duplex};
use mcpwire_driver::protocol::{CallToolResult, Json};
use serde_json::{Value, json};

use super::client_script::{ClientScript, ClientStep};
use crate::VirtualTime;

/// Number of bytes that fit into a pipe, as on Linux.
const PIPE_CAPACITY: usize = 64 * 1024;

/// The beginning of the id of each request.
const ID_PREFIX: &str = "request-";

/// What a client has sent to a server, and what the server has answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Transcript {
    /// The requests of the client, in order, with their responses. The first is `initialize`.
    pub exchanges: Vec<Exchange>,
    /// The lines of the server that are no responses to these requests.
    pub other_lines: Vec<String>,
}

/// A request of a client, and its responses.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Exchange {
    /// The method of the request.
    pub method: String,
    /// The parameters of the request.
    pub params: Json,
    /// Whether the client has cancelled the request. The server then may leave it unanswered.
    pub is_cancelled: bool,
    /// The messages of the server with the id of the request. A correct server sends one.
    pub responses: Vec<Json>,
}

impl Exchange {
    /// Returns the result of the request, or `None` if the server has sent an error or nothing.
    pub fn result(&self) -> Option<Json> {
        self.responses.first()?.member("result")
    }

    /// Returns the argument `name` of a tool call.
    pub fn argument(&self, name: &str) -> Option<Json> {
        self.params.member::<Json>("arguments")?.member(name)
    }

    /// Returns the name of the tool that the request calls, or `None` if it calls none.
    pub fn tool(&self) -> Option<String> {
        if self.method == "tools/call" { self.params.member("name") } else { None }
    }
}

impl Transcript {
    /// Checks what the protocol asks of all servers: each line is a message of JSON-RPC, and each request that is not cancelled has
    /// exactly one response, with a result or an error. Results of `tools/call` have the shape of the specification.
    ///
    /// # Errors
    /// With the first violation.
    pub fn check_protocol(&self) -> Result<(), String> {
        for line in &self.other_lines {
            let message = Json::parse(&**line).map_err(|error| format!("the line {line:?} is not JSON: {error}"))?;
            // A response to none of the requests may answer a line that was nearly a request.
            let is_message = ["method", "result", "error"].iter().any(|name| message.member::<Json>(name).is_some());
            if !is_message {
                return Err(format!("the line {line:?} is no message"));
            }
        }
        for exchange in &self.exchanges {
            let Exchange { method, params, is_cancelled, responses } = exchange;
            let place = || format!("the request {method} {params}");
            match &**responses {
                [] if *is_cancelled => {}
                [response] => {
                    if response.member::<String>("jsonrpc").as_deref() != Some("2.0") {
                        return Err(format!("{} has the response {response} without `jsonrpc`", place()));
                    }
                    let parts = ["result", "error"].map(|name| response.member::<Json>(name).is_some());
                    if parts[0] == parts[1] {
                        return Err(format!("{} has the response {response}", place()));
                    }
                    let result = exchange.result().filter(|_| method == "tools/call");
                    let is_bad = |result: &Json| {
                        result.decode::<CallToolResult>().map_or(true, |result| result.without_content.is_some())
                    };
                    if let Some(result) = result.filter(is_bad) {
                        return Err(format!("{} has the result {result}, which is none of a tool", place()));
                    }
                }
                responses => return Err(format!("{} has {} responses", place(), responses.len())),
            }
        }
        Ok(())
    }
}

/// Runs a script against a server.
pub(super) async fn transcript<F: Future<Output = ()> + Send + 'static>(
    script: &ClientScript,
    time: &VirtualTime,
    serve: &impl Fn(PipeReader, PipeWriter) -> F,
) -> Result<Transcript, String> {
    let (ours, theirs) = duplex(PIPE_CAPACITY);
    let (mut reader, mut writer) = (ours.reader, ours.writer);
    let mut transcript = Transcript { exchanges: Vec::new(), other_lines: Vec::new() };
    let (mut server, mut is_served) = (Box::pin(serve(theirs.reader, theirs.writer)), false);
    let mut received = Vec::new();
    let mut client = Box::pin(async {
        send_all(script, time, &mut writer, &mut transcript).await;
        drop(writer);
    });
    let mut is_sent = false;
    // All three are polled together, because the pipes are bounded.
    poll_fn(|cx| {
        if !is_served {
            is_served = server.as_mut().poll(cx).is_ready();
        }
        if !is_sent {
            is_sent = client.as_mut().poll(cx).is_ready();
        }
        let mut chunk = [0; 4096];
        loop {
            match Pin::new(&mut reader).poll_read(cx, &mut chunk) {
                std::task::Poll::Ready(Ok(n)) if n > 0 => received.extend_from_slice(&chunk[..n]),
                std::task::Poll::Ready(_) => {
                    // The server has closed its end, so nobody reads the rest.
                    return std::task::Poll::Ready(());
                }
                std::task::Poll::Pending if is_served && is_sent => return std::task::Poll::Ready(()),
                std::task::Poll::Pending => return std::task::Poll::Pending,
            }
        }
    })
    .await;
    drop(client);
    sort(&mut transcript, &received);
    Ok(transcript)
}

/// Sends the opening and the steps.
async fn send_all(script: &ClientScript, time: &VirtualTime, writer: &mut PipeWriter, transcript: &mut Transcript) {
    let info = json!({ "name": "simulation", "version": "1" });
    let params = json!({ "protocolVersion": script.version.as_str(), "capabilities": {}, "clientInfo": info });
    let opening = [
        ClientStep::Request { method: "initialize".into(), params: params.into() },
        ClientStep::Notify { method: "notifications/initialized".into(), params: json!({}).into() },
    ];
    let mut sizes = script.chunk_sizes.iter().copied().cycle();
    for step in opening.iter().chain(&script.steps) {
        let line = match step {
            ClientStep::Request { method, params } => {
                let id = id(transcript.exchanges.len());
                let (method, params) = (method.clone(), params.clone());
                let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": value(&params) });
                transcript.exchanges.push(Exchange { method, params, is_cancelled: false, responses: Vec::new() });
                line.to_string()
            }
            ClientStep::Notify { method, params } => {
                json!({ "jsonrpc": "2.0", "method": method, "params": value(params) }).to_string()
            }
            ClientStep::Cancel => {
                let last = transcript.exchanges.len() - 1;
                // `initialize` must not be cancelled.
                if last == 0 {
                    continue;
                }
                transcript.exchanges[last].is_cancelled = true;
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id(last) } })
                    .to_string()
            }
            ClientStep::Garbage(line) => line.clone(),
            ClientStep::Wait(duration) => {
                time.sleep(*duration).await;
                continue;
            }
        };
        let mut bytes = line.as_bytes().to_vec();
        bytes.push(b'\n');
        let mut rest = &*bytes;
        while !rest.is_empty() {
            let size = sizes.next().unwrap_or(rest.len()).clamp(1, rest.len());
            let (chunk, after) = rest.split_at(size);
            if write_all(writer, chunk).await.is_err() {
                return;
            }
            rest = after;
            // Lets the server read a chunk before the next one is sent.
            yield_now().await;
        }
    }
}

/// Returns the id of a request. A text, because lines that are nearly requests may have any number.
fn id(index: usize) -> String {
    format!("{ID_PREFIX}{index}")
}

fn value(json: &Json) -> Value {
    json.decode().unwrap_or_default()
}

/// Assigns the lines of the server to the requests.
fn sort(transcript: &mut Transcript, received: &[u8]) {
    let text = String::from_utf8_lossy(received);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let message = Json::parse(line).ok();
        let id = message.as_ref().and_then(|message| message.member::<String>("id"));
        let index = id.and_then(|id| id.strip_prefix(ID_PREFIX)?.parse::<usize>().ok());
        let is_response = message.as_ref().is_some_and(|message| message.member::<String>("method").is_none());
        match (message, index.filter(|_| is_response).and_then(|index| transcript.exchanges.get_mut(index))) {
            (Some(message), Some(exchange)) => exchange.responses.push(message),
            _ => transcript.other_lines.push(line.to_owned()),
        }
    }
}

/// Serves a connection with a function that returns the response to a line, or `None` if the line needs none.
///
/// ```
/// use mcpwire_testkit::simulation::{Simulation, client_script, serve_lines};
///
/// // A server that refuses everything.
/// fn answer(line: &str) -> Option<String> {
///     let message: serde_json::Value = serde_json::from_str(line).ok()?;
///     let id = message.get("id")?;
///     let error = serde_json::json!({"code": -32601, "message": "no such method"});
///     Some(serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string())
/// }
///
/// Simulation::new().cases(20).check_server(
///     client_script([]),
///     |reader, writer| serve_lines(reader, writer, answer),
///     |_| Ok::<(), String>(()),
/// );
/// ```
pub async fn serve_lines(
    mut reader: PipeReader,
    mut writer: PipeWriter,
    mut answer: impl FnMut(&str) -> Option<String>,
) {
    let (mut input, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let read = poll_fn(|cx| Pin::new(&mut reader).poll_read(cx, &mut chunk)).await;
        let Ok(n @ 1..) = read else { return };
        input.extend_from_slice(&chunk[..n]);
        while let Some(end) = input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = input.drain(..=end).collect();
            let response = answer(String::from_utf8_lossy(&line).trim_end());
            if let Some(response) = response
                && write_all(&mut writer, format!("{response}\n").as_bytes()).await.is_err()
            {
                return;
            }
        }
    }
}

async fn write_all(writer: &mut PipeWriter, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let n = poll_fn(|cx| Pin::new(&mut *writer).poll_write(cx, bytes)).await?;
        if n == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[n..];
    }
    Ok(())
}

/// Returns to the executor once.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_yielded, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
