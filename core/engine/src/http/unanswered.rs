//! Decides what follows when the exchange of a request ends without its answer.

use super::incoming::Response;
use super::request::Request;
use crate::rpc::RpcError;
use crate::session::RequestFault;
use crate::transport_error::{Failure, FailureKind, HttpError};

/// How often in a row the server may be unreachable when a stream is resumed. 2, some 3 s with the waits before them: callers of a
/// server that has crashed learn it soon, and a server that was restarted has seldom kept its sessions.
const MAX_UNREACHABLE: u32 = 2;

/// What follows for the request.
#[derive(Debug)]
pub(super) enum NextStep {
    Fail(RequestFault),
    /// Its stream is resumed later.
    Resume,
    /// Its session has ended. Whether the server refused the request for that, and so did not carry it out.
    SessionEnded {
        was_refused: bool,
    },
    /// The tools are listed again, and then it is sent once more.
    RefreshTools(RpcError),
    /// The server may speak HTTP+SSE. If not, the request fails with this.
    TrySse(RequestFault),
}

/// What the decision depends on, besides the request and the response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    /// Whether the exchange named a legacy session.
    pub(super) names_session: bool,
    pub(super) is_modern: bool,
    pub(super) max_attempts: u32,
}

pub(super) fn next_step(
    request: &mut Request,
    response: &mut Response,
    failure: Option<Failure>,
    given: Circumstances,
) -> NextStep {
    if response.is_event_stream() {
        return stream_broken(request, response, failure, given);
    }
    if request.resume.attempts() > 0 {
        return not_resumed(request, response, failure, given);
    }
    let status = response.status();
    let is_missing_session = status == 404 && given.names_session;
    let may_be_sse = request.is_initialize() && matches!(status, 400 | 404 | 405);
    if failure.is_none()
        && !matches!(status, 401 | 403)
        && let Some((error, has_id)) = response.rpc_error(Some(request.id))
    {
        return if is_missing_session && !has_id {
            NextStep::SessionEnded { was_refused: true }
        } else if error.code == RpcError::HEADER_MISMATCH
            && given.is_modern
            && !request.was_resent
            && request.is_tool_call()
        {
            NextStep::RefreshTools(error)
        } else if may_be_sse && !is_modern_error(&error) {
            NextStep::TrySse(RequestFault::Server(error))
        } else {
            NextStep::Fail(RequestFault::Server(error))
        };
    }
    if is_missing_session {
        return NextStep::SessionEnded { was_refused: true };
    }
    let fault = RequestFault::Http(response.error(failure));
    if may_be_sse { NextStep::TrySse(fault) } else { NextStep::Fail(fault) }
}

/// The stream of the request ended before its answer.
fn stream_broken(
    request: &mut Request,
    response: &mut Response,
    failure: Option<Failure>,
    given: Circumstances,
) -> NextStep {
    request.resume.count_unreachable(false);
    let is_resumable = !request.resume.last_event_id().is_empty() && !given.is_modern;
    if is_resumable && &*request.method != "server/discover" {
        return resume(request, failure, given);
    }
    NextStep::Fail(RequestFault::Http(response.error(failure)))
}

/// The stream of the request could not be resumed.
fn not_resumed(
    request: &mut Request,
    response: &mut Response,
    failure: Option<Failure>,
    given: Circumstances,
) -> NextStep {
    let status = response.status();
    if status == 404 && given.names_session {
        return NextStep::SessionEnded { was_refused: false };
    }
    let is_gone = failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Unreachable);
    let unreachable = request.resume.count_unreachable(is_gone);
    let is_temporary = failure.is_some() || status >= 500 || matches!(status, 408 | 429);
    if is_temporary && unreachable < MAX_UNREACHABLE && request.resume.attempts() < given.max_attempts {
        return NextStep::Resume;
    }
    NextStep::Fail(RequestFault::Http(response.error(failure)))
}

fn resume(request: &Request, failure: Option<Failure>, given: Circumstances) -> NextStep {
    let attempts = request.resume.attempts();
    if attempts < given.max_attempts {
        return NextStep::Resume;
    }
    let error = failure.map_or(HttpError::NoAnswer { status: 200, attempts }, HttpError::Failed);
    NextStep::Fail(RequestFault::Http(error))
}

/// Whether only modern servers send such an error (2026-07-28, basic/transports/streamable-http, "Backward Compatibility").
fn is_modern_error(error: &RpcError) -> bool {
    matches!(
        error.code,
        RpcError::HEADER_MISMATCH
            | RpcError::MISSING_REQUIRED_CLIENT_CAPABILITY
            | RpcError::UNSUPPORTED_PROTOCOL_VERSION
            | RpcError::METHOD_NOT_FOUND
    )
}
