//! Which processes are in the registry, for the next hub to find what this one leaves if it is killed.

use std::fs;

use mcpwire_hub::config::McpConfig;
use serde_json::Value;

use crate::support::{Place, good, is_alive, pid, soon, under_shell};

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
    let hub = place.running(&config).await;
    assert_eq!(hub.status_detail(config.id).unwrap().restarts, 0, "nobody else has started it again");
    let now = pid(&hub, config.id);
    soon(async {
        while noted(&place).iter().map(|(pid, _)| *pid).ne([now]) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(!noted(&place)[0].1.is_empty());
    soon(hub.stop(config.id)).await.unwrap();
    assert_eq!(noted(&place), [], "nothing is left, and nothing is noted");
}

#[tokio::test]
async fn it_is_noted_before_it_has_said_a_word() {
    let place = Place::new();
    let said = place.path().join("pid");
    let script = format!("echo $$ > '{}'; exec sleep 1000", said.display());
    let config = dies_first(&McpConfig::binary("a", "sh").args(["-c", &script]), &place);
    let hub = place.hub_with([config.clone()]).await;
    let starting = {
        let (hub, id) = (hub.clone(), config.id);
        tokio::spawn(async move { hub.start(id).await })
    };
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
