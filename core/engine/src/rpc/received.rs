//! [`Received`]: a received message, classified once: its kind, its id, and where its result begins. [`Batch`]: several
//! in one.

use alloc::borrow::Cow;
use core::ops::Range;

use super::WireId;
use super::id::last_id;
use crate::frame::Message;
use mcpwire_text::json::scan::{
    is_text, key_text, last_member, member, members, next_element, skip_space, value_range,
};

/// A received message and its kind.
#[derive(Debug)]
pub(crate) struct Received<B> {
    pub(crate) message: B,
    pub(crate) kind: ReceivedKind,
}

impl<B: AsRef<[u8]>> Received<B> {
    /// Finds out the kind of a message.
    pub(crate) fn new(message: B) -> Self {
        Received { kind: classify(message.as_ref()), message }
    }

    /// Returns where to find the parts of the message if it is a response to a request of this client, or `None` if not.
    pub(crate) fn response(&self) -> Option<Response> {
        match self.kind {
            ReceivedKind::Response(response) => Some(response),
            _ => None,
        }
    }

    /// Returns whether the message is a request or a notification of the server.
    pub(crate) fn has_method(&self) -> bool {
        matches!(self.kind, ReceivedKind::Request { .. } | ReceivedKind::Notification { .. })
    }
}

/// The kind of a JSON-RPC message, as its keys indicate. The rest of the message is not checked and may be malformed.
///
/// Ranges are positions in the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReceivedKind {
    /// A response, or another object with an `id` but without a `method`. It may have a `method` next to its `result` or
    /// `error`.
    Response(Response),
    /// A response whose id is not a number, so that it belongs to no request of this client.
    ForeignResponse,
    /// An error response without an id. A server sends this response if it could not parse a message of the client.
    OrphanError,
    /// A request from the server.
    Request { id: Range<usize>, method: MethodName },
    /// A notification from the server.
    Notification { method: MethodName },
    /// A JSON array of messages.
    Batch,
    /// Bytes that are not a JSON-RPC message.
    Invalid,
}

/// The position of the member `method`, without its quotes. Its escapes are not replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MethodName(Range<usize>);

impl MethodName {
    /// Returns the method. `message` is the message that was classified.
    pub(crate) fn of<'m>(&self, message: &'m [u8]) -> Cow<'m, str> {
        key_text(message.get(self.0.clone()).unwrap_or_default())
    }
}

/// A response of the server to a request of this client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    /// The id of the request.
    pub(crate) id: u64,
    /// Offset of the value of the first member `result`. `None` if the classification has not come across a result: the
    /// response may be an error.
    result: Option<usize>,
    /// Whether only `jsonrpc` and `id` precede the result, as most servers write them.
    is_usual: bool,
}

/// The `resultType` of a response: whether it contains the requested result, a request for input, or a task (protocol
/// revision 2026-07-28, basic, "`ResultType`").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultType {
    /// The response contains the requested result or an error. Also used for a `resultType` that is missing or unknown.
    Complete,
    /// The server requires input from the client before it can return the requested result.
    InputRequired,
    /// The server has created a task. The requested result will be the result of the task.
    Task,
}

impl Response {
    /// Describes a response that this client has written itself, with the id 0. `result` is the offset of its result, or
    /// `None` if it contains an error.
    pub(crate) fn of_client(result: Option<usize>) -> Self {
        Response { id: 0, result, is_usual: false }
    }

    /// Returns the offset of the result if only `jsonrpc` and `id` precede it.
    pub(super) fn usual_result(self) -> Option<usize> {
        self.result.filter(|_| self.is_usual)
    }

    /// Returns `message`, the message that was classified, from the value of its first `result` on. Returns `None` if it has
    /// no result.
    pub(crate) fn result(self, message: &[u8]) -> Option<&[u8]> {
        match self.result {
            Some(at) => message.get(at..),
            None => member(message, "result"),
        }
    }

    /// Returns the `resultType` of the response, without decoding the response.
    ///
    /// Reads the members of the result in one pass. If the member `resultType` occurs more than once, the last one counts,
    /// as it does when the result is decoded.
    pub(crate) fn result_type(self, message: &[u8]) -> ResultType {
        let Some(result) = self.result(message) else { return ResultType::Complete };
        match last_member(result, "resultType") {
            Some(kind) if is_text(kind, "input_required") => ResultType::InputRequired,
            Some(kind) if is_text(kind, "task") => ResultType::Task,
            _ => ResultType::Complete,
        }
    }
}

