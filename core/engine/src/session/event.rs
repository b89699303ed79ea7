//! [`Event`]: the events that a session reports to its embedder.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::error::CloseReason;
use super::request_keys::{RequestKey, ServerRequestId, SubscriptionKey};
use super::ticket::Reply;
use crate::rpc::RpcError;
use mcpwire_types::json::Json;
use mcpwire_types::{ElicitationComplete, LogMessage, Progress, ResourceUpdated, Task};

/// An event of a connection. The session returns events in the order in which they occurred.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The connection is open. [`Session::server`](super::Session::server) describes the server.
    Connected,
    /// A request of the client has ended. Each request gets exactly one reply.
    Reply(Reply),
    /// The server sent a notification.
    Notification(Notification),
    /// A subscription has unread events.
    ///
    /// Call [`Calls::poll_subscription`](super::Calls::poll_subscription) until it returns `None`. Until then, the
    /// session does not report this event again for the same subscription.
    Subscription(SubscriptionKey),
    /// The server sent a request, or requires input for a request of the client. The embedder must answer or refuse.
    ServerRequest(ServerRequest),
    /// A request of the server needs no answer any more: the server has cancelled it, or the client's request for which
    /// the server needed the answer has ended.
    ServerRequestCancelled(ServerRequestId),
    /// The session itself refused or ignored a request of the server. For example,
    /// [`Config::answers`](super::Config::answers) does not contain the method, or too many requests are pending.
    ServerRequestRefused {
        /// Method of the server's request, shortened and without control characters.
        method: String,
    },
    /// The server sent a message that is not JSON-RPC or cannot be parsed. The session ignored the message.
    InvalidMessage {
        /// Beginning of the message, without control characters.
        excerpt: String,
    },
    /// The server sent an error response without an id. The session therefore cannot know to which request the error
    /// belongs.
    UnmatchedError(RpcError),
    /// A notification, or an answer to a request of the server, could not be delivered over HTTP.
    #[cfg(feature = "http")]
    DeliveryFailed {
        /// Method of the notification that was not delivered. `None` if the message was an answer.
        method: Option<String>,
        /// Why the HTTP exchange failed.
        error: crate::transport_error::HttpError,
    },
    /// The server had ended the HTTP session, and the engine has opened a new one. The server has lost the state of the
    /// old session, such as the log level.
    #[cfg(feature = "http")]
    SessionReestablished,
    /// The session has ended because the server closed its output after receiving `server/discover`, as some legacy
    /// servers (up to revision 2025-11-25) do.
    ///
    /// Restart the server, and connect with [`Negotiate::Legacy`](super::Negotiate::Legacy).
    Restart,
    /// The connection has ended. A reply to each pending request was reported before, and no event follows.
    Closed(CloseReason),
}

/// A request of the server, which the embedder must [`answer`](crate::Calls::answer) or
/// [`refuse`](crate::Calls::refuse).
///
/// The session reports only requests whose method is in [`Config::answers`](super::Config::answers), and refuses all
/// others.
///
/// A legacy server (up to revision 2025-11-25) sends these requests as JSON-RPC requests. A modern server instead
/// responds to a request of the client with a list of inputs that it requires (revision 2026-07-28,
/// basic/patterns/mrtr). The session reports each input as a `ServerRequest`.
///
/// When all inputs are answered, the session sends the client's request again. If the embedder refuses one input, the
/// client's request fails with [`CallError::Input`](super::CallError::Input), and the embedder need not answer the
/// other inputs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerRequest {
    /// Pass this id to [`answer`](crate::Calls::answer) or [`refuse`](crate::Calls::refuse).
    pub key: ServerRequestId,
    /// Method of the request, such as `roots/list`.
    pub method: String,
    /// Parameters of the request, as the server sent them. `None` if the request has no parameters.
    pub params: Option<Json>,
    /// The client's request for which the server needs the answer. `None` if the server did not name a request.
    pub during: Option<RequestKey>,
}

/// A notification from the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notification {
    /// The server reported progress of a request.
    Progress {
        /// Key of the request.
        key: RequestKey,
        /// The progress.
        progress: Progress,
    },
    /// The server reported the status of a task.
    ///
    /// If a call of this client is waiting for the task, the session reports only changes of the status. Otherwise it
    /// reports every notification.
    TaskStatus {
        /// Key of the call that is waiting for the task. `None` if no call of this client is waiting.
        key: Option<RequestKey>,
        /// The task, with the status that the server reported.
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
    /// The user has completed an elicitation in URL mode (revision 2025-11-25).
    ElicitationComplete(ElicitationComplete),
    /// A resource to which the client has subscribed has changed.
    ResourceUpdated(ResourceUpdated),
    /// A notification with any other method.
    Other {
        /// Method of the notification.
        method: String,
        /// The parameters.
        params: Option<Json>,
    },
}

/// A received message, as borrowed or owned bytes.
pub(crate) trait Message {
    /// Returns the bytes of the message.
    fn bytes(&self) -> &[u8];

    /// Converts the message to an owned buffer, without copying the bytes if possible.
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
