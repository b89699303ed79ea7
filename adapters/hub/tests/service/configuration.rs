//! Changes of the configuration, by the hub and in its file, and their effects on running servers.

use std::fs;
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use futures_channel::oneshot;
use mcpwire_hub::config::{EnvVarConfig, Origin};
use mcpwire_hub::secrets::{Secret, SecretRef, SecretStore};
use mcpwire_hub::store::Store;
use mcpwire_hub::{ErrorCode, Hub, HubError, HubOptions, McpService, Uuid};
use mcpwire_supervisor::State;
use serde_json::{Value, json};

use crate::{Place, call, good, pid, soon, state, until};

#[tokio::test]
async fn ids_and_names_are_taken_once() {
    let place = Place::new();
    let config = good("Files");
    let hub = place.hub_with([config.clone()]).await;
    let before = fs::read(place.layout().servers()).unwrap();
    let mut same_id = good("other");
    same_id.id = config.id;
    for (twin, field) in [(same_id, "id"), (good(" fILES "), "name")] {
        let error = soon(hub.create(twin)).await.unwrap_err();
        assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, field));
    }
    assert_eq!(fs::read(place.layout().servers()).unwrap(), before);
    assert_eq!(hub.list(), [config]);
    let unknown = good("unknown");
    assert_eq!(soon(hub.update(unknown.clone())).await.unwrap_err().code(), ErrorCode::NotFound);
    assert_eq!(soon(hub.delete(unknown.id)).await.unwrap_err().code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn servers_are_added_at_once_and_those_that_cannot_be_are_named() {
    let in_memory = HubOptions::in_memory();
    let place = Place::new();
    for hub in [place.hub_with([]).await, Hub::open(in_memory).await.unwrap()] {
        let configs = vec![good("a"), good("b"), good(" A"), good(""), good("c")];
        let results = soon(hub.create_all(configs.clone())).await.unwrap();
        let fields: Vec<_> = results.iter().map(|result| result.as_ref().err().map(HubError::field)).collect();
        assert_eq!(fields, [None, None, Some("name"), Some("name"), None]);
        let expected = [&configs[0], &configs[1], &configs[4]];
        assert!(hub.list().iter().eq(expected), "{:?}", hub.list());
    }
    assert_eq!(place.hub().await.list().len(), 3, "they are in the file");
    fs::write(place.layout().servers(), "garbage").unwrap();
    let hub = Hub::open(HubOptions::in_memory()).await.unwrap();
    assert!(soon(hub.create_all(Vec::new())).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_cannot_be_saved_does_not_hold() {
    let place = Place::new();
    // A file stands where the directory should be.
    fs::write(place.path().join("mcp"), "").unwrap();
    let hub = Hub::open(HubOptions::new(place.layout())).await;
    let Ok(hub) = hub else { return };
    assert_eq!(soon(hub.create(good("a"))).await.unwrap_err().code(), ErrorCode::ServiceUnavailable);
    assert!(hub.list().is_empty());
}

#[tokio::test]
async fn the_configuration_outlives_the_hub() {
    let place = Place::new();
    let configs = [good("b"), good("a")];
    drop(place.hub_with(configs.clone()).await);
    let hub = place.hub().await;
    assert_eq!(hub.list(), configs, "in the order of the file");
    assert!(hub.broken().is_empty());
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_not_taken_for_an_empty_one() {
    let place = Place::new();
    drop(place.hub_with([good("a")]).await);
    let file = place.layout().servers();
    fs::write(&file, "{\"version\": 1, \"servers\": [").unwrap();
    let options = HubOptions::new(place.layout());
    assert_eq!(Hub::open(options).await.unwrap_err().code(), ErrorCode::ValidationError);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"version\": 1, \"servers\": [");
}

#[tokio::test]
async fn an_edit_by_somebody_else_is_not_overwritten() {
    let place = Place::new();
    let config = good("a");
    let hub = place.hub_with([config.clone()]).await;
    let file = place.layout().servers();
    let edited = fs::read_to_string(&file).unwrap().replace("\"a\"", "\"edited\"");
    fs::write(&file, &edited).unwrap();
    let mut ours = config.clone();
    ours.lazy = true;
    let error = soon(hub.update(ours)).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, "revision"));
    assert_eq!(fs::read_to_string(&file).unwrap(), edited);
    soon(hub.reload()).await.unwrap();
    assert_eq!(hub.get(config.id).unwrap().name, "edited");
}

/// To the hub, nothing would change. In the file, something would.
#[tokio::test]
async fn a_change_is_compared_with_the_file_and_not_with_what_the_hub_read() {
    let place = Place::new();
    let config = good("a");
    let hub = place.hub_with([config.clone()]).await;
    let mut other = config.clone();
    other.enabled = !config.enabled;
    Store::new(place.layout().servers()).update(&other).unwrap();
    let error = soon(hub.update(config.clone())).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, "revision"));
    soon(hub.reload()).await.unwrap();
    soon(hub.update(config.clone())).await.unwrap();
    let saved = Store::new(place.layout().servers()).load().unwrap();
    assert_eq!(saved.get(config.id).unwrap().enabled, config.enabled);
}

