//! Tests of the addresses that a client connects to, and of redirects that it does not follow.

use mcpwire_driver::protocol::http::Verb;

use super::*;

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
