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
        return ReceivedKind::Response(Response { id, result: Some(result), is_usual: true });
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
                return response(id, result);
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
        (Some(id), _) => response(id_text(&id), result),
        (None, None) if has_outcome => ReceivedKind::OrphanError,
        (None, None) => ReceivedKind::Invalid,
    }
}

/// Returns the id, and the offset of the result, if a response starts with the keys `jsonrpc`, `id` and `result` in
/// this order, and the id consists of digits, as most servers write them. Returns `None` for any other message.
///
/// Comparing these keys in place of reading them, here and in [`decode`](super::decode), saves 2,000 instructions a response, a
/// fifth of a call.
fn usual_start(bytes: &[u8]) -> Option<(u64, usize)> {
    const BEFORE: &[u8] = br#"{"jsonrpc":"2.0","id":"#;
    const BETWEEN: &[u8] = br#","result":"#;
    let rest = bytes.strip_prefix(BEFORE)?;
    let digits = rest.iter().take(20).take_while(|b| b.is_ascii_digit()).count();
    let (id, rest) = rest.split_at(digits);
    let id = id.iter().try_fold(0u64, |id, digit| id.checked_mul(10)?.checked_add(u64::from(digit - b'0')))?;
    (digits > 0 && rest.starts_with(BETWEEN)).then_some((id, BEFORE.len() + digits + BETWEEN.len()))
}

/// Returns the method, and the offset of the parameters, if a message starts with the keys `jsonrpc`, `method` and `params`
/// in this order, as most servers write notifications. Returns `None` for any other message.
///
/// Comparing these keys in place of reading them, here and in [`decode`](super::decode), saves 1,700 instructions a
/// notification, three tenths of its cost in the engine.
pub(super) fn usual_notification(bytes: &[u8]) -> Option<(MethodName, usize)> {
    const BEFORE: &[u8] = br#"{"jsonrpc":"2.0","method":""#;
    const BETWEEN: &[u8] = br#"","params":"#;
    let rest = bytes.strip_prefix(BEFORE)?;
    let len = rest.iter().take_while(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'_')).count();
    let method = BEFORE.len()..BEFORE.len() + len;
    rest[len..].starts_with(BETWEEN).then_some((MethodName(method), BEFORE.len() + len + BETWEEN.len()))
}

/// Returns the kind of a response with this id. `result` is the offset of its result.
fn response(id: WireId<'_>, result: Option<usize>) -> ReceivedKind {
    match id.number() {
        Some(id) => ReceivedKind::Response(Response { id, result, is_usual: false }),
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
mod tests;
