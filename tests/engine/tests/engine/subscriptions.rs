//! Subscriptions of both eras, and the examples of the specification.

use std::time::Duration;

use mcpwire_core::{
    CallError, CloseReason, Config, Event, Json, Notification, ResubscribePolicy, SendError, SubscribeOptions,
    SubscriptionEnd, SubscriptionEvent, SubscriptionFilter,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, configured, modern};
use mcpwire_engine_tests::spec;
use serde_json::{Value, json};

// Subscriptions of the modern era: acknowledged, told apart by their ids, ended by either side, opened again with patience.
// (2026-07-28, basic/patterns/subscriptions)

const LISTEN: &str = "subscriptions/listen";

fn everything() -> SubscriptionFilter {
    SubscriptionFilter::new().tools().prompts().resources().resource("file:///a").resource("file:///b")
}

/// A server that does as `rest` says about subscriptions.
fn pair(rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
    Pair::modern(rest)
}

/// A server that agrees to everything.
fn agreeing() -> Pair {
    pair(|sent, peer| {
        if sent.method() == LISTEN {
            acknowledge(sent, peer);
        }
    })
}

fn acknowledge(sent: &Sent, peer: &mut Peer) {
    peer.say(told(sent.id().expect("a request"), "subscriptions/acknowledged", &sent.params()["notifications"]));
}

/// A notification on a subscription; `rest` is what an acknowledgment agrees to, or the address of a resource.
fn told(id: u64, what: &str, rest: &Value) -> String {
    let mut params = json!({"_meta": {"io.modelcontextprotocol/subscriptionId": id}});
    if what == "subscriptions/acknowledged" {
        params["notifications"] = rest.clone();
    } else if !rest.is_null() {
        params["uri"] = rest.clone();
    }
    json!({"jsonrpc": "2.0", "method": format!("notifications/{what}"), "params": params}).to_string()
}

fn updated(uri: &str) -> SubscriptionEvent {
    SubscriptionEvent::ResourceUpdated { uri: uri.into() }
}

/// The id of the last subscription that the client asked for.
fn id_of(pair: &Pair) -> u64 {
    pair.sent.iter().rev().find(|sent| sent.method() == LISTEN).and_then(Sent::id).expect("it was sent")
}

