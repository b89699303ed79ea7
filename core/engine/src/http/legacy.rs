//! What Streamable HTTP had before 2026-07-28: sessions, a stream for what belongs to no request, and streams that are taken up
//! again (2025-11-25, basic/transports, "Session Management", "Listening for Messages from the Server", "Resumability and
//! Redelivery").
//!
//! ```text
//! initialize answered ──▶ POST notifications/initialized ──▶ taken: GET opens the stream, requests may go
//!                          (requests wait: servers refuse        │  (they wait for the head of the stream, for a
//!                           those that overtake it)              │   moment, if the server may ask something)
//!                                                                ▼
//!                                                     404 to a request of this session
//!                                                                │  once, whoever notices first
//!                                                                ▼
//!                         POST initialize, as before, without a session
//!                                    │ answered                   │ not
//!                                    ▼                            ▼
//!                 requests that were refused are sent again;   requests that waited fail;
//!                 those that broke off, if they may be         the next one tries it again
//! ```

use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use super::backoff::{self, Entropy};
use super::engine::Engine;
use super::error::{Failure, FailureKind, HttpError};
use super::exchange::{ExchangeId, Verb};
use super::headers::is_value;
use super::open::{Asked, Body, Cursor, Open, Purpose};
use crate::rpc::decode::{self, Answer};
use crate::rpc::peek::{Peek, peek};
use crate::session::{Phase, RequestFault};
use crate::time::Timestamp;
use crate::types::InitializeResult;

/// How long a stream may stay open after its answer. Servers that end it do so at once; closing it first would cost the
/// connection.
const LEAVE: Duration = Duration::from_secs(1);

/// How long requests wait for the server's own stream. Servers ask on it what a call makes them ask, and what they ask before it
/// is there is lost: the call then waits for ever. 1 s: a connection with TLS and a round trip on slow networks; only what holds
/// back the head of a stream until the first event uses it up.
const LISTEN_FIRST: Duration = Duration::from_secs(1);

/// How often in a row there may be nobody to take a stream up with. 2, some 3 s with the waits before them: those who wait for a
/// server that has crashed learn it soon, and one that is started again has seldom kept its sessions.
const MAX_UNREACHABLE: u32 = 2;

/// The state of legacy sessions.
#[derive(Debug)]
pub(super) struct Legacy {
    /// The id of the session, as the server gave it.
    pub(super) session: Option<String>,
    /// How many sessions there were before.
    pub(super) generation: u32,
    /// The message that opened the first, to open others with.
    pub(super) opening: Vec<u8>,
    /// Requests wait until the server has taken `notifications/initialized`, but not beyond this.
    held_until: Option<Timestamp>,
    /// Requests wait until it is known whether the server has a stream of its own, but not beyond this.
    listening_until: Option<Timestamp>,
    renewing: Option<(ExchangeId, Timestamp)>,
    /// The session is gone and could not be renewed.
    is_lost: bool,
    broken: Vec<Broken>,
    listen: Listen,
    cursor: Cursor,
    leaving: VecDeque<(Timestamp, ExchangeId)>,
    entropy: Entropy,
}

/// A request whose stream was lost.
#[derive(Debug)]
struct Broken {
    asked: Asked,
    /// When it is taken up again.
    at: Timestamp,
}

/// The stream for what belongs to no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listen {
    /// It has not been asked for.
    NotYet,
    /// It is asked for, and whether the server has one is not known.
    Asking(ExchangeId),
    Open(ExchangeId),
    Waiting(Timestamp),
    /// The server has none, or it never brings anything.
    Off,
}

impl Legacy {
    pub(super) fn new(seed: u64) -> Self {
        Legacy {
            session: None,
            generation: 0,
            opening: Vec::new(),
            held_until: None,
            listening_until: None,
            renewing: None,
            is_lost: false,
            broken: Vec::new(),
            listen: Listen::NotYet,
            cursor: Cursor::default(),
            leaving: VecDeque::new(),
            entropy: Entropy::new(seed),
        }
    }

    /// Whether requests have to wait.
    pub(super) fn is_held(&self) -> bool {
        self.held_until.is_some() || self.listening_until.is_some() || self.renewing.is_some()
    }

