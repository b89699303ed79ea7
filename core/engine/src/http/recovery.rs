//! [`Recovery`]: what to do when the exchange of a request ends without the JSON-RPC response.

use alloc::string::ToString;

use super::exchanges::ExchangeEnd;
use super::request::Request;
use crate::rpc::RpcError;
use crate::session::RequestFault;
use crate::transport_error::{FailureKind, HttpError};

/// Maximum number of consecutive attempts to resume an event stream while the server is unreachable: 2.
///
/// Two attempts take about 3 s, so callers soon learn that a server has crashed. A restarted server has usually lost
/// its sessions anyway.
const MAX_UNREACHABLE: u32 = 2;

/// What the engine does with a request whose HTTP exchange ended without the JSON-RPC response.
#[derive(Debug)]
pub(super) enum Recovery {
    Fail(RequestFault),
    ResumeStream,
    /// The engine opens a new legacy session, and sends the request again in that session.
    RenewAndResend,
    /// The engine opens a new legacy session, but the request fails with this error.
    ///
    /// The request is not sent again: the server may have carried it out, it was already sent twice, or its message is
    /// no longer stored.
    RenewAndFail(RequestFault),
    /// The engine fetches the tool list again and repeats the tool call with new headers, because the server rejected
    /// the old headers with this error.
    RefreshTools(RpcError),
    /// The engine sends `initialize` over HTTP+SSE, because it failed over Streamable HTTP with this error. If the
    /// server does not offer HTTP+SSE either, `initialize` fails with this error.
    TrySse(RequestFault),
}

/// The state of the connection and the settings that [`recover`] depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExchangeContext {
    /// Whether the negotiated protocol revision is 2026-07-28 or later.
    pub(super) is_modern: bool,
    /// Whether the connection may try the HTTP+SSE transport.
    pub(super) may_use_sse: bool,
    pub(super) max_attempts: u32,
}

/// Decides what the engine does with a request whose HTTP exchange ended without the JSON-RPC response.
pub(super) fn recover(request: &mut Request, end: ExchangeEnd, given: ExchangeContext) -> Recovery {
    if end.response.is_event_stream() {
        recover_broken_stream(request, end, given)
    } else if request.resume.attempts() > 0 {
        recover_failed_resume(request, end, given)
    } else {
        recover_refusal(request, end, given)
    }
}

/// Decides what to do if the server sent neither a JSON-RPC response nor an event stream, or could not be reached.
fn recover_refusal(request: &Request, end: ExchangeEnd, given: ExchangeContext) -> Recovery {
    let status = end.status();
    let is_session_unknown = status == Some(404) && end.session.is_some();
    let fault = match end.response.rpc_error(Some(request.id)) {
        // The status says more than the error in the body: the server did not process the request.
        _ if end.failure.is_none() && matches!(status, Some(429 | 503)) => RequestFault::Http(end.into_message_error()),
        Some((error, has_id)) if end.failure.is_none() && !matches!(status, Some(401 | 403)) => {
            if is_session_unknown && !has_id {
                return renew(request, SessionLoss::RequestRefused);
            }
            let are_headers_rejected = error.code == RpcError::HEADER_MISMATCH && given.is_modern;
            if are_headers_rejected && request.is_tool_call() && !request.was_resent {
                return Recovery::RefreshTools(error);
            }
            if is_modern_error(&error) {
                return Recovery::Fail(RequestFault::Server(error));
            }
            RequestFault::Server(error)
        }
        _ if is_session_unknown => return renew(request, SessionLoss::RequestRefused),
        _ => RequestFault::Http(end.into_error()),
    };
    if given.may_use_sse && request.is_initialize() && matches!(status, Some(400 | 404 | 405)) {
        return Recovery::TrySse(fault);
    }
    Recovery::Fail(fault)
}

fn recover_broken_stream(request: &mut Request, end: ExchangeEnd, given: ExchangeContext) -> Recovery {
    request.resume.count_unreachable(false);
    let has_event_id = request.resume.last_event_id().is_some();
    if !has_event_id || given.is_modern || request.method() == "server/discover" {
        return Recovery::Fail(RequestFault::Http(end.into_error()));
    }
    let attempts = request.resume.attempts();
    if attempts < given.max_attempts {
        return Recovery::ResumeStream;
    }
    let error = end.failure.map_or(HttpError::NoAnswer { status: 200, attempts }, HttpError::Failed);
    Recovery::Fail(RequestFault::Http(error))
}

fn recover_failed_resume(request: &mut Request, end: ExchangeEnd, given: ExchangeContext) -> Recovery {
    let status = end.status();
    if status == Some(404) && end.session.is_some() {
        return renew(request, SessionLoss::StreamUnknown);
    }
    let is_unreachable = end.failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Unreachable);
    let unreachable = request.resume.count_unreachable(is_unreachable);
    let is_temporary = end.failure.is_some() || matches!(status, Some(408 | 429 | 500..));
    if is_temporary && unreachable < MAX_UNREACHABLE && request.resume.attempts() < given.max_attempts {
        return Recovery::ResumeStream;
    }
    Recovery::Fail(RequestFault::Http(end.into_error()))
}

/// The response from which the client learned that the server has ended the legacy session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionLoss {
    /// The server refused the request with the status 404, and therefore did not carry it out.
    RequestRefused,
    /// The server responded with the status 404 when the client tried to resume the event stream of the request. The
    /// server may have carried out the request.
    StreamUnknown,
}

/// Decides whether to send a request again in a new session, because the server has ended the session of the request.
/// `loss` says how the client learned of that.
fn renew(request: &Request, loss: SessionLoss) -> Recovery {
    let is_safe = loss == SessionLoss::RequestRefused || request.is_repeatable;
    if is_safe && !request.was_resent && request.message.is_some() {
        return Recovery::RenewAndResend;
    }
    Recovery::RenewAndFail(RequestFault::Http(match loss {
        SessionLoss::RequestRefused => {
            HttpError::Status { status: 404, excerpt: "the session has ended".to_string(), retry_after: None }
        }
        SessionLoss::StreamUnknown => HttpError::SessionLost,
    }))
}

/// Returns whether only modern servers (from revision 2026-07-28) send this error.
///
/// Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Backward Compatibility".
fn is_modern_error(error: &RpcError) -> bool {
    matches!(
        error.code,
        RpcError::HEADER_MISMATCH
            | RpcError::MISSING_REQUIRED_CLIENT_CAPABILITY
            | RpcError::UNSUPPORTED_PROTOCOL_VERSION
            | RpcError::METHOD_NOT_FOUND
    )
}
