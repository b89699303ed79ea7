//! The tools of a hub: names, filters, limits, calls, reports of changed ones, and a snapshot that is current.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::service::{CallOptions, Events, HubEvent};
use mcpwire_hub::{ErrorKind, Hub, HubOptions, McpService, ToolChange, Uuid};
use mcpwire_supervisor::{ErrorCode, State};
use serde_json::json;

use crate::in_process::{self, echo};
use crate::{
    Place, begin_boot, begin_start, call, good, kill, missing, one, pid, running, server, soon, state, until,
    until_tools, until_true,
};

#[tokio::test]
async fn a_tool_that_is_taken_away_ends_its_calls_and_takes_no_more() {
    let take_away = async |mode| {
        let (_place, hub, id) = one(server("a", mode)).await;
        let mut events = hub.events();
        soon(hub.start(id)).await.unwrap();
        let shrinking = {
            let (hub, id) = (hub.clone(), id);
            tokio::spawn(async move { hub.call_tool(id, "shrink", &json!({"name": "shrink", "wait": 1500})).await })
        };
        until_tools(&hub, &mut events, |hub| hub.resolve("a__shrink").is_none()).await;
        assert_eq!(hub.status_detail(id).unwrap().calls_in_flight, 1);
        assert_eq!(soon(shrinking).await.unwrap().unwrap(), "shrunk");
        assert_eq!(call(&hub, id, "shrink", json!({})).await.unwrap_err().code(), ErrorCode::NotFound);
    };
    tokio::join!(take_away("good"), take_away("modern"));
}

/// Requests beside tool calls wait for a sleeping server, count as in flight only while they last, and name the server in errors.
#[tokio::test]
async fn other_requests_reach_the_server_and_calls_do_not_go_around_the_limits() {
    let mut config = good("a");
    config.lazy = true;
    let (_place, hub, id) = one(config).await;
    soon(hub.start(id)).await.unwrap();
    let listed = soon(hub.request(id, "tools/list", None, None)).await.unwrap();
    assert!(listed.get().contains("\"echo\""), "{}", listed.get());
    assert!(soon(hub.server_info(id)).await.unwrap().capabilities.is_some());
    soon(hub.ping(id, None)).await.unwrap();
    assert_eq!(hub.status_detail(id).unwrap().calls_in_flight, 0);

    let error = soon(hub.request(id, "no/such", None, None)).await.unwrap_err();
    assert_eq!((error.kind(), error.server()), (ErrorKind::Server, Some("a")), "{error}");
    let error = soon(hub.request(id, "tools/call", None, None)).await.unwrap_err();
    assert_eq!((error.kind(), error.server()), (ErrorKind::Usage, Some("a")), "{error}");

    soon(hub.stop(id)).await.unwrap();
    for error in [
        soon(hub.request(id, "tools/list", None, None)).await.unwrap_err(),
        soon(hub.ping(id, None)).await.unwrap_err(),
        soon(hub.server_info(id)).await.unwrap_err(),
    ] {
        assert_eq!((error.kind(), error.server()), (ErrorKind::NotRunning, Some("a")), "{error}");
    }
    assert_eq!(soon(hub.ping(Uuid::nil(), None)).await.unwrap_err().code(), ErrorCode::NotFound);
}

/// Calls by exposed names and by the names of the server.
#[tokio::test]
async fn a_call_of_a_server_that_does_not_run_says_so_and_what_to_do() {
    let place = Place::new();
    let (mut stopped, broken, mut disabled) = (good("stopped"), missing("broken"), good("disabled"));
    stopped.tools.allow = Some(vec!["echo".into()]);
    disabled.enabled = false;
    let hub = place.hub_with([stopped.clone(), broken.clone(), disabled.clone()]).await;
    soon(hub.start(broken.id)).await.unwrap_err();
    for (config, code, says) in [
        (&stopped, ErrorCode::ServiceUnavailable, "is stopped; start it first"),
        (&broken, ErrorCode::ServiceUnavailable, "has failed; start it again first: command not found"),
        (&disabled, ErrorCode::Conflict, "is disabled"),
    ] {
        let exposed = format!("{}__echo", config.name);
        assert_eq!(hub.find_tool_provider(&exposed), None);
        assert_eq!(hub.find_tool_server(&exposed), Some(config.id));
        for name in ["echo", &exposed] {
            let error = call(&hub, config.id, name, json!({})).await.unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.message().contains(says), "{error}");
        }
    }
    assert_eq!(hub.find_tool_server("nobody__echo"), None);
    soon(hub.start(stopped.id)).await.unwrap();
    assert_eq!(call(&hub, stopped.id, "stopped__echo", json!({"message": "hi"})).await.unwrap(), "hi");
    assert_eq!(hub.find_tool_server("stopped__nothing"), Some(stopped.id));
    let error = call(&hub, stopped.id, "stopped__nothing", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
}