    pub(super) fn hold(&mut self, until: Timestamp) {
        self.held_until = Some(until);
    }

    pub(super) fn next_timeout(&self) -> Option<Timestamp> {
        let listen = match self.listen {
            Listen::Waiting(at) => Some(at),
            _ => None,
        };
        let broken = self.broken.iter().map(|broken| broken.at).min();
        let leaving = self.leaving.front().map(|(at, _)| *at);
        let renewing = self.renewing.map(|(_, by)| by);
        [self.held_until, self.listening_until, renewing, broken, listen, leaving].into_iter().flatten().min()
    }

    /// A request is not waited for any more.
    pub(super) fn forget(&mut self, request: u64) {
        self.broken.retain(|broken| broken.asked.id != request);
    }

    /// A stream has served its purpose.
    pub(super) fn leave(&mut self, id: ExchangeId, now: Timestamp) {
        self.leaving.push_back((now + LEAVE, id));
    }

    /// It has been ended.
    pub(super) fn left(&mut self, id: ExchangeId) {
        self.leaving.retain(|(_, other)| *other != id);
    }
}

impl Engine {
    pub(super) fn legacy_timeout(&mut self) {
        let now = self.now;
        if self.legacy.held_until.is_some_and(|at| at <= now) {
            self.release();
        }
        if self.legacy.listening_until.is_some_and(|at| at <= now) {
            self.legacy.listening_until = None;
        }
        if let Some((id, _)) = self.legacy.renewing.filter(|(_, by)| *by <= now) {
            self.abort(id);
            let after = self.session.config().connect_timeout;
            let detail = alloc::format!("no answer to `initialize` within {after:?}");
            self.give_up_renewing(&HttpError::Failed(Failure::new(FailureKind::Broken, detail)));
        }
        while let Some(at) = self.legacy.broken.iter().position(|broken| broken.at <= now) {
            let asked = self.legacy.broken.swap_remove(at).asked;
            self.resume(asked);
        }
        if matches!(self.legacy.listen, Listen::Waiting(at) if at <= now) {
            self.listen();
        }
        while let Some((_, id)) = self.legacy.leaving.front().copied().filter(|(at, _)| *at <= now) {
            self.legacy.leaving.pop_front();
            self.abort(id);
        }
    }

    /// The server has taken `notifications/initialized`, or will not.
    pub(super) fn release(&mut self) {
        let was_held = self.legacy.held_until.take().is_some();
        let wanted = self.settings.listen && self.legacy.listen == Listen::NotYet;
        if was_held && wanted && !self.way.is_sse() && !self.is_modern() && self.session.phase() == Phase::Ready {
            self.listen();
            self.legacy.listening_until = self.may_be_asked().then(|| self.now + LISTEN_FIRST);
        }
    }

    /// Whether the server was told that it may ask something.
    fn may_be_asked(&self) -> bool {
        let capabilities = &self.session.config().capabilities;
        capabilities.roots.is_some() || capabilities.sampling.is_some() || capabilities.elicitation.is_some()
    }

    fn listen(&mut self) {
        let headers = self.plain_headers(&self.legacy.cursor.last_id);
        let id = self.start(Purpose::Listen, Verb::Get, headers, Vec::new(), true);
        self.legacy.listen = Listen::Asking(id);
    }

    /// The head of the stream is there: whether it is one. A server that has none says 405, or whatever it says to what it does
    /// not know; one that has trouble at the moment is asked again.
    pub(super) fn listening(&mut self, is_stream: bool, status: u16) {
        self.legacy.listening_until = None;
        match self.legacy.listen {
            Listen::Asking(id) if is_stream => self.legacy.listen = Listen::Open(id),
            Listen::Asking(_) if status < 500 => self.legacy.listen = Listen::Off,
            _ => {}
        }
    }

    /// The stream has ended.
    pub(super) fn listened(&mut self, id: ExchangeId) {
        let was = self.legacy.listen;
        if was != Listen::Asking(id) && was != Listen::Open(id) {
            return;
        }
        self.legacy.listening_until = None;
        let cursor = &mut self.legacy.cursor;
        self.legacy.listen = if cursor.attempts >= self.settings.max_attempts {
            Listen::Off
        } else {
            let wait = backoff::wait(cursor.retry, cursor.attempts, &mut self.legacy.entropy);
            cursor.attempts += 1;
            Listen::Waiting(self.now + wait)
        };
    }

