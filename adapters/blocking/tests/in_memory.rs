//! The blocking client on servers in this process: over pipes, over whole messages, and with a list that does not end.

use std::io::{self, BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use mcpwire_blocking::protocol::{CloseReason, ConnectError, ListResources, RequestOptions};
use mcpwire_blocking::{ConnectOptions, ErrorKind, McpClient, MessageSender};
use mcpwire_engine_tests::watched;
use mcpwire_testkit::duplex;
use serde_json::json;

#[path = "../../client/tests/in_memory/mod.rs"]
mod servers;

use servers::{Action, Failing, act, assert_names_the_server, assert_says_why, assert_timeout, endless, named};

// Over streams.

/// A server on a thread, and the client's ends of the pipes to it.
fn serve() -> (io::PipeReader, io::PipeWriter, thread::JoinHandle<()>) {
    let (from_server, mut to_client) = io::pipe().expect("there are pipes");
    let (from_client, to_server) = io::pipe().expect("there are pipes");
    let server = thread::spawn(move || {
        for line in BufReader::new(from_client).lines() {
            match act(&line.expect("it can be read")) {
                Action::Send(answers) => {
                    let lines = answers.iter().map(|answer| answer.replace('\n', " ") + "\n").collect::<String>();
                    to_client.write_all(lines.as_bytes()).expect("it is read");
                }
                Action::End => return,
                _ => {}
            }
        }
    });
    (from_server, to_server, server)
}

#[test]
fn pipes_of_the_standard_library_carry_a_blocking_connection_and_its_end() {
    watched(|| {
        let (from_server, to_server, server) = serve();
        let mut client = McpClient::over(from_server, to_server, named()).expect("there are threads");
        assert_eq!(client.initialize().expect("it opens").name(), "there");
        let big = "x".repeat(100_000);
        let result = client.call_tool("echo", json!({"message": big})).send().expect("it answers");
        assert_eq!(result.text().as_str(), big);
        assert_names_the_server(&client.call_tool("end", ()).send().expect_err("it has ended"));
        client.shutdown().expect("it ends");
        server.join().expect("it does not panic");
    });
}

#[test]
fn blocking_calls_fail_with_the_error_of_the_stream() {
    watched(|| {
        for (flush, error) in [(true, "the buffer was lost"), (false, "the cable was cut")] {
            let (from_server, to_server, server) = serve();
            let writer = Failing::new(to_server);
            let fails = Arc::clone(if flush { &writer.flush_fails } else { &writer.write_fails });
            let options = ConnectOptions::default();
            let mut client = McpClient::over(from_server, writer, options).expect("there are threads");
            client.initialize().expect("it answers");
            let call = client.call_tool("echo", json!({"message": "hello"})).send();
            assert_eq!(call.expect("it answers").text().as_str(), "hello");
            fails.store(true, Ordering::SeqCst);
            let failure = client.call_tool("echo", json!({"message": "lost"})).send().expect_err("the stream fails");
            assert_eq!(failure.kind(), ErrorKind::Closed, "{failure}");
            assert!(failure.to_string().contains(error), "{failure}");
            assert!(!client.is_running());
            server.join().expect("it ends");
        }
    });
}

#[test]
fn a_list_without_end_has_one_deadline() {
    watched(|| {
        let server = endless(Duration::from_millis(5));
        let (ours, theirs) = duplex(64 * 1024);
        let serving = server.serve::<mcpwire_smol::Smol>(theirs.reader, theirs.writer);
        thread::spawn(|| smol::block_on(serving));
        let (reader, writer) = (smol::io::BlockOn::new(ours.reader), smol::io::BlockOn::new(ours.writer));
        let mut client = McpClient::over(reader, writer, ConnectOptions::default()).expect("it starts");
        client.initialize().expect("it opens");
        // Of the thousand pages that it would take, there is time for the fewest.
        let total = Duration::from_millis(100);
        assert_timeout(&client.list_all_with::<ListResources>(&RequestOptions::new().total_timeout(total)), total);
        client.ping().expect("it answers");
    });
}

// Over whole messages instead of lines: channels here.

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
