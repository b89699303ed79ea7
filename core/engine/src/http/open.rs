//! What is known of each exchange that is under way.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::error::{Failure, HttpError};
use super::exchange::ExchangeId;
use super::relist::Relist;
use super::sse::SseDecoder;

/// An exchange that is under way.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) purpose: Purpose,
    pub(super) body: Body,
    /// 0 until the head of the response is there.
    pub(super) status: u16,
    /// Which session its headers named, counted from the first one of this engine.
    pub(super) session: Option<u32>,
    /// How long its own body is, until the response begins.
    pub(super) unsent: usize,
    /// Its end has been told; what it brought may still have to be looked at.
    pub(super) is_over: bool,
    /// Its answer is there, and the server has a moment to end the stream.
    pub(super) is_leaving: bool,
}

/// What an exchange is for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// It carries a request whose answer comes on it.
    Request(Asked),
    /// It carries a request whose answer comes on the stream of events (HTTP+SSE).
    Delivery(Asked),
    /// It carries something that has no answer; the method of a notification.
    Message { method: Option<String> },
    /// The stream on which legacy servers say what belongs to no request.
    Listen,
    /// The stream on which HTTP+SSE servers say everything.
    Events,
    /// Opens a session in place of one that the server has ended.
    Renew,
    /// Lists tools, because the server did not agree with the headers of a call.
    Relist(Box<Relist>),
    /// Ends a session.
    Delete,
}

/// A request, as far as its exchanges need to know it.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Its id on the wire.
    pub(super) id: u64,
    pub(super) method: Box<str>,
    /// The message, where it may have to be sent again.
    pub(super) message: Option<Vec<u8>>,
    /// The headers that repeat its arguments.
    pub(super) mirrored: Vec<(String, String)>,
    /// It may be carried out twice.
    pub(super) repeatable: bool,
    /// It has been sent again already.
    pub(super) repeated: bool,
    pub(super) cursor: Cursor,
}

/// How far a stream has come that may be taken up again.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    pub(super) last_id: String,
    pub(super) retry: Option<Duration>,
    /// How often it was taken up since it last brought something.
    pub(super) attempts: u32,
    /// How often in a row there was nobody to take it up with.
    pub(super) unreachable: u32,
}

/// What has come of a response.
#[derive(Debug)]
pub(super) enum Body {
    /// Not even its head.
    Awaited,
    /// A message.
    Json(Vec<u8>),
    /// A stream of events.
    Events(Box<SseDecoder>),
    /// A refusal, or something that is no message.
    Refusal(Box<Refusal>),
    /// Nobody wants to know.
    Ignored,
}

/// A response that is no answer.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    pub(super) content_type: String,
    pub(super) challenges: Vec<String>,
    pub(super) text: Vec<u8>,
    /// There was more of it.
    pub(super) is_cut: bool,
}

/// Something that came, and is to be looked at in its turn.
#[derive(Debug)]
pub(super) enum Arrived {
    /// A message.
    Message { from: ExchangeId, bytes: Vec<u8> },
    /// The beginning of a message that is too long.
    Overlong { from: ExchangeId, head: Vec<u8> },
    /// Where an HTTP+SSE server wants its messages.
    Endpoint { from: ExchangeId, uri: Vec<u8> },
    /// A message has been dealt with as a whole: the exchange that brought it may have served its purpose.
    Settled { from: ExchangeId },
    /// The response has ended, or failed.
    Ended { from: ExchangeId, failure: Option<Failure> },
}

impl Open {
    /// Whether the server is being told something that it has not heard yet, as far as is known.
    pub(super) fn tells_something(&self) -> bool {
        matches!(self.purpose, Purpose::Message { .. }) && self.status == 0 && !self.is_over
    }

    pub(super) fn new(purpose: Purpose, session: Option<u32>, unsent: usize) -> Self {
        Open { purpose, body: Body::Awaited, status: 0, session, unsent, is_over: false, is_leaving: false }
    }

    /// The id of the request that it serves.
    pub(super) fn request(&self) -> Option<u64> {
        match &self.purpose {
            Purpose::Request(asked) | Purpose::Delivery(asked) => Some(asked.id),
            Purpose::Relist(relist) => Some(relist.asked.id),
            _ => None,
        }
    }

    /// What its end says, if it brought no answer.
    pub(super) fn verdict(&mut self, failure: Option<Failure>) -> HttpError {
        if let Some(failure) = failure {
            return HttpError::Failed(failure);
        }
        let status = self.status;
        let Body::Refusal(refusal) = &mut self.body else { return HttpError::NoAnswer { status, attempts: 0 } };
        let excerpt = crate::text::excerpt(refusal.text.trim_ascii());
        let challenges = core::mem::take(&mut refusal.challenges);
        match status {
            401 | 403 => HttpError::Unauthorized { status, challenges, excerpt },
            200..300 => HttpError::ContentType { status, found: core::mem::take(&mut refusal.content_type), excerpt },
            _ => HttpError::Status { status, excerpt },
        }
    }
}
