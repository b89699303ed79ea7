//! A modern server wants input before it answers: it gets it, and its client sees one call.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mcpwire_driver::protocol::{Json, RpcError, ServerRequest};
use mcpwire_driver::{ErrorKind, HandlerContext, RequestHandler};
use mcpwire_tests::asynchronous::{Async, Host, begun, eventually};
use mcpwire_tests::{Adapter, Answering, Call, OnDrop, Server, on_every_adapter, server};
use serde_json::json;

fn knows(ask: &ServerRequest) -> Result<Json, RpcError> {
    let answer = match ask.method.as_str() {
        "roots/list" => r#"{"roots":[]}"#,
        _ => r#"{"action":"accept","content":{"name":"x"}}"#,
    };
    Json::parse(answer).map_err(|error| RpcError::new(RpcError::INTERNAL_ERROR, error.to_string()))
}

/// A server with rounds, whose client answers so.
fn rounds(answer: Answering) -> Server {
    rounds_with(&["roots/list", "elicitation/create"], answer)
}

/// The same, of a client that answers these methods.
fn rounds_with(methods: &[&str], answer: Answering) -> Server {
    let mut server = server!("rounds --modern");
    for method in methods {
        server.config.answer(method);
    }
    server.heard.answer = Some(answer);
    server
}

fn a_call_of_three_rounds_is_one_call<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    let text = client.text("interview", json!({}));
    let (first, second) = text.split_once(" then ").expect("two answers");
    let first: serde_json::Value = serde_json::from_str(first).expect("it is JSON");
    assert_eq!((&first["who"]["content"]["name"], &first["where"]["roots"]), (&json!("x"), &json!([])), "{text}");
    assert_eq!(second, r#"{"who":{"action":"accept","content":{"name":"x"}}}"#);
    assert_eq!(*server.heard.asked.lock().unwrap(), ["roots/list", "elicitation/create", "elicitation/create"]);
    client.assert_alive();
}

fn prompts_resources_and_raw_requests_have_rounds<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    let prompt = client.request_raw("prompts/get", Some(json!({"name": "p"}))).expect("it is answered");
    assert!(prompt.contains("prompted"), "{prompt}");
    let resource = client.request_raw("resources/read", Some(json!({"uri": "a:b"}))).expect("it is answered");
    assert!(resource.contains("read"), "{resource}");
    let call = client.request_raw("tools/call", Some(json!({"name": "large-state"}))).expect("it is answered");
    assert!(call.contains("it is the same"), "{call}");
    assert_eq!(server.heard.asked.lock().unwrap().len(), 3);
}

fn a_state_of_a_mebibyte_goes_back_as_it_came<A: Adapter>() {
    let server = rounds(knows);
    assert_eq!(server.open::<A>().text("large-state", json!({})), "it is the same");
}

fn what_is_refused_fails_the_call<A: Adapter>() {
    let server = rounds(|_| Err(RpcError::new(-1, "not from here")));
    let mut client = server.open::<A>();
    client.failure("interview").assert(ErrorKind::Input, &["tools/call", "roots/list", "`where`", "not from here"]);
    assert!(!server.heard.asked.lock().unwrap().is_empty());
    client.assert_alive();
}

fn what_is_not_offered_fails_the_call<A: Adapter>() {
    let server = rounds_with(&["elicitation/create"], knows);
    let mut client = server.open::<A>();
    client.failure("interview").assert(ErrorKind::Input, &["roots/list", "`where`", "does not answer"]);
    assert!(server.heard.asked.lock().unwrap().is_empty(), "nobody is asked for the rest");
    client.assert_alive();
}

fn a_server_that_never_has_enough_fails_its_call<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    client.failure("endless").assert(ErrorKind::Input, &["sent again 10 times"]);
    client.failure("asks-too-much").assert(ErrorKind::Protocol, &["inputs at once"]);
    client.assert_alive();
}

fn a_second_round_that_is_silent_times_out<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    let failure = client.call(Call::new("leaves").timeout(Duration::from_millis(50))).expect_err("it is silent");
    failure.assert(ErrorKind::Timeout, &["tools/call", "50 ms"]);
    client.assert_alive();
}

fn a_second_round_is_given_up<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    let failure = client.call_and_cancel(Call::new("leaves"), &server.heard.stderr, "let me think");
    assert_eq!(failure.kind, ErrorKind::Cancelled, "{failure}");
    client.assert_alive();
}

