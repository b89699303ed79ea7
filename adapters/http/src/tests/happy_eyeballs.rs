//! Tests of the addresses that a client connects to: of hosts with several addresses in virtual time, and of redirects that the client does not follow.

use std::sync::Mutex;

use futures_io::{AsyncRead, AsyncWrite};
use mcpwire_driver::protocol::http::Verb;
use mcpwire_testkit::VirtualTime;

use super::*;

const DEAD_V6: &str = "[2606:4700::1]:80";
const V6: &str = "[2606:4700::2]:80";
const V4: &str = "9.9.9.9:80";
const PRIVATE: &str = "10.0.0.1:80";

/// What happens to a connection to an address.
#[derive(Clone, Copy)]
enum Peer {
    Silent,
    ConnectsAfter(Duration),
    RefusesAfter(Duration),
}

/// A runtime in virtual time on which each name has the same addresses.
struct ScriptedNet {
    time: VirtualTime,
    /// How long the lookup of a name takes.
    lookup: Duration,
    peers: Vec<(SocketAddr, Peer)>,
    log: Log,
}

/// The starts and ends of attempts, each with its time in milliseconds.
type Log = Arc<Mutex<Vec<String>>>;

impl Runtime for ScriptedNet {
    fn spawn(&self, task: TaskFuture) {
        self.time.spawn(task);
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(self.time.timer())
    }

    fn clock(&self) -> Clock {
        self.time.clock()
    }

    fn pipes(&self, _: Pipes, _: Option<ExitHandle>) -> std::io::Result<Streams> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

impl Net for ScriptedNet {
    fn resolve(&self, _: String, _: u16) -> ResolveFuture {
        let addresses = self.peers.iter().map(|(address, _)| *address).collect();
        let lookup = self.time.sleep(self.lookup);
        Box::pin(async {
            lookup.await;
            Ok(addresses)
        })
    }

    fn connect_tcp(&self, address: SocketAddr) -> ConnectFuture {
        let peer = self.peers.iter().find(|(of, _)| *of == address).expect("the client was given the address").1;
        let attempt = Attempt { time: self.time.clone(), address, log: Arc::clone(&self.log) };
        attempt.log("tried");
        let time = self.time.clone();
        Box::pin(async move {
            let attempt = attempt;
            match peer {
                Peer::Silent => std::future::pending().await,
                Peer::RefusesAfter(delay) => {
                    time.sleep(delay).await;
                    Err(std::io::ErrorKind::ConnectionRefused.into())
                }
                Peer::ConnectsAfter(delay) => {
                    time.sleep(delay).await;
                    attempt.log("connected");
                    Ok(Box::pin(AnsweringSocket::default()) as Socket)
                }
            }
        })
    }
}

struct Attempt {
    time: VirtualTime,
    address: SocketAddr,
    log: Log,
}

impl Attempt {
    fn log(&self, what: &str) {
        self.log.lock().unwrap().push(format!("{} {what} {}", self.time.elapsed().as_millis(), self.address));
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.log("left");
    }
}

/// The client's end of a connection to a server that answers the first request with the status 200.
#[derive(Default)]
struct AnsweringSocket {
    answer: &'static [u8],
    reader: Option<std::task::Waker>,
}

impl AsyncRead for AnsweringSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<std::io::Result<usize>> {
        match self.answer.read(buf) {
            Ok(0) => {
                self.reader = Some(cx.waker().clone());
                Poll::Pending
            }
            read => Poll::Ready(read),
        }
    }
}

