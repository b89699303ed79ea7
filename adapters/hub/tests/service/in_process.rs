//! Hubs without files, with servers that run in this process.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use futures_core::Stream as _;
use mcpwire_core::{ElicitResult, Json, ServerInfo, Tool};
use mcpwire_driver::{ConnectionInfo, Exit, McpServerDef, Observer, ServerLaunch};
use mcpwire_hub::config::McpConfig;
use mcpwire_hub::secrets::{Secret, SecretRef};
use mcpwire_hub::service::{AvailableTools, CallDecision, CallOptions, ServiceFuture, ToolOutcome};
use mcpwire_hub::{ConnectOptions, ErrorCode, ErrorKind, Hub, HubOptions, McpService, McpStatus, Uuid};
use mcpwire_supervisor::State;
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, duplex};
use mcpwire_tokio::Tokio;
use serde::{Serialize, Serializer, ser};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{PATIENCE, good, soon, state, until_true};

/// Returns the launcher of a server that runs in this process.
pub(crate) fn launcher(server: ScriptedServer) -> impl Fn(&McpServerDef) -> std::io::Result<ServerLaunch> + Clone {
    move |_| {
        let (ours, theirs) = duplex(64 * 1024);
        let serving = server.serve::<Tokio>(theirs.reader, theirs.writer);
        let (ended, end) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            serving.await;
            let _ = ended.send(());
        });
        let exit = async move {
            let _ = end.await;
            Exit::new(Some(0), None)
        };
        Ok(ServerLaunch::streams(ours.reader, ours.writer, exit))
    }
}

pub(crate) fn echo() -> ScriptedServer {
    let fail = |_: &Json| ScriptedResponse::new().error("no luck");
    ScriptedServer::new()
        .tool("echo", |arguments| arguments.member::<String>("message").unwrap_or_default())
        .tool("fail", fail)
        .tool("silence", |_| ScriptedResponse::new())
}

/// Opens a hub that keeps no files and has one server, `a`, which runs.
pub(crate) async fn hub(options: HubOptions, server: ScriptedServer) -> Hub {
    let connections = ConnectOptions::default().launcher(launcher(server));
    let hub = Hub::open(options.connections(connections)).await.expect("the hub opens");
    hub.upsert(McpConfig::binary("a", "in-process")).await.expect("it is added");
    assert_eq!(soon(hub.boot()).await.expect("it boots").ready, 1, "{:?}", hub.details());
    hub
}

/// Limits the calls of the hub's server to one a minute.
pub(crate) async fn limit_calls(hub: &Hub) {
    let mut config = hub.list().remove(0);
    config.limits.calls_per_minute = Some(1);
    soon(hub.update(config)).await.unwrap();
}

#[tokio::test]
async fn a_hub_without_files_configures_calls_and_keeps_secrets() {
    let hub = hub(HubOptions::in_memory(), echo()).await;
    let id = hub.list()[0].id;
    assert_eq!(soon(hub.call("a__echo", json!({"message": "hi"})).text()).await.unwrap(), "hi");
    let mut config = hub.get(id).unwrap();
    config.tools.deny.push("fail".into());
    soon(hub.update(config)).await.unwrap();
    assert!(hub.resolve("a__fail").is_none());
    assert_eq!(hub.create(hub.get(id).unwrap()).await.unwrap_err().kind(), ErrorKind::Conflict);
    soon(hub.reload()).await.unwrap();
    let (secrets, token) = (hub.secrets(), SecretRef::stored(id, "TOKEN").unwrap());
    secrets.set(&token, &Secret::new("hunter22")).unwrap();
    assert_eq!(secrets.get(&token).unwrap(), Some(Secret::new("hunter22")));
    assert_eq!(secrets.names(id).unwrap(), ["TOKEN"]);
    soon(hub.delete(id)).await.unwrap();
    assert!(hub.list().is_empty() && secrets.names(id).unwrap().is_empty());
    soon(hub.shutdown_all()).await.unwrap();
}

#[tokio::test]
async fn arguments_are_those_of_the_clients() {
    let hub = hub(HubOptions::in_memory(), echo()).await;
    assert_eq!(soon(hub.call("a__echo", [("message", "pairs")]).text()).await.unwrap(), "pairs");
    let object = Json::parse(r#"{"message":"json"}"#).unwrap();
    assert_eq!(soon(hub.call("echo", &object).text()).await.unwrap(), "json");
    assert_eq!(soon(hub.call("a__echo", ())).await.unwrap().text(), "");
    let error = soon(hub.call("a__echo", "text")).await.unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::Usage, "arguments"), "{error}");
}

