//! Panics in callbacks of the program: the operation fails with the message, and the hub continues.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcpwire_hub::config::EnvVarConfig;
use mcpwire_hub::secrets::{EnvSecrets, SecretRef, Secrets};
use mcpwire_hub::store::Store;
use mcpwire_hub::{ConnectOptions, Hub, HubOptions, McpService};
use mcpwire_supervisor::{ErrorCode, State};
use serde_json::json;

use crate::support::{Place, call, good, soon, state};

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
    soon(async {
        while !expected.iter().all(|line| hub.logs(config.id).iter().any(|logged| logged == line)) {
            tokio::task::yield_now().await;
        }
    })
    .await;
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
