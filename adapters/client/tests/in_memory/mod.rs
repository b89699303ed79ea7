//! Servers and streams in memory, and what calls must say of them. The tests of both clients include this file.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::protocol::{CallError, Deadline, Json};
use mcpwire_client::{ConnectOptions, Error, ErrorKind};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer};
use serde_json::{Value, json};
use smol::io::AsyncWrite;

/// What the server does with a message.
pub(crate) enum Action {
    Nothing,
    Send(Vec<String>),
    Fail,
    End,
}

/// Answers in text with line breaks; the tool decides what else happens.
pub(crate) fn act(message: &str) -> Action {
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
pub(crate) fn assert_says_why(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    assert!(error.to_string().ends_with("the connection failed: the tunnel broke"), "{error}");
}

pub(crate) fn named() -> ConnectOptions {
    ConnectOptions::default().name("plugins")
}

/// The error of a call after the end, which names the server.
pub(crate) fn assert_names_the_server(error: &Error) {
    assert_eq!((error.kind(), error.server()), (ErrorKind::Closed, "plugins"), "{error}");
    assert!(error.to_string().starts_with("server `plugins`: "), "{error}");
}

/// A stream whose next write or flush fails when the program says so. Later ones do not fail. Every other flush is interrupted.
pub(crate) struct Failing<S> {
    stream: S,
    is_interrupted: bool,
    pub(crate) write_fails: Arc<AtomicBool>,
    /// If set, the stream loses what is written to it, and the next flush fails.
    pub(crate) flush_fails: Arc<AtomicBool>,
}

impl<S> Failing<S> {
    pub(crate) fn new(stream: S) -> Self {
        Failing { stream, is_interrupted: false, write_fails: Arc::default(), flush_fails: Arc::default() }
    }

    /// Whether what is written is lost.
    fn check_write(&self) -> io::Result<bool> {
        check(&self.write_fails, "the cable was cut")?;
        Ok(self.flush_fails.load(Ordering::SeqCst))
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Failing<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if self.check_write()? {
            return Poll::Ready(Ok(buf.len()));
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check_flush()?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(cx)
    }
}

impl<S: Write> Write for Failing<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.check_write()? { Ok(buf.len()) } else { self.stream.write(buf) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.check_flush()?;
        self.stream.flush()
    }
}

/// A server whose list of resources has always one page more, under a cursor that is always new.
pub(crate) fn endless(latency: Duration) -> ScriptedServer {
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
pub(crate) fn assert_timeout<T>(result: &Result<T, Error>, total: Duration) {
    let error = result.as_ref().err().and_then(Error::call_error);
    let Some(CallError::Timeout { after, deadline, .. }) = error else { panic!("it ends in another way: {error:?}") };
    assert_eq!((*after, *deadline), (total, Deadline::Total));
}
