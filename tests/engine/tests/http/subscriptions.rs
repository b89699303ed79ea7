//! Subscriptions over HTTP: a modern one is an exchange of its own, a legacy one belongs to the session (2026-07-28,
//! basic/patterns/subscriptions; 2025-11-25, server/resources, "Subscriptions").

use core::time::Duration;

use mcpwire_core::http::{FailureKind, HttpError};
use mcpwire_core::{
    CallError, Config, Negotiate, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter,
    SubscriptionKey,
};
use mcpwire_engine_tests::sim::web::{self, Asked, Says, Web};

fn told(asked: &Asked, what: &str, more: &str) -> String {
    let id = &asked.message["id"];
    let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/{what}","params":{{{meta}{more}}}}}"#)
}

fn acknowledge<'s>(asked: &Asked, says: &'s mut Says) -> &'s mut Says {
    says.stream();
    says.event(told(asked, "subscriptions/acknowledged", r#","notifications":{"toolsListChanged":true}"#))
}

fn subscribe(web: &mut Web, wanted: &SubscriptionFilter) -> SubscriptionKey {
    let now = web.now;
    let key = web.engine.calls().subscribe(wanted, &SubscribeOptions::new(), now).expect("it is open");
    web.drive();
    key
}

fn taken(web: &mut Web, key: SubscriptionKey) -> Vec<SubscriptionEvent> {
    core::iter::from_fn(|| web.engine.calls().poll_subscription(key)).collect()
}

#[test]
fn a_modern_subscription_is_a_stream_that_stays() {
    let mut web = Web::ready(
        Config::default(),
        web::modern(|asked, says| {
            acknowledge(asked, says).later(Duration::from_secs(10_000)).event(told(asked, "tools/list_changed", ""));
        }),
    );
    let key = subscribe(&mut web, &SubscriptionFilter::new().tools());
    let asked = web.last("POST subscriptions/listen");
    assert!(asked.exchange.is_long);
    assert_eq!(asked.header("mcp-method"), Some("subscriptions/listen"));
    assert!(matches!(taken(&mut web, key)[..], [SubscriptionEvent::Acknowledged(_)]));
    web.pass(Duration::from_secs(10_000));
    assert_eq!(taken(&mut web, key), [SubscriptionEvent::ToolsChanged]);
    assert_eq!(web.engine.exchanges(), 1);
    assert!(web.engine.calls().unsubscribe(key, web.now));
    web.drive();
    assert_eq!((web.aborted.len(), web.engine.exchanges(), web.lines().len()), (1, 0, 1));
    assert_eq!(web.engine.poll_timeout(), None);
}

#[test]
fn a_modern_subscription_that_breaks_is_opened_again() {
    let ways: [fn(&mut Says); 2] = [
        |says| {
            says.fail(FailureKind::Broken);
        },
        |says| {
            says.end();
        },
    ];
    for way in ways {
        let mut times = 0;
        let mut web = Web::ready(
            Config::default(),
            web::modern(move |asked, says| {
                times += 1;
                acknowledge(asked, says);
                if times == 1 {
                    way(says.later(Duration::from_secs(5)));
                }
            }),
        );
        let key = subscribe(&mut web, &SubscriptionFilter::new().tools());
        assert!(matches!(taken(&mut web, key)[..], [SubscriptionEvent::Acknowledged(_)]));
        web.pass(Duration::from_secs(7));
        let events = taken(&mut web, key);
        assert!(matches!(events[..], [SubscriptionEvent::Acknowledged(_)]), "{events:?}");
        assert_eq!(web.lines().len(), 2);
        assert_eq!(web.engine.exchanges(), 1);
    }
}

#[test]
fn a_modern_subscription_that_is_refused_says_how() {
    let mut web = Web::ready(
        Config::default(),
        web::modern(|_, says| {
            says.head(503, &[]).body("later").end();
        }),
    );
    let key = subscribe(&mut web, &SubscriptionFilter::new().tools());
    let events = taken(&mut web, key);
    let [SubscriptionEvent::Ended(SubscriptionEnd::Failed(failure))] = &events[..] else { panic!("{events:?}") };
    let CallError::Http { error, .. } = &**failure else { panic!("{failure}") };
    assert_eq!(**error, HttpError::Status { status: 503, excerpt: "later".into(), retry_after: None });
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None));
}

#[test]
fn a_legacy_watch_that_does_not_arrive_is_not_agreed_to() {
    let mut config = Config::default();
    config.negotiate = Negotiate::Legacy;
    let mut web = Web::opening(config, |asked, says| match asked.method() {
        "initialize" => {
            let capabilities = r#"{"resources":{"subscribe":true}}"#;
            says.json(
                200,
                asked.result(&format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities}}}"#)),
            );
        }
        "notifications/initialized" => {
            says.empty(202);
        }
        "resources/subscribe" => {
            says.fail(FailureKind::Broken);
        }
        _ => {
            says.empty(405);
        }
    });
    let key = subscribe(&mut web, &SubscriptionFilter::new().resource("file:///a"));
    let events = taken(&mut web, key);
    let [SubscriptionEvent::Ended(SubscriptionEnd::Failed(failure))] = &events[..] else { panic!("{events:?}") };
    let CallError::Http { error, .. } = &**failure else { panic!("{failure}") };
    assert!(matches!(&**error, HttpError::Failed(_)));
    assert_eq!(web.engine.poll_timeout(), None);
}
