//! Connections over whole messages instead of lines: channels here.

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use mcpwire_blocking::protocol::{CloseReason, ConnectError};
use mcpwire_blocking::{ConnectOptions, Error, ErrorKind, McpClient, MessageSender};
use mcpwire_engine_tests::watched;
use serde_json::{Value, json};

/// What the server does with a message.
enum Action {
    Nothing,
    Send(Vec<String>),
    Fail,
    End,
}

/// Answers in text with line breaks; the tool decides what else happens.
fn act(message: &str) -> Action {
    assert!(!message.contains('\n'), "a line has been left as a line");
    let message: Value = serde_json::from_str(message).expect("each message is complete");
    let Some(id) = message.get("id") else { return Action::Nothing };
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"id": id, "jsonrpc": "2.0", "result": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "there", "version": "1"},
        }}),
        Some("tools/call") => match message["params"]["name"].as_str() {
            Some("fail") => return Action::Fail,
            Some("end") => return Action::End,
            _ => json!({"id": id, "jsonrpc": "2.0", "result": {
                "content": [{"type": "text", "text": message["params"]["arguments"]["message"]}],
            }}),
        },
        _ => json!({"id": id, "jsonrpc": "2.0", "error": {"code": -32601, "message": "no such method"}}),
    };
    let answer = serde_json::to_string_pretty(&result).expect("it is JSON");
    if message["params"]["name"] == "print" {
        return Action::Send(vec!["garbage\nof two lines".into(), answer]);
    }
    Action::Send(vec![answer])
}

/// What a call says when the transport has reported an error.
fn assert_says_why(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    assert!(error.to_string().ends_with("the connection failed: the tunnel broke"), "{error}");
}

/// A server on a thread.
fn blocking(options: ConnectOptions) -> (McpClient, thread::JoinHandle<()>) {
    let (to_server, from_client) = sync_channel::<String>(1);
    let (answers, from_server): (SyncSender<io::Result<String>>, _) = sync_channel(1);
    let server = thread::spawn(move || {
        for message in from_client {
            match act(&message) {
                Action::Nothing => {}
                Action::Send(messages) => {
                    for message in messages {
                        answers.send(Ok(message)).expect("the client receives");
                    }
                }
                Action::Fail => answers.send(Err(io::Error::other("the tunnel broke"))).expect("the client receives"),
                Action::End => return,
            }
        }
    });
    let receiver = move || from_server.recv().ok().transpose();
    let sender = move |message| to_server.send(message).map_err(io::Error::other);
    let mut client = McpClient::over_messages(receiver, sender, options).expect("there are threads");
    assert_eq!(client.initialize().expect("it opens").name(), "there");
    (client, server)
}

#[test]
fn blocking_carries_messages_too() {
    watched(|| {
        let (mut client, server) = blocking(ConnectOptions::default().max_message_bytes(2 << 20));
        for text in ["two\nlines", &"x".repeat(1 << 20)] {
            let result = client.call_tool("echo", json!({"message": text})).send().expect("it answers");
            assert_eq!(result.text().as_str(), text);
        }
        let result = client.call_tool("print", json!({"message": "hi"})).send().expect("it answers");
        assert_eq!(result.text().as_str(), "hi");
        assert_eq!(client.invalid_messages().count(), 1);
        let error =
            client.call_tool("echo", json!({"message": "x".repeat(3 << 20)})).send().expect_err("it is too large");
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        client.shutdown().expect("it ends");
        // The sender was dropped.
        server.join().expect("it does not panic");
    });
}

#[test]
fn an_error_of_a_blocking_receiver_is_what_calls_say() {
    watched(|| {
        let (mut client, _) = blocking(ConnectOptions::default());
        assert_says_why(&client.call_tool("fail", ()).send().expect_err("it has ended"));
        assert_eq!(
            client.connection_end().expect("it has ended").reason,
            CloseReason::Failed("the tunnel broke".into())
        );
        assert_says_why(&client.call_tool("echo", ()).send().expect_err("it has ended"));
    });
}

#[test]
fn the_end_of_a_blocking_receiver_is_the_end_of_the_connection() {
    watched(|| {
        let (mut client, server) = blocking(ConnectOptions::default());
        let error = client.call_tool("end", ()).send().expect_err("it has ended");
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        assert!(error.to_string().ends_with("the server closed the connection"), "{error}");
        server.join().expect("it does not panic");
    });
}

/// Sends nothing, and reports that it was closed.
struct Broken(SyncSender<&'static str>);

impl MessageSender for Broken {
    fn send(&mut self, _: String) -> io::Result<()> {
        Err(io::Error::other("the tunnel broke"))
    }

    fn close(&mut self) {
        self.0.send("closed").expect("somebody listens");
    }
}

#[test]
fn an_error_of_a_blocking_sender_is_what_the_opening_says() {
    watched(|| {
        let (closed, is_closed) = sync_channel(1);
        let (_answers, from_server) = sync_channel::<String>(1);
        let receiver = move || Ok(from_server.recv().ok());
        let mut client =
            McpClient::over_messages(receiver, Broken(closed), ConnectOptions::default()).expect("there are threads");
        let error = client.initialize().expect_err("it cannot be opened");
        assert_eq!(error.connect_error(), Some(&ConnectError::Failed("the tunnel broke".into())), "{error}");
        assert_eq!(is_closed.recv(), Ok("closed"));
    });
}
