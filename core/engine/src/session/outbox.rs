//! [`Outbox`]: the messages of the client that wait to be sent.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::frame::TransmitBuffer;
use crate::rpc::WireId;
use crate::rpc::write::{self, Meta, ParamsError, ParamsWriter};
use mcpwire_text::json::Json;
use mcpwire_text::json::append::{push, push_number, push_string};
use mcpwire_text::json::scan::member;
use mcpwire_types::ProtocolVersion;

const CANCELLED: &str = "notifications/cancelled";

/// The messages of the client that wait to be sent, in one buffer. A newline ends each of them.
///
/// A byte stream takes any number of bytes ([`Self::bytes`]). A transport that sends each message in a unit of its own takes
/// messages ([`Self::next`]), and says so in advance ([`Self::of_messages`]).
#[derive(Default)]
pub(crate) struct Outbox {
    buffer: TransmitBuffer,
    /// Kind and length of each message in `buffer`. `None` for a byte stream, which does not need them.
    messages: Option<VecDeque<(OutgoingKind, usize)>>,
    /// While `buffer` contains this many bytes or more, the session does not answer requests of the server. `None` if the
    /// transport sets no limit.
    answer_limit: Option<usize>,
}

/// A message to send, without a newline at its end.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) kind: OutgoingKind,
    /// Empty for [`OutgoingKind::Abandoned`].
    pub(crate) message: Vec<u8>,
}

/// What a message to send is.
#[derive(Debug)]
pub(crate) enum OutgoingKind {
    Request(OutgoingRequest),
    /// A notification with this method, except [`OutgoingKind::Cancelled`].
    Notification(String),
    /// `notifications/cancelled` for the request with this JSON-RPC id.
    Cancelled(u64),
    /// An answer to a request of the server.
    Answer,
    /// No message: the client needs no response to the request with this JSON-RPC id any more, because the request was
    /// cancelled or timed out. A notification for the server may follow.
    Abandoned(u64),
}

/// What a transport must know of a request, beside its text.
#[derive(Clone, Debug)]
pub(crate) struct OutgoingRequest {
    pub(crate) id: u64,
    pub(crate) method: Cow<'static, str>,
    /// The position of the parameters in the message: a JSON object without `_meta` and the closing brace. Empty if the
    /// request has no parameters.
    pub(crate) params: Range<usize>,
    /// The modern protocol version that the request declares (from revision 2026-07-28). `None` for a legacy version.
    pub(crate) version: Option<ProtocolVersion>,
    /// Whether the caller allows the server to execute the request twice.
    pub(crate) is_repeatable: bool,
}

/// What [`Outbox::request`] must know of a request, beside its parameters.
#[derive(Clone, Copy)]
pub(super) struct RequestHead<'a> {
    pub(super) id: u64,
    pub(super) method: &'a Cow<'static, str>,
    pub(super) version: Option<ProtocolVersion>,
    pub(super) is_repeatable: bool,
}

/// Methods that add messages.
impl Outbox {
    /// Adds a request. If that fails, adds nothing.
    ///
    /// Returns the position of the parameters for [`Self::text`], without `_meta` and the closing brace. It is valid until
    /// the next call of another method.
    pub(super) fn request(
        &mut self,
        head: RequestHead<'_>,
        params: ParamsWriter<'_>,
        meta: Meta<'_>,
    ) -> Result<Range<usize>, ParamsError> {
        let start = self.len();
        let params = write::request(self.buffer.buffer(), head.id, head.method, params, meta)?;
        self.record(start, |_| {
            OutgoingKind::Request(OutgoingRequest {
                id: head.id,
                method: head.method.clone(),
                params: params.start - start..params.end - start,
                version: head.version,
                is_repeatable: head.is_repeatable,
            })
        });
        Ok(params)
    }