    /// A stream brought events: whether one that says something was among them.
    pub(super) fn progressed(&mut self, id: ExchangeId, said_something: bool) {
        let Some(open) = self.open.get_mut(&id) else { return };
        let Body::Events(decoder) = &open.body else { return };
        let cursor = match &mut open.purpose {
            Purpose::Request(asked) => &mut asked.cursor,
            Purpose::Listen => &mut self.legacy.cursor,
            _ => return,
        };
        cursor.retry = decoder.retry().or(cursor.retry);
        // An id that a header cannot carry is none.
        if let Some(last) = decoder.last_event_id().filter(|id| is_value(id) && *id != cursor.last_id) {
            cursor.last_id = last.to_string();
            cursor.attempts = 0;
        }
        if said_something {
            cursor.attempts = 0;
        }
    }

    /// The stream of a request was lost before its answer came.
    pub(super) fn interrupted(&mut self, mut asked: Asked, mut open: Open, failure: Option<Failure>) {
        asked.cursor.unreachable = 0;
        let has_cursor = !asked.cursor.last_id.is_empty();
        if has_cursor && !self.is_modern() && &*asked.method != "server/discover" {
            return self.resume_later(asked, failure);
        }
        let error = open.verdict(failure);
        self.fail(asked.id, RequestFault::Http(error));
    }

    fn resume_later(&mut self, asked: Asked, failure: Option<Failure>) {
        let attempts = asked.cursor.attempts;
        if attempts >= self.settings.max_attempts {
            let error = failure.map_or(HttpError::NoAnswer { status: 200, attempts }, HttpError::Failed);
            return self.fail(asked.id, RequestFault::Http(error));
        }
        let at = self.now + backoff::wait(asked.cursor.retry, attempts, &mut self.legacy.entropy);
        self.legacy.broken.push(Broken { asked, at });
    }

    fn resume(&mut self, mut asked: Asked) {
        if self.session.waits_for(asked.id) {
            asked.cursor.attempts += 1;
            let headers = self.plain_headers(&asked.cursor.last_id);
            self.start(Purpose::Request(asked), Verb::Get, headers, Vec::new(), false);
        }
    }

