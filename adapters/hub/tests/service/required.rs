//! The tests that the requirements name: MC-T1 to MC-T9, and the negative ones.

use mcpwire_hub::config::{EnvVarConfig, EnvVarSpec, McpConfig};
use mcpwire_hub::secrets::SecretRef;
use mcpwire_hub::{McpService, McpStatus, Uuid};
use mcpwire_supervisor::{ErrorCode, State};
use serde_json::json;

use crate::support::{Place, call, good, is_alive, missing, pid, server, soon, state, until_gone};

#[tokio::test]
async fn mc_t1_start_spawns_the_process() {
    let place = Place::new();
    let config = good("files");
    let hub = place.hub_with([config.clone()]).await;
    assert_eq!(hub.status(config.id), McpStatus::Stopped);
    soon(hub.start(config.id)).await.expect("it starts");
    assert!(is_alive(pid(&hub, config.id)));
    let program = std::fs::read_link(format!("/proc/{}/exe", pid(&hub, config.id))).unwrap();
    assert_eq!(program, std::env::current_exe().unwrap());
}

#[tokio::test]
async fn mc_t2_stop_ends_the_process() {
    let place = Place::new();
    let config = good("files");
    let hub = place.running(&config).await;
    let process = pid(&hub, config.id);
    soon(hub.stop(config.id)).await.expect("it stops");
    assert!(!is_alive(process), "stopped means that nothing is left");
    assert_eq!(hub.status(config.id), McpStatus::Stopped);
}

#[tokio::test]
async fn mc_t3_the_tools_are_there_after_the_start() {
    let place = Place::new();
    let config = good("files");
    let hub = place.hub_with([config.clone()]).await;
    assert!(hub.available_tools().is_empty());
    soon(hub.start(config.id)).await.unwrap();
    let tools = hub.available_tools();
    let echo = tools.find("files__echo").expect("it is offered");
    assert_eq!((echo.mcp_id, echo.tool.name.as_str()), (config.id, "echo"));
    assert_eq!(hub.find_tool_provider("echo"), Some(config.id));
    let McpStatus::Running { tools: names } = hub.status(config.id) else { panic!("{:?}", hub.status(config.id)) };
    assert_eq!(names.len(), tools.len());
}

#[tokio::test]
async fn mc_t4_a_call_returns_the_result() {
    let place = Place::new();
    let config = good("files");
    let hub = place.running(&config).await;
    assert_eq!(call(&hub, config.id, "echo", json!({"message": "hi"})).await.unwrap(), "hi");
    assert_eq!(call(&hub, config.id, "files__echo", json!({"message": "ho"})).await.unwrap(), "ho");
}

#[tokio::test]
async fn mc_t5_a_server_that_fails_blocks_no_other() {
    let place = Place::new();
    let (a, bad, hung, b) = (good("a"), missing("bad"), server("hung", "slow-list"), server("b", "modern"));
    let hub = Box::pin(place.hub_with([a.clone(), bad.clone(), hung.clone(), b.clone()])).await;
    let mut events = hub.events();
    let booting = {
        let hub = hub.clone();
        tokio::spawn(async move { hub.boot().await })
    };
    let runs = |id| matches!(hub.status(id), McpStatus::Running { .. });
    let has_failed = || matches!(hub.status(bad.id), McpStatus::Error { .. });
    crate::support::until_tools(&hub, &mut events, |_| runs(a.id) && runs(b.id) && has_failed()).await;
    assert!(matches!(hub.status(bad.id), McpStatus::Error { message } if message.contains("command not found")));
    assert_eq!(call(&hub, b.id, "echo", json!({"message": "hi"})).await.unwrap(), "hi");
    assert!(hub.available_tools().iter().all(|tool| tool.mcp_id == a.id || tool.mcp_id == b.id));
    booting.abort();
}

#[tokio::test]
async fn mc_t6_the_environment_is_what_is_configured() {
    let place = Place::new();
    let config = good("files").env(EnvVarConfig::value("GREETING", "hello there"));
    let hub = place.running(&config).await;
    assert_eq!(call(&hub, config.id, "env", json!({"name": "GREETING"})).await.unwrap(), "hello there");
    assert_ne!(call(&hub, config.id, "env", json!({"name": "PATH"})).await.unwrap(), "(not set)");
    // Cargo sets it for this program; nobody passes it on.
    assert_eq!(call(&hub, config.id, "env", json!({"name": "CARGO_MANIFEST_DIR"})).await.unwrap(), "(not set)");
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
        crate::support::until(&mut events, config.id, expected).await;
    }
    assert!(matches!(hub.status(config.id), McpStatus::Running { .. }));

    let process = pid(&hub, config.id);
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(process.cast_signed()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
    let error = crate::support::until(&mut events, config.id, State::Backoff).await.expect("it says why");
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable);
    crate::support::until(&mut events, config.id, State::Running).await;
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
