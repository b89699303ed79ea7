//! Secrets of servers: missing ones, and outputs that must not contain them.

use std::fs;
use std::path::Path;

use mcpwire_hub::Hub;
use mcpwire_hub::config::EnvVarConfig;
use mcpwire_hub::secrets::SecretRef;
use mcpwire_supervisor::State;
use serde_json::json;

use crate::support::{Place, call, good, pid, processes_with, server, soon, state};

const SECRET: &str = "hunter2-the-secret";

async fn with_secret(place: &Place, mode: &str) -> (Hub, mcpwire_hub::config::McpConfig) {
    let config = server("a", mode);
    let reference = SecretRef::stored(config.id, "TOKEN").unwrap();
    let config =
        config.env(EnvVarConfig::secret("TOKEN", &reference)).env(EnvVarConfig::secret("LAST_WORDS", &reference));
    let hub = place.hub_with([config.clone()]).await;
    hub.secrets().set(&reference, &SECRET.into()).unwrap();
    (hub, config)
}

/// Adds the texts of all files in a directory, except for the files of secrets.
fn files(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.path().is_dir() {
            if entry.file_name() != "secrets" {
                files(&entry.path(), found);
            }
        } else {
            found.push(String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned());
        }
    }
}

#[tokio::test]
async fn without_its_secret_nothing_is_started() {
    let place = Place::new();
    let config = good("a");
    let mark = format!("marked-{}", config.id);
    let reference = SecretRef::stored(config.id, "TOKEN").unwrap();
    let config = config.env(EnvVarConfig::secret("TOKEN", reference)).env(EnvVarConfig::value("MARK", &mark));
    let hub = place.hub_with([config.clone()]).await;
    soon(hub.start(config.id)).await.unwrap_err();
    assert_eq!(state(&hub, config.id), State::NeedsInput);
    assert!(processes_with(&mark).is_empty());
    let registry = fs::read_to_string(place.layout().process_registry()).unwrap_or_default();
    assert!(!registry.contains(&config.id.to_string()));
}

#[tokio::test]
async fn a_secret_that_the_server_tells_is_not_passed_on() {
    let place = Place::new();
    let (hub, config) = with_secret(&place, "good").await;
    let mut events = hub.events();
    soon(hub.start(config.id)).await.unwrap();
    let id = config.id;
    call(&hub, id, "say", json!({"words": format!("the token is {SECRET}.")})).await.unwrap();
    soon(async {
        while hub.logs(id).is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(hub.logs(id).iter().any(|line| line.contains("the token is [secret].")), "{:?}", hub.logs(id));
    let argv = fs::read(format!("/proc/{}/cmdline", pid(&hub, id))).unwrap();
    assert!(!String::from_utf8_lossy(&argv).contains(SECRET));
    let error = call(&hub, id, "crash", json!({})).await.unwrap_err();
    let error = format!("{error} {error:?}");
    let mut shown =
        vec![error, format!("{hub:?} {:?} {:?}", hub.list(), hub.status_detail(id)), format!("{:?}", hub.status(id))];
    while let Some(event) = events.try_next() {
        shown.push(format!("{event:?}"));
    }
    shown.push(format!("{:?} {}", hub.preview_command(id), hub.preview_command(id).unwrap()));
    // A running hub replaces its files while they are read.
    soon(hub.shutdown_all()).await.unwrap();
    files(place.path(), &mut shown);
    assert!(shown.len() > 6);
    for text in shown {
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[tokio::test]
async fn a_secret_in_the_last_words_of_a_start_is_not_passed_on() {
    let place = Place::new();
    let (hub, config) = with_secret(&place, "exit=5").await;
    let error = soon(hub.start(config.id)).await.unwrap_err();
    assert!(error.message().contains("code 5") && error.message().contains("[secret]"), "{error}");
    assert!(!format!("{:?}", hub.status_detail(config.id)).contains("hunter2"));
}

#[tokio::test]
async fn a_deleted_server_leaves_no_secrets_and_no_logs() {
    let place = Place::new();
    let (hub, config) = with_secret(&place, "good").await;
    soon(hub.start(config.id)).await.unwrap();
    call(&hub, config.id, "say", json!({"words": "something"})).await.unwrap();
    soon(hub.delete(config.id)).await.unwrap();
    assert!(hub.secrets().names(config.id).unwrap().is_empty());
    let layout = place.layout();
    assert!(!layout.log(config.id).exists() && !layout.catalog(config.id).exists());
    assert!(!fs::read_to_string(layout.servers()).unwrap().contains(&config.id.to_string()));
}