    /// A stream could not be taken up again.
    pub(super) fn not_resumed(&mut self, mut asked: Asked, mut open: Open, failure: Option<Failure>) {
        if open.status == 404 && open.session.is_some() {
            return self.session_lost(asked, open.session, false);
        }
        let is_gone = failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Unreachable);
        asked.cursor.unreachable = if is_gone { asked.cursor.unreachable + 1 } else { 0 };
        let passes = failure.is_some() || open.status >= 500 || matches!(open.status, 408 | 429);
        if passes && asked.cursor.unreachable < MAX_UNREACHABLE && asked.cursor.attempts < self.settings.max_attempts {
            return self.resume_later(asked, failure);
        }
        let error = open.verdict(failure);
        self.fail(asked.id, RequestFault::Http(error));
    }

    /// The server does not know the session that a request belonged to. One that was refused for that was not carried out; of
    /// one whose stream broke off nobody knows.
    pub(super) fn session_lost(&mut self, mut asked: Asked, session: Option<u32>, was_refused: bool) {
        let again = !asked.repeated && (was_refused || asked.repeatable) && asked.message.is_some();
        if again {
            asked.repeated = true;
            asked.cursor = Cursor::default();
            self.again.push_back(asked);
        } else {
            let excerpt = "the session has ended".to_string();
            let refused = HttpError::Status { status: 404, excerpt };
            self.fail(asked.id, RequestFault::Http(if was_refused { refused } else { HttpError::SessionLost }));
        }
        self.renew(session);
    }

    /// Opens a session in place of the one that the server has ended, unless that has been noticed before.
    pub(super) fn renew(&mut self, session: Option<u32>) {
        if session != Some(self.legacy.generation)
            || self.legacy.renewing.is_some()
            || self.session.phase() != Phase::Ready
        {
            return;
        }
        self.legacy.generation += 1;
        self.legacy.session = None;
        self.legacy.held_until = None;
        self.legacy.listening_until = None;
        self.legacy.cursor = Cursor::default();
        if let Listen::Asking(id) | Listen::Open(id) = self.legacy.listen {
            self.abort(id);
        }
        self.legacy.listen = Listen::NotYet;
        let message = self.legacy.opening.clone();
        let headers = self.message_headers("initialize", &message);
        let id = self.start(Purpose::Renew, Verb::Post, headers, message, false);
        self.legacy.renewing = Some((id, self.now + self.session.config().connect_timeout));
    }

    /// Before a request is sent: whether the session has to be renewed first.
    pub(super) fn renews_first(&mut self) -> bool {
        if !core::mem::take(&mut self.legacy.is_lost) || self.way.is_sse() {
            return false;
        }
        self.renew(Some(self.legacy.generation));
        true
    }

    /// A message on the exchange that opens a new session.
    pub(super) fn renewed(&mut self, from: ExchangeId, message: &[u8]) {
        let opening = match peek(&self.legacy.opening) {
            Peek::Request { id, .. } => id.number(),
            _ => None,
        };
        let Some(id) =
            opening.filter(|id| matches!(peek(message), Peek::Response { id: of } if of.number() == Some(*id)))
        else {
            return self.session.receive(message, self.now, self.out.buffer());
        };
        if self.legacy.renewing.is_none_or(|(renewing, _)| renewing != from) {
            return;
        }
        let version = self.version();
        match decode::answer::<InitializeResult>(message, id) {
            Ok(Answer::Result(result))
                if result.protocol_version.is_none() || result.protocol_version.as_deref() == version =>
            {
                self.legacy.renewing = None;
                self.legacy.leave(from, self.now);
                if let Some(open) = self.open.get_mut(&from) {
                    open.is_leaving = true;
                }
                self.legacy.hold(self.now + self.session.config().probe_timeout);
                let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
                self.post_message(Some("notifications/initialized".to_string()), initialized.into());
                self.session.renewed(self.now, self.out.buffer());
            }
            Ok(Answer::Result(_)) => {
                let excerpt = "the server speaks another version of the protocol by now".to_string();
                self.abort(from);
                self.give_up_renewing(&HttpError::Status { status: 200, excerpt });
            }
            Ok(Answer::Error(error)) => {
                self.abort(from);
                let excerpt = alloc::format!("`initialize`: {error}");
                self.give_up_renewing(&HttpError::Status { status: 404, excerpt });
            }
            Err(error) => {
                self.abort(from);
                let excerpt = alloc::format!("`initialize`: {error}");
                self.give_up_renewing(&HttpError::Status { status: 200, excerpt });
            }
        }
    }

    /// The exchange that opens a new session is over. That is as it should be, unless it is still waited for.
    pub(super) fn not_renewed(&mut self, from: ExchangeId, mut open: Open, failure: Option<Failure>) {
        if self.legacy.renewing.is_some_and(|(renewing, _)| renewing == from) {
            let error = open.verdict(failure);
            self.give_up_renewing(&error);
        }
    }

    /// The requests that waited for it fail. The next one tries it again: its caller may know that the server is back.
    fn give_up_renewing(&mut self, error: &HttpError) {
        self.legacy.renewing = None;
        self.legacy.session = None;
        self.legacy.is_lost = true;
        while let Some(asked) = self.again.pop_front() {
            self.fail(asked.id, RequestFault::Http(error.clone()));
        }
    }

    /// Tells the server that the session has ended. It may not care.
    pub(super) fn end_session_in_turn(&mut self) {
        self.legacy.broken.clear();
        self.legacy.leaving.clear();
        // It must not arrive before what else is on its way.
        if self.open.is_empty() && self.legacy.session.is_some() && !self.way.is_sse() {
            let headers = self.plain_headers("");
            self.start(Purpose::Delete, Verb::Delete, headers, Vec::new(), false);
            self.legacy.session = None;
        }
    }
}
