//! Tests of HTTP/2, TLS and proxies with hyper servers.

mod happy_eyeballs;
mod meter;
mod pool;
mod simulated_time;
mod tls;

use std::convert::Infallible;
use std::future::poll_fn;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use async_io::{Async, block_on};
use bytes::Bytes;
use futures_rustls::TlsAcceptor;
use futures_rustls::pki_types::PrivateKeyDer;
use futures_rustls::rustls::ServerConfig;
use futures_rustls::rustls::crypto::ring;
use http::Response;
use hyper::service::service_fn;
use mcpwire_driver::http::{ConnectFuture, HttpClient, Net, ResolveFuture, Socket};
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::protocol::http::{Command, Engine, Exchange, Failure, FailureKind, Settings};
use mcpwire_driver::protocol::{Config, Timestamp};
use mcpwire_driver::{Clock, Runtime, Streams, TaskFuture, Timer};

use crate::connection::FullBody;
use crate::io::Io;
use crate::meter::Meter;
use crate::{Client, ClientOptions};

/// A runtime with a thread for each task.
struct Threads;

impl Runtime for Threads {
    fn spawn(&self, task: TaskFuture) {
        thread::spawn(move || block_on(task));
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(IoTimer(async_io::Timer::never()))
    }

    fn pipes(&self, _: Pipes, _: Option<ExitHandle>) -> std::io::Result<Streams> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

impl Net for Threads {
    fn resolve(&self, host: String, port: u16) -> ResolveFuture {
        Box::pin(async move { Ok((host, port).to_socket_addrs()?.collect()) })
    }

    fn connect_tcp(&self, address: SocketAddr) -> ConnectFuture {
        Box::pin(async move { Ok(Box::pin(Async::<TcpStream>::connect(address).await?) as Socket) })
    }
}

struct IoTimer(async_io::Timer);

impl Timer for IoTimer {
    fn reset(&mut self, after: Duration) {
        self.0.set_after(after);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(drop)
    }
}

fn client(options: ClientOptions) -> Client {
    Client::new(Arc::new(Threads), options).unwrap()
}

#[derive(Clone)]
struct ThreadExecutor;

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for ThreadExecutor {
    fn execute(&self, task: F) {
        Threads.spawn(Box::pin(task));
    }
}

/// A TLS server on localhost.
struct TlsServer {
    url: String,
    certificate: Vec<u8>,
    connections: Arc<AtomicUsize>,
}

/// Starts a TLS server that answers each request with the version of HTTP.
fn tls_server(alpn: &[&str]) -> TlsServer {
    with_connections(alpn, |io| block_on(serve(io)))
}

/// Starts a TLS server that runs `handle` for each connection, on a new thread.
fn with_connections(alpn: &[&str], handle: fn(Io)) -> TlsServer {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    start(config, made.cert.der().to_vec(), handle)
}

/// Starts a server with this TLS configuration, which runs `handle` for each connection, on a new thread.
fn start(config: ServerConfig, certificate: Vec<u8>, handle: fn(Io)) -> TlsServer {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/mcp", listener.local_addr().unwrap().port());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (acceptor, counted) = (acceptor.clone(), Arc::clone(&counted));
            thread::spawn(move || {
                let Ok(stream) = block_on(acceptor.accept(Async::new(stream).unwrap())) else { return };
                counted.fetch_add(1, Ordering::SeqCst);
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                handle(Io { socket: Box::pin(stream), meter: Meter::default(), is_http2, is_proxied: false });
            });
        }
    });
    TlsServer { url, certificate, connections }
}

async fn serve(io: Io) {
    let service = service_fn(|request: http::Request<hyper::body::Incoming>| async move {
        Ok::<_, Infallible>(Response::new(FullBody(Bytes::from(format!("{:?}", request.version())))))
    });
    let _ = if io.is_http2 {
        hyper::server::conn::http2::Builder::new(ThreadExecutor).serve_connection(io, service).await
    } else {
        hyper::server::conn::http1::Builder::new().serve_connection(io, service).await
    };
}

/// Returns the first request of an engine to this URL.
fn exchange(url: &str) -> Exchange {
    let mut engine = Engine::new(Config::new("test", "1"), Settings::new(url).unwrap());
    engine.calls().initialize(Timestamp::ORIGIN).unwrap();
    match engine.poll_exchange(Timestamp::ORIGIN) {
        Some(Command::Start(exchange)) => exchange,
        other => panic!("{other:?}"),
    }
}

async fn fetch(client: &Client, url: &str) -> Result<String, Failure> {
    send(client, exchange(url)).await
}

