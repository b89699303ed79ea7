//! [`Recovery`]: what to do when the exchange of a request ends without the JSON-RPC response.

use alloc::string::ToString;

use super::exchanges::ExchangeEnd;
use super::request::Request;
use super::transport::Transport;
use crate::rpc::RpcError;
use crate::session::RequestFault;
use crate::transport_error::{FailureKind, HttpError};

/// Maximum number of consecutive attempts to resume an event stream while the server is unreachable: 2.
///
/// Two attempts take about 3 s, so callers soon learn that a server has crashed. A restarted server has usually lost
/// its sessions anyway.
const MAX_UNREACHABLE: u32 = 2;

/// What the engine does with a request whose HTTP exchange ended without the JSON-RPC response.
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

/// Decides what the engine does with a request whose HTTP exchange ended without the JSON-RPC response. `may_use_sse` says
/// whether the connection may try the HTTP+SSE transport.
pub(super) fn recover(request: &mut Request, end: ExchangeEnd, may_use_sse: bool, transport: &Transport) -> Recovery {
    if end.response.is_event_stream() {
        recover_broken_stream(request, end, transport)
    } else if request.resume.attempts > 0 {
        recover_failed_resume(request, end, transport.settings.max_attempts)
    } else {
        recover_refusal(request, end, may_use_sse, transport)
    }
}

/// Decides what to do if the server sent neither a JSON-RPC response nor an event stream, or could not be reached.
fn recover_refusal(request: &Request, end: ExchangeEnd, mut may_use_sse: bool, transport: &Transport) -> Recovery {
    let status = end.response.status;
    let is_session_unknown = status == Some(404) && end.session.is_some();
    let fault = match end.response.rpc_error(Some(request.id)) {
        // The status says more than the error in the body: the server did not process the request.
        _ if end.failure.is_none() && matches!(status, Some(429 | 503)) => RequestFault::Http(end.into_message_error()),
        Some((_, false)) if is_session_unknown => return renew(request, false),
        Some((error, _)) if end.failure.is_none() && !matches!(status, Some(401 | 403)) => {
            let are_headers_rejected = error.code == RpcError::HEADER_MISMATCH && transport.endpoint.is_modern();
            if are_headers_rejected && request.is_tool_call() && !request.was_resent {
                return Recovery::RefreshTools(error);
            }
            may_use_sse &= !is_modern_error(&error);
            RequestFault::Server(error)
        }
        _ if is_session_unknown => return renew(request, false),
        _ => RequestFault::Http(end.into_error()),
    };
    if may_use_sse && request.is_initialize() && matches!(status, Some(400 | 404 | 405)) {
        return Recovery::TrySse(fault);
    }
    Recovery::Fail(fault)
}

fn recover_broken_stream(request: &mut Request, end: ExchangeEnd, transport: &Transport) -> Recovery {
    request.resume.count_unreachable(false);
    let has_event_id = request.resume.last_event_id().is_some();
    if !has_event_id || transport.endpoint.is_modern() || request.method() == "server/discover" {
        return Recovery::Fail(RequestFault::Http(end.into_error()));
    }
    let attempts = request.resume.attempts;
    if attempts < transport.settings.max_attempts {
        return Recovery::ResumeStream;
    }
    let error = end.failure.map_or(HttpError::NoAnswer { status: 200, attempts }, HttpError::Failed);
    Recovery::Fail(RequestFault::Http(error))
}

fn recover_failed_resume(request: &mut Request, end: ExchangeEnd, max_attempts: u32) -> Recovery {
    let status = end.response.status;
    if status == Some(404) && end.session.is_some() {
        return renew(request, true);
    }
    let is_unreachable = end.failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Unreachable);
    let unreachable = request.resume.count_unreachable(is_unreachable);
    let is_temporary = end.failure.is_some() || matches!(status, Some(408 | 429 | 500..));
    if is_temporary && unreachable < MAX_UNREACHABLE && request.resume.attempts < max_attempts {
        return Recovery::ResumeStream;
    }
    Recovery::Fail(RequestFault::Http(end.into_error()))
}

/// Decides whether to send a request again in a new session, because the server has ended the session of the request.
///
/// `may_have_run` says whether the server may have carried out the request. It has not if it refused the request itself with
/// the status 404. It may have if it refused to resume the event stream of the request.
fn renew(request: &Request, may_have_run: bool) -> Recovery {
    let is_safe = !may_have_run || request.head.is_repeatable;
    if is_safe && !request.was_resent && request.message.is_some() {
        return Recovery::RenewAndResend;
    }
    Recovery::RenewAndFail(RequestFault::Http(if may_have_run {
        HttpError::SessionLost
    } else {
        HttpError::Status { status: 404, excerpt: "the session has ended".to_string(), retry_after: None }
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
