//! Reads responses: the head, and a body in pieces.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use super::exchange::ExchangeId;
use super::headers::media_type;
use super::sse_decoder::{SseDecoder, SseEvent};
use crate::json;
use crate::json::scan::member;
use crate::rpc::peek::{Peek, peek};
use crate::rpc::{RpcError, decode};
use crate::text::{BOM, excerpt};
use crate::transport_error::{Failure, HttpError};

pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// The longest value of a header that is read. 8 KiB: challenges with a URL or two are below 1 KiB, session ids of known servers
/// below 200 bytes.
const MAX_VALUE: usize = 8 * 1024;

/// The most challenges that are kept. 8: one for each scheme that a server supports.
const MAX_CHALLENGES: usize = 8;

/// The number of bytes of an overlong message that are searched for the request that it answers.
const OVERLONG_HEAD: usize = 1024;

/// The head of a response, as far as the protocol uses it.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    content_type: String,
    /// The `Content-Encoding`, empty if there is none.
    encoding: String,
    /// The `Mcp-Session-Id`.
    pub(super) session: Option<String>,
    challenges: Vec<String>,
}

impl Head {
    pub(super) fn new(status: u16) -> Self {
        Head { status, content_type: String::new(), encoding: String::new(), session: None, challenges: Vec::new() }
    }

    /// Reads a header.
    pub(super) fn add(&mut self, name: &str, value: &[u8]) {
        if value.len() > MAX_VALUE {
            return;
        }
        let text = || String::from_utf8_lossy(value.trim_ascii()).into_owned();
        if name.eq_ignore_ascii_case("content-type") {
            self.content_type = text();
        } else if name.eq_ignore_ascii_case("content-encoding") {
            self.encoding = text();
        } else if name.eq_ignore_ascii_case("mcp-session-id") {
            // "MUST only contain visible ASCII characters": anything else could not be sent back.
            let is_visible = !value.is_empty() && value.iter().all(|byte| matches!(byte, b'!'..=b'~'));
            self.session = is_visible.then(text);
        } else if name.eq_ignore_ascii_case("www-authenticate") && self.challenges.len() < MAX_CHALLENGES {
            self.challenges.push(text());
        }
    }

    pub(super) fn is_success(&self) -> bool {
        is_success(self.status)
    }

    fn is_encoded(&self) -> bool {
        !self.encoding.is_empty() && !self.encoding.eq_ignore_ascii_case("identity")
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// What a successful response may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Messages, as JSON or as a stream of events.
    Messages,
    /// A stream of events.
    Events,
    /// Nothing that matters.
    Nothing,
}

/// How much is read of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyLimits {
    /// The longest message.
    pub(super) message: usize,
    /// The most bytes of an error response.
    pub(super) error: usize,
}

/// What the server sent, to be handled in its turn.
#[derive(Debug)]
pub(super) enum Received {
    Message {
        from: ExchangeId,
        bytes: Vec<u8>,
    },
    /// The beginning of a message that is too long.
    Overlong {
        from: ExchangeId,
        head: Vec<u8>,
    },
    /// The endpoint for messages of an HTTP+SSE server.
    Endpoint {
        from: ExchangeId,
        uri: Vec<u8>,
    },
    /// A message was handled with all of its events: the exchange may have served its purpose.
    MessageHandled {
        from: ExchangeId,
    },
    /// The response has ended, or failed.
    Ended {
        from: ExchangeId,
        failure: Option<Failure>,
    },
}

/// A response that is being read.
#[derive(Debug)]
pub(super) struct Response {
    /// 0 until the head has arrived.
    status: u16,
    body: Body,
}

#[derive(Debug)]
enum Body {
    /// The head has not arrived.
    NotBegun,
    /// A message in JSON.
    Json(Vec<u8>),
    Events(Box<SseDecoder>),
    /// An error response, or a response of an unexpected type.
    Unexpected(Box<UnexpectedBody>),
    Ignored,
}

#[derive(Debug)]
struct UnexpectedBody {
    content_type: String,
    challenges: Vec<String>,
    /// The beginning of the body.
    bytes: Vec<u8>,
    /// Whether the body was longer.
    is_cut: bool,
}

impl UnexpectedBody {
    /// Returns the beginning of the body, without a byte order mark.
    fn text(&self) -> &[u8] {
        self.bytes.strip_prefix(BOM).unwrap_or(&self.bytes)
    }
}

impl Response {
    pub(super) fn new() -> Self {
        Response { status: 0, body: Body::NotBegun }
    }

    pub(super) fn status(&self) -> u16 {
        self.status
    }

    pub(super) fn has_begun(&self) -> bool {
        self.status != 0
    }

    pub(super) fn is_success(&self) -> bool {
        is_success(self.status)
    }

    pub(super) fn is_event_stream(&self) -> bool {
        matches!(self.body, Body::Events(_))
    }

    /// Whether the rest of the body does not matter.
    pub(super) fn is_ignored(&self) -> bool {
        matches!(self.body, Body::Ignored)
    }

    pub(super) fn decoder(&self) -> Option<&SseDecoder> {
        match &self.body {
            Body::Events(decoder) => Some(decoder),
            _ => None,
        }
    }

