//! The program's own code panics: the connection goes on for everybody, and whoever is concerned is told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_blocking::protocol::{CallTool, CallToolParams, RequestOptions, TraceContext};
use mcpwire_blocking::{ConnectOptions, McpClient, TraceSource};
use mcpwire_driver::protocol::{Json, RpcError, ServerRequest};
use mcpwire_driver::{CallbackPanic, ErrorKind};
use mcpwire_tests::{Adapter, Call, Server, on_every_adapter, server, watched};
use serde_json::json;

// The program's own code panics: the connection goes on for everybody, and whoever is concerned is told.

/// What a server is told of a panic.
const INTERNAL: &str = r#"{"code":-32603,"message":"Internal error"}"#;

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
        client.assert_alive();
        assert_eq!(client.text("large-state", json!({})), "it is the same", "another input of the same handler");
    }
    assert_eq!(client.in_flight(), 0);
}

fn calls_that_are_under_way_go_on<A: Adapter>() {
    let server = answering(server!("asks"));
    let mut client = server.open::<A>();
    let echo = |message: &str| Call::new("echo").with(json!({"message": message}));
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

    /// Fails unless these were told, and no others, each any number of times.
    fn assert(&self, expected: &[&str]) {
        let mut told = self.all();
        told.sort();
        told.dedup();
        assert_eq!(told, expected);
    }
}

fn refusal(ask: &ServerRequest, error: &RpcError) -> String {
    format!("{}: {error}", ask.method)
}

const OF_THE_HANDLER: &str = "the handler of `roots/list` panicked: the handler's secret";

/// The panics of all callbacks.
const CALLBACKS: [&str; 4] = [
    "the callback `on_notification` panicked: of a notification",
    "the callback `stderr` panicked: of a line",
    "the callback `trace` panicked: of a message",
    "the source `trace_context` panicked: of a trace",
];

// In the blocking client.

#[test]
fn tells_the_program_of_its_handlers() {
    watched(|| {
        let server = server!("asks");
        let told = Told::default();
        let errors = told.clone();
        let options = ConnectOptions::new(server.config.clone())
            .answer(["roots/list"], async |request: ServerRequest, _| panics_at_times(&request))
            .on_panic(told.hear())
            .on_answer_error(move |ask, error| {
                errors.push(refusal(ask, error));
                panic!("once more");
            });
        let mut client = McpClient::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        let result = client.call_tool("ask_for", ask(true).arguments).send().expect("it answers");
        assert_eq!(result.text().as_str(), INTERNAL);
        assert_eq!(
            told.all(),
            [
                OF_THE_HANDLER,
                &format!("roots/list: {OF_THE_HANDLER} (code -32603)"),
                "the callback `on_answer_error` panicked: once more",
            ]
        );
    });
}

#[test]
fn leaves_out_what_a_callback_panics_on() {
    watched(|| {
        let server = server!("floods-notifications 3");
        let told = Told::default();
        let options = ConnectOptions::new(server.config.clone())
            .on_panic(|_| panic!("nobody is told of this"))
            .on_panic(told.hear())
            .stderr(|_| panic!("of a line"))
            .trace(|_, _| panic!("of a message"))
            .on_notification(|_| panic!("of a notification"))
            .trace_context(TraceSource::new(|| -> Option<TraceContext> { panic!("of a trace") }));
        let mut client = McpClient::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        for _ in 0..3 {
            let result = client.call_tool("echo", json!({"message": "well"})).send().expect("it answers");
            assert_eq!(result.text().as_str(), "well");
        }
        let params = CallToolParams { name: "ponder", arguments: &() };
        let ponder = client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent");
        while !told.all().iter().any(|panic| panic.contains("of a line")) {
            client.listen(Duration::from_millis(1)).expect("it goes on");
        }
        ponder.cancel(&mut client, "enough");
        client.call_tool("echo", ()).send().expect("it answers");
        client.shutdown().expect("it ends");
        told.assert(&CALLBACKS);
    });
}

#[test]
fn lets_a_callback_of_the_call_panic() {
    watched(|| {
        let server = server!("floods-notifications 50");
        let config = server.config.clone();
        let options = ConnectOptions::new(config);
        let mut client = McpClient::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        let params = CallToolParams { name: "echo", arguments: &json!({"message": "begun"}) };
        let other = client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent");
        let call = client.call_tool("echo", json!({"message": "well"})).on_progress(|_| panic!("on purpose"));
        let panic = catch_unwind(AssertUnwindSafe(|| call.send())).expect_err("it panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
        assert_eq!(client.in_flight(), 0, "it was given up, and the other has been answered before");
        assert_eq!(other.wait(&mut client).expect("it answers").text().as_str(), "begun");
        assert_eq!(
            client.call_tool("echo", json!({"message": "well"})).send().expect("it answers").text().as_str(),
            "well"
        );
    });
}

on_every_adapter!(
    a_legacy_server_is_told_of_an_internal_error_and_nothing_else,
    the_modern_call_fails_that_the_input_was_for,
    calls_that_are_under_way_go_on,
);