    /// Adds a notification of the program. If that fails, adds nothing.
    pub(super) fn notification(&mut self, method: &str, params: ParamsWriter<'_>) -> Result<(), ParamsError> {
        self.push_notification(method, params, |message| {
            let cancelled = if method == CANCELLED { cancelled_request(message) } else { None };
            cancelled.map_or_else(|| OutgoingKind::Notification(method.to_string()), OutgoingKind::Cancelled)
        })
    }

    /// Adds `notifications/cancelled` for the request with the JSON-RPC id `id`.
    pub(super) fn cancelled(&mut self, id: u64, reason: Option<&str>) {
        let params = |out: &mut Vec<u8>| {
            push(out, b"{\"requestId\":");
            push_number(out, id);
            if let Some(reason) = reason {
                push(out, b",\"reason\":");
                push_string(out, reason);
            }
            push(out, b"}");
            Ok(())
        };
        // These parameters cannot fail to serialize.
        let _ = self.push_notification(CANCELLED, &params, |_| OutgoingKind::Cancelled(id));
    }

    fn push_notification(
        &mut self,
        method: &str,
        params: ParamsWriter<'_>,
        kind: impl FnOnce(&[u8]) -> OutgoingKind,
    ) -> Result<(), ParamsError> {
        let start = self.len();
        write::notification(self.buffer.buffer(), method, params)?;
        self.record(start, kind);
        Ok(())
    }

    /// Adds [`OutgoingKind::Abandoned`] for the request with the JSON-RPC id `id`.
    pub(super) fn abandoned(&mut self, id: u64) {
        self.record(self.len(), |_| OutgoingKind::Abandoned(id));
    }

    /// Adds an answer to a request of the server. `id` is the JSON text of the request's id, and `result` must append a JSON
    /// object. If that fails, adds nothing.
    pub(super) fn answer(&mut self, id: &str, result: ParamsWriter<'_>) -> Result<(), ParamsError> {
        let start = self.len();
        write::result(self.buffer.buffer(), id, result)?;
        self.record(start, |_| OutgoingKind::Answer);
        Ok(())
    }

    /// Adds an error as the answer to a request of the server. `id` is the JSON text of the request's id.
    pub(super) fn error(&mut self, id: &str, code: i64, message: &str, data: Option<&Json>) {
        let start = self.len();
        write::error(self.buffer.buffer(), id, code, message, data);
        self.record(start, |_| OutgoingKind::Answer);
    }

    /// Records the message that was written to the buffer from `start` on.
    fn record(&mut self, start: usize, kind: impl FnOnce(&[u8]) -> OutgoingKind) {
        if let Some(messages) = &mut self.messages {
            let message = &self.buffer.buffer()[start..];
            messages.push_back((kind(message), message.len()));
        }
    }
}

/// What the parts of the session ask.
impl Outbox {
    /// Returns the size of the buffer, in bytes. It includes bytes that a byte stream has already taken, until the outbox
    /// removes them.
    pub(super) fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Returns whether the transport accepts answers to requests of the server.
    pub(super) fn takes_answers(&self) -> bool {
        self.answer_limit.is_none_or(|limit| self.len() < limit)
    }

    /// Returns what [`Self::request`] has written.
    pub(super) fn text(&self, range: Range<usize>) -> &[u8] {
        self.buffer.text(range)
    }
}

/// What a byte stream uses.
impl Outbox {
    /// Returns the bytes that have not been sent.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.pending()
    }

    /// Removes the first `n` bytes, which were sent.
    pub(crate) fn sent(&mut self, n: usize) {
        self.buffer.sent(n);
    }

    /// Frees the buffer if it is empty.
    pub(crate) fn release_if_empty(&mut self) {
        self.buffer.release_if_empty();
    }

    /// Removes all messages.
    pub(crate) fn clear(&mut self) {
        self.buffer.clear();
        if let Some(messages) = &mut self.messages {
            messages.clear();
        }
    }
}

/// What a transport uses that sends each message in a unit of its own.
#[cfg(feature = "http")]
impl Outbox {
    /// Creates an outbox for [`Self::next`].
    pub(crate) fn of_messages() -> Self {
        Outbox { messages: Some(VecDeque::new()), ..Outbox::default() }
    }

