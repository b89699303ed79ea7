//! [`Observer`]: what a program can learn about connections and their requests.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpwire_core::{CloseReason, ProtocolVersion, RequestKey, ServerInfo, Tag, TraceContext};

use crate::{Direction, ErrorKind, Exit};

/// Observes connections and their requests, for logs, metrics and spans. Set by
/// [`ConnectOptions::observer`](crate::ConnectOptions::observer).
///
/// All methods do nothing by default. Except for [`Observer::caller`] and [`Observer::trace_context`], the task that drives
/// the connection calls them, in the order of what happens and without a lock; in the blocking client, that is the thread
/// that waits for the server. They should return quickly. A panic in them is caught and reported to
/// [`ConnectOptions::on_panic`](crate::ConnectOptions::on_panic).
///
/// An observer never sees arguments, results, or headers.
///
/// ```
/// use std::time::Duration;
/// use mcpwire_client::{ConnectOptions, Observer, RequestInfo, RequestOutcome};
///
/// struct Log;
///
/// impl Observer for Log {
///     fn end(&self, request: &RequestInfo, outcome: &RequestOutcome, duration: Duration) {
///         println!("{} {} {:?}: {outcome:?} after {duration:?}", request.server(), request.method, request.tool());
///     }
/// }
///
/// let options = ConnectOptions::default().observer(Log);
/// ```
pub trait Observer: Send + Sync + 'static {
    /// Returns data of the place from which a request is sent, such as the current span. The task that sends the request
    /// calls this method. [`RequestInfo::caller`] contains the data.
    ///
    /// `tool` is the tool that the request calls. The client may send other requests with the same data, such as
    /// `tools/list` before a `tools/call`.
    ///
    /// The data is dropped if the client sends no request, because the cache has a response or the parameters are invalid.
    fn caller(&self, tool: Option<&str>) -> Option<Tag> {
        let _ = tool;
        None
    }

    /// Returns the trace context of a request for which [`Observer::caller`] has returned `caller`. Takes precedence over
    /// [`ConnectOptions::trace_context`](crate::ConnectOptions::trace_context). The task that sends the request calls this
    /// method. Of several observers, the first that returns a trace context sets it.
    fn trace_context(&self, caller: &Tag) -> Option<TraceContext> {
        let _ = caller;
        None
    }

    /// A connection is being opened.
    fn connecting(&self, connection: &ConnectionInfo) {
        let _ = connection;
    }

    /// A connection is open. `duration` is the time since [`Observer::connecting`].
    fn connected(&self, connection: &ConnectionInfo, server: &ServerInfo, duration: Duration) {
        let _ = (connection, server, duration);
    }

    /// A request was sent for the first time. Requests that are answered from the cache are not reported, nor are the
    /// requests with which the client opens connections and polls tasks.
    fn begin(&self, request: &RequestInfo) {
        let _ = request;
    }

    /// A request was sent again: with input that the server required, over HTTP in a new session or with other headers, or
    /// to resume its event stream. `attempt` is at least 2.
    fn attempt(&self, request: &RequestInfo, attempt: u32) {
        let _ = (request, attempt);
    }

    /// A request has ended. `duration` is the time since [`Observer::begin`].
    fn end(&self, request: &RequestInfo, outcome: &RequestOutcome, duration: Duration) {
        let _ = (request, outcome, duration);
    }

    /// Bytes were sent or received: of the stream, or of the bodies of HTTP messages.
    fn bytes(&self, connection: &ConnectionInfo, direction: Direction, bytes: u64) {
        let _ = (connection, direction, bytes);
    }

    /// Something else happened on a connection.
    fn event(&self, connection: &ConnectionInfo, event: &ConnectionEvent<'_>) {
        let _ = (connection, event);
    }
}

/// A connection, as an [`Observer`] sees it. Cheap to clone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionInfo {
    /// Number of the connection, unique within this process.
    pub id: u64,
    /// Name of the server, as in errors.
    pub server: Arc<str>,
    /// What carries the messages.
    pub transport: Transport,
    /// The negotiated protocol version. `None` until the connection is open.
    pub protocol_version: Option<ProtocolVersion>,
}

