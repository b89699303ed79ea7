//! A stream whose write or flush fails once: the connection ends with that error, whoever has written.

use std::io::{self, BufRead, BufReader, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use ::smol::future::zip;
use ::smol::io::AsyncWrite;
use mcpwire_driver::memory::{PipeWriter, duplex};
use mcpwire_driver::{ConnectOptions, ErrorKind, McpClient};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer};
use mcpwire_tests::asynchronous::{Host, eventually};
use mcpwire_tests::{on_every_async_adapter, watched};
use serde_json::json;

use super::in_process::answer;

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

impl AsyncWrite for Failing<PipeWriter> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        check(&self.write_fails, "the cable was cut")?;
        if self.flush_fails.load(Ordering::SeqCst) {
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

/// The caller of a request writes it if no other request is in flight. Otherwise the driver does.
fn calls_fail_with_the_error_of_the_stream<H: Host>() {
    for (flush, is_alone) in [(true, true), (true, false), (false, true), (false, false)] {
        H::start().block_on(async {
            let (ours, theirs) = duplex(1024);
            let server = ScriptedServer::new()
                .tool("hello", |_| "hello")
                .tool("wait", |_| ScriptedResponse::new().wait(Duration::from_secs(3600)));
            H::spawn(server.serve::<H::Runtime>(theirs.reader, theirs.writer));
            let writer = Failing::new(ours.writer);
            let (fails, error) = if flush {
                (Arc::clone(&writer.flush_fails), "the buffer was lost")
            } else {
                (Arc::clone(&writer.write_fails), "the cable was cut")
            };
            let client = McpClient::<H::Runtime>::over(ours.reader, writer, ConnectOptions::default());
            client.initialize().await.expect("it opens");
            assert_eq!(client.call_tool("hello", ()).await.expect("it answers").text().as_str(), "hello");
            let waiting = async { if is_alone { None } else { Some(client.call_tool("wait", ()).await) } };
            let last = async {
                let in_flight = usize::from(!is_alone);
                eventually::<H>(|| server.calls("wait").len() == in_flight).await;
                fails.store(true, Ordering::SeqCst);
                client.call_tool("hello", ()).await
            };
            let (waited, last) = zip(waiting, last).await;
            for outcome in waited.into_iter().chain([last]) {
                let failure = outcome.expect_err("the stream fails");
                assert_eq!(failure.kind(), ErrorKind::Closed, "{failure}");
                assert!(failure.to_string().contains(error), "{failure}");
            }
            assert!(!client.is_running());
            assert_eq!(server.calls("hello").len(), 1);
        });
    }
}

on_every_async_adapter!(calls_fail_with_the_error_of_the_stream);

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
            let mut client =
                mcpwire_blocking::McpClient::over(from_server, writer, options).expect("there are threads");
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
