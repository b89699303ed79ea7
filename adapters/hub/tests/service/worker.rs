//! The worker of the example `worker`, from end to end, and its reactions to errors.

#[path = "../../../../examples/worker/worker.rs"]
mod subject;

use std::sync::Arc;

use mcpwire_supervisor::{ErrorCode, State};
use serde_json::{Value, json};

use self::subject::{Perception, Source, Worker};
use crate::{Place, good, missing, one, soon, until};

fn source(tool: &str, arguments: Value) -> Source {
    Source { tool: tool.into(), arguments }
}

#[tokio::test]
async fn the_worker_perceives_what_the_tool_returned() {
    let place = Place::new();
    let hub = place.hub_with([good("source"), missing("broken")]).await;
    soon(hub.boot()).await.unwrap();
    let mut worker = Worker::new(Arc::new(hub), vec![source("source__fetch_data", json!({"query": "test"}))]);
    let tools = worker.tools();
    let fetch = tools.iter().find(|tool| tool["name"] == "source__fetch_data").expect("it is offered");
    assert_eq!(fetch["input_schema"]["type"], "object");
    assert_eq!(soon(worker.perceive()).await, [Perception::Seen("data about test".into())]);
    assert_eq!(worker.memory(), ["data about test"]);
}

#[tokio::test]
async fn a_tool_that_fails_or_is_not_there_keeps_the_worker_from_nothing_else() {
    let place = Place::new();
    let hub = place.hub_with([good("source")]).await;
    soon(hub.boot()).await.unwrap();
    let sources = vec![
        source("source__fail", json!({"message": "no luck"})),
        source("source__missing_tool", json!({})),
        source("source__fetch_data", json!({"query": "more"})),
    ];
    let mut worker = Worker::new(Arc::new(hub), sources);
    let expected = [
        Perception::ToolFailed("no luck".into()),
        Perception::NoSuchTool("source__missing_tool".into()),
        Perception::Seen("data about more".into()),
    ];
    assert_eq!(soon(worker.perceive()).await, expected);
}

#[tokio::test]
async fn after_a_crash_the_worker_goes_on() {
    let (_place, hub, id) = one(good("source")).await;
    soon(hub.boot()).await.unwrap();
    let mut events = hub.events();
    let mut crashing = Worker::new(Arc::new(hub.clone()), vec![source("source__crash", json!({}))]);
    let mut worker = Worker::new(Arc::new(hub.clone()), vec![source("source__fetch_data", json!({"query": "a"}))]);
    let perceived = soon(crashing.perceive()).await;
    assert!(
        matches!(&perceived[..], [Perception::NotNow(error)] if error.code() == ErrorCode::ServiceUnavailable),
        "{perceived:?}"
    );
    until(&mut events, id, State::Running).await;
    assert_eq!(soon(worker.perceive()).await, [Perception::Seen("data about a".into())]);
}

#[tokio::test]
async fn a_server_that_does_not_run_is_told_from_a_tool_that_is_not_there() {
    let place = Place::new();
    let mut config = good("source");
    let hub = place.hub_with([config.clone()]).await;
    let tools = ["source__fetch_data", "other__fetch_data", "fetch_data"];
    let sources = tools.map(|tool| source(tool, json!({"query": "a"}))).to_vec();
    let mut worker = Worker::new(Arc::new(hub.clone()), sources);
    let none = |tool: &str| Perception::NoSuchTool(tool.into());
    let perceived = soon(worker.perceive()).await;
    assert!(
        matches!(&perceived[0], Perception::NotNow(error) if error.message().contains("is stopped; start it")),
        "{perceived:?}"
    );
    assert_eq!(perceived[1..], [none(tools[1]), none(tools[2])]);
    config.enabled = false;
    soon(hub.update(config)).await.unwrap();
    let perceived = soon(worker.perceive()).await;
    assert!(matches!(&perceived[0], Perception::Refused(error) if error.field() == "enabled"), "{perceived:?}");
}

#[tokio::test]
async fn a_worker_that_asks_too_often_is_told_to_wait() {
    let place = Place::new();
    let mut config = good("source");
    config.limits.calls_per_minute = Some(1);
    let hub = place.hub_with([config]).await;
    soon(hub.boot()).await.unwrap();
    let mut worker = Worker::new(Arc::new(hub), vec![source("source__fetch_data", json!({"query": "a"}))]);
    assert_eq!(soon(worker.perceive()).await.len(), 1);
    let perceived = soon(worker.perceive()).await;
    assert!(
        matches!(&perceived[..], [Perception::NotNow(error)] if error.message().contains("Rate limit")),
        "{perceived:?}"
    );
    assert_eq!(worker.memory().len(), 1);
}
