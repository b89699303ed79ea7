//! Tests of HTTP/2 connections whose server is silent.

use mcpwire_testkit::VirtualTime;

use super::simulated_time::{VirtualNet, VirtualSocket};
use super::*;
use crate::connection::{HttpConnection, SendFailure};

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
