//! [`Head`]: the status and the headers of an HTTP response. [`Response`]: reads its body in pieces, and extracts the messages.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::command::ExchangeId;
use super::header_values::media_type;
use super::retry_after::wait_until_retry;
use super::sse_decoder::{SseDecoder, SseEvent};
use crate::rpc::{Received, RpcError, decode};
use crate::transport_error::{Failure, HttpError};
use mcpwire_text::json::scan::member;
use mcpwire_text::{BOM, excerpt, json};

pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// Number of bytes kept from the start of a message that exceeds the size limit: 1 KiB, enough to find the JSON-RPC id.
const OVERLONG_HEAD: usize = 1024;

/// What the body of a successful HTTP response must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpectedBody {
    /// A JSON-RPC message or batch as JSON, or an event stream with such messages.
    Messages,
    /// An event stream.
    Events,
    /// Nothing. The engine discards the body.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BodyLimits {
    /// Maximum length of one JSON-RPC message or batch, in bytes.
    pub(super) message: usize,
    /// Maximum number of bytes to keep of the body of an HTTP error response. The engine discards further bytes.
    pub(super) error: usize,
}

/// Something that happened in an HTTP exchange, and that the engine has not handled yet.
pub(super) enum StreamItem {
    Message(Vec<u8>),
    /// A message that exceeds the size limit: only its beginning.
    Overlong(Vec<u8>),
    /// The URL to which the client posts messages, as an HTTP+SSE server sent it. May be relative.
    Endpoint(Vec<u8>),
    /// The engine has handled a message of this exchange, and the embedder has polled all events that the message
    /// caused.
    MessageHandled,
    /// The HTTP exchange has ended. Without a [`Failure`], the response is complete.
    Ended(Option<Failure>),
}

/// What happened in the HTTP exchanges and the engine has not handled yet, in order of arrival.
pub(super) type Inbox = VecDeque<(ExchangeId, StreamItem)>;

/// The received part of an HTTP response.
#[derive(Default)]
pub(super) struct Response {
    /// The HTTP status code, or `None` until the head of the response has arrived.
    pub(super) status: Option<u16>,
    body: Body,
}

#[derive(Default)]
enum Body {
    /// The engine discards the body. This is also the initial value, before the head of the response has arrived.
    #[default]
    Ignored,
    /// The part that has arrived of a JSON body. The body is one JSON-RPC message or batch.
    Json(Vec<u8>),
    Events(Box<SseDecoder>),
    /// The body of an HTTP error response, or of a response with an unexpected content type or a content encoding.
    Unexpected(Box<UnexpectedBody>),
}

struct UnexpectedBody {
    head: Head,
    /// The beginning of the response body, at most [`BodyLimits::error`] bytes.
    bytes: Vec<u8>,
    /// Whether the body is longer than `bytes`.
    is_truncated: bool,
}

impl UnexpectedBody {
    fn text(&self) -> &[u8] {
        self.bytes.strip_prefix(BOM).unwrap_or(&self.bytes)
    }

    /// Returns the value of the `Content-Type` header for an error message, with a note if the body has a
    /// `Content-Encoding`.
    fn content_type(&self) -> String {
        let mut content_type = excerpt(self.head.content_type.as_bytes());
        if let Some(encoding) = &self.head.encoding {
            content_type.push_str(" that is encoded, which was not asked for, as ");
            content_type.push_str(&excerpt(encoding.as_bytes()));
        }
        content_type
    }
}

