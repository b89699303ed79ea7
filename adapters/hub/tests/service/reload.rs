//! Reloads of the configuration file: servers and their names never get crossed, and a file that cannot be used changes nothing.

use std::fs;

use mcpwire_hub::{ErrorCode, Hub, McpService, Uuid};
use mcpwire_supervisor::State;
use serde_json::{Value, json};

use crate::support::{Place, call, good, pid, soon, state, until};

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
