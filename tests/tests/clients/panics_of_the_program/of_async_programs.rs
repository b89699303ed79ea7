//! Panics of async programs, and of their streams.

use std::io;
use std::marker::PhantomData;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use ::smol::Async as Socket;
use ::smol::future::{FutureExt as _, zip};
use ::smol::io::{AsyncRead, AsyncWrite};
use mcpwire_driver::protocol::{CallError, ConnectError, InputError, Json, RpcError, ServerRequest, TraceContext};
use mcpwire_driver::{ConnectOptions, Error, ErrorKind, HandlerContext, McpClient, RequestHandler, TraceSource};
use mcpwire_tests::asynchronous::{Async, Host, begun, eventually};
use mcpwire_tests::{Server, on_every_async_adapter, server, watched};
use serde_json::{Value, json};

use super::{CALLBACKS, INTERNAL, OF_THE_HANDLER, Told, ask, panics_at_times, refusal};

// In async clients.

/// Panics once it has thought for a while, if it is to think at all.
struct Thinks<H> {
    time: Option<Duration>,
    host: PhantomData<fn() -> H>,
}

impl<H: Host> RequestHandler for Thinks<H> {
    async fn handle(&self, request: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        if let Some(time) = self.time {
            H::sleep(time).await;
        }
        panics_at_times(&request)
    }
}

fn the_program_is_told_of_its_handlers<H: Host>() {
    for time in [None, Some(Duration::from_millis(1))] {
        let server = server!("asks");
        let told = Told::default();
        let errors = told.clone();
        let mut client = start::<H>(&server, |options| {
            options
                .answer(["roots/list"], Thinks::<H> { time, host: PhantomData })
                .on_panic(told.hear())
                .on_answer_error(move |ask, error| {
                    errors.push(refusal(ask, error));
                    panic!("once more");
                })
        });
        client.run(async |client| {
            client.initialize().await.expect("it answers");
            assert_eq!(ask_and_echo(&client, ask(true).arguments).await, INTERNAL);
            assert_eq!(ask_and_echo(&client, ask(false).arguments).await, r#"{"roots":[]}"#);
        });
        assert_eq!(
            told.all(),
            [
                OF_THE_HANDLER,
                &format!("roots/list: {OF_THE_HANDLER} (code -32603)"),
                "the callback `on_answer_error` panicked: once more",
            ]
        );
    }
}

/// The call of a handler panics, or the future that it gives.
fn both_parts_of_a_handler_may_panic<H: Host>() {
    let server = server!("asks");
    let mut client = start::<H>(&server, |options| {
        options.on_elicitation(|form, _| {
            assert_ne!(form.message, "at once", "the handler's secret");
            async move {
                H::sleep(Duration::from_millis(1)).await;
                panic!("the handler's secret, {}", form.message)
            }
        })
    });
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        for message in ["at once", "later", "at once"] {
            let schema = json!({"type": "object", "properties": {}});
            let params = json!({"message": message, "requestedSchema": schema});
            let arguments = json!({"method": "elicitation/create", "params": params});
            assert_eq!(ask_and_echo(&client, arguments).await, INTERNAL, "{message}");
        }
    });
}

fn the_error_of_the_modern_call_has_the_message<H: Host>() {
    let server = server!("rounds --modern");
    let told = Told::default();
    let mut client = start::<H>(&server, |options| {
        options
            .answer(["roots/list"], Thinks::<H> { time: None, host: PhantomData })
            .on_elicitation(async |_, _| panic!("of a person"))
            .on_panic(told.hear())
    });
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        let mut other = Box::pin(client.call_tool("ponder", ()).send());
        assert!(begun(&mut other).await.is_none());
        let error = client.call_tool("interview", ()).await.expect_err("it has no input");
        let Some(CallError::Input { error, .. }) = error.call_error() else { panic!("{error}") };
        let expected = InputError::Panicked {
            name: "who".into(),
            asked: "elicitation/create".into(),
            message: "of a person".into(),
        };
        assert_eq!(**error, expected);
        assert!(begun(&mut other).await.is_none(), "it waits as before");
    });
    assert_eq!(told.all(), ["the handler of `elicitation/create` panicked: of a person"]);
}

