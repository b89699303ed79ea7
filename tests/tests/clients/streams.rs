//! Connections over any pair of streams, and over `WebSockets`.

use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use mcpwire_blocking::{Error, McpClient};
use mcpwire_driver::protocol::{CallTool, CallToolParams, Config, Era, RequestOptions};
use mcpwire_driver::{ConnectOptions, ErrorKind};
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::{on_every_async_adapter, watched};
use serde_json::{Value, json};
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::HeaderValue;
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Message, WebSocket};

// A connection needs no process: any pair of streams does. Here it is a socket, with a server at its other end.
//
// Both halves of a socket are one: the other end sees the end of the stream when the socket is shut down, which is for
// whoever made it.

#[test]
fn both_eras_are_spoken_over_a_socket() {
    watched(|| {
        for (words, era) in [(["well-behaved", ""], Era::Legacy), (["well-behaved", "--modern"], Era::Modern)] {
            let (mut client, socket, mut server) = open(&words);
            assert_eq!(client.initialize().expect("it answers").era, era);
            assert!(client.definition().is_none() && client.pid().is_none());
            assert_eq!(client.server_name(), "stream");
            assert!(client.list_tools().expect("it has tools").len() > 3);
            let big = "x".repeat(1 << 20);
            let result = client.call_tool("echo", json!({"message": big})).send().expect("it answers");
            assert_eq!(result.text().as_str().len(), 1 << 20);
            client.shutdown().expect("it ends");
            socket.shutdown(Shutdown::Both).expect("it is open");
            assert!(server.wait().expect("it is ours").success());
        }
    });
}

#[test]
fn a_server_that_stops_reading_holds_no_blocking_client_up() {
    watched(|| {
        let (mut client, _socket, mut server) = open(&["stops-reading"]);
        client.initialize().expect("it answers");
        client.list_tools().expect("this much it reads");
        let arguments = json!({"message": "x".repeat(4 << 20)});
        let outcome = client.call_tool("echo", arguments).timeout(Duration::from_millis(200)).send();
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Timeout);
        client.shutdown().expect("it ends");
        server.kill().expect("it is ours");
        server.wait().expect("it is ours");
    });
}

#[test]
fn the_end_of_the_stream_ends_the_call() {
    watched(|| {
        let (mut client, _socket, mut server) = open(&["dies-in-call", "7"]);
        client.initialize().expect("it answers");
        let outcome = client.call_tool("echo", ()).send();
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        assert!(!client.is_running());
        server.wait().expect("it is ours");
    });
}

fn open(words: &[&str]) -> (McpClient, UnixStream, Child) {
    let (ours, theirs) = UnixStream::pair().expect("there are sockets");
    let stream = || Stdio::from(OwnedFd::from(theirs.try_clone().expect("there are descriptors")));
    let server = Command::new(env!("CARGO_BIN_EXE_bad-habits"))
        .args(words.iter().filter(|word| !word.is_empty()))
        .stdin(stream())
        .stdout(stream())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let clone = || ours.try_clone().expect("there are descriptors");
    let options = ConnectOptions::new(Config::new("mcpwire-tests", "1.0"));
    let client = McpClient::over(clone(), clone(), options).expect("there are threads");
    (client, ours, server)
}

// An async connection needs no process either: here it is a TCP socket of the runtime's own, with a server at its other
// end.

fn both_eras_are_spoken<H: Host>() {
    for (words, era) in [("well-behaved", Era::Legacy), ("well-behaved --modern", Era::Modern)] {
        let (socket, mut server) = socket_to(words);
        H::start().block_on(async {
            let client = H::over(socket, options());
            assert_eq!(client.initialize().await.expect("it answers").era, era);
            assert!(client.definition().is_none() && client.pid().is_none() && client.is_running());
            assert_eq!(client.server_name(), "stream");
            assert!(client.list_tools().await.expect("it has tools").len() > 3);
            let big = "x".repeat(1 << 20);
            let result = client.call_tool("echo", json!({"message": big})).await.expect("it answers");
            assert_eq!(result.text().as_str().len(), 1 << 20);
            client.shutdown().await.expect("it ends");
            assert!(!client.is_running());
        });
        assert!(server.wait().expect("it is ours").success());
    }
}

