//! What a session tells its embedder.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::error::Closed;
use super::keys::{AskKey, RequestKey, SubscriptionKey};
use super::ticket::Reply;
use crate::json::Json;
use crate::rpc::RpcError;
use crate::types::{ElicitationComplete, LogMessage, Progress, ResourceUpdated, Task};

/// Something that happened, in the order in which the server sent it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The connection is open: [`Session::server`](super::Session::server) says to whom.
    Connected,
    /// A request has ended. Each request has exactly one of these.
    Reply(Reply),
    /// The server told something.
    Notification(Notification),
    /// There is something to take from a subscription, with
    /// [`Calls::poll_subscription`](super::Calls::poll_subscription), until there is nothing left. Not told again before.
    Subscription(SubscriptionKey),
    /// The server asks for something that is in [`Config::answers`](super::Config::answers): it is to be answered or refused.
    Ask(Ask),
    /// The server gives up what it asked for: an answer is not expected any more, and would not be sent.
    AskCancelled(AskKey),
    /// The server asked for something that this client does not offer, and was told so.
    Refused {
        /// What it asked for.
        method: String,
    },
    /// A line that is no message, or an answer that no request waits for. It was left aside and counted.
    Noise {
        /// The beginning of it, printable.
        excerpt: String,
    },
    /// An error of the server's that names no request.
    OrphanError(RpcError),
    /// Something that expects no answer (a notification, or the answer to the server's request) was not taken by the server.
    #[cfg(feature = "http")]
    Undelivered {
        /// The notification's method; `None` for an answer.
        method: Option<String>,
        /// What happened.
        error: crate::transport_error::HttpError,
    },
    /// The server had ended the session, and a new one has begun: what was set up in the old one (log level, subscriptions) is
    /// gone.
    #[cfg(feature = "http")]
    Renewed,
    /// The server ended when it was asked which era it speaks. Start it once more, and open the connection with
    /// [`Negotiate::Legacy`](super::Negotiate::Legacy). This session has ended.
    Restart,
    /// The connection has ended. All requests have had their reply; nothing comes after this.
    Closed(Closed),
}

/// A request of the server, which waits for [`answer`](crate::Calls::answer) or [`refuse`](crate::Calls::refuse). Only methods in
/// [`Config::answers`](super::Config::answers) become one; all others are refused at once.
///
/// Legacy servers send a request. Modern ones want inputs before they answer a request of the client (2026-07-28,
/// basic/patterns/mrtr): once all inputs are answered, that request is sent again. If one of them is refused, the request fails
/// with [`CallError::Input`](super::CallError::Input), and the other inputs are withdrawn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ask {
    /// Names the request in the answer to it.
    pub key: AskKey,
    /// The method, such as `roots/list`.
    pub method: String,
    /// The parameters, as the server sent them.
    pub params: Option<Json>,
    /// The request of the client that the server needs it for; `None` if the server did not say.
    pub during: Option<RequestKey>,
}

/// What servers tell unasked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notification {
    /// A request has come further.
    Progress {
        /// Which request.
        key: RequestKey,
        /// How far.
        progress: Progress,
    },
    /// The status of a task. For a call that the session follows, when the status has changed; for any other task, each time
    /// that the server sends it.
    TaskStatus {
        /// The call that waits for it, if one does.
        key: Option<RequestKey>,
        /// How it stands.
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
    /// What a person was sent to an address for is done (2025-11-25).
    ElicitationComplete(ElicitationComplete),
    /// A resource that is watched has changed.
    ResourceUpdated(ResourceUpdated),
    /// Anything else.
    Other {
        /// Its method.
        method: String,
        /// What it carries.
        params: Option<Json>,
    },
}

/// A message as it lies in the embedder's buffer: looked at there, and taken out only if someone waits for it.
pub(crate) trait Message {
    /// Its bytes.
    fn bytes(&self) -> &[u8];

    /// Its bytes, owned.
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
