//! Streams of legacy servers: the stream for what belongs to no request, and streams of requests that are resumed after they
//! broke off (2025-11-25, basic/transports, "Listening for Messages from the Server", "Resumability and Redelivery").

use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::exchange::ExchangeId;
use super::reopening::{Random, ResumePoint};
use super::request::Request;
use super::sse_decoder::SseDecoder;
use crate::time::Timestamp;

/// How long requests wait for the server's own stream. What servers ask during a call, they ask on this stream; what they ask
/// before it is open is lost, and the call waits for ever. 1 s: a connection with TLS and a round trip on slow networks. Only a
/// server that holds back the head of the stream until the first event uses it up.
const OPEN_FIRST: Duration = Duration::from_secs(1);

/// The server's own stream, and the streams that are to be resumed.
#[derive(Debug)]
pub(super) struct Streams {
    own: OwnStream,
    /// Where the server's own stream is resumed.
    own_resume: ResumePoint,
    /// Requests wait until the own stream is open or refused, at most until then.
    held_until: Option<Timestamp>,
    /// Requests whose stream broke off, and when the stream is resumed.
    broken: Vec<(Timestamp, Request)>,
    random: Random,
}

/// The stream for what belongs to no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnStream {
    NotRequested,
    /// It is not known whether the server offers it.
    Requested(ExchangeId),
    Open(ExchangeId),
    /// It was lost, and is requested again at that time.
    Waiting(Timestamp),
    /// The server does not offer it, or never sends anything on it.
    Unavailable,
}

impl Streams {
    pub(super) fn new(seed: u64) -> Self {
        Streams {
            own: OwnStream::NotRequested,
            own_resume: ResumePoint::default(),
            held_until: None,
            broken: Vec::new(),
            random: Random::new(seed),
        }
    }

    /// Whether the own stream was never requested in this session.
    pub(super) fn is_own_unrequested(&self) -> bool {
        self.own == OwnStream::NotRequested
    }

    pub(super) fn own_resume(&self) -> &ResumePoint {
        &self.own_resume
    }

    pub(super) fn own_requested(&mut self, id: ExchangeId) {
        self.own = OwnStream::Requested(id);
    }

    /// Lets requests wait for the own stream.
    pub(super) fn hold_requests(&mut self, now: Timestamp) {
        self.held_until = Some(now + OPEN_FIRST);
    }

    /// Whether requests wait.
    pub(super) fn is_holding(&self) -> bool {
        self.held_until.is_some()
    }

    /// Handles the head of the own stream. Servers without such a stream answer 405, or whatever they answer to an unknown
    /// request. A server error is temporary.
    pub(super) fn own_responded(&mut self, is_stream: bool, status: u16) {
        self.held_until = None;
        match self.own {
            OwnStream::Requested(id) if is_stream => self.own = OwnStream::Open(id),
            OwnStream::Requested(_) if status < 500 => self.own = OwnStream::Unavailable,
            _ => {}
        }
    }

    /// Handles that the own stream brought something.
    pub(super) fn own_progressed(&mut self, decoder: &SseDecoder, has_message: bool) {
        self.own_resume.progressed(decoder, has_message);
    }

    /// Handles the end of the own stream.
    pub(super) fn own_ended(&mut self, id: ExchangeId, now: Timestamp, max_attempts: u32) {
        if !matches!(self.own, OwnStream::Requested(own) | OwnStream::Open(own) if own == id) {
            return;
        }
        self.held_until = None;
        self.own = if self.own_resume.attempts() >= max_attempts {
            OwnStream::Unavailable
        } else {
            OwnStream::Waiting(self.own_resume.next_attempt(now, &mut self.random))
        };
    }

    /// Whether the own stream is to be requested again.
    pub(super) fn is_own_due(&self, now: Timestamp) -> bool {
        matches!(self.own, OwnStream::Waiting(at) if at <= now)
    }

    /// Forgets the own stream, because its session has ended. Returns the exchange to give up.
    pub(super) fn session_ended(&mut self) -> Option<ExchangeId> {
        self.own_resume = ResumePoint::default();
        self.held_until = None;
        match mem::replace(&mut self.own, OwnStream::NotRequested) {
            OwnStream::Requested(id) | OwnStream::Open(id) => Some(id),
            _ => None,
        }
    }

    /// Resumes the stream of a request later.
    pub(super) fn resume_later(&mut self, mut request: Request, now: Timestamp) {
        let at = request.resume.next_attempt(now, &mut self.random);
        self.broken.push((at, request));
    }

    /// Takes a request whose stream is to be resumed now.
    pub(super) fn next_to_resume(&mut self, now: Timestamp) -> Option<Request> {
        let at = self.broken.iter().position(|(at, _)| *at <= now)?;
        Some(self.broken.swap_remove(at).1)
    }

    /// Forgets a request that nobody waits for any more.
    pub(super) fn forget(&mut self, request: u64) {
        self.broken.retain(|(_, broken)| broken.id != request);
    }

    /// Stops to hold requests back for too long.
    pub(super) fn handle_timeout(&mut self, now: Timestamp) {
        self.held_until = self.held_until.filter(|until| *until > now);
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        let own = match self.own {
            OwnStream::Waiting(at) => Some(at),
            _ => None,
        };
        let broken = self.broken.iter().map(|(at, _)| *at).min();
        [self.held_until, own, broken].into_iter().flatten().min()
    }
}
