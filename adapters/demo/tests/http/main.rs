//! Tests of the program over HTTP, with clients on plain sockets.

mod legacy;
mod limits;
mod modern;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// Maximum time to wait in a test. It is far longer than anything here takes, so only a failing test waits so long.
const WATCHDOG: Duration = Duration::from_secs(60);

/// A running `mcpwire-demo --http`, which is killed on drop.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    /// The lines of the server's standard error.
    log: mpsc::Receiver<String>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcpwire-demo"))
            .args(["--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut url).expect("the URL is text");
        let (sender, log) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, url: url.trim_end().to_owned(), log }
    }

    pub(crate) fn authority(&self) -> &str {
        let rest = self.url.strip_prefix("http://").expect("the URL is of HTTP");
        rest.strip_suffix("/mcp").expect("the URL names the endpoint")
    }

    pub(crate) fn connect(&self) -> Connection {
        let socket = TcpStream::connect(self.authority()).expect("the server listens");
        socket.set_read_timeout(Some(WATCHDOG)).expect("a socket has a timeout");
        Connection { input: BufReader::new(socket.try_clone().expect("a second handle")), socket }
    }

    /// Sends one request on a new connection.
    pub(crate) fn ask(&self, request: &Request) -> Answer {
        let mut connection = self.connect();
        connection.send(request);
        connection.answer()
    }

    pub(crate) fn log_line(&self) -> String {
        self.log.recv_timeout(WATCHDOG).expect("a line in time")
    }

    /// Opens a session as a legacy client. Returns the id of the session.
    pub(crate) fn session(&self, version: &str) -> String {
        let params = json!({ "protocolVersion": version, "capabilities": { "elicitation": {} } });
        let answer = self.ask(&post(&request(1, "initialize", &params)));
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["result"]["protocolVersion"], version);
        let session = answer.header("mcp-session-id").expect("a session").to_owned();
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.ask(&post(&initialized).header("Mcp-Session-Id", &session)).status, 202);
        session
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request to send.
#[derive(Clone)]
pub(crate) struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Request {
    pub(crate) fn new(method: &'static str) -> Self {
        Self { method, path: "/mcp".into(), headers: vec![("Host".into(), "localhost".into())], body: None }
    }

    pub(crate) fn path(mut self, path: &str) -> Self {
        self.path = path.into();
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        if let Some(body) = &self.body {
            head.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
        }
        let mut bytes = (head + "\r\n").into_bytes();
        bytes.extend(self.body.iter().flatten());
        bytes
    }
}

/// Returns a POST of a message, with the headers of every request.
pub(crate) fn post(message: &Value) -> Request {
    Request::new("POST")
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .body(message.to_string())
}

pub(crate) fn get() -> Request {
    Request::new("GET").header("Accept", "text/event-stream")
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Returns a modern message, whose body contains the revision.
pub(crate) fn modern(id: u64, method: &str, mut params: Value, capabilities: &Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
    });
    request(id, method, &params)
}

/// Returns a POST of a modern message, with the required headers.
pub(crate) fn modern_post(message: &Value) -> Request {
    let mut request = post(message)
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", message["method"].as_str().expect("a method"));
    for named in ["name", "uri", "taskId"] {
        if let Some(name) = message["params"][named].as_str() {
            request = request.header("Mcp-Name", name);
        }
    }
    request
}

pub(crate) struct Connection {
    socket: TcpStream,
    input: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn send(&mut self, request: &Request) {
        self.send_bytes(&request.to_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).expect("the server reads");
    }

    /// Sends a request to a server that may close the connection before it has read everything.
    pub(crate) fn try_send_bytes(&mut self, bytes: &[u8]) {
        let _ = self.socket.write_all(bytes);
    }

    /// Reads until the server closes the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.input.read_to_string(&mut rest).expect("text");
        rest
    }

    /// Reads the head of the next response.
    pub(crate) fn head(&mut self) -> Answer {
        let line = self.line().expect("a status line");
        let status = line
            .strip_prefix("HTTP/1.")
            .and_then(|rest| rest.split_once(' '))
            .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        let mut answer = Answer { status: status.expect("a status"), headers: Vec::new(), body: Vec::new() };
        while let Some(line) = self.line().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(": ").expect("a header");
            answer.headers.push((name.to_ascii_lowercase(), value.into()));
        }
        answer
    }

    /// Reads the next response with its body.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        if answer.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                answer.body.extend(chunk.into_bytes());
            }
        } else if let Some(length) = answer.header("content-length") {
            answer.body.resize(length.parse().expect("a length"), 0);
            self.input.read_exact(&mut answer.body).expect("the body");
        }
        answer
    }

    /// Reads the next chunk of a body. Returns `None` after the last.
    pub(crate) fn chunk(&mut self) -> Option<String> {
        let length = usize::from_str_radix(&self.line().expect("a chunk's length"), 16).expect("a number");
        let mut chunk = vec![0; length + 2];
        self.input.read_exact(&mut chunk).expect("a chunk");
        chunk.truncate(length);
        (length > 0).then(|| String::from_utf8(chunk).expect("events are text"))
    }

    /// Reads the next event of a stream. Returns `None` after its end.
    pub(crate) fn event(&mut self) -> Option<Event> {
        self.chunk().map(|chunk| Event::parse(&chunk))
    }

    /// Checks that the server has closed the connection.
    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(self.input.read(&mut [0]), Ok(0) | Err(_))
    }

    pub(crate) fn close(self) {
        self.socket.shutdown(Shutdown::Both).expect("it is open");
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.input.read_line(&mut line).expect("a line");
        line.strip_suffix("\r\n").map(str::to_owned)
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }
}

/// A server-sent event.
#[derive(Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) kind: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) data: String,
}

impl Event {
    fn parse(text: &str) -> Self {
        assert!(text.ends_with("\n\n"), "an event ends with an empty line: {text:?}");
        let field = |name: &str| text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim_start().to_owned()));
        Self { kind: field("event:"), id: field("id:"), data: field("data:").expect("an event has data") }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).expect("the data is JSON")
    }
}
