//! From the parts of responses to messages.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::engine::Engine;
use super::error::Failure;
use super::exchange::ExchangeId;
use super::headers::media_type;
use super::open::{Arrived, Body, Open, Purpose, Refusal};
use super::outgoing::EVENT_STREAM;
use super::sse::{SseDecoder, SseEvent};
use crate::json;
use crate::rpc::PeerError;
use crate::rpc::peek::{Peek, peek};
use crate::session::RequestFault;

/// The longest value of a header that is kept. Challenges with a URI or two are below 1 KiB, session ids of known servers
/// below 200 bytes.
const MAX_VALUE: usize = 8 * 1024;

/// The most challenges that are kept: one for each scheme that a server knows.
const MAX_CHALLENGES: usize = 8;

/// How much of a message that is too long is looked at for the request that it answers.
const HEAD: usize = 1024;

/// The head of a response, as far as the protocol knows of it.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) content_type: String,
    /// How the body is encoded (`Content-Encoding`), if it says that it is.
    pub(super) encoding: String,
    pub(super) session: Option<String>,
    pub(super) challenges: Vec<String>,
}

impl Head {
    pub(super) fn new(status: u16) -> Self {
        Head { status, content_type: String::new(), encoding: String::new(), session: None, challenges: Vec::new() }
    }

    pub(super) fn take(&mut self, name: &str, value: &[u8]) {
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
            let visible = !value.is_empty() && value.iter().all(|byte| matches!(byte, b'!'..=b'~'));
            self.session = visible.then(text);
        } else if name.eq_ignore_ascii_case("www-authenticate") && self.challenges.len() < MAX_CHALLENGES {
            self.challenges.push(text());
        }
    }
}

impl Engine {
    pub(super) fn head(&mut self, id: ExchangeId, head: Head) {
        let Some(open) = self.open.get_mut(&id).filter(|open| !open.is_over && open.status == 0) else { return };
        if head.status < 200 {
            return;
        }
        open.status = head.status;
        self.unsent -= core::mem::take(&mut open.unsent);
        open.body = begin(open, &head, self.session.config().max_message);
        let is_good = (200..300).contains(&head.status);
        match &open.purpose {
            Purpose::Request(asked) if &*asked.method == "initialize" && is_good => self.legacy.session = head.session,
            Purpose::Renew if is_good => self.legacy.session = head.session,
            Purpose::Message { method: Some(method) } if method == "notifications/initialized" => self.release(),
            Purpose::Listen => {
                let is_stream = matches!(open.body, Body::Events(_));
                self.listening(is_stream, head.status);
            }
            _ => {}
        }
    }

    pub(super) fn piece(&mut self, id: ExchangeId, mut bytes: &[u8]) {
        let max_refusal = self.settings.max_refusal;
        let limit = self.session.config().max_message;
        let Some(open) = self.open.get_mut(&id).filter(|open| !open.is_over) else { return };
        match &mut open.body {
            Body::Awaited | Body::Ignored => {}
            Body::Json(message) if message.len() + bytes.len() > limit => {
                let mut head = core::mem::take(message);
                head.extend_from_slice(&bytes[..bytes.len().min(HEAD)]);
                head.truncate(HEAD);
                open.body = Body::Ignored;
                self.inbox.push_back(Arrived::Overlong { from: id, head });
            }
            Body::Json(message) => message.extend_from_slice(bytes),
            Body::Refusal(refusal) => {
                let room = (max_refusal - refusal.text.len()).min(bytes.len());
                refusal.text.extend_from_slice(&bytes[..room]);
                refusal.is_cut |= room < bytes.len();
            }
            Body::Events(decoder) => {
                let mut said_something = false;
                while let Some(event) = decoder.next(&mut bytes) {
                    said_something |= !event.is_blank();
                    self.inbox.extend(arrived(id, event));
                }
                self.progressed(id, said_something);
            }
        }
    }

    pub(super) fn over(&mut self, id: ExchangeId, failure: Option<Failure>) {
        let Some(open) = self.open.get_mut(&id).filter(|open| !open.is_over) else { return };
        if self.is_shut {
            // Nobody asks for events any more.
            self.remove(id);
            self.end_session_in_turn();
            return;
        }
        open.is_over = true;
        self.unsent -= core::mem::take(&mut open.unsent);
        match &mut open.body {
            Body::Json(message) if failure.is_none() => {
                let bytes = core::mem::take(message);
                if !bytes.trim_ascii().is_empty() {
                    self.inbox.push_back(Arrived::Message { from: id, bytes });
                }
            }
            // A last event without its blank line counts if its message is whole; half a message is no answer.
            Body::Events(decoder) if failure.is_none() => {
                let rest = decoder.rest().filter(|event| json::is_json(&event.data));
                self.inbox.extend(rest.and_then(|event| arrived(id, event)));
            }
            _ => {}
        }
        self.inbox.push_back(Arrived::Ended { from: id, failure });
    }