/// By the name that the server gives, by the exposed name, and by the id of the server.
#[tokio::test]
async fn a_call_while_the_hub_boots_waits_for_the_server_or_says_that_it_is_starting() {
    for (mode, wait) in [("slow-list", Duration::ZERO), ("good", Duration::from_secs(60))] {
        let place = Place::new();
        let mut config = server("a", mode);
        let id = config.id;
        // The exposed name is translated once the tools are known.
        config.tools.allow = Some(vec!["echo".into()]);
        let options = HubOptions::new(place.layout()).policy(move |_, policy| policy.call_wait_start = wait);
        let hub = Hub::open(options).await.unwrap();
        hub.create(config).await.unwrap();
        let booting = begin_boot(&hub);
        until_true(|| state(&hub, id) != State::Stopped).await;
        assert!(state(&hub, id).is_starting());
        assert_eq!(hub.find_tool_server("a__echo"), Some(id));
        let by_name = |name| soon(hub.call(name, [("message", "hi")]).text());
        let by_id = call(&hub, id, "a__echo", json!({"message": "hi"}));
        let called: [_; 3] = tokio::join!(by_name("echo"), by_name("a__echo"), by_id).into();
        for called in called {
            if wait.is_zero() {
                let error = called.unwrap_err();
                assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Starting, true), "{error}");
                assert_eq!(error.code(), ErrorCode::ServiceUnavailable, "{error}");
                assert!(error.message().contains("still starting"), "{error}");
            } else {
                assert_eq!(called.unwrap(), "hi");
            }
        }
        booting.abort();
    }
}

#[tokio::test]
async fn the_whole_result_is_there_and_progress_is_told() {
    let (_place, hub, id) = running(good("a")).await;
    let none = json!({});
    let outcome = soon(hub.call_tool_full(id, "picture", &none, CallOptions::new())).await.unwrap();
    assert_eq!(outcome.text(), "a dot");
    assert_eq!(outcome.result.content.len(), 2);
    assert_eq!(outcome.result.structured_content.unwrap().get(), r#"{"width":1}"#);
    let told = Arc::new(Mutex::new(Vec::new()));
    let options = CallOptions::new().on_progress(|progress| told.lock().unwrap().push(progress.progress.as_f64()));
    soon(hub.call_tool_full(id, "progress", &none, options)).await.unwrap();
    assert_eq!(*told.lock().unwrap(), [1.0, 2.0]);

    let outcome = soon(hub.call_tool_full(id, "fail", &json!({"message": "no luck"}), CallOptions::new())).await;
    assert!(outcome.unwrap().result.is_error);
    let error = call(&hub, id, "fail", json!({"message": "no luck"})).await.unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        (ErrorCode::ServiceUnavailable, "tool `fail`: the tool failed: no luck")
    );
}