impl Response {
    /// Returns whether the head of the response has arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.status.is_some()
    }

    pub(super) fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    pub(super) fn is_event_stream(&self) -> bool {
        matches!(self.body, Body::Events(_))
    }

    pub(super) fn is_ignored(&self) -> bool {
        matches!(self.body, Body::Ignored) && self.has_begun()
    }

    pub(super) fn decoder(&self) -> Option<&SseDecoder> {
        match &self.body {
            Body::Events(decoder) => Some(decoder),
            _ => None,
        }
    }

    pub(super) fn begin(&mut self, head: Head, expected: ExpectedBody, limits: BodyLimits) {
        self.status = Some(head.status);
        let media = media_type(&head.content_type).to_ascii_lowercase();
        let is_empty = expected == ExpectedBody::Nothing || matches!(head.status, 202 | 204 | 205);
        let is_json = media.is_empty() || media == "application/json" || media.ends_with("+json");
        let is_readable = head.is_success() && head.encoding.is_none();
        self.body = if head.is_success() && is_empty {
            Body::Ignored
        } else if is_readable && media == EVENT_STREAM {
            Body::Events(Box::new(SseDecoder::new(limits.message)))
        } else if is_readable && is_json && expected == ExpectedBody::Messages {
            Body::Json(Vec::new())
        } else {
            Body::Unexpected(Box::new(UnexpectedBody { head, bytes: Vec::new(), is_truncated: false }))
        };
    }

    /// Reads the next bytes of the response body, and appends the messages that they complete to `inbox`.
    ///
    /// Returns `true` if the body is an event stream and the bytes completed a message.
    pub(super) fn read(&mut self, from: ExchangeId, mut bytes: &[u8], limits: BodyLimits, inbox: &mut Inbox) -> bool {
        let mut has_message = false;
        match &mut self.body {
            Body::Ignored => {}
            Body::Json(message) if message.len() + bytes.len() > limits.message => {
                let mut head = mem::take(message);
                head.extend_from_slice(&bytes[..bytes.len().min(BOM.len() + OVERLONG_HEAD)]);
                remove_bom(&mut head);
                head.truncate(OVERLONG_HEAD);
                self.body = Body::Ignored;
                inbox.push_back((from, StreamItem::Overlong(head)));
            }
            Body::Json(message) => message.extend_from_slice(bytes),
            Body::Unexpected(body) => {
                let room = limits.error.saturating_sub(body.bytes.len()).min(bytes.len());
                body.bytes.extend_from_slice(&bytes[..room]);
                body.is_truncated |= room < bytes.len();
            }
            Body::Events(decoder) => {
                while let Some(mut event) = decoder.next(&mut bytes) {
                    remove_bom(&mut event.data);
                    has_message |= !event.is_blank();
                    inbox.extend(received(event).map(|item| (from, item)));
                }
            }
        }
        has_message
    }

    /// Handles the end of a complete body. If the body contains a last message that is not in `inbox` yet, appends the
    /// message to `inbox`.
    pub(super) fn end(&mut self, from: ExchangeId, inbox: &mut Inbox) {
        match &mut self.body {
            Body::Json(message) => {
                let mut bytes = mem::take(message);
                remove_bom(&mut bytes);
                if !bytes.trim_ascii().is_empty() {
                    inbox.push_back((from, StreamItem::Message(bytes)));
                }
            }
            // A last event without its blank line is accepted if its data is complete JSON.
            Body::Events(decoder) => {
                let Some(mut event) = decoder.rest() else { return };
                remove_bom(&mut event.data);
                if json::is_json(&event.data) {
                    inbox.extend(received(event).map(|item| (from, item)));
                }
            }
            Body::Ignored | Body::Unexpected(_) => {}
        }
    }

    /// Converts an HTTP response that does not contain the expected JSON-RPC response to an error.
    pub(super) fn into_error(self) -> HttpError {
        let status = self.status.unwrap_or_default();
        let Body::Unexpected(body) = self.body else { return HttpError::NoAnswer { status, attempts: 0 } };
        let (excerpt, retry_after) = (excerpt(body.text().trim_ascii()), body.head.retry_after());
        match status {
            401 | 403 => HttpError::Unauthorized { status, challenges: body.head.challenges, excerpt, retry_after },
            200..300 => HttpError::ContentType { status, found: body.content_type(), excerpt },
            _ => HttpError::Status { status, excerpt, retry_after },
        }
    }

    pub(super) fn retry_after(&self) -> Option<Duration> {
        match &self.body {
            Body::Unexpected(body) => body.head.retry_after(),
            _ => None,
        }
    }

    /// Parses the body of an HTTP error response as a JSON-RPC error. Returns `None` if the body is not a JSON-RPC
    /// error.
    ///
    /// The `bool` says whether the `id` of the JSON-RPC error is `request`.
    pub(super) fn rpc_error(&self, request: Option<u64>) -> Option<(RpcError, bool)> {
        let Body::Unexpected(body) = &self.body else { return None };
        if body.is_truncated || self.is_success() || member(body.text(), "jsonrpc").is_none() {
            return None;
        }
        let error = decode::orphan_error(body.text())?;
        let id = Received::new(body.text()).response().map(|response| response.id);
        let has_id = id.is_some() && id == request;
        Some((error, has_id))
    }
}