    /// Looks at the next thing that came.
    pub(super) fn arrived(&mut self, arrived: Arrived) {
        match arrived {
            Arrived::Message { from, bytes } => self.message(from, bytes),
            Arrived::Overlong { from, head } => self.overlong(from, &head),
            Arrived::Endpoint { from, uri } => self.endpoint(from, &uri),
            Arrived::Settled { from } => self.settled(from),
            Arrived::Ended { from, failure } => self.finished(from, failure),
        }
    }

    fn message(&mut self, from: ExchangeId, bytes: Vec<u8>) {
        let Some(open) = self.open.get(&from) else { return };
        match &open.purpose {
            Purpose::Renew => return self.renewed(from, &bytes),
            Purpose::Relist(_) => return self.relisted(from, &bytes),
            Purpose::Request(asked) if &*asked.method == "tools/list" => {
                self.tools.learn(&bytes, None);
            }
            Purpose::Request(asked) if !asked.repeated && self.is_modern() && &*asked.method == "tools/call" => {
                if let Some(error) = super::relist::mismatch(&bytes, asked.id) {
                    return self.relist(from, error);
                }
            }
            _ => {}
        }
        self.session.receive(bytes, self.now, self.out.buffer());
        self.inbox.push_front(Arrived::Settled { from });
    }

    /// An answer that is too long fails its request, and no other. A body is left then; a stream goes on.
    fn overlong(&mut self, from: ExchangeId, head: &[u8]) {
        let Some(open) = self.open.get(&from) else { return };
        let (limit, now) = (self.session.config().max_message, self.now);
        match (open.request(), &open.body) {
            (Some(id), Body::Ignored) => {
                let fault = RequestFault::Invalid(PeerError::too_long(limit, head));
                self.session.fail(id, fault, now, self.out.buffer());
                self.abort(from);
            }
            (Some(id), _) if !matches!(peek(head), Peek::Response { id } if id.number().is_some()) => {
                let fault = RequestFault::Invalid(PeerError::too_long(limit, head));
                self.session.fail(id, fault, now, self.out.buffer());
            }
            _ => self.session.receive_overlong(head, now, self.out.buffer()),
        }
    }

    /// A stream whose request has been answered is left a moment for the server to end it, which leaves the connection whole.
    fn settled(&mut self, from: ExchangeId) {
        let Some(open) = self.open.get_mut(&from).filter(|open| !open.is_over && !open.is_leaving) else { return };
        let Purpose::Request(asked) = &open.purpose else { return };
        if matches!(open.body, Body::Events(_)) && !self.session.waits_for(asked.id) {
            open.is_leaving = true;
            self.legacy.leave(from, self.now);
        }
    }

    /// A response has ended, and all that it brought has been looked at.
    fn finished(&mut self, from: ExchangeId, failure: Option<Failure>) {
        let Some(mut open) = self.remove(from) else { return };
        match core::mem::replace(&mut open.purpose, Purpose::Delete) {
            Purpose::Request(asked) if !self.session.waits_for(asked.id) => {}
            Purpose::Request(asked) => self.unanswered(asked, open, failure),
            Purpose::Delivery(asked) => self.delivered(&asked, open, failure),
            Purpose::Message { method } => self.undelivered(method, open, failure),
            Purpose::Listen => self.listened(from),
            Purpose::Events => self.events_ended(open, failure),
            Purpose::Renew => self.not_renewed(from, open, failure),
            Purpose::Relist(relist) => self.retry(*relist),
            Purpose::Delete => {}
        }
    }
}

/// What the head of a response says of its body.
fn begin(open: &Open, head: &Head, limit: usize) -> Body {
    let is_encoded = !head.encoding.is_empty() && !head.encoding.eq_ignore_ascii_case("identity");
    let refusal = || {
        let mut content_type = crate::text::excerpt(head.content_type.as_bytes());
        if is_encoded {
            content_type.push_str(" that is encoded, which was not asked for, as ");
            content_type.push_str(&crate::text::excerpt(head.encoding.as_bytes()));
        }
        let challenges = head.challenges.clone();
        Body::Refusal(Box::new(Refusal { content_type, challenges, ..Refusal::default() }))
    };
    if !(200..300).contains(&head.status) {
        return refusal();
    }
    match &open.purpose {
        Purpose::Message { .. } | Purpose::Delivery(_) | Purpose::Delete => return Body::Ignored,
        _ if matches!(head.status, 202 | 204 | 205) => return Body::Ignored,
        _ => {}
    }
    let streams = matches!(open.purpose, Purpose::Listen | Purpose::Events);
    let media = media_type(&head.content_type).to_ascii_lowercase();
    if is_encoded {
        refusal()
    } else if media == EVENT_STREAM {
        Body::Events(Box::new(SseDecoder::new(limit)))
    } else if !streams && (media.is_empty() || media == "application/json" || media.ends_with("+json")) {
        Body::Json(Vec::new())
    } else {
        refusal()
    }
}

fn arrived(from: ExchangeId, event: SseEvent) -> Option<Arrived> {
    match event.name.as_str() {
        "endpoint" => Some(Arrived::Endpoint { from, uri: event.data }),
        "" | "message" if event.is_cut => Some(Arrived::Overlong { from, head: event.data }),
        "" | "message" if !event.is_blank() => Some(Arrived::Message { from, bytes: event.data }),
        _ => None,
    }
}
