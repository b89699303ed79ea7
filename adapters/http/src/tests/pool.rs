//! Tests of connection reuse, with servers of the standard library, and of HTTP/2 connections whose server is silent.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use mcpwire_testkit::VirtualTime;

use super::simulated_time::{VirtualNet, VirtualSocket};
use super::*;
use crate::connection::{HttpConnection, SendFailure};

/// A server without TLS.
struct PlainServer {
    url: String,
    connections: Arc<AtomicUsize>,
    /// Receives a message at the end of each connection.
    ended: Mutex<Receiver<()>>,
}

/// Starts a server that runs `handle` for each connection, on a new thread.
fn plain_server(handle: impl Fn(TcpStream) + Send + Sync + 'static) -> PlainServer {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let (connections, handle): (Arc<AtomicUsize>, _) = (Arc::default(), Arc::new(handle));
    let (counted, (sender, ended)) = (Arc::clone(&connections), channel());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            counted.fetch_add(1, Ordering::SeqCst);
            let (handle, sender): (_, Sender<()>) = (Arc::clone(&handle), sender.clone());
            thread::spawn(move || {
                handle(stream);
                let _ = sender.send(());
            });
        }
    });
    PlainServer { url, connections, ended: Mutex::new(ended) }
}

/// Reads requests until the client closes the connection, and answers each with these headers.
fn answer_all(stream: &TcpStream, headers: &str) {
    let mut reader = BufReader::new(stream);
    while let Some(length) = read_head(&mut reader) {
        if std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink()).is_err() {
            return;
        }
        let answer = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 5\r\n\r\nhello");
        if (&mut &*stream).write_all(answer.as_bytes()).is_err() || headers.contains("close") {
            return;
        }
    }
}

/// Reads the head of a request. Returns the length of the body, or `None` at the end of the connection.
fn read_head(reader: &mut impl BufRead) -> Option<u64> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_ascii_lowercase();
        match line.strip_prefix("content-length:") {
            Some(value) => length = value.trim().parse().ok()?,
            None if line.is_empty() => return Some(length),
            None => {}
        }
    }
}

