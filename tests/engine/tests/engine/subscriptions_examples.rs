//! The specification's own examples of subscriptions: each is read, and comes out as it went in; what is sent is what they
//! send.
//!
//! They lie in the folder that `MCPWIRE_SPEC` names, as `<revision>/examples/<type>/*.json`.

use std::fs;
use std::path::Path;

use mcpwire_core::internal::{SubscriptionsAcknowledged, SubscriptionsListenResult};
use mcpwire_core::{
    Config, Event, Json, Notification, ResourceUpdated, SubscribeOptions, SubscriptionEnd, SubscriptionEvent,
    SubscriptionFilter,
};
use mcpwire_engine_tests::sim::{Pair, modern};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The examples of a type, in all revisions.
fn examples(name: &str) -> Vec<Value> {
    let Some(spec) = std::env::var_os("MCPWIRE_SPEC") else {
        println!("SKIPPED: MCPWIRE_SPEC does not say where the specification is");
        return Vec::new();
    };
    let folder = Path::new(&spec).join("2026-07-28/examples").join(name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read =
        |path: &Path| serde_json::from_str(&fs::read_to_string(path).expect("it is readable")).expect("it is JSON");
    let examples: Vec<Value> = files.map(|file| read(&file.expect("a file").path())).collect();
    assert!(!examples.is_empty(), "{name}");
    examples
}

fn round_trip<T: DeserializeOwned + Serialize>(value: &Value) {
    let read: T = Json::parse(value.to_string()).and_then(|json| json.decode()).expect("it is one");
    assert_eq!(serde_json::to_value(&read).expect("it can be written"), *value);
}

#[test]
fn types_are_read_and_written() {
    for example in examples("SubscriptionsListenRequest") {
        round_trip::<SubscriptionFilter>(&example["params"]["notifications"]);
    }
    for example in examples("SubscriptionsAcknowledgedNotification") {
        round_trip::<SubscriptionsAcknowledged>(&example["params"]);
    }
    for example in examples("SubscriptionsListenResult") {
        round_trip::<SubscriptionsListenResult>(&example);
    }
    for example in examples("SubscriptionsListenResultResponse") {
        round_trip::<SubscriptionsListenResult>(&example["result"]);
    }
    for example in examples("ResourceUpdatedNotification") {
        round_trip::<ResourceUpdated>(&example["params"]);
    }
}

/// An example of the server's with our id in place of its own.
fn with_id(example: &Value, id: u64) -> String {
    let mut example = example.clone();
    if example.get("id").is_some() {
        example["id"] = id.into();
    }
    for part in ["params", "result"] {
        if let Some(meta) = example.get_mut(part).and_then(|part| part.get_mut("_meta")) {
            meta["io.modelcontextprotocol/subscriptionId"] = id.into();
        }
    }
    example.to_string()
}

/// The story that the examples tell together.
#[test]
fn they_are_understood_where_they_are_said() {
    let requests = examples("SubscriptionsListenRequest");
    let Some(request) = requests.first() else { return };
    let wanted: SubscriptionFilter =
        Json::parse(request["params"]["notifications"].to_string()).and_then(|json| json.decode()).expect("a filter");
    let mut pair = Pair::open(Config::default(), modern(|_, _| {}));
    let now = pair.now;
    let key = pair.engine.calls().subscribe(&wanted, &SubscribeOptions::new(), now).expect("it is sent");
    pair.drive();
    let sent = pair.sent.pop().expect("it was sent");
    assert_eq!(sent.params()["notifications"], request["params"]["notifications"]);
    assert_eq!(sent.method(), request["method"]);
    let ours = sent.meta().as_object().expect("an object").keys();
    assert!(ours.eq(request["params"]["_meta"].as_object().expect("an object").keys()));

    let id = sent.id().expect("a request");
    pair.say(with_id(&examples("SubscriptionsAcknowledgedNotification")[0], id));
    assert_eq!(pair.engine.calls().poll_subscription(key), Some(SubscriptionEvent::Acknowledged(wanted)));
    for updated in examples("ResourceUpdatedNotification") {
        let mut updated = updated;
        updated["params"]["_meta"] = serde_json::json!({});
        let uri = updated["params"]["uri"].as_str().expect("an address").to_owned();
        pair.say(with_id(&updated, id));
        assert_eq!(
            pair.engine.calls().poll_subscription(key),
            Some(SubscriptionEvent::ResourceUpdated { uri: uri.clone() })
        );
        assert!(
            pair.happened().iter().any(
                |event| matches!(event, Event::Notification(Notification::ResourceUpdated(told)) if told.uri == uri)
            )
        );
    }
    pair.say(with_id(&examples("SubscriptionsListenResultResponse")[0], id));
    assert_eq!(pair.engine.calls().poll_subscription(key), Some(SubscriptionEvent::Ended(SubscriptionEnd::ByServer)));
}
