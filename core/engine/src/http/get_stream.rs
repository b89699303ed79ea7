//! [`GetStream`]: the event stream that the client requests with `GET` from a legacy server (up to revision
//! 2025-11-25).
//!
//! Specification: protocol revision 2025-11-25, basic/transports, "Listening for Messages from the Server".

use core::mem;
use core::time::Duration;

use super::command::ExchangeId;
use super::exchanges::ExchangeEnd;
use super::request::Purpose;
use super::resume_point::ResumePoint;
use super::transport::Transport;
use crate::time::Timestamp;

/// How long the client holds its requests back while the `GET` event stream opens: 1 s, enough for a TLS connection and
/// a round trip on a slow network.
///
/// During a tool call, a server may send requests to the client on this stream. If the stream is not open yet, such a
/// server request is lost, and the tool call never completes.
const MAX_HOLD: Duration = Duration::from_secs(1);

/// Number of further attempts to reopen the event stream while subscriptions need it: 10. The first attempts take about
/// half a minute, and these about ten minutes, enough for most restarts and updates of a server.
const MORE_ATTEMPTS: u32 = 10;

/// The event stream on which a legacy server (up to revision 2025-11-25) sends messages that belong to no client
/// request.
#[derive(Default)]
pub(super) struct GetStream {
    state: State,
    pub(super) resume: ResumePoint,
    /// Whether the event stream was open before in this session. If so, a 404 response says that the session has ended.
    /// If not, it may say that the server does not offer the stream.
    was_open: bool,
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
    /// The server has ended the session. The client opens a new session at this time.
    SessionLost(Timestamp),
    /// The server does not offer the event stream, or too many attempts to reopen the stream failed.
    Unavailable,
}

impl GetStream {
    /// Requests the `GET` event stream, unless the settings disable it or the client has already requested it in this
    /// session.
    ///
    /// Does nothing with HTTP+SSE and with modern servers (from revision 2026-07-28), which do not have this stream.
    pub(super) fn open(&mut self, transport: &mut Transport) {
        let is_wanted = transport.settings.listen && self.state == State::Unused;
        if !is_wanted || transport.endpoint.is_http_sse() || transport.endpoint.is_modern() || !transport.is_ready() {
            return;
        }
        self.request(transport);
        let capabilities = &transport.session.config().capabilities;
        let may_be_asked =
            capabilities.roots.is_some() || capabilities.sampling.is_some() || capabilities.elicitation.is_some();
        if may_be_asked {
            self.held_until = Some(transport.now() + MAX_HOLD);
        }
    }

    fn request(&mut self, transport: &mut Transport) {
        self.state = State::Requested(transport.get(Purpose::GetStream, self.resume.last_event_id()));
    }

    /// Returns whether the client's requests wait for the event stream to open.
    pub(super) fn is_holding(&self) -> bool {
        self.held_until.is_some()
    }

    /// Handles the head of the response to the request for the `GET` event stream.
    pub(super) fn responded(&mut self, is_event_stream: bool) {
        self.held_until = None;
        if let State::Requested(id) = self.state
            && is_event_stream
        {
            self.state = State::Open(id);
            self.was_open = true;
        }
    }

    /// Handles the end of the HTTP exchange `id`. If it carried this event stream, decides whether and when to request
    /// the stream again, or to open a new session, which is not allowed before `renewal_at`.
    ///
    /// After the status 408, 429, 500 or more, the client tries again, and waits as long as `Retry-After` says. After
    /// another status without an event stream, the server does not offer the stream: some servers respond with another
    /// status than 405.
    ///
    /// Returns whether the client gives up an event stream that was open.
    pub(super) fn ended(
        &mut self,
        id: ExchangeId,
        end: &ExchangeEnd,
        renewal_at: Timestamp,
        transport: &mut Transport,
    ) -> bool {
        if !matches!(self.state, State::Requested(own) | State::Open(own) if own == id) {
            return false;
        }
        self.held_until = None;
        let is_current = end.session == Some(transport.endpoint.generation);
        self.state = match end.response.status {
            Some(404) if self.was_open && is_current => State::SessionLost(renewal_at),
            Some(408 | 429 | 500..) | None => self.retry(end.response.retry_after(), transport),
            Some(_) if end.response.is_event_stream() => self.retry(None, transport),
            Some(_) => State::Unavailable,
        };
        self.was_open && self.state == State::Unavailable
    }

    /// Schedules another request for the event stream, not before `wait` has passed, or gives up after too many attempts.
    fn retry(&mut self, wait: Option<Duration>, transport: &mut Transport) -> State {
        let more = if self.was_open && transport.session.has_subscriptions() { MORE_ATTEMPTS } else { 0 };
        if self.resume.attempts >= transport.settings.max_attempts.saturating_add(more) {
            return State::Unavailable;
        }
        let at = self.resume.next_attempt(transport.now(), &mut transport.random);
        State::Waiting(at.max(transport.now() + wait.unwrap_or_default()))
    }

    /// Aborts the `GET` event stream, because the server has ended the session. [`Self::open`] can then request the
    /// stream in the next session. Returns whether the stream was open in the ended session.
    pub(super) fn session_ended(&mut self, transport: &mut Transport) -> bool {
        let GetStream { state, was_open, .. } = mem::take(self);
        if let State::Requested(id) | State::Open(id) = state {
            transport.abort(id);
        }
        was_open
    }

    pub(super) fn handle_timeout(&mut self, transport: &mut Transport) {
        self.held_until = self.held_until.filter(|until| *until > transport.now());
        if matches!(self.state, State::Waiting(at) if at <= transport.now()) {
            self.request(transport);
        }
    }

    /// Returns whether the engine must open a new session now, because the server has ended the current session.
    pub(super) fn must_renew_session(&self, now: Timestamp) -> bool {
        matches!(self.state, State::SessionLost(at) if at <= now)
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        let reopening = match self.state {
            State::Waiting(at) | State::SessionLost(at) => Some(at),
            _ => None,
        };
        [self.held_until, reopening].into_iter().flatten().min()
    }
}
