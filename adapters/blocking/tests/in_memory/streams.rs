//! Connections over streams of this process.

use std::io::{self, BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mcpwire_blocking::protocol::{CallError, Deadline, Json, ListResources, RequestOptions};
use mcpwire_blocking::{ConnectOptions, Error, ErrorKind, McpClient};
use mcpwire_engine_tests::watched;
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, duplex};
use serde_json::{Value, json};

/// Answers a request; `None` for a notification.
fn answer(line: &str) -> Option<String> {
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
fn assert_names_the_server(error: &Error) {
    assert_eq!((error.kind(), error.server()), (ErrorKind::Closed, "plugins"), "{error}");
    assert!(error.to_string().starts_with("server `plugins`: "), "{error}");
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
        let mut client = McpClient::over(from_server, to_server, named()).expect("there are threads");
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

/// A stream whose next write or flush fails when the program says so. Later ones do not fail. Every other flush is interrupted.
struct Failing<S> {
    stream: S,
    is_interrupted: bool,
    write_fails: Arc<AtomicBool>,
    /// If set, the stream loses what is written to it, and the next flush fails.
    flush_fails: Arc<AtomicBool>,
}

impl<S> Failing<S> {
    fn new(stream: S) -> Self {
        Failing { stream, is_interrupted: false, write_fails: Arc::default(), flush_fails: Arc::default() }
    }

    fn check_flush(&mut self) -> io::Result<()> {
        self.is_interrupted = !self.is_interrupted;
        if self.is_interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        check(&self.flush_fails, "the buffer was lost")
    }
}

fn check(fails: &AtomicBool, error: &str) -> io::Result<()> {
    if fails.swap(false, Ordering::SeqCst) { Err(io::Error::other(error)) } else { Ok(()) }
}

impl<S: Write> Write for Failing<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        check(&self.write_fails, "the cable was cut")?;
        if self.flush_fails.load(Ordering::SeqCst) {
            return Ok(buf.len());
        }
        self.stream.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.check_flush()?;
        self.stream.flush()
    }
}

#[test]
fn blocking_calls_fail_with_the_error_of_the_stream() {
    watched(|| {
        for (flush, error) in [(true, "the buffer was lost"), (false, "the cable was cut")] {
            let (from_server, mut to_client) = io::pipe().expect("there are pipes");
            let (from_client, to_server) = io::pipe().expect("there are pipes");
            let server = thread::spawn(move || {
                for line in BufReader::new(from_client).lines() {
                    let Some(answer) = answer(&line.expect("it can be read")) else { continue };
                    to_client.write_all(answer.as_bytes()).expect("it is read");
                }
            });
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

/// A server whose list of resources has always one page more, under a cursor that is always new.
fn endless(latency: Duration) -> ScriptedServer {
    let server = ScriptedServer::new().capabilities(json!({"resources": {}})).latency(latency);
    server.on("resources/list", |params: &Json| {
        let page: u64 = params.member::<String>("cursor").and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        ScriptedResponse::new().result(json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "resources": [{"uri": format!("a:{page}"), "name": "a"}], "nextCursor": (page + 1).to_string(),
        }))
    })
}

#[track_caller]
fn assert_timeout<T>(result: &Result<T, Error>, total: Duration) {
    let error = result.as_ref().err().and_then(Error::call_error);
    let Some(CallError::Timeout { after, deadline, .. }) = error else { panic!("it ends in another way: {error:?}") };
    assert_eq!((*after, *deadline), (total, Deadline::Total));
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