#[tokio::test]
async fn what_somebody_else_wrote_is_started_with_consent_only() {
    let place = Place::new();
    let mut config = good("a");
    config.origin = Origin::Imported { from: "claude-desktop".into() };
    let hub = place.hub_with([config.clone()]).await;
    let error = soon(hub.start(config.id)).await.unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, "consent"));
    let preview = hub.preview_command(config.id).unwrap();
    assert!(preview.command.iter().any(|word| word == "server::serve"));
    assert_eq!(soon(hub.consent(config.id, "another")).await.unwrap_err().field(), "consent");
    soon(hub.consent(config.id, &preview.hash)).await.unwrap();
    soon(hub.start(config.id)).await.unwrap();
}

/// A store of secrets in which a test can halt one read.
#[derive(Clone, Default)]
struct Halting(Arc<Mutex<Option<Halt>>>);

struct Halt {
    /// Told when the read has begun.
    reading: oneshot::Sender<()>,
    /// The read waits for this.
    may_end: Receiver<()>,
}

impl SecretStore for Halting {
    fn get(&self, _: &SecretRef) -> Result<Option<Secret>, HubError> {
        let halt = self.0.lock().unwrap().take();
        if let Some(Halt { reading, may_end }) = halt {
            reading.send(()).unwrap();
            may_end.recv().unwrap();
        }
        Ok(Some(Secret::new("value")))
    }

    fn set(&self, _: &SecretRef, _: &Secret) -> Result<(), HubError> {
        Ok(())
    }

    fn remove(&self, _: &SecretRef) -> Result<bool, HubError> {
        Ok(false)
    }
}

