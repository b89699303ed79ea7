//! The acceptance criteria AC-001 to AC-004.

use mcpwire_hub::McpService;
use mcpwire_hub::service::CallOptions;
use mcpwire_supervisor::{ErrorCode, State};
use serde_json::json;

use crate::support::{Place, call, good, soon, until};

#[tokio::test]
async fn ac_001_the_tools_of_a_running_server_are_found() {
    let place = Place::new();
    let config = good("source");
    let hub = place.hub_with([config.clone()]).await;
    soon(hub.start(config.id)).await.expect("the handshake completes");
    let tools = hub.available_tools().to_vec();
    let fetch = tools.iter().find(|tool| tool.name == "source__fetch_data").expect("it is listed");
    assert!(fetch.input_schema.is_object());
}

#[tokio::test]
async fn ac_002_a_tool_is_executed() {
    let place = Place::new();
    let config = good("source");
    let hub = place.running(&config).await;
    let arguments = json!({"query": "test"});
    let outcome = soon(hub.call_tool_full(config.id, "fetch_data", &arguments, CallOptions::new())).await.unwrap();
    assert!(!outcome.result.is_error);
    assert_eq!(outcome.text(), "data about test");
}

#[tokio::test]
async fn ac_003_an_unknown_tool_is_named() {
    let place = Place::new();
    let config = good("source");
    let hub = place.running(&config).await;
    let error = call(&hub, config.id, "missing_tool", json!({})).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::NotFound, "tool_name"));
    assert_eq!(error.message(), "tool not found: `missing_tool` (the server's list of tools does not have it)");
}

#[tokio::test]
async fn ac_004_a_crash_is_told_and_cleaned_up() {
    let place = Place::new();
    let mut config = good("source");
    config.restart = mcpwire_hub::config::RestartPolicy::Never;
    let hub = place.hub_with([config.clone()]).await;
    let mut events = hub.events();
    soon(hub.start(config.id)).await.unwrap();
    let error = call(&hub, config.id, "crash", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable);
    assert!(error.message().contains('3'), "the exit code is told: {error}");
    until(&mut events, config.id, State::Failed).await;
    let error = call(&hub, config.id, "fetch_data", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable, "{error}");
    let detail = hub.status_detail(config.id).unwrap();
    assert_eq!(detail.pid, None, "nothing of it is left");
    assert!(hub.available_tools().is_empty());
}
