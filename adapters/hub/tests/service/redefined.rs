//! Reports of changed tools: while the server runs, after its restart, and after a restart of the hub.

use mcpwire_hub::service::{Events, HubEvent};
use mcpwire_hub::{Hub, McpService, ToolChange, Uuid};
use mcpwire_supervisor::State;
use serde_json::json;

use crate::support::{Place, call, good, pid, soon, until, until_tools};

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
    let place = Place::new();
    let config = good("a");
    let id = config.id;
    let hub = place.hub_with([config]).await;
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
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid(&hub, id).cast_signed()).unwrap(),
        rustix::process::Signal::KILL,
    )
    .unwrap();
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
