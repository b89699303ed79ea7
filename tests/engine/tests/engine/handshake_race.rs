//! A server that says nothing to the probe is sent `initialize` as well, and whichever is answered well decides.

use core::time::Duration;

use mcpwire_core::{CloseReason, Config, ConnectError, Era, Event, Timestamp};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent};

const PROBE: Duration = Duration::from_secs(5);
const MODERN: &str = r#""result":{"supportedVersions":["2026-07-28"]}"#;
const LEGACY: &str = r#""result":{"protocolVersion":"2025-11-25"}"#;
const NO: &str = r#""error":{"code":-32601,"message":"Method not found"}"#;
const NOT_HERE: &str = r#""error":{"code":-32022,"message":"connection is serving the 2026-07-28 protocol","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}"#;

/// A server that has been cold for seven seconds, and then answers in the given order.
fn cold(answers: &'static [(&'static str, &'static str)]) -> Pair {
    let mut seen: Vec<(String, u64)> = Vec::new();
    let mut pair = Pair::opening(Config::default(), move |sent: &Sent, peer: &mut Peer| {
        let Some(id) = sent.id() else { return };
        seen.push((sent.method().to_string(), id));
        if seen.len() == 2 {
            for (method, rest) in answers {
                let (_, id) = seen.iter().find(|(seen, _)| seen == method).expect("it was sent");
                peer.say_after(Duration::from_secs(2), format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#));
            }
        }
    });
    assert_eq!(pair.engine.poll_timeout().map(Timestamp::since_origin), Some(PROBE));
    pair.pass(Duration::from_secs(7));
    pair
}

fn era(pair: &Pair) -> Option<Era> {
    pair.engine.session().server().map(|server| server.era)
}

#[test]
fn silence_for_the_probe_time_sends_initialize_at_that_moment() {
    let mut pair = Pair::opening(Config::default(), |_: &Sent, _: &mut Peer| {});
    pair.pass(Duration::from_millis(4_999));
    assert_eq!(pair.methods(), ["server/discover"]);
    pair.pass(Duration::from_millis(1));
    assert_eq!(pair.methods(), ["server/discover", "initialize"]);
    pair.pass(Duration::from_secs(54));
    assert!(pair.events.is_empty() && pair.sent.len() == 2, "nothing is sent twice");
}

#[test]
fn the_modern_answer_wins() {
    let pair = cold(&[("server/discover", MODERN), ("initialize", NOT_HERE)]);
    assert_eq!((era(&pair), pair.happened()), (Some(Era::Modern), vec![&Event::Connected]));
    assert_eq!(pair.methods(), ["server/discover", "initialize"], "no `initialized` for a modern server");
    let pair = cold(&[("initialize", NOT_HERE), ("server/discover", MODERN)]);
    assert_eq!((era(&pair), pair.happened()), (Some(Era::Modern), vec![&Event::Connected]));
}

#[test]
fn the_legacy_answer_wins() {
    for answers in [
        &[("initialize", LEGACY)][..],
        &[("server/discover", NO), ("initialize", LEGACY)],
        &[("initialize", LEGACY), ("server/discover", NO)],
        &[("initialize", LEGACY), ("server/discover", MODERN)],
    ] {
        let pair = cold(Box::leak(answers.into()));
        assert_eq!((era(&pair), pair.happened()), (Some(Era::Legacy), vec![&Event::Connected]));
        assert_eq!(pair.methods(), ["server/discover", "initialize", "notifications/initialized"]);
    }
}

#[test]
fn a_server_that_discovers_only_legacy_versions_is_waited_for() {
    let pair = cold(&[("server/discover", r#""result":{"supportedVersions":["2025-11-25"]}"#), ("initialize", LEGACY)]);
    assert_eq!(era(&pair), Some(Era::Legacy));
    assert_eq!(pair.methods(), ["server/discover", "initialize", "notifications/initialized"]);
}

#[test]
fn both_refused_is_the_end() {
    for answers in [[("server/discover", NO), ("initialize", NO)], [("initialize", NO), ("server/discover", NO)]] {
        let pair = cold(Box::leak(Box::new(answers)));
        let [Event::Closed(CloseReason::NotOpened(error))] = pair.happened()[..] else { panic!("{:?}", pair.events) };
        let ConnectError::Refused { method, .. } = &**error else { panic!("{error:?}") };
        assert_eq!(*method, "initialize", "the answer that matters is that of the last way tried");
    }
}

#[test]
fn an_answer_after_all_of_the_probe_time_is_in_time() {
    let mut pair = Pair::opening(Config::default(), |sent: &Sent, peer: &mut Peer| {
        if sent.method() == "server/discover" {
            peer.answer_after(Duration::from_secs(59), sent, r#"{"supportedVersions":["2026-07-28"]}"#);
        }
    });
    pair.pass(Duration::from_secs(60));
    assert_eq!(era(&pair), Some(Era::Modern));
}

#[test]
fn nothing_in_common_is_the_end_whatever_initialize_says() {
    let pair = cold(&[("server/discover", r#""result":{"supportedVersions":["1999-01-01"]}"#), ("initialize", LEGACY)]);
    let [Event::Closed(CloseReason::NotOpened(error))] = pair.happened()[..] else { panic!("{:?}", pair.events) };
    let ConnectError::UnsupportedVersion { server, .. } = &**error else { panic!("{error:?}") };
    assert_eq!(*server, ["1999-01-01"]);
}

#[test]
fn an_error_that_names_neither_is_told_and_decides_nothing() {
    let mut pair = Pair::opening(Config::default(), |sent: &Sent, peer: &mut Peer| {
        if sent.method() == "initialize" {
            peer.say(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#);
            peer.answer_after(Duration::from_secs(1), sent, "{}");
        }
    });
    pair.pass(PROBE);
    assert!(matches!(pair.happened()[..], [Event::UnmatchedError(_)]), "{:?}", pair.events);
    pair.pass(Duration::from_secs(1));
    assert_eq!(era(&pair), Some(Era::Legacy));
}

#[test]
fn the_end_of_the_stream_after_initialize_was_refused_is_the_end() {
    let mut pair = Pair::opening(Config::default(), |sent: &Sent, peer: &mut Peer| {
        if sent.method() == "initialize" {
            peer.refuse(sent, -32600, "no");
        }
    });
    pair.pass(PROBE);
    pair.end();
    assert!(matches!(pair.happened()[..], [Event::Closed(CloseReason::NotOpened(_))]), "{:?}", pair.events);
}
