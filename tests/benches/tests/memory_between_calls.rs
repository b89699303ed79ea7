//! What only calls take is kept for the next one where calls follow each other, and given back where none comes.

use std::time::Duration;

use mcpwire_driver::protocol::{
    Config, Negotiate, RequestOptions, SubscribeOptions, SubscriptionEvent, SubscriptionFilter, SubscriptionKey,
};
use mcpwire_driver::{ConnectOptions, McpServerDef};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, legacy, modern};
use mcpwire_engine_tests::{Counting, allocated, watched};
use mcpwire_testkit::{ScriptedServer, Testkit};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The parameters while they are written, those of the request, the name of the tool, the answer's line, and what the caller gets.
const CALL: usize = 8;

#[test]
fn a_call_on_a_busy_connection_takes_what_its_caller_gets_and_little_else() {
    watched(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
        for flags in [&[][..], &["--result-first"]] {
            let def = McpServerDef::new(env!("CARGO_BIN_EXE_fast_server")).args(flags.iter().copied());
            let options = ConnectOptions::new(Config::default()).negotiate(Negotiate::Legacy);
            let client = runtime.block_on(async {
                let client = mcpwire_tokio::McpClient::connect_with(&def, options).expect("it starts");
                client.initialize().await.expect("it opens");
                client
            });
            let calls = |times: usize| {
                let all = async {
                    for _ in 0..times {
                        client
                            .call_tool("echo", [("bytes", 64)].into_iter().collect::<serde_json::Value>())
                            .await
                            .expect("it answers");
                    }
                };
                allocated(|| runtime.block_on(all)).1
            };
            calls(100);
            let counted = calls(100);
            assert!(counted.times <= 100 * CALL, "{flags:?}: {counted:?}");
            assert_eq!(counted.held, 0, "{flags:?}: {counted:?}");
            runtime.block_on(client.shutdown()).expect("it ends");
        }
    });
}

#[test]
fn it_is_given_back_when_the_timer_of_the_calls_has_gone_off() {
    watched(|| {
        let server = ScriptedServer::new().latency(Duration::from_millis(1)).tool("echo", |_| "hello");
        let kit = Testkit::new(server);
        let client = kit.connect();
        kit.time().run(client.initialize()).expect("it opens");
        let held_after = |times: usize| {
            let calls = async {
                for _ in 0..times {
                    client.call_tool("echo", json!({})).await.expect("it answers");
                }
            };
            let all = || {
                kit.time().run(calls);
                drop(kit.server().take_recorded());
            };
            allocated(all).1.held
        };
        held_after(5);
        assert_eq!(held_after(5), 0, "a connection that is seldom used keeps nothing");
        let kept = held_after(100);
        // Two thirds are the first node of the ordered table of requests.
        assert!((1..5120).contains(&kept), "{kept}");
        assert_eq!(held_after(100), 0, "what is kept is used again");
        let ((), counted) = allocated(|| kit.time().advance(Duration::from_secs(3600)));
        assert_eq!(counted.held, -kept);
        assert_eq!(held_after(5), 0, "it is seldom used again");
    });
}

/// A request that opens a subscription stays unanswered in the modern era. It must not keep the buffers of other requests.
#[test]
fn an_idle_connection_with_a_subscription_gives_its_buffers_back() {
    let eras: [fn(Config) -> Pair; 2] =
        [|config| Pair::open(config, legacy(answer)), |config| Pair::open(config, modern(answer))];
    for open in eras {
        let mut fresh = open(Config::default());
        subscribe(&mut fresh);
        let mut used = open(Config::default());
        let subscription = subscribe(&mut used);
        let id = used.sent.last().and_then(Sent::id).expect("a request");
        for _ in 0..200 {
            let _ticket = used.call("echo", &RequestOptions::new()).expect("it is sent");
        }
        for n in 0..500 {
            used.say(resource_updated(id, n));
        }
        used.drive();
        assert_eq!((used.taken(subscription).len(), used.engine.session().in_flight()), (500, 0));
        let (fresh, used) = (held_when_idle(fresh), held_when_idle(used));
        // The queue of changes keeps room for four.
        assert!((1..=fresh + 512).contains(&used), "{used} bytes, {fresh} if it was never used");
    }
}

/// Returns the bytes that the engine holds after it has given its buffers back.
fn held_when_idle(pair: Pair) -> isize {
    let mut engine = pair.engine;
    assert!(engine.is_idle());
    engine.shrink();
    -allocated(|| drop(engine)).1.held
}

fn subscribe(pair: &mut Pair) -> SubscriptionKey {
    let key = pair.subscribe(&SubscriptionFilter::new().resource("file:///a"), &SubscribeOptions::new());
    assert!(matches!(pair.taken(key)[..], [SubscriptionEvent::Acknowledged(_)]));
    key
}

fn answer(sent: &Sent, peer: &mut Peer) {
    match (sent.method(), sent.id()) {
        ("subscriptions/listen", Some(id)) => {
            let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
            let params = json!({"_meta": meta, "notifications": sent.params()["notifications"]});
            let method = "notifications/subscriptions/acknowledged";
            peer.say(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
        }
        (_, Some(_)) => peer.answer(sent, r#"{"resultType":"complete","content":[]}"#),
        _ => {}
    }
}

fn resource_updated(subscription: u64, n: u32) -> String {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": subscription});
    let params = json!({"_meta": meta, "uri": format!("file:///a/{n}")});
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}).to_string()
}
