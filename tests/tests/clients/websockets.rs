//! Servers over a WebSocket, with the clients of the examples.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;

use mcpwire_blocking::{Error, ErrorKind};
use mcpwire_tests::watched;
use serde_json::{Value, json};
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::HeaderValue;
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Message, WebSocket};

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
    let message: Value = serde_json::from_str(text).expect("it is JSON");
    let Some(id) = message.get("id") else { return true };
    let answer = match message["method"].as_str() {
        Some("initialize") => json!({"id": id, "jsonrpc": "2.0", "result": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "socket", "version": "1"},
        }}),
        Some("tools/call") => {
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
            json!({"id": id, "jsonrpc": "2.0", "result": {
                "content": [{"type": "text", "text": message["params"]["arguments"]["message"]}],
            }})
        }
        _ => json!({"id": id, "jsonrpc": "2.0", "error": {"code": -32601, "message": "no such method"}}),
    };
    // After a binary frame, the client may have closed the socket.
    let sent = socket.send(serde_json::to_string_pretty(&answer).expect("it is JSON").into());
    sent.is_ok()
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
