//! [`peek`]: finds the kind, the id and the method of a JSON-RPC message without parsing the whole message.

use alloc::borrow::Cow;

use super::WireId;
use mcpwire_types::json::scan::{key_text, members, skip_space};

/// The kind of a JSON-RPC message, as its keys indicate. The rest of the message is not checked and may be malformed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MessageClass<'a> {
    /// A response, or another object with an `id` but without a `method`. It may have a `method` next to its `result` or
    /// `error`.
    Response { id: WireId<'a> },
    /// An error response without an id. A server sends this response if it could not parse a message of the client.
    OrphanError,
    /// A request from the server.
    Request { id: WireId<'a>, method: Cow<'a, str> },
    /// A notification from the server.
    Notification { method: Cow<'a, str> },
    /// A JSON array of messages.
    Batch,
    /// Bytes that are not a JSON-RPC message.
    InvalidMessage,
}

/// Returns the kind of a JSON-RPC message, together with its id and method.
///
/// Reads a response only up to its `id` and its `result` or `error` key, usually within its first fifty bytes. So a
/// message with an id and one of these keys is a response, even if it also has a method.
pub(crate) fn peek(bytes: &[u8]) -> MessageClass<'_> {
    match usual_start(bytes) {
        Some((id, _)) => MessageClass::Response { id: WireId(id) },
        None => peek_any_order(bytes),
    }
}

/// Returns the kind of a JSON-RPC message with its keys in any order. [`peek`] handles the usual order faster.
fn peek_any_order(bytes: &[u8]) -> MessageClass<'_> {
    match bytes.get(skip_space(bytes, 0)) {
        Some(b'{') => {}
        Some(b'[') => return MessageClass::Batch,
        _ => return MessageClass::InvalidMessage,
    }
    let mut list = members(bytes);
    let mut seen = SeenMembers::default();
    while let Some(key) = list.next_key() {
        match classify_key(key) {
            Key::Id => match list.value() {
                Some(id) => seen.id = Some(WireId(id)),
                None => break,
            },
            Key::Method => match list.value() {
                Some([b'"', inner @ .., b'"']) => seen.method = Some(inner),
                Some(_) => seen.method = None,
                None => break,
            },
            Key::Outcome => {
                // Reading past a long result costs as much as half of decoding it, so the end of the message is read first.
                if let Some(id) = seen.id.or_else(|| last_id(bytes)) {
                    return response(id);
                }
                seen.has_outcome = true;
                if list.value().is_none() {
                    break;
                }
            }
            Key::Other => {
                if list.value().is_none() {
                    break;
                }
            }
        }
    }
    seen.kind()
}

/// Returns the id, and the offset of the result, if a response starts with the keys `jsonrpc`, `id` and `result` in
/// this order, as most servers write them. Returns `None` for any other message.
#[inline]
pub(crate) fn usual_start(bytes: &[u8]) -> Option<(&[u8], usize)> {
    const BEFORE: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    const BETWEEN: &[u8] = br#","result":"#;
    let rest = bytes.strip_prefix(BEFORE)?;
    let digits = rest.iter().take(20).take_while(|b| b.is_ascii_digit()).count();
    let (id, rest) = rest.split_at(digits);
    (digits > 0 && rest.starts_with(BETWEEN)).then_some((id, BEFORE.len() + digits + BETWEEN.len()))
}

#[derive(Default)]
struct SeenMembers<'a> {
    id: Option<WireId<'a>>,
    /// The JSON text of the member `method` without its quotes. Escapes have not been replaced.
    method: Option<&'a [u8]>,
    has_outcome: bool,
}

impl<'a> SeenMembers<'a> {
    /// Returns the kind of the message. Call this only after all members were examined.
    fn kind(self) -> MessageClass<'a> {
        match self {
            SeenMembers { id: None, method: Some(method), .. } => {
                MessageClass::Notification { method: key_text(method) }
            }
            SeenMembers { id: Some(id), method: Some(method), has_outcome: false } => {
                MessageClass::Request { id, method: key_text(method) }
            }
            // An object with only an id is treated as a response, so that the request with this id fails now instead
            // of timing out.
            SeenMembers { id: Some(id), .. } => response(id),
            SeenMembers { has_outcome: true, .. } => MessageClass::OrphanError,
            _ => MessageClass::InvalidMessage,
        }
    }
}

/// Returns the kind of a response with this id: [`MessageClass::OrphanError`] if the id is `null`, and otherwise
/// `Response`.
fn response(id: WireId<'_>) -> MessageClass<'_> {
    if id.is_null() { MessageClass::OrphanError } else { MessageClass::Response { id } }
}

enum Key {
    Id,
    Method,
    /// The key `result` or `error`.
    Outcome,
    Other,
}

/// Returns which member of a JSON-RPC message a key names. `key` is the JSON text of the key without its quotes;
/// escapes have not been replaced.
fn classify_key(key: &[u8]) -> Key {
    match key {
        b"id" => Key::Id,
        b"method" => Key::Method,
        b"result" | b"error" => Key::Outcome,
        key if key.contains(&b'\\') => match &*key_text(key) {
            "id" => Key::Id,
            "method" => Key::Method,
            "result" | "error" => Key::Outcome,
            _ => Key::Other,
        },
        _ => Key::Other,
    }
}

/// Returns the `id` of a message if it is one of the last two members, reading backwards from the end of the message.
/// The beginning of the message may be missing. The value may be wrong only if the message is not valid JSON.
pub(crate) fn last_id(bytes: &[u8]) -> Option<WireId<'_>> {
    // In valid JSON, the last `}` closes the message, so the members right before it belong to the message itself.
    // Also, a quote before a `:` outside of strings always ends a key.
    let mut rest = bytes.trim_ascii_end().strip_suffix(b"}")?;
    for _ in 0..2 {
        let (before, value) = split_last_scalar(rest.trim_ascii_end())?;
        let before = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
        let (before, key) = split_last_string(before)?;
        let before = before.trim_ascii_end();
        if key == b"id" && matches!(before.last(), Some(b',' | b'{')) {
            return Some(WireId(value));
        }
        rest = before.strip_suffix(b",")?;
    }
    None
}

