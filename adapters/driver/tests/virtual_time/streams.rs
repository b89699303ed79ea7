//! Streams in memory: the name of a connection without a process, streams that fail, and servers that a launcher has started.

use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_io::AsyncWrite;
use mcpwire_client::GracePeriods;
use mcpwire_driver::memory::{Duplex, PipeWriter, duplex};
use mcpwire_driver::protocol::{CloseReason, Config};
use mcpwire_driver::{ConnectOptions, Error, ErrorKind, Exit, McpClient, McpServerDef, ServerLaunch};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, VirtualTime};
use smol::future::{poll_once, zip};
use smol::io::AsyncReadExt;

use crate::{eventually, spawn};

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

/// The caller of a request writes it if no other request is in flight. Otherwise the driver does.
#[test]
fn calls_fail_with_the_error_of_the_stream() {
    for (flush, is_alone) in [(true, true), (true, false), (false, true), (false, false)] {
        VirtualTime::new().run(async {
            let (ours, theirs) = duplex(1024);
            let server = ScriptedServer::new()
                .tool("hello", |_| "hello")
                .tool("wait", |_| ScriptedResponse::new().wait(Duration::from_secs(3600)));
            spawn(server.serve::<VirtualTime>(theirs.reader, theirs.writer));
            let writer = Failing::new(ours.writer);
            let (fails, error) = if flush {
                (Arc::clone(&writer.flush_fails), "the buffer was lost")
            } else {
                (Arc::clone(&writer.write_fails), "the cable was cut")
            };
            let client = McpClient::<VirtualTime>::over(ours.reader, writer, ConnectOptions::default());
            client.initialize().await.expect("it opens");
            assert_eq!(client.call_tool("hello", ()).await.expect("it answers").text().as_str(), "hello");
            let waiting = async { if is_alone { None } else { Some(client.call_tool("wait", ()).await) } };
            let last = async {
                let in_flight = usize::from(!is_alone);
                eventually(|| server.calls("wait").len() == in_flight).await;
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

fn named() -> ConnectOptions {
    ConnectOptions::default().name("plugins")
}

/// The error of a call after the end, which names the server.
fn assert_names_the_server(error: &Error) {
    assert_eq!((error.kind(), error.server()), (ErrorKind::Closed, "plugins"), "{error}");
    assert!(error.to_string().starts_with("server `plugins`: "), "{error}");
}

#[test]
fn a_server_in_memory_is_called_by_its_name() {
    VirtualTime::new().run(async {
        let (ours, theirs) = duplex(1024);
        let server = ScriptedServer::new().tool("hello", |_| "hello");
        let serving = server.serve::<VirtualTime>(theirs.reader, theirs.writer);
        spawn(serving);
        let client = McpClient::<VirtualTime>::over(ours.reader, ours.writer, named());
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

#[test]
fn nothing_is_kept_of_futures_that_waited_for_the_end() {
    VirtualTime::new().run(async {
        let (ours, theirs) = duplex(1024);
        spawn(ScriptedServer::new().serve::<VirtualTime>(theirs.reader, theirs.writer));
        let client = McpClient::<VirtualTime>::over(ours.reader, ours.writer, named());
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

/// The server ends its output on the probe, and would be restarted after its exit. Nobody waits for the opening.
#[test]
fn a_shutdown_prevents_a_restart() {
    let hour = Duration::from_secs(3_600);
    let (exit_now, exits) = smol::channel::bounded(1);
    let (ours, Duplex { reader: mut input, writer: output }) = duplex(1024);
    drop(output);
    let once = Mutex::new(Some((ours, exits)));
    let options = ConnectOptions::default()
        .grace_periods(GracePeriods { after_close: hour, after_terminate: hour })
        .launcher(move |_: &McpServerDef| {
            let (ours, exits) = once.lock().unwrap().take().expect("it is started once");
            let exit = async move { exits.recv().await.expect("the test ends the server") };
            Ok(ServerLaunch::streams(ours.reader, ours.writer, exit))
        });
    VirtualTime::new().run(async {
        let client =
            McpClient::<VirtualTime>::connect_with(&McpServerDef::new("in-memory"), options).expect("it starts");
        assert!(poll_once(pin!(client.initialize())).await.is_none());
        // The client closes the input when it has seen the end of the output.
        input.read_to_end(&mut Vec::new()).await.expect("it can be read");
        let shutdown = client.shutdown();
        exit_now.send(Exit::new(Some(0), None)).await.expect("the client waits for the exit");
        assert_eq!(client.closed().await.reason, CloseReason::ByServer);
        shutdown.await.expect("it ends");
    });
}

/// A value of the program whose drop uses the client.
struct UsesClient(Arc<OnceLock<McpClient<()>>>);

impl Drop for UsesClient {
    fn drop(&mut self) {
        assert_eq!(self.0.get().expect("it is connected").pid(), None);
    }
}

#[test]
fn the_values_of_an_unused_kill_function_may_use_the_client() {
    let place = Arc::<OnceLock<McpClient<()>>>::default();
    let of_launcher = Arc::clone(&place);
    let options = ConnectOptions::new(Config::default()).launcher(move |_: &McpServerDef| {
        let (ours, _) = duplex(1024);
        let value = UsesClient(Arc::clone(&of_launcher));
        let exit = async { Exit::new(Some(0), None) };
        Ok(ServerLaunch::streams(ours.reader, ours.writer, exit).on_kill(move || drop(value)))
    });
    VirtualTime::new().run(async {
        let client =
            McpClient::<VirtualTime>::connect_with(&McpServerDef::new("in-memory"), options).expect("it starts");
        place.set(client.without_runtime()).expect("it is empty");
        assert_eq!(client.shutdown().await.expect("it ends").exit, Some(Exit::new(Some(0), None)));
    });
}
