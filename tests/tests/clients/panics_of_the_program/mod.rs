//! The program's own code panics: the connection goes on for everybody, and whoever is concerned is told.

mod of_async_programs;
mod of_blocking_programs;
mod of_streams;

use std::sync::{Arc, Mutex};

use mcpwire_driver::protocol::{Json, RpcError, ServerRequest};
use mcpwire_driver::{CallbackPanic, ErrorKind};
use mcpwire_tests::{Adapter, Call, Server, on_every_adapter, server};
use serde_json::json;

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

on_every_adapter!(
    a_legacy_server_is_told_of_an_internal_error_and_nothing_else,
    the_modern_call_fails_that_the_input_was_for,
    calls_that_are_under_way_go_on,
);

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