fn a_server_that_dies_between_two_rounds<A: Adapter>() {
    for tool in ["dies", "asks-and-dies"] {
        let server = rounds(knows);
        let failure = server.open::<A>().failure(tool);
        failure.assert(ErrorKind::Closed, &["tools/call"]);
    }
}

fn calls_with_rounds_do_not_mix<A: Adapter>() {
    let server = rounds(knows);
    let mut client = server.open::<A>();
    let tools = ["interview", "large-state", "echo", "interview", "endless"];
    let results = client.call_together(tools.map(Call::new).to_vec());
    assert_eq!(results.len(), tools.len());
    for (tool, result) in tools.iter().zip(results) {
        match result {
            Ok(result) if *tool == "interview" => assert!(result.text().to_string().contains(" then ")),
            Ok(result) => assert!(["it is the same", ""].contains(&&*result.text().to_string()), "{tool}"),
            Err(failure) => assert!(*tool == "endless" && failure.kind == ErrorKind::Input, "{tool}: {failure}"),
        }
    }
}

on_every_adapter!(
    a_call_of_three_rounds_is_one_call,
    prompts_resources_and_raw_requests_have_rounds,
    a_state_of_a_mebibyte_goes_back_as_it_came,
    what_is_refused_fails_the_call,
    what_is_not_offered_fails_the_call,
    a_server_that_never_has_enough_fails_its_call,
    a_second_round_that_is_silent_times_out,
    a_second_round_is_given_up,
    a_server_that_dies_between_two_rounds,
    calls_with_rounds_do_not_mix,
);

/// A person who never comes to an answer.
struct Ponders {
    asked: Arc<AtomicBool>,
    given_up: Arc<AtomicBool>,
}

impl RequestHandler for Ponders {
    async fn handle(&self, _: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        let _given_up = OnDrop(Arc::clone(&self.given_up));
        self.asked.store(true, Ordering::SeqCst);
        pending().await
    }
}

/// A client whose person is about to be asked, and what is known of that.
fn pondering<H: Host>(server: &Server) -> (Async<H>, Arc<AtomicBool>, Arc<AtomicBool>) {
    let (asked, given_up) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let answer = Ponders { asked: Arc::clone(&asked), given_up: Arc::clone(&given_up) };
    let mut client = Async::<H>::start_with(server, |options| {
        let methods = options.config().answers().to_vec();
        options.answer(methods, answer)
    });
    client.initialize().expect("it answers");
    (client, asked, given_up)
}

fn a_call_that_is_dropped_takes_its_questions_with_it<H: Host>() {
    let server = rounds(knows);
    let (mut client, asked, given_up) = pondering::<H>(&server);
    client.run(async |client| {
        let mut call = Box::pin(client.call_tool("interview", ()).send());
        assert!(begun(&mut call).await.is_none());
        eventually::<H>(|| asked.load(Ordering::SeqCst)).await;
        drop(call);
        eventually::<H>(|| given_up.load(Ordering::SeqCst)).await;
    });
    client.assert_alive();
}

fn the_total_deadline_runs<H: Host>() {
    let server = rounds(knows);
    let (mut client, asked, given_up) = pondering::<H>(&server);
    let call = Call::new("interview").total_timeout(Duration::from_millis(300));
    client.call(call).expect_err("nobody answers").assert(ErrorKind::Timeout, &["timed out after 300 ms"]);
    client.run(async |_| eventually::<H>(|| given_up.load(Ordering::SeqCst)).await);
    assert!(asked.load(Ordering::SeqCst), "the pause began");
    client.assert_alive();
}

fn the_end_of_the_server_ends_it<H: Host>() {
    let server = rounds(knows);
    let (mut client, asked, given_up) = pondering::<H>(&server);
    let pid = client.pid();
    client.run(async |client| {
        let mut call = Box::pin(client.call_tool("interview", ()).send());
        assert!(begun(&mut call).await.is_none());
        eventually::<H>(|| asked.load(Ordering::SeqCst)).await;
        server.kill(pid);
        assert_eq!(call.await.expect_err("it is gone").kind(), ErrorKind::Closed);
        eventually::<H>(|| given_up.load(Ordering::SeqCst)).await;
    });
}

mod in_the_pause {
    use super::{
        a_call_that_is_dropped_takes_its_questions_with_it, the_end_of_the_server_ends_it, the_total_deadline_runs,
    };

    mcpwire_tests::on_every_async_adapter!(
        a_call_that_is_dropped_takes_its_questions_with_it,
        the_total_deadline_runs,
        the_end_of_the_server_ends_it,
    );
}
