//! Tests of HTTP/2 connections whose server is silent.

use super::*;

/// A runtime whose time passes a hundred times as fast for timers that are set to this many seconds or more.
struct Fast(u64);

impl Runtime for Fast {
    fn spawn(&self, task: Task) {
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
    fn connect_tcp(&self, host: String, port: u16) -> Connecting {
        Threads.connect_tcp(host, port)
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
fn a_connection_that_was_idle_for_longer_is_used_again() {
    let server = secure(&["h2"]);
    let client = Client::new(Arc::new(Fast(11)), trusting(&server)).unwrap();
    for _ in 0..3 {
        assert_eq!(block_on(fetch(&client, &server.url)).unwrap(), "HTTP/2.0");
        thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}
