//! Connections over whole messages instead of lines: channels here.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use futures_channel::mpsc::{Receiver, Sender, channel};
use futures_util::{Sink, SinkExt, StreamExt};
use mcpwire_client::{LinesToMessages, MessagesToLines};
use mcpwire_driver::protocol::{CloseReason, ConnectError};
use mcpwire_driver::{ConnectOptions, Error, ErrorKind, McpClient};
use mcpwire_testkit::VirtualTime;
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::{on_every_async_adapter, watched};
use proptest::prelude::*;
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

fn served<H: Host>() -> (Answers, Sender<String>) {
    let (to_server, received) = channel(0);
    let (answers, from_server) = channel(0);
    H::spawn(serve(received, answers));
    (from_server, to_server)
}

async fn open<H: Host>(options: ConnectOptions) -> McpClient<H::Runtime> {
    let (from_server, to_server) = served::<H>();
    let client = McpClient::<H::Runtime>::over_messages(from_server, to_server, options);
    assert_eq!(client.initialize().await.expect("it opens").name(), "there");
    client
}

/// What a call says when the transport has reported an error.
fn assert_says_why(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    assert!(error.to_string().ends_with("the connection failed: the tunnel broke"), "{error}");
}

fn messages_may_contain_line_breaks_and_be_large<H: Host>() {
    H::start().block_on(async {
        let client = open::<H>(ConnectOptions::default()).await;
        for text in ["two\nlines", &"x".repeat(1 << 20)] {
            let result = client.call_tool("echo", json!({"message": text})).await.expect("it answers");
            assert_eq!(result.text().as_str(), text);
        }
        client.shutdown().await.expect("it ends");
        assert_eq!(client.connection_end().expect("it has ended").reason, CloseReason::ByClient);
    });
}

fn many_calls_wait_for_a_sink_with_little_room<H: Host>() {
    H::start().block_on(async {
        let client = open::<H>(ConnectOptions::default()).await;
        let calls = (0..50)
            .map(|n| client.call_tool("echo", json!({"message": n.to_string()})).begin().expect("it is on its way"));
        for (n, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
            assert_eq!(call.await.expect("it answers").text().as_str(), n.to_string());
        }
        client.shutdown().await.expect("it ends");
    });
}

fn calls_fail_with_the_error_of_the_stream<H: Host>() {
    H::start().block_on(async {
        let client = open::<H>(ConnectOptions::default()).await;
        assert_says_why(&client.call_tool("fail", ()).await.expect_err("it has ended"));
        let end = client.connection_end().expect("it has ended");
        assert_eq!(end.reason, CloseReason::Failed("the tunnel broke".into()));
        assert_says_why(&client.call_tool("echo", ()).await.expect_err("it has ended"));
    });
}

fn the_end_of_the_stream_is_the_end_of_the_connection<H: Host>() {
    H::start().block_on(async {
        let client = open::<H>(ConnectOptions::default()).await;
        let error = client.call_tool("end", ()).await.expect_err("it has ended");
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        assert!(error.to_string().ends_with("the server closed the connection"), "{error}");
    });
}

fn an_error_before_the_opening_is_what_it_says<H: Host>() {
    H::start().block_on(async {
        let (mut answers, from_server) = channel::<Result<String, &'static str>>(1);
        answers.send(Err("the tunnel broke")).await.expect("there is room");
        let (to_server, _received) = channel::<String>(8);
        let client = McpClient::<H::Runtime>::over_messages(from_server, to_server, ConnectOptions::default());
        let error = client.initialize().await.expect_err("it cannot be opened");
        assert_eq!(error.connect_error(), Some(&ConnectError::Failed("the tunnel broke".into())), "{error}");
    });
}

fn a_message_over_the_limit_fails_its_call_alone<H: Host>() {
    H::start().block_on(async {
        let client = open::<H>(ConnectOptions::default().max_message_bytes(4096)).await;
        let error = client.call_tool("echo", json!({"message": "x".repeat(5000)})).await.expect_err("it is too large");
        assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
        let result = client.call_tool("echo", json!({"message": "small"})).await.expect("it answers");
        assert_eq!(result.text().as_str(), "small");
    });
}

