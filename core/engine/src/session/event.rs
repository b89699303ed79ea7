//! [`Event`]: the events that a session reports to its embedder.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::error::CloseReason;
use super::request_options::Tag;
use super::ticket::{Reply, RequestKey, ServerRequestId, SubscriptionKey};
use crate::rpc::RpcError;
use mcpwire_text::json::{Json, scan};
use mcpwire_types::{ElicitationComplete, LogMessage, Progress, ResourceUpdated, Task};

/// An event of a connection. The session returns events in the order in which they occurred.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The connection is open. [`Session::server`](super::Session::server) describes the server.
    Connected,
    /// A request of the client has ended, with a response or an error. Each request gets exactly one reply.
    Reply(Reply),
    /// The server sent a notification.
    Notification(Notification),
    /// A subscription has unread events.
    ///
    /// Call [`Calls::poll_subscription`](super::Calls::poll_subscription) until it returns `None`. Until then, the
    /// session does not report this event again for this subscription.
    Subscription(SubscriptionKey),
    /// The server sent a request, such as `elicitation/create`, or requires input to continue a request of the client.
    /// The embedder must call [`Calls::answer`](super::Calls::answer) or [`Calls::refuse`](super::Calls::refuse).
    ServerRequest(ServerRequest),
    /// A request of the server needs no answer any more. The server has cancelled the request, the connection has
    /// ended, or the client's request for which the server needed the answer has ended.
    ServerRequestCancelled(ServerRequestId),
    /// The session refused or ignored a request of the server without asking the embedder. For example,
    /// [`Config::answers`](super::Config::answers) does not contain the method, or too many server requests are
    /// pending.
    ServerRequestRefused {
        /// Method of the refused request, shortened and without control characters.
        method: String,
    },
    /// The server sent a message that is not JSON-RPC or cannot be parsed. The session ignored the message.
    #[doc(alias = "UnparsableMessage")]
    InvalidMessage {
        /// Beginning of the invalid message, without control characters.
        excerpt: String,
    },
    /// The server sent an error response without an id. The session therefore cannot know to which request the error
    /// belongs.
    UnmatchedError(RpcError),
    /// The session has written a request of the client to the transmit buffer, or to the queue of HTTP requests. Only
    /// reported after [`Config::report_requests`](super::Config::report_requests).
    ///
    /// A request that is sent again with input for the server is reported again, with another JSON-RPC id.
    RequestSent(Box<SentRequest>),
    /// The engine sends a request again over HTTP, or resumes its event stream. Only reported after
    /// [`Config::report_requests`](super::Config::report_requests).
    #[cfg(feature = "http")]
    RequestRetried {
        /// JSON-RPC id of the request.
        id: u64,
    },
    /// A notification of the client, or its answer to a request of the server, could not be delivered over HTTP.
    #[cfg(feature = "http")]
    DeliveryFailed {
        /// Method of the undelivered notification. `None` if the undelivered message was an answer to a request of the
        /// server.
        method: Option<String>,
        /// Why the HTTP exchange failed.
        error: crate::transport_error::HttpError,
    },
    /// The server ended the HTTP session (`Mcp-Session-Id`), and the engine has opened a new one. The state that the
    /// server stored in the old HTTP session, such as the log level, is lost.
    #[cfg(feature = "http")]
    SessionReestablished,
    /// Later requests have another authorization: another login, more scopes, or none. See
    /// [`http::Engine::authorization_changed`](crate::http::Engine::authorization_changed).
    ///
    /// The server may offer other tools, prompts and resources now.
    #[cfg(feature = "http")]
    AuthorizationChanged,
    /// The server closed its output after receiving `server/discover`, as some legacy servers (up to revision
    /// 2025-11-25) do. The session has therefore ended.
    ///
    /// The program should restart the server, and connect with [`Negotiate::Legacy`](super::Negotiate::Legacy).
    Restart,
    /// The connection has ended. This is the last event: the session has already reported a reply to each pending
    /// request.
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
    /// Identifies this request of the server in [`Calls::answer`](crate::Calls::answer) and
    /// [`Calls::refuse`](crate::Calls::refuse).
    pub key: ServerRequestId,
    /// Method of the server's request, such as `roots/list`.
    pub method: String,
    /// Parameters of the server's request, as the server sent them. `None` if the request has no parameters.
    pub params: Option<Json>,
    /// The client's request for which the server needs this answer. `None` for a legacy server (up to revision
    /// 2025-11-25), which does not name the request.
    pub during: Option<Box<ClientRequest>>,
}

/// A request of the client, for which a server needs an answer before it can respond.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientRequest {
    /// Key of the request.
    pub key: RequestKey,
    /// Method of the request, such as `tools/call`.
    pub method: Cow<'static, str>,
    /// Name of the tool or prompt, or URI of the resource, that the request is about. `None` if the request names none,
    /// or if the request only waits for a task that was created earlier.
    pub target: Option<String>,
}

