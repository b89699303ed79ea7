//! [`GetStream`]: the event stream that the client requests with GET from a legacy server (2025-11-25, basic/transports,
//! "Listening for Messages from the Server").

use core::mem;
use core::time::Duration;

use super::command::ExchangeId;
use super::context::Context;
use super::purpose::Purpose;
use super::resume_point::ResumePoint;
use super::sse_decoder::SseDecoder;
use crate::time::Timestamp;

/// How long requests wait for the stream to open. 1 s: enough for a connection with TLS and a round trip on slow networks.
///
/// Servers send their own requests during a call on this stream. A request that they send before the stream is open is lost, and
/// the call then waits for ever. The whole time passes only if a server sends no head before the first event.
const MAX_HOLD: Duration = Duration::from_secs(1);

/// The event stream for messages of the server that belong to no request of the client.
#[derive(Debug, Default)]
pub(super) struct GetStream {
    state: State,
    resume: ResumePoint,
    /// Requests wait until this time, or until the stream is open or refused.
    held_until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The stream was never requested in this session.
    #[default]
    Unused,
    /// The stream was requested, and the server has not answered.
    Requested(ExchangeId),
    Open(ExchangeId),
    /// The stream broke, and is requested again at this time.
    Waiting(Timestamp),
    /// The server does not offer the stream, or ended it too often without sending anything.
    Unavailable,
}

impl GetStream {
    /// Requests the stream in a new session, unless the embedder or the transport rules it out.
    pub(super) fn open(&mut self, context: &mut Context) {
        let is_wanted = context.settings.listen && self.state == State::Unused;
        if !is_wanted || context.endpoint.is_http_sse() || context.endpoint.is_modern() || !context.is_ready() {
            return;
        }
        self.request(context);
        let capabilities = &context.session.config().capabilities;
        let may_be_asked =
            capabilities.roots.is_some() || capabilities.sampling.is_some() || capabilities.elicitation.is_some();
        if may_be_asked {
            self.held_until = Some(context.now + MAX_HOLD);
        }
    }

    fn request(&mut self, context: &mut Context) {
        self.state = State::Requested(context.get(Purpose::GetStream, self.resume.last_event_id()));
    }

    /// Returns whether requests wait for the stream to open.
    pub(super) fn is_holding(&self) -> bool {
        self.held_until.is_some()
    }

    /// Handles the head of the response.
    ///
    /// Servers without this stream answer with 405, or as they answer any unknown request. A status from 500 on is temporary.
    pub(super) fn responded(&mut self, is_event_stream: bool, status: u16) {
        self.held_until = None;
        match self.state {
            State::Requested(id) if is_event_stream => self.state = State::Open(id),
            State::Requested(_) if status < 500 => self.state = State::Unavailable,
            _ => {}
        }
    }

    /// Handles bytes of the stream, which `decoder` has read. `has_message` says whether they completed a message.
    pub(super) fn progressed(&mut self, decoder: &SseDecoder, has_message: bool) {
        self.resume.progressed(decoder, has_message);
    }

    /// Handles the end of the stream, and schedules the next attempt.
    pub(super) fn ended(&mut self, id: ExchangeId, context: &mut Context) {
        if !matches!(self.state, State::Requested(own) | State::Open(own) if own == id) {
            return;
        }
        self.held_until = None;
        self.state = if self.resume.attempts() >= context.settings.max_attempts {
            State::Unavailable
        } else {
            State::Waiting(self.resume.next_attempt(context.now, &mut context.random))
        };
    }

    /// Aborts the stream because its session has ended. A new session may open it again.
    pub(super) fn session_ended(&mut self, context: &mut Context) {
        let GetStream { state, .. } = mem::take(self);
        if let State::Requested(id) | State::Open(id) = state {
            context.abort(id);
        }
    }

    /// Stops holding requests that have waited too long, and requests a broken stream again.
    pub(super) fn handle_timeout(&mut self, context: &mut Context) {
        self.held_until = self.held_until.filter(|until| *until > context.now);
        if matches!(self.state, State::Waiting(at) if at <= context.now) {
            self.request(context);
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        let reopening = match self.state {
            State::Waiting(at) => Some(at),
            _ => None,
        };
        [self.held_until, reopening].into_iter().flatten().min()
    }
}
