use alloc::format;

use super::*;

fn id(text: &str) -> Option<u64> {
    Received::new(text.as_bytes()).response().map(|response| response.id)
}

fn method_of(text: &str) -> Option<Cow<'_, str>> {
    match classify(text.as_bytes()) {
        ReceivedKind::Request { method, .. } | ReceivedKind::Notification { method } => {
            Some(method.of(text.as_bytes()))
        }
        _ => None,
    }
}

#[test]
fn both_key_orders_of_servers() {
    assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"result":{"id":8}}"#), Some(7));
    assert_eq!(id(r#"{"result":{"id":8},"jsonrpc":"2.0","id":7}"#), Some(7));
    assert_eq!(id(r#"{"result":{"id":8},"id":7,"jsonrpc":"2.0"}"#), Some(7));
    assert_eq!(id(r#" { "result" : {"id":8} , "id" : "7" } "#), Some(7));
    assert_eq!(id(r#"{"error":{"code":1},"id":7,"x":[1]}"#), Some(7));
    assert_eq!(id(r#"{"result":{"id":8}}"#), None);
    assert_eq!(id(r#"{"id":7}"#), Some(7));
    assert_eq!(id(r#"{"\u0069d":7,"result":1}"#), Some(7));
}

#[test]
fn an_id_in_a_string_or_below_the_top_is_not_the_id() {
    assert_eq!(id(r#"{"result":{"a":1,"id":5}}"#), None);
    assert_eq!(id(r#"{"result":1,"x,\"id":5}"#), None);
    assert_eq!(id(r#"{"result":1,"x":"a,\"id\":5"}"#), None);
    assert_eq!(id(r#"{"result":1,"x\",\"id":5,"id":6}"#), Some(6));
}

#[test]
fn kinds_are_told_apart() {
    let request = r#"{"method":"ping","params":{"id":3},"id":1}"#;
    let ReceivedKind::Request { id, method } = classify(request.as_bytes()) else { panic!("{request}") };
    assert_eq!((&request[id], &*method.of(request.as_bytes())), ("1", "ping"));
    assert_eq!(method_of(r#"{"id":1,"method":"ping"}"#).as_deref(), Some("ping"));
    let notification = r#"{"method" : "a\u0062","params":{"id":3}}"#;
    assert!(matches!(classify(notification.as_bytes()), ReceivedKind::Notification { .. }));
    assert_eq!(method_of(notification).as_deref(), Some("ab"));
    assert_eq!(classify(br#"{"id":"a","result":1}"#), ReceivedKind::ForeignResponse);
    assert_eq!(classify(br#"{"id":null,"error":{"code":-32700}}"#), ReceivedKind::OrphanError);
    assert_eq!(classify(br#"{"error":{"code":-32700}}"#), ReceivedKind::OrphanError);
    assert_eq!(classify(br#"[{"id":1}]"#), ReceivedKind::Batch);
    for noise in ["", "null", "\"x\"", "{}", "{\"level\":\"info\"}", "{\"id\"", "Server started", "1"] {
        assert_eq!(classify(noise.as_bytes()), ReceivedKind::Invalid, "{noise}");
    }
}

#[test]
fn a_message_with_a_method_and_an_outcome_is_a_response_in_any_order() {
    let members = [r#""id":7"#, r#""method":"ping""#, r#""params":{"id":8}"#];
    for outcome in [r#""result":{"id":9}"#, r#""error":{"code":1}"#, r#""result":null"#] {
        let mut all = [members[0], members[1], members[2], outcome];
        for turn in 0..24 {
            all.swap(turn % 3, turn % 3 + 1);
            assert_eq!(id(&format!("{{{}}}", all.join(","))), Some(7), "{all:?}");
        }
    }
    let request = br#"{"id":7,"method":"ping","params":{"result":1},"x":[}"#;
    assert!(matches!(classify(request), ReceivedKind::Request { .. }));
    assert!(matches!(classify(br#"{"method":"x","result":1}"#), ReceivedKind::Notification { .. }));
    assert_eq!(classify(br#"{"method":"x","id":null,"result":1}"#), ReceivedKind::OrphanError);
}

#[test]
fn a_truncated_answer_still_names_its_request() {
    assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"#), Some(7));
}

#[test]
fn a_notification_is_one_whatever_the_order_of_its_keys() {
    for (text, method) in [
        (r#"{"jsonrpc":"2.0","method":"a/b_c","params":{"id":1}}"#, "a/b_c"),
        (r#"{"jsonrpc":"2.0","method":"a","params":{}} "#, "a"),
        (r#"{"jsonrpc":"2.0","method":"a\u0062","params":{}}"#, "ab"),
        (r#"{"jsonrpc":"2.0","method":"a","params":{},"x":1}"#, "a"),
        (r#"{"jsonrpc":"2.0","method":"a","params":{},"method":"b"}"#, "b"),
        (r#"{"params":{},"method":"a","jsonrpc":"2.0"}"#, "a"),
    ] {
        let kind = classify(text.as_bytes());
        assert!(matches!(kind, ReceivedKind::Notification { .. }), "{text}: {kind:?}");
        assert_eq!(method_of(text).as_deref(), Some(method), "{text}");
    }
    let request = br#"{"jsonrpc":"2.0","method":"a","params":{},"id":1}"#;
    assert!(matches!(classify(request), ReceivedKind::Request { .. }));
    let response = br#"{"jsonrpc":"2.0","method":"a","params":{},"result":1,"id":1}"#;
    assert!(matches!(classify(response), ReceivedKind::Response(_)));
}

fn result_type(message: &str) -> ResultType {
    Received::new(message.as_bytes()).response().map_or(ResultType::Complete, |it| it.result_type(message.as_bytes()))
}

#[test]
fn the_type_is_found_wherever_it_stands() {
    let texts = [
        (r#"{"resultType":"input_required","requestState":"x"}"#, ResultType::InputRequired),
        (r#"{"requestState":"x","resultType":"input_required"}"#, ResultType::InputRequired),
        (r#"{"inputRequests":{},"resultType":"input_required","requestState":"x"}"#, ResultType::InputRequired),
        (r#"{ "resultType" : "input\u005frequired" }"#, ResultType::InputRequired),
        (r#"{"_meta":{"resultType":"x"},"resultType":"input_required"}"#, ResultType::InputRequired),
        (r#"{"resultType":"complete","content":[]}"#, ResultType::Complete),
        (r#"{"content":[],"resultType":"complete"}"#, ResultType::Complete),
        (r#"{"content":[],"resultType":"complete","isError":false}"#, ResultType::Complete),
        (r#"{"content":[]}"#, ResultType::Complete),
        (r#"{"resultType":"task"}"#, ResultType::Task),
        (r#"{"resultType":"other"}"#, ResultType::Complete),
        (r#"{"resultType":7}"#, ResultType::Complete),
        (r#"{"content":[{"text":"\"resultType\":\"input_required\""}]}"#, ResultType::Complete),
        (r#"{"structuredContent":{"resultType":"input_required"}}"#, ResultType::Complete),
        ("{}", ResultType::Complete),
        ("null", ResultType::Complete),
    ];
    for (result, expected) in texts {
        for message in [
            format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#),
            format!(r#"{{"result":{result},"jsonrpc":"2.0","id":7}}"#),
            format!(r#" {{ "id":7, "result" : {result} , "jsonrpc":"2.0" }} "#),
        ] {
            assert_eq!(result_type(&message), expected, "{message}");
        }
    }
}

#[test]
fn behind_and_before_what_is_long_too() {
    let long = "x".repeat(1000);
    for (members, expected) in [
        (r#""a":"L","resultType":"input_required","b":"L""#, ResultType::InputRequired),
        (r#""a":"L","resultType":"complete","b":"L""#, ResultType::Complete),
        (r#""a":"L","resultType":"complete","b":1"#, ResultType::Complete),
        (r#""a":"L","b":{"resultType":"x"},"resultType":"input_required""#, ResultType::InputRequired),
        (r#""a":"L""#, ResultType::Complete),
    ] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{{}}}}}"#, members.replace('L', &long));
        assert_eq!(result_type(&message), expected, "{members}");
    }
}

#[test]
fn a_nested_type_is_not_the_type_of_the_result() {
    let reserved = r#"{"resultType":"complete"}"#;
    for (result, expected) in [
        (r#"{"resultType":"input_required","requestState":"s","_meta":N}"#, ResultType::InputRequired),
        (r#"{"_meta":N,"resultType":"input_required","requestState":"s"}"#, ResultType::InputRequired),
        (r#"{"_meta":{"a":[N]},"inputRequests":{},"resultType":"input_required"}"#, ResultType::InputRequired),
        (r#"{"resultType":"task","taskId":"t","_meta":N}"#, ResultType::Task),
        (r#"{"result\u0054ype":"input_required","_meta":N}"#, ResultType::InputRequired),
        (r#"{"resultType":"complete","resultType":"input_required"}"#, ResultType::InputRequired),
        (r#"{"_meta":{"x":{"resultType":"input_required"}},"content":[]}"#, ResultType::Complete),
    ] {
        for long in [0, 300, 5000] {
            let result = result.replace('N', &format!(r#"{{"x":"{}","y":{reserved}}}"#, "x".repeat(long)));
            for message in [
                format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#),
                format!(r#"{{"result":{result},"jsonrpc":"2.0","id":7}}"#),
                format!(r#"{{"id":7,"_meta":{{"result":{reserved}}},"result":{result},"x":{reserved}}}"#),
            ] {
                assert_eq!(result_type(&message), expected, "{message}");
            }
        }
    }
}

#[test]
fn what_is_no_result_has_no_type() {
    for message in ["", "{", r#"{"id":1,"error":{"resultType":"input_required"}}"#, r#""resultType""#] {
        assert_eq!(result_type(message), ResultType::Complete, "{message}");
    }
}