/// Removes a byte order mark from the start of a message.
fn remove_bom(message: &mut Vec<u8>) {
    if message.starts_with(BOM) {
        message.drain(..BOM.len());
    }
}

/// Converts a server-sent event to what the engine handles. Returns `None` for events with an unknown name and
/// for messages without data.
fn received(event: SseEvent) -> Option<StreamItem> {
    match event.name.as_str() {
        "endpoint" => Some(StreamItem::Endpoint(event.data)),
        "" | "message" if event.is_truncated => Some(StreamItem::Overlong(event.data)),
        "" | "message" if !event.is_blank() => Some(StreamItem::Message(event.data)),
        _ => None,
    }
}

/// Maximum length in bytes of the value of a response header: 8 KiB. The engine ignores headers with longer values.
///
/// Authentication challenges of known servers are shorter than 1 KiB, and session ids are shorter than 200 bytes.
const MAX_VALUE: usize = 8 * 1024;

/// Maximum number of `WWW-Authenticate` headers that are stored: 8. Servers send one for each authentication scheme
/// that they support.
const MAX_CHALLENGES: usize = 8;

/// The status of an HTTP response, and the headers that the protocol uses.
#[derive(Default)]
pub(super) struct Head {
    pub(super) status: u16,
    /// The value of the `Content-Type` header. Empty if the header is missing.
    pub(super) content_type: String,
    /// The value of the `Content-Encoding` header. `None` if the header is missing or `identity`.
    pub(super) encoding: Option<String>,
    /// The value of the `Mcp-Session-Id` header. `None` if the header is missing or invalid.
    pub(super) session_id: Option<String>,
    /// The values of the `WWW-Authenticate` headers, at most [`MAX_CHALLENGES`]. Empty if there are none.
    pub(super) challenges: Vec<String>,
    /// The values of the headers `Retry-After` and `Date`. Empty if the header is missing or the status is a success.
    retry_after: String,
    date: String,
}

impl Head {
    pub(super) fn new(status: u16) -> Self {
        Head { status, ..Head::default() }
    }

    /// Stores a header. Ignores headers that the protocol does not use, and values longer than [`MAX_VALUE`].
    pub(super) fn add(&mut self, name: &str, value: &[u8]) {
        if value.len() > MAX_VALUE {
            return;
        }
        let text = || String::from_utf8_lossy(value.trim_ascii()).into_owned();
        if name.eq_ignore_ascii_case("content-type") {
            self.content_type = text();
        } else if name.eq_ignore_ascii_case("content-encoding") {
            self.encoding = Some(text()).filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"));
        } else if name.eq_ignore_ascii_case("mcp-session-id") {
            // "MUST only contain visible ASCII characters": the client could not send any other id back.
            let is_visible = !value.is_empty() && value.iter().all(|byte| matches!(byte, b'!'..=b'~'));
            self.session_id = is_visible.then(text);
        } else if name.eq_ignore_ascii_case("www-authenticate") && self.challenges.len() < MAX_CHALLENGES {
            self.challenges.push(text());
        } else if !self.is_success() && name.eq_ignore_ascii_case("retry-after") {
            self.retry_after = text();
        } else if !self.is_success() && name.eq_ignore_ascii_case("date") {
            self.date = text();
        }
    }

    /// Returns how long the server asks the client to wait before the next attempt.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        wait_until_retry(&self.retry_after, &self.date)
    }

    /// Returns whether the status is from 200 to 299.
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