fn what_a_callback_panics_on_is_left_out<H: Host>() {
    let server = server!("well-behaved");
    let told = Told::default();
    let mut client = start::<H>(&server, |options| {
        options
            .stderr(|_| panic!("of a line"))
            .trace(|_, _| panic!("of a message"))
            .on_notification(|_| panic!("of a notification"))
            .trace_context(TraceSource::new(|| -> Option<TraceContext> { panic!("of a trace") }))
            .on_panic(|_| panic!("nobody is told of this"))
            .on_panic(told.hear())
    });
    client.run(async |client| {
        client.initialize().await.expect("it answers");
        let mut ponder = Box::pin(client.call_tool("ponder", ()).send());
        assert!(begun(&mut ponder).await.is_none());
        eventually::<H>(|| told.all().iter().any(|line| line.contains("of a line"))).await;
        let result = client.call_tool("echo", json!({"message": "well"})).await.expect("it answers");
        assert_eq!(result.text().as_str(), "well");
        assert!(begun(&mut ponder).await.is_none(), "it waits as before");
        client.shutdown().await.expect("it ends");
    });
    told.assert(&CALLBACKS[1..]);
}

fn a_callback_of_a_call_panics_in_the_task_of_the_call<H: Host>() {
    let server = server!("floods-notifications 50");
    server.open::<Async<H>>().run(async |client| {
        let other = client.call_tool("echo", json!({"message": "other"})).send();
        let call = client.call_tool("echo", json!({"message": "well"})).on_progress(|_| panic!("on purpose")).send();
        let (panic, other) = zip(AssertUnwindSafe(call).catch_unwind(), other).await;
        assert_eq!(panic.expect_err("it panics").downcast_ref::<&str>(), Some(&"on purpose"));
        assert_eq!(other.expect("it answers").text().as_str(), "other");
        assert_eq!(client.in_flight(), 0);
        assert_eq!(client.call_tool("echo", json!({"message": "on"})).await.expect("it answers").text().as_str(), "on");
    });
}

fn start<H: Host>(server: &Server, change: impl FnOnce(ConnectOptions) -> ConnectOptions) -> Async<H> {
    Async::<H>::start_with(server, change)
}

/// Lets the server ask something while another call is under way. What it was answered.
async fn ask_and_echo<R>(client: &McpClient<R>, arguments: Value) -> String {
    let others = async {
        for n in 0..3 {
            let message = n.to_string();
            let result = client.call_tool("echo", json!({"message": message})).await.expect("it answers");
            assert_eq!(result.text().as_str(), message);
        }
    };
    let (told, ()) = zip(client.call_tool("ask_for", &arguments).send(), others).await;
    told.expect("it answers").text().to_string()
}

// In the streams that a connection was made of.

/// A stream that panics once it is told to.
#[derive(Clone)]
struct Fragile<S> {
    stream: S,
    panics: Arc<AtomicBool>,
}

impl<S> Fragile<S> {
    fn check(&self) {
        assert!(!self.panics.load(Ordering::SeqCst), "the stream breaks");
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Fragile<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.check();
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Fragile<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check();
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(cx)
    }
}

impl<S: io::Read> io::Read for Fragile<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buf);
        self.check();
        read
    }
}

impl<S: io::Write> io::Write for Fragile<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.check();
        self.stream.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Both halves of a stream to a server, and what makes each of them panic.
struct Halves {
    reader: Fragile<TcpStream>,
    writer: Fragile<TcpStream>,
    server: Child,
}

fn halves() -> Halves {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
    let ours = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it is listened to");
    let (theirs, _) = listener.accept().expect("it is called");
    let stream = || Stdio::from(OwnedFd::from(theirs.try_clone().expect("there are descriptors")));
    let server = Command::new(env!("CARGO_BIN_EXE_bad-habits"))
        .arg("well-behaved")
        .stdin(stream())
        .stdout(stream())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let half = |stream| Fragile { stream, panics: Arc::default() };
    Halves { reader: half(ours.try_clone().expect("there are descriptors")), writer: half(ours), server }
}

