//! Subscriptions over HTTP, and what becomes of them when a session is lost.

use core::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use mcpwire_core::http::{FailureKind, HttpError};
use mcpwire_core::{
    CallError, Event, Negotiate, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter,
    SubscriptionKey,
};
use mcpwire_engine_tests::sim::configured;
use mcpwire_engine_tests::sim::web::{Asked, Says, Web};

// Subscriptions over HTTP: a modern one is an exchange of its own, a legacy one belongs to the session (2026-07-28,
// basic/patterns/subscriptions; 2025-11-25, server/resources, "Subscriptions").

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
    let mut web = Web::modern(|asked, says| {
        acknowledge(asked, says).later(Duration::from_secs(10_000)).event(told(asked, "tools/list_changed", ""));
    });
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
    let ways: [fn(&mut Says); 2] = [|says| says.fail(FailureKind::Broken), |says| says.end()];
    for way in ways {
        let mut times = 0;
        let mut web = Web::modern(move |asked, says| {
            times += 1;
            acknowledge(asked, says);
            if times == 1 {
                way(says.later(Duration::from_secs(5)));
            }
        });
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
    let mut web = Web::modern(|_, says| says.head(503, &[]).body("later").end());
    let key = subscribe(&mut web, &SubscriptionFilter::new().tools());
    let (_, error) = end(&mut web, key);
    assert_eq!(error, HttpError::Status { status: 503, excerpt: "later".into(), retry_after: None });
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None));
}

#[test]
fn a_legacy_watch_that_does_not_arrive_is_not_agreed_to() {
    let mut web =
        Web::opening(configured(|config| config.negotiate = Negotiate::Legacy), |asked, says| match asked.method() {
            "initialize" => {
                let capabilities = r#"{"resources":{"subscribe":true}}"#;
                says.json(
                    200,
                    asked.result(&format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities}}}"#)),
                );
            }
            "notifications/initialized" => says.empty(202),
            "resources/subscribe" => says.fail(FailureKind::Broken),
            _ => says.empty(405),
        });
    let key = subscribe(&mut web, &SubscriptionFilter::new().resource("file:///a"));
    assert!(matches!(end(&mut web, key), (_, HttpError::Failed(_))));
    assert_eq!(web.engine.poll_timeout(), None);
}

// Subscriptions when a legacy server ends the session or its event stream: they are restored, or they end with the reason
// (2025-11-25, basic/transports, "Session Management" and "Listening for Messages from the Server").

const MINUTE: Duration = Duration::from_secs(60);

/// Time at which the server of [`restarting`] loses its session: 10 s.
const RESTART: Duration = Duration::from_secs(10);

/// A legacy server with resources, which names its sessions s1, s2, and so on. It answers what `other` does not: `other` gets the
/// number of sessions, and returns whether it has answered. While the flag is set, the server knows no session.
fn forgetful(mut other: impl FnMut(u32, &Asked, &mut Says) -> bool + 'static) -> (Web, Rc<Cell<bool>>) {
    let forgotten = Rc::new(Cell::new(false));
    let forget = Rc::clone(&forgotten);
    let mut sessions = 0;
    let web = Web::opening(configured(|config| config.negotiate = Negotiate::Legacy), move |asked, says| {
        if other(sessions, asked, says) {
            return;
        }
        match asked.line().as_str() {
            "POST initialize" => {
                sessions += 1;
                forget.set(false);
                says.head(200, &[("content-type", "application/json"), ("mcp-session-id", &format!("s{sessions}"))]);
                let capabilities = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true}}"#;
                let result = format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities}}}"#);
                says.body(asked.result(&result)).end();
            }
            "GET" => says.empty(405),
            _ if forget.get() => says.empty(404),
            "POST notifications/initialized" => says.empty(202),
            _ => says.json(200, asked.result(r#"{"content":[]}"#)),
        }
    });
    (web, forgotten)
}

/// A server as [`forgetful`], which restarts at the time [`RESTART`]: it forgets its first session, whose event stream breaks.
/// `initialize` answers each `initialize` after the first as [`forgetful`] lets it, with the number of these.
fn restarting(mut initialize: impl FnMut(u32, &mut Says) -> bool + 'static) -> Web {
    let mut renewals = 0;
    let (web, _) = forgetful(move |sessions, asked, says| {
        match asked.line().as_str() {
            "GET" if sessions > 1 => {
                says.stream().event("");
            }
            "GET" if asked.at >= RESTART => says.empty(404),
            "GET" => says.stream().event("").later(RESTART).fail(FailureKind::Broken),
            "POST initialize" if sessions > 0 => {
                renewals += 1;
                return initialize(renewals, says);
            }
            _ => return false,
        }
        true
    });
    web
}

