//! The snapshot of the tools is current as soon as a method returns or an event arrives.
//!
//! The tests use several threads and many rounds, because a stale snapshot would be a race.

use mcpwire_hub::service::HubEvent;
use mcpwire_hub::{Hub, McpService};
use mcpwire_supervisor::State;

use crate::support::{Place, good, server, soon, until};

const ROUNDS: usize = 30;

fn shows(hub: &Hub) -> bool {
    hub.resolve("a__echo").is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_has_the_tools_when_a_start_is_answered_and_not_when_an_end_is() {
    let place = Place::new();
    let mut config = good("a");
    let hub = place.hub_with([config.clone()]).await;
    for round in 0..ROUNDS {
        assert_eq!(soon(hub.boot()).await.unwrap().ready, 1);
        assert!(shows(&hub), "boot, round {round}");
        soon(hub.restart(config.id)).await.unwrap();
        assert!(shows(&hub), "restart, round {round}");
        soon(hub.stop(config.id)).await.unwrap();
        assert!(!shows(&hub), "stop, round {round}");
        soon(hub.start(config.id)).await.unwrap();
        assert!(shows(&hub), "start, round {round}");
        config.enabled = false;
        soon(hub.update(config.clone())).await.unwrap();
        assert!(!shows(&hub), "disable, round {round}");
        config.enabled = true;
        soon(hub.update(config.clone())).await.unwrap();
        assert!(shows(&hub), "enable, round {round}");
        soon(hub.delete(config.id)).await.unwrap();
        assert!(!shows(&hub), "delete, round {round}");
        soon(hub.create(config.clone())).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_has_the_new_tools_when_a_filter_is_changed() {
    let place = Place::new();
    let mut config = good("a");
    let hub = place.running(&config).await;
    for round in 0..ROUNDS {
        for denied in [true, false] {
            config.tools.deny = if denied { vec!["echo".into()] } else { Vec::new() };
            soon(hub.update(config.clone())).await.unwrap();
            assert_eq!(shows(&hub), !denied, "round {round}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_that_of_the_state_that_is_told() {
    let place = Place::new();
    let config = server("a", "modern");
    let hub = place.hub_with([config.clone()]).await;
    let mut events = hub.events();
    for round in 0..ROUNDS {
        let starting = tokio::spawn({
            let (hub, id) = (hub.clone(), config.id);
            async move { hub.start(id).await }
        });
        until(&mut events, config.id, State::Running).await;
        assert!(shows(&hub), "running, round {round}");
        soon(starting).await.unwrap().unwrap();
        let stopping = tokio::spawn({
            let (hub, id) = (hub.clone(), config.id);
            async move { hub.stop(id).await }
        });
        until(&mut events, config.id, State::Stopping).await;
        assert!(!shows(&hub), "stopping, round {round}");
        soon(stopping).await.unwrap().unwrap();
    }
    soon(hub.delete(config.id)).await.unwrap();
    soon(async { while events.next().await != Some(HubEvent::Removed { id: config.id }) {} }).await;
}
