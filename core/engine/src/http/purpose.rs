//! [`Purpose`]: why an exchange was started.

use alloc::boxed::Box;

use super::request::Request;
use super::response::ExpectedBody;
use super::send_queue::MessageKind;
use super::tool_refresh::ToolRefresh;

/// Why an exchange was started, with the state that its end needs.
#[derive(Debug)]
pub(super) enum Purpose {
    /// Carries a request whose answer is in the response.
    Request(Request),
    /// Carries a request whose answer arrives on the event stream of an HTTP+SSE server.
    RequestOverSse(Request),
    /// Carries a notification, or an answer to a request of the server.
    Message(MessageKind),
    /// The event stream on which legacy servers send messages that belong to no request.
    GetStream,
    /// The event stream on which HTTP+SSE servers send all messages.
    SseStream,
    /// Opens a new legacy session with an `initialize` request of this id.
    RenewSession { id: u64 },
    /// Lists the tools again after the server rejected the headers of a call.
    RefreshTools(Box<ToolRefresh>),
    /// Ends the legacy session.
    DeleteSession,
}

impl Purpose {
    /// Returns what a successful response contains.
    pub(super) fn expected(&self) -> ExpectedBody {
        match self {
            Purpose::Request(_) | Purpose::RenewSession { .. } | Purpose::RefreshTools(_) => ExpectedBody::Messages,
            Purpose::GetStream | Purpose::SseStream => ExpectedBody::Events,
            Purpose::RequestOverSse(_) | Purpose::Message(_) | Purpose::DeleteSession => ExpectedBody::Nothing,
        }
    }

    /// Returns whether the exchange stays open until the server ends it.
    pub(super) fn is_long(&self) -> bool {
        match self {
            Purpose::GetStream | Purpose::SseStream => true,
            Purpose::Request(request) => &*request.method == "subscriptions/listen",
            _ => false,
        }
    }

    /// Returns whether the exchange needs a response with content, and not only a status.
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

    /// Returns the id of the session's request that the exchange serves.
    pub(super) fn request(&self) -> Option<u64> {
        match self {
            Purpose::Request(request) | Purpose::RequestOverSse(request) => Some(request.id),
            Purpose::RefreshTools(refresh) => Some(refresh.call().id),
            _ => None,
        }
    }

    /// Returns the id of the request that the transport itself makes with the exchange.
    pub(super) fn transport_request(&self) -> Option<u64> {
        match self {
            Purpose::RenewSession { id } => Some(*id),
            Purpose::RefreshTools(refresh) => Some(refresh.list_request()),
            _ => None,
        }
    }

    /// Returns whether no earlier exchange carried the same request.
    pub(super) fn is_first_attempt(&self) -> bool {
        match self {
            Purpose::Request(request) | Purpose::RequestOverSse(request) => request.is_first_attempt(),
            _ => false,
        }
    }
}
