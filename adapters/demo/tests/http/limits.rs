//! The demo server over HTTP, with unusual, faulty and hostile clients.

use std::process::Command;

use serde_json::json;

use crate::{Request, Server, modern, modern_post, post, request};

fn ping() -> Request {
    modern_post(&modern(1, "server/discover", json!({}), &json!({})))
}

#[test]
fn the_first_line_is_the_url() {
    let server = Server::start();
    let port = server.authority().strip_prefix("127.0.0.1:").expect("the address that was asked for");
    assert_ne!(port.parse::<u16>().expect("a port"), 0);
}

#[test]
fn connections_are_closed_if_the_client_asks_for_that() {
    let server = Server::start();
    let mut connection = server.connect();
    connection.send(&ping());
    assert_eq!(connection.answer().status, 200);
    connection.send(&ping().header("Connection", "close"));
    let response = connection.rest();
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    assert!(response.to_ascii_lowercase().contains("\r\nconnection: close\r\n"), "{response}");

    // HTTP/1.0 has no chunks: also the end of a stream is the end of the connection.
    let call = request(1, "tools/call", &json!({ "name": "slow", "arguments": { "seconds": 0.1 } }));
    let session = server.session("2025-06-18");
    for message in [request(1, "ping", &json!({})), call] {
        let request = post(&message).header("Mcp-Session-Id", &session).to_bytes();
        let request = String::from_utf8(request).expect("it is text").replacen(" HTTP/1.1\r\n", " HTTP/1.0\r\n", 1);
        let mut connection = server.connect();
        connection.send_bytes(request.as_bytes());
        let response = connection.rest();
        assert!(response.starts_with("HTTP/1.0 200 ") || response.starts_with("HTTP/1.1 200 "), "{response}");
        assert!(response.contains(r#""result""#), "{response}");
        assert!(!response.to_ascii_lowercase().contains("transfer-encoding"), "{response}");
    }
}

#[test]
fn pages_of_other_origins_have_no_access() {
    let server = Server::start();
    for origin in ["http://localhost", "http://localhost:8080", "https://127.0.0.1:1", "http://[::1]:3000"] {
        assert_eq!(server.ask(&ping().header("Origin", origin)).status, 200, "{origin}");
    }
    for origin in [
        "https://example.com",
        "null",
        "",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com:80",
        "http://example.com:80@localhost",
        "localhost",
    ] {
        assert_eq!(server.ask(&ping().header("Origin", origin)).status, 403, "{origin}");
    }
}

#[test]
fn a_body_may_come_in_chunks() {
    let server = Server::start();
    let message = modern(5, "server/discover", json!({}), &json!({})).to_string();
    let (first, second) = message.split_at(17);
    let mut connection = server.connect();
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json; charset=utf-8\r\n\
                MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\nTransfer-Encoding: chunked\r\n\r\n";
    let body = format!(
        "{:x};note=1\r\n{first}\r\n{:X}\r\n{second}\r\n0\r\nTrailer: is read\r\n\r\n",
        first.len(),
        second.len()
    );
    for byte in head.bytes().chain(body.bytes()) {
        connection.send_bytes(&[byte]);
    }
    assert_eq!(connection.answer().json()["id"], 5);
    connection.send(&ping());
    assert_eq!(connection.answer().status, 200, "what came after the chunks is the next request");
}

#[test]
fn requests_may_be_sent_ahead() {
    let server = Server::start();
    let mut connection = server.connect();
    let slow = json!({ "name": "slow", "arguments": { "seconds": 0.2 } });
    connection.send(&modern_post(&modern(1, "tools/call", slow, &json!({}))));
    connection.send(&modern_post(&modern(2, "server/discover", json!({}), &json!({}))));
    let streamed = String::from_utf8(connection.answer().body).expect("events are text");
    assert!(streamed.contains("Waited 0.2 s."), "{streamed}");
    assert_eq!(connection.answer().json()["id"], 2);
}

#[test]
fn a_client_that_asks_before_it_sends_its_body_is_told_to_go_on() {
    let server = Server::start();
    let mut connection = server.connect();
    connection.send(&ping().header("Expect", "100-continue"));
    assert_eq!(connection.head().status, 100);
    assert_eq!(connection.answer().status, 200);
}

#[test]
fn the_connection_ends_when_the_client_wants_it() {
    let server = Server::start();
    let mut connection = server.connect();
    connection.send(&ping().header("Connection", "close"));
    let answer = connection.answer();
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    assert!(connection.has_ended());
}

#[test]
fn a_client_of_the_first_http_gets_no_chunks() {
    let server = Server::start();
    let message = modern(5, "tools/call", json!({ "name": "slow", "arguments": { "seconds": 0.1 } }), &json!({}));
    let message = message.to_string();
    let mut connection = server.connect();
    let request = format!(
        "POST /mcp HTTP/1.0\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: slow\r\nContent-Length: {}\r\n\r\n{message}",
        message.len()
    );
    connection.send_bytes(request.as_bytes());
    let head = connection.head();
    assert_eq!((head.status, head.header("transfer-encoding")), (200, None));
    let body = connection.rest();
    assert!(body.contains("Waited 0.1 s."), "{body}");
}

#[test]
fn headers_and_bodies_have_limits() {
    let server = Server::start();
    let long = "x".repeat(64 * 1024);
    let many = (0..200).fold(ping(), |request, number| request.header(&format!("X-{number}"), "x"));
    let huge = "POST /mcp HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n";
    let head = "POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunks = format!("{head}500000\r\n{}\r\n0\r\n\r\n", " ".repeat(0x50_0000));
    let endless = format!("{head}ffffffff\r\n{}", " ".repeat(0x90_0000));
    for (status, bytes) in [
        (431, ping().header("X-Long", &long).to_bytes()),
        (431, many.to_bytes()),
        (431, ping().path(&format!("/{long}")).to_bytes()),
        (400, huge.as_bytes().to_vec()),
        (413, chunks.into_bytes()),
        (413, endless.into_bytes()),
        (413, ping().body(vec![b' '; 5 * 1024 * 1024]).to_bytes()),
    ] {
        let mut connection = server.connect();
        // The server may stop reading in the middle of the request.
        connection.try_send_bytes(&bytes);
        assert_eq!(connection.answer().status, status);
        assert!(connection.has_ended());
    }
    assert_eq!(server.ask(&ping()).status, 200);
}

#[test]
fn what_is_no_http_is_refused() {
    let server = Server::start();
    for (status, bytes) in [
        (400, "HELO\r\n\r\n"),
        (400, "GET / HTTP/1.1 more\r\n\r\n"),
        (400, "GET / HTTP/2.0\r\n\r\n"),
        (400, "GET /mcp HTTP/1.1\r\nno colon\r\n\r\n"),
        (400, "GET /mcp HTTP/1.1\r\na name: x\r\n\r\n"),
        (400, "GET /mcp HTTP/1.1\r\n folded: x\r\n\r\n"),
        (400, "GET /mcp HTTP/1.1\r\nX: a\rb\r\n\r\n"),
        (400, "POST /mcp HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        (400, "POST /mcp HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        (400, "POST /mcp HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n"),
        (400, "POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\n"),
        (400, "POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"),
    ] {
        let mut connection = server.connect();
        connection.send_bytes(bytes.as_bytes());
        let answer = connection.answer();
        assert_eq!(answer.status, status, "{bytes:?}: {}", String::from_utf8_lossy(&answer.body));
        assert!(connection.has_ended(), "{bytes:?}");
    }
    // One client sends half a request, and one sends nothing.
    server.connect().send_bytes(b"POST /mcp HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
    drop(server.connect());
    assert_eq!(server.ask(&ping()).status, 200);
}

#[test]
fn a_length_beside_chunks_ends_the_connection() {
    let server = Server::start();
    let mut connection = server.connect();
    connection.send_bytes(
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    );
    connection.try_send_bytes(&ping().to_bytes());
    assert_eq!(connection.answer().status, 415);
    assert!(connection.has_ended(), "what follows may be meant as part of the first request");
}

#[test]
fn what_is_not_for_the_endpoint_is_refused() {
    let server = Server::start();
    assert_eq!(server.ask(&ping().path("/")).status, 404);
    assert_eq!(server.ask(&ping().path("/mcp?query")).status, 200);
    let put = server.ask(&Request::new("PUT").body(""));
    assert_eq!((put.status, put.header("allow")), (405, Some("POST, GET, DELETE")));
    let message = request(1, "initialize", &json!({ "protocolVersion": "2025-11-25" }));
    assert_eq!(server.ask(&post(&message).without("Content-Type")).status, 415);
    assert_eq!(server.ask(&post(&message).without("Content-Type").header("Content-Type", "text/plain")).status, 415);
    for (accept, status) in [
        ("application/json", 406),
        ("text/event-stream", 406),
        ("*/*", 200),
        ("application/json;q=0.5, text/event-stream;q=1", 200),
        ("application/*, text/*", 200),
    ] {
        let asked = server.ask(&post(&message).without("Accept").header("Accept", accept));
        assert_eq!(asked.status, status, "{accept}");
    }
}

#[test]
fn only_loopback_addresses_are_listened_on() {
    for (address, exit, message) in [("0.0.0.0:0", 1, "loopback"), ("127.0.0.1", 2, "not an address")] {
        let refused =
            Command::new(env!("CARGO_BIN_EXE_mcpwire-demo")).args(["--http", address]).output().expect("it runs");
        assert_eq!(refused.status.code(), Some(exit));
        assert!(String::from_utf8_lossy(&refused.stderr).contains(message), "{refused:?}");
        assert_eq!(refused.stdout, b"");
    }
}