/// Splits off the JSON scalar at the end of `bytes`. Returns the bytes before it, and the scalar. Returns `None` if
/// `bytes` does not end with a scalar.
fn split_last_scalar(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if bytes.last() == Some(&b'"') {
        let (before, inner) = split_last_string(bytes)?;
        return Some((before, &bytes[bytes.len() - inner.len() - 2..]));
    }
    let start =
        bytes.iter().rposition(|b| !matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b'a'..=b'z'))? + 1;
    (start < bytes.len()).then(|| bytes.split_at(start))
}

/// Splits `bytes` into the text before the JSON string at the end, and the contents of that string.
///
/// Returns `None` if there is no such string, or if the string has escapes or is longer than 63 bytes.
fn split_last_string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = bytes.strip_suffix(b"\"")?;
    let near = &inner[inner.len().saturating_sub(64)..];
    let quote = inner.len() - near.len() + memchr::memrchr(b'"', near)?;
    let (before, text) = (&inner[..quote], &inner[quote + 1..]);
    (before.last() != Some(&b'\\') && !text.contains(&b'\\')).then_some((before, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<&str> {
        match peek(text.as_bytes()) {
            MessageClass::Response { id } => core::str::from_utf8(id.0).ok(),
            _ => None,
        }
    }

    #[test]
    fn both_key_orders_of_servers() {
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"result":{"id":8}}"#), Some("7"));
        assert_eq!(id(r#"{"result":{"id":8},"jsonrpc":"2.0","id":7}"#), Some("7"));
        assert_eq!(id(r#"{"result":{"id":8},"id":7,"jsonrpc":"2.0"}"#), Some("7"));
        assert_eq!(id(r#" { "result" : {"id":8} , "id" : "7" } "#), Some("\"7\""));
        assert_eq!(id(r#"{"error":{"code":1},"id":7,"x":[1]}"#), Some("7"));
        assert_eq!(id(r#"{"result":{"id":8}}"#), None);
        assert_eq!(id(r#"{"id":7}"#), Some("7"));
        assert_eq!(id(r#"{"\u0069d":7,"result":1}"#), Some("7"));
    }

    #[test]
    fn an_id_in_a_string_or_below_the_top_is_not_the_id() {
        assert_eq!(id(r#"{"result":{"a":1,"id":5}}"#), None);
        assert_eq!(id(r#"{"result":1,"x,\"id":5}"#), None);
        assert_eq!(id(r#"{"result":1,"x":"a,\"id\":5"}"#), None);
        assert_eq!(id(r#"{"result":1,"x\",\"id":5,"id":6}"#), Some("6"));
    }

    #[test]
    fn kinds_are_told_apart() {
        assert!(
            matches!(peek(br#"{"id":1,"method":"ping"}"#), MessageClass::Request { method, .. } if method == "ping")
        );
        assert!(matches!(peek(br#"{"method":"ping","params":{"id":3},"id":1}"#), MessageClass::Request { .. }));
        assert!(
            matches!(peek(br#"{"method":"a\u0062","params":{"id":3}}"#), MessageClass::Notification { method } if method == "ab")
        );
        assert_eq!(peek(br#"{"id":null,"error":{"code":-32700}}"#), MessageClass::OrphanError);
        assert_eq!(peek(br#"{"error":{"code":-32700}}"#), MessageClass::OrphanError);
        assert_eq!(peek(br#"[{"id":1}]"#), MessageClass::Batch);
        for noise in ["", "null", "\"x\"", "{}", "{\"level\":\"info\"}", "{\"id\"", "Server started", "1"] {
            assert_eq!(peek(noise.as_bytes()), MessageClass::InvalidMessage, "{noise}");
        }
    }

    #[test]
    fn a_message_with_a_method_and_an_outcome_is_a_response_in_any_order() {
        let members = [r#""id":7"#, r#""method":"ping""#, r#""params":{"id":8}"#];
        for outcome in [r#""result":{"id":9}"#, r#""error":{"code":1}"#, r#""result":null"#] {
            let mut all = [members[0], members[1], members[2], outcome];
            for turn in 0..24 {
                all.swap(turn % 3, turn % 3 + 1);
                assert_eq!(id(&alloc::format!("{{{}}}", all.join(","))), Some("7"), "{all:?}");
            }
        }
        let request = br#"{"id":7,"method":"ping","params":{"result":1},"x":[}"#;
        assert!(matches!(peek(request), MessageClass::Request { .. }));
        assert!(matches!(peek(br#"{"method":"x","result":1}"#), MessageClass::Notification { .. }));
        assert_eq!(peek(br#"{"method":"x","id":null,"result":1}"#), MessageClass::OrphanError);
    }

    #[test]
    fn a_truncated_answer_still_names_its_request() {
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"#), Some("7"));
    }
}
