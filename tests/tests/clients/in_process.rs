//! A server in the same process, and the name of a connection that has no process.

use std::io::{self, BufRead, BufReader, Write};
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread;

use mcpwire_driver::memory::duplex;
use mcpwire_driver::{ConnectOptions, ErrorKind};
use mcpwire_testkit::ScriptedServer;
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::{on_every_async_adapter, watched};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

/// Answers a request; `None` for a notification.
pub(super) fn answer(line: &str) -> Option<String> {
    let message: Value = serde_json::from_str(line).expect("it is JSON");
    let id = message.get("id")?;
    let answer = match message["method"].as_str() {
        Some("initialize") => json!({"id": id, "jsonrpc": "2.0", "result": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "inside", "version": "1"},
        }}),
        Some("tools/call") => json!({"id": id, "jsonrpc": "2.0", "result": {
            "content": [{"type": "text", "text": message["params"]["arguments"]["message"]}],
        }}),
        _ => json!({"id": id, "jsonrpc": "2.0", "error": {"code": -32601, "message": "no such method"}}),
    };
    Some(format!("{answer}\n"))
}

fn named() -> ConnectOptions {
    ConnectOptions::default().name("plugins")
}

/// The error of a call after the end, which names the server.
fn assert_names_the_server(error: &mcpwire_driver::Error) {
    assert_eq!((error.kind(), error.server()), (ErrorKind::Closed, "plugins"), "{error}");
    assert!(error.to_string().starts_with("server `plugins`: "), "{error}");
}

fn a_server_in_memory_is_called_by_its_name<H: Host>() {
    H::start().block_on(async {
        let (ours, theirs) = duplex(1024);
        let server = ScriptedServer::new().tool("hello", |_| "hello");
        let serving = server.serve::<H::Runtime>(theirs.reader, theirs.writer);
        H::spawn(serving);
        let client = mcpwire_driver::McpClient::<H::Runtime>::over(ours.reader, ours.writer, named());
        client.initialize().await.expect("it opens");
        assert_eq!(client.call_tool("hello", ()).await.expect("it answers").text().as_str(), "hello");
        client.shutdown().await.expect("it ends");
        assert_names_the_server(&client.call_tool("hello", ()).await.expect_err("it has ended"));
    });
}

/// A waker that only counts its owners.
struct CountedWaker;

impl Wake for CountedWaker {
    fn wake(self: Arc<Self>) {}
}

fn nothing_is_kept_of_futures_that_waited_for_the_end<H: Host>() {
    H::start().block_on(async {
        let (ours, theirs) = duplex(1024);
        H::spawn(ScriptedServer::new().serve::<H::Runtime>(theirs.reader, theirs.writer));
        let client = mcpwire_driver::McpClient::<H::Runtime>::over(ours.reader, ours.writer, named());
        client.initialize().await.expect("it opens");
        let counted = Arc::new(CountedWaker);
        for _ in 0..100 {
            let waker = Waker::from(Arc::clone(&counted));
            let mut closed = Box::pin(client.closed());
            assert!(closed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            assert!(Arc::strong_count(&counted) > 2, "it waits");
            drop(closed);
            drop(waker);
            assert_eq!(Arc::strong_count(&counted), 1, "it has gone");
        }
        client.shutdown().await.expect("it ends");
    });
}

on_every_async_adapter!(a_server_in_memory_is_called_by_its_name, nothing_is_kept_of_futures_that_waited_for_the_end);

#[test]
fn a_duplex_of_tokio_carries_a_connection_and_its_end() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there is a runtime");
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(1024);
        let server = tokio::spawn(async {
            let (reader, mut writer) = tokio::io::split(theirs);
            let mut lines = tokio::io::BufReader::new(reader).lines();
            while let Some(line) = lines.next_line().await? {
                if let Some(answer) = answer(&line) {
                    writer.write_all(answer.as_bytes()).await?;
                }
            }
            io::Result::Ok(())
        });
        let (reader, writer) = tokio::io::split(ours);
        let client =
            mcpwire_tokio::McpClient::over(mcpwire_tokio::Compat(reader), mcpwire_tokio::Compat(writer), named());
        assert_eq!(client.initialize().await.expect("it opens").name(), "inside");
        // More than the stream holds, in both directions.
        let big = "x".repeat(100_000);
        let result = client.call_tool("echo", json!({"message": big})).await.expect("it answers");
        assert_eq!(result.text().as_str(), big);
        client.shutdown().await.expect("it ends");
        server.await.expect("it does not panic").expect("its stream has ended");
        assert_names_the_server(&client.call_tool("echo", ()).await.expect_err("it has ended"));
    });
}

#[test]
fn pipes_of_the_standard_library_carry_a_blocking_connection_and_its_end() {
    watched(|| {
        let (from_server, mut to_client) = io::pipe().expect("there are pipes");
        let (from_client, to_server) = io::pipe().expect("there are pipes");
        let server = thread::spawn(move || {
            for line in BufReader::new(from_client).lines() {
                let Some(answer) = answer(&line.expect("it can be read")) else { continue };
                if answer.contains("stop") {
                    return;
                }
                to_client.write_all(answer.as_bytes()).expect("it is read");
            }
        });
        let mut client = mcpwire_blocking::McpClient::over(from_server, to_server, named()).expect("there are threads");
        assert_eq!(client.initialize().expect("it opens").name(), "inside");
        let big = "x".repeat(100_000);
        let result = client.call_tool("echo", json!({"message": big})).send().expect("it answers");
        assert_eq!(result.text().as_str(), big);
        assert_names_the_server(
            &client.call_tool("echo", json!({"message": "stop"})).send().expect_err("it has ended"),
        );
        client.shutdown().expect("it ends");
        server.join().expect("it does not panic");
    });
}
