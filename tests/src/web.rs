//! An HTTP server of the standard library that does what a test says, good and bad: it has no opinion of HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use mcpwire_driver::McpServerDef;
use serde_json::{Value, json};

/// What came of a client.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub verb: String,
    /// The target, as it stands in the request.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; `null` if there is none.
    pub body: Value,
}

impl Request {
    /// A header, if there is one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The method of the message in the body, or the HTTP method where there is none.
    pub fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.verb)
    }

    /// The answer to the message in the body.
    pub fn answer(&self, result: impl Into<Value>) -> Value {
        let result: Value = result.into();
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }
}

/// The way back to a client: bytes as the test wants them.
pub struct Reply<'c> {
    stream: &'c TcpStream,
    shared: &'c Shared,
    /// Nothing more can follow on this connection.
    is_last: bool,
    /// The connection is not to be ended as it should.
    is_reset: bool,
}

impl Reply<'_> {
    /// Writes bytes as they are. A client that has gone is no matter.
    pub fn raw(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    /// A whole response.
    pub fn full(&mut self, status: u16, headers: &str, body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        self.raw([head.as_bytes(), body].concat());
    }

    /// A response with JSON.
    pub fn json(&mut self, status: u16, body: &Value) {
        self.full(status, "Content-Type: application/json\r\n", body.to_string());
    }

    /// Begins a stream of events, in chunks.
    pub fn stream(&mut self) {
        self.raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    }

    /// One chunk. Whether the client is still there, as far as this side knows.
    pub fn chunk(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        let bytes = bytes.as_ref();
        self.raw([format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat())
    }

    /// One event with a message.
    pub fn event(&mut self, message: &Value) -> bool {
        self.chunk(format!("data: {message}\n\n"))
    }

    /// Ends a stream as it should.
    pub fn end(&mut self) {
        self.raw("0\r\n\r\n");
    }

    /// Ends the connection, whatever is still to come.
    pub fn cut(&mut self) {
        self.is_last = true;
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Says nothing more, and goes on to listen.
    pub fn close_half(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        self.until_closed();
    }

    /// Ends the connection in the rude way: what was sent may never arrive.
    pub fn reset(&mut self) {
        self.is_last = true;
        let _ = socket2::SockRef::from(self.stream).set_linger(Some(Duration::ZERO));
        self.is_reset = true;
    }

    /// Waits until the client closes the connection.
    pub fn until_closed(&mut self) {
        self.is_last = true;
        let _ = self.stream.read(&mut [0; 64]);
        self.shared.left.fetch_add(1, Ordering::SeqCst);
    }
}

/// A server that runs until it is dropped.
pub struct Web {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    open: AtomicUsize,
    most_open: AtomicUsize,
    left: AtomicUsize,
    is_over: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Web {
    /// Starts a server that answers each request so.
    ///
    /// # Panics
    ///
    /// When there is no port for it.
    pub fn start(answer: impl Fn(&Request, &mut Reply<'_>) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let address = listener.local_addr().expect("it has an address");
        let shared = Arc::new(Shared::default());
        let (of_thread, answer) = (Arc::clone(&shared), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                if of_thread.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (shared, answer) = (Arc::clone(&of_thread), Arc::clone(&answer));
                thread::spawn(move || serve(&stream, &shared, &*answer));
            }
        });
        Web { address, shared }
    }

    /// A server of 2026-07-28 with the tools of [`tools`], of which calls are answered so.
    pub fn modern(call: impl Fn(&Request, &mut Reply<'_>) + Send + Sync + 'static) -> Self {
        Web::start(move |request, reply| match request.method() {
            "server/discover" => {
                let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
                reply.json(200, &request.answer(result));
            }
            "tools/list" => reply.json(200, &request.answer(tools())),
            _ => call(request, reply),
        })
    }

    /// Such a server whose tool answers what it is told.
    pub fn echoing() -> Self {
        Web::modern(|request, reply| reply.json(200, &echo(request)))
    }

    /// A server of 2025-11-25 with a session.
    pub fn legacy(call: impl Fn(&Request, &mut Reply<'_>) + Send + Sync + 'static) -> Self {
        Web::start(move |request, reply| match request.method() {
            "server/discover" => reply.full(400, "", "no session"),
            "initialize" => {
                let info = json!({"name": "legacy", "version": "1"});
                let result =
                    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info});
                let headers = "Content-Type: application/json\r\nMcp-Session-Id: s1\r\n";
                reply.full(200, headers, request.answer(result).to_string());
            }
            "notifications/initialized" | "notifications/cancelled" => reply.full(202, "", ""),
            "tools/list" => reply.json(200, &request.answer(tools())),
            "GET" => reply.full(405, "", ""),
            "DELETE" => reply.full(204, "", ""),
            _ => call(request, reply),
        })
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// How a client comes to it.
    pub fn def(&self) -> McpServerDef {
        McpServerDef::http(self.url())
    }

    /// What has come so far.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// How many requests of this method have come so far.
    pub fn count(&self, method: &str) -> usize {
        lock(&self.shared.requests).iter().filter(|request| request.method() == method).count()
    }

    /// How often a client has closed a connection that a reply waited on.
    pub fn left(&self) -> usize {
        self.shared.left.load(Ordering::SeqCst)
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// How many connections there were at the same time.
    pub fn most_open(&self) -> usize {
        self.shared.most_open.load(Ordering::SeqCst)
    }
}

impl Web {
    /// Ends at once, with all its connections; nobody listens any more.
    pub fn die(&self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        for stream in lock(&self.shared.streams).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes who listens, and waits until that is over.
        drop(TcpStream::connect(self.address));
        while TcpStream::connect(self.address).is_ok() {
            thread::yield_now();
        }
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.die();
    }
}

/// One tool that takes anything.
pub fn tools() -> Value {
    json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "tools": [{"name": "echo", "inputSchema": {"type": "object"}}]
    })
}

/// The answer of a tool that repeats the argument `message`.
pub fn echo(request: &Request) -> Value {
    request.answer(said(request.body["params"]["arguments"]["message"].as_str().unwrap_or("nothing")))
}

/// What a tool says.
pub fn said(text: &str) -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

fn serve(stream: &TcpStream, shared: &Shared, answer: &dyn Fn(&Request, &mut Reply<'_>)) {
    let _ = stream.set_nodelay(true);
    lock(&shared.streams).extend(stream.try_clone());
    // This thread may have started only after `die` closed the streams that it knew.
    if shared.is_over.load(Ordering::SeqCst) {
        let _ = stream.shutdown(Shutdown::Both);
        return;
    }
    shared.connections.fetch_add(1, Ordering::SeqCst);
    let open = shared.open.fetch_add(1, Ordering::SeqCst) + 1;
    shared.most_open.fetch_max(open, Ordering::SeqCst);
    let mut reader = BufReader::new(stream);
    let mut is_reset = false;
    while let Some(request) = read(&mut reader) {
        lock(&shared.requests).push(request.clone());
        let mut reply = Reply { stream, shared, is_last: false, is_reset: false };
        answer(&request, &mut reply);
        is_reset = reply.is_reset;
        if reply.is_last {
            break;
        }
    }
    if is_reset {
        // The last handle that is closed resets it.
        lock(&shared.streams).retain(|other| other.peer_addr().ok() != stream.peer_addr().ok());
    } else {
        let _ = stream.shutdown(Shutdown::Both);
    }
    shared.open.fetch_sub(1, Ordering::SeqCst);
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let first = line(reader)?;
    let mut words = first.split(' ');
    let (verb, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let line = line(reader)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(Some(0), |(_, n)| n.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { verb, path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    line.ends_with('\n').then(|| line.trim_end().to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
