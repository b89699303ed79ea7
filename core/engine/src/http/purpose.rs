//! [`Purpose`]: why an HTTP exchange was started.

use alloc::boxed::Box;

use super::request::Request;
use super::response::ExpectedBody;
use super::send_queue::MessageKind;
use super::tool_refresh::ToolRefresh;

/// Why the engine started an HTTP exchange, with what the engine needs to handle its end.
#[derive(Debug)]
pub(super) enum Purpose {
    /// The exchange sends a request, or resumes its event stream. The HTTP response contains the JSON-RPC response.
    Request(Request),
    /// The exchange sends a request to an HTTP+SSE server. The JSON-RPC response arrives on the server's event stream.
    RequestOverSse(Request),
    /// The exchange carries a notification, or an answer to a server request.
    Message(MessageKind),
    /// The exchange is the event stream on which legacy servers (up to revision 2025-11-25) send messages that belong
    /// to no client request.
    GetStream,
    /// The exchange is the event stream on which an HTTP+SSE server sends all of its messages.
    SseStream,
    /// The exchange opens a new session in place of an ended one. `id` is the JSON-RPC id of its `initialize` request.
    RenewSession { id: u64 },
    /// The exchange fetches the tool list again, after the server rejected the headers of a tool call.
    RefreshTools(Box<ToolRefresh>),
    /// The exchange ends the legacy session on the server.
    DeleteSession,
}

impl Purpose {
    /// Returns what the body of a successful response must contain.
    pub(super) fn expected(&self) -> ExpectedBody {
        match self {
            Purpose::Request(_) | Purpose::RenewSession { .. } | Purpose::RefreshTools(_) => ExpectedBody::Messages,
            Purpose::GetStream | Purpose::SseStream => ExpectedBody::Events,
            Purpose::RequestOverSse(_) | Purpose::Message(_) | Purpose::DeleteSession => ExpectedBody::Nothing,
        }
    }

    /// Returns whether the response stays open until the server ends it.
    pub(super) fn is_long(&self) -> bool {
        match self {
            Purpose::GetStream | Purpose::SseStream => true,
            Purpose::Request(request) => &*request.method == "subscriptions/listen",
            _ => false,
        }
    }

    /// Returns whether the client needs the content of the response, and not only its status.
    pub(super) fn needs_response(&self) -> bool {
        !matches!(self, Purpose::Message(_) | Purpose::DeleteSession)
    }

    /// Returns whether the exchange carries an `initialize` request, whose response may assign a session id.
    pub(super) fn opens_session(&self) -> bool {
        match self {
            Purpose::Request(request) => request.is_initialize(),
            Purpose::RenewSession { .. } => true,
            _ => false,
        }
    }

    /// Returns the JSON-RPC id of the caller's request that this exchange serves, or `None` if it serves none.
    ///
    /// An exchange for [`Purpose::RefreshTools`] serves the waiting tool call.
    pub(super) fn request(&self) -> Option<u64> {
        match self {
            Purpose::Request(request) | Purpose::RequestOverSse(request) => Some(request.id),
            Purpose::RefreshTools(refresh) => Some(refresh.call().id),
            _ => None,
        }
    }

    /// Returns the JSON-RPC id of a request that the HTTP engine itself sends in this exchange: `initialize` or
    /// `tools/list`.
    ///
    /// Returns `None` for all other exchanges.
    pub(super) fn transport_request(&self) -> Option<u64> {
        match self {
            Purpose::RenewSession { id } => Some(*id),
            Purpose::RefreshTools(refresh) => Some(refresh.list_request()),
            _ => None,
        }
    }

    /// Returns whether the exchange sends a request, instead of resuming its event stream. See
    /// [`Request::is_first_attempt`].
    pub(super) fn is_first_attempt(&self) -> bool {
        match self {
            Purpose::Request(request) | Purpose::RequestOverSse(request) => request.is_first_attempt(),
            _ => false,
        }
    }
}