#[test]
fn consecutive_requests_use_one_connection() {
    let server = plain_server(|stream| answer_all(&stream, ""));
    let client = client(ClientOptions::default());
    for _ in 0..200 {
        assert_eq!(block_on(fetch(&client, &server.url)).unwrap(), "hello");
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

#[test]
fn a_connection_that_the_server_closes_is_replaced() {
    let server = plain_server(|stream| answer_all(&stream, "Connection: close\r\n"));
    let client = client(ClientOptions::default());
    for _ in 0..5 {
        assert_eq!(block_on(fetch(&client, &server.url)).unwrap(), "hello");
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 5);
}

#[test]
fn idle_connections_are_closed_after_their_timeout() {
    let server = plain_server(|stream| answer_all(&stream, ""));
    let client = client(ClientOptions { idle_timeout: Duration::from_millis(1), ..ClientOptions::default() });
    for _ in 0..3 {
        assert_eq!(block_on(fetch(&client, &server.url)).unwrap(), "hello");
        server.ended.lock().unwrap().recv().unwrap();
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 3);
}

#[test]
fn dropping_a_client_closes_its_connections() {
    let server = plain_server(|stream| answer_all(&stream, ""));
    let client = client(ClientOptions::default());
    block_on(fetch(&client, &server.url)).unwrap();
    drop(client);
    server.ended.lock().unwrap().recv().unwrap();
}

#[test]
fn dropping_a_response_closes_its_connection() {
    let server = plain_server(|stream| {
        read_head(&mut BufReader::new(&stream));
        (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\nhello").unwrap();
        while (&stream).read(&mut [0; 4096]).is_ok_and(|n| n > 0) {}
    });
    let client = client(ClientOptions::default());
    drop(block_on(client.send(exchange(&server.url))).unwrap());
    server.ended.lock().unwrap().recv().unwrap();
}

#[test]
fn a_server_that_answers_before_it_has_read_the_request_blocks_no_other_request() {
    let (is_over, until_over) = channel::<()>();
    let until_over = Mutex::new(until_over);
    let is_first = std::sync::atomic::AtomicBool::new(true);
    let server = plain_server(move |stream| {
        if is_first.swap(false, Ordering::SeqCst) {
            read_head(&mut BufReader::with_capacity(1024, &stream));
            (&stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nenough").unwrap();
            let _ = until_over.lock().unwrap().recv();
        } else {
            answer_all(&stream, "");
        }
    });
    let client = client(ClientOptions::default());
    let mut long = exchange(&server.url);
    long.body.resize(32 << 20, b' ');
    assert_eq!(block_on(send(&client, long)).unwrap(), "enoug");
    assert_eq!(block_on(fetch(&client, &server.url)).unwrap(), "hello");
    assert_eq!(server.connections.load(Ordering::SeqCst), 2);
    drop(is_over);
}

// HTTP/2 connections whose server is silent.

#[test]
fn a_dead_connection_fails_its_requests_before_their_default_timeout() {
    let time = VirtualTime::new();
    let net: Arc<dyn Net> = Arc::new(VirtualNet::new(&time));
    let failure = time.run(async {
        let io = Io {
            socket: Box::pin(VirtualSocket::silent()),
            meter: Meter::default(),
            is_http2: true,
            is_proxied: false,
        };
        let mut connection = HttpConnection::handshake(io, &net, 64 * 1024).await.map_err(SendFailure::Failed)?;
        let mut request = http::Request::new(FullBody(Bytes::new()));
        *request.uri_mut() = http::Uri::from_static("https://localhost/mcp");
        connection.send(request).await.map(drop)
    });
    let failure = failure.expect_err("nothing arrives").into_failure();
    assert_eq!(failure.kind, FailureKind::Broken);
    assert!(failure.detail.contains("keep-alive timed out"), "{failure}");
    assert_eq!(time.elapsed(), Duration::from_secs(25));
    assert!(time.elapsed() < Config::new("test", "1").request_timeout);
}

/// A runtime that shortens timers of at least this number of seconds to a hundredth.
struct Fast(u64);

impl Runtime for Fast {
    fn spawn(&self, task: TaskFuture) {
        Threads.spawn(task);
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(FastTimer(Threads.timer(), self.0))
    }

    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> std::io::Result<Streams> {
        Threads.pipes(pipes, exit)
    }
}

impl Net for Fast {
    fn resolve(&self, host: String, port: u16) -> ResolveFuture {
        Threads.resolve(host, port)
    }

    fn connect_tcp(&self, address: SocketAddr) -> ConnectFuture {
        Threads.connect_tcp(address)
    }
}

struct FastTimer(Box<dyn Timer>, u64);

impl Timer for FastTimer {
    fn reset(&mut self, after: Duration) {
        self.0.reset(if after.as_secs() >= self.1 { after / 100 } else { after });
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll(cx)
    }
}

#[test]
fn requests_to_a_silent_server_fail_after_the_keep_alive_timeout() {
    let server = with_connections(&["h2"], |_| {
        block_on(std::future::pending::<()>());
    });
    let mut options = trusting(&server);
    options.connect_timeout = Duration::from_secs(3600);
    options.handshake_timeout = Duration::from_secs(3600);
    let client = Client::new(Arc::new(Fast(0)), options).unwrap();
    let failure = block_on(fetch(&client, &server.url)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Broken);
    assert!(failure.detail.contains("keep-alive timed out"), "{failure}");
}

#[test]
fn a_connection_that_was_idle_for_longer_is_reused() {
    let server = tls_server(&["h2"]);
    let client = Client::new(Arc::new(Fast(11)), trusting(&server)).unwrap();
    for _ in 0..3 {
        assert_eq!(block_on(fetch(&client, &server.url)).unwrap(), "HTTP/2.0");
        thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}