#[tokio::test]
async fn each_failure_of_a_call_has_its_own_kind() {
    let hub = hub(HubOptions::in_memory(), echo()).await;
    let id = hub.list()[0].id;
    assert!(soon(hub.call("a__fail", ())).await.unwrap().result.is_error, "a failed tool has a result");
    let failed = soon(hub.call("a__fail", ()).text()).await.unwrap_err();
    let text = "tool `fail`: the tool failed: no luck";
    assert_eq!((failed.kind(), failed.message(), failed.is_retryable()), (ErrorKind::Tool, text, false));
    let cancelled = soon(hub.call("a__silence", ()).cancel_when(async {})).await.unwrap_err();
    assert_eq!((cancelled.kind(), cancelled.is_retryable()), (ErrorKind::Cancelled, false), "{cancelled}");
    let quick = Duration::from_millis(20);
    let late = soon(hub.call("a__silence", ()).timeout(quick)).await.unwrap_err();
    assert_eq!((late.kind(), late.is_retryable()), (ErrorKind::Timeout, false), "{late}");
    assert_eq!(soon(hub.call("a__nothing", ())).await.unwrap_err().kind(), ErrorKind::ToolNotFound);
    assert_eq!(soon(hub.call("nothing", ())).await.unwrap_err().kind(), ErrorKind::ToolNotFound);
    let nobody = Uuid::new_v4();
    assert_eq!(soon(hub.call_tool(nobody, "x", &json!({}))).await.unwrap_err().kind(), ErrorKind::ServerNotFound);

    limit_calls(&hub).await;
    soon(hub.call("a__echo", ())).await.unwrap();
    let often = soon(hub.call("a__echo", ())).await.unwrap_err();
    assert_eq!((often.kind(), often.is_retryable()), (ErrorKind::RateLimited, true), "{often}");
    assert!(often.retry_after().is_some_and(|after| after.as_secs() > 30), "{often:?}");

    soon(hub.stop(id)).await.unwrap();
    let stopped = soon(hub.call("a__echo", ())).await.unwrap_err();
    assert_eq!((stopped.kind(), stopped.is_retryable()), (ErrorKind::NotRunning, false), "{stopped}");
    let mut disabled = hub.get(id).unwrap();
    disabled.enabled = false;
    soon(hub.update(disabled)).await.unwrap();
    assert_eq!(soon(hub.call("a__echo", ())).await.unwrap_err().kind(), ErrorKind::Disabled);
    soon(hub.shutdown_all()).await.unwrap();
    assert_eq!(soon(hub.start(id)).await.unwrap_err().kind(), ErrorKind::ShuttingDown);
}