fn dropping_the_client_ends_the_stream<H: Host>() {
    let (socket, mut server) = socket_to("well-behaved");
    H::start().block_on(async {
        let client = H::over(socket, options());
        client.initialize().await.expect("it answers");
        let mut notifications = client.notifications();
        drop(client);
        assert!(notifications.next().await.is_none());
        assert!(::smol::unblock(move || server.wait()).await.expect("it is ours").success());
    });
}

fn a_server_that_stops_reading_holds_nobody_up<H: Host>() {
    let (socket, mut server) = socket_to("stops-reading");
    H::start().block_on(async {
        let client = H::over(socket, options());
        client.initialize().await.expect("it answers");
        client.list_tools().await.expect("this much it reads");
        // More than the buffers of a socket take.
        let arguments = json!({"message": "x".repeat(16 << 20)});
        let params = CallToolParams { name: "echo", arguments: &arguments };
        let options = RequestOptions::new().timeout(Duration::from_millis(200));
        let call = client.begin::<CallTool>(&params, &options).expect("it is on its way");
        assert_eq!(call.await.unwrap_err().kind(), ErrorKind::Timeout);
        client.shutdown().await.expect("it ends");
    });
    server.kill().expect("it is ours");
    server.wait().expect("it is ours");
}

fn the_end_of_the_stream_ends_the_calls<H: Host>() {
    let (socket, mut server) = socket_to("dies-in-call 7");
    H::start().block_on(async {
        let client = H::over(socket, options());
        client.initialize().await.expect("it answers");
        let mut notifications = client.notifications();
        let error = client.call_tool("echo", ()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        assert!(notifications.next().await.is_none());
        assert!(!client.is_running());
        client.shutdown().await.expect("there is nothing to end");
    });
    assert_eq!(server.wait().expect("it is ours").code(), Some(7));
}

fn options() -> ConnectOptions {
    ConnectOptions::new(Config::new("mcpwire-tests", "1.0"))
}

fn socket_to(words: &str) -> (TcpStream, Child) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
    let ours = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it is listened to");
    let (theirs, _) = listener.accept().expect("it is called");
    let stream = || Stdio::from(OwnedFd::from(theirs.try_clone().expect("there are descriptors")));
    let server = Command::new(env!("CARGO_BIN_EXE_bad-habits"))
        .args(words.split_whitespace())
        .stdin(stream())
        .stdout(stream())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    (ours, server)
}

/// Answers a request; `None` for a notification.
fn answered(message: &str) -> Option<String> {
    let message: Value = serde_json::from_str(message).expect("it is JSON");
    let id = message.get("id")?;
    let answer = match message["method"].as_str() {
        Some("initialize") => json!({"id": id, "jsonrpc": "2.0", "result": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "socket", "version": "1"},
        }}),
        Some("tools/call") => json!({"id": id, "jsonrpc": "2.0", "result": {
            "content": [{"type": "text", "text": message["params"]["arguments"]["message"]}],
        }}),
        _ => json!({"id": id, "jsonrpc": "2.0", "error": {"code": -32601, "message": "no such method"}}),
    };
    Some(serde_json::to_string_pretty(&answer).expect("it is JSON"))
}

// Servers over a WebSocket, with the clients of the examples.

#[allow(dead_code, clippy::duplicate_mod, reason = "the server of the examples is not used")]
#[path = "../../../examples/websocket.rs"]
mod example;
#[allow(dead_code, clippy::duplicate_mod, reason = "the server of the examples is not used")]
#[path = "../../../examples/websocket_blocking.rs"]
mod example_blocking;

/// What the server does when a tool is called.
#[derive(Clone, Copy, Debug)]
enum Habit {
    Answers,
    PingsFirst,
    Closes,
    Vanishes,
    SendsGarbage,
    SendsBinary,
}

/// Starts a server for one connection.
fn start(habit: Habit) -> (SocketAddr, thread::JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
    let address = listener.local_addr().expect("it is bound");
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().expect("it is called");
        let mut socket = tungstenite::accept_hdr(stream, choose_protocol).expect("it is a WebSocket");
        while let Ok(message) = socket.read() {
            let Message::Text(text) = message else { continue };
            if !answer(&mut socket, &text, habit) {
                return;
            }
        }
    });
    (address, server)
}