/// The process is told of a call whose answer comes too late.
#[tokio::test]
async fn calls_end_with_their_time_when_they_are_cancelled_and_with_the_server() {
    let (_place, hub, id) = running(good("a")).await;
    let none = json!({});
    let options = CallOptions::new().timeout(Duration::from_millis(50));
    let late = soon(hub.call_tool_full(id, "silence", &none, options)).await.unwrap_err();
    assert_eq!((late.code(), late.field()), (ErrorCode::NetworkError, "timeout"));
    assert!(late.message().contains("`tools/call` of `silence` timed out after 50 ms"), "{late}");
    assert_eq!(call(&hub, id, "cancelled", json!({})).await.unwrap(), "1");

    let in_flight = || hub.status_detail(id).unwrap().calls_in_flight;
    let options = CallOptions::new().cancel_when(until_true(|| in_flight() == 1));
    let cancelled = soon(hub.call_tool_full(id, "silence", &none, options)).await.unwrap_err();
    assert!(cancelled.message().contains("cancelled"), "{cancelled}");
    assert_eq!(in_flight(), 0);

    let crash = async {
        until_true(|| in_flight() == 1).await;
        call(&hub, id, "crash", json!({})).await.unwrap_err()
    };
    let (waiting, _) = tokio::join!(call(&hub, id, "silence", json!({})), crash);
    assert_eq!(waiting.unwrap_err().code(), ErrorCode::ServiceUnavailable);
}

#[tokio::test]
async fn results_are_kept_to_a_size() {
    let place = Place::new();
    let mut config = good("a");
    config.limits.result_bytes = Some(400);
    let hub = place.running(&config).await;
    let arguments = json!({"size": 10_000});
    let outcome = soon(hub.call_tool_full(config.id, "large", &arguments, CallOptions::new())).await.unwrap();
    assert!(outcome.text().len() <= 400 && outcome.text().contains("truncated"));
    assert_eq!(outcome.truncated.unwrap().bytes, 10_000);
}

#[tokio::test]
async fn a_list_that_has_passed_its_time_is_asked_for_again_when_it_is_looked_at() {
    let (_place, hub, _) = running(server("a", "brief")).await;
    for name in ["a__list_1", "a__list_2", "a__list_3"] {
        until_true(|| hub.resolve(name).is_some()).await;
    }
}

#[tokio::test]
async fn tools_are_found_by_what_they_do() {
    let (_place, hub, _) = running(good("a")).await;
    let found = hub.search_tools("fetch data", 3);
    assert_eq!(found[0].tool.name, "fetch_data");
    assert!(found.len() <= 3);
}

#[tokio::test]
async fn a_lazy_server_is_started_by_a_call_and_known_before() {
    let place = Place::new();
    let mut config = good("a");
    config.lazy = true;
    let hub = place.hub_with([config.clone()]).await;
    soon(hub.boot()).await.unwrap();
    assert_eq!(state(&hub, config.id), State::Running, "its tools are not known yet");
    soon(hub.shutdown_all()).await.unwrap();
    drop(hub);

    let hub = place.hub().await;
    soon(hub.boot()).await.unwrap();
    assert_eq!(state(&hub, config.id), State::Sleeping);
    assert!(hub.resolve("a__echo").is_some());
    assert_eq!(call(&hub, config.id, "echo", json!({"message": "awake"})).await.unwrap(), "awake");
    assert_eq!(state(&hub, config.id), State::Running);
}

/// Creates a program that takes the arguments of `docker` and runs a script for `run`.
fn engine(place: &Place, run: &str) -> String {
    let path = place.path().join("docker");
    let log = place.path().join("docker.log");
    let script = format!("#!/bin/sh\necho \"$@\" >> {}\n[ \"$1\" = run ] || exit 0\n{run}\n", log.display());
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_string_lossy().into_owned()
}

