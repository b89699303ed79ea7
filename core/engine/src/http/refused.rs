//! What follows from a response that is no answer.

use alloc::string::String;

use super::engine::Engine;
use super::error::{Failure, HttpError};
use super::open::{Asked, Body, Open};
use crate::json::scan::member;
use crate::rpc::peek::{Peek, peek};
use crate::rpc::{RpcError, decode};
use crate::session::{Event, RequestFault};

impl Engine {
    /// A request's exchange is over, and its answer has not come.
    pub(super) fn unanswered(&mut self, asked: Asked, mut open: Open, failure: Option<Failure>) {
        if matches!(open.body, Body::Events(_)) {
            return self.interrupted(asked, open, failure);
        }
        if asked.cursor.attempts > 0 {
            return self.not_resumed(asked, open, failure);
        }
        let said = if failure.is_none() { words(&open, Some(asked.id)) } else { None };
        if let Some((error, is_ours)) = said.filter(|_| !matches!(open.status, 401 | 403)) {
            return self.refused_in_words(asked, &open, error, is_ours);
        }
        if open.status == 404 && open.session.is_some() {
            return self.session_lost(asked, open.session, true);
        }
        let error = open.verdict(failure);
        if matches!(open.status, 400 | 404 | 405) && &*asked.method == "initialize" {
            return self.look_for_events(asked, RequestFault::Http(error));
        }
        self.fail(asked.id, RequestFault::Http(error));
    }

    /// The refusal is an error of JSON-RPC, with the id of the request, with another one, or with none.
    fn refused_in_words(&mut self, mut asked: Asked, open: &Open, error: RpcError, is_ours: bool) {
        if open.status == 404 && open.session.is_some() && !is_ours {
            return self.session_lost(asked, open.session, true);
        }
        if error.code == RpcError::HEADER_MISMATCH
            && !asked.repeated
            && self.is_modern()
            && &*asked.method == "tools/call"
        {
            asked.repeated = true;
            return self.list_again(asked, error);
        }
        if matches!(open.status, 400 | 404 | 405) && &*asked.method == "initialize" && !is_modern(&error) {
            return self.look_for_events(asked, RequestFault::Server(error));
        }
        self.fail(asked.id, RequestFault::Server(error));
    }

    pub(super) fn fail(&mut self, request: u64, fault: RequestFault) {
        self.session.fail(request, fault, self.now, self.out.buffer());
    }

    /// What has no answer was not taken, or it was and nothing is left to do.
    pub(super) fn undelivered(&mut self, method: Option<String>, mut open: Open, failure: Option<Failure>) {
        if method.as_deref() == Some("notifications/initialized") {
            self.release();
        }
        if failure.is_none() && (200..300).contains(&open.status) {
            return;
        }
        if open.status == 404 && open.session.is_some() {
            self.renew(open.session);
        }
        let error = match words(&open, None).filter(|_| failure.is_none()) {
            Some((error, _)) => HttpError::Status { status: open.status, excerpt: alloc::format!("{error}") },
            None => open.verdict(failure),
        };
        self.session.add_event(Event::Undelivered { method, error });
    }
}

/// The error of JSON-RPC that a refusal's body is, and whether it has the request's id.
fn words(open: &Open, request: Option<u64>) -> Option<(RpcError, bool)> {
    let Body::Refusal(refusal) = &open.body else { return None };
    if refusal.is_cut || (200..300).contains(&open.status) || member(&refusal.text, "jsonrpc").is_none() {
        return None;
    }
    let error = decode::orphan_error(&refusal.text)?;
    let is_ours =
        matches!(peek(&refusal.text), Peek::Response { id } if id.number().is_some() && id.number() == request);
    Some((error, is_ours))
}

/// Whether an error says that its server is a modern one (2026-07-28, basic/transports/streamable-http, "Backward
/// Compatibility").
fn is_modern(error: &RpcError) -> bool {
    matches!(
        error.code,
        RpcError::HEADER_MISMATCH
            | RpcError::MISSING_REQUIRED_CLIENT_CAPABILITY
            | RpcError::UNSUPPORTED_PROTOCOL_VERSION
            | RpcError::METHOD_NOT_FOUND
    )
}