#[tokio::test]
async fn calls_have_no_rate_limit_unless_one_is_configured() {
    let hub = hub(HubOptions::in_memory(), echo()).await;
    for _ in 0..200 {
        soon(hub.call("a__echo", [("message", "again")])).await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_is_configured_in_code_keeps_its_id_in_each_run() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Hub::open(HubOptions::new(mcpwire_hub::layout::Layout::below(directory.path())));
    let hub = open().await.unwrap();
    let id = soon(hub.upsert(good("My Files"))).await.unwrap();
    assert_eq!(id, McpConfig::id_of_name(" my files "));
    drop(hub);
    let hub = open().await.unwrap();
    let changed = good("my files").args(["--color=never"]);
    assert_eq!(soon(hub.upsert(changed.clone())).await.unwrap(), id, "a second run is no conflict");
    assert_eq!(hub.list().len(), 1);
    assert_eq!(hub.get(id).unwrap().args, changed.args);
    // A server that was renamed keeps its id, so a new one with its old name gets another.
    let mut renamed = hub.get(id).unwrap();
    renamed.name = "other".into();
    soon(hub.update(renamed)).await.unwrap();
    let second = soon(hub.upsert(good("My Files"))).await.unwrap();
    assert_ne!(second, id);
    assert_eq!(soon(hub.upsert(good("My Files"))).await.unwrap(), second);
    assert_eq!(hub.list().len(), 2);
}

#[derive(Default)]
struct Opened(Mutex<Vec<String>>);

impl Observer for Opened {
    fn connected(&self, connection: &ConnectionInfo, _: &ServerInfo, _: Duration) {
        self.0.lock().unwrap().push(connection.server.to_string());
    }
}

/// An observer that the test shares with the hub.
struct Shared(Arc<Opened>);

impl Observer for Shared {
    fn connected(&self, connection: &ConnectionInfo, info: &ServerInfo, duration: Duration) {
        self.0.connected(connection, info, duration);
    }
}

#[tokio::test]
async fn what_a_server_asks_reaches_the_program_with_the_name_of_the_server() {
    let form = json!({"message": "Your name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}});
    let wanted = json!({"who": {"method": "elicitation/create", "params": form}, "where": {"method": "roots/list"}});
    let server =
        ScriptedServer::new().versions(["2026-07-28"]).tool("ask", |_| "").on("tools/call", move |params| match params
            .member::<Json>(
            "inputResponses",
        ) {
            Some(answers) => ScriptedResponse::new().text(answers.get()),
            None => ScriptedResponse::new().input_required(&wanted, Some("asked")),
        });
    let opened = Arc::new(Opened::default());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let connections = ConnectOptions::default()
        .launcher(launcher(server))
        .observer(Shared(Arc::clone(&opened)))
        .roots([])
        .on_elicitation(move |form, context| {
            seen.lock().unwrap().push(format!("{}: {}", context.server(), form.message));
            async { Ok(ElicitResult::accept(&[("name", "Ada")])?) }
        });
    let hub = Hub::open(HubOptions::in_memory().connections(connections)).await.unwrap();
    for name in ["first", "second"] {
        hub.upsert(McpConfig::binary(name, "in-process")).await.unwrap();
    }
    assert_eq!(soon(hub.boot()).await.unwrap().ready, 2);
    let mut connected = opened.0.lock().unwrap().clone();
    connected.sort();
    assert_eq!(connected, ["first", "second"], "the observer sees each server by its name");
    let answers = soon(hub.call("second__ask", ()).text()).await.unwrap();
    assert!(
        answers.contains(r#"{"action":"accept","content":{"name":"Ada"}}"#) && answers.contains("roots"),
        "{answers}"
    );
    assert_eq!(*asked.lock().unwrap(), ["second: Your name?"]);
}

/// A waker that uses the hub when it is woken.
struct UsesHub(Hub, AtomicUsize);

impl Wake for UsesHub {
    fn wake(self: Arc<Self>) {
        assert_eq!(self.0.list().len(), 1);
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn nobody_is_woken_under_the_lock_of_the_hub() {
    let hub = hub(HubOptions::in_memory(), echo()).await;
    let id = hub.list()[0].id;
    let uses = Arc::new(UsesHub(hub.clone(), AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&uses));
    let mut cx = Context::from_waker(&waker);
    let mut events = hub.events();
    assert!(Pin::new(&mut events).poll_next(&mut cx).is_pending());
    let mut stopping = Box::pin(hub.stop(id));
    assert!(stopping.as_mut().poll(&mut cx).is_pending());
    // Once for the event, and once for the answer.
    until_true(|| uses.1.load(Ordering::SeqCst) >= 2).await;
    soon(stopping).await.unwrap();
}

#[tokio::test]
async fn other_servers_answer_while_a_server_is_killed() {
    let (killing, mut is_killing) = tokio::sync::mpsc::unbounded_channel();
    let (release, released) = std::sync::mpsc::channel();
    let (released, is_killed) = (Arc::new(Mutex::new(released)), Arc::new(AtomicBool::new(false)));
    let killed = Arc::clone(&is_killed);
    let slow = move |def: &McpServerDef| {
        let (killing, released, killed) = (killing.clone(), Arc::clone(&released), Arc::clone(&killed));
        Ok(launcher(echo())(def)?.on_kill(move || {
            killing.send(()).expect("the test listens");
            // A kill that blocks the test ends by itself, and the test sees that it has ended.
            let _ = released.lock().unwrap().recv_timeout(PATIENCE);
            killed.store(true, Ordering::SeqCst);
        }))
    };
    let connect = move |config: &McpConfig| match config.name.as_str() {
        "slow" => ConnectOptions::default().launcher(slow.clone()),
        _ => ConnectOptions::default().launcher(launcher(echo())),
    };
    // Servers are killed at once.
    let options = HubOptions::in_memory().connect(connect).policy(|_, policy| policy.stop_timeout = Duration::ZERO);
    let hub = Hub::open(options).await.unwrap();
    let slow = hub.upsert(McpConfig::binary("slow", "in-process")).await.unwrap();
    let other = hub.upsert(McpConfig::binary("other", "in-process")).await.unwrap();
    assert_eq!(soon(hub.boot()).await.unwrap().ready, 2);
    let stopping = tokio::spawn({
        let hub = hub.clone();
        async move { hub.stop(slow).await }
    });
    soon(is_killing.recv()).await.unwrap();
    assert!(matches!(hub.status(other), McpStatus::Running { .. }));
    assert_eq!(state(&hub, slow), State::Stopping);
    assert_eq!(soon(hub.call("other__echo", [("message", "hi")]).text()).await.unwrap(), "hi");
    assert!(!is_killed.load(Ordering::SeqCst), "the status and the call have waited for the kill");
    release.send(()).unwrap();
    soon(stopping).await.unwrap().unwrap();
    assert!(is_killed.load(Ordering::SeqCst));
}

/// A service for tests of a program: it has tools, and no servers.
struct Mock;

impl McpService for Mock {
    fn list(&self) -> Vec<McpConfig> {
        let mut config = McpConfig::binary("mock", "none");
        config.id = McpConfig::id_of_name("mock");
        vec![config]
    }

    fn available_tools(&self) -> AvailableTools {
        let tool = json!({"name": "answer", "inputSchema": {"type": "object"}});
        let tool: Tool = Json::from_value(&tool).unwrap().decode().unwrap();
        AvailableTools::from_servers([(McpConfig::id_of_name("mock"), "mock", vec![tool])])
    }

    fn call_tool_full<'a>(
        &'a self,
        _: Uuid,
        _: &'a str,
        arguments: &'a Value,
        _: CallOptions<'a>,
    ) -> ServiceFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let result = json!({"content": [{"type": "text", "text": arguments.to_string()}]});
            Ok(ToolOutcome::new(Json::from_value(&result).unwrap().decode().unwrap()))
        })
    }
}

#[tokio::test]
async fn a_service_for_tests_needs_three_methods() {
    let mock: Box<dyn McpService> = Box::new(Mock);
    let id = mock.find_tool_provider("mock__answer").unwrap();
    assert_eq!(mock.call_tool(id, "answer", &json!({"a": 1})).await.unwrap(), r#"{"a":1}"#);
    assert_eq!(mock.status(id), McpStatus::Running { tools: vec!["answer".into()] });
    assert_eq!(mock.resolve("answer").unwrap().name, "mock__answer");
    assert_eq!(mock.get(id).unwrap().name, "mock");
    assert!(matches!(mock.status(Uuid::new_v4()), McpStatus::Error { .. }));
    let error = mock.start(id).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Unsupported, ErrorCode::ServiceUnavailable));
    mock.shutdown_all().await.unwrap();
    assert!(mock.events().try_next().is_none());
}

#[tokio::test]
async fn a_call_outlives_what_it_was_made_of() {
    let hub = hub(HubOptions::in_memory(), echo()).await;
    let mut calls = JoinSet::new();
    for number in 0..10 {
        // As a model names its tools: both are gone before the call is sent.
        let (name, arguments) = (String::from("a__echo"), json!({"message": number.to_string()}));
        calls.spawn(hub.call(&name, &arguments).send());
    }
    // The pending calls keep the hub.
    drop(hub);
    let mut texts = Vec::new();
    while let Some(call) = soon(calls.join_next()).await {
        texts.push(call.expect("it does not panic").expect("it answers").text());
    }
    texts.sort();
    assert_eq!(texts, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
}

/// Arguments that do not serialize.
struct Broken;

impl Serialize for Broken {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(ser::Error::custom("the disk is gone"))
    }
}

#[tokio::test]
async fn the_error_of_serializing_arguments_is_that_of_sending() {
    for hooks in [false, true] {
        let options = HubOptions::in_memory();
        let options = if hooks { options.before_call(|_| CallDecision::Allow) } else { options };
        let hub = hub(options, echo()).await;
        let call = hub.call("a__echo", Broken);
        let error = soon(call.send()).await.expect_err("it cannot be sent");
        assert_eq!((error.kind(), error.field()), (ErrorKind::Usage, "arguments"), "{error}");
        assert!(error.message().contains("the disk is gone"), "{error}");
        assert_eq!((error.server(), error.tool()), (Some("a"), Some("echo")), "{error}");
    }
}