fn subscribe_at_once(web: &mut Web, wanted: &SubscriptionFilter) -> SubscriptionKey {
    let key = subscribe(web, wanted);
    assert!(matches!(taken(web, key)[..], [SubscriptionEvent::Acknowledged(_)]));
    key
}

fn resource() -> SubscriptionFilter {
    SubscriptionFilter::new().resource("file:///a")
}

/// Returns the sessions in which the client has subscribed to resources.
fn watched(web: &Web) -> Vec<Option<&str>> {
    let watched = web.asked.iter().filter(|asked| asked.method() == "resources/subscribe");
    watched.map(|asked| asked.header("mcp-session-id")).collect()
}

/// Returns the times between the requests of this line.
fn pauses(web: &Web, line: &str) -> Vec<Duration> {
    let times: Vec<_> = web.asked.iter().filter(|asked| asked.line() == line).map(|asked| asked.at).collect();
    times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
}

/// Returns the error with which the subscription has ended, and the method that failed.
fn end(web: &mut Web, key: SubscriptionKey) -> (String, HttpError) {
    let events = taken(web, key);
    let [SubscriptionEvent::Ended(SubscriptionEnd::Failed(failure))] = &events[..] else { panic!("{events:?}") };
    let CallError::Http { method, error } = &**failure else { panic!("{failure}") };
    (method.to_string(), (**error).clone())
}

#[test]
fn a_new_session_watches_what_the_old_one_did() {
    let (mut web, forgotten) = forgetful(|_, _, _| false);
    let key = subscribe_at_once(&mut web, &resource());
    forgotten.set(true);
    let ticket = web.echo();
    assert!(web.take(ticket).expect("it has ended").is_ok());
    assert!(web.happened().contains(&&Event::SessionReestablished));
    assert_eq!(watched(&web), [Some("s1"), Some("s2")]);
    let [SubscriptionEvent::Acknowledged(again)] = &taken(&mut web, key)[..] else { panic!("changes may be missed") };
    assert_eq!(again.resource_subscriptions, ["file:///a"]);
    assert!(web.engine.calls().unsubscribe(key, web.now));
}

#[test]
fn a_watch_that_the_new_session_refuses_is_told() {
    let (mut web, forgotten) = forgetful(|sessions, asked, says| {
        let is_refused = sessions == 2 && asked.method() == "resources/subscribe";
        if is_refused {
            says.json(200, asked.response(r#""error":{"code":-32002,"message":"gone"}"#));
        }
        is_refused
    });
    let key = subscribe_at_once(&mut web, &resource());
    forgotten.set(true);
    let ticket = web.echo();
    assert!(web.take(ticket).expect("it has ended").is_ok());
    // It is tried again before it ends.
    web.pass(Duration::from_secs(600));
    let events = taken(&mut web, key);
    let [SubscriptionEvent::Ended(SubscriptionEnd::Failed(failure))] = &events[..] else { panic!("{events:?}") };
    assert!(matches!(&**failure, CallError::Server { error, .. } if error.code == -32002), "{failure}");
}

#[test]
fn an_idle_client_learns_from_its_event_stream_that_the_session_has_ended() {
    let mut web = restarting(|_, _| false);
    subscribe_at_once(&mut web, &resource());
    web.pass(MINUTE);
    assert!(web.happened().contains(&&Event::SessionReestablished));
    assert_eq!(watched(&web), [Some("s1"), Some("s2")]);
    assert_eq!(web.last("GET").header("mcp-session-id"), Some("s2"));
}

#[test]
fn an_idle_client_tries_again_until_the_restarted_server_opens_a_session() {
    for wanted in [resource(), SubscriptionFilter::new().tools()] {
        let mut web = restarting(|renewals, says| {
            match renewals {
                1 => says.fail(FailureKind::Unreachable),
                2 => says.empty(503),
                // No answer, within the connect timeout.
                3 => {}
                _ => return false,
            }
            true
        });
        let key = subscribe_at_once(&mut web, &wanted);
        web.pass(10 * MINUTE);
        assert!(web.happened().contains(&&Event::SessionReestablished));
        let pauses = pauses(&web, "POST initialize");
        assert_eq!(pauses.len(), 4);
        assert!(pauses[1..].iter().all(|pause| (MINUTE..=MINUTE * 5 / 4).contains(pause)), "{pauses:?}");
        assert_eq!(web.last("GET").header("mcp-session-id"), Some("s2"));
        let expected = [Some("s1"), Some("s2")];
        assert_eq!(watched(&web), expected[..if wanted == resource() { 2 } else { 0 }]);
        let events = taken(&mut web, key);
        assert!(matches!(events[..], [SubscriptionEvent::Acknowledged(_)]), "changes may be missed: {events:?}");
    }
}

#[test]
fn an_idle_client_without_subscriptions_keeps_its_event_stream_too() {
    let mut web = restarting(|renewals, says| {
        if renewals == 1 {
            says.empty(503);
        }
        renewals == 1
    });
    web.pass(3 * MINUTE);
    assert_eq!(web.last("GET").header("mcp-session-id"), Some("s2"));
}

#[test]
fn a_server_says_when_the_client_may_open_a_session_again() {
    let mut web = restarting(|renewals, says| {
        if renewals == 1 {
            says.head(503, &[("retry-after", "600")]).end();
        }
        renewals == 1
    });
    subscribe_at_once(&mut web, &resource());
    web.pass(12 * MINUTE);
    assert_eq!(watched(&web), [Some("s1"), Some("s2")]);
    let pauses = pauses(&web, "POST initialize");
    assert!(pauses[1] >= 10 * MINUTE, "{pauses:?}");
}

#[test]
fn subscriptions_end_with_the_reason_when_no_session_can_be_opened() {
    let mut web = restarting(|_, says| {
        says.head(503, &[]).body("maintenance").end();
        true
    });
    let (key, other) =
        (subscribe_at_once(&mut web, &resource()), subscribe_at_once(&mut web, &SubscriptionFilter::new().tools()));
    web.pass(60 * MINUTE);
    let expected = HttpError::Status { status: 503, excerpt: "maintenance".into(), retry_after: None };
    assert_eq!(end(&mut web, key), ("initialize".into(), expected.clone()));
    assert_eq!(end(&mut web, other), ("initialize".into(), expected));
    // The first session, its renewal and ten retries.
    assert_eq!(web.times("POST initialize").len(), 12);
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None));
}

