//! [`GetStream`]: the event stream that the client requests with `GET` from a legacy server (up to revision
//! 2025-11-25).
//!
//! Specification: protocol revision 2025-11-25, basic/transports, "Listening for Messages from the Server".

use core::mem;
use core::time::Duration;

use super::command::ExchangeId;
use super::context::Context;
use super::purpose::Purpose;
use super::resume_point::ResumePoint;
use super::sse_decoder::SseDecoder;
use crate::time::Timestamp;

/// How long the client holds its requests back while the `GET` event stream opens: 1 s, enough for a TLS connection and
/// a round trip on a slow network.
///
/// During a tool call, a server may send requests to the client on this stream. If the stream is not open yet, such a
/// server request is lost, and the tool call never completes.
const MAX_HOLD: Duration = Duration::from_secs(1);

/// The event stream on which a legacy server (up to revision 2025-11-25) sends messages that belong to no client
/// request.
#[derive(Debug, Default)]
pub(super) struct GetStream {
    state: State,
    resume: ResumePoint,
    /// Time until which the client's requests wait for the event stream to open. `None` if they do not wait.
    held_until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Unused,
    /// The client has requested the event stream, but the head of the response has not arrived yet.
    Requested(ExchangeId),
    Open(ExchangeId),
    /// The event stream broke. The client requests it again at this time.
    Waiting(Timestamp),
    /// The server does not offer the event stream, or too many attempts to reopen the stream failed.
    Unavailable,
}

impl GetStream {
    /// Requests the `GET` event stream, unless the settings disable it or the client has already requested it in this
    /// session.
    ///
    /// Does nothing with HTTP+SSE and with modern servers (from revision 2026-07-28), which do not have this stream.
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

    /// Returns whether the client's requests wait for the event stream to open.
    pub(super) fn is_holding(&self) -> bool {
        self.held_until.is_some()
    }

    /// Handles the head of the response to the request for the `GET` event stream.
    ///
    /// If the status is below 500 and the body is not an event stream, the server does not offer the stream: some
    /// servers respond with another status than 405. After a status of 500 or more, the client tries again.
    pub(super) fn responded(&mut self, is_event_stream: bool, status: u16) {
        self.held_until = None;
        match self.state {
            State::Requested(id) if is_event_stream => self.state = State::Open(id),
            State::Requested(_) if status < 500 => self.state = State::Unavailable,
            _ => {}
        }
    }

    pub(super) fn progressed(&mut self, decoder: &SseDecoder, has_message: bool) {
        self.resume.progressed(decoder, has_message);
    }

    /// Handles the end of the HTTP exchange `id`. If it carried this event stream, schedules another request for the
    /// stream, or gives up after too many attempts.
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

    /// Aborts the `GET` event stream, because the server has ended the session. [`Self::open`] can then request the
    /// stream in the next session.
    pub(super) fn session_ended(&mut self, context: &mut Context) {
        let GetStream { state, .. } = mem::take(self);
        if let State::Requested(id) | State::Open(id) = state {
            context.abort(id);
        }
    }

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