#[tokio::test]
async fn a_change_during_an_approval_and_the_approval_are_both_kept() {
    let place = Place::new();
    let secrets = Halting::default();
    let options = HubOptions::new(place.layout()).secrets(secrets.clone());
    let hub = Hub::open(options).await.expect("the hub opens");
    let mut config = good("a").env(EnvVarConfig::secret("TOKEN", "env:TOKEN"));
    config.origin = Origin::Imported { from: "claude-desktop".into() };
    hub.create(config.clone()).await.unwrap();
    let hash = hub.preview_command(config.id).unwrap().hash;

    let ((reading, is_reading), (end, may_end)) = (oneshot::channel(), channel());
    *secrets.0.lock().unwrap() = Some(Halt { reading, may_end });
    let approving = {
        let (hub, id) = (hub.clone(), config.id);
        tokio::spawn(async move { hub.consent(id, &hash).await })
    };
    soon(is_reading).await.expect("the approval reads the values that it approves");
    config.timeouts.call = Some(Duration::from_secs(77));
    let mut changing = pin!(hub.upsert(config.clone()));
    assert!(changing.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    end.send(()).unwrap();
    let (approved, changed) = soon(async { tokio::join!(approving, changing) }).await;
    approved.unwrap().expect("it is approved");
    changed.expect("it is changed");

    assert_eq!(hub.get(config.id).unwrap().timeouts.call, config.timeouts.call);
    soon(hub.start(config.id)).await.expect("it is approved");
}

/// Changes the list of servers in the configuration file, as an editor would.
fn edit(place: &Place, change: impl FnOnce(&mut Vec<Value>)) {
    let file = place.layout().servers();
    let mut json: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    change(json["servers"].as_array_mut().unwrap());
    fs::write(&file, json.to_string()).unwrap();
}

#[tokio::test]
async fn a_reload_touches_only_what_has_changed() {
    let place = Place::new();
    let (same, renamed, replaced, removed) = (good("same"), good("renamed"), good("replaced"), good("removed"));
    let hub = Box::pin(place.hub_with([same.clone(), renamed.clone(), replaced.clone(), removed.clone()])).await;
    soon(hub.boot()).await.unwrap();
    let mut events = hub.events();
    let before = [&same, &renamed, &replaced].map(|config| pid(&hub, config.id));

    let added = good("added");
    edit(&place, |entries| {
        entries.retain(|entry| entry["name"] != "removed");
        entries[1]["name"] = "new name".into();
        entries[2]["env_vars"]["HUB_TEST_SERVER"]["value"] = "modern".into();
        entries.push(added.to_json());
    });
    soon(hub.reload()).await.unwrap();

    until(&mut events, replaced.id, State::Running).await;
    assert_eq!(pid(&hub, same.id), before[0]);
    assert_eq!(pid(&hub, renamed.id), before[1], "a name is no reason to start anew");
    assert!(hub.resolve("new_name__echo").is_some_and(|tool| tool.mcp_id == renamed.id));
    assert_ne!(pid(&hub, replaced.id), before[2]);
    assert!(hub.get(removed.id).is_none());
    if state(&hub, added.id) != State::Running {
        until(&mut events, added.id, State::Running).await;
    }
}

/// Checks that the configuration, the tools and the process of each server belong together, and that each can still be changed.
async fn check_that_nothing_is_crossed(hub: &Hub, expected: &[(Uuid, &str)]) {
    for (id, name) in expected {
        assert_eq!(hub.get(*id).unwrap().name, *name);
        assert_eq!(hub.status_detail(*id).unwrap().name, *name);
        let exposed = format!("{}__echo", name.to_lowercase());
        assert_eq!(hub.find_tool_server(&exposed), Some(*id), "{name}");
        assert_eq!(hub.resolve(&exposed).map(|tool| tool.mcp_id), Some(*id), "{name}");
        let answered = call(hub, *id, &exposed, json!({"message": name})).await;
        assert_eq!(answered.as_deref(), Ok(*name));
    }
    let mut ids: Vec<Uuid> = hub.list().iter().map(|config| config.id).collect();
    let mut expected: Vec<Uuid> = expected.iter().map(|(id, _)| *id).collect();
    ids.sort_unstable();
    expected.sort_unstable();
    assert_eq!(ids, expected);
    for id in ids {
        let mut changed = hub.get(id).unwrap();
        for enabled in [false, true] {
            changed.enabled = enabled;
            soon(hub.update(changed.clone())).await.expect("it can be changed");
        }
    }
    soon(hub.reload()).await.expect("the file has what the hub has");
}

/// Each case has the names of the servers before and after the edit. A server without a new name is removed, and one without an
/// earlier name is added.
#[tokio::test]
async fn a_reload_gives_names_to_other_servers() {
    for (case, names) in [
        ("two servers exchange their names", &[(Some("a"), Some("b")), (Some("b"), Some("a"))][..]),
        (
            "three servers pass their names on in a circle",
            &[(Some("a"), Some("b")), (Some("b"), Some("c")), (Some("c"), Some("a"))],
        ),
        ("a server gets the name of a removed server", &[(Some("a"), Some("b")), (Some("b"), None)]),
        ("a removed server stands before the server that gets its name", &[(Some("a"), None), (Some("b"), Some("a"))]),
        ("a new server gets the name of a renamed server", &[(None, Some("a")), (Some("a"), Some("b"))]),
        (
            "a new server gets the name of a removed server, as if its id had changed",
            &[(Some("a"), None), (None, Some("a"))],
        ),
        ("a name that differs in upper case alone is exchanged", &[(Some("a"), Some("B")), (Some("b"), Some("A"))]),
        (
            "names are exchanged, freed and taken at once",
            &[(Some("a"), Some("b")), (Some("b"), Some("c")), (Some("c"), None), (None, Some("a"))],
        ),
    ] {
        println!("{case}");
        let place = Place::new();
        let servers: Vec<_> =
            names.iter().map(|(before, after)| (good(before.or(*after).unwrap()), *before, *after)).collect();
        let earlier = servers.iter().filter(|(_, before, _)| before.is_some());
        let hub = Box::pin(place.hub_with(earlier.clone().map(|(config, ..)| config.clone()))).await;
        assert_eq!(soon(hub.boot()).await.unwrap().ready, earlier.clone().count());
        let kept: Vec<Uuid> = earlier.filter(|(.., after)| after.is_some()).map(|(config, ..)| config.id).collect();
        let pids = |hub: &Hub| kept.iter().map(|id| pid(hub, *id)).collect::<Vec<_>>();
        let before = pids(&hub);
        edit(&place, |entries| {
            *entries = servers
                .iter()
                .filter_map(|(config, _, after)| {
                    let mut entry = config.to_json();
                    entry["name"] = (*after)?.into();
                    Some(entry)
                })
                .collect();
        });
        let mut events = hub.events();
        soon(hub.reload()).await.unwrap();
        assert_eq!(pids(&hub), before, "a name is no reason to start anew");
        let expected: Vec<_> = servers.iter().filter_map(|(config, _, after)| Some((config.id, (*after)?))).collect();
        for (id, _) in &expected {
            if state(&hub, *id) != State::Running {
                until(&mut events, *id, State::Running).await;
            }
        }
        check_that_nothing_is_crossed(&hub, &expected).await;
    }
}

/// The other changes of the file are valid, and stand before and behind the fault.
#[tokio::test]
async fn a_reload_with_an_invalid_entry_in_the_middle_changes_nothing() {
    let place = Place::new();
    let configs = ["a", "b", "c", "d"].map(good);
    let [a, b, c, d] = &configs;
    let hub = Box::pin(place.hub_with(configs.clone())).await;
    assert_eq!(soon(hub.boot()).await.unwrap().ready, 4);
    let pids = || configs.each_ref().map(|config| pid(&hub, config.id));
    let before = pids();
    let file = fs::read_to_string(place.layout().servers()).unwrap();
    for (case, field, invalid) in [
        ("a server without a name", "name", json!("")),
        ("a name of another server", "name", json!("C")),
        ("an environment variable whose name is none", "env_vars", json!({"A=B": {"value": "x"}})),
    ] {
        fs::write(place.layout().servers(), &file).unwrap();
        edit(&place, |entries| {
            entries[0]["name"] = "renamed".into();
            entries[1][field] = invalid;
            entries[2]["args"] = json!(["--other"]);
            entries.remove(3);
            entries.push(good("new").to_json());
        });
        for _ in 0..2 {
            soon(hub.reload()).await.expect_err(case);
            assert_eq!(hub.list(), configs, "{case}");
            assert_eq!(pids(), before, "{case}");
        }
    }
    fs::write(place.layout().servers(), &file).unwrap();
    check_that_nothing_is_crossed(&hub, &[(a.id, "a"), (b.id, "b"), (c.id, "c"), (d.id, "d")]).await;
}

#[tokio::test]
async fn a_reload_with_one_name_for_two_servers_changes_nothing() {
    let place = Place::new();
    let configs = ["a", "b", "c"].map(good);
    let hub = place.hub_with(configs.clone()).await;
    edit(&place, |entries| {
        for (entry, name) in entries.iter_mut().zip(["renamed", "same", " SAME"]) {
            entry["name"] = name.into();
        }
    });
    for _ in 0..2 {
        let error = soon(hub.reload()).await.unwrap_err();
        assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, "name"));
        assert_eq!(hub.list(), configs);
    }
    // The hub keeps a server whose entry is unreadable, so the name of this server is not free.
    edit(&place, |entries| {
        entries[1]["package"] = 1.into();
        entries[2]["name"] = "b".into();
    });
    assert_eq!(soon(hub.reload()).await.unwrap_err().field(), "name");
    assert_eq!(hub.list(), configs);
    edit(&place, |entries| entries[2]["name"] = "free".into());
    soon(hub.reload()).await.unwrap();
    let names: Vec<_> = hub.list().into_iter().map(|config| config.name).collect();
    assert_eq!(names, ["renamed", "b", "free"]);
}