#[test]
fn a_subscription_that_is_dropped_needs_no_session() {
    let (mut web, forgotten) = forgetful(|sessions, asked, says| {
        let is_down = sessions > 0 && asked.method() == "initialize";
        if is_down {
            says.fail(FailureKind::Unreachable);
        }
        is_down
    });
    let key = subscribe_at_once(&mut web, &resource());
    forgotten.set(true);
    let ticket = web.echo();
    assert!(web.take(ticket).expect("it has ended").is_err());
    assert!(web.engine.poll_timeout().is_some());
    assert!(web.engine.calls().unsubscribe(key, web.now));
    web.drive();
    assert_eq!((web.engine.exchanges(), web.engine.poll_timeout()), (0, None));
}

/// A server whose event stream breaks at the time [`RESTART`] and cannot be reached until `back`. It keeps its session.
fn away_until(back: Duration) -> Web {
    let (web, _) = forgetful(move |_, asked, says| {
        match asked.line().as_str() {
            "GET" if asked.at >= back => {
                says.stream().event("");
            }
            "GET" if asked.at >= RESTART => says.fail(FailureKind::Unreachable),
            "GET" => says.stream().event("").later(RESTART).fail(FailureKind::Broken),
            _ => return false,
        }
        true
    });
    web
}

#[test]
fn an_event_stream_with_subscriptions_is_opened_again_after_minutes() {
    let mut web = away_until(8 * MINUTE);
    let key = subscribe_at_once(&mut web, &resource());
    web.pass(12 * MINUTE);
    assert_eq!((web.engine.exchanges(), taken(&mut web, key)), (1, Vec::new()));
    assert!(web.last("GET").at >= 8 * MINUTE);
}

#[test]
fn subscriptions_end_with_the_reason_when_the_event_stream_stays_away() {
    let mut web = away_until(Duration::MAX);
    let key = subscribe_at_once(&mut web, &resource());
    web.pass(60 * MINUTE);
    let (method, error) = end(&mut web, key);
    assert!(matches!(&error, HttpError::Failed(failure) if failure.kind == FailureKind::Unreachable), "{error}");
    assert_eq!((&*method, web.engine.exchanges(), web.engine.poll_timeout()), ("GET", 0, None));
    // Without subscriptions, the client soon stops.
    let mut web = away_until(Duration::MAX);
    web.pass(60 * MINUTE);
    assert_eq!(web.times("GET").len(), 6);
}
