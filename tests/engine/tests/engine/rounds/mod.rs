//! Requests that take more than one round: a modern server wants input before it answers (2026-07-28, basic/patterns/mrtr).

mod endless;
mod layouts;
mod plain;

use std::sync::Arc;

use mcpwire_core::{CallError, CallTool, Config, Event, InputError, RequestOptions, ServerRequest, Ticket};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, modern};
use serde_json::Value;

const DONE: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"done"}]}"#;
const ROOTS: &str = r#"{"method":"roots/list"}"#;

fn answering() -> Config {
    let mut config = Config::default();
    for method in ["roots/list", "elicitation/create", "sampling/createMessage"] {
        config.answer(method);
    }
    config
}

fn wants(inputs: &str, state: &str) -> String {
    format!(r#"{{"resultType":"input_required","inputRequests":{inputs},"requestState":{state}}}"#)
}

/// A server that answers its first requests with these results, and all after them with `DONE`.
fn scripted(rounds: Vec<String>) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let mut rounds = rounds.into_iter();
    modern(move |sent, peer| {
        if sent.id().is_some() {
            peer.answer(sent, rounds.next().as_deref().unwrap_or(DONE));
        }
    })
}

fn open(rounds: &[String]) -> Pair {
    Pair::open(answering(), scripted(rounds.to_vec()))
}

fn asks(pair: &mut Pair) -> Vec<ServerRequest> {
    let asks = pair.events.iter().filter_map(|(_, event)| match event {
        Event::ServerRequest(ask) => Some(ask.clone()),
        _ => None,
    });
    let asks = asks.collect();
    pair.events.clear();
    asks
}

fn call(pair: &mut Pair, options: &RequestOptions) -> Ticket<CallTool> {
    let ticket = pair.call("tool", options).expect("it is sent");
    pair.drive();
    ticket
}

/// A call whose server wants its roots, and what it asks.
fn asked(pair: &mut Pair) -> (Ticket<CallTool>, ServerRequest) {
    let ticket = call(pair, &RequestOptions::new());
    let ask = asks(pair).pop().expect("a question");
    (ticket, ask)
}

fn answer(pair: &mut Pair, ask: &ServerRequest, answer: &Value) -> bool {
    let answered = pair.engine.calls().answer(ask.key, answer, pair.now).expect("it is an object");
    pair.drive();
    answered
}

fn input_error<T: std::fmt::Debug>(result: Option<Result<T, CallError>>) -> InputError {
    match result.expect("it has ended") {
        Err(CallError::Input { error, .. }) => Arc::unwrap_or_clone(error),
        other => panic!("{other:?}"),
    }
}