async fn send(client: &Client, exchange: Exchange) -> Result<String, Failure> {
    let mut response = client.send(exchange).await?;
    let mut text = Vec::new();
    loop {
        let mut piece = [0; 64];
        match poll_fn(|cx| response.body.as_mut().poll_read(cx, &mut piece)).await.unwrap() {
            0 => return Ok(String::from_utf8(text).unwrap()),
            n => text.extend_from_slice(&piece[..n]),
        }
    }
}

fn trusting(server: &TlsServer) -> ClientOptions {
    ClientOptions::default().trust(server.certificate.clone())
}

#[test]
fn http2_uses_one_connection() {
    let server = tls_server(&["h2", "http/1.1"]);
    let client = client(trusting(&server));
    assert_eq!(client.capacity(), 64);
    block_on(async {
        assert_eq!(fetch(&client, &server.url).await.unwrap(), "HTTP/2.0");
        let mut all: Vec<_> = (0..100).map(|_| (Box::pin(fetch(&client, &server.url)), None)).collect();
        poll_fn(|cx| {
            for (fetching, done) in all.iter_mut().filter(|(_, done)| done.is_none()) {
                if let Poll::Ready(text) = Pin::new(fetching).poll(cx) {
                    *done = Some(text.unwrap());
                }
            }
            if all.iter().all(|(_, done)| done.is_some()) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    });
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
    assert_eq!(client.capacity(), 1024);
}

#[test]
fn http1_is_used_without_http2() {
    let server = tls_server(&["http/1.1"]);
    let client = client(trusting(&server));
    for _ in 0..3 {
        assert_eq!(block_on(fetch(&client, &server.url)).unwrap(), "HTTP/1.1");
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

#[test]
fn a_server_without_a_trusted_certificate_receives_no_request() {
    let server = tls_server(&["h2"]);
    let strict = client(ClientOptions::default());
    let failure = block_on(fetch(&strict, &server.url)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
    let trusting = client(trusting(&server));
    let other_name = server.url.replace("localhost", "127.0.0.1");
    assert_eq!(block_on(fetch(&trusting, &other_name)).unwrap_err().kind, FailureKind::Tls);
}

/// Starts a proxy for one request, which opens a tunnel to `to` or answers the request itself. The thread returns the head of the
/// request.
fn proxy(to: Option<&TlsServer>) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://user:secret@{}", listener.local_addr().unwrap());
    let to = to.map(|server| server.url.rsplit_once(':').unwrap().1.replace("/mcp", "").parse::<u16>().unwrap());
    let thread = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut head).unwrap(), 0);
        }
        let mut stream = stream;
        let Some(port) = to else {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nproxied").unwrap();
            // Waits until the client has read it, because a close with unread bytes would be a reset.
            let _ = stream.read(&mut [0; 4096]);
            return head;
        };
        let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(b"HTTP/1.1 200 Fine\r\n\r\n").unwrap();
        let (mut back_from, mut back_to) = (server.try_clone().unwrap(), stream);
        thread::spawn(move || std::io::copy(&mut back_from, &mut back_to));
        thread::spawn(move || std::io::copy(&mut reader, &mut server));
        head
    });
    (address, thread)
}

#[test]
fn https_uses_a_tunnel_through_the_proxy() {
    let server = tls_server(&["h2"]);
    let (address, proxy) = proxy(Some(&server));
    let client = client(trusting(&server).proxy(address));
    assert_eq!(block_on(fetch(&client, &server.url)).unwrap(), "HTTP/2.0");
    let head = proxy.join().unwrap();
    assert!(head.starts_with("CONNECT localhost:"), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic "), "{head}");
    assert!(!head.to_lowercase().contains("mcp"), "{head}");
}

#[test]
fn http_requests_to_a_proxy_have_absolute_urls() {
    let (address, proxy) = proxy(None);
    let client = client(ClientOptions::default().proxy(address));
    assert_eq!(block_on(fetch(&client, "http://example.invalid/mcp")).unwrap(), "proxied");
    drop(client);
    let head = proxy.join().unwrap();
    assert!(head.starts_with("POST http://example.invalid/mcp HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("proxy-authorization: basic "), "{head}");
}

#[test]
fn a_stalled_handshake_fails_after_its_timeout() {
    // The system accepts the connection, but no program does.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let client = client(ClientOptions { handshake_timeout: Duration::from_millis(20), ..ClientOptions::default() });
    let failure = block_on(fetch(&client, &url)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreachable);
    assert!(failure.detail.contains("handshake"), "{failure}");
}
