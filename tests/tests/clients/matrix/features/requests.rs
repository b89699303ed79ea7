//! What holds of requests of any kind, and those that have to do with no feature.

use std::time::Duration;

use mcpwire_driver::ErrorKind;
use mcpwire_driver::protocol::internal::Discover;
use mcpwire_driver::protocol::{CallTool, CallToolParams, Ping, RequestOptions, TraceContext};
use serde_json::{Value, json};

use super::Outcome::Works;
use super::clients::Client;
use super::{On, Tried, text, works_if};

pub(crate) fn ping<C: Client>(on: &mut On<C>) -> Tried {
    on.attempt(Client::ping)?;
    assert_eq!(on.server.requests().len(), 1);
    Ok(Works)
}

pub(crate) fn the_method_ping<C: Client>(on: &mut On<C>) -> Tried {
    on.request::<Ping>(&())
}

pub(crate) fn server_discover<C: Client>(on: &mut On<C>) -> Tried {
    on.request::<Discover>(&())
}

pub(crate) fn lists_that_hold<C: Client>(on: &mut On<C>) -> Tried {
    let first = on.attempt(Client::resources)?;
    let second = on.attempt(Client::resources)?;
    assert_eq!(first, second);
    Ok(works_if(on.count("resources/list") == 1))
}

pub(crate) fn cancellation<C: Client>(on: &mut On<C>) -> Tried {
    let error = on.client.call_within("silent", Duration::from_millis(20)).expect_err("it is silent");
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    let call = on.server.requests().into_iter().find(|request| request.method == "tools/call").expect("it was sent");
    let cancelled = on.sent(|message| message.method == "notifications/cancelled");
    assert_eq!(cancelled.param("requestId"), call.id);
    let result = on.attempt(|client| client.call("echo", &json!({"message": "it goes on"})))?;
    assert_eq!(text(&result), "it goes on");
    Ok(Works)
}

pub(crate) fn trace_context<C: Client>(on: &mut On<C>) -> Tried {
    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = TraceContext::new(PARENT).and_then(|trace| trace.state("a=1")).expect("it is one");
    let params = CallToolParams { name: "echo", arguments: &json!({"message": "traced"}) };
    let options = RequestOptions::new().trace_context(&trace);
    let result = on.attempt(|client| client.request::<CallTool>(&params, &options))?;
    assert_eq!(text(&result), "traced");
    let call = on.server.requests().into_iter().find(|request| request.method == "tools/call").expect("it was sent");
    let meta: Value = call.param("_meta").expect("it is there");
    assert_eq!((&meta["traceparent"], &meta["tracestate"]), (&json!(PARENT), &json!("a=1")));
    Ok(Works)
}
