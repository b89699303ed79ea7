//! The tests that the requirements name: MC-T1 to MC-T9, the negative ones, and the acceptance criteria AC-001 to AC-004.

use std::fs;

use mcpwire_hub::config::{EnvVarConfig, EnvVarSpec, McpConfig, RestartPolicy};
use mcpwire_hub::secrets::SecretRef;
use mcpwire_hub::service::CallOptions;
use mcpwire_hub::{McpService, McpStatus, Uuid};
use mcpwire_supervisor::{ErrorCode, State};
use serde_json::json;

use crate::{
    Place, begin_boot, call, good, is_alive, kill, missing, one, pid, running, server, soon, state, until, until_gone,
    until_tools,
};

#[tokio::test]
async fn mc_t1_and_mc_t2_start_spawns_the_process_and_stop_ends_it() {
    let (_place, hub, id) = one(good("files")).await;
    assert_eq!(hub.status(id), McpStatus::Stopped);
    soon(hub.start(id)).await.expect("it starts");
    let process = pid(&hub, id);
    assert!(is_alive(process));
    let program = fs::read_link(format!("/proc/{process}/exe")).unwrap();
    assert_eq!(program, std::env::current_exe().unwrap());
    soon(hub.stop(id)).await.expect("it stops");
    assert!(!is_alive(process), "stopped means that nothing is left");
    assert_eq!(hub.status(id), McpStatus::Stopped);
}

#[tokio::test]
async fn mc_t3_and_ac_001_the_tools_are_there_after_the_start() {
    let (_place, hub, id) = one(good("files")).await;
    assert!(hub.available_tools().is_empty());
    soon(hub.start(id)).await.expect("the handshake completes");
    let tools = hub.available_tools();
    let fetch = tools.find("files__fetch_data").expect("it is offered");
    assert_eq!((fetch.mcp_id, fetch.tool.name.as_str()), (id, "fetch_data"));
    assert_eq!(hub.find_tool_provider("fetch_data"), Some(id));
    let listed = tools.to_vec();
    let fetch = listed.iter().find(|tool| tool.name == "files__fetch_data").expect("it is listed");
    assert!(fetch.input_schema.is_object());
    let McpStatus::Running { tools: names } = hub.status(id) else { panic!("{:?}", hub.status(id)) };
    assert_eq!(names.len(), tools.len());
}

#[tokio::test]
async fn mc_t4_and_ac_002_a_call_returns_the_result() {
    let (_place, hub, id) = running(good("files")).await;
    assert_eq!(call(&hub, id, "echo", json!({"message": "hi"})).await.unwrap(), "hi");
    assert_eq!(call(&hub, id, "files__echo", json!({"message": "ho"})).await.unwrap(), "ho");
    let arguments = json!({"query": "test"});
    let outcome = soon(hub.call_tool_full(id, "fetch_data", &arguments, CallOptions::new())).await.unwrap();
    assert!(!outcome.result.is_error);
    assert_eq!(outcome.text(), "data about test");
}

#[tokio::test]
async fn mc_t5_a_server_that_fails_blocks_no_other() {
    let place = Place::new();
    let (a, bad, hung, b) = (good("a"), missing("bad"), server("hung", "slow-list"), server("b", "modern"));
    let hub = Box::pin(place.hub_with([a.clone(), bad.clone(), hung.clone(), b.clone()])).await;
    let mut events = hub.events();
    let booting = begin_boot(&hub);
    let runs = |id| matches!(hub.status(id), McpStatus::Running { .. });
    let has_failed = || matches!(hub.status(bad.id), McpStatus::Error { .. });
    until_tools(&hub, &mut events, |_| runs(a.id) && runs(b.id) && has_failed()).await;
    assert!(matches!(hub.status(bad.id), McpStatus::Error { message } if message.contains("command not found")));
    assert_eq!(call(&hub, b.id, "echo", json!({"message": "hi"})).await.unwrap(), "hi");
    assert!(hub.available_tools().iter().all(|tool| tool.mcp_id == a.id || tool.mcp_id == b.id));
    booting.abort();
}

#[tokio::test]
async fn mc_t6_the_environment_is_what_is_configured() {
    let (_place, hub, id) = running(good("files").env(EnvVarConfig::value("GREETING", "hello there"))).await;
    assert_eq!(call(&hub, id, "env", json!({"name": "GREETING"})).await.unwrap(), "hello there");
    assert_ne!(call(&hub, id, "env", json!({"name": "PATH"})).await.unwrap(), "(not set)");
    // Cargo sets it for this program; nobody passes it on.
    assert_eq!(call(&hub, id, "env", json!({"name": "CARGO_MANIFEST_DIR"})).await.unwrap(), "(not set)");
}