impl AsyncWrite for AnsweringSocket {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Sends a request to a name with these addresses. Returns the status, and what the client did.
fn request(options: ClientOptions, peers: &[(&str, Peer)]) -> (Result<u16, Failure>, Vec<String>) {
    request_after(Duration::ZERO, options, peers)
}

/// As [`request`], with a name lookup that takes this long.
fn request_after(
    lookup: Duration,
    options: ClientOptions,
    peers: &[(&str, Peer)],
) -> (Result<u16, Failure>, Vec<String>) {
    let time = VirtualTime::new();
    let log = Log::default();
    let peers = peers.iter().map(|(address, peer)| (address.parse().unwrap(), *peer)).collect();
    let net = ScriptedNet { time: time.clone(), lookup, peers, log: Arc::clone(&log) };
    let client = Client::new(Arc::new(net), options).unwrap();
    let sent = time.run(client.send(Exchange::new(Verb::Get, "http://localhost/")));
    let log = log.lock().unwrap().clone();
    (sent.map(|response| response.status), log)
}

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn a_dead_address_delays_the_next_one_by_a_quarter_of_a_second() {
    let (sent, log) =
        request(ClientOptions::default(), &[(DEAD_V6, Peer::Silent), (V4, Peer::ConnectsAfter(millis(5)))]);
    assert_eq!(sent.unwrap(), 200);
    let expected = [
        "0 tried [2606:4700::1]:80",
        "250 tried 9.9.9.9:80",
        "255 connected 9.9.9.9:80",
        "255 left 9.9.9.9:80",
        "255 left [2606:4700::1]:80",
    ];
    assert_eq!(log, expected);
}

#[test]
fn the_families_alternate() {
    let peers = [(DEAD_V6, Peer::Silent), (V6, Peer::Silent), (V4, Peer::ConnectsAfter(millis(1)))];
    let (sent, log) = request(ClientOptions::default(), &peers);
    assert_eq!(sent.unwrap(), 200);
    assert_eq!(log[..2], ["0 tried [2606:4700::1]:80", "250 tried 9.9.9.9:80"]);
}

#[test]
fn a_slow_address_can_win_against_a_later_one() {
    let peers = [(V6, Peer::ConnectsAfter(millis(300))), (V4, Peer::ConnectsAfter(millis(300)))];
    let (sent, log) = request(ClientOptions::default(), &peers);
    assert_eq!(sent.unwrap(), 200);
    let connected: Vec<_> = log.iter().filter(|line| line.contains("connected")).collect();
    assert_eq!(connected, ["300 connected [2606:4700::2]:80"]);
    assert_eq!(log.last().unwrap(), "300 left 9.9.9.9:80");
}

#[test]
fn after_a_refusal_the_next_address_is_tried_at_once() {
    let peers = [(V6, Peer::RefusesAfter(millis(3))), (V4, Peer::ConnectsAfter(millis(1)))];
    let (sent, log) = request(ClientOptions::default(), &peers);
    assert_eq!(sent.unwrap(), 200);
    assert!(log.contains(&"3 tried 9.9.9.9:80".into()), "{log:?}");
}

#[test]
fn an_error_names_each_address_and_the_connect_timeout_limits_all_of_them() {
    let peers = [(DEAD_V6, Peer::Silent), (V4, Peer::RefusesAfter(millis(1)))];
    let (sent, log) = request(ClientOptions::default(), &peers);
    let failure = sent.unwrap_err();
    let expected =
        "localhost:80 did not answer within 10s: [2606:4700::1]:80: no answer; 9.9.9.9:80: connection refused";
    assert_eq!((failure.kind, &*failure.detail), (FailureKind::Unreachable, expected));
    assert_eq!(log.last().unwrap(), "10000 left [2606:4700::1]:80");

    let peers = [(V6, Peer::RefusesAfter(millis(1))), (V4, Peer::RefusesAfter(millis(1)))];
    let failure = request(ClientOptions::default(), &peers).0.unwrap_err();
    let expected = "localhost:80: [2606:4700::2]:80: connection refused; 9.9.9.9:80: connection refused";
    assert_eq!((failure.kind, &*failure.detail), (FailureKind::Unreachable, expected));
}

#[test]
fn the_connect_timeout_includes_the_name_lookup() {
    let (sent, log) = request_after(Duration::from_secs(6), ClientOptions::default(), &[(V4, Peer::Silent)]);
    assert_eq!(sent.unwrap_err().kind, FailureKind::Unreachable);
    assert_eq!(log, ["6000 tried 9.9.9.9:80", "10000 left 9.9.9.9:80"]);
    let (sent, log) = request_after(Duration::from_secs(60), ClientOptions::default(), &[(V4, Peer::Silent)]);
    assert_eq!(sent.unwrap_err().detail, "localhost:80 did not answer within 10s");
    assert_eq!(log, Vec::<String>::new());
}

#[test]
fn private_addresses_among_public_ones_are_never_tried() {
    let live = Peer::ConnectsAfter(Duration::ZERO);
    let options = ClientOptions { public_addresses_only: true, ..ClientOptions::default() };
    for public in [Peer::Silent, Peer::RefusesAfter(millis(1))] {
        for peers in [[(V4, public), (PRIVATE, live)], [(PRIVATE, live), (V4, public)]] {
            let (sent, log) = request(options.clone(), &peers);
            let failure = sent.unwrap_err();
            assert!(
                failure.detail.contains("10.0.0.1 is an address of this machine or of a private network"),
                "{failure}"
            );
            assert!(log.iter().all(|line| line.contains("9.9.9.9")), "{log:?}");
        }
    }
    let peers = [(PRIVATE, live), (V4, Peer::ConnectsAfter(millis(1))), (DEAD_V6, Peer::Silent)];
    let (sent, log) = request(options.clone(), &peers);
    assert_eq!(sent.unwrap(), 200);
    assert!(!log.iter().any(|line| line.contains("10.0.0.1")), "{log:?}");
    let (sent, log) = request(options, &[(PRIVATE, live)]);
    assert_eq!((sent.unwrap_err().kind, log), (FailureKind::NotMade, Vec::new()));
}

#[test]
fn all_addresses_of_a_proxy_are_tried() {
    let options = ClientOptions::default().proxy("http://proxy.example:80");
    let (sent, log) = request(options, &[(DEAD_V6, Peer::Silent), (V4, Peer::ConnectsAfter(millis(5)))]);
    assert_eq!(sent.unwrap(), 200);
    assert!(log.contains(&"255 connected 9.9.9.9:80".into()), "{log:?}");
}

// The addresses that a client connects to, and redirects.

/// Starts a server that answers each connection with a redirect to another path. Returns its port.
fn redirecting_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut line = String::new();
            let mut reader = BufReader::new(&mut stream);
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {}
            let _ = stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 5\r\n\r\nmoved");
        }
    });
    port
}

