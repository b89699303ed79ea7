//! Subscriptions of the legacy era, and subscriptions of both in any order.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use mcpwire_core::{
    CacheLimits, CallError, CloseReason, Config, Event, Phase, ResubscribePolicy, SubscribeOptions, SubscriptionEnd,
    SubscriptionEvent, SubscriptionFilter, SubscriptionKey,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent};
use serde_json::json;

// The same handle up to 2025-11-25: `resources/subscribe` for each resource, and the list changes that are declared.

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

// Subscriptions that come and go in any order, on servers that say anything: each of them is acknowledged or over first,
// over at most once and last, and nothing is left of it.

const SEEDS: u64 = 400;
const STEPS: usize = 80;

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }

    fn index(&mut self, n: u64) -> usize {
        usize::try_from(self.below(n)).expect("it is small")
    }
}

/// A server that does one of many things about each request; all its subscriptions are remembered.
fn server(seed: u64, modern: bool, ids: Rc<RefCell<Vec<u64>>>) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let mut random = Random(seed * 2 + 1);
    move |sent, peer| match (sent.method(), sent.id()) {
        ("server/discover", _) if modern => {
            peer.answer(sent, r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#);
        }
        ("server/discover", _) => peer.refuse(sent, -32601, "Method not found"),
        ("initialize", _) => peer.answer(sent, r#"{"protocolVersion":"2025-11-25"}"#),
        ("subscriptions/listen", Some(id)) => {
            ids.borrow_mut().push(id);
            match random.below(6) {
                0 => peer.refuse(sent, -32603, "no"),
                1 => {}
                2 => peer.answer(sent, "{}"),
                n => {
                    let filter = &sent.params()["notifications"];
                    peer.say_after(Duration::from_millis(random.below(3) * 400), format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{filter}}}}}"#
                    ));
                    if n == 3 {
                        peer.answer_after(Duration::from_millis(900), sent, r#"{"resultType":"complete"}"#);
                    }
                }
            }
        }
        (_, Some(_)) => match random.below(4) {
            0 => peer.refuse(sent, -32601, "no"),
            1 => {}
            n => peer.answer_after(Duration::from_millis((n - 2) * 700), sent, "{}"),
        },
        _ => {}
    }
}

/// What has been heard of a subscription.
#[derive(Default)]
struct Heard {
    acknowledged: bool,
    over: bool,
}

impl Heard {
    fn take(&mut self, event: &SubscriptionEvent) {
        assert!(!self.over, "{event:?} after the end");
        match event {
            SubscriptionEvent::Acknowledged(_) => self.acknowledged = true,
            SubscriptionEvent::Ended(_) => self.over = true,
            other => assert!(self.acknowledged, "{other:?} before it was acknowledged"),
        }
    }
}

fn play(seed: u64, modern: bool) {
    let mut config = Config::default();
    config.request_timeout = Duration::from_secs(1);
    config.max_subscriptions = 8;
    config.cache = CacheLimits::NONE;
    let ids = Rc::new(RefCell::new(Vec::new()));
    let mut pair = Pair::open(config, server(seed, modern, Rc::clone(&ids)));
    let mut random = Random(seed * 2 + 77);
    let mut live: BTreeMap<SubscriptionKey, Heard> = BTreeMap::new();
    for _ in 0..STEPS {
        let which = random.index(8);
        let key = live.keys().nth(which).copied();
        match (random.below(10), key) {
            (0..=2, _) => {
                let mut wanted = SubscriptionFilter::new();
                wanted.tools_list_changed = random.below(2) == 0;
                wanted.resources_list_changed = random.below(2) == 0;
                for _ in 0..random.below(3) {
                    wanted = wanted.resource(format!("a:{}", random.below(4)));
                }
                let resubscribe = [ResubscribePolicy::Never, ResubscribePolicy::AfterDrop, ResubscribePolicy::Always]
                    [random.index(3)];
                let now = pair.now;
                let options = SubscribeOptions::new().resubscribe(resubscribe);
                match pair.engine.calls().subscribe(&wanted, &options, now) {
                    Ok(key) => assert!(live.insert(key, Heard::default()).is_none()),
                    Err(_) => assert!(live.len() >= 8 || pair.engine.session().phase() == Phase::Closed),
                }
            }
            (3, Some(key)) => {
                pair.engine.calls().unsubscribe(key, pair.now);
                live.remove(&key);
                assert_eq!(pair.engine.calls().poll_subscription(key), None);
            }
            (4, Some(key)) => {
                while let Some(event) = pair.engine.calls().poll_subscription(key) {
                    live.get_mut(&key).expect("it lives").take(&event);
                }
                if live[&key].over {
                    live.remove(&key);
                }
            }
            (5..=7, _) => {
                let id = ids.borrow().get(which).copied().unwrap_or(random.below(40));
                let (method, uri) = [
                    ("tools/list_changed", ""),
                    ("resources/list_changed", ""),
                    ("resources/updated", r#""uri":"a:1","#),
                    ("resources/updated", ""),
                    ("subscriptions/acknowledged", ""),
                    ("cancelled", ""),
                ][random.index(6)];
                pair.say(format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{{uri}"requestId":{id},"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
                ));
            }
            (8, _) if random.below(40) == 0 => pair.end(),
            _ => pair.pass(Duration::from_millis(random.below(4000))),
        }
        pair.drive();
        assert_eq!(pair.engine.session().subscriptions(), live.len());
    }
    if pair.engine.session().phase() != Phase::Closed {
        pair.end();
    }
    for (key, heard) in &mut live {
        let events: Vec<_> = std::iter::from_fn(|| pair.engine.calls().poll_subscription(*key)).collect();
        assert!(events.len() <= 12, "{}", events.len());
        for event in &events {
            heard.take(event);
        }
        assert!(heard.over, "the connection is over, and it does not know");
    }
    assert_eq!(pair.engine.session().subscriptions(), 0);
    assert_eq!(pair.engine.poll_timeout(), None);
    assert!(matches!(pair.happened().last(), Some(Event::Closed(_))));
}

#[test]
fn modern_servers() {
    (0..SEEDS).for_each(|seed| play(seed, true));
}

#[test]
fn legacy_servers() {
    (0..SEEDS).for_each(|seed| play(seed, false));
}