#[tokio::test]
async fn mc_t7_secrets_come_from_the_store() {
    let place = Place::new();
    let mut config = good("files");
    let reference = SecretRef::stored(config.id, "TOKEN").unwrap();
    config = config.env(EnvVarConfig::secret("TOKEN", &reference));
    let hub = place.hub_with([config.clone()]).await;
    assert_eq!(soon(hub.secrets_status(config.id)).await.unwrap(), ["env_vars.TOKEN"]);
    let error = soon(hub.start(config.id)).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::ValidationError, "env_vars.TOKEN"));
    assert!(error.message().contains("Missing required credentials"), "{error}");
    assert_eq!(state(&hub, config.id), State::NeedsInput);

    hub.secrets().set(&reference, &"hunter22".into()).unwrap();
    assert!(soon(hub.secrets_status(config.id)).await.unwrap().is_empty());
    soon(hub.start(config.id)).await.unwrap();
    assert_eq!(call(&hub, config.id, "env", json!({"name": "TOKEN"})).await.unwrap(), "hunter22");
    let command = fs::read_to_string(format!("/proc/{}/cmdline", pid(&hub, config.id))).unwrap();
    assert!(!command.contains("hunter22"), "everybody on the machine can see it");
}

#[tokio::test]
async fn mc_t8_shutdown_ends_everything() {
    let place = Place::new();
    let configs: Vec<McpConfig> = (0..5).map(|at| good(&format!("s{at}"))).collect();
    let hub = place.hub_with(configs.clone()).await;
    let booted = soon(hub.boot()).await.unwrap();
    assert_eq!((booted.ready, booted.failed), (5, 0));
    let pids: Vec<u32> = configs.iter().map(|config| pid(&hub, config.id)).collect();
    soon(hub.shutdown_all()).await.expect("all of it ends");
    assert!(pids.iter().all(|pid| !is_alive(*pid)));
    assert!(configs.iter().all(|config| hub.status(config.id) == McpStatus::Stopped));
    assert!(hub.available_tools().is_empty());
    assert!(soon(hub.start(configs[0].id)).await.is_err(), "nothing is started after that");
}

#[tokio::test]
async fn mc_t9_the_status_is_the_truth() {
    let place = Place::new();
    let mut config = good("files");
    let hub = place.hub_with([config.clone()]).await;
    let mut events = hub.events();
    assert_eq!(hub.status(config.id), McpStatus::Stopped);
    soon(hub.start(config.id)).await.unwrap();
    for expected in [State::Resolving, State::Launching, State::Negotiating, State::Listing, State::Running] {
        until(&mut events, config.id, expected).await;
    }
    assert!(matches!(hub.status(config.id), McpStatus::Running { .. }));

    let process = pid(&hub, config.id);
    kill(process);
    let error = until(&mut events, config.id, State::Backoff).await.expect("it says why");
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable);
    until(&mut events, config.id, State::Running).await;
    until_gone(process).await;
    assert_ne!(pid(&hub, config.id), process);
    assert_eq!(hub.status_detail(config.id).unwrap().restarts, 1);

    config.enabled = false;
    soon(hub.update(config.clone())).await.unwrap();
    assert_eq!(hub.status(config.id), McpStatus::Disabled);
    let unknown = hub.status(Uuid::new_v4());
    assert!(matches!(unknown, McpStatus::Error { message } if message.contains("MCP not found")));
}

#[tokio::test]
async fn mc_nt1_a_disabled_server_is_not_started() {
    let place = Place::new();
    let mut config = good("files");
    config.enabled = false;
    let hub = place.hub_with([config.clone()]).await;
    let error = soon(hub.start(config.id)).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, "enabled"));
    assert_eq!(hub.status(config.id), McpStatus::Disabled);
    let error = call(&hub, config.id, "echo", json!({})).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, "enabled"));
}

#[tokio::test]
async fn mc_nt2_a_call_of_an_unknown_server_is_not_found() {
    let place = Place::new();
    let hub = place.hub_with([good("files")]).await;
    let error = call(&hub, Uuid::new_v4(), "echo", json!({})).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::NotFound, "mcp_id"));
}

#[tokio::test]
async fn mc_nt3_a_server_without_a_name_is_not_saved() {
    let place = Place::new();
    let hub = place.hub().await;
    for name in ["", "   ", "\u{a0}\t"] {
        let error = soon(hub.create(good(name))).await.unwrap_err();
        assert_eq!((error.code(), error.field()), (ErrorCode::ValidationError, "name"));
        assert_eq!(error.message(), "Name is required");
    }
    assert!(hub.list().is_empty() && !place.layout().servers().exists());
}

#[tokio::test]
async fn mc_nt4_a_required_variable_that_is_not_provided_blocks_the_save() {
    let place = Place::new();
    let hub = place.hub().await;
    let mut required = EnvVarSpec::default();
    required.is_required = true;
    let variable = EnvVarConfig::unset("API_KEY").spec(required);
    let config = good("files").env(variable);
    let error = soon(hub.create(config)).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::ValidationError, "env_vars.API_KEY"));
    assert!(error.message().contains("Missing required credentials"), "{error}");
    assert!(hub.list().is_empty() && !place.layout().servers().exists());
}

#[tokio::test]
async fn ac_003_an_unknown_tool_is_named() {
    let (_place, hub, id) = running(good("source")).await;
    let error = call(&hub, id, "missing_tool", json!({})).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::NotFound, "tool_name"));
    assert_eq!(error.message(), "tool not found: `missing_tool` (the server's list of tools does not have it)");
}

#[tokio::test]
async fn ac_004_a_crash_is_told_and_cleaned_up() {
    let place = Place::new();
    let mut config = good("source");
    config.restart = RestartPolicy::Never;
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