impl Halves {
    /// What makes one half panic.
    fn trigger(&self, of_reader: bool) -> Arc<AtomicBool> {
        Arc::clone(if of_reader { &self.reader.panics } else { &self.writer.panics })
    }
}

const OF_THE_STREAM: &str = "a stream or the runtime of the connection panicked: the stream breaks";

fn assert_says_why(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    assert!(error.to_string().contains(&format!("the connection failed: {OF_THE_STREAM}")), "{error}");
}

fn a_stream_that_panics_ends_its_connection_which_says_so<H: Host>() {
    for of_reader in [true, false] {
        let halves = halves();
        let trigger = halves.trigger(of_reader);
        let Halves { reader, writer, mut server } = halves;
        let socket = |half: Fragile<TcpStream>| Fragile {
            stream: Socket::new(half.stream).expect("it is a socket"),
            panics: half.panics,
        };
        let (reader, writer) = (socket(reader), socket(writer));
        let told = Told::default();
        H::start().block_on(async {
            let options = ConnectOptions::default().on_panic(told.hear());
            let client = McpClient::<H::Runtime>::over(reader, writer, options);
            client.initialize().await.expect("it answers");
            let mut notifications = client.notifications();
            let mut other = Box::pin(client.call_tool("ponder", ()).send());
            assert!(begun(&mut other).await.is_none());
            trigger.store(true, Ordering::SeqCst);
            assert_says_why(&client.call_tool("echo", ()).await.expect_err("it has ended"));
            assert_says_why(&other.await.expect_err("it has ended"));
            assert_says_why(&client.call_tool("echo", ()).await.expect_err("it has ended"));
            while notifications.next().await.is_some() {}
            client.shutdown().await.expect("there is nothing to end");
        });
        assert_eq!(told.all(), [OF_THE_STREAM]);
        server.wait().expect("it is ours");
    }
}

fn an_opening_says_it_too<H: Host>() {
    let halves = halves();
    halves.trigger(true).store(true, Ordering::SeqCst);
    let Halves { reader, writer, mut server } = halves;
    let reader = Fragile { stream: Socket::new(reader.stream).expect("it is a socket"), panics: reader.panics };
    H::start().block_on(async {
        let writer = Socket::new(writer.stream).expect("it is a socket");
        let client = McpClient::<H::Runtime>::over(reader, writer, ConnectOptions::default());
        let error = client.initialize().await.expect_err("it cannot be opened");
        assert!(matches!(error.connect_error(), Some(ConnectError::Failed(_))), "{error}");
        assert!(error.to_string().contains(OF_THE_STREAM), "{error}");
    });
    server.wait().expect("it is ours");
}

#[test]
fn blocking_says_so_too() {
    watched(|| {
        for of_reader in [true, false] {
            let halves = halves();
            let trigger = halves.trigger(of_reader);
            let Halves { reader, writer, mut server } = halves;
            let socket = writer.stream.try_clone().expect("there are descriptors");
            let told = Told::default();
            let options = ConnectOptions::default().on_panic(told.hear());
            let mut client = mcpwire_blocking::McpClient::over(reader, writer, options).expect("there are threads");
            client.initialize().expect("it answers");
            trigger.store(true, Ordering::SeqCst);
            for _ in 0..2 {
                assert_says_why(&client.call_tool("echo", ()).send().expect_err("it has ended"));
            }
            client.shutdown().expect("there is nothing to end");
            assert_eq!(told.all(), [OF_THE_STREAM]);
            socket.shutdown(Shutdown::Both).expect("it is open");
            server.wait().expect("it is ours");
        }
    });
}

on_every_async_adapter!(
    the_program_is_told_of_its_handlers,
    both_parts_of_a_handler_may_panic,
    the_error_of_the_modern_call_has_the_message,
    what_a_callback_panics_on_is_left_out,
    a_callback_of_a_call_panics_in_the_task_of_the_call,
    a_stream_that_panics_ends_its_connection_which_says_so,
    an_opening_says_it_too,
);
