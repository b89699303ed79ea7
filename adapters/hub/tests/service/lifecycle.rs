//! Starts, failures, restarts and stops of servers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use mcpwire_hub::config::EnvVarConfig;
use mcpwire_hub::config::McpConfig;
use mcpwire_hub::{Hub, HubOptions, McpStatus};
use mcpwire_supervisor::{ErrorCode, State};
use serde_json::json;

use crate::support::{
    Place, call, good, is_alive, missing, pid, processes_with, server, soon, state, under_shell, until, until_gone,
};

/// Creates a server whose processes have a unique mark in their environment.
fn marked(config: McpConfig) -> (McpConfig, String) {
    let mark = format!("marked-{}", config.id);
    (config.env(EnvVarConfig::value("HUB_TEST_MARK", &mark)), mark)
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is ours");
}

#[tokio::test]
async fn started_twice_it_runs_once_and_both_are_answered() {
    let place = Place::new();
    let (config, mark) = marked(good("a"));
    let hub = place.hub_with([config.clone()]).await;
    let (first, second) = tokio::join!(soon(hub.start(config.id)), soon(hub.start(config.id)));
    assert_eq!((first, second), (Ok(()), Ok(())));
    assert_eq!(processes_with(&mark), [pid(&hub, config.id)]);
}

#[tokio::test]
async fn stopped_while_it_starts_it_leaves_no_process() {
    let place = Place::new();
    let (config, mark) = marked(server("a", "silent"));
    let hub = place.hub_with([config.clone()]).await;
    for wanted in [State::Resolving, State::Launching, State::Negotiating] {
        let mut events = hub.events();
        let starting = {
            let (hub, id) = (hub.clone(), config.id);
            tokio::spawn(async move { hub.start(id).await })
        };
        until(&mut events, config.id, wanted).await;
        soon(hub.stop(config.id)).await.expect("it stops");
        let error = soon(starting).await.expect("no panic").unwrap_err();
        assert_eq!(error.code(), ErrorCode::Conflict, "{error}");
        assert_eq!(state(&hub, config.id), State::Stopped);
        assert!(processes_with(&mark).is_empty(), "{wanted}");
    }
}

