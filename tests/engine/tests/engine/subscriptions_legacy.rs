//! The same handle up to 2025-11-25: `resources/subscribe` for each resource, and the list changes that are declared.

use std::time::Duration;

use mcpwire_core::{
    CallError, CloseReason, Config, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent};
use serde_json::json;

const SUBSCRIBE: &str = "resources/subscribe";
const UNSUBSCRIBE: &str = "resources/unsubscribe";

/// A server that declares this, and does as `rest` says about the rest.
fn pair(capabilities: &'static str, mut rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
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

fn agreeing() -> Pair {
    pair(ALL, |sent, peer| {
        if sent.id().is_some() {
            peer.answer(sent, "{}");
        }
    })
}

fn updated(uri: &str) -> SubscriptionEvent {
    SubscriptionEvent::ResourceUpdated { uri: uri.into() }
}

fn tell(pair: &mut Pair, what: &str, uri: Option<&str>) {
    let params = uri.map(|uri| json!({"uri": uri}));
    pair.say(json!({"jsonrpc": "2.0", "method": format!("notifications/{what}"), "params": params}).to_string());
}

fn everything() -> SubscriptionFilter {
    SubscriptionFilter::new().tools().prompts().resources().resource("file:///a").resource("file:///b")
}

#[test]
fn each_resource_is_asked_for_and_given_up() {
    let mut pair = agreeing();
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
        let mut pair = pair(capabilities, |sent, peer| peer.answer(sent, "{}"));
        let key = pair.subscribe(&everything(), &SubscribeOptions::new());
        assert_eq!(pair.sent.len(), asked, "{capabilities}");
        assert_eq!(pair.taken(key), [SubscriptionEvent::Acknowledged(agreed)], "{capabilities}");
    }
}

#[test]
fn two_on_the_same_resource_are_one_for_the_server() {
    let mut pair = agreeing();
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
    let mut pair = pair(ALL, |sent, peer| match sent.params()["uri"].as_str() {
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
    let mut pair = pair(ALL, |sent, peer| {
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
    let mut pair = agreeing();
    let key = pair.subscribe(&everything(), &SubscribeOptions::new());
    pair.taken(key);
    pair.end();
    assert_eq!(pair.taken(key), [SubscriptionEvent::Ended(SubscriptionEnd::Dropped(CloseReason::ByServer))]);
    assert!(!pair.engine.calls().unsubscribe(key, pair.now));
}

#[test]
fn thousands_that_come_and_go_leave_nothing() {
    let mut pair = pair(ALL, |_, _| {});
    for number in 0..5_000 {
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
