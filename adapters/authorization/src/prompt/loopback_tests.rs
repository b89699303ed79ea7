//! Tests of the listener: what is a redirect, and which connections end the wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

use super::*;

fn get(address: &str, target: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn only_the_redirect_ends_the_wait() {
    let listener = LoopbackListener::bind("localhost", 0, "/callback").unwrap();
    let host = listener.host.clone();
    assert_eq!(listener.redirect_uri(), format!("http://{host}/callback"));
    let address = host.replace("localhost", "127.0.0.1");
    let waiting = thread::spawn(move || listener.wait(Duration::from_secs(60), || false));
    drop(TcpStream::connect(&address).unwrap());
    let _silent: Vec<_> = (0..40).map(|_| TcpStream::connect(&address).unwrap()).collect();
    assert!(get(&address, "/favicon.ico", &host).starts_with("HTTP/1.1 404"));
    assert!(get(&address, "/callback?code=evil", "evil.example").starts_with("HTTP/1.1 400"));
    let page = get(&address, "/callback?code=a&state=b", &host);
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("close this page"), "{page}");
    assert_eq!(waiting.join().unwrap().unwrap(), format!("http://{host}/callback?code=a&state=b"));
}

#[test]
fn a_login_that_nobody_finishes_ends_with_an_error() {
    let bind = || LoopbackListener::bind("127.0.0.1", 0, "/").unwrap();
    let error = bind().wait(Duration::ZERO, || false).unwrap_err();
    assert_eq!(error.to_string(), "nobody finished the login in the browser within 0 seconds");
    assert!(matches!(bind().wait(Duration::from_secs(60), || true), Err(LoopbackError::Cancelled)));
}

#[test]
fn o13_a_port_in_use_is_named() {
    let first = LoopbackListener::bind("127.0.0.1", 0, "/").unwrap();
    let port = first.listener.local_addr().unwrap().port();
    let error = LoopbackListener::bind("127.0.0.1", port, "/").unwrap_err().to_string();
    assert!(error.contains(&port.to_string()) && error.contains("Another program uses this port"), "{error}");
}

#[test]
fn only_this_machine_can_be_listened_on() {
    for (host, path) in
        [("0.0.0.0", "/"), ("example.com", "/"), ("127.0.0.1", "x"), ("127.0.0.1", "/a?b"), ("::1", "/")]
    {
        assert!(matches!(LoopbackListener::bind(host, 0, path), Err(LoopbackError::Address(_))), "{host}{path}");
    }
}

#[test]
fn z2_the_redirect_of_another_login_does_not_end_the_wait() {
    let listener = LoopbackListener::bind("127.0.0.1", 0, "/callback").unwrap();
    let host = listener.host.clone();
    let is_response = |target: &str| target.ends_with("state=right");
    let waiting =
        thread::spawn(move || listener.wait_for(Instant::now, Duration::from_secs(60), || false, is_response));
    let page = get(&host, "/callback?code=evil&state=wrong", &host);
    assert!(page.starts_with("HTTP/1.1 400") && !page.contains("evil"), "{page}");
    assert!(get(&host, "/callback?code=a&state=right", &host).starts_with("HTTP/1.1 200"));
    assert_eq!(waiting.join().unwrap().unwrap(), format!("http://{host}/callback?code=a&state=right"));
}

/// Opens connections that send nothing.
fn silent(address: &str) -> Vec<TcpStream> {
    (0..40).map(|_| TcpStream::connect(address).unwrap()).collect()
}

#[test]
fn silent_connections_do_not_push_out_the_redirect() {
    let listener = LoopbackListener::bind("127.0.0.1", 0, "/callback").unwrap();
    let host = listener.host.clone();
    let (rounds, start) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let seen = Arc::clone(&rounds);
    let is_cancelled = move || {
        seen.fetch_add(1, Ordering::Relaxed);
        false
    };
    // The time stands still: no connection has stayed long enough to be closed.
    let waiting = thread::spawn(move || listener.wait_for(|| start, Duration::from_secs(60), is_cancelled, |_| true));
    let mut browser = TcpStream::connect(&host).unwrap();
    let _silent = silent(&host);
    let before = rounds.load(Ordering::Relaxed);
    while rounds.load(Ordering::Relaxed) < before + 3 {
        thread::yield_now();
    }
    write!(browser, "GET /callback?code=a HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    assert_eq!(waiting.join().unwrap().unwrap(), format!("http://{host}/callback?code=a"));
}

#[test]
fn the_redirect_gets_a_place_after_silent_connections() {
    let listener = LoopbackListener::bind("127.0.0.1", 0, "/callback").unwrap();
    let host = listener.host.clone();
    let (rounds, start) = (AtomicU32::new(0), Instant::now());
    // A round of the listener takes a second.
    let now = move || start + Duration::from_secs(1) * rounds.fetch_add(1, Ordering::Relaxed);
    let _silent = silent(&host);
    let waiting = thread::spawn(move || listener.wait_for(now, Duration::MAX, || false, |_| true));
    assert!(get(&host, "/callback?code=a", &host).starts_with("HTTP/1.1 200"));
    assert_eq!(waiting.join().unwrap().unwrap(), format!("http://{host}/callback?code=a"));
}

const HOST: &str = "127.0.0.1:7777";

fn visit(head: &str) -> Poll<Result<&str, Page>> {
    read(head.as_bytes(), HOST, "/callback")
}

#[test]
fn the_redirect_is_read_whole() {
    let head = "GET /callback?code=a%20b&state=x&iss=https%3A%2F%2Fas HTTP/1.1\r\nhOST: 127.0.0.1:7777\r\nA: b\r\n\r\n";
    assert_eq!(visit(head), Poll::Ready(Ok("/callback?code=a%20b&state=x&iss=https%3A%2F%2Fas")));
    for end in 0..head.len() {
        assert_eq!(visit(&head[..end]), Poll::Pending, "{end}");
    }
}

#[test]
fn other_paths_are_no_redirects() {
    for path in ["/", "/favicon.ico", "/callback/x?code=a", "/callbackx", "//callback"] {
        let head = format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n");
        assert_eq!(visit(&head), Poll::Ready(Err(OTHER_PATH)), "{path}");
    }
}

#[test]
fn requests_of_other_sites_are_refused() {
    for head in [
        "GET /callback HTTP/1.1\r\nHost: evil.example:7777\r\n\r\n",
        "GET /callback HTTP/1.1\r\nHost: 127.0.0.1:7778\r\n\r\n",
        "GET /callback HTTP/1.1\r\n\r\n",
        "GET /callback HTTP/1.1\r\nHost: 127.0.0.1:7777\r\nHost: evil\r\n\r\n",
        "POST /callback HTTP/1.1\r\nHost: 127.0.0.1:7777\r\n\r\n",
        "GET /callback HTTP/2\r\nHost: 127.0.0.1:7777\r\n\r\n",
        "GET /callback x HTTP/1.1\r\nHost: 127.0.0.1:7777\r\n\r\n",
        "GET\r\n\r\n",
        "\u{16}\u{3}\u{1}\r\n\r\n",
    ] {
        assert_eq!(visit(head), Poll::Ready(Err(REFUSED)), "{head:?}");
    }
    assert_eq!(read(&[b'x'; MAX_HEAD], HOST, "/"), Poll::Ready(Err(REFUSED)));
    assert_eq!(read(b"\xff\r\n\r\n", HOST, "/"), Poll::Ready(Err(REFUSED)));
}
