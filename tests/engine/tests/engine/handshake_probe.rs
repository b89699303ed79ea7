//! Which era? The client asks with `server/discover`, and what comes back decides.

use mcpwire_core::{CloseReason, Config, ConnectError, Era, Event, ProtocolVersion, RpcError};
use mcpwire_engine_tests::sim::{Pair, table};

const LEGACY: &str =
    r#""result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;

fn probe(answer: &str) -> Pair {
    Pair::opening(Config::default(), table(&[("server/discover", answer), ("initialize", LEGACY)]))
}

fn why(pair: &Pair) -> &ConnectError {
    let [Event::Closed(CloseReason::NotOpened(error))] = pair.happened()[..] else { panic!("{:?}", pair.events) };
    error
}

#[track_caller]
fn assert_legacy(pair: &Pair, asked: &str) {
    assert_eq!(pair.methods(), ["server/discover", "initialize", "notifications/initialized"]);
    assert_eq!(pair.happened(), [&Event::Connected]);
    let initialize = &pair.sent[1];
    assert_eq!(initialize.params()["protocolVersion"], asked);
    assert_eq!(initialize.params()["clientInfo"]["name"], "mcpwire");
    assert!(initialize.params()["capabilities"].is_object());
    assert!(initialize.meta().is_null(), "the legacy era has no `_meta` of the protocol's");
    assert_eq!(pair.engine.session().server().map(|server| server.era), Some(Era::Legacy));
    assert_eq!(pair.engine.poll_timeout(), None);
}

#[test]
fn a_modern_version_in_common_is_spoken() {
    for versions in [r#"["2026-07-28"]"#, r#"["2099-01-01","2026-07-28","2025-11-25"]"#, r#"[5,"2026-07-28"]"#] {
        let pair = probe(&format!(
            r#""result":{{"resultType":"complete","supportedVersions":{versions},"capabilities":{{"tools":{{}}}},"instructions":"read me","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"new","version":"2"}}}}}}"#
        ));
        assert_eq!(pair.methods(), ["server/discover"]);
        assert_eq!(pair.happened(), [&Event::Connected]);
        let server = pair.engine.session().server().expect("it is open");
        assert_eq!((server.era, server.protocol_version), (Era::Modern, ProtocolVersion::V2026_07_28));
        assert_eq!((server.name(), server.instructions.as_deref()), ("new", Some("read me")));
        assert!(server.capabilities.as_ref().is_some_and(|capabilities| capabilities.tools.is_some()));
    }
}

#[test]
fn only_a_legacy_version_in_common_is_opened_with_initialize() {
    let pair = probe(r#""result":{"supportedVersions":["2025-03-26","2025-06-18","1999-01-01"]}"#);
    assert_legacy(&pair, "2025-06-18");
    let pair = probe(r#""error":{"code":-32022,"message":"no","data":{"supported":["2025-06-18"],"requested":"x"}}"#);
    assert_legacy(&pair, "2025-06-18");
}

#[test]
fn nothing_in_common_names_both_sides() {
    for answer in [
        r#""result":{"supportedVersions":["1999-01-01"]}"#,
        r#""error":{"code":-32022,"message":"no","data":{"supported":["1999-01-01"]}}"#,
    ] {
        let pair = probe(answer);
        assert_eq!(pair.methods(), ["server/discover"]);
        let text = why(&pair).to_string();
        for named in ["1999-01-01", "2026-07-28", "2024-11-05"] {
            assert!(text.contains(named), "{named}: {text}");
        }
    }
}

#[test]
fn a_modern_server_that_refuses_is_believed() {
    for code in [RpcError::HEADER_MISMATCH, RpcError::MISSING_REQUIRED_CLIENT_CAPABILITY] {
        let pair = probe(&format!(
            r#""error":{{"code":{code},"message":"needs sampling","data":{{"requiredCapabilities":{{"sampling":{{}}}}}}}}"#
        ));
        assert_eq!(pair.methods(), ["server/discover"]);
        let ConnectError::Refused { method, error } = why(&pair) else { panic!("{:?}", pair.events) };
        assert_eq!((*method, error.code), ("server/discover", code));
        assert!(why(&pair).to_string().contains("needs sampling"));
    }
}

#[test]
fn any_other_answer_means_legacy() {
    for answer in [
        r#""error":{"code":-32601,"message":"Method not found"}"#,
        r#""error":{"code":-32602,"message":"Invalid request parameters","data":""}"#,
        r#""error":{"code":-32600,"message":"not initialized"}"#,
        r#""error":{"code":-32022,"message":"without data"}"#,
        r#""error":{"code":-32022,"message":"","data":{"supported":"2025-11-25"}}"#,
        r#""error":{"code":-32021,"message":"without data"}"#,
        r#""error":{"code":0}"#,
        r#""error":"no""#,
        r#""error":5"#,
        r#""result":{}"#,
        r#""result":null"#,
        r#""result":[]"#,
        r#""result":{"supportedVersions":"2026-07-28"}"#,
        r#""result":{"supportedVersions":["#,
        r#""x":1"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}"#,
        r#"{"jsonrpc":"2.0","id":"1","error":{"code":-32601}}"#,
        r#"{"jsonrpc":"2.0","id":1.0,"error":{"code":-32601}}"#,
    ] {
        assert_legacy(&probe(answer), "2025-11-25");
    }
}

#[test]
fn a_probe_with_an_answer_that_is_too_long_means_legacy() {
    let mut config = Config::default();
    config.max_message = 600;
    let long = format!(r#""result":{{"supportedVersions":["{}"]}}"#, "x".repeat(1000));
    assert_legacy(&Pair::opening(config, table(&[("server/discover", &long), ("initialize", LEGACY)])), "2025-11-25");
}

#[test]
fn the_probe_says_who_asks() {
    let pair = probe(r#""result":{"supportedVersions":["2026-07-28"]}"#);
    let meta = pair.sent[0].meta();
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "mcpwire");
    assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
}

#[test]
fn an_answer_without_a_version_accepts_the_version_that_was_requested() {
    let without = r#""result":{"capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;
    for answer in [
        r#""result":{"supportedVersions":["2024-11-05"]}"#,
        r#""error":{"code":-32022,"message":"no","data":{"supported":["2024-11-05"],"requested":"x"}}"#,
    ] {
        let pair = Pair::opening(Config::default(), table(&[("server/discover", answer), ("initialize", without)]));
        assert_eq!(pair.sent[1].params()["protocolVersion"], "2024-11-05");
        let server = pair.engine.session().server().expect("it is open");
        assert_eq!(server.protocol_version, ProtocolVersion::V2024_11_05, "{answer}");
    }
}
