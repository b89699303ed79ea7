//! [`Observer`]: receives the events of connections and their requests, for logs, metrics and spans.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpwire_core::{CloseReason, ProtocolVersion, RequestKey, ServerInfo, Tag, TraceContext};

use crate::{Direction, ErrorKind, Exit};

/// Observes connections and their requests, for logs, metrics and spans. Set by
/// [`ConnectOptions::observer`](crate::ConnectOptions::observer).
///
/// By default, all methods do nothing. A method should return quickly, because it blocks the connection. If a method panics, the
/// panic is caught and reported to [`ConnectOptions::on_panic`](crate::ConnectOptions::on_panic).
///
/// The task that drives the connection calls the methods, in the order of the events and without holding a lock. In the
/// blocking client, the thread that waits for the server calls them. Only [`Observer::caller`] and
/// [`Observer::trace_context`] are called by the task that sends a request.
///
/// An observer never receives arguments, results, or headers.
///
/// ```
/// # mod mcpwire { pub use mcpwire_client::{ConnectOptions, Observer, RequestInfo, RequestOutcome}; }
/// use std::time::Duration;
/// use mcpwire::{ConnectOptions, Observer, RequestInfo, RequestOutcome};
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
    /// Returns data about the code that sends a request, such as its current span. Other methods find the data in
    /// [`RequestInfo::caller`].
    ///
    /// `tool` is the name of the called tool. The client may attach the same data to related requests, such as `tools/list`
    /// before a `tools/call`. If no request is sent, for example because the cache contains a response, the data is dropped.
    fn caller(&self, tool: Option<&str>) -> Option<Tag> {
        let _ = tool;
        None
    }

    /// Returns the trace context (W3C `traceparent`) to send with a request. `caller` is the data that [`Observer::caller`] has
    /// returned for the request.
    ///
    /// The result takes precedence over [`ConnectOptions::trace_context`](crate::ConnectOptions::trace_context). If several
    /// observers return a trace context, that of the first observer is sent.
    fn trace_context(&self, caller: &Tag) -> Option<TraceContext> {
        let _ = caller;
        None
    }

    /// Called when the client begins to open a connection.
    fn connecting(&self, connection: &ConnectionInfo) {
        let _ = connection;
    }

    /// Called when a connection is open. `duration` is the time since [`Observer::connecting`].
    fn connected(&self, connection: &ConnectionInfo, server: &ServerInfo, duration: Duration) {
        let _ = (connection, server, duration);
    }

    /// Called when a request was sent for the first time.
    ///
    /// Not called for requests that the cache answers, nor for requests with which the client opens connections and polls tasks.
    fn begin(&self, request: &RequestInfo) {
        let _ = request;
    }

    /// Called when a request was sent again. `attempt` is at least 2.
    ///
    /// The client sends a request again if the server requires input. Over HTTP, it also does so in a new session, with other
    /// headers, or to resume the event stream.
    fn attempt(&self, request: &RequestInfo, attempt: u32) {
        let _ = (request, attempt);
    }

    /// Called when a request has ended, successfully or not. `duration` is the time since [`Observer::begin`].
    fn end(&self, request: &RequestInfo, outcome: &RequestOutcome, duration: Duration) {
        let _ = (request, outcome, duration);
    }

    /// Called when `bytes` bytes were sent or received. Over HTTP, only the bytes of bodies count.
    fn bytes(&self, connection: &ConnectionInfo, direction: Direction, bytes: u64) {
        let _ = (connection, direction, bytes);
    }

    /// Called for each [`ConnectionEvent`], such as the start of the server's process or the end of the connection.
    fn event(&self, connection: &ConnectionInfo, event: &ConnectionEvent<'_>) {
        let _ = (connection, event);
    }
}

/// Describes a connection to an [`Observer`]. Cheap to clone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionInfo {
    /// Number of the connection, unique within this process.
    pub id: u64,
    /// Name of the server, as in errors.
    pub server: Arc<str>,
    /// How the messages are transported, for example over HTTP.
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

/// The transport of a connection's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// The standard input and output of a process that the client has started.
    Stdio,
    /// A pair of streams that the program has passed to the client.
    Stream,
    /// HTTP requests, to a server with a URL.
    Http,
}

