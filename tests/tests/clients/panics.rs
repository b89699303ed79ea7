//! The program's own code panics, or its streams: the connection goes on where it can, and whoever is concerned is told.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use ::smol::future::{FutureExt as _, zip};
use ::smol::io::{AsyncRead, AsyncWrite, BlockOn};
use mcpwire_blocking as blocking;
use mcpwire_driver::protocol::{CallError, ConnectError, InputError, Json, RpcError, ServerRequest, TraceContext};
use mcpwire_driver::{CallbackPanic, ConnectOptions, Error, ErrorKind, McpClient, TraceSource};
use mcpwire_testkit::{PipeReader, PipeWriter, ScriptedResponse, ScriptedServer, duplex};
use mcpwire_tests::asynchronous::{Host, begun};
use mcpwire_tests::{Adapter, Call, Server, on_both_clients, server, watched};
use serde_json::json;

use crate::{open_blocking, with_client};

// In handlers and callbacks.

/// What a server is told of a panic.
const INTERNAL: &str = r#"{"code":-32603,"message":"Internal error"}"#;

const OF_THE_HANDLER: &str = "the handler of `roots/list` panicked: the handler's secret";

/// Answers with roots, unless it is asked to panic or for something else.
fn panics_at_times(ask: &ServerRequest) -> Result<Json, RpcError> {
    let is_to_panic = ask.params.as_ref().is_some_and(|params| params.get().contains("panic"));
    assert!(ask.method == "roots/list" && !is_to_panic, "the handler's secret");
    Json::parse(r#"{"roots":[]}"#).map_err(|error| RpcError::new(RpcError::INTERNAL_ERROR, error.to_string()))
}

fn answering(mut server: Server) -> Server {
    for method in ["roots/list", "elicitation/create"] {
        server.config.answer(method);
    }
    server.heard.answer = Some(panics_at_times);
    server
}

fn ask(panics: bool) -> Call {
    let params = if panics { json!({"panic": true}) } else { json!({}) };
    Call::new("ask_for").with(json!({"method": "roots/list", "params": params}))
}

fn echo(message: &str) -> Call {
    Call::new("echo").with(json!({"message": message}))
}

fn open<A: Adapter>(server: &Server, change: impl FnOnce(ConnectOptions) -> ConnectOptions) -> A {
    let options = change(ConnectOptions::new(server.config.clone()));
    A::open(&server.def, options)
}

fn a_legacy_server_is_told_of_an_internal_error_and_nothing_else<A: Adapter>() {
    let server = answering(server!("asks"));
    let mut client = server.open::<A>();
    for (panics, told) in [(true, INTERNAL), (false, r#"{"roots":[]}"#), (true, INTERNAL), (true, INTERNAL)] {
        assert_eq!(client.call(ask(panics)).expect("it answers").text().as_str(), told);
        client.assert_alive();
    }
    assert_eq!(server.heard.asked.lock().unwrap().len(), 4, "the handler is called each time");
}

fn the_modern_call_fails_that_the_input_was_for<A: Adapter>() {
    let server = answering(server!("rounds --modern"));
    let mut client = server.open::<A>();
    for _ in 0..2 {
        let failure = client.failure("interview");
        let words = ["tools/call", "`elicitation/create`", "`who`", "panicked: the handler's secret"];
        failure.assert(ErrorKind::Input, &words);
        let error = failure.error.expect("it has failed");
        let Some(CallError::Input { error, .. }) = error.call_error() else { panic!("{error}") };
        let (name, asked) = ("who".into(), "elicitation/create".into());
        assert_eq!(**error, InputError::Panicked { name, asked, message: "the handler's secret".into() });
        client.assert_alive();
        assert_eq!(client.text("large-state", json!({})), "it is the same", "another input of the same handler");
    }
    assert_eq!(client.in_flight(), 0);
}

fn calls_that_are_under_way_go_on<A: Adapter>() {
    let server = answering(server!("asks"));
    let mut client = server.open::<A>();
    let results = client.call_together(vec![ask(true), echo("first"), echo("second")]);
    let texts: Vec<String> = results.into_iter().map(|result| result.expect("it answers").text().to_string()).collect();
    assert_eq!(texts, [INTERNAL, "first", "second"]);

    let server = answering(server!("rounds --modern"));
    let mut client = server.open::<A>();
    let mut results = client.call_together(vec![echo("first"), Call::new("interview"), echo("second")]).into_iter();
    let mut next = || results.next().expect("there are three");
    assert_eq!(next().expect("it answers").text().as_str(), "first");
    next().expect_err("it has no input").assert(ErrorKind::Input, &["panicked"]);
    assert_eq!(next().expect("it answers").text().as_str(), "second");
}

/// What a program is told, one a line.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn hear(&self) -> impl Fn(&CallbackPanic) + Send + Sync + 'static {
        let told = self.clone();
        move |panic| told.push(panic.to_string())
    }

    fn push(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

fn the_program_is_told_of_its_handlers<A: Adapter>() {
    let server = server!("asks");
    let told = Told::default();
    let errors = told.clone();
    let mut client = open::<A>(&server, |options| {
        options
            .answer(["roots/list"], async |request: ServerRequest, _| panics_at_times(&request))
            .on_panic(told.hear())
            .on_answer_error(move |ask, error| {
                errors.push(format!("{}: {error}", ask.method));
                panic!("once more");
            })
    });
    assert_eq!(client.call(ask(true)).expect("it answers").text().as_str(), INTERNAL);
    assert_eq!(client.call(ask(false)).expect("it answers").text().as_str(), r#"{"roots":[]}"#);
    assert_eq!(
        told.all(),
        [
            OF_THE_HANDLER,
            &format!("roots/list: {OF_THE_HANDLER} (code -32603)"),
            "the callback `on_answer_error` panicked: once more",
        ]
    );
}

/// The call of a handler panics, or the future that it gives.
fn both_parts_of_a_handler_may_panic<A: Adapter>() {
    let server = server!("asks");
    let mut client = open::<A>(&server, |options| {
        options.on_elicitation(|form, _| {
            assert_ne!(form.message, "at once", "the handler's secret");
            async move {
                ::smol::future::yield_now().await;
                panic!("the handler's secret, {}", form.message)
            }
        })
    });
    for message in ["at once", "later", "at once"] {
        let params = json!({"message": message, "requestedSchema": {"type": "object", "properties": {}}});
        let told = client.text("ask_for", json!({"method": "elicitation/create", "params": params}));
        assert_eq!(told, INTERNAL, "{message}");
        client.assert_alive();
    }
}

fn what_a_callback_panics_on_is_left_out<A: Adapter>() {
    let server = server!("floods-notifications 3");
    let told = Told::default();
    let mut client = open::<A>(&server, |options| {
        options
            .on_panic(|_| panic!("nobody is told of this"))
            .on_panic(told.hear())
            .stderr(|_| panic!("of a line"))
            .trace(|_, _| panic!("of a message"))
            .on_notification(|_| panic!("of a notification"))
            .trace_context(TraceSource::new(|| -> Option<TraceContext> { panic!("of a trace") }))
    });
    client.assert_alive();
    // It says something on standard error.
    client.call(Call::new("ponder").timeout(Duration::from_millis(20))).expect_err("it is not answered");
    while !told.all().iter().any(|panic| panic.contains("of a line")) {
        client.assert_alive();
    }
    client.shutdown().expect("it ends");
    let mut told = told.all();
    told.sort();
    told.dedup();
    let callbacks = [
        "the callback `on_notification` panicked: of a notification",
        "the callback `stderr` panicked: of a line",
        "the callback `trace` panicked: of a message",
        "the source `trace_context` panicked: of a trace",
    ];
    assert_eq!(told, callbacks);
}

#[test]
fn a_callback_of_a_blocking_call_panics_in_the_call() {
    watched(|| {
        let (_server, mut client) = open_blocking("floods-notifications 50");
        let other = client.call_tool("echo", json!({"message": "begun"})).begin().expect("it is sent");
        let call = client.call_tool("echo", json!({"message": "well"})).on_progress(|_| panic!("on purpose"));
        let panic = catch_unwind(AssertUnwindSafe(|| call.send())).expect_err("it panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
        assert_eq!(client.in_flight(), 0, "it was given up, and the other has been answered before");
        assert_eq!(other.wait(&mut client).expect("it answers").text().as_str(), "begun");
        let next = client.call_tool("echo", json!({"message": "well"})).send().expect("it answers");
        assert_eq!(next.text().as_str(), "well");
    });
}

fn a_callback_of_a_call_panics_in_the_task_of_the_call<H: Host>() {
    with_client::<H>("floods-notifications 50", async |client| {
        let other = client.call_tool("echo", json!({"message": "other"})).send();
        let call = client.call_tool("echo", json!({"message": "well"})).on_progress(|_| panic!("on purpose")).send();
        let (panic, other) = zip(AssertUnwindSafe(call).catch_unwind(), other).await;
        assert_eq!(panic.expect_err("it panics").downcast_ref::<&str>(), Some(&"on purpose"));
        assert_eq!(other.expect("it answers").text().as_str(), "other");
        assert_eq!(client.in_flight(), 0);
        assert_eq!(client.call_tool("echo", json!({"message": "on"})).await.expect("it answers").text().as_str(), "on");
    });
}

// In the streams that a connection was made of.

/// A stream that panics once it is told to.
struct Fragile<S> {
    stream: S,
    panics: Arc<AtomicBool>,
}

impl<S> Fragile<S> {
    fn check(&self) {
        assert!(!self.panics.load(Ordering::SeqCst), "the stream breaks");
    }
}

impl AsyncRead for Fragile<PipeReader> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.check();
        read
    }
}

impl AsyncWrite for Fragile<PipeWriter> {
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

/// Both halves of a stream to a server. The flag makes the reader panic, or the writer.
fn halves(of_reader: bool) -> (Fragile<PipeReader>, Fragile<PipeWriter>, Arc<AtomicBool>) {
    let (ours, theirs) = duplex(1 << 16);
    let server = ScriptedServer::new().tool("echo", |_| "hello").tool("ponder", |_| ScriptedResponse::new());
    thread::spawn(move || ::smol::block_on(server.serve::<mcpwire_smol::Smol>(theirs.reader, theirs.writer)));
    let reader = Fragile { stream: ours.reader, panics: Arc::default() };
    let writer = Fragile { stream: ours.writer, panics: Arc::default() };
    let panics = Arc::clone(if of_reader { &reader.panics } else { &writer.panics });
    (reader, writer, panics)
}

const OF_THE_STREAM: &str = "a stream or the runtime of the connection panicked: the stream breaks";

fn assert_says_why(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    assert!(error.to_string().contains(&format!("the connection failed: {OF_THE_STREAM}")), "{error}");
}

fn a_stream_that_panics_ends_its_connection_which_says_so<H: Host>() {
    for of_reader in [true, false] {
        let (reader, writer, panics) = halves(of_reader);
        let told = Told::default();
        H::start().block_on(async {
            let options = ConnectOptions::default().on_panic(told.hear());
            let client = McpClient::<H::Runtime>::over(reader, writer, options);
            client.initialize().await.expect("it answers");
            let mut notifications = client.notifications();
            let mut other = Box::pin(client.call_tool("ponder", ()).send());
            assert!(begun(&mut other).await.is_none());
            panics.store(true, Ordering::SeqCst);
            assert_says_why(&client.call_tool("echo", ()).await.expect_err("it has ended"));
            assert_says_why(&other.await.expect_err("it has ended"));
            assert_says_why(&client.call_tool("echo", ()).await.expect_err("it has ended"));
            while notifications.next().await.is_some() {}
            client.shutdown().await.expect("there is nothing to end");
        });
        assert_eq!(told.all(), [OF_THE_STREAM]);
    }
}

fn an_opening_says_it_too<H: Host>() {
    let (reader, writer, panics) = halves(true);
    panics.store(true, Ordering::SeqCst);
    H::start().block_on(async {
        let client = McpClient::<H::Runtime>::over(reader, writer, ConnectOptions::default());
        let error = client.initialize().await.expect_err("it cannot be opened");
        assert!(matches!(error.connect_error(), Some(ConnectError::Failed(_))), "{error}");
        assert!(error.to_string().contains(OF_THE_STREAM), "{error}");
    });
}

#[test]
fn blocking_says_so_too() {
    watched(|| {
        for of_reader in [true, false] {
            let (reader, writer, panics) = halves(of_reader);
            let told = Told::default();
            let options = ConnectOptions::default().on_panic(told.hear());
            let client = blocking::McpClient::over(BlockOn::new(reader), BlockOn::new(writer), options);
            let mut client = client.expect("there are threads");
            client.initialize().expect("it answers");
            panics.store(true, Ordering::SeqCst);
            for _ in 0..2 {
                assert_says_why(&client.call_tool("echo", ()).send().expect_err("it has ended"));
            }
            client.shutdown().expect("there is nothing to end");
            assert_eq!(told.all(), [OF_THE_STREAM]);
        }
    });
}

/// A reader whose drop is noticed: by then, its end has been reported to the client.
struct Noticed {
    stream: BlockOn<PipeReader>,
    _until_drop: mpsc::Sender<()>,
}

impl Read for Noticed {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buf)
    }
}

/// A writer that panics once it is told to. Its drop ends the connection, and waits until the client has been told of that end.
struct Ending {
    stream: Option<BlockOn<PipeWriter>>,
    panics: Arc<AtomicBool>,
    reader_drop: mpsc::Receiver<()>,
}

impl Write for Ending {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        assert!(!self.panics.load(Ordering::SeqCst), "the stream breaks");
        self.stream.as_mut().expect("it is dropped last").write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.as_mut().expect("it is dropped last").flush()
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        drop(self.stream.take());
        let _ = self.reader_drop.recv();
    }
}

