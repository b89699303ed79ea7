//! [`Purpose`]: why an HTTP exchange was started.

use alloc::boxed::Box;
use alloc::string::String;

use super::request::{Request, ToolRefresh};
use super::response::ExpectedBody;

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
