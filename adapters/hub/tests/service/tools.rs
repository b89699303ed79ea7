//! The tools of a hub: names, filters, limits, and calls.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::service::CallOptions;
use mcpwire_hub::{ErrorKind, Hub, HubOptions, McpService};
use mcpwire_supervisor::{ErrorCode, State};
use serde_json::json;

use crate::support::{Place, call, good, missing, pid, server, soon, state, until, until_tools};

#[tokio::test]
async fn a_server_of_an_unknown_revision_is_refused() {
    let place = Place::new();
    let config = server("a", "future");
    let hub = place.hub_with([config.clone()]).await;
    let error = soon(hub.start(config.id)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable);
    assert!(error.message().contains("2099-01-01"), "{error}");
}

#[tokio::test]
async fn a_list_without_an_end_is_cut_off() {
    let place = Place::new();
    let config = server("a", "endless-list");
    let hub = place.hub_with([config.clone()]).await;
    let _ = soon(hub.start(config.id)).await;
    assert!(hub.available_tools().is_empty());
    soon(hub.stop(config.id)).await.unwrap();
}

#[tokio::test]
async fn names_are_unique_and_do_not_depend_on_who_started_first() {
    let place = Place::new();
    let configs = [good("web search"), good("web-search"), good(&"very long ".repeat(10))];
    let hub = place.hub_with(configs.clone()).await;
    let names = || hub.available_tools().iter().map(|tool| tool.name.to_owned()).collect::<Vec<_>>();
    for config in &configs {
        soon(hub.start(config.id)).await.unwrap();
    }
    let first = names();
    let mut unique = first.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), first.len());
    for name in &first {
        assert!(name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{name}");
    }
    for config in configs.iter().rev() {
        soon(hub.stop(config.id)).await.unwrap();
    }
    for config in configs.iter().rev() {
        soon(hub.start(config.id)).await.unwrap();
    }
    assert_eq!(names(), first);
    assert_eq!(hub.find_tool_provider("echo"), None, "three servers call a tool so");
    assert_eq!(hub.resolve(&first[0]).unwrap().name, first[0]);
}

#[tokio::test]
async fn a_tool_that_is_taken_away_ends_its_calls_and_takes_no_more() {
    for mode in ["good", "modern"] {
        let place = Place::new();
        let config = server("a", mode);
        let hub = place.hub_with([config.clone()]).await;
        let mut events = hub.events();
        soon(hub.start(config.id)).await.unwrap();
        let shrinking = {
            let (hub, id) = (hub.clone(), config.id);
            tokio::spawn(async move { hub.call_tool(id, "shrink", &json!({"name": "shrink", "wait": 1500})).await })
        };
        until_tools(&hub, &mut events, |hub| hub.resolve("a__shrink").is_none()).await;
        assert_eq!(hub.status_detail(config.id).unwrap().calls_in_flight, 1);
        assert_eq!(soon(shrinking).await.unwrap().unwrap(), "shrunk");
        assert_eq!(call(&hub, config.id, "shrink", json!({})).await.unwrap_err().code(), ErrorCode::NotFound);
    }
}

#[tokio::test]
async fn a_storm_of_changes_is_a_few_requests() {
    for mode in ["good", "modern"] {
        let place = Place::new();
        let config = server("a", mode);
        let hub = place.hub_with([config.clone()]).await;
        let mut events = hub.events();
        soon(hub.start(config.id)).await.unwrap();
        call(&hub, config.id, "storm", json!({})).await.unwrap();
        call(&hub, config.id, "grow", json!({"name": "grown"})).await.unwrap();
        until_tools(&hub, &mut events, |hub| hub.resolve("a__grown").is_some()).await;
        let lists: u32 = call(&hub, config.id, "lists", json!({})).await.unwrap().parse().unwrap();
        assert!((2..=10).contains(&lists), "{lists} requests for the list");
    }
}

