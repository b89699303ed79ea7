//! Callbacks of the program that allow, ask for, or deny tool calls.

use std::sync::{Arc, Mutex};

use mcpwire_hub::service::{CallDecision, ToolCall};
use mcpwire_hub::tool_client;
use mcpwire_hub::{ErrorKind, HubOptions, McpService};
use serde_json::json;

use crate::in_process::{echo, hub};
use crate::support::soon;

fn decide(call: &ToolCall) -> CallDecision {
    match call.arguments.member::<String>("message").as_deref() {
        Some("deny") => CallDecision::Deny("not today".into()),
        Some("ask") => CallDecision::Ask,
        Some("panic") => panic!("on purpose"),
        _ => CallDecision::Allow,
    }
}

#[tokio::test]
async fn a_call_is_allowed_denied_or_asked_for_before_it_is_sent() {
    let server = echo();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (log, answers) = (Arc::clone(&seen), Arc::new(Mutex::new(vec![false, true])));
    let options = HubOptions::in_memory().before_call(decide).on_ask(move |question| {
        let (call, answer) = (question.call, answers.lock().unwrap().pop());
        assert!(question.outcome.is_none());
        let defined = call.definition.is_some_and(|tool| tool.name == call.tool);
        log.lock().unwrap().push(format!("{} {} {} {defined}", call.server_name, call.tool, call.arguments.get()));
        async move { answer.expect("it is asked twice") }
    });
    let hub = hub(options, server.clone()).await;
    let say = async |message: &str| soon(hub.call("a__echo", [("message", message)]).text()).await;
    assert_eq!(say("hi").await.unwrap(), "hi");
    let denied = say("deny").await.unwrap_err();
    assert_eq!((denied.kind(), denied.field(), denied.tool()), (ErrorKind::Denied, "tool_name", Some("echo")));
    assert!(denied.message().ends_with("not today"), "{denied}");
    assert_eq!(say("ask").await.unwrap(), "ask", "the person agrees");
    assert_eq!(say("ask").await.unwrap_err().kind(), ErrorKind::Denied, "the person does not agree");
    assert_eq!(say("panic").await.unwrap_err().kind(), ErrorKind::Denied, "a callback that panics denies");
    assert_eq!(*seen.lock().unwrap(), [r#"a echo {"message":"ask"} true"#; 2]);
    assert_eq!(server.calls("echo").len(), 2, "the server saw only what was allowed");
    let id = hub.list()[0].id;
    for name in ["echo", "a__echo"] {
        let denied = soon(hub.call_tool(id, name, &json!({"message": "deny"}))).await.unwrap_err();
        assert_eq!(denied.kind(), ErrorKind::Denied, "by the id of the server, too");
    }
    let arguments = mcpwire_core::Json::parse(r#"{"message":"deny"}"#).unwrap();
    let denied = soon(tool_client::ToolClient::call_tool(&hub, "a__echo", &arguments)).await.unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied);
}

#[tokio::test]
async fn a_denied_call_does_not_count_towards_the_rate_limit() {
    let hub = hub(HubOptions::in_memory().before_call(decide), echo()).await;
    let mut config = hub.list().remove(0);
    config.limits.calls_per_minute = Some(1);
    soon(hub.update(config)).await.unwrap();
    let say = async |message: &str| soon(hub.call("a__echo", [("message", message)]).text()).await;
    for _ in 0..3 {
        assert_eq!(say("deny").await.unwrap_err().kind(), ErrorKind::Denied);
    }
    assert_eq!(say("hi").await.unwrap(), "hi");
    assert_eq!(say("hi").await.unwrap_err().kind(), ErrorKind::RateLimited);
}

#[tokio::test]
async fn nobody_to_ask_denies() {
    let hub = hub(HubOptions::in_memory().before_call(|_| CallDecision::Ask), echo()).await;
    assert_eq!(soon(hub.call("a__echo", ())).await.unwrap_err().kind(), ErrorKind::Denied);
}

#[tokio::test]
async fn the_outcome_of_each_call_is_seen_and_may_be_withheld() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let options = HubOptions::in_memory().before_call(decide).after_call(move |call, outcome| {
        let text = outcome.map_or_else(|error| format!("{:?}", error.kind()), mcpwire_hub::service::ToolOutcome::text);
        log.lock().unwrap().push(format!("{} {text}", call.tool));
        if text.contains("secret") { CallDecision::Deny("the result is secret".into()) } else { CallDecision::Allow }
    });
    let hub = hub(options, echo()).await;
    let say = async |message: &str| soon(hub.call("a__echo", [("message", message)]).text()).await;
    assert_eq!(say("hi").await.unwrap(), "hi");
    let withheld = say("a secret").await.unwrap_err();
    assert_eq!(withheld.kind(), ErrorKind::Denied);
    assert!(withheld.message().ends_with("the result is secret"), "{withheld}");
    assert_eq!(say("deny").await.unwrap_err().kind(), ErrorKind::Denied);
    let mut config = hub.list().remove(0);
    config.limits.calls_per_minute = Some(1);
    soon(hub.update(config)).await.unwrap();
    assert_eq!(say("one").await.unwrap(), "one");
    assert_eq!(say("one too many").await.unwrap_err().kind(), ErrorKind::RateLimited);
    assert_eq!(*seen.lock().unwrap(), ["echo hi", "echo a secret", "echo one", "echo RateLimited"]);
}