/// Describes a request to an [`Observer`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestInfo {
    /// The connection on which the request was sent.
    pub connection: ConnectionInfo,
    /// Identifies the request within the connection. Unlike `id`, it remains the same when the request is sent again.
    pub key: RequestKey,
    /// JSON-RPC id with which the request was last sent.
    pub id: u64,
    /// Method of the request, such as `tools/call`.
    pub method: String,
    /// Name of the tool or prompt, or URI of the resource, in the parameters. `None` for other methods.
    pub target: Option<String>,
    /// The data that this observer's [`Observer::caller`] has returned for the request. `None` if it has returned none.
    pub caller: Option<Tag>,
    /// The data of all observers about the code that has sent the request, as [`CallerData`].
    pub(crate) caller_data: Option<Tag>,
    /// The `traceparent` in the `_meta` of the request. `None` if the request was sent without a trace context.
    pub trace_parent: Option<String>,
}

impl RequestInfo {
    /// Returns a description of the request whose `caller` is the data of the observer with this index.
    pub(crate) fn for_observer(&self, index: usize) -> Cow<'_, Self> {
        // `caller` already contains the data of the first observer.
        if index == 0 {
            return Cow::Borrowed(self);
        }
        let caller = self.caller_data().and_then(|caller_data| caller_data.callers.get(index)?.clone());
        Cow::Owned(RequestInfo { caller, ..self.clone() })
    }

    /// Returns the data of all observers about the code that has sent the request. `None` if the request has none.
    pub(crate) fn caller_data(&self) -> Option<&CallerData> {
        self.caller_data.as_ref().and_then(Tag::get)
    }

    /// Returns the name of the server, as in errors.
    pub fn server(&self) -> &str {
        &self.connection.server
    }

    /// Returns the name of the called tool, or `None` if the request is not `tools/call`.
    pub fn tool(&self) -> Option<&str> {
        self.target.as_deref().filter(|_| self.method == "tools/call")
    }

    /// Returns the name of the requested prompt, or `None` if the request is not `prompts/get`.
    pub fn prompt(&self) -> Option<&str> {
        self.target.as_deref().filter(|_| self.method == "prompts/get")
    }
}

/// The observers' data about the code that sends a request, which the engine stores with the request.
pub(crate) struct CallerData {
    /// The result of [`Observer::caller`] of each observer, in the order of the observers.
    pub(crate) callers: Vec<Option<Tag>>,
    #[cfg(feature = "tracing")]
    pub(crate) call_site: crate::trace_context::CallSite,
}

/// How a request has ended, for [`Observer::end`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestOutcome {
    /// The server responded with a result.
    Ok,
    /// The server responded with a tool result whose `isError` is `true`.
    ToolFailed,
    /// The server responded with a JSON-RPC error of this code.
    Refused(i64),
    /// The request failed for another reason, such as a timeout.
    Failed(ErrorKind),
}

/// An event of a connection, for [`Observer::event`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ConnectionEvent<'a> {
    /// The process of the server was started.
    ProcessStarted {
        /// Id of the process.
        pid: u32,
    },
    /// The process of the server has ended, together with its process group.
    ProcessExited {
        /// The exit status. `None` if the system did not report it.
        exit: Option<&'a Exit>,
    },
    /// The server exited when it received `server/discover`, which it does not know. The client restarts it, and uses a legacy
    /// protocol version (up to revision 2025-11-25).
    Restarting,
    /// The server ended the HTTP session, and the client has opened a new session.
    SessionReestablished,
    /// The server sent an invalid message.
    InvalidMessage {
        /// Beginning of the message, without control characters.
        excerpt: &'a str,
    },
    /// The client refused a request of the server without calling a handler, for example because none answers its method.
    ServerRequestRefused {
        /// Method of the request, shortened and without control characters.
        method: &'a str,
    },
    /// A notification of the client, or its answer to a request of the server, could not be delivered over HTTP.
    DeliveryFailed {
        /// Method of the notification. `None` for an answer to a request.
        method: Option<&'a str>,
    },
    /// Notifications of the server were dropped, because the program did not take them in time.
    NotificationsDropped {
        /// Number of dropped notifications.
        count: u64,
    },
    /// The connection has ended, or could not be opened.
    Closed {
        /// Why the connection has ended.
        reason: &'a CloseReason,
    },
}
