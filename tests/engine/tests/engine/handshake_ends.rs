//! Openings that come to nothing: the stream ends, time passes, the caller leaves.

use core::time::Duration;
use std::sync::Arc;

use mcpwire_core::stdio::Engine;
use mcpwire_core::{CloseReason, Config, ConnectError, Event, Negotiate, Phase, SendError, Timestamp};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, table};

const NO: &str = r#""error":{"code":-32601,"message":"Method not found"}"#;

fn config(negotiate: Negotiate) -> Config {
    let mut config = Config::default();
    config.negotiate = negotiate;
    config
}

fn assert_over(pair: &mut Pair) {
    assert_eq!(pair.engine.session().phase(), Phase::Closed);
    assert_eq!(pair.engine.poll_timeout(), None);
    pair.pass(Duration::from_secs(1000));
    pair.engine.close();
    pair.say(r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}}"#);
    assert_eq!(pair.events.len(), 1, "nothing comes after the end");
    assert_eq!(pair.engine.calls().initialize(pair.now), Err(SendError::Closed));
}

#[test]
fn a_server_that_dies_of_the_probe_is_started_again() {
    let probing = Pair::opening(config(Negotiate::Auto), table(&[("server/discover", "EOF")]));
    let mut racing = Pair::opening(config(Negotiate::Auto), table(&[("initialize", "EOF")]));
    racing.pass(Duration::from_secs(5));
    let initializing = Pair::opening(config(Negotiate::Auto), table(&[("server/discover", NO), ("initialize", "EOF")]));
    for mut pair in [probing, racing, initializing] {
        assert_eq!(pair.happened(), [&Event::Restart]);
        assert_over(&mut pair);
    }
}

#[test]
fn a_server_that_was_not_probed_is_not() {
    for (negotiate, method) in [(Negotiate::Legacy, "initialize"), (Negotiate::Modern, "server/discover")] {
        let mut pair = Pair::opening(config(negotiate), table(&[(method, "EOF")]));
        assert_eq!(pair.happened(), [&Event::Closed(CloseReason::NotOpened(Arc::new(ConnectError::Closed)))]);
        assert_over(&mut pair);
    }
}

#[test]
fn the_deadline_is_the_end_at_its_time() {
    for negotiate in [Negotiate::Auto, Negotiate::Legacy, Negotiate::Modern] {
        let mut pair = Pair::opening(config(negotiate), |_: &Sent, _: &mut Peer| {});
        pair.pass(Duration::from_millis(59_999));
        assert!(pair.events.is_empty());
        pair.pass(Duration::from_millis(1));
        let after = Duration::from_secs(60);
        assert_eq!(
            pair.events,
            [(after, Event::Closed(CloseReason::NotOpened(Arc::new(ConnectError::Timeout { after }))))]
        );
        assert_over(&mut pair);
    }
}

#[test]
fn noise_does_not_put_off_the_deadline() {
    let mut pair = Pair::opening(config(Negotiate::Auto), |_: &Sent, peer: &mut Peer| {
        for second in 0..100 {
            peer.say_after(Duration::from_secs(second), "still downloading ...");
        }
    });
    pair.pass(Duration::from_secs(60));
    assert_eq!(pair.engine.session().phase(), Phase::Closed);
}

#[test]
fn a_caller_who_leaves_is_told_so() {
    let mut pair = Pair::opening(config(Negotiate::Auto), |_: &Sent, _: &mut Peer| {});
    pair.engine.close();
    pair.drive();
    assert_eq!(pair.happened(), [&Event::Closed(CloseReason::NotOpened(Arc::new(ConnectError::Cancelled)))]);
    assert_over(&mut pair);
}

#[test]
fn a_side_that_cannot_go_on_says_why() {
    let mut pair = Pair::opening(config(Negotiate::Auto), |_: &Sent, _: &mut Peer| {});
    pair.engine.close_failed("on purpose".into());
    pair.drive();
    assert_eq!(
        pair.happened(),
        [&Event::Closed(CloseReason::NotOpened(Arc::new(ConnectError::Failed("on purpose".into()))))]
    );
    assert_over(&mut pair);
}

#[test]
fn requests_wait_for_the_opening() {
    let mut pair = Pair::opening(config(Negotiate::Auto), |_: &Sent, _: &mut Peer| {});
    assert!(matches!(pair.raw("x", None), Err(SendError::NotInitialized)));
    assert_eq!(pair.engine.calls().initialize(pair.now), Err(SendError::AlreadyInitialized));
    let mut fresh = Engine::new(Config::default());
    assert_eq!((fresh.session().phase(), fresh.poll_timeout()), (Phase::New, None));
    assert!(matches!(fresh.calls().notify_raw("x", None, Timestamp::ORIGIN), Err(SendError::NotInitialized)));
    fresh.receive_eof(Timestamp::ORIGIN);
    assert!(fresh.poll_event().is_some(), "an engine that was never opened ends too");
    assert_eq!(fresh.session().phase(), Phase::Closed);
}