    pub(super) fn begin(&mut self, head: &Head, expected: Expected, limits: BodyLimits) {
        self.status = head.status;
        let media = media_type(&head.content_type).to_ascii_lowercase();
        let is_empty = expected == Expected::Nothing || matches!(head.status, 202 | 204 | 205);
        self.body = if head.is_success() && is_empty {
            Body::Ignored
        } else if !head.is_success() || head.is_encoded() {
            unexpected(head)
        } else if media == EVENT_STREAM {
            Body::Events(Box::new(SseDecoder::new(limits.message)))
        } else if expected == Expected::Messages
            && (media.is_empty() || media == "application/json" || media.ends_with("+json"))
        {
            Body::Json(Vec::new())
        } else {
            unexpected(head)
        };
    }

    /// Reads the next bytes of the body. Returns whether an event with a message was among them.
    pub(super) fn read(
        &mut self,
        from: ExchangeId,
        mut bytes: &[u8],
        limits: BodyLimits,
        inbox: &mut VecDeque<Received>,
    ) -> bool {
        let mut has_message = false;
        match &mut self.body {
            Body::NotBegun | Body::Ignored => {}
            Body::Json(message) if message.len() + bytes.len() > limits.message => {
                let mut head = mem::take(message);
                head.extend_from_slice(&bytes[..bytes.len().min(BOM.len() + OVERLONG_HEAD)]);
                remove_bom(&mut head);
                head.truncate(OVERLONG_HEAD);
                self.body = Body::Ignored;
                inbox.push_back(Received::Overlong { from, head });
            }
            Body::Json(message) => message.extend_from_slice(bytes),
            Body::Unexpected(body) => {
                let room = limits.error.saturating_sub(body.bytes.len()).min(bytes.len());
                body.bytes.extend_from_slice(&bytes[..room]);
                body.is_cut |= room < bytes.len();
            }
            Body::Events(decoder) => {
                while let Some(mut event) = decoder.next(&mut bytes) {
                    remove_bom(&mut event.data);
                    has_message |= !event.is_blank();
                    inbox.extend(received(from, event));
                }
            }
        }
        has_message
    }

    /// Reads the end of a body that is complete.
    pub(super) fn end(&mut self, from: ExchangeId, inbox: &mut VecDeque<Received>) {
        match &mut self.body {
            Body::Json(message) => {
                let mut bytes = mem::take(message);
                remove_bom(&mut bytes);
                if !bytes.trim_ascii().is_empty() {
                    inbox.push_back(Received::Message { from, bytes });
                }
            }
            // A last event without its blank line counts if its message is whole; half a message is no answer.
            Body::Events(decoder) => {
                let Some(mut event) = decoder.rest() else { return };
                remove_bom(&mut event.data);
                if json::is_json(&event.data) {
                    inbox.extend(received(from, event));
                }
            }
            _ => {}
        }
    }

    /// Returns the error of a request that got no answer by this response.
    pub(super) fn error(&mut self, failure: Option<Failure>) -> HttpError {
        if let Some(failure) = failure {
            return HttpError::Failed(failure);
        }
        let status = self.status;
        let Body::Unexpected(body) = &mut self.body else { return HttpError::NoAnswer { status, attempts: 0 } };
        let excerpt = excerpt(body.text().trim_ascii());
        match status {
            401 | 403 => HttpError::Unauthorized { status, challenges: mem::take(&mut body.challenges), excerpt },
            200..300 => HttpError::ContentType { status, found: mem::take(&mut body.content_type), excerpt },
            _ => HttpError::Status { status, excerpt },
        }
    }

    /// Parses an HTTP error body as a JSON-RPC error. Also returns whether its id is that of `request`.
    pub(super) fn rpc_error(&self, request: Option<u64>) -> Option<(RpcError, bool)> {
        let Body::Unexpected(body) = &self.body else { return None };
        if body.is_cut || self.is_success() || member(body.text(), "jsonrpc").is_none() {
            return None;
        }
        let error = decode::orphan_error(body.text())?;
        let has_id =
            matches!(peek(body.text()), Peek::Response { id } if id.number().is_some() && id.number() == request);
        Some((error, has_id))
    }
}

fn unexpected(head: &Head) -> Body {
    let mut content_type = excerpt(head.content_type.as_bytes());
    if head.is_encoded() {
        content_type.push_str(" that is encoded, which was not asked for, as ");
        content_type.push_str(&excerpt(head.encoding.as_bytes()));
    }
    let challenges = head.challenges.clone();
    Body::Unexpected(Box::new(UnexpectedBody { content_type, challenges, bytes: Vec::new(), is_cut: false }))
}

/// Removes a byte order mark from the start of a message.
fn remove_bom(message: &mut Vec<u8>) {
    if message.starts_with(BOM) {
        message.drain(..BOM.len());
    }
}

fn received(from: ExchangeId, event: SseEvent) -> Option<Received> {
    match event.name.as_str() {
        "endpoint" => Some(Received::Endpoint { from, uri: event.data }),
        "" | "message" if event.is_cut => Some(Received::Overlong { from, head: event.data }),
        "" | "message" if !event.is_blank() => Some(Received::Message { from, bytes: event.data }),
        _ => None,
    }
}