/// Returns the kind of a JSON-RPC message, together with its id and method.
///
/// Reads a response only up to its `id` and its `result` or `error` key, usually within its first fifty bytes. So a
/// message with an id and one of these keys is a response, even if it also has a method.
pub(crate) fn classify(bytes: &[u8]) -> ReceivedKind {
    if let Some((id, result)) = usual_start(bytes) {
        return response(id, Some(result), true);
    }
    // An `id` after the parameters would make the message a request.
    if let Some((method, params)) = usual_notification(bytes)
        && value_range(bytes, params).is_some_and(|params| bytes[params.end..] == *b"}")
    {
        return ReceivedKind::Notification { method };
    }
    match bytes.get(skip_space(bytes, 0)) {
        Some(b'{') => {}
        Some(b'[') => return ReceivedKind::Batch,
        _ => return ReceivedKind::Invalid,
    }
    let mut list = members(bytes);
    let (mut id, mut method, mut result, mut has_outcome) = (None, None, None, false);
    let id_text = |id: &Range<usize>| WireId(&bytes[id.clone()]);
    while let Some(key) = list.next_key() {
        let start = skip_space(bytes, bytes.len() - list.rest().len());
        let key = key_text(key);
        if matches!(&*key, "result" | "error") {
            has_outcome = true;
            if key == "result" {
                result.get_or_insert(start);
            }
            // Reading past a long result costs as much as half of decoding it, so the end of the message is read first.
            if let Some(id) = id.as_ref().map(id_text).or_else(|| last_id(bytes)) {
                return response(id, result, false);
            }
        }
        let Some(value) = list.value() else { break };
        let range = start..start + value.len();
        match &*key {
            "id" => id = Some(range),
            "method" => {
                let is_string = matches!(value, [b'"', .., b'"']);
                method = is_string.then(|| MethodName(range.start + 1..range.end - 1));
            }
            _ => {}
        }
    }
    match (id, method) {
        (None, Some(method)) => ReceivedKind::Notification { method },
        (Some(id), Some(method)) if !has_outcome => ReceivedKind::Request { id, method },
        // An object with only an id is treated as a response, so that the request with this id fails now instead of
        // timing out.
        (Some(id), _) => response(id_text(&id), result, false),
        (None, None) if has_outcome => ReceivedKind::OrphanError,
        (None, None) => ReceivedKind::Invalid,
    }
}

/// Returns the id, and the offset of the result, if a response starts with the keys `jsonrpc`, `id` and `result` in
/// this order, as most servers write them. Returns `None` for any other message.
///
/// Comparing these keys in place of reading them, here and in [`decode`](super::decode), saves 2,000 instructions a response, a
/// fifth of a call.
fn usual_start(bytes: &[u8]) -> Option<(WireId<'_>, usize)> {
    const BEFORE: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    const BETWEEN: &[u8] = br#","result":"#;
    let rest = bytes.strip_prefix(BEFORE)?;
    let digits = rest.iter().take(20).take_while(|b| b.is_ascii_digit()).count();
    let (id, rest) = rest.split_at(digits);
    (digits > 0 && rest.starts_with(BETWEEN)).then_some((WireId(id), BEFORE.len() + digits + BETWEEN.len()))
}

/// Returns the method, and the offset of the parameters, if a message starts with the keys `jsonrpc`, `method` and `params`
/// in this order, as most servers write notifications. Returns `None` for any other message.
///
/// Comparing these keys in place of reading them, here and in [`decode`](super::decode), saves 1,700 instructions a
/// notification, a quarter of its cost.
pub(super) fn usual_notification(bytes: &[u8]) -> Option<(MethodName, usize)> {
    const BEFORE: &[u8] = br#"{"jsonrpc":"2.0","method":""#;
    const BETWEEN: &[u8] = br#"","params":"#;
    let rest = bytes.strip_prefix(BEFORE)?;
    let len = rest.iter().take_while(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'_')).count();
    let method = BEFORE.len()..BEFORE.len() + len;
    rest[len..].starts_with(BETWEEN).then_some((MethodName(method), BEFORE.len() + len + BETWEEN.len()))
}

/// Returns the kind of a response with this id. `result` is the offset of its result, and `is_usual` whether only `jsonrpc`
/// and `id` precede it.
fn response(id: WireId<'_>, result: Option<usize>, is_usual: bool) -> ReceivedKind {
    match id.number() {
        Some(id) => ReceivedKind::Response(Response { id, result, is_usual }),
        None if id.is_null() => ReceivedKind::OrphanError,
        None => ReceivedKind::ForeignResponse,
    }
}

/// Iterates over the messages of a JSON-RPC batch, which is a JSON array.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) bytes: Message,
    /// Offset in `bytes` from which to read the next element.
    at: usize,
    /// Whether the batch contained an object so far. A batch without objects is an invalid message.
    pub(crate) has_messages: bool,
}

impl Batch {
    pub(crate) fn new(bytes: Message) -> Self {
        Batch { bytes, at: 0, has_messages: false }
    }

    /// Returns the position in `bytes` of the next JSON object in the batch, or `None` at the end of the batch. Skips
    /// elements that are not objects.
    pub(crate) fn next_message(&mut self) -> Option<Range<usize>> {
        while let Some(element) = next_element(&self.bytes, &mut self.at) {
            if self.bytes[element.clone()].first() == Some(&b'{') {
                self.has_messages = true;
                return Some(element);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
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
        Received::new(message.as_bytes())
            .response()
            .map_or(ResultType::Complete, |it| it.result_type(message.as_bytes()))
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
}