#[tokio::test]
async fn an_engine_that_does_not_run_is_said_not_to() {
    let place = Place::new();
    let say =
        "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?";
    let mut config = McpConfig::docker("boxed", "example/image:1");
    config.package.runtime_hint = Some(engine(&place, &format!("echo '{say}' >&2; exit 125")));
    let mut absent = McpConfig::docker("absent", "example/image:1");
    absent.package.runtime_hint = Some("/no/such/docker".into());
    let hub = place.hub_with([config.clone(), absent.clone()]).await;
    let error = soon(hub.start(config.id)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable);
    assert!(error.message().starts_with("Docker not running"), "{error}");
    let error = soon(hub.start(absent.id)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
}

#[tokio::test]
async fn a_container_is_given_its_secrets_unseen_and_ended_by_its_name() {
    let place = Place::new();
    let serve = good("x");
    let mut config = McpConfig::docker("boxed", "example/image:1");
    let run = format!("{} {}", serve.package.identifier, serve.args.join(" "));
    config.package.runtime_hint = Some(engine(&place, &format!("exec {run}")));
    config.env_vars = serve.env_vars;
    let mut token = EnvVarConfig::value("TOKEN", "hunter22");
    token.is_secret = true;
    config = config.env(token);
    let hub = place.running(&config).await;
    assert_eq!(call(&hub, config.id, "env", json!({"name": "TOKEN"})).await.unwrap(), "hunter22");
    soon(hub.stop(config.id)).await.unwrap();
    let log = fs::read_to_string(place.path().join("docker.log")).unwrap();
    assert!(!log.contains("hunter22"), "{log}");
    let lines: Vec<&str> = log.lines().collect();
    let name = lines[0].split("--name ").nth(1).and_then(|rest| rest.split(' ').next()).expect("it has a name");
    assert!(lines[0].starts_with("run ") && lines[0].contains("-e TOKEN") && lines[0].contains("example/image:1"));
    assert!(lines[1..].iter().any(|line| line.starts_with("rm -f ") && line.ends_with(name)), "{log}");
}

/// Waits for the next report of changed tools.
async fn told(events: &mut Events, wanted: Uuid) -> Vec<String> {
    soon(async {
        loop {
            if let HubEvent::ToolChanged { id, name, changes, more } = events.next().await.expect("the hub is there") {
                assert_eq!((id, name.as_str(), more), (wanted, "a", 0));
                return shown(&changes);
            }
        }
    })
    .await
}

fn shown(changes: &[ToolChange]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
}

fn kept(hub: &Hub, id: Uuid) -> Vec<String> {
    shown(&hub.status_detail(id).expect("it is configured").changed_tools)
}

#[tokio::test]
async fn a_tool_that_becomes_another_is_told_and_kept() {
    let (_place, hub, id) = one(good("a")).await;
    let mut events = hub.events();
    soon(hub.start(id)).await.unwrap();
    assert!(kept(&hub, id).is_empty(), "there is nothing to compare it with");

    let harmless =
        json!({"name": "echo", "description": "Sends it to somebody else.", "inputSchema": {"type": "object"}});
    call(&hub, id, "redefine", harmless).await.unwrap();
    assert_eq!(told(&mut events, id).await, ["echo (description)"]);
    assert_eq!(kept(&hub, id), ["echo (description)"]);
    let json = serde_json::to_value(hub.status_detail(id)).unwrap();
    assert_eq!(json["changed_tools"], json!([{"tool": "echo", "parts": ["description"]}]));
    assert!(!json.to_string().contains("somebody else"), "the text itself is not repeated");
    hub.acknowledge_changes(id);
    assert!(kept(&hub, id).is_empty());

    // The process that comes after a crash says again what the first one had said.
    let events_of_now = &mut hub.events();
    kill(pid(&hub, id));
    assert_eq!(told(&mut events, id).await, ["echo (description)"]);
    until(events_of_now, id, State::Running).await;
    assert_eq!(kept(&hub, id), ["echo (description)"]);
}

#[tokio::test]
async fn a_restart_of_the_hub_forgets_nothing() {
    let place = Place::new();
    let config = good("a");
    let id = config.id;
    let hub = place.hub_with([config.clone()]).await;
    let mut events = hub.events();
    soon(hub.start(id)).await.unwrap();
    let changed = json!({"name": "echo", "inputSchema": {"type": "object", "required": ["to"]}});
    call(&hub, id, "redefine", changed).await.unwrap();
    assert_eq!(told(&mut events, id).await, ["echo (input schema)"]);
    soon(hub.shutdown_all()).await.unwrap();
    drop(hub);

    let hub = place.hub().await;
    let mut events = hub.events();
    soon(hub.start(id)).await.unwrap();
    assert_eq!(told(&mut events, id).await, ["echo (input schema)"], "it is what it was at first");
    assert_eq!(kept(&hub, id), ["echo (input schema)"]);
    soon(hub.restart(id)).await.unwrap();
    hub.acknowledge_changes(id);
    soon(hub.restart(id)).await.unwrap();
    assert!(kept(&hub, id).is_empty(), "nothing has changed since");

    // What is started is another now, and so may its tools be.
    let mut other = config;
    other.args.push("--color=never".into());
    let changed = json!({"name": "echo", "description": "x", "inputSchema": {"type": "object"}});
    call(&hub, id, "redefine", changed).await.unwrap();
    assert_eq!(told(&mut events, id).await, ["echo (description)"]);
    soon(hub.update(other)).await.unwrap();
    until(&mut events, id, State::Running).await;
    assert!(kept(&hub, id).is_empty());
}

#[tokio::test]
async fn a_tool_that_was_gone_in_between_is_compared_across_restarts_of_the_hub() {
    for lazy in [false, true] {
        let place = Place::new();
        let mut config = good("a");
        config.lazy = lazy;
        let id = config.id;
        let hub = place.hub_with([config]).await;
        let mut events = hub.events();
        soon(hub.start(id)).await.unwrap();
        let changed = json!({"name": "echo", "description": "Another one.", "inputSchema": {"type": "object"}});
        call(&hub, id, "redefine", changed).await.unwrap();
        assert_eq!(told(&mut events, id).await, ["echo (description)"]);
        call(&hub, id, "shrink", json!({"name": "echo"})).await.unwrap();
        until_tools(&hub, &mut events, |hub| hub.resolve("a__echo").is_none()).await;
        soon(hub.shutdown_all()).await.unwrap();
        drop(hub);

        let hub = place.hub().await;
        let mut events = hub.events();
        soon(hub.boot()).await.unwrap();
        call(&hub, id, "lists", json!({})).await.unwrap();
        assert_eq!(told(&mut events, id).await, ["echo (description)"], "it is back as it was at first, lazy: {lazy}");
    }
}

// The snapshot of the tools is current as soon as a method returns or an event arrives. These tests use several threads and many
// rounds, because a stale snapshot would be a race.

const ROUNDS: usize = 30;

fn shows(hub: &Hub) -> bool {
    hub.resolve("a__echo").is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_has_the_tools_when_a_start_is_answered_and_not_when_an_end_is() {
    let place = Place::new();
    let hub = in_process::hub(HubOptions::new(place.layout()), echo()).await;
    let mut config = hub.list().remove(0);
    for round in 0..ROUNDS {
        soon(hub.restart(config.id)).await.unwrap();
        assert!(shows(&hub), "restart, round {round}");
        soon(hub.stop(config.id)).await.unwrap();
        assert!(!shows(&hub), "stop, round {round}");
        soon(hub.start(config.id)).await.unwrap();
        assert!(shows(&hub), "start, round {round}");
        for enabled in [false, true] {
            config.enabled = enabled;
            soon(hub.update(config.clone())).await.unwrap();
            assert_eq!(shows(&hub), enabled, "round {round}");
        }
        for denied in [true, false] {
            config.tools.deny = if denied { vec!["echo".into()] } else { Vec::new() };
            soon(hub.update(config.clone())).await.unwrap();
            assert_eq!(shows(&hub), !denied, "round {round}");
        }
        soon(hub.delete(config.id)).await.unwrap();
        assert!(!shows(&hub), "delete, round {round}");
        soon(hub.create(config.clone())).await.unwrap();
        assert_eq!(soon(hub.boot()).await.unwrap().ready, 1);
        assert!(shows(&hub), "boot, round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_that_of_the_state_that_is_told() {
    let hub = in_process::hub(HubOptions::in_memory(), echo()).await;
    let (mut events, id) = (hub.events(), hub.list()[0].id);
    for round in 0..ROUNDS {
        let stopping = tokio::spawn({
            let hub = hub.clone();
            async move { hub.stop(id).await }
        });
        until(&mut events, id, State::Stopping).await;
        assert!(!shows(&hub), "stopping, round {round}");
        soon(stopping).await.unwrap().unwrap();
        let starting = begin_start(&hub, id);
        until(&mut events, id, State::Running).await;
        assert!(shows(&hub), "running, round {round}");
        soon(starting).await.unwrap().unwrap();
    }
    soon(hub.delete(id)).await.unwrap();
    soon(async { while events.next().await != Some(HubEvent::Removed { id }) {} }).await;
}