    /// Removes and returns the next message, or returns `None` if there is none.
    pub(crate) fn next(&mut self) -> Option<Outgoing> {
        let (kind, len) = self.messages.as_mut()?.pop_front()?;
        let message = self.buffer.pending().get(..len.saturating_sub(1)).unwrap_or_default().to_vec();
        self.buffer.sent(len);
        Some(Outgoing { kind, message })
    }

    /// Sets the size of the buffer, in bytes, at which the session stops to answer requests of the server.
    pub(crate) fn limit_answers(&mut self, limit: usize) {
        self.answer_limit = Some(limit);
    }

    /// Frees the memory of the outbox if it contains no message.
    pub(crate) fn release_buffers(&mut self) {
        self.release_if_empty();
        if let Some(messages) = &mut self.messages {
            messages.shrink_to_fit();
        }
    }
}

impl fmt::Debug for Outbox {
    /// Formats the outbox without its messages, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outbox({} bytes)", self.bytes().len())
    }
}

/// Returns the JSON-RPC id of the request that a `notifications/cancelled` message cancels, or `None` if the id is
/// invalid.
fn cancelled_request(message: &[u8]) -> Option<u64> {
    WireId(member(member(message, "params")?, "requestId")?).number()
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;
    use crate::rpc::write::NO_PARAMS;

    #[test]
    fn messages_are_handed_out_one_by_one() {
        let mut outbox = Outbox::of_messages();
        let method = Cow::Borrowed("tools/call");
        let head = RequestHead { id: 7, method: &method, version: None, is_repeatable: true };
        let params =
            |out: &mut Vec<u8>| write::push_object(out, &alloc::collections::BTreeMap::from([("name", "a\nb")]));
        let meta = Meta { progress_token: Some(7), ..Meta::default() };
        let range = outbox.request(head, &params, meta).unwrap();
        assert_eq!(outbox.text(range), br#"{"name":"a\nb""#);
        outbox.abandoned(7);
        outbox.cancelled(7, None);
        outbox.answer("1", NO_PARAMS).unwrap();
        let Some(Outgoing { kind: OutgoingKind::Request(request), message }) = outbox.next() else { panic!() };
        assert_eq!((request.id, &*request.method, request.is_repeatable), (7, "tools/call", true));
        assert_eq!(&message[request.params], br#"{"name":"a\nb""#);
        assert!(message.ends_with(b"}}}"));
        let kinds: Vec<_> = core::iter::from_fn(|| outbox.next()).map(|next| next.kind).collect();
        assert!(matches!(kinds[..], [OutgoingKind::Abandoned(7), OutgoingKind::Cancelled(7), OutgoingKind::Answer]));
        assert_eq!(outbox.len(), 0);
    }

    #[test]
    fn a_request_without_parameters_has_an_empty_range() {
        let mut outbox = Outbox::of_messages();
        let method = Cow::Borrowed("ping");
        let head = RequestHead { id: 1, method: &method, version: None, is_repeatable: false };
        let range = outbox.request(head, NO_PARAMS, Meta::default()).unwrap();
        assert!(outbox.text(range).is_empty());
        let Some(Outgoing { kind: OutgoingKind::Request(request), message }) = outbox.next() else { panic!() };
        assert!(message[request.params].is_empty());
    }

    #[test]
    fn a_cancellation_by_the_program_names_its_request() {
        let mut outbox = Outbox::of_messages();
        for (params, cancelled) in [(r#"{"requestId":"5"}"#, true), (r#"{"requestId":[]}"#, false), ("{}", false)] {
            let params = Json::parse(params).unwrap();
            outbox.notification(CANCELLED, &|out: &mut Vec<u8>| write::push_object(out, &params)).unwrap();
            let kind = outbox.next().map(|next| next.kind);
            assert_eq!(matches!(kind, Some(OutgoingKind::Cancelled(5))), cancelled, "{kind:?}");
        }
    }
}