/// A request of the client that the session has sent. See [`Event::RequestSent`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentRequest {
    /// The request.
    pub request: ClientRequest,
    /// JSON-RPC id with which the request was sent.
    pub id: u64,
    /// The data in [`RequestOptions::tag`](super::RequestOptions::tag).
    pub tag: Option<Tag>,
    /// The member `traceparent` of the `_meta` that the caller passed.
    pub trace_parent: Option<String>,
}

impl ClientRequest {
    /// Returns the name of the tool that the request calls, or `None` if the request is not a `tools/call`.
    pub fn tool(&self) -> Option<&str> {
        self.target.as_deref().filter(|_| self.method == "tools/call")
    }
}

/// Returns what a request of this method is about, which its parameters name: a tool, a prompt or a resource. `params`
/// is a JSON object, possibly without its closing brace.
pub(super) fn target(method: &str, params: &[u8]) -> Option<String> {
    let name = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        _ => return None,
    };
    scan::member(params, name).and_then(scan::text)
}

/// A notification from the server.
///
/// Serializes as a JSON-RPC notification without `jsonrpc`: an object with `method` and `params`. The key of the
/// request is left out, because it has no meaning outside of the session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[doc(alias = "ServerNotification")]
pub enum Notification {
    /// The server reported progress of a request of the client.
    Progress {
        /// Key of the request.
        key: RequestKey,
        /// The progress.
        progress: Progress,
    },
    /// The server reported the status of a task.
    ///
    /// If the session polls the task, it reports only changes of the status. Otherwise it reports every status
    /// notification of the server.
    TaskStatus {
        /// Key of the client's request that ends with the result of the task. `None` if the session does not poll the
        /// task.
        key: Option<RequestKey>,
        /// The task, with the status that the server reported.
        task: Arc<Task>,
    },
    /// A log message.
    Log(LogMessage),
    /// The list of tools has changed.
    #[doc(alias("notifications/tools/list_changed", "ToolListChangedNotification"))]
    ToolsChanged,
    /// The list of prompts has changed.
    #[doc(alias("notifications/prompts/list_changed", "PromptListChangedNotification"))]
    PromptsChanged,
    /// The list of resources has changed.
    #[doc(alias("notifications/resources/list_changed", "ResourceListChangedNotification"))]
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

/// What a message of the client is about, for callbacks of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageSummary {
    /// Method of the request or notification. `None` for an answer to a request of the server.
    pub method: Option<String>,
    /// Name of the tool or prompt, or URI of the resource, that the request is about.
    pub target: Option<String>,
}

impl MessageSummary {
    /// Reads a JSON-RPC message of the client.
    pub fn new(message: &[u8]) -> Self {
        let method = scan::member(message, "method").and_then(scan::text);
        let params = scan::member(message, "params").unwrap_or_default();
        let target = method.as_deref().and_then(|method| target(method, params));
        MessageSummary { method, target }
    }
}

impl Notification {
    /// Returns the method of the notification, such as `notifications/progress`.
    ///
    /// For the status of a task, returns `notifications/tasks/status`, also if the server uses the tasks extension.
    pub fn method(&self) -> &str {
        match self {
            Notification::Progress { .. } => "notifications/progress",
            Notification::TaskStatus { .. } => "notifications/tasks/status",
            Notification::Log(_) => "notifications/message",
            Notification::ToolsChanged => "notifications/tools/list_changed",
            Notification::PromptsChanged => "notifications/prompts/list_changed",
            Notification::ResourcesChanged => "notifications/resources/list_changed",
            Notification::ElicitationComplete(_) => "notifications/elicitation/complete",
            Notification::ResourceUpdated(_) => "notifications/resources/updated",
            Notification::Other { method, .. } => method,
        }
    }

    /// Returns the key of the request whose progress, or the status of whose task, the notification reports. `None` for
    /// other notifications.
    pub fn request_key(&self) -> Option<RequestKey> {
        match self {
            Notification::Progress { key, .. } => Some(*key),
            Notification::TaskStatus { key, .. } => *key,
            _ => None,
        }
    }
}

impl Serialize for Notification {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("method", self.method())?;
        match self {
            Notification::Progress { progress, .. } => map.serialize_entry("params", progress)?,
            Notification::TaskStatus { task, .. } => map.serialize_entry("params", &**task)?,
            Notification::Log(message) => map.serialize_entry("params", message)?,
            Notification::ElicitationComplete(params) => map.serialize_entry("params", params)?,
            Notification::ResourceUpdated(params) => map.serialize_entry("params", params)?,
            Notification::Other { params: Some(params), .. } => map.serialize_entry("params", params)?,
            Notification::Other { params: None, .. }
            | Notification::ToolsChanged
            | Notification::PromptsChanged
            | Notification::ResourcesChanged => {}
        }
        map.end()
    }
}