#[test]
fn blocking_tells_of_the_panic_and_not_of_the_end_that_follows_it() {
    watched(|| {
        let (reader, writer, panics) = halves(false);
        let (until_drop, reader_drop) = mpsc::channel();
        let reader = Noticed { stream: BlockOn::new(reader.stream), _until_drop: until_drop };
        let writer = Ending { stream: Some(BlockOn::new(writer.stream)), panics: Arc::clone(&panics), reader_drop };
        let mut client =
            blocking::McpClient::over(reader, writer, ConnectOptions::default()).expect("there are threads");
        client.initialize().expect("it answers");
        panics.store(true, Ordering::SeqCst);
        assert_says_why(&client.call_tool("echo", ()).send().expect_err("it has ended"));
        client.shutdown().expect("there is nothing to end");
    });
}

on_both_clients!(
    a_legacy_server_is_told_of_an_internal_error_and_nothing_else,
    the_modern_call_fails_that_the_input_was_for,
    calls_that_are_under_way_go_on,
    the_program_is_told_of_its_handlers,
    both_parts_of_a_handler_may_panic,
    what_a_callback_panics_on_is_left_out,
);

mcpwire_tests::on_one_runtime!(
    a_callback_of_a_call_panics_in_the_task_of_the_call,
    a_stream_that_panics_ends_its_connection_which_says_so,
    an_opening_says_it_too,
);
