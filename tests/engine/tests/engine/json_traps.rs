//! Ways in which JSON, as it is usually read in Rust, goes wrong on what servers send.

use mcpwire_core::internal::SubscriptionsListenResult;
use mcpwire_core::{
    CallError, CallToolOutcome, CallToolResult, CancelTaskResult, CompleteResult, Config, ContentBlock, Json,
    ListToolsResult, Number, PeerErrorKind, Progress, ReadResourceResult, RequestOptions, Task,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, configured, legacy};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The result of a call that is answered with the bytes, in which `@` stands for the id.
fn answered(bytes: &[u8]) -> Result<CallToolResult, CallError> {
    let bytes = bytes.to_vec();
    let mut pair = Pair::legacy(move |sent: &Sent, peer: &mut Peer| {
        let Some(id) = sent.id().map(|id| id.to_string()) else { return };
        if sent.params()["name"] == "after" {
            return peer.answer(sent, "{\"content\":[]}");
        }
        let at = bytes.iter().position(|byte| *byte == b'@').expect("a place for the id");
        peer.say([&bytes[..at], id.as_bytes(), &bytes[at + 1..]].concat());
    });
    let ticket = pair.call("trap", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    let after = pair.call("after", &RequestOptions::new()).expect("it is sent");
    pair.drive();
    assert!(pair.take(after).is_some_and(|result| result.is_ok()), "the next call goes on");
    pair.pass(core::time::Duration::from_secs(60));
    pair.take(ticket).expect("it has ended")
}

fn result(text: &str) -> Result<CallToolResult, CallError> {
    answered(format!(r#"{{"jsonrpc":"2.0","id":@,"result":{text}}}"#).as_bytes())
}

fn text(result: &CallToolResult) -> String {
    result.text().into_string()
}

#[test]
fn an_array_is_no_envelope() {
    let error = answered(br#"["2.0",@,{"content":[]}]"#).expect_err("a derived struct would take it");
    assert!(matches!(error, CallError::Timeout { .. }), "it names no request: {error:?}");
}

#[test]
fn a_byte_order_mark_before_a_line_is_skipped() {
    for size in [1, 2, usize::MAX] {
        for end in ["", "\r", " \t"] {
            let server = legacy(move |sent: &Sent, peer: &mut Peer| {
                let Some(id) = sent.id() else { return };
                let result = r#"{"content":[{"type":"text","text":"\ufeffyes"}]}"#;
                peer.say(format!("\u{feff}{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}{end}"));
                peer.say(format!("\u{feff}{end}"));
            });
            let mut pair = Pair::open(Config::default(), server).in_pieces_of(size);
            for _ in 0..2 {
                let ticket = pair.call("trap", &RequestOptions::new()).expect("it is sent");
                pair.drive();
                assert_eq!(pair.text(ticket), "\u{feff}yes", "pieces of {size}, end {end:?}");
            }
            assert_eq!(pair.engine.session().stats().invalid, 0, "{:?}", pair.events);
        }
    }
}

#[test]
fn a_byte_order_mark_does_not_hide_whose_message_is_too_long() {
    for size in [1, 7, usize::MAX] {
        for long in [1100, 5000] {
            let server = legacy(move |sent: &Sent, peer: &mut Peer| {
                let Some(id) = sent.id() else { return };
                peer.say(format!("\u{feff}{{\"id\":{id},\"result\":{{\"text\":\"{}\"}}}}", "x".repeat(long)));
            });
            let mut pair = Pair::open(configured(|config| config.max_message = 1000), server).in_pieces_of(size);
            let ticket = pair.call("trap", &RequestOptions::new()).expect("it is sent");
            pair.drive();
            let CallError::Invalid { error, .. } = pair.error(ticket) else { panic!("pieces of {size}") };
            assert_eq!(error.kind, PeerErrorKind::TooLong { limit: 1000 });
        }
    }
}

#[test]
fn an_undeclared_type_of_a_result_is_reported_at_its_member() {
    for text in [
        r#"{"content":[],"resultType":"other","x":1}"#,
        r#"{"resultType":"complete","content":[{"resultType":"y"}],"r\u0065sultType" : "other"}"#,
        r#" {"resultType":"other"}"#,
    ] {
        let CallError::Invalid { error, .. } = result(text).expect_err("it is of another type") else {
            panic!("{text}")
        };
        assert_eq!(error.at, "result.resultType", "{error}");
        assert!(error.to_string().contains("\"other\""), "{error}");
    }
}

#[test]
fn a_type_of_a_result_that_is_no_text_is_not_understood() {
    for other in ["7", "[]", "{}", "true", "\"\"", "[\"complete\"]", "{\"a\":\"complete\"}"] {
        let CallError::Invalid { error, .. } =
            result(&format!(r#"{{"resultType":{other},"content":[]}}"#)).expect_err("it is no type")
        else {
            panic!("{other}")
        };
        assert_eq!(error.at, "result.resultType", "{error}");
    }
    for absent in ["null", "\"complete\""] {
        result(&format!(r#"{{"content":[],"resultType":{absent}}}"#)).expect("a result");
    }
}

type Reads = fn(&str, &str) -> bool;

#[test]
fn each_result_has_a_type_that_is_understood() {
    fn is_result<T: DeserializeOwned>(members: &str, result_type: &str) -> bool {
        let text = format!(r#"{{{members}"resultType":{result_type}}}"#);
        Json::parse(text).expect("it is JSON").decode::<T>().is_ok()
    }
    let results: [(Reads, &str); 8] = [
        (is_result::<CallToolResult>, r#""content":[],"#),
        (is_result::<CallToolOutcome>, r#""content":[],"#),
        (is_result::<ListToolsResult>, ""),
        (is_result::<ReadResourceResult>, ""),
        (is_result::<CompleteResult>, r#""completion":{"values":[]},"#),
        (is_result::<CancelTaskResult>, ""),
        (is_result::<SubscriptionsListenResult>, ""),
        (is_result::<Task>, r#""taskId":"t","status":"working","#),
    ];
    for (is_result, members) in results {
        assert!(is_result(members, "null") && is_result(members, "\"complete\""), "{members}");
        for other in ["7", "[]", "false", "\"other\""] {
            assert!(!is_result(members, other), "{members} {other}");
        }
    }
    assert!(is_result::<Task>(r#""taskId":"t","#, "\"task\""));
}

#[test]
fn a_null_result_is_not_an_absent_one() {
    let mut pair = Pair::legacy(|sent, peer| peer.answer(sent, "null"));
    let ticket = pair.raw("x/y", None).expect("it is sent");
    pair.drive();
    assert_eq!(pair.take(ticket).expect("it has ended").expect("it went well").get(), "null");
}

#[test]
fn escapes_are_read_everywhere() {
    let read = answered(
        br#"{"\u006asonrpc":"2.\u0030","i\u0064":@,"r\u0065sult":{"c\u006fntent":[{"t\u0079pe":"t\u0065xt","te\u0078t":"\u00e4\ud83d\ude00\n\"\\\/"}]}}"#,
    );
    assert_eq!(text(&read.expect("it is a result")), "ä😀\n\"\\/");
}

#[test]
fn a_block_whose_type_comes_last_is_read() {
    let read = result(r#"{"content":[{"text":"a","annotations":{"priority":0.5},"type":"text"}]}"#).expect("a result");
    let [ContentBlock::Text(block)] = &read.content[..] else { panic!("{read:?}") };
    assert_eq!(
        block.annotations.as_ref().and_then(|annotations| annotations.priority.as_ref()).map(Number::as_f64),
        Some(0.5)
    );
}

#[test]
fn floats_are_read_within_tagged_blocks() {
    let read = result(
        r#"{"content":[{"type":"resource_link","uri":"u","name":"n","size":12.0,"annotations":{"priority":1}},{"type":"text","text":"t","_meta":{"x":1.25e2}}]}"#,
    )
    .expect("a result");
    let [ContentBlock::ResourceLink(link), ContentBlock::Text(block)] = &read.content[..] else { panic!("{read:?}") };
    assert_eq!(
        (link.size, link.annotations.as_ref().and_then(|a| a.priority.as_ref()).map(Number::as_f64)),
        (Some(12), Some(1.0))
    );
    assert_eq!(block.meta.as_ref().map(Json::get), Some(r#"{"x":1.25e2}"#));
    let progress: Progress = Json::parse(r#"{"progress":0.1,"total":3}"#).and_then(|json| json.decode()).expect("both");
    assert_eq!((progress.progress.as_f64(), progress.total.map(|total| total.as_f64())), (0.1, Some(3.0)));
}

#[test]
fn a_private_key_of_the_json_library_is_only_text() {
    let hostile = r#"{"$serde_json::private::RawValue":"{\"admin\":true}"}"#;
    let read =
        result(&format!(r#"{{"content":[],"structuredContent":{hostile},"_meta":{hostile}}}"#)).expect("a result");
    assert_eq!(read.structured_content.as_ref().map(Json::get), Some(hostile));
    assert_eq!(read.meta.as_ref().map(Json::get), Some(hostile));
    let written = Json::from_value(&read).expect("it can be written");
    assert_eq!(written.decode::<CallToolResult>().ok(), Some(read), "and comes back as it was");
    let read = result(&format!(r#"{{"content":[{hostile}]}}"#)).expect("a result");
    let [ContentBlock::Unknown(block)] = &read.content[..] else { panic!("{read:?}") };
    assert_eq!(block.raw.get(), hostile);
}

#[test]
fn depth_costs_its_own_request_only() {
    let nested =
        |depth: usize| format!(r#"{{"content":[],"structuredContent":{}1{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(result(&nested(100)).is_ok());
    for depth in [200, 100_000] {
        let error = result(&nested(depth)).expect_err("it is too deep");
        assert!(matches!(error, CallError::Invalid { .. }), "{error:?}");
    }
    let unclosed = format!(r#"{{"jsonrpc":"2.0","id":@,"result":{}"#, "[{\"a\":".repeat(100_000));
    assert!(matches!(answered(unclosed.as_bytes()), Err(CallError::Invalid { .. })));
}

#[test]
fn a_key_that_is_repeated_is_an_error_in_the_envelope_and_the_last_one_counts_within() {
    for line in [
        r#"{"jsonrpc":"2.0","id":@,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":@,"result":{},"id":7}"#,
        r#"{"jsonrpc":"2.0","id":@,"error":{"code":1},"error":{"code":2}}"#,
    ] {
        let error = answered(line.as_bytes()).expect_err("it says two things");
        assert!(matches!(error, CallError::Invalid { .. }), "{line}: {error:?}");
    }
    let read = result(r#"{"content":[{"type":"text","text":"a","text":"b"}],"isError":true,"isError":false}"#);
    let read = read.expect("a result");
    assert_eq!((text(&read).as_str(), read.is_error), ("b", false));
    for last in ["null", "\"other\"", "{}"] {
        let read = result(&format!(r#"{{"content":[],"content":{last}}}"#)).expect("a result");
        assert!(read.without_content.is_some(), "{last}");
    }
    let json = Json::parse(r#"{"a":1,"\u0061":2}"#).expect("it is JSON");
    assert_eq!(json.member::<u8>("a"), Some(2));
}

#[test]
fn half_a_surrogate_pair_costs_one_character() {
    for half in ["\\ud800", "\\udc00", "\\uDBFF", "\\ud800x", "\\ud800\\n", "\\ud800\\ud800"] {
        let read =
            result(&format!(r#"{{"content":[{{"type":"text","text":"a{half}b","{half}":1}}]}}"#)).expect("a result");
        let text = text(&read);
        assert!(text.starts_with("a\u{fffd}") && text.ends_with('b'), "{half}: {text:?}");
    }
}

#[test]
fn bytes_that_are_no_text_cost_their_own_request_only() {
    for bytes in [&b"\xff"[..], b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"] {
        let line =
            [br#"{"jsonrpc":"2.0","id":@,"result":{"content":[{"type":"text","text":""#, bytes, b"\"}]}}"].concat();
        let error = answered(&line).expect_err("it is not UTF-8");
        let CallError::Invalid { error, .. } = &error else { panic!("{error:?}") };
        assert_eq!((&error.kind, error.at.as_str()), (&PeerErrorKind::NotUtf8, "result.content[0].text"));
    }
    for control in [0, 1, 9, 0x1f] {
        let line = [br#"{"jsonrpc":"2.0","id":@,"result":{"a":""#, &[control][..], b"\"}}"].concat();
        assert!(matches!(answered(&line), Err(CallError::Invalid { .. })), "{control}");
    }
}

#[derive(Deserialize)]
struct Wanted {
    a: f64,
    b: u8,
}

#[test]
fn numbers_keep_their_text_until_someone_asks() {
    let numbers = r#"{"a":1.0,"b":1,"c":12345678901234567890123,"d":1e400,"e":-0,"f":0.1000}"#;
    let read = result(&format!(r#"{{"content":[],"structuredContent":{numbers}}}"#)).expect("a result");
    assert_eq!(read.structured_content.as_ref().map(Json::get), Some(numbers));
    let some: Wanted = read.structured().expect("the others are not asked for");
    assert_eq!((some.a, some.b), (1.0, 1));
    // Without the feature, `1e400` is no number of `serde_json`.
    assert_eq!(read.structured::<Value>().is_ok(), cfg!(feature = "arbitrary-precision"));
}

#[test]
fn the_fraction_is_unknown_if_progress_and_total_both_exceed_f64() {
    let fraction =
        |text: &str| Json::parse(text).and_then(|json| json.decode::<Progress>()).expect("progress").fraction();
    assert_eq!(fraction(r#"{"progress":1,"total":4}"#), Some(0.25));
    assert_eq!(fraction(r#"{"progress":1e999,"total":4}"#), Some(1.0));
    assert_eq!(fraction(r#"{"progress":1,"total":1e999}"#), Some(0.0));
    assert_eq!(fraction(r#"{"progress":1e999,"total":1e999}"#), None);
    assert_eq!(fraction(r#"{"progress":1,"total":0}"#), None);
}