#[tokio::test]
async fn a_tool_that_is_denied_is_not_there() {
    let place = Place::new();
    let mut config = good("a");
    config.tools.deny = vec!["crash".into()];
    let hub = place.running(&config).await;
    assert!(hub.resolve("a__crash").is_none() && hub.resolve("crash").is_none());
    for name in ["crash", "a__crash"] {
        let error = call(&hub, config.id, name, json!({})).await.unwrap_err();
        assert_eq!((error.code(), error.field()), (ErrorCode::NotFound, "tool_name"));
    }
    assert_eq!(state(&hub, config.id), State::Running, "nothing was sent");
    // In place: the server goes on.
    let before = pid(&hub, config.id);
    config.tools.deny.clear();
    config.tools.allow = Some(vec!["echo".into()]);
    soon(hub.update(config.clone())).await.unwrap();
    assert_eq!(hub.available_tools().len(), 1);
    assert_eq!(pid(&hub, config.id), before);
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

#[tokio::test]
async fn a_call_waits_for_a_server_that_starts_or_is_told_that_it_does() {
    for waits in [true, false] {
        let place = Place::new();
        let options = HubOptions::new(place.layout()).policy(move |_, policy| {
            policy.call_wait_start = if waits { Duration::from_secs(60) } else { Duration::ZERO };
        });
        let hub = Hub::open(options).await.unwrap();
        let mut config = good("a");
        // The exposed name is translated once the tools are known.
        config.tools.allow = Some(vec!["echo".into()]);
        hub.create(config.clone()).await.unwrap();
        let mut events = hub.events();
        let booting = {
            let hub = hub.clone();
            tokio::spawn(async move { hub.boot().await })
        };
        until(&mut events, config.id, State::Resolving).await;
        assert!(state(&hub, config.id).is_starting());
        let id = hub.find_tool_server("a__echo").unwrap();
        let called = call(&hub, id, "a__echo", json!({"message": "hi"})).await;
        if waits {
            assert_eq!(called.as_deref(), Ok("hi"));
        } else {
            let error = called.unwrap_err();
            assert_eq!(error.code(), ErrorCode::ServiceUnavailable, "{error}");
            assert!(error.message().contains("is still starting; try again"), "{error}");
        }
        assert_eq!(soon(booting).await.unwrap().unwrap().ready, 1);
    }
}

#[tokio::test]
async fn a_call_while_the_hub_boots_waits_for_the_server_or_says_that_it_is_starting() {
    for (mode, wait) in [("slow-list", Duration::ZERO), ("good", Duration::from_secs(60))] {
        let place = Place::new();
        let config = server("a", mode);
        let id = config.id;
        let options = HubOptions::new(place.layout()).policy(move |_, policy| policy.call_wait_start = wait);
        let hub = Hub::open(options).await.unwrap();
        hub.create(config).await.unwrap();
        let booting = tokio::spawn({
            let hub = hub.clone();
            async move { hub.boot().await }
        });
        soon(async {
            while state(&hub, id) == State::Stopped {
                tokio::task::yield_now().await;
            }
        })
        .await;
        // The name without the prefix is not known before the server has listed its tools.
        for name in ["echo", "a__echo"] {
            let called = soon(hub.call(name, [("message", "hi")]).text()).await;
            if wait.is_zero() {
                let error = called.unwrap_err();
                assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Starting, true), "{name}: {error}");
                assert!(error.message().contains("still starting"), "{error}");
            } else {
                assert_eq!(called.unwrap(), "hi", "{name}");
            }
        }
        booting.abort();
    }
}