/// A runtime on which each name has first a public address, which nobody can reach, and then this machine's.
struct RebindingNet;

impl Runtime for RebindingNet {
    fn spawn(&self, task: TaskFuture) {
        Threads.spawn(task);
    }

    fn timer(&self) -> Box<dyn Timer> {
        Threads.timer()
    }

    fn clock(&self) -> Clock {
        Threads.clock()
    }

    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> std::io::Result<Streams> {
        Threads.pipes(pipes, exit)
    }
}

impl Net for RebindingNet {
    fn resolve(&self, _: String, port: u16) -> ResolveFuture {
        Box::pin(async move { Ok(vec![([203, 0, 114, 1], port).into(), ([127, 0, 0, 1], port).into()]) })
    }

    fn connect_tcp(&self, address: SocketAddr) -> ConnectFuture {
        if address.ip().is_loopback() {
            return Threads.connect_tcp(address);
        }
        Box::pin(async { Err(std::io::ErrorKind::ConnectionRefused.into()) })
    }
}

#[test]
fn the_next_address_is_tried_when_one_cannot_be_reached() {
    let client = Client::new(Arc::new(RebindingNet), ClientOptions::default()).unwrap();
    let request = Exchange::new(Verb::Get, format!("http://example.com:{}/", redirecting_server()));
    assert_eq!(block_on(client.send(request)).unwrap().status, 302);
}

#[test]
fn private_addresses_are_refused_however_they_are_written() {
    let port = redirecting_server();
    let options = ClientOptions { public_addresses_only: true, ..ClientOptions::default() };
    let client = Client::new(Arc::new(Threads), options.clone()).unwrap();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let request = Exchange::new(Verb::Get, format!("http://{host}:{port}/"));
        let failure = block_on(client.send(request)).unwrap_err();
        assert_eq!(failure.kind, FailureKind::NotMade);
        assert!(failure.detail.contains("of this machine or of a private network"), "{failure}");
    }
    let client = Client::new(Arc::new(RebindingNet), options).unwrap();
    let request = Exchange::new(Verb::Get, format!("http://example.com:{port}/"));
    let failure = block_on(client.send(request)).unwrap_err();
    assert!(failure.detail.contains("127.0.0.1 is an address of this machine"), "{failure}");
}

#[test]
fn a_proxy_may_be_on_this_machine_but_not_lead_back_to_it() {
    let options = ClientOptions { public_addresses_only: true, ..ClientOptions::default() }
        .proxy(format!("http://127.0.0.1:{}", redirecting_server()));
    let client = Client::new(Arc::new(Threads), options).unwrap();
    let request = |host: &str| Exchange::new(Verb::Get, format!("http://{host}/"));
    assert_eq!(block_on(client.send(request("example.com"))).unwrap().status, 302);
    assert_eq!(block_on(client.send(request("169.254.169.254"))).unwrap_err().kind, FailureKind::NotMade);
}

#[test]
fn a_request_that_must_go_to_a_public_address_uses_no_connection_of_another_request() {
    let client = client(ClientOptions::default());
    let mut request = Exchange::new(Verb::Get, format!("http://127.0.0.1:{}/", redirecting_server()));
    for _ in 0..2 {
        assert_eq!(block_on(client.send(request.clone())).unwrap().status, 302);
    }
    request.public_addresses_only = true;
    assert_eq!(block_on(client.send(request.clone())).unwrap_err().kind, FailureKind::NotMade);
    assert_eq!(block_on(client.send_shared(Arc::new(request))).unwrap_err().kind, FailureKind::NotMade);
}

#[test]
fn a_shared_request_is_not_copied_and_can_be_sent_again() {
    let client = client(ClientOptions::default());
    let mut request = Exchange::new(Verb::Post, format!("http://127.0.0.1:{}/", redirecting_server()));
    request.body = b"body".to_vec();
    let request = Arc::new(request);
    for _ in 0..2 {
        drop(block_on(client.send_shared(Arc::clone(&request))).unwrap());
    }
    assert_eq!(*request.body, *b"body");
}

#[test]
fn a_request_of_its_own_follows_no_redirects() {
    let client = client(ClientOptions::default());
    let url = format!("http://127.0.0.1:{}/", redirecting_server());
    assert_eq!(block_on(send(&client, Exchange::new(Verb::Get, url))).unwrap(), "moved");
}