fn a_message_that_cannot_be_read_is_one_and_spoils_nothing<H: Host>() {
    H::start().block_on(async {
        let client = open::<H>(ConnectOptions::default()).await;
        let result = client.call_tool("print", json!({"message": "hi"})).await.expect("it answers");
        assert_eq!(result.text().as_str(), "hi");
        assert_eq!(client.invalid_messages().count(), 1);
    });
}

on_every_async_adapter!(
    messages_may_contain_line_breaks_and_be_large,
    many_calls_wait_for_a_sink_with_little_room,
    calls_fail_with_the_error_of_the_stream,
    the_end_of_the_stream_is_the_end_of_the_connection,
    an_error_before_the_opening_is_what_it_says,
    a_message_over_the_limit_fails_its_call_alone,
    a_message_that_cannot_be_read_is_one_and_spoils_nothing,
);

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

/// A server on a thread, for the blocking client.
fn blocking(options: ConnectOptions) -> (mcpwire_blocking::McpClient, thread::JoinHandle<()>) {
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
    let mut client = mcpwire_blocking::McpClient::over_messages(receiver, sender, options).expect("there are threads");
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

impl mcpwire_blocking::MessageSender for Broken {
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
            mcpwire_blocking::McpClient::over_messages(receiver, Broken(closed), ConnectOptions::default())
                .expect("there are threads");
        let error = client.initialize().expect_err("it cannot be opened");
        assert_eq!(error.connect_error(), Some(&ConnectError::Failed("the tunnel broke".into())), "{error}");
        assert_eq!(is_closed.recv(), Ok("closed"));
    });
}

/// Reads all messages through buffers of these sizes, in turns.
fn lines(messages: &[Vec<u8>], sizes: &[usize]) -> Vec<u8> {
    let (mut lines, mut seen) = (MessagesToLines::default(), Vec::new());
    let mut sizes = sizes.iter().cycle();
    for message in messages {
        assert!(lines.needs_message());
        lines.set_message(message);
        while !lines.needs_message() {
            let mut buf = vec![0; *sizes.next().expect("it is a circle")];
            let n = lines.read(&mut buf);
            assert!(n > 0, "that would be the end of the stream");
            seen.extend_from_slice(&buf[..n]);
        }
    }
    seen
}

proptest! {
    #[test]
    fn each_message_is_one_line(
        messages in prop::collection::vec(prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..40), 0..8),
        sizes in prop::collection::vec(1..20_usize, 1..8),
    ) {
        let seen = lines(&messages, &sizes);
        let mut seen: Vec<&[u8]> = seen.split(|byte| *byte == b'\n').collect();
        prop_assert_eq!(seen.pop(), Some(&b""[..]), "the last line is complete");
        let expected: Vec<Vec<u8>> = messages
            .iter()
            .map(|message| message.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }).collect())
            .collect();
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn a_line_has_the_meaning_of_its_message(texts in prop::collection::vec(any::<String>(), 0..5)) {
        let value = json!({"texts": texts, "more": [1, null]});
        let message = serde_json::to_vec_pretty(&value).expect("it is JSON");
        let line = lines(&[message], &[7]);
        prop_assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        prop_assert_eq!(serde_json::from_slice::<Value>(&line).expect("it is JSON"), value);
    }

    #[test]
    fn each_line_is_one_message(
        lines in prop::collection::vec("[^\n]{0,20}", 0..8),
        sizes in prop::collection::vec(1..20_usize, 1..8),
    ) {
        let bytes: Vec<u8> = lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
        let (mut messages, mut seen, mut rest) = (LinesToMessages::default(), Vec::new(), &bytes[..]);
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (taken, message) = messages.write(&rest[..rest.len().min(*size)]);
            prop_assert!(taken > 0);
            rest = &rest[taken..];
            seen.extend(message);
        }
        let expected: Vec<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
        prop_assert_eq!(seen.iter().collect::<Vec<_>>(), expected);
    }
}
