//! Tests of HTTP/2 connections whose server is silent.

use super::*;

/// A runtime whose timers of at least `SECONDS` go off after a hundredth of their time.
enum Fast<const SECONDS: u64> {}

impl<const SECONDS: u64> Net for Fast<SECONDS> {
    fn connect(host: String, port: u16) -> Connecting {
        Threads::connect(host, port)
    }

    fn spawn(task: Task) {
        Threads::spawn(task);
    }

    fn sleep(after: Duration) -> Task {
        Threads::sleep(if after.as_secs() >= SECONDS { after / 100 } else { after })
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
    let client = Client::<Fast<0>>::new(options).unwrap();
    let failure = block_on(fetch(&client, &server.url)).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Broken);
    assert!(failure.detail.contains("keep-alive timed out"), "{failure}");
}

#[test]
fn a_connection_that_was_idle_for_longer_is_used_again() {
    let server = secure(&["h2"]);
    let client = Client::<Fast<11>>::new(trusting(&server)).unwrap();
    for _ in 0..3 {
        assert_eq!(block_on(fetch(&client, &server.url)).unwrap(), "HTTP/2.0");
        thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}
