//! The program's callback adds headers to single HTTP requests, on every adapter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcpwire_driver::ConnectOptions;
use mcpwire_driver::protocol::http::SettingsError;
use mcpwire_tests::web::{Web, said};
use mcpwire_tests::{Adapter, Call, on_every_adapter};
use serde_json::json;

fn open<A: Adapter>(web: &Web, options: ConnectOptions) -> A {
    let mut client = A::connect_with(&web.def(), options).expect("it is made");
    client.initialize().expect("it answers");
    client
}

/// The values of the header `x-call` in the requests, with their methods.
fn headers(web: &Web) -> Vec<(String, Option<String>)> {
    let value = |request: &mcpwire_tests::web::Request| request.header("x-call").map(ToOwned::to_owned);
    web.requests().iter().map(|request| (request.method().to_owned(), value(request))).collect()
}

fn only_the_call_of_one_tool_has_the_header<A: Adapter>() {
    let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("hi"))));
    let name = web.def().display_name().to_owned();
    let options = ConnectOptions::default().on_request(move |call, head| {
        assert_eq!(&*call.server, name);
        assert!(head.url().ends_with("/mcp") && head.verb() == "POST");
        assert_eq!(head.get("content-type"), Some("application/json"));
        if call.tool() == Some("echo") && call.id.is_some() {
            head.header("X-Call", "first").expect("it is a header");
            head.header("x-call", format!("attempt {}", call.attempt)).expect("it is a header");
        }
        let refused = head.header("Mcp-Method", "other");
        assert!(matches!(refused, Err(SettingsError::HeaderName { .. })), "{refused:?}");
        let refused = head.header("X-Call", "a\r\nb");
        assert!(matches!(refused, Err(SettingsError::HeaderValue { .. })), "{refused:?}");
    });
    let mut client = open::<A>(&web, options);
    client.list_tools().expect("it has tools");
    client.text("echo", json!({}));
    client.request_raw("vendor/other", None).expect("it answers");
    let with = ("tools/call".to_owned(), Some("attempt 1".to_owned()));
    let without = |method: &str| (method.to_owned(), None);
    assert_eq!(headers(&web), [without("server/discover"), without("tools/list"), with, without("vendor/other")]);
}

fn a_request_that_is_sent_again_is_another_attempt<A: Adapter>() {
    let lost = AtomicBool::new(false);
    let web = Web::legacy(move |request, reply| {
        if lost.swap(true, Ordering::SeqCst) {
            reply.json(200, &request.answer(said("hi")));
        } else {
            reply.full(404, "", "");
        }
    });
    let options = ConnectOptions::default().on_request(|call, head| {
        if let Some(tool) = call.tool() {
            head.header("X-Call", format!("{tool}, attempt {}", call.attempt)).expect("it is a header");
        }
    });
    let mut client = open::<A>(&web, options);
    client.text("echo", json!({}));
    let calls: Vec<_> = headers(&web).into_iter().filter_map(|(_, value)| value).collect();
    assert_eq!(calls, ["echo, attempt 1", "echo, attempt 2"]);
}

/// Without its headers, the request must not go out.
fn a_request_whose_callback_panics_is_not_sent<A: Adapter>() {
    let web = Web::modern(|request, reply| reply.json(200, &request.answer(said("hi"))));
    let is_broken = Arc::new(AtomicBool::new(true));
    let broken = Arc::clone(&is_broken);
    let options = ConnectOptions::default().on_request(move |call, _| {
        assert!(call.tool().is_none() || !broken.load(Ordering::SeqCst), "no tenant");
    });
    let mut client = open::<A>(&web, options);
    let failure = client.call(Call::new("echo")).expect_err("it is not sent");
    failure.assert_says(&["the callback `on_request` panicked: no tenant"]);
    assert_eq!(web.count("tools/call"), 0);
    is_broken.store(false, Ordering::SeqCst);
    assert_eq!(client.text("echo", json!({})), "hi");
}

on_every_adapter!(
    only_the_call_of_one_tool_has_the_header,
    a_request_that_is_sent_again_is_another_attempt,
    a_request_whose_callback_panics_is_not_sent,
);
