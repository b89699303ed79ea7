//! `initialize`: older revisions, unknown ones, and servers that leave things out.

use mcpwire_core::{CloseReason, Config, ConnectError, Event, Negotiate, PeerErrorKind, Phase, ProtocolVersion};
use mcpwire_engine_tests::sim::{Pair, table};

fn opening(negotiate: Negotiate, answer: &str) -> Pair {
    let mut config = Config::default();
    config.negotiate = negotiate;
    Pair::opening(config, table(&[("initialize", answer)]))
}

fn initialize(answer: &str) -> Pair {
    opening(Negotiate::Legacy, answer)
}

fn why(pair: &Pair) -> &ConnectError {
    let [Event::Closed(CloseReason::NotOpened(error))] = pair.happened()[..] else { panic!("{:?}", pair.events) };
    error
}

#[test]
fn a_legacy_client_does_not_probe() {
    let pair = initialize(r#""result":{"protocolVersion":"2025-11-25"}"#);
    assert_eq!(pair.methods(), ["initialize", "notifications/initialized"]);
    assert_eq!(pair.sent[0].params()["protocolVersion"], "2025-11-25");
    assert_eq!(pair.engine.session().phase(), Phase::Ready);
}

#[test]
fn an_older_revision_is_spoken() {
    for version in [ProtocolVersion::V2024_11_05, ProtocolVersion::V2025_03_26, ProtocolVersion::V2025_06_18] {
        let pair = initialize(&format!(r#""result":{{"protocolVersion":"{version}","capabilities":{{}}}}"#));
        assert_eq!(pair.engine.session().server().map(|server| server.protocol_version), Some(version));
    }
}

#[test]
fn an_unknown_revision_is_refused_naming_both_sides() {
    for version in ["2099-01-01", "", "2026-07-28"] {
        let pair = initialize(&format!(r#""result":{{"protocolVersion":"{version}"}}"#));
        let ConnectError::UnsupportedVersion { server, client } = why(&pair) else { panic!("{:?}", pair.events) };
        assert_eq!(*server, [version]);
        assert_eq!(*client, ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);
        assert_eq!(pair.methods(), ["initialize"], "a server that is not understood is told nothing more");
    }
}

#[test]
fn one_version_and_no_other() {
    let only = Negotiate::Version(ProtocolVersion::V2025_06_18);
    let pair = opening(only, r#""result":{"protocolVersion":"2025-06-18"}"#);
    assert_eq!(pair.sent[0].params()["protocolVersion"], "2025-06-18");
    assert_eq!(pair.engine.session().phase(), Phase::Ready);
    let pair = opening(only, r#""result":{"protocolVersion":"2025-03-26"}"#);
    assert!(matches!(why(&pair), ConnectError::UnsupportedVersion { client, .. } if *client == ["2025-06-18"]));
}

#[test]
fn what_is_missing_is_absent_and_no_harm() {
    for answer in [
        r#""result":{}"#,
        r#""result":{"protocolVersion":null,"capabilities":null,"serverInfo":null}"#,
        r#""result":{"protocolVersion":5,"capabilities":[],"serverInfo":"me","instructions":{}}"#,
    ] {
        let pair = initialize(answer);
        assert_eq!(pair.happened(), [&Event::Connected], "{answer}");
        let server = pair.engine.session().server().expect("it is open");
        assert_eq!(server.protocol_version, ProtocolVersion::V2025_11_25, "what was asked for");
        assert_eq!((server.name(), &server.capabilities, &server.instructions), ("", &None, &None));
    }
}

#[test]
fn a_refusal_is_told_with_the_servers_words() {
    let pair =
        initialize(r#""error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["1"]}}"#);
    let ConnectError::Refused { method: "initialize", error } = why(&pair) else { panic!("{:?}", pair.events) };
    assert_eq!(error.code, -32602);
    assert!(why(&pair).to_string().contains("Unsupported protocol version"));
}

#[test]
fn an_answer_that_cannot_be_read_is_told_with_its_place() {
    for answer in [r#""result":[]"#, r#""result":5"#, r#""result":{"capabilities":{"tools":[1,}}}"#] {
        let pair = initialize(answer);
        let ConnectError::Invalid { method: "initialize", error } = why(&pair) else { panic!("{:?}", pair.events) };
        assert!(matches!(error.kind, PeerErrorKind::Malformed(_)), "{error}");
    }
}
