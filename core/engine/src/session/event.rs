//! [`Event`]: what a session reports to its embedder.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::error::CloseReason;
use super::request_keys::{RequestKey, ServerRequestId, SubscriptionKey};
use super::ticket::Reply;
use crate::json::Json;
use crate::rpc::RpcError;
use crate::types::{ElicitationComplete, LogMessage, Progress, ResourceUpdated, Task};

/// An event of a connection. Events come in the order in which the server caused them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The connection is open. [`Session::server`](super::Session::server) describes the server.
    Connected,
    /// A request has ended. Each request has exactly one reply.
    Reply(Reply),
    /// The server sent a notification.
    Notification(Notification),
    /// A subscription has events.
    ///
    /// Call [`Calls::poll_subscription`](super::Calls::poll_subscription) until it returns `None`. This event is not repeated
    /// before that.
    Subscription(SubscriptionKey),
    /// The server requests something of the client. Answer or refuse the request.
    ServerRequest(ServerRequest),
    /// The server has cancelled its request. An answer would not be sent any more.
    ServerRequestCancelled(ServerRequestId),
    /// The server requested something that the client does not offer. The session has refused the request.
    ServerRequestRefused {
        /// The method of the request, printable.
        method: String,
    },
    /// The server sent a message that is not JSON-RPC or cannot be read. The session has ignored the message.
    InvalidMessage {
        /// The beginning of the message, printable.
        excerpt: String,
    },
    /// The server sent an error response without the id of a request.
    UnmatchedError(RpcError),
    /// The server did not accept a notification or an answer.
    #[cfg(feature = "http")]
    DeliveryFailed {
        /// The method of the notification. `None` for an answer.
        method: Option<String>,
        /// Why the exchange failed.
        error: crate::transport_error::HttpError,
    },
    /// The server had ended the session, and the engine has begun a new one. The server has lost the state of the old session,
    /// such as the log level.
    #[cfg(feature = "http")]
    SessionReestablished,
    /// The server ended the stream during the probe, as some legacy servers do.
    ///
    /// This session has ended. Restart the server, and connect with [`Negotiate::Legacy`](super::Negotiate::Legacy).
    Restart,
    /// The connection has ended. All requests have had their reply, and no event follows.
    Closed(CloseReason),
}

/// A request of the server that waits for [`answer`](crate::Calls::answer) or [`refuse`](crate::Calls::refuse).
///
/// The session reports only methods in [`Config::answers`](super::Config::answers), and refuses other requests itself.
///
/// A legacy server sends a request. A modern server requires inputs before it responds to a request of the client (2026-07-28,
/// basic/patterns/mrtr). When all inputs are answered, the session sends the client's request again. If an input is refused,
/// the client's request fails with [`CallError::Input`](super::CallError::Input), and its other inputs are withdrawn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerRequest {
    /// Identifies the request in the answer.
    pub key: ServerRequestId,
    /// The method, such as `roots/list`.
    pub method: String,
    /// The parameters as the server sent them.
    pub params: Option<Json>,
    /// The client's request that needs the answer. `None` if the server did not say.
    pub during: Option<RequestKey>,
}

/// A notification of the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notification {
    /// The progress of a request.
    Progress {
        /// The request.
        key: RequestKey,
        /// The progress.
        progress: Progress,
    },
    /// The status of a task.
    ///
    /// The session reports the task of a call when its status changes. It reports each status of another task.
    TaskStatus {
        /// The call that waits for the task, if there is one.
        key: Option<RequestKey>,
        /// The task with its status.
        task: Arc<Task>,
    },
    /// A log message.
    Log(LogMessage),
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// The list of resources has changed.
    ResourcesChanged,
    /// An elicitation by URL is complete (2025-11-25).
    ElicitationComplete(ElicitationComplete),
    /// A resource that the client has subscribed to has changed.
    ResourceUpdated(ResourceUpdated),
    /// A notification of another method.
    Other {
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Json>,
    },
}

/// A received message in a buffer. The session takes the message out of the buffer only if it responds to a request.
pub(crate) trait Message {
    /// Returns the bytes of the message.
    fn bytes(&self) -> &[u8];

    /// Takes the bytes out of the buffer, without a copy if possible.
    fn into_bytes(self) -> Vec<u8>;
}

impl Message for &[u8] {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn into_bytes(self) -> Vec<u8> {
        self.to_vec()
    }
}

impl Message for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn into_bytes(self) -> Vec<u8> {
        self
    }
}