#[tokio::test]
async fn calls_end_with_the_server_and_with_their_time() {
    let place = Place::new();
    let config = good("a");
    let hub = place.hub_with([config.clone()]).await;
    let mut events = hub.events();
    soon(hub.start(config.id)).await.unwrap();
    let options = CallOptions::new().timeout(Duration::from_millis(50));
    let (id, none) = (config.id, json!({}));
    let error = soon(hub.call_tool_full(id, "silence", &none, options)).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::NetworkError, "timeout"));
    assert!(error.message().contains("`tools/call` of `silence` timed out after 50 ms"), "{error}");
    assert_eq!(call(&hub, id, "cancelled", json!({})).await.unwrap(), "1", "the server was told");

    let waiting = {
        let hub = hub.clone();
        tokio::spawn(async move { hub.call_tool(id, "silence", &json!({})).await })
    };
    soon(async {
        while hub.status_detail(id).unwrap().calls_in_flight == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    call(&hub, id, "crash", json!({})).await.unwrap_err();
    let error = soon(waiting).await.unwrap().unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable, "{error}");
    until(&mut events, id, State::Running).await;
}

#[tokio::test]
async fn a_call_can_be_cancelled() {
    let place = Place::new();
    let config = good("a");
    let hub = place.running(&config).await;
    let (cancel, cancelled) = tokio::sync::oneshot::channel::<()>();
    let none = json!({});
    let options = CallOptions::new().cancel_when(async move { drop(cancelled.await) });
    let called = hub.call_tool_full(config.id, "silence", &none, options);
    drop(cancel);
    let error = soon(called).await.unwrap_err();
    assert!(error.message().contains("cancelled"), "{error}");
    assert_eq!(hub.status_detail(config.id).unwrap().calls_in_flight, 0);
}

#[tokio::test]
async fn the_whole_result_is_there_and_progress_is_told() {
    let place = Place::new();
    let config = good("a");
    let hub = place.running(&config).await;
    let none = json!({});
    let outcome = soon(hub.call_tool_full(config.id, "picture", &none, CallOptions::new())).await.unwrap();
    assert_eq!(outcome.text(), "a dot");
    assert_eq!(outcome.result.content.len(), 2);
    assert_eq!(outcome.result.structured_content.unwrap().get(), r#"{"width":1}"#);
    let told = Arc::new(Mutex::new(Vec::new()));
    let options = CallOptions::new().on_progress(|progress| told.lock().unwrap().push(progress.progress.as_f64()));
    soon(hub.call_tool_full(config.id, "progress", &none, options)).await.unwrap();
    assert_eq!(*told.lock().unwrap(), [1.0, 2.0]);

    let outcome = soon(hub.call_tool_full(config.id, "fail", &json!({"message": "no luck"}), CallOptions::new())).await;
    assert!(outcome.unwrap().result.is_error);
    let error = call(&hub, config.id, "fail", json!({"message": "no luck"})).await.unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        (ErrorCode::ServiceUnavailable, "tool `fail`: the tool failed: no luck")
    );
}

#[tokio::test]
async fn calls_are_kept_to_a_rate_and_results_to_a_size() {
    let place = Place::new();
    let mut config = good("a");
    config.limits.calls_per_minute = Some(2);
    config.limits.result_bytes = Some(400);
    let hub = place.running(&config).await;
    let arguments = json!({"size": 10_000});
    let outcome = soon(hub.call_tool_full(config.id, "large", &arguments, CallOptions::new())).await.unwrap();
    assert!(outcome.text().len() <= 400 && outcome.text().contains("truncated"));
    assert_eq!(outcome.truncated.unwrap().bytes, 10_000);
    call(&hub, config.id, "echo", json!({})).await.unwrap();
    let error = call(&hub, config.id, "echo", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable);
    assert!(error.message().contains("Rate limit"), "{error}");
}

#[tokio::test]
async fn a_list_that_has_passed_its_time_is_asked_for_again_when_it_is_looked_at() {
    let place = Place::new();
    let config = server("a", "brief");
    let hub = place.running(&config).await;
    for name in ["a__list_1", "a__list_2", "a__list_3"] {
        soon(async {
            while hub.resolve(name).is_none() {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

#[tokio::test]
async fn tools_are_found_by_what_they_do() {
    let place = Place::new();
    let config = good("a");
    let hub = place.running(&config).await;
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
