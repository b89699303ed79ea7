//! [`Request`]: a request of the session, with the state of the attempts to complete it. [`ToolRefresh`]: a tool call that
//! waits for a newer tool list. [`Purpose`]: why an HTTP exchange was started.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::header_values::Headers;
use super::response::ExpectedBody;
use super::resume_point::ResumePoint;
use crate::rpc::RpcError;
use crate::session::OutgoingRequest;

/// A JSON-RPC request whose response has not arrived. If the event stream of the request breaks, the engine resumes the
/// stream in another HTTP exchange.
#[derive(Clone)]
pub(super) struct Request {
    /// The JSON-RPC id of the request.
    pub(super) id: u64,
    /// What the session says about the message.
    pub(super) head: OutgoingRequest,
    /// The JSON-RPC message. `None` once it was sent, unless the engine keeps a copy to send it again.
    pub(super) message: Option<Vec<u8>>,
    /// Names and values of the `Mcp-Param-*` headers with which the request was last sent.
    pub(super) header_params: Headers,
    /// Whether the request was sent a second time. The engine does not send it a third time.
    pub(super) was_resent: bool,
    pub(super) resume: ResumePoint,
}

impl Request {
    pub(super) fn new(head: OutgoingRequest, message: Vec<u8>) -> Self {
        Request {
            id: head.id,
            head,
            message: Some(message),
            header_params: Vec::new(),
            was_resent: false,
            resume: ResumePoint::default(),
        }
    }

    pub(super) fn method(&self) -> &str {
        &self.head.method
    }

    /// Returns the parameters in the message: a JSON object without `_meta` and the closing brace. Empty if the request has
    /// no parameters, or if the message is not stored any more.
    pub(super) fn params(&self) -> &[u8] {
        let message = self.message.as_deref().unwrap_or_default();
        message.get(self.head.params.clone()).unwrap_or_default()
    }

    pub(super) fn is_initialize(&self) -> bool {
        self.method() == "initialize"
    }

    pub(super) fn is_tool_call(&self) -> bool {
        self.method() == "tools/call"
    }
}

/// A tool call that waits while the client fetches the tool list again, because the server rejected the headers of the
/// call.
///
/// Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Client Behavior".
pub(super) struct ToolRefresh {
    pub(super) call: Request,
    /// The error with which the server rejected the headers of the call.
    pub(super) error: RpcError,
    /// JSON-RPC id of the latest `tools/list` request for this tool call.
    pub(super) list_request: u64,
    /// Number of pages of the tool list that the client has requested for this call.
    pub(super) pages: u32,
}

/// Why the engine started an HTTP exchange, and the data that the engine needs when the exchange ends.
pub(super) enum Purpose {
    /// The exchange sends a JSON-RPC request, or resumes the event stream of such a request. The HTTP response contains
    /// the JSON-RPC response.
    Request(Request),
    /// The exchange posts a JSON-RPC request to an HTTP+SSE server. The JSON-RPC response arrives in another exchange,
    /// on the server's event stream.
    RequestOverSse(Request),
    /// The exchange carries a notification with this method, or an answer to a server request, which has no method.
    Message(Option<String>),
    /// The exchange is the event stream on which legacy servers (up to revision 2025-11-25) send messages that belong
    /// to no client request.
    GetStream,
    /// The exchange is the event stream on which an HTTP+SSE server sends all of its messages.
    SseStream,
    /// The exchange sends an `initialize` request, to open a new session in place of one that has ended. `id` is the
    /// JSON-RPC id of that request.
    RenewSession { id: u64 },
    /// The exchange fetches the tool list again, after the server rejected the headers of a tool call.
    RefreshTools(Box<ToolRefresh>),
    /// The exchange ends the legacy session on the server.
    DeleteSession,
}

impl Purpose {
    pub(super) fn expected(&self) -> ExpectedBody {
        match self {
            Purpose::Request(_) | Purpose::RenewSession { .. } | Purpose::RefreshTools(_) => ExpectedBody::Messages,
            Purpose::GetStream | Purpose::SseStream => ExpectedBody::Events,
            Purpose::RequestOverSse(_) | Purpose::Message(_) | Purpose::DeleteSession => ExpectedBody::Nothing,
        }
    }

    /// Returns the number of HTTP requests for the same JSON-RPC request so far, this one included.
    pub(super) fn attempt(&self) -> u32 {
        self.posted_request().map_or(1, |request| 1 + u32::from(request.was_resent) + request.resume.attempts)
    }

    pub(super) fn is_long(&self) -> bool {
        match self {
            Purpose::GetStream | Purpose::SseStream => true,
            Purpose::Request(request) => request.method() == "subscriptions/listen",
            _ => false,
        }
    }

    /// Returns whether the client needs the body of the HTTP response. For notifications, answers to server requests
    /// and `DELETE`, it needs only the status.
    pub(super) fn needs_response(&self) -> bool {
        !matches!(self, Purpose::Message(_) | Purpose::DeleteSession)
    }

    /// Returns whether this HTTP exchange sends `initialize`. The response to that request may assign a session id.
    pub(super) fn opens_session(&self) -> bool {
        match self {
            Purpose::Request(request) => request.is_initialize(),
            Purpose::RenewSession { .. } => true,
            _ => false,
        }
    }

    /// Returns the JSON-RPC id of the application's request that this HTTP exchange serves, or `None` if it serves
    /// none.
    ///
    /// An exchange that fetches the tool list again serves the tool call that waits for the list.
    pub(super) fn request(&self) -> Option<u64> {
        match self {
            Purpose::RefreshTools(refresh) => Some(refresh.call.id),
            _ => self.posted_request().map(|request| request.id),
        }
    }

    /// Returns the JSON-RPC id of the request that this exchange sends for the HTTP engine and not for the application:
    /// `initialize` for a new session, or `tools/list` after rejected headers.
    ///
    /// Returns `None` for all other exchanges.
    pub(super) fn transport_request(&self) -> Option<u64> {
        match self {
            Purpose::RenewSession { id } => Some(*id),
            Purpose::RefreshTools(refresh) => Some(refresh.list_request),
            _ => None,
        }
    }

    /// Returns the JSON-RPC method of the message that this exchange sends. Empty for an answer to a server request, and for
    /// an exchange that sends no message.
    pub(super) fn method(&self) -> &str {
        match self {
            Purpose::Request(request) | Purpose::RequestOverSse(request) => request.method(),
            Purpose::Message(method) => method.as_deref().unwrap_or_default(),
            Purpose::RenewSession { .. } => "initialize",
            Purpose::RefreshTools(_) => "tools/list",
            Purpose::GetStream | Purpose::SseStream | Purpose::DeleteSession => "",
        }
    }

    /// Returns whether the exchange sends a request of the session, instead of resuming the event stream of the request.
    ///
    /// The result is valid only until the exchange starts: a message on a resumed stream resets the number of attempts.
    pub(super) fn is_first_attempt(&self) -> bool {
        self.posted_request().is_some_and(|request| request.resume.attempts == 0)
    }

    /// Returns the request of the session that the exchange sends, or whose event stream it resumes.
    fn posted_request(&self) -> Option<&Request> {
        match self {
            Purpose::Request(request) | Purpose::RequestOverSse(request) => Some(request),
            _ => None,
        }
    }
}