impl ConnectionInfo {
    pub(crate) fn new(server: Arc<str>, transport: Transport) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed) as u64;
        ConnectionInfo { id, server, transport, protocol_version: None }
    }
}

/// What carries the messages of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// The standard input and output of a process that the client has started.
    Stdio,
    /// A pair of streams from the program.
    Stream,
    /// HTTP.
    Http,
}

/// A request, as an [`Observer`] sees it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestInfo {
    /// The connection.
    pub connection: ConnectionInfo,
    /// Key of the request within the connection.
    pub key: RequestKey,
    /// JSON-RPC id with which the request was sent last.
    pub id: u64,
    /// Method of the request, such as `tools/call`.
    pub method: String,
    /// Name of the tool or prompt, or URI of the resource, that the request is about.
    pub target: Option<String>,
    /// The data that [`Observer::caller`] of this observer returned.
    pub caller: Option<Tag>,
    /// An [`Origin`].
    pub(crate) origin: Option<Tag>,
    /// The `traceparent` that the request carries in its `_meta`.
    pub trace_parent: Option<String>,
}

impl RequestInfo {
    /// Returns the request as the observer with this index sees it.
    pub(crate) fn for_observer(&self, index: usize) -> Cow<'_, Self> {
        // Created for the first observer.
        if index == 0 {
            return Cow::Borrowed(self);
        }
        let caller = self.origin().and_then(|origin| origin.callers.get(index)?.clone());
        Cow::Owned(RequestInfo { caller, ..self.clone() })
    }

    /// Returns the place from which the request was sent.
    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref().and_then(Tag::get)
    }

    /// Returns the name of the server, as in errors.
    pub fn server(&self) -> &str {
        &self.connection.server
    }

    /// Returns the name of the tool if the request calls one.
    pub fn tool(&self) -> Option<&str> {
        self.target.as_deref().filter(|_| self.method == "tools/call")
    }

    /// Returns the name of the prompt if the request gets one.
    pub fn prompt(&self) -> Option<&str> {
        self.target.as_deref().filter(|_| self.method == "prompts/get")
    }
}

/// The place from which a request is sent.
pub(crate) struct Origin {
    /// The data that [`Observer::caller`] returned, in the order of the observers.
    pub(crate) callers: Vec<Option<Tag>>,
    #[cfg(feature = "tracing")]
    pub(crate) call_site: crate::call_site::CallSite,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestOutcome {
    /// The server responded with a result.
    Ok,
    /// The server responded with a result that says that the tool failed.
    ToolFailed,
    /// The server responded with a JSON-RPC error of this code.
    Refused(i64),
    /// The request has no result for another reason.
    Failed(ErrorKind),
}

/// Something that happened on a connection.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ConnectionEvent<'a> {
    /// The process of the server was started.
    ProcessStarted {
        /// Id of the process.
        pid: u32,
    },
    /// The process of the server has ended, and nothing is left of it.
    ProcessExited {
        /// How it ended. `None` if the system did not say.
        exit: Option<&'a Exit>,
    },
    /// The server ended on a request that it does not know, and is started again as a legacy server.
    Restarting,
    /// The server ended the HTTP session, and the client has opened a new one.
    SessionReestablished,
    /// The server sent a message that is not valid.
    InvalidMessage {
        /// Beginning of the message, without control characters.
        excerpt: &'a str,
    },
    /// The client refused a request of the server without asking a handler.
    ServerRequestRefused {
        /// Method of the request, shortened and without control characters.
        method: &'a str,
    },
    /// A notification of the client, or its answer to a request of the server, could not be delivered over HTTP.
    DeliveryFailed {
        /// Method of the notification. `None` for an answer.
        method: Option<&'a str>,
    },
    /// Notifications of the server were dropped, because the program did not take them in time.
    NotificationsDropped {
        /// Number of notifications.
        count: u64,
    },
    /// The connection has ended, or could not be opened.
    Closed {
        /// Why it ended.
        reason: &'a CloseReason,
    },
}