#[tokio::test]
async fn deleted_while_it_starts_it_is_a_conflict_for_those_who_wait() {
    let place = Place::new();
    let (config, mark) = marked(server("a", "silent"));
    let hub = place.hub_with([config.clone()]).await;
    let mut events = hub.events();
    let starting = {
        let (hub, id) = (hub.clone(), config.id);
        tokio::spawn(async move { hub.start(id).await })
    };
    until(&mut events, config.id, State::Negotiating).await;
    soon(hub.delete(config.id)).await.expect("it is deleted");
    assert_eq!(soon(starting).await.unwrap().unwrap_err().code(), ErrorCode::Conflict);
    assert!(processes_with(&mark).is_empty());
    assert!(hub.get(config.id).is_none() && hub.list().is_empty());
    assert_eq!(soon(hub.delete(config.id)).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn disabled_while_it_waits_to_be_started_again_it_is_not() {
    let place = Place::new();
    let (mut config, mark) = marked(good("a"));
    let other = good("b");
    // Longer than it takes to save the change, so that the server still waits when it is disabled.
    let options = HubOptions::new(place.layout()).policy(|_, policy| {
        policy.first_backoff = Duration::from_millis(400);
        policy.longest_backoff = Duration::from_millis(800);
    });
    let hub = Hub::open(options).await.expect("the hub opens");
    for config in [&config, &other] {
        hub.create(config.clone()).await.expect("it is created");
    }
    let mut events = hub.events();
    soon(hub.start(config.id)).await.unwrap();
    soon(hub.start(other.id)).await.unwrap();
    kill(pid(&hub, config.id));
    until(&mut events, config.id, State::Backoff).await;
    config.enabled = false;
    soon(hub.update(config.clone())).await.unwrap();
    assert_eq!(hub.status(config.id), McpStatus::Disabled);
    // The pauses before the restarts of the other server begin later, and the second one is longer.
    for _ in 0..2 {
        kill(pid(&hub, other.id));
        until(&mut events, other.id, State::Backoff).await;
        until(&mut events, other.id, State::Running).await;
    }
    assert_eq!(hub.status(config.id), McpStatus::Disabled);
    assert!(processes_with(&mark).is_empty());
}

#[tokio::test]
async fn a_server_that_ignores_everything_does_not_hold_up_the_end() {
    let place = Place::new();
    let (stubborn, mark) = marked(server("stubborn", "stubborn"));
    let stubborn = under_shell(&stubborn, "trap '' TERM");
    let hub = place.hub_with([stubborn.clone(), good("good")]).await;
    assert_eq!(soon(hub.boot()).await.unwrap().ready, 2);
    assert_eq!(processes_with(&mark).len(), 2);
    soon(hub.shutdown_all()).await.expect("all of it ends");
    assert!(processes_with(&mark).is_empty());
}

#[tokio::test]
async fn a_restart_is_no_crash() {
    let place = Place::new();
    let (config, mark) = marked(good("a"));
    let hub = place.running(&config).await;
    let first = pid(&hub, config.id);
    soon(hub.restart(config.id)).await.unwrap();
    let second = pid(&hub, config.id);
    assert_ne!(first, second);
    assert_eq!(processes_with(&mark), [second]);
    let detail = hub.status_detail(config.id).unwrap();
    assert_eq!((detail.restarts, detail.last_error), (0, None));
}

#[tokio::test]
async fn a_crash_loop_comes_to_an_end() {
    let place = Place::new();
    let (config, mark) = marked(server("a", "exit=1"));
    let hub = place.hub_with([config.clone()]).await;
    let mut events = hub.events();
    soon(hub.start(config.id)).await.unwrap_err();
    let error = until(&mut events, config.id, State::Failed).await.expect("it says why");
    assert!(error.message().contains("crash loop"), "{error}");
    assert_eq!(hub.status_detail(config.id).unwrap().restarts, 5);
    assert!(processes_with(&mark).is_empty());
}

#[tokio::test]
async fn a_server_that_ends_without_a_word_is_said_to() {
    let place = Place::new();
    let config = server("a", "exit=0");
    let hub = place.hub_with([config.clone()]).await;
    let error = soon(hub.start(config.id)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable);
    assert!(error.message().contains("code 0") && error.message().contains("no stderr captured"), "{error}");
}

#[tokio::test]
async fn the_last_words_of_a_server_are_in_its_error() {
    let place = Place::new();
    let config = server("a", "exit=9").env(EnvVarConfig::value("LAST_WORDS", "no database here"));
    let hub = place.hub_with([config.clone()]).await;
    let error = soon(hub.start(config.id)).await.unwrap_err();
    assert!(error.message().contains("code 9") && error.message().contains("no database here"), "{error}");
    assert!(hub.logs(config.id).iter().any(|line| line == "no database here"));
    let log = fs::read_to_string(place.layout().log(config.id)).expect("there is a file");
    assert!(log.contains("no database here"));
}

#[tokio::test]
async fn programs_that_cannot_be_started_are_told_apart() {
    let place = Place::new();
    let script = |name: &str, mode: u32| {
        let path = place.path().join(name);
        fs::write(&path, "\u{1}\u{2} no program").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        McpConfig::binary(name, path.to_string_lossy())
    };
    let (missing, locked, nonsense) = (missing("missing"), script("locked", 0o600), script("nonsense", 0o700));
    let hub = place.hub_with([missing.clone(), locked.clone(), nonsense.clone()]).await;
    let mut failed = Vec::new();
    for config in [missing, locked, nonsense] {
        let error = soon(hub.start(config.id)).await.unwrap_err();
        assert_eq!(error.field(), "package.identifier", "{error}");
        assert_eq!(state(&hub, config.id), State::Failed, "another attempt would not help");
        failed.push(error.code());
    }
    assert_eq!(failed, [ErrorCode::NotFound, ErrorCode::ValidationError, ErrorCode::ValidationError]);
}

#[tokio::test]
async fn what_a_killed_wrapper_started_is_ended() {
    let place = Place::new();
    let (config, mark) = marked(good("a"));
    let config = under_shell(&config, "true");
    let hub = place.hub_with([config.clone()]).await;
    let mut events = hub.events();
    soon(hub.start(config.id)).await.unwrap();
    let before = processes_with(&mark);
    assert_eq!(before.len(), 2, "the wrapper, and the server");
    kill(pid(&hub, config.id));
    until(&mut events, config.id, State::Backoff).await;
    assert!(before.iter().all(|pid| !is_alive(*pid)), "it rests: nothing may be left");
}

#[tokio::test]
async fn a_descendant_that_holds_the_pipes_does_not_hide_the_end() {
    let place = Place::new();
    let (config, mark) = marked(good("a"));
    let config = under_shell(&config, "sleep 600 &");
    let mut config = config;
    config.args[1] = "sleep 600 & exec \"$0\" \"$@\"".into();
    let hub = place.hub_with([config.clone()]).await;
    let mut events = hub.events();
    soon(hub.start(config.id)).await.unwrap();
    let before = processes_with(&mark);
    assert_eq!(before.len(), 2, "the server, and what holds its pipes");
    let error = call(&hub, config.id, "crash", json!({})).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ServiceUnavailable, "{error}");
    until(&mut events, config.id, State::Backoff).await;
    assert!(before.iter().all(|pid| !is_alive(*pid)));
}

#[tokio::test]
async fn dropped_without_a_word_the_hub_leaves_nothing() {
    let place = Place::new();
    let (a, first) = marked(server("a", "stubborn"));
    let (b, second) = marked(good("b"));
    let hub = place.hub_with([a.clone(), b.clone()]).await;
    soon(hub.boot()).await.unwrap();
    call(&hub, a.id, "grandchild", json!({})).await.unwrap();
    let mut pids = processes_with(&first);
    pids.extend(processes_with(&second));
    assert_eq!(pids.len(), 3);
    let mut events = hub.events();
    drop(hub);
    soon(async { while events.next().await.is_some() {} }).await;
    for pid in pids {
        until_gone(pid).await;
    }
}

/// A hub that the next test runs as a separate program and kills.
#[tokio::test]
async fn host() {
    let Ok(directory) = std::env::var("HUB_TEST_HOST") else { return };
    let options = HubOptions::new(mcpwire_hub::layout::Layout::below(directory));
    let hub = Hub::open(options).await.expect("it opens");
    hub.boot().await.expect("it boots");
    eprintln!("booted");
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn what_a_killed_hub_has_left_is_ended_by_the_next_one() {
    let place = Place::new();
    // Every second one ignores that its input has ended, and that it is asked to end.
    let kind =
        |at: usize| if at.is_multiple_of(2) { server(&format!("s{at}"), "stubborn") } else { good(&format!("s{at}")) };
    let (configs, marks): (Vec<McpConfig>, Vec<String>) = (0..10).map(|at| marked(kind(at))).unzip();
    drop(place.hub_with(configs.clone()).await);
    let mut foreign = Command::new("sleep").arg("600").env("HUB_TEST_MARK", &marks[0]).spawn().unwrap();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["lifecycle::host", "--exact", "--nocapture"])
        .env("HUB_TEST_HOST", place.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = host.stderr.take().unwrap();
    let booted = tokio::task::spawn_blocking(move || {
        use std::io::BufRead;
        std::io::BufReader::new(stderr).lines().map_while(Result::ok).any(|line| line == "booted")
    });
    assert!(soon(booted).await.unwrap());
    let all =
        || marks.iter().flat_map(|mark| processes_with(mark)).filter(|pid| *pid != foreign.id()).collect::<Vec<_>>();
    assert_eq!(all().len(), 10);
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(all().len() >= 5, "those that ignore the end of their input are left");

    let hub = soon(place.hub()).await;
    for pid in all() {
        until_gone(pid).await;
    }
    assert!(hub.reaped().ended.len() >= 5);
    assert!(is_alive(foreign.id()), "it looks like one of them, and is none");
    assert!(configs.iter().all(|config| state(&hub, config.id) == State::Stopped));
    foreign.kill().unwrap();
    foreign.wait().unwrap();
}

#[tokio::test]
async fn a_start_that_fails_takes_the_flag_back() {
    let place = Place::new();
    let mut config = missing("a");
    config.enabled = false;
    let hub = place.hub_with([config.clone()]).await;
    config.enabled = true;
    let error = soon(hub.update(config.clone())).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
    assert!(!hub.get(config.id).unwrap().enabled);
    assert_eq!(hub.status(config.id), McpStatus::Disabled);
    let file = fs::read_to_string(place.layout().servers()).unwrap();
    assert!(file.contains("\"enabled\": false"), "{file}");

    let mut works = config.clone();
    works.package = good("x").package;
    works.args = good("x").args;
    works.env_vars = good("x").env_vars;
    soon(hub.update(works)).await.expect("this one starts");
    assert!(hub.get(config.id).unwrap().enabled);
    assert!(matches!(hub.status(config.id), McpStatus::Running { .. }));
}

#[tokio::test]
async fn all_who_wait_for_a_start_that_fails_are_told_the_same() {
    let place = Place::new();
    let config = server("a", "exit=4");
    let hub = place.hub_with([config.clone()]).await;
    let waiting: Vec<_> = (0..10)
        .map(|_| {
            let (hub, id) = (hub.clone(), config.id);
            tokio::spawn(async move { hub.start(id).await })
        })
        .collect();
    let mut errors = Vec::new();
    for waiting in waiting {
        errors.push(soon(waiting).await.unwrap().unwrap_err());
    }
    errors.dedup();
    assert_eq!(errors.len(), 1);
}
