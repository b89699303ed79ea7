//! How a connection opens: the probe for the modern era, the legacy handshake, both at once, and how opening fails.

use std::sync::Arc;
use std::time::Duration;

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CloseReason, Config, ConnectError, Era, Event, Negotiate, PeerErrorKind, Phase, ProtocolVersion, RpcError,
    SendError, Timestamp,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, configured, table};

// Openings that come to nothing: the stream ends, time passes, the caller leaves.

const NO: &str = r#""error":{"code":-32601,"message":"Method not found"}"#;

fn config(negotiate: Negotiate) -> Config {
    configured(|config| config.negotiate = negotiate)
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
fn a_caller_who_leaves_is_told_so_and_a_side_that_cannot_go_on_says_why() {
    for (reason, error) in
        [(None, ConnectError::Cancelled), (Some("on purpose"), ConnectError::Failed("on purpose".into()))]
    {
        let mut pair = Pair::opening(config(Negotiate::Auto), |_: &Sent, _: &mut Peer| {});
        match reason {
            None => pair.engine.close(),
            Some(reason) => pair.engine.close_failed(reason.into()),
        }
        pair.drive();
        assert_eq!(*why(&pair), error);
        assert_over(&mut pair);
    }
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

// A client that speaks the modern era only does not fall back.

const BOTH: [Negotiate; 2] = [Negotiate::Modern, Negotiate::Version(ProtocolVersion::V2026_07_28)];

fn discover(negotiate: Negotiate, answer: &str) -> Pair {
    Pair::opening(config(negotiate), table(&[("server/discover", answer), ("initialize", r#""result":{}"#)]))
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

// `initialize`: older revisions, unknown ones, and servers that leave things out.

fn opening(negotiate: Negotiate, answer: &str) -> Pair {
    Pair::opening(config(negotiate), table(&[("initialize", answer)]))
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

// Which era? The client asks with `server/discover`, and what comes back decides.

const LEGACY: &str =
    r#""result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#;

fn probe(answer: &str) -> Pair {
    Pair::opening(Config::default(), table(&[("server/discover", answer), ("initialize", LEGACY)]))
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
fn a_modern_answer_to_the_probe_is_spoken() {
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
    let long = format!(r#""result":{{"supportedVersions":["{}"]}}"#, "x".repeat(1000));
    assert_legacy(
        &Pair::opening(
            configured(|config| config.max_message = 600),
            table(&[("server/discover", &long), ("initialize", LEGACY)]),
        ),
        "2025-11-25",
    );
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

// A server that says nothing to the probe is sent `initialize` as well, which decides if it is answered well.

const PROBE: Duration = Duration::from_secs(5);
const MODERN: &str = r#""result":{"supportedVersions":["2026-07-28"]}"#;
const SHORT_LEGACY: &str = r#""result":{"protocolVersion":"2025-11-25"}"#;
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
fn the_legacy_answer_wins_or_else_the_modern_one() {
    const OLD: &str = r#""result":{"supportedVersions":["2025-11-25"]}"#;
    for (won, answers) in [
        (Era::Modern, &[("server/discover", MODERN), ("initialize", NOT_HERE)][..]),
        (Era::Modern, &[("initialize", NOT_HERE), ("server/discover", MODERN)]),
        (Era::Legacy, &[("initialize", SHORT_LEGACY)]),
        (Era::Legacy, &[("server/discover", NO), ("initialize", SHORT_LEGACY)]),
        (Era::Legacy, &[("initialize", SHORT_LEGACY), ("server/discover", NO)]),
        (Era::Legacy, &[("initialize", SHORT_LEGACY), ("server/discover", MODERN)]),
        (Era::Legacy, &[("server/discover", OLD), ("initialize", SHORT_LEGACY)]),
        // A server of both eras is a legacy server once it has got `initialize`.
        (Era::Legacy, &[("server/discover", MODERN), ("initialize", SHORT_LEGACY)]),
    ] {
        let pair = cold(answers);
        assert_eq!((era(&pair), pair.happened()), (Some(won), vec![&Event::Connected]), "{answers:?}");
        let methods = ["server/discover", "initialize", "notifications/initialized"];
        let count = if won == Era::Modern { 2 } else { 3 };
        assert_eq!(pair.methods(), methods[..count], "{answers:?}: no `initialized` for a modern server");
    }
}

#[test]
fn both_refused_is_the_end() {
    for answers in [&[("server/discover", NO), ("initialize", NO)], &[("initialize", NO), ("server/discover", NO)]] {
        let pair = cold(answers);
        let ConnectError::Refused { method, .. } = why(&pair) else { panic!("{:?}", pair.events) };
        assert_eq!(*method, "initialize", "the answer that matters is that of the last way tried");
    }
}

#[test]
fn a_late_answer_to_the_probe_is_in_time_though_initialize_is_never_answered() {
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
    let pair =
        cold(&[("server/discover", r#""result":{"supportedVersions":["1999-01-01"]}"#), ("initialize", SHORT_LEGACY)]);
    let ConnectError::UnsupportedVersion { server, .. } = why(&pair) else { panic!("{:?}", pair.events) };
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
