//! Callbacks of the program: they allow, ask for, or deny calls. One that panics fails its operation, and the hub continues.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mcpwire_hub::config::EnvVarConfig;
use mcpwire_hub::secrets::{EnvSecrets, SecretRef, Secrets};
use mcpwire_hub::service::{CallDecision, ToolCall};
use mcpwire_hub::store::Store;
use mcpwire_hub::{ConnectOptions, ErrorKind, Hub, HubError, HubOptions, McpService, tool_client};
use mcpwire_supervisor::{ErrorCode, State};
use serde_json::json;

use crate::in_process::{echo, hub, limit_calls};
use crate::{Place, call, good, soon, state, until_true};

fn decide(call: &ToolCall) -> CallDecision {
    match call.arguments.member::<String>("message").as_deref() {
        Some("deny") => CallDecision::Deny("not today".into()),
        Some("ask") => CallDecision::Ask,
        Some("panic") => panic!("on purpose"),
        _ => CallDecision::Allow,
    }
}

/// Says this to the server of the hub, and returns its echo.
async fn say(hub: &Hub, message: &str) -> Result<String, HubError> {
    soon(hub.call("a__echo", [("message", message)]).text()).await
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
    assert_eq!(say(&hub, "hi").await.unwrap(), "hi");
    let denied = say(&hub, "deny").await.unwrap_err();
    assert_eq!((denied.kind(), denied.field(), denied.tool()), (ErrorKind::Denied, "tool_name", Some("echo")));
    assert!(denied.message().ends_with("not today"), "{denied}");
    assert_eq!(say(&hub, "ask").await.unwrap(), "ask", "the person agrees");
    assert_eq!(say(&hub, "ask").await.unwrap_err().kind(), ErrorKind::Denied, "the person does not agree");
    assert_eq!(say(&hub, "panic").await.unwrap_err().kind(), ErrorKind::Denied, "a callback that panics denies");
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
    limit_calls(&hub).await;
    for _ in 0..3 {
        assert_eq!(say(&hub, "deny").await.unwrap_err().kind(), ErrorKind::Denied);
    }
    assert_eq!(say(&hub, "hi").await.unwrap(), "hi");
    assert_eq!(say(&hub, "hi").await.unwrap_err().kind(), ErrorKind::RateLimited);
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
    assert_eq!(say(&hub, "hi").await.unwrap(), "hi");
    let withheld = say(&hub, "a secret").await.unwrap_err();
    assert_eq!(withheld.kind(), ErrorKind::Denied);
    assert!(withheld.message().ends_with("the result is secret"), "{withheld}");
    assert_eq!(say(&hub, "deny").await.unwrap_err().kind(), ErrorKind::Denied);
    limit_calls(&hub).await;
    assert_eq!(say(&hub, "one").await.unwrap(), "one");
    assert_eq!(say(&hub, "one too many").await.unwrap_err().kind(), ErrorKind::RateLimited);
    assert_eq!(*seen.lock().unwrap(), ["echo hi", "echo a secret", "echo one", "echo RateLimited"]);
}

async fn open(options: HubOptions) -> Hub {
    Hub::open(options).await.expect("the hub opens")
}

#[tokio::test]
async fn a_callback_that_panics_leaves_its_servers_running_and_is_in_their_logs() {
    let place = Place::new();
    let hub = open(HubOptions::new(place.layout()).connect(|_| {
        ConnectOptions::default().trace(|_, _| panic!("of a message")).stderr(|line| panic!("of the line {line}"))
    }))
    .await;
    let config = good("a");
    hub.create(config.clone()).await.expect("it is created");
    soon(hub.start(config.id)).await.expect("it starts");
    call(&hub, config.id, "say", json!({"words": "hello"})).await.expect("it answers");
    assert_eq!(call(&hub, config.id, "echo", json!({"message": "well"})).await.as_deref(), Ok("well"));
    let expected = ["the callback `trace` panicked: of a message", "the callback `stderr` panicked: of the line hello"];
    until_true(|| expected.iter().all(|line| hub.logs(config.id).iter().any(|logged| logged == line))).await;
    assert_eq!(state(&hub, config.id), State::Running);
}

#[tokio::test]
async fn connect_that_panics_fails_its_start_only() {
    let place = Place::new();
    let hub = open(HubOptions::new(place.layout()).connect(|config| {
        assert_ne!(config.name, "bad", "on purpose");
        ConnectOptions::default()
    }))
    .await;
    let (good, bad) = (good("good"), good("bad"));
    for config in [&good, &bad] {
        hub.create(config.clone()).await.expect("it is created");
    }
    let error = soon(hub.start(bad.id)).await.expect_err("it cannot be started");
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable, "{error}");
    assert!(
        error.message().contains("`HubOptions::connect` panicked: ") && error.message().contains("on purpose"),
        "{error}"
    );
    soon(hub.start(good.id)).await.expect("it starts");
}

#[tokio::test]
async fn policy_that_panics_fails_the_change_only() {
    let place = Place::new();
    let panics = Arc::new(AtomicBool::new(true));
    let does = Arc::clone(&panics);
    let hub = open(HubOptions::new(place.layout()).policy(move |_, _| {
        assert!(!does.load(Ordering::SeqCst), "on purpose");
    }))
    .await;
    let mut config = good("a");
    let error = hub.create(config.clone()).await.expect_err("there are no rules for it");
    assert_eq!(error.message(), "`HubOptions::policy` panicked: on purpose");
    assert!(hub.list().is_empty());
    panics.store(false, Ordering::SeqCst);
    hub.create(config.clone()).await.expect("nothing was saved before");
    soon(hub.start(config.id)).await.expect("it starts");

    panics.store(true, Ordering::SeqCst);
    config.name = "another".into();
    hub.update(config.clone()).await.expect_err("there are no rules for it");
    Store::new(place.layout().servers()).update(&config).expect("another program may save it");
    hub.reload().await.expect_err("nor here");
    assert_eq!((hub.list()[0].name.as_str(), state(&hub, config.id)), ("a", State::Running));
    drop(hub);
    let hub = open(HubOptions::new(place.layout()).policy(|_, _| panic!("on purpose"))).await;
    assert_eq!(hub.broken().len(), 1, "it is said of the entry, and the hub is open");
}

#[tokio::test]
async fn a_store_of_secrets_that_panics_fails_what_it_is_asked_for() {
    let place = Place::new();
    let layout = place.layout();
    let secrets =
        Secrets::in_directory(layout.secrets()).with_environment(EnvSecrets::from_fn(|_| panic!("on purpose")));
    let hub = open(HubOptions::new(layout).secrets(secrets)).await;
    let reference: SecretRef = "env:TOKEN".parse().expect("a reference");
    let config = good("a").env(EnvVarConfig::secret("TOKEN", &reference));
    hub.create(config.clone()).await.expect("it is created");
    for error in [
        soon(hub.start(config.id)).await.expect_err("it cannot be started"),
        soon(hub.secrets_status(config.id)).await.expect_err("it cannot be told"),
    ] {
        assert_eq!(error.code(), ErrorCode::ServiceUnavailable, "{error}");
        assert!(error.message().contains("panicked: on purpose"), "{error}");
    }
}