#[test]
fn what_is_wanted_is_sent_and_what_is_agreed_is_told() {
    let mut pair = pair(|sent, peer| {
        let agreed = json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a", "file:///never-asked"]});
        peer.say(told(sent.id().expect("a request"), "subscriptions/acknowledged", &agreed));
    });
    let wanted =
        SubscriptionFilter::new().tools().prompts().resource("file:///b").resource("file:///a").resource("file:///a");
    let key = pair.subscribe(&wanted, &SubscribeOptions::new());
    let params = pair.sent[0].params();
    assert_eq!(
        params["notifications"],
        json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["file:///a", "file:///b"]})
    );
    assert_eq!(params["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    let agreed = SubscriptionFilter::new().tools().resource("file:///a");
    assert_eq!(pair.taken(key), [SubscriptionEvent::Acknowledged(agreed)]);
    let subscribed = pair.events.iter().filter(|(_, event)| *event == Event::Subscription(key)).count();
    assert_eq!(subscribed, 1);
}

#[test]
fn how_tasks_stand_is_told_to_those_who_listen_for_them() {
    let mut pair = pair(|sent, peer| {
        let agreed = json!({"taskIds": ["b", "never-asked"]});
        peer.say(told(sent.id().expect("a request"), "subscriptions/acknowledged", &agreed));
    });
    let wanted = SubscriptionFilter::new().task("b").task("a").task("a");
    assert!(!wanted.is_empty());
    let key = pair.subscribe(&wanted, &SubscribeOptions::new());
    assert_eq!(pair.sent[0].params()["notifications"], json!({"taskIds": ["a", "b"]}));
    assert_eq!(pair.taken(key), [SubscriptionEvent::Acknowledged(SubscriptionFilter::new().task("b"))]);
    let id = id_of(&pair);
    let task = json!({
        "_meta": {"io.modelcontextprotocol/subscriptionId": id},
        "taskId": "b", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
        "ttlMs": null
    });
    pair.say(json!({"jsonrpc": "2.0", "method": "notifications/tasks", "params": task}).to_string());
    let happened = pair.happened();
    let Some(Event::Notification(Notification::TaskStatus { key: None, task, .. })) = happened.last() else {
        panic!("{happened:?}")
    };
    assert_eq!(task.task_id, "b");
}

#[test]
fn it_has_no_deadline_once_it_is_acknowledged() {
    let mut pair = agreeing();
    let key = pair.subscribe(&everything(), &SubscribeOptions::new());
    pair.taken(key);
    assert_eq!(pair.engine.poll_timeout(), None);
    assert_eq!(pair.engine.session().in_flight(), 0);
    assert!(pair.engine.is_idle(), "an open subscription needs no buffers");
    pair.pass(Duration::from_secs(100 * 24 * 3600));
    let id = id_of(&pair);
    pair.say(told(id, "tools/list_changed", &json!(null)));
    assert_eq!(pair.taken(key), [SubscriptionEvent::ToolsChanged]);
}

#[test]
fn one_that_is_not_acknowledged_in_time_fails() {
    let mut pair = pair(|_, _| {});
    let options = SubscribeOptions::new().timeout(Duration::from_secs(3)).resubscribe(ResubscribePolicy::Always);
    let key = pair.subscribe(&everything(), &options);
    pair.pass(Duration::from_millis(2999));
    assert_eq!(pair.taken(key), []);
    pair.pass(Duration::from_millis(1));
    let [SubscriptionEvent::Ended(SubscriptionEnd::Failed(failure))] = &pair.taken(key)[..] else {
        panic!("it does not say that it timed out")
    };
    let CallError::Timeout { method, after, .. } = &**failure else { panic!("{failure}") };
    assert_eq!((&**method, *after), (LISTEN, Duration::from_secs(3)));
    assert_eq!(pair.methods(), [LISTEN, "notifications/cancelled"]);
    assert_eq!(pair.sent[1].params()["requestId"], pair.sent[0].id().expect("a request"));
    pair.pass(Duration::from_secs(3600));
    assert_eq!(pair.sent.len(), 2, "what never was open is not opened again");
}

#[test]
fn each_hears_what_carries_its_id() {
    let mut pair = agreeing();
    let tools = pair.subscribe(&SubscriptionFilter::new().tools(), &SubscribeOptions::new());
    let id_of_tools = id_of(&pair);
    let all = pair.subscribe(&everything(), &SubscribeOptions::new());
    let id_of_all = id_of(&pair);
    pair.taken(tools);
    pair.taken(all);
    for (id, what, uri) in [
        (id_of_all, "tools/list_changed", json!(null)),
        (id_of_all, "resources/updated", json!("file:///a/part")),
        (id_of_tools, "tools/list_changed", json!(null)),
        // Not asked for, nobody's, and of one that never was.
        (id_of_tools, "prompts/list_changed", json!(null)),
        (id_of_tools, "resources/updated", json!("file:///a")),
        (999, "tools/list_changed", json!(null)),
    ] {
        pair.say(told(id, what, &uri));
    }
    pair.say(r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#);
    assert_eq!(pair.taken(tools), [SubscriptionEvent::ToolsChanged]);
    assert_eq!(pair.taken(all), [SubscriptionEvent::ToolsChanged, updated("file:///a/part")]);
    let notifications = pair.events.iter().filter(|(_, event)| matches!(event, Event::Notification(_))).count();
    assert_eq!(notifications, 9, "all of them are told as before, the acknowledgments too");
}

/// An id comes back as a string, or as a float, from servers whose language knows no other.
#[test]
fn ids_are_matched_as_those_of_answers_are() {
    let mut pair = pair(|sent, peer| {
        let id = sent.id().expect("a request");
        peer.say(
            told(id, "subscriptions/acknowledged", &sent.params()["notifications"])
                .replace(&format!(":{id}"), &format!(r#":"{id}""#)),
        );
        peer.say(told(id, "tools/list_changed", &json!(null)).replace(&format!(":{id}"), &format!(":{id}.0")));
    });
    let wanted = SubscriptionFilter::new().tools();
    let key = pair.subscribe(&wanted, &SubscribeOptions::new());
    assert_eq!(pair.taken(key), [SubscriptionEvent::Acknowledged(wanted), SubscriptionEvent::ToolsChanged]);
}

/// Servers must acknowledge first. One that does not is understood all the same.
#[test]
fn what_is_told_before_the_acknowledgment_is_told_after_it() {
    let mut pair = pair(|sent, peer| peer.say(told(sent.id().expect("a request"), "tools/list_changed", &json!(null))));
    let wanted = SubscriptionFilter::new().tools();
    let key = pair.subscribe(&wanted, &SubscribeOptions::new());
    assert_eq!(pair.taken(key), []);
    assert!(!pair.happened().contains(&&Event::Subscription(key)));
    let id = id_of(&pair);
    pair.say(told(id, "subscriptions/acknowledged", &json!({"toolsListChanged": true})));
    assert_eq!(pair.taken(key), [SubscriptionEvent::Acknowledged(wanted), SubscriptionEvent::ToolsChanged]);
}

#[test]
fn the_servers_end_and_the_loss_of_the_connection_are_told_apart() {
    let ended = |how: fn(&mut Pair)| {
        let mut pair = agreeing();
        let key = pair.subscribe(&everything(), &SubscribeOptions::new());
        pair.taken(key);
        how(&mut pair);
        pair.pass(Duration::from_secs(3600));
        assert_eq!(pair.methods().iter().filter(|method| **method == LISTEN).count(), 1);
        let events = pair.taken(key);
        assert_eq!(pair.taken(key), [], "it is forgotten");
        events
    };
    let gracefully = ended(|pair| {
        let id = id_of(pair);
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#));
    });
    assert_eq!(gracefully, [SubscriptionEvent::Ended(SubscriptionEnd::ByServer)]);
    let by_cancelling = ended(|pair| {
        let id = id_of(pair);
        pair.say(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#));
    });
    assert_eq!(by_cancelling, [SubscriptionEvent::Ended(SubscriptionEnd::ByServer)]);
    let lost = ended(Pair::end);
    assert_eq!(lost, [SubscriptionEvent::Ended(SubscriptionEnd::Dropped(CloseReason::ByServer))]);
    let closed = ended(|pair| pair.engine.close());
    assert_eq!(closed, [SubscriptionEvent::Ended(SubscriptionEnd::ByClient)]);
}

#[test]
fn a_refusal_says_why() {
    let mut pair = pair(|sent, peer| peer.refuse(sent, -32601, "Method not found"));
    let key = pair.subscribe(&everything(), &SubscribeOptions::new());
    let events = pair.taken(key);
    let [SubscriptionEvent::Ended(SubscriptionEnd::Failed(failure))] = &events[..] else { panic!("{events:?}") };
    let CallError::Server { method, error } = &**failure else { panic!("{failure}") };
    assert_eq!((&**method, error.code), (LISTEN, -32601));
    assert_eq!(pair.engine.session().stats().late + pair.engine.session().stats().unmatched, 0);
}

#[test]
fn it_is_cancelled_on_the_wire_once() {
    let mut pair = agreeing();
    let key = pair.subscribe(&everything(), &SubscribeOptions::new());
    let id = id_of(&pair);
    assert!(pair.engine.calls().unsubscribe(key, pair.now));
    assert!(!pair.engine.calls().unsubscribe(key, pair.now));
    pair.drive();
    assert_eq!(pair.methods(), [LISTEN, "notifications/cancelled"]);
    assert_eq!(pair.sent[1].params()["requestId"], id);
    pair.say(told(id, "tools/list_changed", &json!(null)));
    assert_eq!(pair.taken(key), []);
}

#[test]
fn a_server_that_ends_each_of_them_at_once_does_not_make_us_spin() {
    let mut pair = pair(|sent, peer| {
        acknowledge(sent, peer);
        peer.answer(sent, r#"{"resultType":"complete"}"#);
    });
    let key = pair.subscribe(&everything(), &SubscribeOptions::new().resubscribe(ResubscribePolicy::Always));
    let first = pair.taken(key);
    assert_eq!(first, [SubscriptionEvent::Acknowledged(everything())]);
    pair.pass(Duration::from_millis(499));
    assert_eq!(pair.sent.len(), 1);
    pair.pass(Duration::from_secs(24 * 3600));
    assert_eq!(pair.sent.len(), 11, "the first, and ten attempts");
    assert_eq!(
        pair.taken(key),
        [SubscriptionEvent::Acknowledged(everything()), SubscriptionEvent::Ended(SubscriptionEnd::ByServer)],
    );
    assert_eq!(pair.engine.poll_timeout(), None);
}

#[test]
fn one_that_was_interrupted_goes_on_under_another_id() {
    let mut errors = 2;
    let mut pair = pair(move |sent, peer| {
        if sent.method() == LISTEN {
            acknowledge(sent, peer);
        }
        if errors > 0 {
            errors -= 1;
            peer.refuse(sent, -32603, "the watcher broke");
        }
    });
    let key = pair.subscribe(&everything(), &SubscribeOptions::new());
    pair.taken(key);
    pair.pass(Duration::from_secs(10));
    assert_eq!(pair.methods(), [LISTEN; 3]);
    pair.say(told(id_of(&pair), "resources/list_changed", &json!(null)));
    assert_eq!(
        pair.taken(key),
        [SubscriptionEvent::Acknowledged(everything()), SubscriptionEvent::ResourcesChanged],
        "that it was acknowledged once more says that something may have been missed"
    );
    assert!(pair.engine.calls().unsubscribe(key, pair.now));
    pair.pass(Duration::from_secs(3600));
    assert_eq!(pair.sent.len(), 4);
}

#[test]
fn what_nobody_takes_is_bounded() {
    let mut pair = agreeing();
    let key = pair.subscribe(&everything(), &SubscribeOptions::new());
    let id = id_of(&pair);
    for round in 0..5 {
        for number in 0..5_000 {
            pair.say(told(id, "resources/updated", &json!(format!("file:///a/{round}/{number}"))));
            pair.say(told(id, "tools/list_changed", &json!(null)));
        }
        pair.events.retain(|(_, event)| matches!(event, Event::Subscription(_)));
    }
    assert_eq!(pair.events.len(), 1, "that there is something to take is told once");
    assert_eq!(
        pair.taken(key),
        [
            SubscriptionEvent::Acknowledged(everything()),
            SubscriptionEvent::ToolsChanged,
            SubscriptionEvent::ManyResourcesUpdated
        ]
    );
    pair.say(told(id, "resources/updated", &json!("file:///a")));
    assert_eq!(pair.taken(key), [updated("file:///a")]);
    assert_eq!(pair.events.pop().map(|(_, event)| event), Some(Event::Subscription(key)));
}

#[test]
fn there_are_so_many_and_no_more() {
    let mut pair = Pair::open(configured(|config| config.max_subscriptions = 2), modern(|_, _| {}));
    let wanted = everything();
    let first = pair.subscribe(&wanted, &SubscribeOptions::new());
    pair.subscribe(&wanted, &SubscribeOptions::new());
    let now = pair.now;
    let refused = pair.engine.calls().subscribe(&wanted, &SubscribeOptions::new(), now);
    assert_eq!(refused, Err(SendError::TooManyInFlight { limit: 2 }));
    pair.engine.calls().unsubscribe(first, pair.now);
    assert!(pair.engine.calls().subscribe(&wanted, &SubscribeOptions::new(), now).is_ok());
    pair.end();
    assert_eq!(pair.engine.calls().subscribe(&wanted, &SubscribeOptions::new(), now), Err(SendError::Closed));
}

/// Answers and acknowledgments of all shapes: none of them does harm.
#[test]
fn nonsense_is_left_aside() {
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":{}},"notifications":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":7,"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}"#,
    ] {
        let mut pair = pair(|_, _| {});
        let key = pair.subscribe(&everything(), &SubscribeOptions::new());
        pair.say(line);
        assert_eq!(pair.taken(key), [], "{line}");
        let id = id_of(&pair);
        pair.say(told(id, "subscriptions/acknowledged", &json!(null)));
        let events = pair.taken(key);
        assert_eq!(events, [SubscriptionEvent::Acknowledged(SubscriptionFilter::new())], "{line}");
        pair.say(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":7}}"#));
        let events = pair.taken(key);
        assert!(events.is_empty() || matches!(events[..], [SubscriptionEvent::Ended(_)]), "{events:?}");
    }
}

// The specification's own examples of subscriptions: what is sent is what they send.

/// The examples of a type. That each is read and written is tested in `tests/tests/schemas/coverage`.
fn examples(name: &str) -> Vec<Value> {
    let examples = spec::folder().map(|folder| spec::examples(&folder, name)).unwrap_or_default();
    examples.into_iter().map(|(_, example)| example).collect()
}

#[test]
fn filters_of_the_examples_are_read_and_written() {
    for example in examples("SubscriptionsListenRequest") {
        let filter = &example["params"]["notifications"];
        spec::round_trip::<SubscriptionFilter>(filter).expect("it comes out as it went in");
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
    if spec::folder().is_none() {
        return;
    }
    let request = &examples("SubscriptionsListenRequest")[0];
    let wanted: SubscriptionFilter =
        Json::parse(request["params"]["notifications"].to_string()).and_then(|json| json.decode()).expect("a filter");
    let mut pair = Pair::modern(|_, _| {});
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

// The same up to 2025-11-25: `resources/subscribe` for each resource, and the list changes that are declared.

const SUBSCRIBE: &str = "resources/subscribe";
const UNSUBSCRIBE: &str = "resources/unsubscribe";

/// A server that declares this, and does as `rest` says about the rest.
fn legacy_pair(capabilities: &'static str, mut rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
    Pair::open(Config::default(), move |sent: &Sent, peer: &mut Peer| match sent.method() {
        "server/discover" => peer.refuse(sent, -32601, "Method not found"),
        "initialize" => peer.answer(
            sent,
            &format!(r#"{{"protocolVersion":"2025-11-25",{capabilities}"serverInfo":{{"name":"sim","version":"1"}}}}"#),
        ),
        "notifications/initialized" => {}
        _ => rest(sent, peer),
    })
}

const ALL: &str = r#""capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}},"#;

fn legacy_agreeing() -> Pair {
    legacy_pair(ALL, |sent, peer| {
        if sent.id().is_some() {
            peer.answer(sent, "{}");
        }
    })
}

fn tell(pair: &mut Pair, what: &str, uri: Option<&str>) {
    let params = uri.map(|uri| json!({"uri": uri}));
    pair.say(json!({"jsonrpc": "2.0", "method": format!("notifications/{what}"), "params": params}).to_string());
}

#[test]
fn each_resource_is_asked_for_and_given_up() {
    let mut pair = legacy_agreeing();
    let key = pair.subscribe(&everything(), &SubscribeOptions::new());
    assert_eq!(pair.methods(), [SUBSCRIBE; 2]);
    assert_eq!(pair.sent[0].params()["uri"], "file:///a");
    assert_eq!(pair.taken(key), [SubscriptionEvent::Acknowledged(everything())]);
    assert_eq!(pair.engine.poll_timeout(), None);
    for (what, uri) in [
        ("tools/list_changed", None),
        ("resources/updated", Some("file:///a/part")),
        ("resources/updated", Some("file:///ab")),
        ("resources/updated", Some("file:///b")),
        ("prompts/list_changed", None),
        ("resources/list_changed", None),
    ] {
        tell(&mut pair, what, uri);
    }
    assert_eq!(
        pair.taken(key),
        [
            SubscriptionEvent::ToolsChanged,
            updated("file:///a/part"),
            updated("file:///b"),
            SubscriptionEvent::PromptsChanged,
            SubscriptionEvent::ResourcesChanged
        ]
    );
    assert!(pair.engine.calls().unsubscribe(key, pair.now));
    pair.drive();
    assert_eq!(pair.methods()[2..], [UNSUBSCRIBE; 2]);
    assert_eq!(pair.engine.session().stats().late, 0, "the answers were expected");
}

#[test]
fn what_is_not_declared_is_not_acknowledged() {
    for (capabilities, agreed, asked) in [
        (r#""capabilities":{},"#, SubscriptionFilter::new(), 0),
        (
            r#""capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{}},"#,
            SubscriptionFilter::new().tools(),
            0,
        ),
        (
            r#""capabilities":{"resources":{"subscribe":true}},"#,
            SubscriptionFilter::new().resource("file:///a").resource("file:///b"),
            2,
        ),
        // One that says nothing is taken to have everything.
        ("", everything(), 2),
    ] {
        let mut pair = legacy_pair(capabilities, |sent, peer| peer.answer(sent, "{}"));
        let key = pair.subscribe(&everything(), &SubscribeOptions::new());
        assert_eq!(pair.sent.len(), asked, "{capabilities}");
        assert_eq!(pair.taken(key), [SubscriptionEvent::Acknowledged(agreed)], "{capabilities}");
    }
}

#[test]
fn two_on_the_same_resource_are_one_for_the_server() {
    let mut pair = legacy_agreeing();
    let first = pair.subscribe(&SubscriptionFilter::new().resource("file:///a"), &SubscribeOptions::new());
    let second = pair
        .subscribe(&SubscriptionFilter::new().resource("file:///a").resource("file:///b"), &SubscribeOptions::new());
    assert_eq!(pair.methods(), [SUBSCRIBE; 2]);
    for key in [first, second] {
        assert!(matches!(pair.taken(key)[..], [SubscriptionEvent::Acknowledged(_)]));
    }
    tell(&mut pair, "resources/updated", Some("file:///a"));
    assert_eq!(pair.taken(first), [updated("file:///a")]);
    assert_eq!(pair.taken(second), [updated("file:///a")]);
    pair.engine.calls().unsubscribe(second, pair.now);
    pair.drive();
    assert_eq!(pair.methods()[2..], [UNSUBSCRIBE]);
    assert_eq!(pair.sent[2].params()["uri"], "file:///b");
    tell(&mut pair, "resources/updated", Some("file:///a"));
    assert_eq!(pair.taken(first), [updated("file:///a")]);
    pair.engine.calls().unsubscribe(first, pair.now);
    pair.drive();
    assert_eq!(pair.methods()[3..], [UNSUBSCRIBE]);
    assert_eq!(pair.sent[3].params()["uri"], "file:///a");
    pair.subscribe(&SubscriptionFilter::new().resource("file:///a"), &SubscribeOptions::new());
    assert_eq!(pair.methods()[4..], [SUBSCRIBE]);
}

#[test]
fn a_refused_resource_is_left_out() {
    let mut pair = legacy_pair(ALL, |sent, peer| match sent.params()["uri"].as_str() {
        Some("file:///a") => peer.answer(sent, "{}"),
        _ => peer.refuse(sent, -32002, "no such resource"),
    });
    let key = pair.subscribe(&everything(), &SubscribeOptions::new());
    let agreed = SubscriptionFilter::new().tools().prompts().resources().resource("file:///a");
    assert_eq!(pair.taken(key), [SubscriptionEvent::Acknowledged(agreed)]);

    let alone = pair.subscribe(&SubscriptionFilter::new().resource("file:///b"), &SubscribeOptions::new());
    let events = pair.taken(alone);
    let [SubscriptionEvent::Ended(SubscriptionEnd::Failed(failure))] = &events[..] else { panic!("{events:?}") };
    let CallError::Server { error, .. } = &**failure else { panic!("{failure}") };
    assert_eq!(error.code, -32002);
    pair.engine.calls().unsubscribe(key, pair.now);
    pair.drive();
    assert_eq!(
        pair.methods().iter().filter(|method| **method == UNSUBSCRIBE).count(),
        1,
        "what was refused is not watched"
    );
}

#[test]
fn silence_is_no_agreement() {
    let mut pair = legacy_pair(ALL, |sent, peer| {
        if sent.params()["uri"] != "file:///b" && sent.id().is_some() {
            peer.answer(sent, "{}");
        }
    });
    let key = pair.subscribe(&everything(), &SubscribeOptions::new());
    let other = pair.subscribe(&SubscriptionFilter::new().resource("file:///a"), &SubscribeOptions::new());
    assert!(matches!(pair.taken(other)[..], [SubscriptionEvent::Acknowledged(_)]));
    pair.pass(Duration::from_secs(30));
    let events = pair.taken(key);
    let [SubscriptionEvent::Ended(SubscriptionEnd::Failed(failure))] = &events[..] else { panic!("{events:?}") };
    let CallError::Timeout { method, .. } = &**failure else { panic!("{failure}") };
    assert_eq!(&**method, SUBSCRIBE);
    assert_eq!(pair.methods(), [SUBSCRIBE, SUBSCRIBE, UNSUBSCRIBE], "the other one still wants its resource");
    tell(&mut pair, "resources/updated", Some("file:///a"));
    assert_eq!(pair.taken(other), [updated("file:///a")]);
}

#[test]
fn a_lost_connection_ends_all() {
    let mut pair = legacy_agreeing();
    let key = pair.subscribe(&everything(), &SubscribeOptions::new());
    pair.taken(key);
    pair.end();
    assert_eq!(pair.taken(key), [SubscriptionEvent::Ended(SubscriptionEnd::Dropped(CloseReason::ByServer))]);
    assert!(!pair.engine.calls().unsubscribe(key, pair.now));
}

#[test]
fn thousands_that_come_and_go_leave_nothing() {
    let mut pair = legacy_pair(ALL, |_, _| {});
    for number in 0..2_000 {
        let key =
            pair.subscribe(&SubscriptionFilter::new().resource(format!("file:///{number}")), &SubscribeOptions::new());
        assert!(pair.engine.calls().unsubscribe(key, pair.now));
        pair.drive();
        pair.sent.clear();
    }
    assert_eq!(pair.engine.poll_timeout(), None);
    let shown = format!("{:?}", pair.engine);
    assert!(shown.len() < 16 * 1024, "{}", shown.len());
}
