//! A client that speaks the modern era only does not fall back.

use mcpwire_core::{CloseReason, Config, ConnectError, Event, Negotiate, Phase, ProtocolVersion};
use mcpwire_engine_tests::sim::{Pair, table};

const BOTH: [Negotiate; 2] = [Negotiate::Modern, Negotiate::Version(ProtocolVersion::V2026_07_28)];

fn discover(negotiate: Negotiate, answer: &str) -> Pair {
    let mut config = Config::default();
    config.negotiate = negotiate;
    Pair::opening(config, table(&[("server/discover", answer), ("initialize", r#""result":{}"#)]))
}

fn why(pair: &Pair) -> &ConnectError {
    let [Event::Closed(CloseReason::NotOpened(error))] = pair.happened()[..] else { panic!("{:?}", pair.events) };
    error
}

#[test]
fn a_modern_version_in_common_is_spoken() {
    for negotiate in BOTH {
        let pair = discover(negotiate, r#""result":{"supportedVersions":["2025-11-25","2026-07-28"]}"#);
        assert_eq!(pair.engine.session().phase(), Phase::Ready);
        assert_eq!(pair.methods(), ["server/discover"]);
    }
}

#[test]
fn anything_else_is_the_end() {
    for negotiate in BOTH {
        for (answer, says) in [
            (r#""result":{"supportedVersions":["2025-11-25"]}"#, "the server speaks 2025-11-25"),
            (r#""error":{"code":-32601,"message":"Method not found"}"#, "Method not found"),
            (r#""error":{"code":-32022,"message":"no","data":{"supported":["2031-01-01"]}}"#, "speaks 2031-01-01"),
            (r#""error":{"code":-32022,"message":"just no"}"#, "just no"),
            (r#""error":{"code":-32021,"message":"needs more"}"#, "needs more"),
            (r#""result":{}"#, "supportedVersions"),
            (r#""result":"hello""#, "cannot be read"),
        ] {
            let pair = discover(negotiate, answer);
            assert_eq!(pair.methods(), ["server/discover"], "{answer}");
            let text = why(&pair).to_string();
            assert!(text.contains(says), "{answer}: {text}");
        }
    }
}

#[test]
fn the_stream_that_ends_is_the_end() {
    let pair = discover(Negotiate::Modern, "EOF");
    assert_eq!(*why(&pair), ConnectError::Closed);
}
