//! Connections over whole messages instead of lines: channels here.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_channel::mpsc::{Receiver, Sender, channel};
use futures_util::{Sink, SinkExt, StreamExt};
use mcpwire_driver::protocol::{CloseReason, ConnectError};
use mcpwire_driver::{ConnectOptions, Error, ErrorKind, McpClient};
use mcpwire_testkit::VirtualTime;
use serde_json::{Value, json};

use crate::spawn;

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

type Answers = Receiver<Result<String, &'static str>>;

/// Serves until the client or the server ends the connection.
async fn serve(mut received: Receiver<String>, mut answers: Sender<Result<String, &'static str>>) {
    while let Some(message) = received.next().await {
        match act(&message) {
            Action::Nothing => {}
            Action::Send(messages) => {
                for message in messages {
                    if answers.send(Ok(message)).await.is_err() {
                        return;
                    }
                }
            }
            Action::Fail => drop(answers.send(Err("the tunnel broke")).await),
            Action::End => return,
        }
    }
}

fn served() -> (Answers, Sender<String>) {
    let (to_server, received) = channel(0);
    let (answers, from_server) = channel(0);
    spawn(serve(received, answers));
    (from_server, to_server)
}

async fn open(options: ConnectOptions) -> McpClient<VirtualTime> {
    let (from_server, to_server) = served();
    let client = McpClient::<VirtualTime>::over_messages(from_server, to_server, options);
    assert_eq!(client.initialize().await.expect("it opens").name(), "there");
    client
}

/// What a call says when the transport has reported an error.
fn assert_says_why(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    assert!(error.to_string().ends_with("the connection failed: the tunnel broke"), "{error}");
}

#[test]
fn messages_may_contain_line_breaks_and_be_large() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default()).await;
        for text in ["two\nlines", &"x".repeat(1 << 20)] {
            let result = client.call_tool("echo", json!({"message": text})).await.expect("it answers");
            assert_eq!(result.text().as_str(), text);
        }
        client.shutdown().await.expect("it ends");
        assert_eq!(client.connection_end().expect("it has ended").reason, CloseReason::ByClient);
    });
}

#[test]
fn many_calls_wait_for_a_sink_with_little_room() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default()).await;
        let calls = (0..50)
            .map(|n| client.call_tool("echo", json!({"message": n.to_string()})).begin().expect("it is on its way"));
        for (n, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
            assert_eq!(call.await.expect("it answers").text().as_str(), n.to_string());
        }
        client.shutdown().await.expect("it ends");
    });
}

#[test]
fn calls_fail_with_the_error_of_the_stream() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default()).await;
        assert_says_why(&client.call_tool("fail", ()).await.expect_err("it has ended"));
        let end = client.connection_end().expect("it has ended");
        assert_eq!(end.reason, CloseReason::Failed("the tunnel broke".into()));
        assert_says_why(&client.call_tool("echo", ()).await.expect_err("it has ended"));
    });
}

#[test]
fn the_end_of_the_stream_is_the_end_of_the_connection() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default()).await;
        let error = client.call_tool("end", ()).await.expect_err("it has ended");
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        assert!(error.to_string().ends_with("the server closed the connection"), "{error}");
    });
}

#[test]
fn an_error_before_the_opening_is_what_it_says() {
    VirtualTime::new().run(async {
        let (mut answers, from_server) = channel::<Result<String, &'static str>>(1);
        answers.send(Err("the tunnel broke")).await.expect("there is room");
        let (to_server, _received) = channel::<String>(8);
        let client = McpClient::<VirtualTime>::over_messages(from_server, to_server, ConnectOptions::default());
        let error = client.initialize().await.expect_err("it cannot be opened");
        assert_eq!(error.connect_error(), Some(&ConnectError::Failed("the tunnel broke".into())), "{error}");
    });
}

#[test]
fn a_message_over_the_limit_fails_its_call_alone() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default().max_message_bytes(4096)).await;
        let error = client.call_tool("echo", json!({"message": "x".repeat(5000)})).await.expect_err("it is too large");
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        let result = client.call_tool("echo", json!({"message": "small"})).await.expect("it answers");
        assert_eq!(result.text().as_str(), "small");
    });
}

#[test]
fn a_message_that_cannot_be_read_is_one_and_spoils_nothing() {
    VirtualTime::new().run(async {
        let client = open(ConnectOptions::default()).await;
        let result = client.call_tool("print", json!({"message": "hi"})).await.expect("it answers");
        assert_eq!(result.text().as_str(), "hi");
        assert_eq!(client.invalid_messages().count(), 1);
    });
}

/// A sink that fails after some messages, and must not be used after that.
struct Fragile {
    left: usize,
    sink: Sender<String>,
}

impl Sink<String> for Fragile {
    type Error = io::Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.sink.poll_ready_unpin(cx).map_err(io::Error::other)
    }

    fn start_send(mut self: Pin<&mut Self>, message: String) -> io::Result<()> {
        self.left = self.left.checked_sub(1).expect("a sink that has failed is not used again");
        if self.left == 0 {
            return Err(io::Error::other("the tunnel broke"));
        }
        self.sink.start_send_unpin(message).map_err(io::Error::other)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        assert!(self.left > 0, "a sink that has failed is not used again");
        self.sink.poll_flush_unpin(cx).map_err(io::Error::other)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        assert!(self.left > 0, "a sink that has failed is not used again");
        self.sink.poll_close_unpin(cx).map_err(io::Error::other)
    }
}

#[test]
fn an_error_of_the_sink_is_what_calls_say() {
    let time = VirtualTime::new();
    let (to_server, received) = channel(0);
    let (answers, from_server) = channel(0);
    time.spawn(serve(received, answers));
    time.run(async {
        // `server/discover`, `initialize`, `notifications/initialized`, and the call.
        let sink = Fragile { left: 4, sink: to_server };
        let client = McpClient::<VirtualTime>::over_messages(from_server, sink, ConnectOptions::default());
        client.initialize().await.expect("it opens");
        for _ in 0..2 {
            assert_says_why(&client.call_tool("echo", json!({"message": "hi"})).await.expect_err("it has ended"));
        }
        client.shutdown().await.expect("there is nothing to end");
    });
}

#[test]
fn a_sink_without_room_holds_messages_back() {
    let time = VirtualTime::new();
    let (to_server, mut received) = channel::<String>(0);
    // Nobody answers.
    let (_answers, from_server) = channel::<Result<String, Infallible>>(0);
    time.run(async {
        let client = McpClient::<VirtualTime>::over_messages(from_server, to_server, ConnectOptions::default());
        let opening = client.clone();
        let error = Arc::new(Mutex::new(None));
        let told = Arc::clone(&error);
        time.spawn(async move {
            *told.lock().expect("nobody panics") = opening.initialize().await.err();
        });
        // The deadline passes although the sink has no room left: the server reads nothing.
        time.sleep(Duration::from_secs(600)).await;
        let error = error.lock().expect("nobody panics").take().expect("nobody has answered");
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
        assert!(received.next().await.expect("one has been sent").contains("server/discover"));
        client.shutdown().await.expect("it ends");
    });
}
