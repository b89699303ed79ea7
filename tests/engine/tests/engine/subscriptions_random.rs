//! Subscriptions that come and go in any order, on servers that say anything: each of them is acknowledged or over first,
//! over at most once and last, and nothing is left of it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use mcpwire_core::{
    CacheLimits, Config, Event, Phase, ResubscribePolicy, SubscribeOptions, SubscriptionEvent, SubscriptionFilter,
    SubscriptionKey,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent};

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
