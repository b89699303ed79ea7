//! What a session is told where each request has a carrier of its own that can fail alone: an HTTP exchange.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use serde::Serialize;

use super::engine::Session;
use super::error::CallError;
use super::event::Event;
use super::handshake::Refusal;
use super::server::Phase;
use super::ticket::RequestKey;
use crate::http::HttpError;
use crate::rpc::{PeerError, RpcError, write};
use crate::time::Timestamp;

/// Why a request gets no answer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server's error, in a message that does not name the request.
    Server(RpcError),
    /// The server's answer cannot be read.
    Invalid(PeerError),
    /// There is none.
    Http(HttpError),
}

impl Session {
    /// Whether an answer to the request with this id on the wire is awaited.
    pub(crate) fn waits_for(&self, id: u64) -> bool {
        let opens = self.phase == Phase::Connecting && (self.discover == Some(id) || self.initialize == Some(id));
        opens || self.in_flight.has(id) || self.subscriptions_wait_for(id)
    }

    /// The id that a request has on the wire at present.
    pub(crate) fn id_of(&self, key: RequestKey) -> Option<u64> {
        self.in_flight.id_of(key)
    }

    /// Takes in that a request gets no answer. `false` if nobody waits for one.
    pub(crate) fn fail(&mut self, id: u64, fault: Fault, now: Timestamp, out: &mut Vec<u8>) -> bool {
        if self.discover == Some(id) {
            self.discover = None;
            let action = self.handshake.discovered(Err(fault.into()));
            self.act(action, now, out);
        } else if self.initialize == Some(id) {
            self.initialize = None;
            let action = self.handshake.initialized(Err(fault.into()));
            self.act(action, now, out);
        } else if let Some(waiting) = self.in_flight.remove(id) {
            let error = fault.into_error(waiting.method);
            self.unanswered(waiting.key, waiting.cached_as, error, now, out);
        } else {
            return self.subscription_failed(id, fault, now);
        }
        true
    }

    /// Adds an event that only the carrier knows of.
    pub(crate) fn add_event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Writes a request of the carrier's own, whose answer it keeps to itself, and gives its id.
    pub(crate) fn write_own(&mut self, method: &str, params: &impl Serialize, out: &mut Vec<u8>) -> u64 {
        self.open_with(method, &|out: &mut Vec<u8>| write::push_object(out, params), out)
    }

    /// A session of the server's has ended, and a new one has begun: what it had asked for is not answered any more, and what
    /// it was to watch it is asked to watch again.
    pub(crate) fn renewed(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        self.forget_asks();
        self.in_flight.pause(false, now);
        self.watch_again(out);
        self.events.push_back(Event::Renewed);
    }
}

impl Fault {
    pub(super) fn into_error(self, method: Cow<'static, str>) -> CallError {
        match self {
            Fault::Server(error) => CallError::Server { method, error },
            Fault::Invalid(error) => CallError::Invalid { method, error },
            Fault::Http(error) => CallError::Http { method, error: Box::new(error) },
        }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        match fault {
            Fault::Server(error) => Refusal::Error(error),
            Fault::Invalid(error) => Refusal::Invalid(error),
            Fault::Http(error) => Refusal::Http(error),
        }
    }
}
