//! The first look at a message: which kind, which id, which method. Nothing is built.

use alloc::borrow::Cow;
use core::ops::Range;

use super::WireId;
use crate::json::scan::{key_text, members, skip_space};

/// What a message looks to be. The decode has the last word.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Peek<'a> {
    /// An answer, or something with an id that can be nothing else: whoever asked is told.
    Response {
        id: WireId<'a>,
    },
    /// An error that names no request: the peer could not read what it answers.
    OrphanError,
    Request {
        id: WireId<'a>,
        method: Cow<'a, str>,
    },
    Notification {
        method: Cow<'a, str>,
    },
    /// An array: messages, each to be looked at on its own.
    Batch,
    /// Not a message.
    Noise,
}

/// Looks at one message.
///
/// A response is recognised as soon as its id and its `result` or `error` key are known: with the usual order of keys that
/// is within the first fifty bytes, whatever the size. Where `result` comes first, the end of the line is looked at before
/// the value is scanned.
pub(crate) fn peek(bytes: &[u8]) -> Peek<'_> {
    if let Some((id, _)) = usual_start(bytes) {
        return Peek::Response { id: WireId(id) };
    }
    if let Some((id, _)) = usual_end(bytes) {
        return Peek::Response { id: WireId(id) };
    }
    peek_slowly(bytes)
}

fn peek_slowly(bytes: &[u8]) -> Peek<'_> {
    match bytes.get(skip_space(bytes, 0)) {
        Some(b'{') => {}
        Some(b'[') => return Peek::Batch,
        _ => return Peek::Noise,
    }
    let mut list = members(bytes);
    let mut seen = Seen::default();
    while let Some(key) = list.next_key() {
        match name(key) {
            Name::Id => match list.value() {
                Some(id) => seen.id = Some(WireId(id)),
                None => break,
            },
            Name::Method => match list.value() {
                Some([b'"', inner @ .., b'"']) => seen.method = Some(inner),
                Some(_) => {}
                None => break,
            },
            Name::Answer if seen.method.is_none() => {
                if let Some(id) = seen.id.or_else(|| last_id(bytes)) {
                    return response(id);
                }
                seen.answer = true;
                if list.value().is_none() {
                    break;
                }
            }
            Name::Answer | Name::Other => {
                if list.value().is_none() {
                    break;
                }
            }
        }
        if let (Some(id), Some(method)) = (seen.id, seen.method) {
            return Peek::Request { id, method: key_text(method) };
        }
    }
    seen.verdict()
}

/// The id of a response that begins as most do, and where its result starts.
#[inline]
pub(crate) fn usual_start(bytes: &[u8]) -> Option<(&[u8], usize)> {
    const BEFORE: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    const BETWEEN: &[u8] = br#","result":"#;
    let rest = bytes.strip_prefix(BEFORE)?;
    let digits = rest.iter().take(20).take_while(|b| b.is_ascii_digit()).count();
    let (id, rest) = rest.split_at(digits);
    (digits > 0 && rest.starts_with(BETWEEN)).then_some((id, BEFORE.len() + digits + BETWEEN.len()))
}

/// The id of a response that is built the way of the TypeScript servers, and where its result starts and ends.
#[inline]
pub(crate) fn usual_end(bytes: &[u8]) -> Option<(&[u8], Range<usize>)> {
    const BEFORE: &[u8] = br#"{"result":"#;
    const BETWEEN: &[u8] = br#","jsonrpc":"2.0","id":"#;
    let rest = bytes.strip_prefix(BEFORE)?.strip_suffix(b"}")?;
    let digits = rest.iter().rev().take(20).take_while(|b| b.is_ascii_digit()).count();
    let (rest, id) = rest.split_at(rest.len() - digits);
    let result = rest.strip_suffix(BETWEEN)?;
    (digits > 0).then_some((id, BEFORE.len()..BEFORE.len() + result.len()))
}

#[derive(Default)]
struct Seen<'a> {
    id: Option<WireId<'a>>,
    method: Option<&'a [u8]>,
    answer: bool,
}

impl<'a> Seen<'a> {
    fn verdict(self) -> Peek<'a> {
        match self {
            Seen { id: None, method: Some(method), .. } => Peek::Notification { method: key_text(method) },
            // Neither method nor answer: the request that it names can only learn that from us.
            Seen { id: Some(id), .. } => response(id),
            Seen { answer: true, .. } => Peek::OrphanError,
            _ => Peek::Noise,
        }
    }
}

fn response(id: WireId<'_>) -> Peek<'_> {
    if id.is_null() { Peek::OrphanError } else { Peek::Response { id } }
}

enum Name {
    Id,
    Method,
    Answer,
    Other,
}

fn name(key: &[u8]) -> Name {
    match key {
        b"id" => Name::Id,
        b"method" => Name::Method,
        b"result" | b"error" => Name::Answer,
        key if key.contains(&b'\\') => match &*key_text(key) {
            "id" => Name::Id,
            "method" => Name::Method,
            "result" | "error" => Name::Answer,
            _ => Name::Other,
        },
        _ => Name::Other,
    }
}

/// The `id` among the last two members, read backwards from the end of the text.
///
/// If the text is JSON this is exact: the last `}` closes the message, so a member that ends right before it belongs to
/// the message, and a quote followed by `:` outside of any string closes a key.
#[inline(never)]
fn last_id(bytes: &[u8]) -> Option<WireId<'_>> {
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

fn split_last_scalar(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if bytes.last() == Some(&b'"') {
        let (before, inner) = split_last_string(bytes)?;
        return Some((before, &bytes[bytes.len() - inner.len() - 2..]));
    }
    let start =
        bytes.iter().rposition(|b| !matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b'a'..=b'z'))? + 1;
    (start < bytes.len()).then(|| bytes.split_at(start))
}

/// Splits off a string without escapes; gives what comes before it, and its inside.
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
            Peek::Response { id } => core::str::from_utf8(id.0).ok(),
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
    fn the_tail_is_not_fooled_by_strings_and_depth() {
        assert_eq!(id(r#"{"result":{"a":1,"id":5}}"#), None);
        assert_eq!(id(r#"{"result":1,"x,\"id":5}"#), None);
        assert_eq!(id(r#"{"result":1,"x":"a,\"id\":5"}"#), None);
        assert_eq!(id(r#"{"result":1,"x\",\"id":5,"id":6}"#), Some("6"));
    }

    #[test]
    fn kinds_are_told_apart() {
        assert!(matches!(peek(br#"{"id":1,"method":"ping"}"#), Peek::Request { method, .. } if method == "ping"));
        assert!(matches!(peek(br#"{"method":"ping","params":{"id":3},"id":1}"#), Peek::Request { .. }));
        assert!(
            matches!(peek(br#"{"method":"a\u0062","params":{"id":3}}"#), Peek::Notification { method } if method == "ab")
        );
        assert_eq!(peek(br#"{"id":null,"error":{"code":-32700}}"#), Peek::OrphanError);
        assert_eq!(peek(br#"{"error":{"code":-32700}}"#), Peek::OrphanError);
        assert_eq!(peek(br#"[{"id":1}]"#), Peek::Batch);
        for noise in ["", "null", "\"x\"", "{}", "{\"level\":\"info\"}", "{\"id\"", "Server started", "1"] {
            assert_eq!(peek(noise.as_bytes()), Peek::Noise, "{noise}");
        }
    }

    #[test]
    fn a_truncated_answer_still_names_its_request() {
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"#), Some("7"));
    }
}
