//! Starts, failures, restarts and stops of servers, and which of their processes are in the registry.

use std::fs;
use std::process::{Command, Stdio};

use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::{Hub, HubOptions, McpStatus};
use mcpwire_supervisor::{ErrorCode, State};
use serde_json::{Value, json};

use crate::{
    Place, begin_start, call, good, is_alive, kill, missing, one, pid, processes_with, server, soon, state,
    under_shell, until, until_gone, until_true,
};

/// Creates a server whose processes have a unique mark in their environment.
fn marked(config: McpConfig) -> (McpConfig, String) {
    let mark = format!("marked-{}", config.id);
    (config.env(EnvVarConfig::value("HUB_TEST_MARK", &mark)), mark)
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
async fn stopped_or_deleted_while_it_starts_it_leaves_no_process() {
    let place = Place::new();
    let (config, mark) = marked(server("a", "silent"));
    let id = config.id;
    let hub = place.hub_with([config]).await;
    let ends = [State::Resolving, State::Launching, State::Negotiating].map(|at| (at, false));
    for (wanted, is_deleted) in ends.into_iter().chain([(State::Negotiating, true)]) {
        let mut events = hub.events();
        let starting = begin_start(&hub, id);
        until(&mut events, id, wanted).await;
        let ended = if is_deleted { soon(hub.delete(id)).await } else { soon(hub.stop(id)).await };
        ended.expect("it ends");
        let error = soon(starting).await.expect("no panic").unwrap_err();
        assert_eq!(error.code(), ErrorCode::Conflict, "{error}");
        let state = hub.status_detail(id).map(|detail| detail.state);
        assert_eq!(state, (!is_deleted).then_some(State::Stopped));
        assert!(processes_with(&mark).is_empty(), "{wanted}");
    }
    assert!(hub.get(id).is_none() && hub.list().is_empty());
    assert_eq!(soon(hub.delete(id)).await.unwrap_err().code(), ErrorCode::NotFound);
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
async fn the_last_words_of_a_server_are_in_its_error() {
    let (place, hub, id) = one(server("a", "exit=9").env(EnvVarConfig::value("LAST_WORDS", "no database here"))).await;
    let error = soon(hub.start(id)).await.unwrap_err();
    assert!(error.message().contains("code 9") && error.message().contains("no database here"), "{error}");
    assert!(hub.logs(id).iter().any(|line| line == "no database here"));
    let log = fs::read_to_string(place.layout().log(id)).expect("there is a file");
    assert!(log.contains("no database here"));
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
    let mut config = under_shell(&config, "");
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

/// The processes that are noted, each with what makes it unmistakable.
fn noted(place: &Place) -> Vec<(u32, String)> {
    // It is replaced as a whole, and there is none at first.
    let text = fs::read_to_string(place.layout().process_registry()).unwrap_or_default();
    let registry: Value = serde_json::from_str(&text).unwrap_or_default();
    let children = registry["children"].as_array().cloned().unwrap_or_default();
    let process = |entry: &Value| {
        let pid = entry["child"]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        (pid.expect("a pid"), entry["started"].as_str().unwrap_or_default().to_owned())
    };
    children.iter().map(process).collect()
}

/// A server that ends when it is first started, as those do that do not know what they are asked.
fn dies_first(config: &McpConfig, place: &Place) -> McpConfig {
    let seen = place.path().join("was-started");
    let first = format!("[ -e '{0}' ] || {{ touch '{0}'; read -r line; exit 3; }}", seen.display());
    under_shell(config, &first)
}

#[tokio::test]
async fn one_that_is_started_once_more_in_its_opening_is_noted_as_what_it_is_then() {
    let place = Place::new();
    let config = dies_first(&good("a"), &place);
    let id = config.id;
    let hub = place.running(&config).await;
    assert_eq!(hub.status_detail(id).unwrap().restarts, 0, "nobody else has started it again");
    let now = pid(&hub, id);
    until_true(|| noted(&place).iter().map(|(pid, _)| *pid).eq([now])).await;
    assert!(!noted(&place)[0].1.is_empty());
    soon(hub.stop(id)).await.unwrap();
    assert_eq!(noted(&place), [], "nothing is left, and nothing is noted");
}

#[tokio::test]
async fn it_is_noted_before_it_has_said_a_word() {
    let place = Place::new();
    let said = place.path().join("pid");
    let script = format!("echo $$ > '{}'; exec sleep 1000", said.display());
    let config = dies_first(&McpConfig::binary("a", "sh").args(["-c", &script]), &place);
    let hub = place.hub_with([config.clone()]).await;
    let starting = begin_start(&hub, config.id);
    soon(async {
        // The shell that is noted has started the one that sleeps, and waits for it.
        let is_noted = || {
            fs::read_to_string(&said).is_ok_and(|pid| !pid.trim().is_empty())
                && hub.status_detail(config.id).and_then(|detail| detail.pid).is_some_and(|now| {
                    let noted = noted(&place);
                    noted.len() == 1 && noted[0].0 == now && is_alive(now)
                })
        };
        while !is_noted() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    soon(hub.stop(config.id)).await.unwrap();
    assert!(soon(starting).await.unwrap().is_err());
    assert_eq!(noted(&place), []);
}