#[allow(clippy::result_large_err, clippy::unnecessary_wraps, reason = "tungstenite calls it")]
fn choose_protocol(request: &Request, mut response: Response) -> Result<Response, ErrorResponse> {
    assert_eq!(request.headers()["sec-websocket-protocol"], "mcp");
    response.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("mcp"));
    Ok(response)
}

/// Returns whether the server goes on.
fn answer(socket: &mut WebSocket<TcpStream>, text: &str, habit: Habit) -> bool {
    let Some(answer) = answered(text) else { return true };
    if text.contains(r#""tools/call""#) {
        let sent = match habit {
            Habit::Answers => Ok(()),
            Habit::PingsFirst => socket.send(Message::Ping("are you there?".into())),
            Habit::Closes => {
                let frame = CloseFrame { code: CloseCode::Away, reason: "going away".into() };
                socket.close(Some(frame)).expect("it is open");
                // Reads until the client has closed it too.
                while socket.read().is_ok() {}
                return false;
            }
            Habit::Vanishes => return false,
            Habit::SendsGarbage => socket.send("garbage\nof two lines".into()),
            Habit::SendsBinary => socket.send(Message::Binary(vec![1, 2, 3].into())),
        };
        sent.expect("it is open");
    }
    // After a binary frame, the client may have closed the socket.
    socket.send(answer.into()).is_ok()
}

/// Calls a tool of such a server twice, with each client. Checks the result of the first call.
fn each_client(habit: Habit, check: impl Fn(Result<String, &Error>, u64)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there is a runtime");
    runtime.block_on(async {
        let (address, server) = start(habit);
        let client = example::connect(address).await.expect("it is a WebSocket");
        assert_eq!(client.initialize().await.expect("it opens").name(), "socket");
        let result = client.call_tool("echo", json!({"message": "hi"})).await;
        let text = result.as_ref().map(|result| result.text().to_string());
        check(text, client.invalid_messages().count());
        client.shutdown().await.expect("it ends");
        drop(client);
        server.join().expect("it does not panic");
    });

    let (address, server) = start(habit);
    let mut client = example_blocking::connect(address).expect("it is a WebSocket");
    assert_eq!(client.initialize().expect("it opens").name(), "socket");
    let result = client.call_tool("echo", json!({"message": "hi"})).send();
    let text = result.as_ref().map(|result| result.text().to_string());
    check(text, client.invalid_messages().count());
    client.shutdown().expect("it ends");
    server.join().expect("it does not panic");
}

#[test]
fn messages_are_text_frames_and_pings_are_answered() {
    watched(|| {
        for habit in [Habit::Answers, Habit::PingsFirst] {
            each_client(habit, |result, invalid| {
                assert_eq!((result.expect("it answers").as_str(), invalid), ("hi", 0));
            });
        }
    });
}

#[test]
fn a_server_that_closes_the_socket_in_mid_call_is_named_as_the_cause() {
    watched(|| {
        each_client(Habit::Closes, |result, _| {
            let error = result.expect_err("it has ended");
            assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
            assert!(error.to_string().ends_with("the server closed the connection"), "{error}");
        });
    });
}

#[test]
fn a_socket_that_breaks_in_mid_call_says_so() {
    watched(|| {
        each_client(Habit::Vanishes, |result, _| {
            let error = result.expect_err("it has ended");
            assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
            assert!(error.to_string().contains("the connection failed: WebSocket protocol error: "), "{error}");
        });
    });
}

#[test]
fn garbage_is_one_message_that_is_skipped() {
    watched(|| {
        each_client(Habit::SendsGarbage, |result, invalid| {
            assert_eq!((result.expect("it answers").as_str(), invalid), ("hi", 1));
        });
    });
}

#[test]
fn a_binary_frame_is_an_error_that_says_so() {
    watched(|| {
        each_client(Habit::SendsBinary, |result, _| {
            let error = result.expect_err("it has ended");
            assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
            assert!(error.to_string().ends_with("the connection failed: the server sent a binary frame"), "{error}");
        });
    });
}

on_every_async_adapter!(
    both_eras_are_spoken,
    dropping_the_client_ends_the_stream,
    a_server_that_stops_reading_holds_nobody_up,
    the_end_of_the_stream_ends_the_calls,
);
